from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from polychotomy import CodeClassifier, KernelSBCClassifier, SingleBinaryClassifier
from polychotomy.evaluate import Samples
from polychotomy.lab import experiments, published
from polychotomy.lab.experiments import _sbc
from tests.lab.experiments.tiny import cells_with

NAMES = [experiment.name for experiment in _sbc.EXPERIMENTS]


def samples_of(k, name="car"):
    return Samples.make(name, np.arange(20 * k, dtype=float)[:, None], np.arange(20 * k) % k)


@pytest.fixture
def iris_for_all(monkeypatch):
    """Plans without the papers' data: every data set is iris."""
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(
        experiments.Experiment, "load_samples", lambda _, name: Samples.make(name, X, y)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_published_figure_has_its_methods(name):
    experiment = experiments.get(name)
    known = {method.reduction for method in experiment.make_methods(samples_of(4), 0)}
    for table in experiment.tables:
        for cell in published.table(table).cells:
            assert cell.quantity in experiment.quantities
            assert cell.data_set in (*experiment.data_sets, "all")
            if not name.endswith("figure-3"):
                assert set(cell.method.split(" vs. ")) <= known


@pytest.mark.parametrize("name", NAMES)
def test_folds_and_search_are_those_of_the_papers(name):
    experiment = experiments.get(name)
    assert experiment.protocol == "split_cv10"
    assert experiment.tuning == "greedy10"
    assert experiment.preparation == "all_standard"


@pytest.mark.parametrize("name", ["sbc-2", "sbckernel-2"])
def test_codes_and_decoders_are_those_of_the_tables(name):
    experiment = experiments.get(name)
    methods = {m.reduction: m.classifier for m in experiment.make_methods(samples_of(4), 5)}
    checked = 0
    for cell in published.table(name).cells:
        if cell.quantity == "error_percent" and cell.classifier == "CodeClassifier":
            made = methods[cell.method]
            assert type(made) is CodeClassifier
            assert made.code == cell.code
            assert made.decoder == cell.decoder
            assert made.random_state == 5
            checked += 1
    assert checked
    for name, classifier in methods.items():
        if name.startswith("SBC"):
            assert isinstance(classifier, SingleBinaryClassifier | KernelSBCClassifier)


@pytest.mark.parametrize(("one", "other"), [("sbc-2", "sbc-3"), ("sbckernel-2", "sbckernel-3")])
def test_tables_share_their_cells(iris_for_all, one, other):
    keys = [{task.key for task in experiments.get(name).plan().tasks} for name in (one, other)]
    assert keys[1] < keys[0]


def test_subsampling_takes_the_parameters_tuned_with_all(iris_for_all):
    tuned = {
        task.method.tuning
        for name in ("sbc-2", "sbc-figure-3")
        for task in experiments.get(name).plan(["glass"]).tasks
        if task.reduction.startswith("SBC-BCH")
    }
    assert len(tuned) == 1


@pytest.mark.slow
def test_the_longer_codes_have_the_lengths_that_the_paper_names():
    methods = {
        m.reduction: m.classifier
        for m in experiments.get("sbc-figure-2").make_methods(samples_of(4), 0)
    }
    for length in (23, 55):
        extension = methods[f"SBC-BCH (4,{length})"].replication
        assert extension.shape == (4, length)
        assert len(np.unique(extension, axis=0)) == 4


def figure_3_cells(fewer):
    """Return cells of data sets of 6 classes, car of 4: 10 errors but for what is given."""
    return [
        replace(cell, classes=tuple("abcdef"[: 4 if data_set == "car" else 6]))
        for data_set in _sbc._SETS
        for s in ((5, 1, 2) if data_set == "car" else (5, 1, 2, 4))
        for cell in cells_with(
            data_set,
            "SBC-BCH" if s == 5 else f"SBC-BCH, random, s = {s}",
            fewer.get((data_set, s), 10),
        )
    ]


def of_all(cells):
    figures = experiments.get("sbc-figure-3").figures(cells)
    return {figure.quantity: figure for figure in figures if figure.data_set == "all"}


def test_what_subsampling_costs():
    fewer = {("glass", 4): 13, ("yeast", 4): 9, ("yeast", 1): 8, ("soybean", 2): 14}
    figures = of_all(figure_3_cells(fewer | {("car", 1): 18}))
    increases = [30, -10, 0, 0, 0, 0, 0, 0, 0]  # with s = 4; all that there are of car are 3
    assert figures["relative_error_increase_percent"].ours == pytest.approx(np.mean(increases))
    assert figures["relative_error_increase_percent"].spread == pytest.approx(
        np.std(increases, ddof=1)
    )
    assert figures["n_data_sets_improved"].ours == 1
    assert figures["largest_relative_error_increase_percent"].ours == pytest.approx(40)


def test_an_error_that_is_hardly_lower_is_an_improvement():
    """Of two folds of 100 samples all are wrong with all replicas, and with one of them 199."""
    fewer = {("glass", s): [100, 100] for s in (2, 4, 5)} | {("glass", 1): [100, 99]}
    figures = of_all(figure_3_cells(fewer))
    assert figures["n_data_sets_improved"].ours == 1
    assert figures["largest_relative_error_increase_percent"].ours == 0


@pytest.mark.parametrize("method", ["SBC-BCH", "SBC-BCH, random, s = 4"])
def test_what_subsampling_costs_needs_all_data_sets_and_numbers(method):
    cells = figure_3_cells({})
    assert of_all(cells)
    assert not of_all([c for c in cells if (c.data_set, c.reduction) != ("glass", method)])
