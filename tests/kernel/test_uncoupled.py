import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from polychotomy import make_code
from polychotomy.kernel import _twins, _uncoupled
from polychotomy.kernel._compiled import (
    add_coupled,
    add_rows,
    fill_block,
    select,
    select_pairs,
    solve_block,
    sparse_outputs,
)
from polychotomy.kernel._coupled import check_coupling, solve_coupled
from polychotomy.kernel._functions import Kernel
from polychotomy.kernel._kernel_rows import KernelRows
from polychotomy.kernel._uncoupled import solve_apart


def rows_of(X, gamma=0.5, dtype="float64", cache_size=100):
    return KernelRows(Kernel("rbf", gamma, 0, 3, dtype), X, cache_size)


@pytest.fixture
def samples(rng):
    y = np.sort(rng.integers(0, 4, size=300))
    return rng.normal(size=(300, 3)) + y[:, np.newaxis] / 2, y


def violation(K, target, coefficients, upper):
    """Return the largest violation of the optimality conditions of one problem."""
    part = np.flatnonzero(target)
    y, a, c = target[part].astype(float), np.abs(coefficients[part]), upper[part]
    e = y - K[np.ix_(part, part)] @ (y * a)
    up, down = np.where(y > 0, a < c, a > 0), np.where(y > 0, a > 0, a < c)
    if not up.any() or not down.any():
        return 0.0
    return e[up].max() - e[down].min()


def test_problems_can_begin_with_one_of_more_samples(samples, rng):
    X, y = samples
    whole = make_code("one_vs_one", 4).matrix[y]
    folds = [np.where(rng.random((len(X), 1)) < 0.2, 0, whole) for _ in range(3)]
    targets = np.hstack([whole, *folds]).astype(np.int8)
    upper = rng.choice([1.0, 5.0], size=(len(X), 1)) * np.ones(targets.shape)
    within = np.concatenate([np.full(6, -1), np.tile(np.arange(6), 3)])
    cold, warm = (
        solve_apart(rows_of(X), targets, upper, tol=1e-5, within=given) for given in (None, within)
    )
    np.testing.assert_allclose(warm.objectives, cold.objectives, rtol=1e-6)
    np.testing.assert_allclose(warm.coefficients.sum(axis=0), 0, atol=1e-9)
    assert warm.steps[6:].sum() < cold.steps[6:].sum()
    threads = solve_apart(rows_of(X), targets, upper, tol=1e-5, within=within, n_jobs=3)
    assert (threads.coefficients != warm.coefficients).nnz == 0


def test_pairs_are_the_worst_replicas_of_each_sample(rng):
    y = rng.choice([-1.0, 1.0], size=(5, 80))
    c = rng.choice([0.0, 1.0], p=[0.1, 0.9], size=y.shape)
    a = c * rng.choice([0.0, 0.5, 1.0], size=y.shape)
    F = rng.normal(size=y.shape)
    up, down = np.empty(8, dtype=np.int64), np.empty(8, dtype=np.int64)
    n_up, n_down, highest, lowest = select_pairs(y, a, c, F, up, down)
    e = y - F
    goes_up = np.where(np.where(y > 0, a < c, a > 0), e, -np.inf)
    goes_down = np.where(np.where(y > 0, a > 0, a < c), e, np.inf)
    assert (highest, lowest) == (goes_up.max(), goes_down.min())
    assert n_up == n_down == 8
    worst = np.argsort(-(goes_up.max(axis=0) - goes_down.min(axis=0)))[:4]
    assert list(up[::2]) == list(goes_up.argmax(axis=0)[worst] * 80 + worst)
    assert list(down[::2]) == list(goes_down.argmin(axis=0)[worst] * 80 + worst)
    assert list(up[1::2] % 80) == list(np.argsort(-goes_up.max(axis=0))[:4])
    assert list(down[1::2] % 80) == list(np.argsort(goes_down.min(axis=0))[:4])


@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one", "sparse_random"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_the_optimality_conditions_hold(samples, code, C):
    X, y = samples
    targets = make_code(code, 4, random_state=0).matrix[y]
    upper = np.full(targets.shape, C)
    found = solve_apart(rows_of(X), targets, upper, tol=1e-4)
    W = found.coefficients.toarray()
    K = rbf_kernel(X, gamma=0.5)
    assert (np.sign(W) * targets >= 0).all()
    assert np.abs(W).max() <= C
    np.testing.assert_allclose(W.sum(axis=0), 0, atol=1e-9 * C * len(y))
    for s in range(targets.shape[1]):
        assert violation(K, targets[:, s], W[:, s], upper[:, s]) <= 1.1e-4
    assert (found.gaps >= -1e-6 * np.abs(found.objectives)).all()


def test_the_solution_is_the_twins(samples):
    X, y = samples
    K = rbf_kernel(X, gamma=0.5)
    targets = make_code("one_vs_rest", 4).matrix[y]
    upper = np.full(targets.shape, 2.0)
    found = solve_apart(rows_of(X), targets, upper, tol=1e-8).coefficients.toarray()
    for s in range(4):
        a = _twins.solve_problem(K, targets[:, s].astype(float), upper[:, s], 1e-8)
        np.testing.assert_allclose(found[:, s], targets[:, s] * a, atol=1e-5)


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.tuples(
            st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n),
            st.lists(st.sampled_from([0.0, 0.5, 1.0, 20.0]), min_size=n, max_size=n),
            st.lists(st.integers(-3, 3), min_size=n, max_size=n),
        )
    )
)
def test_blocks_are_solved_like_the_twin(drawn):
    """Duplicate samples, bounds of zero and one-sided problems among them."""
    y, c, x = (np.array(part, dtype=float) for part in drawn)
    K = rbf_kernel(x[:, np.newaxis], gamma=0.5)
    a, e = np.zeros(len(y)), y.copy()
    solve_block(K, y, a, c, e, len(y), 1e-9, 100_000)
    expected = _twins.solve_problem(K, y, c, 1e-9)
    objective = [v.sum() - 0.5 * (y * v) @ K @ (y * v) for v in (a, expected)]
    assert objective[0] == pytest.approx(objective[1], abs=1e-6)
    np.testing.assert_allclose(e, y - K @ (y * a), atol=1e-8)
    assert ((a >= 0) & (a <= c)).all()


def test_selection_takes_the_worst(rng):
    n = 500
    y, c = rng.choice([-1.0, 1.0], n), rng.uniform(0, 1, n)
    a = np.where(rng.uniform(size=n) < 0.3, 0, np.where(rng.uniform(size=n) < 0.5, c, c / 2))
    f = rng.normal(size=n)
    up, down = np.empty(10, dtype=np.int64), np.empty(10, dtype=np.int64)
    n_up, n_down, highest, lowest = select(y, a, c, f, up, down)
    e = y - f
    can_up, can_down = np.where(y > 0, a < c, a > 0), np.where(y > 0, a > 0, a < c)
    assert (n_up, n_down) == (10, 10)
    np.testing.assert_array_equal(up, np.flatnonzero(can_up)[np.argsort(-e[can_up])[:10]])
    np.testing.assert_array_equal(down, np.flatnonzero(can_down)[np.argsort(e[can_down])[:10]])
    assert (highest, lowest) == (e[can_up].max(), e[can_down].min())


def test_blocks_keep_half_of_the_last():
    marked = np.zeros(100, dtype=bool)
    block = np.empty(8, dtype=np.int64)
    up, down = np.array([1, 2, 3, 4]), np.array([1, 12, 13, 14])
    n = fill_block(block, 0, up, 4, down, 4, marked)
    assert set(block[:n]) == {1, 2, 3, 4, 12, 13, 14}
    n = fill_block(block, n, np.array([50, 51, 52, 53]), 4, np.array([60, 61, 62, 63]), 4, marked)
    assert set(block[:4]) == {50, 51, 60, 61}
    assert n == 8
    assert not marked.any()


def test_rows_are_added_run_by_run(rng):
    K = rng.normal(size=(20, 5000)).astype(np.float32)
    starts, stops = np.array([3, 100, 4000]), np.array([50, 2500, 4999])
    sample = np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])
    slots, weights = rng.permutation(20)[:11], rng.normal(size=11)
    f = rng.normal(size=len(sample))
    expected = f + weights @ K[slots][:, sample].astype(float)
    add_rows(K, slots, weights, 11, f, starts, stops)
    np.testing.assert_allclose(f, expected, rtol=1e-5, atol=1e-5)


def test_sparse_weights_are_full_weights(rng):
    values = rng.normal(size=(20, 50)).astype(np.float32)
    weights = csc_array(rng.normal(size=(50, 7)) * (rng.uniform(size=(50, 7)) < 0.2))
    bias, out = rng.normal(size=7), np.empty((20, 7))
    sparse_outputs(values, weights.indptr, weights.indices, weights.data, bias, out)
    np.testing.assert_allclose(out, values @ weights.toarray() + bias, rtol=1e-5, atol=1e-5)


def test_threads_and_small_caches_change_nothing(rng):
    y = np.sort(rng.integers(0, 5, size=900))
    X = rng.normal(size=(900, 4)) + y[:, np.newaxis] / 3
    targets = make_code("one_vs_rest", 5).matrix[y]
    upper = np.full(targets.shape, 5.0)
    large = None
    for cache_size in (100, 0.001):
        found = []
        for n in (1, 2, 4):
            rows = rows_of(X, dtype="float32", cache_size=cache_size)
            assert rows.holds_all is (cache_size == 100)
            found.append(solve_apart(rows, targets, upper, tol=1e-3, n_jobs=n))
        for other in found[1:]:
            np.testing.assert_array_equal(
                found[0].coefficients.toarray(), other.coefficients.toarray()
            )
            np.testing.assert_array_equal(found[0].bias, other.bias)
        large = large or found[0]
        np.testing.assert_allclose(large.objectives, found[0].objectives, rtol=1e-4)


def test_blocks_grow_where_most_coefficients_are_free(rng, monkeypatch):
    """Random sides and a large C: nearly all samples are support vectors between the bounds."""
    X = rng.normal(size=(700, 6))
    targets = rng.choice([-1, 1], size=(700, 5)).astype(np.int8)
    upper = np.full(targets.shape, 1e4)
    sizes = []
    grow = _uncoupled._Block.grow

    def noted(block, problem):
        grow(block, problem)
        sizes.append(len(block.entries))

    monkeypatch.setattr(_uncoupled._Block, "grow", noted)
    found = [
        solve_apart(rows_of(X), targets, upper, tol=1e-4, n_jobs=n_jobs) for n_jobs in (1, 3, 1)
    ]
    assert 128 < max(sizes) <= 1024  # which they begin with, and the most
    for other in found[1:]:  # whichever thread computed the rows
        np.testing.assert_array_equal(other.coefficients.toarray(), found[0].coefficients.toarray())
    K = rbf_kernel(X, gamma=0.5)
    for s in range(5):
        theirs = SVC(kernel="precomputed", C=1e4, tol=1e-4).fit(K, targets[:, s])
        ours = K @ found[0].coefficients.toarray()[:, s] + found[0].bias[s]
        np.testing.assert_allclose(ours, theirs.decision_function(K), atol=1e-3)


def test_a_start_saves_steps_and_changes_nothing(samples):
    X, y = samples
    targets = make_code("one_vs_rest", 4).matrix[y]
    cold = solve_apart(rows_of(X), targets, np.full(targets.shape, 10.0), tol=1e-5)
    first = solve_apart(rows_of(X), targets, np.full(targets.shape, 8.0), tol=1e-5)
    warm = solve_apart(
        rows_of(X),
        targets,
        np.full(targets.shape, 10.0),
        tol=1e-5,
        start=first.coefficients * (10 / 8),
    )
    np.testing.assert_allclose(warm.objectives, cold.objectives, rtol=1e-6)
    again = solve_apart(
        rows_of(X),
        targets,
        np.full(targets.shape, 10.0),
        tol=1e-4,
        start=cold.coefficients,
    )
    assert again.steps.sum() == 0


def replicated(X, targets, coupling, gamma):
    """Return the explicit kernel K ⊗ M over all entries that take part, and their labels."""
    sample, problem = np.nonzero(targets)
    K = rbf_kernel(X, gamma=gamma)
    return K[np.ix_(sample, sample)] * coupling[np.ix_(problem, problem)], targets[sample, problem]


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_coupled_problems_are_the_replicated_problem_of_libsvm(samples, C, rng):
    X, y = samples[0][::3], samples[1][::3]
    targets = np.where(y[:, np.newaxis] == np.arange(4), 1, -1)
    E = rng.normal(size=(4, 3))
    M = rbf_kernel(E, gamma=0.5)
    Q, labels = replicated(X, targets, M, 0.5)
    theirs = SVC(kernel="precomputed", C=C, tol=1e-6).fit(Q, labels)
    ours = solve_coupled(
        rows_of(X), targets, np.full(targets.shape, C), M, common_bias=True, tol=1e-6
    )
    w = np.zeros(len(labels))
    w[theirs.support_] = theirs.dual_coef_[0]
    objective = np.abs(w).sum() - 0.5 * w @ Q @ w
    assert ours.objectives[0] == pytest.approx(objective, rel=1e-6)
    outputs = rbf_kernel(X, gamma=0.5) @ ours.coefficients.toarray() @ M + ours.bias
    sample, problem = np.nonzero(targets)
    np.testing.assert_allclose(outputs[sample, problem], theirs.decision_function(Q), atol=1e-3)
    assert ours.gaps[0] >= -1e-6


def test_coupled_outputs_are_their_twin(rng):
    K = rng.random(size=(20, 1200)).astype(np.float32)
    W = rng.normal(size=(4, 20)) * (rng.random(size=(4, 20)) < 0.6)
    M = rng.normal(size=(4, 4))
    G, F = np.ones((4, 1200)), np.zeros((4, 1200))
    problems, slots = np.nonzero(W)
    add_coupled(K, slots, problems, W[problems, slots], M + M.T, G, F)
    expected_G, expected_F = _twins.add_coupled(K.astype(float), W, M + M.T)
    np.testing.assert_allclose(G, 1 + expected_G, atol=1e-10)
    np.testing.assert_allclose(F, expected_F, atol=1e-10)


def test_coupled_problems_need_few_rows_at_a_time(rng):
    X, y = rng.normal(size=(900, 4)), rng.integers(0, 3, size=900)
    targets = np.where(y[:, np.newaxis] == np.arange(3), 1, -1)
    M = np.full((3, 3), 0.4) + 0.6 * np.eye(3)
    upper = np.full(targets.shape, 2.0)
    options = {"common_bias": True, "tol": 1e-5}
    small, large = rows_of(X, cache_size=1e-9), rows_of(X, cache_size=100)
    assert not small.holds_all
    assert large.holds_all
    few, many = (solve_coupled(rows, targets, upper, M, **options) for rows in (small, large))
    assert few.objectives[0] == pytest.approx(many.objectives[0], rel=1e-8)
    assert few.gaps[0] == pytest.approx(0, abs=1e-3 * few.objectives[0])


def test_an_identity_couples_nothing(samples):
    X, y = samples
    targets = make_code("sparse_random", 4, random_state=1).matrix[y]
    upper = np.full(targets.shape, 3.0)
    apart = solve_apart(rows_of(X), targets, upper, tol=1e-7)
    coupled = solve_coupled(
        rows_of(X), targets, upper, np.eye(targets.shape[1]), common_bias=False, tol=1e-7
    )
    assert coupled.objectives[0] == pytest.approx(apart.objectives.sum(), rel=1e-6)
    K = rbf_kernel(X, gamma=0.5)
    np.testing.assert_allclose(
        K @ coupled.coefficients.toarray() + coupled.bias,
        K @ apart.coefficients.toarray() + apart.bias,
        atol=1e-4,
    )


def test_a_common_bias_is_common(samples):
    X, y = samples
    targets = make_code("one_vs_rest", 4).matrix[y]
    found = solve_coupled(
        rows_of(X), targets, np.ones(targets.shape), np.eye(4), common_bias=True, tol=1e-5
    )
    assert np.ptp(found.bias) == 0
    assert found.coefficients.toarray().sum() == pytest.approx(0, abs=1e-8)


def test_one_sided_and_empty_problems_end_at_once(samples):
    X, _ = samples
    targets = np.zeros((300, 3), dtype=np.int8)
    targets[:50, 0] = 1
    targets[:50, 1] = -1
    found = solve_apart(rows_of(X), targets, np.ones(targets.shape), tol=1e-3)
    assert found.coefficients.nnz == 0
    np.testing.assert_array_equal(found.bias, [1, -1, 0])


def test_too_few_steps_are_told(samples):
    X, y = samples
    targets = make_code("one_vs_rest", 4).matrix[y]
    with pytest.warns(ConvergenceWarning, match="4 of 4 problems were stopped early"):
        found = solve_apart(rows_of(X), targets, np.ones(targets.shape), tol=1e-6, max_iter=5)
    assert (found.steps == 5).all()
    with pytest.warns(ConvergenceWarning, match="1 of 1 problems"):
        solve_coupled(
            rows_of(X),
            targets,
            np.ones(targets.shape),
            np.eye(4) + 0.5,
            common_bias=True,
            tol=1e-6,
            max_iter=5,
        )


@pytest.mark.parametrize(
    ("coupling", "message"),
    [
        (np.eye(3), "all pairs of 2 problems"),
        ([[1, np.nan], [np.nan, 1]], "finite numbers"),
        ([[1, 2], [0, 1]], r"symmetric\. .* by up to 2"),
        ([[1, 2], [2, 1]], r"positive semi-definite\. .* add 1 to the diagonal"),
        ([[1e-9, 2e-9], [0, 1e-9]], r"symmetric\. .* by up to 2e-09"),
        ([[0, 1e-9], [1e-9, 0]], r"positive semi-definite\. .* add 1e-09 to the diagonal"),
        ([[1e39, 0], [0, 1e39]], r"at most 1e\+30\. Got 1e\+39"),
    ],
)
def test_couplings_must_be_kernels(coupling, message):
    with pytest.raises(ValueError, match=message):
        check_coupling(coupling, 2)
