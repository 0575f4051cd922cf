import pickle
from threading import Thread

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from polychotomy import CodeClassifier, SharedKernelSVC, TreeClassifier
from polychotomy.training import shared_problems


class Counting(LogisticRegression):
    """Counts how often it is trained."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


@pytest.fixture(autouse=True)
def _zero():
    Counting.fits = 0


def distinct(*classifiers):
    return {column.tobytes() for c in classifiers for column in c._readout.distinct.columns.T}


CODES = ("one_vs_rest", "one_vs_one", "exhaustive", "bch", "adjacent", "sparse_random")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_each_different_problem_is_trained_once(digits, n_jobs):
    X, y = digits
    few = y < 4
    X, y = X[few], y[few]
    options = {"random_state": 0, "probability": None, "n_jobs": n_jobs}
    with shared_problems():
        trained = [CodeClassifier(Counting(), code, **options).fit(X, y) for code in CODES]
        trained.append(TreeClassifier(Counting(), **options).fit(X, y))
        trained.append(TreeClassifier(Counting(), "ddag", **options).fit(X, y))
    problems = distinct(*trained)
    assert len(problems) < sum(len(c.estimators_) for c in trained)
    assert len({id(e) for c in trained for e in c.estimators_}) == len(problems)
    if n_jobs is None:  # else the workers count
        assert Counting.fits == len(problems)


def test_folds_of_calibration_are_shared_too(iris):
    X, y = iris
    with shared_problems():
        for code in ("one_vs_rest", "exhaustive"):  # of three classes the same problems
            CodeClassifier(Counting(), code, calibration="sigmoid", cv=3).fit(X, y)
    assert Counting.fits == 3 * (1 + 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "base",
    [
        SVC(),
        SGDClassifier(max_iter=5, tol=None),  # draws
        make_pipeline(StandardScaler(), SGDClassifier(max_iter=5, tol=None)),
        SGDClassifier(max_iter=5, tol=None, random_state=np.random.RandomState(3)),
    ],
    ids=["SVC", "SGD", "pipeline", "RandomState"],
)
def test_no_bit_of_a_result_changes(digits, base):
    X, y = digits[0][:200], digits[1][:200]

    def fit_all():
        made = [
            *(CodeClassifier(base, c, random_state=1, cv=2) for c in ("one_vs_one", "bch")),
            *(TreeClassifier(base, s, random_state=1, cv=2) for s in ("linkage", "ddag")),
        ]
        return [c.fit(X, y).predict_proba(X) for c in made]

    apart = fit_all()
    with shared_problems():
        shared = fit_all()
    for a, b in zip(apart, shared, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize(
    "other",
    [
        {"base": Counting(C=2.0)},
        {"weight": np.linspace(1, 2, 150)},
        {"rows": slice(0, 149)},
        {"classes": [1, 0, 2]},
    ],
)
def test_what_differs_is_trained_again(iris, other):
    X, y = iris

    def fit(base=None, weight=None, rows=slice(None), classes=(0, 1, 2)):
        classifier = CodeClassifier(base or Counting(), "one_vs_one")
        weight = np.ones(len(y)) if weight is None else weight
        return classifier.fit(X[rows], np.array(classes)[y][rows], sample_weight=weight[rows])

    with shared_problems():
        fit()
        before = Counting.fits
        fit()
        assert Counting.fits == before == 3
        second = fit(**other)
    assert np.array_equal(second.predict_proba(X), fit(**other).predict_proba(X))
    assert Counting.fits > before + 3


def test_seeds_do_not_depend_on_the_code(digits):
    X, y = digits
    base = SGDClassifier(max_iter=1, tol=None)
    made = (
        CodeClassifier(base, "one_vs_one", random_state=5, probability=None),
        TreeClassifier(base, "linkage", random_state=5, probability=None),
    )
    first, second = (
        {
            column.tobytes(): estimator.random_state
            for column, estimator in zip(
                c.fit(X, y)._readout.distinct.columns.T, c.estimators_, strict=True
            )
        }
        for c in made
    )
    common = first.keys() & second.keys()
    assert common
    assert all(first[key] == second[key] for key in common)
    assert len(set(first.values())) == len(first)


def test_memory_is_bounded(iris):
    X, y = iris
    one = CodeClassifier(Counting(), "one_vs_one").fit(X, y)._trained.problems[0]
    Counting.fits = 0
    with shared_problems(max_bytes=int(2.5 * len(pickle.dumps(one)))):
        for _ in range(2):
            CodeClassifier(Counting(), "one_vs_one").fit(X, y)
    assert Counting.fits == 3 + 1  # two of three were kept
    with shared_problems(max_bytes=10):
        for _ in range(2):
            CodeClassifier(Counting(), "one_vs_one").fit(X, y)
    assert Counting.fits == 4 + 6


def test_what_cannot_be_told_apart_is_not_shared(iris):
    X, y = iris
    base = make_pipeline(FunctionTransformer(lambda x: x), Counting())
    with shared_problems():
        for _ in range(2):
            CodeClassifier(base, "one_vs_one").fit(X, y)
    assert Counting.fits == 6


def test_outside_and_in_other_threads_nothing_is_shared(iris):
    X, y = iris
    with shared_problems():
        CodeClassifier(Counting()).fit(X, y)
        thread = Thread(target=lambda: CodeClassifier(Counting()).fit(X, y))
        thread.start()
        thread.join()
    CodeClassifier(Counting()).fit(X, y)
    assert Counting.fits == 9


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no")

    def predict_proba(self, X): ...


def test_failures_leave_the_store_alone(iris):
    X, y = iris
    with shared_problems():
        for _ in range(2):
            with pytest.raises(RuntimeError):
                CodeClassifier(Failing()).fit(X, y)


class CountingSVC(SharedKernelSVC):
    """Counts the problems that it trains at once."""

    problems = 0

    def fit_joint(self, X, targets, **options):
        type(self).problems += targets.shape[1]
        return super().fit_joint(X, targets, **options)


def test_problems_that_are_trained_at_once_are_shared_too(digits):
    few = digits[1] < 4
    X, y = digits[0][few], digits[1][few]
    exact = CountingSVC(tol=1e-10, dtype="float64")
    made = [
        *(CodeClassifier(exact, code, cv=2) for code in ("one_vs_rest", "one_vs_one")),
        *(TreeClassifier(exact, structure, cv=2) for structure in ("linkage", "ddag")),
        CodeClassifier(exact, "exhaustive", cv=2),
    ]
    apart = [c.fit(X, y) for c in map(clone, made)]
    CountingSVC.problems = 0
    with shared_problems():
        shared = [c.fit(X, y) for c in made]
    assert CountingSVC.problems == 3 * len(distinct(*apart))
    assert len(distinct(*apart)) < sum(len(c.estimators_) for c in apart)
    for a, b in zip(apart, shared, strict=True):
        assert b.predict_proba(X) == pytest.approx(a.predict_proba(X), abs=1e-6)
        assert np.array_equal(a.predict(X), b.predict(X))
        for one, other in zip(a.estimators_, b.estimators_, strict=True):
            assert other.decision_function(X) == pytest.approx(one.decision_function(X), abs=1e-6)
    again = pickle.loads(pickle.dumps(shared[-1]))
    assert np.array_equal(again.predict_proba(X), shared[-1].predict_proba(X))
    assert again.binary_outputs(X).shape == (len(X), 7)
