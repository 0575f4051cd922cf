"""Least squares against independent solvers, coupling against LIBSVM."""

import numpy as np
import pytest
from sklearn.svm import SVC

from polychotomy import make_code
from polychotomy.probability import _twins, solve

CODES = [
    make_code(name, k, random_state=0)
    for name, k in (
        ("one_vs_one", 4),
        ("one_vs_rest", 6),
        ("bch", 5),
        ("sparse_random", 7),
        ("adjacent", 5),
        ("dense_random", 10),
    )
]


def _with_quadprog(N):
    quadprog = pytest.importorskip("quadprog")
    k = len(N)
    # The solver needs a definite matrix; adding 11ᵀ changes nothing on the simplex.
    constraints = np.column_stack([np.ones(k), np.eye(k)])
    right = np.append(1.0, np.zeros(k))
    return quadprog.solve_qp(N + 1.0, np.zeros(k), constraints, right, meq=1)[0]


def _with_clarabel(N):
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    k = len(N)
    rows = sparse.csc_matrix(np.vstack([np.ones(k), -np.eye(k)]))
    right = np.append(1.0, np.zeros(k))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(k)]
    upper = sparse.csc_matrix(np.triu(N))
    solver = clarabel.DefaultSolver(upper, np.zeros(k), rows, right, cones, settings)
    return np.array(solver.solve().x)


@pytest.mark.parametrize(("solver", "tolerance"), [(_with_quadprog, 1e-8), (_with_clarabel, 1e-3)])
@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
def test_least_squares(solver, tolerance, code, rng):
    q = rng.random((100, code.n_problems))
    ours = solve(q, code, "least_squares")
    for qi, p in zip(q, ours, strict=True):
        N = _twins.normal_matrix(qi, code)
        theirs = solver(N)
        np.testing.assert_allclose(p, theirs, atol=tolerance)
        assert p @ N @ p <= theirs @ N @ theirs + 1e-9


@pytest.mark.slow
def test_least_squares_on_many_rows(rng):
    code = make_code("one_vs_rest", 5)
    q = rng.random((100_000, 5))
    ours = solve(q, code, "least_squares")
    worst = max(
        np.abs(p - _with_quadprog(_twins.normal_matrix(qi, code))).max()
        for qi, p in zip(q, ours, strict=True)
    )
    assert worst < 1e-8


@pytest.mark.filterwarnings("ignore:.*probability.*:FutureWarning")
def test_coupling_is_libsvms(iris):
    """LIBSVM iterates to a tolerance of 0.005/k; its sigmoids and margins are taken from it."""
    X, y = iris
    libsvm = SVC(probability=True, decision_function_shape="ovo", random_state=0).fit(X, y)
    margins = libsvm.decision_function(X)
    q = 1 / (1 + np.exp(libsvm.probA_ * margins + libsvm.probB_))
    ours = solve(np.clip(q, 1e-7, 1 - 1e-7), make_code("one_vs_one", 3), "coupling")
    np.testing.assert_allclose(ours, libsvm.predict_proba(X), atol=2e-3)
