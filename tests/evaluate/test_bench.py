"""A cell is a pure function of its task."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from polychotomy import CodeClassifier, datasets
from polychotomy.evaluate import Contestant, Preparation, Samples, Schedule, _bench, compute
from polychotomy.reductions import Reduction
from tests.evaluate.cells import same

NAMES = ["one_vs_rest", "one_vs_one", "bch:hamming", "linkage_tree", "ddag", "majority"]
SINGLE = ["sbc_bch", "sbc_ecoc", "sbc_kernel_frequencies"]


@pytest.fixture(scope="module")
def wine():
    return Samples.of(datasets.load("wine")).limited(90)


@pytest.mark.parametrize("sharing", [False, True])
@pytest.mark.parametrize(
    ("base", "names", "tuning"),
    [
        ("logistic", [*NAMES, "native"], "none"),
        ("svm", [*NAMES, *SINGLE], "none"),
        ("linear_svm", ["one_vs_rest", "one_vs_one", "native"], "greedy2"),
    ],
)
def test_a_task_gives_the_same_bits_alone_and_after_others(wine, base, names, tuning, sharing):
    schedule = Schedule(wine, names, [base], protocol="cv2", tuning=tuning, seed=1)
    tasks = [task for task in schedule.tasks if task.fold == 0]
    together = list(compute(tasks, wine, sharing=sharing))
    backwards = list(compute(tasks[::-1], wine, sharing=sharing))[::-1]
    for task, one, two in zip(tasks, together, backwards, strict=True):
        (alone,) = compute([task], wine)
        assert same(alone, one), task.reduction
        assert same(alone, two), task.reduction


def test_tasks_of_several_folds_are_refused(wine):
    tasks = [
        Schedule(wine, ["one_vs_rest"], ["ridge"], protocol="cv2", seed=seed).tasks[0]
        for seed in (0, 1)
    ]
    with pytest.raises(ValueError, match=r"one fold. Got folds 0 \(seed 0\), 0 \(seed 1\)"):
        list(compute(tasks, wine))


class Careless(LogisticRegression):
    """Writes into the samples, as learners may."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        X[:] = 0
        return self


class Doubtful(Preparation):
    """Counts how often it prepares, and warns of it."""

    times = 0

    def fit(self, X, y=None):
        type(self).times += 1
        warnings.warn("these samples are doubtful", UserWarning, stacklevel=2)
        return super().fit(X, y)


@pytest.mark.parametrize(("most", "times"), [(2**28, 2), (0, 6)])
def test_the_tasks_of_a_fold_are_prepared_once(wine, monkeypatch, most, times):
    rows = ["one_vs_rest", "one_vs_one", "native"]
    methods = [
        Contestant.of(Reduction(name), Careless(max_iter=200), "careless", random_state=0)
        for name in rows
    ]
    schedule = Schedule(wine, methods, protocol="cv2")
    expected = [cell for task in schedule.tasks for cell in compute([task], deepcopy(wine))]
    monkeypatch.setattr("polychotomy.evaluate._last_preparation._MOST_BYTES", most)
    monkeypatch.setattr("polychotomy.evaluate._task.Preparation", Doubtful)
    monkeypatch.setattr(Doubtful, "times", 0)
    cells, failures = schedule.run()
    assert not failures
    assert Doubtful.times == times
    for cell, alone in zip(cells, expected, strict=True):
        assert cell.chosen["warnings"] == ["these samples are doubtful"]
        np.testing.assert_array_equal(cell.predicted, alone.predicted)
        np.testing.assert_array_equal(cell.probabilities, alone.probabilities)


def test_a_failure_names_its_exception_or_is_raised(wine):
    (task, *_) = Schedule(wine, ["orthogonal"], ["ridge"], protocol="cv2").tasks
    (failure,) = compute([task], wine)
    assert failure.kind == "CodeError"
    with pytest.raises(ValueError, match="at least 4 classes"):
        list(compute([task], wine, raising=True))


def test_a_cell_holds_counts_and_held_out_predictions(wine):
    (task, *_) = Schedule(wine, ["one_vs_one"], ["ridge"], protocol="cv2").tasks
    (cell,) = compute([task], wine)
    assert (cell.cost.problems, cell.cost.questions) == (3, 3)
    assert cell.score == np.mean(cell.predicted == wine.y[task.test])


def test_a_cell_predicts_with_the_parameters_that_were_tuned(wine):
    schedule = Schedule(wine, ["one_vs_rest"], ["ridge"], protocol="cv2", tuning="greedy2", seed=1)
    task = schedule.tasks[0]
    (cell,) = compute([task], wine)
    X, y, prepare = wine.data, wine.y, task.make_preparation()
    X_train, X_test = (
        prepare.fit_transform(X.iloc[task.train]),
        prepare.transform(X.iloc[task.test]),
    )
    alpha, usual = cell.chosen["estimator__alpha"], task.method.classifier
    assert alpha != usual.get_params()["estimator__alpha"]
    expected = (
        clone(usual)
        .set_params(estimator__alpha=alpha)
        .fit(X_train, y[task.train])
        .predict_proba(X_test)
    )
    np.testing.assert_allclose(cell.probabilities, expected, atol=1e-5)


def test_numbers_alone_need_no_further_warm_up(monkeypatch):
    monkeypatch.setattr(_bench, "_WARM", set())
    fits = []
    monkeypatch.setattr(_bench, "clone", lambda classifier: fits.append(classifier) or classifier)
    for C, seed in [(1.0, 0), (2.0, 0), (2.0, 1)]:
        classifier = CodeClassifier(LogisticRegression(C=C), random_state=seed)
        _bench.warm_up(Contestant("one_vs_rest", "logistic", classifier))
    assert len(fits) == 1
    classifier = CodeClassifier(LogisticRegression(solver="newton-cg"), random_state=0)
    _bench.warm_up(Contestant("one_vs_rest", "logistic", classifier))
    assert len(fits) == 2
