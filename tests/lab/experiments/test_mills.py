from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from polychotomy import CodeClassifier
from polychotomy.evaluate import Samples, Schedule
from polychotomy.lab import experiments, published
from polychotomy.lab.experiments._mills import measure_brier
from tests.evaluate.cells import make_cell

EXPERIMENT = experiments.get("mills")
PRINTED = [cell for name in EXPERIMENT.tables for cell in published.table(name).cells]


def samples(name, n_classes=3):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), 4)
    return Samples.make(name, rng.normal(size=(len(y), 2)), y)


def methods(name, n_classes=3):
    made = EXPERIMENT.make_methods(samples(name, n_classes), 0)
    return {method.reduction: method for method in made}


def test_all_published_cells_have_data_and_a_quantity():
    assert {cell.data_set for cell in PRINTED} == set(EXPERIMENT.data_sets)
    assert {cell.quantity for cell in PRINTED} == set(EXPERIMENT.quantities)
    with_solver = {cell.method for cell in PRINTED if "," in cell.method}
    assert with_solver == set(methods("urban"))


@pytest.mark.parametrize("data_set", EXPERIMENT.data_sets)
def test_the_classifiers_are_what_the_tables_say(data_set):
    known = methods(data_set, 26 if data_set == "letter" else 8)
    cells = [cell for cell in PRINTED if cell.data_set == data_set and cell.probability]
    assert {cell.method for cell in cells} == set(known)
    for cell in cells:
        parameters = known[cell.method].parameters
        assert parameters["classifier"] == cell.classifier
        assert parameters["calibration"] == "sigmoid"
        assert parameters["cv"] == 5
        assert parameters["estimator__kernel"] == "rbf"
        assert parameters["decoder"] == "probability"
        if cell.classifier == "TreeClassifier":
            assert (parameters["structure"], parameters["solve"]) == (cell.code, cell.probability)
        elif (data_set, cell.method) == ("letter", "ortho., iter."):
            assert (parameters["code"], parameters["probability"]) == (
                "dense_random",
                "least_squares",
            )
        else:
            assert (parameters["code"], parameters["decoder"], parameters["probability"]) == (
                cell.code,
                cell.decoder,
                cell.probability,
            )


@pytest.mark.parametrize(
    ("data_set", "C", "gamma"),
    [("letter", 50, "auto"), ("pendigits", 50, 0.01), ("usps", 1, "auto"), ("segment", 100, 0.1),
     ("satimage", 50, 0.1), ("urban", 1, "auto"), ("shuttle", 1, "auto"), ("humidity", 50, "auto")],
)  # fmt: skip
def test_the_svm_is_set_as_in_his_makefile(data_set, C, gamma):
    for method in methods(data_set).values():
        assert method.parameters["estimator__C"] == C
        assert method.parameters["estimator__gamma"] == gamma


@pytest.mark.parametrize(("predicted", "second"), [([0, 0], 0.6**2), ([0, 1], 0.7**2)])
def test_brier_scores_by_hand(predicted, second):
    """The winning class is the predicted one, be it the most probable one or not."""

    class Sure:
        classes_ = np.arange(3)

        def predict(self, X):
            return np.array(predicted)

        def predict_proba(self, X):
            return np.array([[0.8, 0.2, 0.0], [0.6, 0.3, 0.1]])

    found = measure_brier(Sure(), None, np.array([0, 1]))
    assert found["brier_mills"] == pytest.approx(np.sqrt((2 * 0.04 + 0.36 + 0.49 + 0.01) / 6))
    assert found["brier_winning"] == pytest.approx(np.sqrt((0.2**2 + second) / 2))


def test_figures_take_the_right_cells_and_times_are_not_judged():
    def trial(method, fold, value):
        cell = make_cell("urban", method, "svm", fold, seconds=10 * value)
        metrics = dict.fromkeys(("uncertainty_coefficient", "brier_mills", "brier_winning"), value)
        settings = {**cell.settings, "n_folds": 2}
        return replace(
            cell, metrics={**metrics, "brier": 9}, settings=settings, predict_seconds=value
        )

    values = {"1 vs. 1, inv.": 0.7, "emp., rec.": 0.3, "emp., lsq.": 0.1}
    cells = [trial(m, fold, v + 0.02 * fold) for m, v in values.items() for fold in (0, 1)]
    found = {(f.table, f.method, f.quantity): f for f in EXPERIMENT.figures(cells)}
    assert len(found) == 3 * 3 + 2 * 2
    assert found["5", "1 vs. 1", "fit_seconds"].ours == pytest.approx(7.1)
    assert found["7", "1 vs. 1, inv.", "predict_seconds"].ours == pytest.approx(0.71)
    assert found["9", "1 vs. 1, inv.", "uncertainty_coefficient"].agrees is True  # 0.729 ± 0.030
    assert found["11", "1 vs. 1", "brier"].ours == pytest.approx(0.71)
    assert found["11", "1 vs. 1", "brier"].agrees is False
    assert found["11", "emp.", "brier"].ours == pytest.approx(0.11)
    assert found["13", "emp., rec.", "brier_winning"].ours == pytest.approx(0.31)
    assert found["13", "emp., rec.", "brier_winning"].spread == pytest.approx(0.01 * np.sqrt(2))
    assert all(f.agrees is None for f in found.values() if f.quantity.endswith("_seconds"))


def test_a_cell_is_what_libsvm_gives_by_hand():
    """The same calibration and solver on scikit-learn's SVC, which LIBSVM trains."""
    X, y = load_iris(return_X_y=True)
    iris = Samples.make("iris", X, y)
    method = {m.reduction: m for m in EXPERIMENT.make_methods(iris, 0)}["1 vs. 1, inv."]
    plan = Schedule(iris, [method], protocol="repeat1")
    ((cell,), failures) = plan.run()
    assert not failures
    (task,) = plan.tasks
    assert (len(task.train), len(task.test)) == (105, 45)
    scaler = StandardScaler().fit(X[task.train])
    by_hand = CodeClassifier(SVC(C=1, gamma=1 / 4), "one_vs_one", probability="inverse")
    by_hand.fit(scaler.transform(X[task.train]), y[task.train])
    p = by_hand.predict_proba(scaler.transform(X[task.test]))
    np.testing.assert_allclose(cell.probabilities, p, atol=0.01)
    truth = np.eye(3)[y[task.test]]
    assert cell.metrics["brier_mills"] == pytest.approx(
        np.sqrt(((p - truth) ** 2).mean()), abs=2e-3
    )
    assert np.array_equal(cell.predicted, p.argmax(axis=1))
