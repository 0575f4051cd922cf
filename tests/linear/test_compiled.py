import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from polychotomy.linear._compiled import descend, first_samples, solve_column, survey
from polychotomy.linear._twins import descend_twin, survey_twin


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = csr_array(random_array((60, 25), density=0.2, rng=rng))
    sides = rng.choice([-1, -1, 0, 1], size=60).astype(np.int8)
    costs = rng.uniform(0.5, 2, 60) * (rng.uniform(size=60) > 0.1)
    norms = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return X, sides, costs, norms


@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_a_pass_is_that_of_the_twin(problem, bias):
    X, sides, costs, norms = problem
    order = np.flatnonzero((sides != 0) & (costs > 0))[::-1].copy()
    found, twin = (np.zeros(60), np.zeros(26)), (np.zeros(60), np.zeros(26))
    for _ in range(3):
        gain = descend(
            X.indptr, X.indices, X.data, sides, costs, norms, bias, order, len(order), *found
        )
        expected = descend_twin(X, sides, costs, bias, order, *twin)
        np.testing.assert_allclose(gain, expected, rtol=1e-9)
        for ours, theirs in zip(found, twin, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_a_survey_is_that_of_the_twin(problem):
    X, sides, costs, _ = problem
    alpha = np.random.default_rng(1).uniform(size=60) * (sides != 0) * (costs > 0)
    alpha[::3] = 0
    w = np.append(X.T @ (alpha * sides), alpha @ sides)
    order = np.empty(60, np.int64)
    *values, n = survey(X.indptr, X.indices, X.data, sides, costs, alpha, w, order)
    *expected, counting = survey_twin(X, sides, costs, alpha, w)
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    np.testing.assert_array_equal(order[:n], counting)


def test_the_first_samples_are_the_smaller_side_and_some_of_the_other():
    sides = np.where(np.arange(3200) % 100 == 0, 1, -1).astype(np.int8)
    sides[0], costs = 0, np.ones(3200)
    costs[100] = 0
    order = np.empty(3200, np.int64)
    chosen = order[: first_samples(sides, costs, order)]
    assert set(np.flatnonzero((sides > 0) & (costs > 0))) <= set(chosen)
    assert (sides[chosen] != 0).all()
    assert (costs[chosen] > 0).all()
    assert 150 < np.sum(sides[chosen] < 0) < 300


def test_a_solution_meets_the_optimality_conditions(problem):
    X, sides, costs, norms = problem
    w = np.zeros(26)
    passes, primal, gap = solve_column(
        X.indptr, X.indices, X.data, sides, costs, norms, 1.0, 1e-16, 10_000, w
    )
    assert passes > 1
    assert gap <= 1e-16 * primal
    margins = sides * (X @ w[:-1] + w[-1])
    alpha = 2 * costs * np.maximum(1 - margins, 0) * (sides != 0)
    np.testing.assert_allclose(w, np.append(X.T @ (alpha * sides), alpha @ sides), atol=1e-6)


def test_a_problem_without_samples_is_solved_by_zero(problem):
    X, sides, costs, norms = problem
    w = np.zeros(26)
    _, primal, gap = solve_column(
        X.indptr, X.indices, X.data, 0 * sides, costs, norms, 1.0, 1e-4, 100, w
    )
    assert primal == gap == 0
    assert not w.any()
