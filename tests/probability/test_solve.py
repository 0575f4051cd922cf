import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from polychotomy import Code, available_codes, make_code
from polychotomy.codes import one_vs_rest
from polychotomy.decoding import decode
from polychotomy.probability import METHODS, _batches, _twins, solve

CODES = [
    make_code(name, k, random_state=0)
    for name in available_codes()
    if name != "trellis"
    for k in (2, 3, 4, 7, 11)
    if not (name == "orthogonal" and k < 4)
]
EXACT = ("least_squares", "coupling", "kullback_leibler", "orthogonal", "inverse", "normalise")
FEW_PROBLEMS = [
    Code([[1, 1], [1, -1], [-1, 1], [-1, -1]]),
    Code([[1, 1, 0], [-1, 1, 1], [-1, -1, 1], [1, -1, -1], [1, 0, -1]]),
    make_code("trellis", 7),
]


def _id(code):
    return f"{code.name}-{code.n_classes}"


def consistent(p, code):
    """The binary probabilities that go with class probabilities."""
    plus, minus = p @ (code.matrix == 1), p @ (code.matrix == -1)
    return plus / (plus + minus)


@pytest.mark.parametrize("code", CODES, ids=_id)
def test_consistent_probabilities_come_back(code, rng):
    p = rng.dirichlet(np.ones(code.n_classes), size=50)
    q = np.clip(consistent(p, code), 0, 1)
    assert code.unidentified == ()
    for method in EXACT:
        if METHODS[method].suits(code):
            tolerance = 1e-6 if method == "kullback_leibler" else 1e-10
            np.testing.assert_allclose(solve(q, code, method), p, atol=tolerance, err_msg=method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("code", CODES + FEW_PROBLEMS, ids=_id)
@pytest.mark.filterwarnings("ignore:kullback_leibler did not converge")
def test_rows_are_on_the_simplex_whatever_the_input(method, code, rng):
    if not METHODS[method].suits(code):
        with pytest.raises(ValueError, match=f"'{method}' needs a code that is"):
            solve(np.full((1, code.n_problems), 0.5), code, method)
        return
    shape = (40, code.n_problems)
    for q in (
        rng.random(shape),
        rng.integers(0, 2, size=shape),
        np.zeros(shape),
        np.ones(shape),
        np.full(shape, 0.5),
        rng.random(shape) ** 20,
    ):
        p = solve(q, code, method)
        assert p.min() >= 0
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("code", CODES + FEW_PROBLEMS, ids=_id)
def test_least_squares_meets_the_conditions_for_a_minimum(code, rng):
    shape = (60, code.n_problems)
    for q in (
        rng.random(shape),
        rng.integers(0, 2, size=shape).astype(float),
        np.round(rng.random(shape), 1),
        np.clip(0.5 + rng.normal(scale=1e-9, size=shape), 0, 1),
    ):
        p = solve(q, code, "least_squares")
        assert max(_twins.kkt_residual(pi, qi, code) for pi, qi in zip(p, q, strict=True)) < 1e-9


def test_exchanges_that_would_go_round_in_circles_end_at_the_exact_minimum():
    """Exchanging all violating classes at once returns to an earlier support here.

    Murty's rule ends that; the way for solutions that are not unique would be less exact.
    """
    rows = [[0, 1, 1, 0, -1], [-1, -1, 1, 0, 1], [1, -1, -1, -1, 0]]
    code = Code([*rows, [-1, 0, 1, 1, 1], [1, -1, 0, -1, 1], [0, 0, 0, 0, 1]])
    q = np.array([0.2, 0.9, 0.35, 0.65, 0.7])
    p = solve([q], code, "least_squares")[0]
    assert _twins.kkt_residual(p, q, code) < 1e-13


def test_one_proximal_step_is_not_enough():
    q = np.array([0.98, 0.196, 0.021])
    p = solve([q], FEW_PROBLEMS[1], "least_squares")[0]
    assert _twins.kkt_residual(p, q, FEW_PROBLEMS[1]) < 1e-11


# Problems of codes whose probabilities are not unique, a row each, and binary probabilities for
# which classes are alike but for 1e-7 to 1e-10.
NEARLY_ALIKE = {
    "a step that rounds to less than the whole way": (
        ["-+-++-", "-0+-+0", "0+--0-", "+0-+-+"],
        [1e-10, 0.0, 2.147179808864878e-05, 0.8157568150480302],
    ),
    "two classes": (["-++0+", "-++0+", "-0-+-", "-0+0-"], [1e-14, 0.5, 1e-7, 1e-5]),
    "two that take turns": (["++0--0", "---0-+", "-0++0+"], [3e-7, 0.9999999, 0.5]),
}


@pytest.mark.parametrize("case", NEARLY_ALIKE.values(), ids=NEARLY_ALIKE)
def test_least_squares_is_a_minimum_where_classes_are_nearly_alike(case):
    problems, q = case
    code = Code([["-0+".index(sign) - 1 for sign in row] for row in zip(*problems, strict=True)])
    p = solve([q], code, "least_squares")[0]
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert _twins.kkt_residual(p, np.array(q), code) < 1e-10


@pytest.mark.parametrize("code", CODES, ids=_id)
def test_kernels_and_twins_agree(code, rng):
    q = rng.random((30, code.n_problems))
    twin = np.array([_twins.least_squares(qi, code) for qi in q])
    np.testing.assert_allclose(solve(q, code, "least_squares"), twin, atol=1e-9)
    if code.is_one_vs_one:
        twin = np.array([_twins.coupling(qi, code) for qi in q])
        np.testing.assert_allclose(solve(q, code, "coupling"), twin, atol=1e-10)


@pytest.mark.parametrize("k", [3, 5, 64, 65])
@pytest.mark.parametrize("n", [1, 32, 45])
def test_coupling_of_samples_side_by_side_and_its_twin_agree(k, n, rng):
    code = make_code("one_vs_one", k)
    turned = rng.choice([-1, 1], size=code.n_problems)
    code = Code((code.matrix * turned)[:, rng.permutation(code.n_problems)])
    q = rng.random((n, code.n_problems))
    twin = np.array([_twins.coupling(qi, code) for qi in q])
    np.testing.assert_allclose(solve(q, code, "coupling"), twin, atol=1e-10)
    np.testing.assert_array_equal(solve(q[-1:], code, "coupling"), solve(q, code, "coupling")[-1:])


@pytest.mark.parametrize("noise", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("k", [5, 26, 70])
def test_strict_codes_of_more_samples_than_lanes_end_at_the_minimum(k, noise, rng):
    """Little noise leaves most classes in the support, much noise few of them."""
    code = make_code("dense_random", k, n_problems=2 * k, random_state=0)
    q = consistent(rng.dirichlet(np.full(k, 0.3), size=300), code)
    q = np.clip(q + rng.normal(scale=noise, size=q.shape), 0, 1)
    p = solve(q, code, "least_squares")
    assert max(_twins.kkt_residual(pi, qi, code) for pi, qi in zip(p, q, strict=True)) < 1e-11
    alone = [solve(q[i : i + 1], code, "least_squares")[0] for i in range(0, 300, 37)]
    np.testing.assert_allclose(alone, p[::37], atol=1e-13)


@pytest.mark.parametrize("k", [20, 70])
def test_no_sample_depends_on_the_others(k, rng):
    code = make_code("sparse_random", k, random_state=0)
    assert code.unidentified == ()
    q = rng.random((40, code.n_problems))
    together = solve(q, code, "least_squares")
    alone = [solve(q[i : i + 1], code, "least_squares")[0] for i in range(40)]
    np.testing.assert_array_equal(alone, together)


def test_a_strict_code_with_an_ill_conditioned_matrix_is_solved_exactly(rng):
    matrix = np.where(np.tri(30), 1, -1)
    matrix[:, 0] = rng.choice([-1, 1], size=30)
    code = Code(matrix)
    q = rng.random((40, 30))
    p = solve(q, code, "least_squares")
    assert max(_twins.kkt_residual(pi, qi, code) for pi, qi in zip(p, q, strict=True)) < 1e-11


@pytest.mark.parametrize("name", ["one_vs_one", "one_vs_rest", "sparse_random", "bch"])
def test_kullback_leibler_reaches_what_many_plain_steps_reach(name, rng):
    code = make_code(name, 5, random_state=0)
    counts = rng.integers(5, 50, size=code.n_problems).astype(float)
    q = 0.05 + 0.9 * rng.random((10, code.n_problems))
    fast = solve(q, code, "kullback_leibler", sample_counts=counts)
    for qi, pi in zip(q, fast, strict=True):
        path = _twins.kullback_leibler(qi, code, counts, 5000)
        values = [_twins.divergence(p, qi, code, counts) for p in path]
        assert np.all(np.diff(values) <= 1e-12)  # plain steps never rise
        assert _twins.divergence(pi, qi, code, counts) <= values[-1] + 1e-10
        np.testing.assert_allclose(pi, path[-1], atol=1e-4)


def slopes(p, q, code):
    """The gradient of the divergence, as a sum over all problems."""
    plus, minus = (code.matrix == 1).T, (code.matrix == -1).T
    P, M = plus @ p, minus @ p
    return (1 / (P + M)) @ (plus | minus) - (q / P) @ plus - ((1 - q) / M) @ minus


@pytest.mark.parametrize("name", ["one_vs_one", "one_vs_rest", "sparse_random", "bch"])
@pytest.mark.parametrize("noise", [0.5, 3.0])
def test_kullback_leibler_is_optimal_where_problems_contradict_each_other(name, noise, rng):
    """The divergence does not change with the scale of p, so that Σp = 1 has the multiplier 0."""
    code = make_code(name, 8, random_state=0)
    true = consistent(rng.dirichlet(np.full(8, 0.3), size=300), code).clip(1e-6, 1 - 1e-6)
    logit = np.log(true / (1 - true)) + rng.normal(scale=noise, size=true.shape)
    q = 1 / (1 + np.exp(-logit))
    for qi, pi in zip(q, solve(q, code, "kullback_leibler"), strict=True):
        slope = slopes(pi, qi, code)
        assert np.all(slope[pi == 0] > -1e-6)
        assert np.all(np.abs(slope * pi) < 1e-5)


def test_kullback_leibler_does_not_end_with_one_quiet_step(rng):
    """Where the Hessian is not positive definite, one of the two kinds of step can be stuck."""
    code = make_code("one_vs_one", 3)
    true = consistent(rng.dirichlet(np.full(3, 0.3), size=3000), code).clip(1e-6, 1 - 1e-6)
    logit = np.log(true / (1 - true)) + rng.normal(scale=10, size=true.shape)
    q = 1 / (1 + np.exp(-logit))
    p = solve(q, code, "kullback_leibler")
    assert p.min() > 0
    slope = np.array([slopes(pi, qi, code) for pi, qi in zip(p, q, strict=True)])
    assert np.abs(slope * p).max() < 1e-5


def test_kullback_leibler_converges_where_contradictory_problems_have_zeros():
    """With scoring steps alone, one of these samples needs more than 200 of them."""
    rng = np.random.default_rng(1)
    code = make_code("sparse_random", 9, random_state=0)
    true = consistent(rng.dirichlet(np.full(9, 0.3), size=2000), code).clip(1e-6, 1 - 1e-6)
    logit = np.log(true / (1 - true)) + rng.normal(scale=10, size=true.shape)
    p = solve(1 / (1 + np.exp(-logit)), code, "kullback_leibler", tol=1e-10)  # or it warns
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_kullback_leibler_solves_what_overconfident_learners_say():
    """Class 1 wins its three problems, 3 wins two, 0 one: by hundreds of orders of magnitude."""
    q = [[0.0, 1.0, 1e-177, 1.0, 1.0, 1e-256]]
    p = solve(q, make_code("one_vs_one", 4), "kullback_leibler")
    np.testing.assert_allclose(p, [[0, 1, 0, 0]], atol=1e-6)


@pytest.mark.parametrize("name", ["one_vs_one", "sparse_random", "exhaustive"])
@pytest.mark.filterwarnings("ignore:kullback_leibler did not converge")
def test_kullback_leibler_never_rises(name, rng):
    code = make_code(name, 5, random_state=0)
    counts = np.ones(code.n_problems)
    for q in (rng.random((20, code.n_problems)), rng.integers(0, 2, (20, code.n_problems))):
        path = [solve(q, code, "kullback_leibler", max_iter=steps, tol=0) for steps in range(1, 12)]
        for qi, *ps in zip(q, *path, strict=True):
            values = [_twins.divergence(p, qi, code, counts) for p in ps]
            assert np.all(np.diff(values) <= 1e-12)


def test_too_few_steps_are_told():
    code = make_code("one_vs_one", 4)
    with pytest.warns(ConvergenceWarning, match="1 of 1 samples in 1 steps"):
        solve([[0.9, 0.2, 0.7, 0.6, 0.1, 0.5]], code, "kullback_leibler", max_iter=1)


def test_sample_counts_weigh_the_problems():
    code = make_code("one_vs_one", 3)
    contradictory = [[0.9, 0.1, 0.9]]
    one, other = (
        solve(contradictory, code, "kullback_leibler", sample_counts=counts)
        for counts in ([1, 1, 1000], [1000, 1, 1])
    )
    assert one[0, 1] > other[0, 1]


def test_pairwise_coupling_is_least_squares_for_one_vs_one(rng):
    """Mills, section 3.2: the two objectives are the same, and p ≥ 0 never binds.

    Both names run the same kernel, so it is held against Lawson and Hanson's method.
    """
    code = make_code("one_vs_one", 8)
    q = rng.random((50, code.n_problems))
    q[:10] = np.round(q[:10])
    twin = np.array([_twins.least_squares(qi, code) for qi in q])
    np.testing.assert_allclose(solve(q, code, "coupling"), twin, atol=1e-9)


def test_mills_iteration_is_least_squares_for_orthogonal_codes(rng):
    code = make_code("orthogonal", 7)
    q = rng.random((200, code.n_problems))
    np.testing.assert_allclose(
        solve(q, code, "orthogonal"), solve(q, code, "least_squares"), atol=1e-10
    )


def test_a_contradictory_cycle_is_undecided():
    for method in ("coupling", "least_squares", "kullback_leibler", "votes"):
        p = solve([[1.0, 0.0, 1.0]], make_code("one_vs_one", 3), method)
        np.testing.assert_allclose(p, [[1 / 3, 1 / 3, 1 / 3]], atol=1e-6)


def test_where_the_code_leaves_it_open_the_solution_is_the_smallest():
    code = FEW_PROBLEMS[0]
    assert code.unidentified == (0, 1, 2, 3)
    assert "not identified" in code.describe()
    # Both problems at one half: all p with p0 + p1 = p0 + p2 = ½ fit, the even one is smallest.
    np.testing.assert_allclose(solve([[0.5, 0.5]], code), [[0.25] * 4], atol=1e-9)


@pytest.mark.parametrize("method", ["normalise", "least_squares", "kullback_leibler", "votes"])
def test_problems_may_come_in_any_order(method, rng):
    q, order = rng.random((20, 4)), [2, 0, 3, 1]
    code = make_code("one_vs_rest", 4)
    expected = solve(q, code, method)
    found = solve(q[:, order], Code(code.matrix[:, order]), method)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_tax_and_duin_by_name():
    q = [[0.9, 0.3, 0.3]]
    np.testing.assert_allclose(solve(q, make_code("one_vs_rest", 3), "prob 1-r"), [[0.6, 0.2, 0.2]])
    # Pairs 01, 02, 12: the best each class gets anywhere is 0.9, 0.3 and 0.7.
    expected = np.array([[0.9, 0.3, 0.7]]) / 1.9
    np.testing.assert_allclose(solve(q, make_code("one_vs_one", 3), "prob 1-1"), expected)


@pytest.mark.parametrize("method", ["least_squares", "coupling", "kullback_leibler"])
def test_blocks_threads_and_precision_change_nothing(method, monkeypatch, rng):
    code = make_code("one_vs_one", 6)
    q = rng.random((300, code.n_problems)).astype(np.float32)
    whole = solve(q, code, method)
    monkeypatch.setattr("polychotomy.probability._batches._BLOCK_ENTRIES", 15 * 7)
    np.testing.assert_array_equal(solve(q, code, method, n_jobs=2), whole)
    np.testing.assert_array_equal(solve(q.astype(float), code, method), whole)
    assert solve(q[:0], code, method).shape == (0, 6)


@pytest.mark.parametrize(
    ("name", "k", "spread"),
    [
        ("sparse_random", 5, 1.0),
        ("sparse_random", 26, 1.0),
        ("sparse_random", 26, 0.05),
        ("sparse_random", 40, 0.1),
        ("dense_random", 10, 0.3),
        ("bch", 12, 0.1),
    ],
)
def test_other_samples_change_nothing(name, k, spread, rng):
    """Bit for bit, with large and with small supports, exchanges and certain problems among them.

    Small supports have smaller systems of equations, but only if no other sample has a large one.
    """
    code = make_code(name, k, random_state=0)
    q = consistent(rng.dirichlet(np.full(k, spread), size=150), code)
    q = np.clip(q + rng.normal(scale=0.1, size=q.shape), 0, 1)
    q[::7] = np.round(q[::7])
    whole = solve(q, code, "least_squares")
    assert max(_twins.kkt_residual(pi, qi, code) for pi, qi in zip(whole, q, strict=True)) < 1e-9
    alone = [solve(each[np.newaxis], code, "least_squares")[0] for each in q]
    np.testing.assert_array_equal(whole, alone)
    order = rng.permutation(150)
    np.testing.assert_array_equal(solve(q[order], code, "least_squares"), whole[order])
    assert solve(q[:0], code, "least_squares").shape == (0, k)


@pytest.mark.parametrize(
    ("binary", "message"),
    [
        ([[0.5, 1.2, 0.1]], "Got 1.2 for sample 0 in problem 1"),
        ([[0.5, 0.2, -1e-9]], "Got -1e-09 for sample 0 in problem 2"),
        ([[0.5, np.nan, 0.1]], "Got nan for sample 0 in problem 1"),
        ([[0.5, 0.5]], r"shape \(n_samples, 3\)"),
        ([["a", "b", "c"]], "real numbers"),
    ],
)
def test_bad_binary_probabilities_are_refused(binary, message):
    with pytest.raises(ValueError, match=message):
        solve(binary, make_code("one_vs_one", 3))


def test_bad_methods_and_counts_are_refused():
    code = make_code("one_vs_rest", 3)
    q = [[0.5, 0.5, 0.5]]
    with pytest.raises(ValueError, match="Did you mean 'coupling'"):
        solve(q, code, "couplin")
    with pytest.raises(ValueError, match=r"'coupling' needs.*one-vs-one.*'least_squares'"):
        solve(q, code, "coupling")
    for counts in ([1, 2], [1, 0, 1], [1, np.nan, 1]):
        with pytest.raises(ValueError, match="a positive number for each of 3 problems"):
            solve(q, code, "kullback_leibler", sample_counts=counts)


@pytest.mark.parametrize("k", [3, 10, 30])
def test_one_vs_rest_is_projected_as_the_solver_has_it_and_ties_stay_ties(k, rng):
    """p = max(q − τ, 0) is least squares of one-vs-rest; equal q have equal p, bit for bit."""
    code = one_vs_rest(k)
    q = rng.integers(0, 8, size=(300, k)) / 7
    p = solve(q, code, "least_squares")
    expected = _batches.least_squares(q, code)
    np.testing.assert_allclose(p, expected, atol=1e-12)
    np.testing.assert_array_equal(p.argmax(axis=1), q.argmax(axis=1))
    scores = decode(2 * q - 1, code, "linear")
    np.testing.assert_array_equal(scores.argmax(axis=1), q.argmax(axis=1))


def test_mills_iteration_runs_on_any_strict_code(rng):
    code = make_code("bch", 7)
    q = rng.random((50, code.n_problems))
    p = solve(q, code, "iteration")
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p >= 0).all()
    # The nearest point of the simplex to Ar/n, by brute force over which classes are positive.
    aim = (2 * q - 1) @ code.matrix.T / code.n_problems
    for target, found in zip(aim, p, strict=True):
        best = np.inf
        for kept in range(1, 2**7):
            members = np.array([(kept >> c) & 1 for c in range(7)], dtype=bool)
            point = np.where(members, target - (target[members].sum() - 1) / members.sum(), 0)
            if (point >= 0).all():
                best = min(best, ((point - target) ** 2).sum())
        assert ((found - target) ** 2).sum() == pytest.approx(best)
    with pytest.raises(ValueError, match="strict"):
        solve(np.full((1, 21), 0.5), make_code("one_vs_one", 7), "iteration")
