"""The experiments of Allwein, Schapire and Singer: methods, protocol and figures."""

from dataclasses import replace
from math import isfinite, log2

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from polychotomy import datasets, make_code
from polychotomy.evaluate import Samples, Schedule
from polychotomy.lab import experiments, published
from polychotomy.lab.experiments import _allwein
from polychotomy.lab.experiments._experiment import FinishedCells
from tests.evaluate.cells import make_cell
from tests.lab.experiments.tiny import cells_with

TABLES = ["allwein-2", "allwein-3"]


def printed(name):
    return [cell for cell in published.table(name).cells if isfinite(cell.value)]


def stand_in(name, n_classes=3):
    """Samples of the name of a data set, for what goes by its name alone."""
    y = np.arange(10 * n_classes) % n_classes
    return Samples.make(name, pd.DataFrame({"x": y + np.linspace(0, 0.5, len(y))}), y)


@pytest.mark.parametrize("name", TABLES)
def test_methods_are_those_with_a_figure_in_the_words_of_the_table(name):
    experiment = experiments.get(name)
    assert set(experiment.data_sets) == {cell.data_set for cell in printed(name)}
    for data_set in experiment.data_sets:
        methods = {
            m.reduction: m.classifier
            for m in experiment.make_methods(stand_in(data_set), 7)
            if ", draw" not in m.reduction
        }
        cells = {cell.method: cell for cell in printed(name) if cell.data_set == data_set}
        assert list(methods) == list(cells)
        for method, cell in cells.items():
            found = methods[method]
            assert (type(found).__name__, found.code, found.decoder, found.random_state) == (
                *(cell.classifier, cell.code, cell.decoder, 7),
            )


def test_large_codes_are_left_out_where_the_paper_does():
    experiment = experiments.get("allwein-2")
    found = {m.classifier.code for m in experiment.make_methods(stand_in("isolet"), 0)}
    assert found == {"one_vs_rest", "dense_random", "sparse_random"}


def test_learners_are_boosted_stumps_and_a_polynomial_svm():
    (stumps, *_), (svm, *_) = (
        experiments.get(name).make_methods(stand_in("glass"), 0) for name in TABLES
    )
    assert stumps.classifier.estimator.get_params() == {"n_rounds": 500, "one_sided": False}
    kernel = svm.classifier.estimator
    assert (kernel.kernel, kernel.degree, kernel.coef0, kernel.C) == ("poly", 4, 1.0, 1.0)


@pytest.mark.parametrize(("code", "factor"), [("dense_random", 10), ("sparse_random", 15)])
def test_random_codes_have_the_lengths_of_the_paper(code, factor):
    for k in (6, 19):
        assert make_code(code, k, random_state=0).n_problems == int(np.ceil(factor * log2(k)))


@pytest.mark.parametrize(("name", "decoders"), [("allwein-2", 3), ("allwein-3", 2)])
def test_decoders_share_a_training(name, decoders):
    methods = experiments.get(name).make_methods(stand_in("glass"), 0)
    n_trainings = 5 + (2 * 9 if name == "allwein-3" else 0)  # further draws of random codes
    assert len({method.training for method in methods}) == n_trainings
    assert len(methods) == n_trainings * decoders


def test_random_codes_are_drawn_ten_times_where_there_are_few_samples():
    experiment = experiments.get("allwein-3")
    few = experiment.make_methods(stand_in("glass"), 3)
    many = experiment.make_methods(stand_in("glass", n_classes=100), 3)
    assert len(many) == 10
    seeds = {m.reduction: m.classifier.random_state for m in few}
    assert seeds["Dense, Hamming"] == 3
    assert [seeds[f"Sparse, loss-based, draw {i}"] for i in range(2, 11)] == list(range(4, 13))
    assert not [name for name in seeds if name.startswith("All-Pairs, Hamming, draw")]


def test_the_error_of_a_random_code_is_the_mean_of_its_draws():
    cells = [
        *cells_with("glass", "Dense, Hamming", [20, 30]),
        *cells_with("glass", "Dense, Hamming, draw 2", [60, 70]),
        *cells_with("glass", "Dense, Hamming, draw 3", [99]),  # not all of its folds were run
        *cells_with("glass", "Sparse, Hamming", [0, 10]),
    ]
    figures = {f.method: f.ours for f in experiments.get("allwein-3").figures(cells)}
    assert figures == pytest.approx({"Dense, Hamming": 45, "Sparse, Hamming": 5})


def test_a_cell_is_what_scikit_learn_gives():
    """One-vs-all with the hinge loss, on the first of ten folds."""
    wine = datasets.load("wine")
    samples = Samples.make("glass", wine.data, wine.target)
    methods = [
        method
        for method in experiments.get("allwein-3").make_methods(samples, 0)
        if method.reduction == "One-vs-all, loss-based"
    ]
    experiment = experiments.get("allwein-3")
    plan = Schedule(
        samples, methods, protocol=experiment.protocol, preparation=experiment.preparation, seed=0
    )
    cells, failures = Schedule.join([plan], n_folds=1).run()
    assert not failures
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    train, test = next(folds.split(wine.data, samples.y))
    scaler = StandardScaler().fit(wine.data.iloc[train])
    X, X_test = (scaler.transform(wine.data.iloc[rows]) for rows in (train, test))
    outputs = np.column_stack(
        [
            SVC(kernel="poly", degree=4, coef0=1)
            .fit(X, samples.y[train] == r)
            .decision_function(X_test)
            for r in range(3)
        ]
    )
    losses = [
        np.maximum(0, 1 - np.where(np.arange(3) == r, outputs, -outputs)).sum(axis=1)
        for r in range(3)
    ]
    np.testing.assert_array_equal(cells[0].rows, test)
    np.testing.assert_array_equal(cells[0].predicted, np.argmin(losses, axis=0))


def test_audiology_keeps_its_test_part(monkeypatch):
    asked = []

    def load(name, *, paper=None):
        asked.append((name, paper))
        return datasets.make_bands(3, random_state=0)

    monkeypatch.setattr(_allwein.datasets, "load", load)
    experiment = experiments.get("allwein-2")
    for name in ("audiology", "segment"):
        experiment.load_samples(name)
    assert asked == [("audiology", None), ("segment", "allwein")]


def test_bands_are_told_by_the_size_of_x():
    first, second = (
        experiments.get("allwein-synthetic").load_samples(name)
        for name in ("bands-4", "bands-4, draw 2")
    )
    drawn = datasets.make_bands(4, random_state=0)
    np.testing.assert_array_equal(first.data.to_numpy(), np.abs(drawn.data.to_numpy()))
    np.testing.assert_array_equal(first.y, drawn.target)
    assert len(first.train) == 400
    assert (np.bincount(first.y[first.train]) == 100).all()
    assert first.fingerprint != second.fingerprint


def test_bands_show_what_loss_based_decoding_gains():
    experiment = experiments.get("allwein-synthetic")
    names = ["bands-4", "bands-4, draw 2"]
    cells, failures = experiment.plan(names).run()
    assert not failures
    figures = {(f.method, f.quantity): f for f in experiment.figures(cells)}
    assert {f.data_set for f in figures.values()} == {"bands-4"}
    assert len(figures) == 4 * 2
    hamming, loss = (
        figures[f"One-vs-all, {rule}", "error_percent"].ours
        for rule in ("Hamming", "loss-based (Exp.)")
    )
    # f falls with |x|, so that no problem of a band in the middle is solved; its size still tells
    assert hamming > 50
    assert loss < 5


def test_figures_of_bands_are_means_over_draws():
    experiment = experiments.get("allwein-synthetic")
    cells = [
        replace(
            make_cell(name, "Complete, Hamming", truth=[0, 1, 2, 0], predicted=predicted),
            metrics={"error": error, "binary_error": binary},
        )
        for name, predicted, error, binary in (
            ("bands-3", [0, 1, 2, 1], 0.25, 0.1),
            ("bands-3, draw 2", [1, 0, 2, 1], 0.75, 0.3),
        )
    ]
    figures = {f.quantity: f for f in experiment.figures(cells)}
    assert figures["error_percent"].ours == pytest.approx(50)
    assert figures["binary_error_percent"].ours == pytest.approx(20)
    assert figures["error_percent"].spread == pytest.approx(100 * np.std([0.25, 0.75], ddof=1))
    assert figures["binary_error_percent"].spread == pytest.approx(20 / np.sqrt(2))


def test_share_of_wrong_binary_answers():
    class Trained:
        classes_ = np.array([0, 2])
        code_ = make_code("one_vs_rest", 2)

        def binary_outputs(self, X):
            return X * self.code_.matrix[0, 0]

    wrong = _allwein.measure_binary_error(
        Trained(), np.array([[1.0, -1.0], [1.0, 1.0], [0.0, 2.0]]), np.array([0, 0, 2])
    )
    assert wrong["binary_error"] == pytest.approx(2 / 6)


def test_no_figures_without_cells():
    cell = published.PublishedCell.without_value(
        "allwein", "synthetic", "bands-3", "?", "error_percent"
    )
    quantities = experiments.get("allwein-synthetic").quantities
    assert all(quantity(FinishedCells([]), cell) is None for quantity in quantities.values())
