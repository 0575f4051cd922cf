"""A cell is a pure function of its task."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from polychotomy import CodeClassifier, datasets
from polychotomy.evaluate import Contestant, Samples, Schedule, _bench, compute
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
