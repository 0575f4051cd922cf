from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import pairwise_kernels

from polychotomy.kernel import _twins
from polychotomy.kernel._compiled import rbf_from_products, rbf_rows
from polychotomy.kernel._functions import Kernel, resolve_gamma

NAMES = ("rbf", "linear", "poly", "sigmoid")


def _expected(name, X, Y):
    options = {"gamma": 0.3, "coef0": 0.5, "degree": 3}
    allowed = {"rbf": ["gamma"], "linear": [], "poly": options, "sigmoid": ["gamma", "coef0"]}
    return pairwise_kernels(X, Y, name, **{key: options[key] for key in allowed[name]})


@pytest.mark.nojit
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_kernels_are_scikit_learns(name, dtype, kind, rng):
    X, Y = rng.normal(size=(50, 7)), rng.normal(size=(70, 7))
    values = Kernel(name, 0.3, 0.5, 3, dtype).against(kind(Y)).values(kind(X))
    assert values.dtype == dtype
    tol = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(values, _expected(name, X, Y), rtol=tol, atol=tol)


@pytest.mark.nojit
def test_the_compiled_exponential_is_its_twin(rng):
    X = rng.normal(size=(40, 5)).astype(np.float32)
    squares = (X**2).sum(axis=1)
    out = np.empty((40, 40), dtype=np.float32)
    for gamma in (1e-6, 0.1, 3.0, 500.0):
        slots = np.arange(40)[::-1].copy()
        rbf_from_products(X @ X.T, squares, squares, np.float32(gamma), out, slots)
        expected = _twins.rbf_from_products(
            (X @ X.T).astype(float), squares.astype(float), squares.astype(float), gamma
        )
        np.testing.assert_allclose(out[slots], expected, rtol=3e-6 * max(1, gamma), atol=1e-7)


@pytest.mark.nojit
@pytest.mark.parametrize("d", [1, 8, 21])
def test_compiled_rows_are_their_twin(d, rng):
    X = rng.normal(size=(700, d)).astype(np.float32)
    Y, squares = np.ascontiguousarray(X.T), (X**2).sum(axis=1)
    K = np.full((9, 700), np.nan, dtype=np.float32)
    slots, starts, stops = np.array([5, 2, 7]), np.array([0, 128]), np.array([100, 690])
    wanted = np.array([[True, True], [False, True], [True, False]])
    gamma = np.float32(1 / d)
    numbers = np.array([0, 650, 3])
    rbf_rows(X, squares, numbers, Y, squares, gamma, K, slots, starts, stops, wanted)
    expected = np.full((9, 700), np.nan)
    twin = _twins.rbf_rows(X[numbers].astype(float), Y.astype(float), 1 / d)
    for r, slot in enumerate(slots):
        for first, last in zip(starts[wanted[r]], stops[wanted[r]], strict=True):
            expected[slot, first:last] = twin[r, first:last]
    np.testing.assert_allclose(K, expected, rtol=1e-5, atol=1e-7)


def test_rows_are_the_same_in_whatever_company(rng):
    for d, dtype in product((3, 16, 100, 617), ("float32", "float64")):
        X = rng.normal(size=(500, d))
        against = Kernel("rbf", 1 / d, 0, 3, dtype).against(X)
        whole = against.values(X)
        for rows in (np.arange(1), np.arange(31, 64), rng.permutation(500)[:77], np.array([499])):
            np.testing.assert_array_equal(against.values(X[rows]), whole[rows])


def test_far_samples_and_large_gamma_keep_their_precision(rng):
    X = 1e6 + rng.normal(size=(60, 4))
    values = Kernel("rbf", 0.5, 0, 3, "float32").against(X).values(X)
    np.testing.assert_allclose(
        values, pairwise_kernels(X - 1e6, metric="rbf", gamma=0.5), atol=1e-5
    )
    X = rng.normal(size=(60, 4))
    values = Kernel("rbf", 1e4, 0, 3, "float32").against(X).values(X)
    np.testing.assert_allclose(np.diag(values), 1, atol=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_gamma_is_scikit_learns(kind, rng):
    X = rng.normal(size=(30, 4))
    assert resolve_gamma("scale", kind(X)) == pytest.approx(1 / (4 * X.var()))
    assert resolve_gamma("auto", kind(X)) == 0.25
    assert resolve_gamma(3, X) == 3
    assert resolve_gamma("scale", np.ones((3, 2))) == 1


@pytest.mark.parametrize("gamma", [0, -1, "wide", np.inf, None, [1]])
def test_gamma_must_be_positive(gamma):
    with pytest.raises(ValueError, match="'gamma' parameter must be"):
        resolve_gamma(gamma, np.ones((3, 2)))


@pytest.mark.parametrize("scale", [1e-160, 1e160])
def test_the_width_of_features_beyond_floats_is_refused(scale, rng):
    with pytest.raises(ValueError, match="With gamma='scale', the variance"):
        resolve_gamma("scale", scale * rng.normal(size=(9, 2)))


@pytest.mark.parametrize("scale", [1e7, 1e8, 1e100, 1e150])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_sample_is_at_no_distance_from_itself(scale, dtype, kind, rng):
    Y = scale * rng.normal(size=(50, 4))
    X = np.vstack([Y[:20], Y[:20] + scale])
    values = Kernel("rbf", 1.0, 0.0, 3, dtype).against(kind(Y)).values(kind(X))
    np.testing.assert_array_equal(values, np.eye(40, 50) * (np.arange(40) < 20)[:, np.newaxis])


def test_small_distances_far_from_the_centre_are_those_of_the_differences(rng):
    Y = np.vstack([rng.normal(size=(20, 3)), rng.normal(size=(20, 3)) + 1e9])
    values = Kernel("rbf", 0.5, 0.0, 3, "float64").against(Y).values(Y)
    expected = np.exp(-0.5 * ((Y[:, np.newaxis] - Y) ** 2).sum(axis=2))
    np.testing.assert_allclose(values, expected, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_samples_beyond_floats_are_far_from_all_or_refused(dtype, kind, rng):
    Y, X = rng.normal(size=(50, 4)), rng.normal(size=(6, 4))
    X[::2] *= 1e155
    rbf = Kernel("rbf", 1.0, 0.0, 3, dtype).against(kind(Y))
    values = rbf.values(kind(X))
    assert not values[::2].any()
    np.testing.assert_array_equal(values[1::2], rbf.values(kind(X[1::2])))
    poly = Kernel("poly", 1.0, 0.0, 3, dtype).against(kind(Y))
    with pytest.raises(ValueError, match="values of the kernel 'poly' must be finite"):
        poly.values(kind(X))
    linear = Kernel("linear", 1.0, 0.0, 3, dtype).against(kind(Y))
    far = 1e20 * X[1::2]
    np.testing.assert_allclose(linear.values(kind(far)), far @ Y.T, rtol=1e-3, atol=1e15)
