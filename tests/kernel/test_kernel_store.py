from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array
from sklearn.model_selection import GridSearchCV, cross_val_predict

from polychotomy import CodeClassifier, GreedySearchCV, SharedKernelSVC
from polychotomy.kernel import shared_kernel
from polychotomy.kernel._functions import KernelAgainst
from polychotomy.kernel._kernel_store import KernelStore, active_store, carry_over, spread


@pytest.fixture
def counted(monkeypatch):
    """Numbers of rows that were computed; a row in part counts in part."""
    rows = []
    write = KernelAgainst.write_own

    def count(self, numbers, K, slots, ranges):
        wanted = ranges.wanted.sum(axis=0) @ (ranges.stops - ranges.starts)
        rows.append(float(wanted) / self._Y.shape[0])
        return write(self, numbers, K, slots, ranges)

    monkeypatch.setattr(KernelAgainst, "write_own", count)
    return rows


def test_samples_are_found_by_content(rng):
    X = rng.normal(size=(50, 3))
    X[10] = X[20]  # the same features twice
    y = rng.integers(0, 3, size=50)
    store = KernelStore(X, y)
    part = rng.permutation(50)[:30]
    found = store.place(X[part])
    assert len(set(found)) == 30
    np.testing.assert_array_equal(store.X[found], X[part])
    assert store.place(X + 1) is None
    assert store.place(np.vstack([X, X[:1]])) is None
    assert store.place(X[:, :2]) is None


def test_gaps_are_filled_within_problems_only():
    found = np.array([0, 2, 3, 5, 7])
    targets = np.array([[1, 1], [1, 1], [-1, 0], [-1, 0], [1, 1]], dtype=np.int8)
    sides, upper = spread(found, targets, np.full((5, 1), 2.0), 8)
    np.testing.assert_array_equal(sides[:, 0], [1, 1, 1, -1, 1, -1, 1, 1])
    np.testing.assert_array_equal(sides[:, 1], [1, 1, 1, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(upper[:, 0], [2, 0, 2, 2, 0, 2, 0, 2])


@given(seed=st.integers(0, 10**6), together=st.booleans())
def test_what_is_carried_over_is_allowed(seed, together):
    rng = np.random.default_rng(seed)
    targets = rng.integers(-1, 2, size=(12, 4)).astype(np.int8)
    old = csc_array(rng.integers(-1, 2, size=(12, 4)) * rng.choice([0.5, 1.0, 3.0], size=(12, 4)))
    upper = rng.choice([0.0, 1.0, 2.0], size=(12, 4))
    bounded = np.abs(old.data) == 3.0
    new = carry_over(old, bounded, targets, upper, together=together).toarray()
    np.testing.assert_allclose(new.sum(axis=None if together else 0), 0, atol=1e-12)
    assert (new * targets >= 0).all()
    assert (np.abs(new) <= upper + 1e-12).all()
    assert (new[targets == 0] == 0).all()


def test_the_same_problem_goes_on_where_it_was():
    W = csc_array(np.array([[2.0], [-1.5], [-0.5], [0.0]]))
    sides = np.array([[1], [-1], [-1], [1]], dtype=np.int8)
    bounded, bounds = np.array([True, False, False]), np.full((4, 1), 2.0)
    same = carry_over(W, bounded, sides, bounds, together=False)
    np.testing.assert_array_equal(same.toarray(), W.toarray())
    doubled = carry_over(W, bounded, sides, 2 * bounds, together=False)
    np.testing.assert_allclose(doubled.toarray().ravel(), [2, -1.5, -0.5, 0])


@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one"])
def test_folds_share_rows_and_results_stay(code, digits, counted):
    X, y = digits
    outputs = {}
    for C in (1.0, 4.0, 2.0):
        model = CodeClassifier(SharedKernelSVC(C=C, gamma=0.05, tol=1e-5), code, probability=None)
        outputs[C] = cross_val_predict(model, X, y, cv=3, method="decision_function")
    apart = sum(counted)
    counted.clear()
    with shared_kernel(X, y):
        assert active_store() is not None
        for C in (1.0, 4.0, 2.0):
            model = CodeClassifier(
                SharedKernelSVC(C=C, gamma=0.05, tol=1e-5), code, probability=None
            )
            found = cross_val_predict(model, X, y, cv=3, method="decision_function")
            np.testing.assert_allclose(found, outputs[C], atol=2e-3)
    assert active_store() is None
    assert sum(counted) <= len(y) < apart / 3


def test_coupled_problems_share_rows_too(digits, counted):
    X, y = digits
    X, y = X[:300], y[:300]
    targets = np.where(y[:, np.newaxis] == np.arange(10), 1, -1)
    coupling = np.full((10, 10), 0.6) + 0.4 * np.eye(10)
    folds = [np.setdiff1d(np.arange(300), np.arange(first, 300, 5)) for first in range(5)]

    def outputs():
        found = []
        for fold in folds:
            learner = SharedKernelSVC(C=4, gamma=0.05, tol=1e-5)
            model = learner.fit_joint(X[fold], targets[fold], coupling=coupling)
            found.append(model.outputs(X))
        return np.array(found)

    expected = outputs()
    counted.clear()
    with shared_kernel(X, y):
        np.testing.assert_allclose(outputs(), expected, atol=1e-3)
    assert sum(counted) <= 300


def test_other_samples_and_other_kernels_go_on_as_usual(digits):
    X, y = digits
    plain = CodeClassifier(SharedKernelSVC(gamma=0.05)).fit(X[:300] + 1, y[:300])
    weight = np.linspace(1, 2, 300)
    weighted = CodeClassifier(SharedKernelSVC(gamma=0.05)).fit(X[:300], y[:300], weight)
    with shared_kernel(X, y):
        other = CodeClassifier(SharedKernelSVC(gamma=0.05)).fit(X[:300] + 1, y[:300])
        np.testing.assert_array_equal(other.predict_proba(X), plain.predict_proba(X))
        CodeClassifier(SharedKernelSVC(gamma=0.05)).fit(X[:300], y[:300])
        again = CodeClassifier(SharedKernelSVC(gamma=0.05)).fit(X[:300], y[:300], weight)
        np.testing.assert_allclose(again.predict_proba(X), weighted.predict_proba(X), atol=0.01)
        linear = CodeClassifier(SharedKernelSVC(kernel="linear"), probability=None).fit(X, y)
    apart = CodeClassifier(SharedKernelSVC(kernel="linear"), probability=None).fit(X, y)
    assert np.mean(linear.predict(X) == apart.predict(X)) > 0.995


def test_grids_use_it_too(digits, counted):
    X, y = digits
    model = CodeClassifier(SharedKernelSVC(), "one_vs_rest", probability=None)
    grid = {"estimator__gamma": [0.02, 0.1], "estimator__C": [1, 10]}
    apart = GridSearchCV(model, grid, cv=3).fit(X, y)
    counted.clear()
    with shared_kernel(X, y):
        shared = GridSearchCV(model, grid, cv=3).fit(X, y)
    np.testing.assert_allclose(
        shared.cv_results_["mean_test_score"], apart.cv_results_["mean_test_score"], atol=0.005
    )
    assert sum(counted) <= 5 * len(y)


def test_the_greedy_search_shares(digits, counted):
    X, y = digits
    model = CodeClassifier(SharedKernelSVC(), "one_vs_rest", probability=None)
    search = GreedySearchCV(model, cv=3).fit(X, y)
    gammas = [p["estimator__gamma"] for p in search.cv_results_["params"]]
    n_kernels = 1 + sum(a != b for a, b in pairwise(gammas))  # one is kept at a time
    assert n_kernels < len(gammas)
    assert sum(counted) <= (n_kernels + 1) * len(y)  # and the last training
    assert search.best_score_ > 0.9
