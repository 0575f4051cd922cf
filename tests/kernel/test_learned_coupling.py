import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from polychotomy import SharedKernelSVC
from polychotomy.kernel._learned_coupling import (
    WeightedCoupling,
    couple,
    extension_couplings,
    learn_coupling,
)

C, GAMMA = 5.0, 0.3


def single_entries(k):
    """The extensions of the paper's section 5: all zeros but for one unit entry at (r, r)."""
    matrices = np.zeros((k, k, k))
    matrices[np.arange(k), np.arange(k), np.arange(k)] = 1
    return list(matrices)


@pytest.fixture(scope="module")
def data():
    """Three classes of which the second overlaps both others."""
    centres = [[0, 0], [1.5, 0], [3.5, 0.5]]
    return make_blobs(45, centers=centres, cluster_std=[0.8, 0.9, 0.7], random_state=0)


def solver(X, y, gamma=GAMMA, C=C, **options):
    learner = SharedKernelSVC(C, gamma=gamma, **options)
    targets = np.where(y[:, np.newaxis] == np.unique(y), 1, -1)

    def solve(coupling, start):
        return learner.fit_joint(X, targets, coupling=coupling, common_bias=True, start=start)

    return solve


@pytest.fixture(scope="module")
def solve(data):
    return solver(*data, tol=1e-8, dtype="float64")


@pytest.fixture(scope="module")
def bases():
    return extension_couplings(single_entries(3), GAMMA)


def explicit_objective(X, y, coupling, gamma=GAMMA, C=C):
    """g of section 3.1 by LIBSVM, on the kernel of all replicas."""
    labels = np.where(y[:, np.newaxis] == np.unique(y), 1, -1).ravel()
    K = np.kron(rbf_kernel(X, gamma=gamma), coupling)
    svm = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, labels)
    signed, support = svm.dual_coef_[0], svm.support_
    return 2 * np.abs(signed).sum() - signed @ K[np.ix_(support, support)] @ signed


def test_the_bases_of_the_paper():
    bases = extension_couplings(single_entries(3), 0.7)
    a = np.exp(-0.7)
    np.testing.assert_allclose(bases[1], [[1, a, 1], [a, 1, a], [1, a, 1]])
    columns = list(np.eye(3)[:, :, np.newaxis])
    np.testing.assert_array_equal(extension_couplings(columns, 0.7), bases)


def test_the_objective_is_that_of_the_replicas(data, solve, bases):
    found = couple(solve, bases, np.array([0.5, 3.0, 1.5]))
    assert found.objective == pytest.approx(explicit_objective(*data, found.coupling), rel=1e-6)


def test_the_gradient_is_that_of_finite_differences(data, solve, bases):
    weights, h = np.array([0.5, 3.0, 1.5]), 1e-3
    found = couple(solve, bases, weights)
    for j, step in enumerate(h * np.eye(3)):
        ends = [
            explicit_objective(*data, np.tensordot(weights + s * step, bases, 1)) for s in (1, -1)
        ]
        assert -found.gains[j] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-4)


def test_a_solution_bounds_the_objective_everywhere(data, solve, bases, rng):
    """g(μ') ≥ 2 Σα − Σ μ'_j d_j, which is what the certified gap rests on."""
    found = couple(solve, bases, np.array([0.5, 3.0, 1.5]))
    constant = found.objective + found.squared_norm
    for weights in rng.dirichlet(np.ones(3), size=5) * 5:
        exact = explicit_objective(*data, np.tensordot(weights, bases, 1))
        assert exact >= constant - weights @ found.gains - 1e-6 * exact


@pytest.mark.parametrize("radius", [0.3, 5.0])
def test_the_optimum_is_that_of_an_independent_solver(data, solve, bases, radius):
    def objective(weights):
        return explicit_objective(*data, np.tensordot(weights, bases, 1))

    best = minimize(
        objective,
        np.full(3, radius / 3),
        method="SLSQP",
        bounds=[(0, None)] * 3,
        constraints={"type": "ineq", "fun": lambda weights: radius - weights.sum()},
        options={"ftol": 1e-9},
    )
    found = learn_coupling(solve, bases, radius, tol=1e-5)
    assert found.best.objective == pytest.approx(best.fun, rel=1e-5)
    np.testing.assert_allclose(found.best.weights, best.x, atol=0.01 * radius)
    assert found.best.optimality_gap(radius) < 1e-3


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("gamma", [0.01, 0.3, 3.0])
def test_the_objective_falls_and_the_weights_stay_feasible(data, gamma, tol):
    bases = extension_couplings(single_entries(3), gamma)
    seen = []
    inner = solver(*data, gamma=gamma)

    def solve(coupling, start):
        seen.append(coupling[0, 0])  # Σ μ, as all bases have the diagonal 1
        assert (start is None) == (len(seen) == 1)
        return inner(coupling, start)

    found = learn_coupling(solve, bases, 6.0, tol=tol)
    assert (np.diff(found.objectives) < 0).all()
    assert found.best.objective == found.objectives[-1]
    assert found.n_solves == len(seen) >= len(found.objectives)
    np.testing.assert_allclose(seen, 6.0)
    assert (found.best.weights >= 0).all()


def test_equal_bases_stay_equal(data, solve):
    bases = extension_couplings([np.eye(3)] * 4, GAMMA)
    found = learn_coupling(solve, bases, 2.0)
    np.testing.assert_allclose(found.best.weights, 0.5)
    assert found.n_solves == 1


def test_a_useless_basis_loses_its_weight(data, solve):
    """One that cannot tell classes apart, beside one that can."""
    bases = extension_couplings([np.zeros((3, 1)), np.eye(3)], GAMMA)
    found = learn_coupling(solve, bases, 2.0)
    assert found.best.weights[0] < 0.01


class Frozen:
    """A joint problem whose derivative is given, to try what the optimisers make of it."""

    def __init__(self, gains):
        self.weights = np.ones(len(gains))
        self.gains = np.array(gains, dtype=float)

    squared_norm = WeightedCoupling.squared_norm


def test_one_step_by_hand():
    from polychotomy.kernel._learned_coupling import _next_weights

    point = Frozen([16.0, 1.0])
    ahead, safe = _next_weights(point, point, 2.0, 1e-3)
    np.testing.assert_allclose(ahead, [16 / 9, 2 / 9])
    np.testing.assert_allclose(safe, [8 / 5, 2 / 5])
    point = Frozen([1.0, 1.0])
    assert _next_weights(point, point, 2.0, 1e-3) == []


def test_a_basis_without_weight_that_would_help_is_no_optimum():
    """The weights hardly change, but the derivative says that they must."""
    from polychotomy.kernel._learned_coupling import _next_weights

    point = Frozen([1.0, 3.0])
    point.weights = np.array([1.0, 1e-9])
    assert len(_next_weights(point, point, 1.0, 1e-3)) == 2


class Convex:
    """Stands for a joint problem with g(μ) = Σ a_j / μ_j: the optimum is μ ∝ √a."""

    def __init__(self, a, coupling):
        weights = np.diag(coupling)
        self.dual_objective_ = [np.sum(a / weights) / 2]
        self.duality_gap_ = [0.0]
        self.coefficients_ = None
        self.products_ = np.diag(a / weights**2)


def diagonal_bases(n):
    return np.array([np.diag(row) for row in np.eye(n)])


def test_a_problem_with_a_known_optimum():
    a = np.array([1.0, 4.0, 25.0, 0.01])
    found = learn_coupling(lambda M, start: Convex(a, M), diagonal_bases(4), 8.1, tol=1e-6)
    np.testing.assert_allclose(found.best.weights, np.sqrt(a), rtol=1e-5)


def test_vehicle(shared_data):
    """γ = 0.25, C = 16, R = √m, where a plain gradient step jumps to and fro."""
    X, y = shared_data("vehicle")
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), np.unique(y, return_inverse=True)[1]
    bases = extension_couplings(single_entries(4), 0.25)
    solve, radius = solver(X, y, gamma=0.25, C=16), np.sqrt(len(y))
    found = learn_coupling(solve, bases, radius)
    assert found.n_solves <= 10
    assert found.best.optimality_gap(radius) < 0.01


def test_unfinished_learning_is_told(solve, bases):
    with pytest.warns(ConvergenceWarning, match="still change by .* after 2 iterations.*max_iter"):
        found = learn_coupling(solve, bases, 5.0, max_iter=2)
    assert found.n_solves == 2


def test_solves_are_counted_aloud(solve, bases):
    told = []
    found = learn_coupling(solve, bases, 5.0, done=lambda n, objective: told.append((n, objective)))
    assert [n for n, _ in told] == list(range(1, found.n_solves + 1))
    assert told[0][1] == found.objectives[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 0}, "'tol' parameter must be a number between 0 and 1. Got 0"),
        ({"tol": "small"}, "'tol' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter must be a positive int. Got 0"),
        ({"max_iter": 2.5}, "'max_iter' parameter"),
    ],
)
def test_bad_options_are_refused(solve, bases, options, message):
    with pytest.raises(ValueError, match=message):
        learn_coupling(solve, bases, 5.0, **options)
