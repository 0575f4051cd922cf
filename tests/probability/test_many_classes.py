"""Codes with many classes and few problems, which leave probabilities open."""

import numpy as np
import pytest

from polychotomy import Code, make_code
from polychotomy.probability import _compiled, _least_norm, _twins, solve
from polychotomy.probability._compiled import _nearest_point

KINDS = ("noisy", "consistent", "nearly consistent", "certain", "random")
SIZES = [(3, 1), (5, 3), (12, 7), (12, 20), (30, 8), (30, 25), (60, 59), (60, 90)]


def random_code(k, ell, seed=0):
    """A strict code, with random columns, or one of more problems with some of them twice."""
    if ell == 1:
        return Code([[1], [-1]])
    if k > 2**ell:
        raise ValueError("too many classes")
    rng = np.random.default_rng(seed)
    while True:
        matrix = rng.choice([-1, 1], size=(k, ell))
        if ell > 10:
            matrix[:, -2:] = matrix[:, :2] * [1, -1]
        try:
            return Code(matrix)
        except ValueError:
            continue


def outputs(code, kind, n, rng):
    """Binary probabilities: consistent ones with and without noise, exact 0 and 1, and any."""
    shares = rng.dirichlet(np.full(code.n_classes, 0.3), size=n)
    plus, minus = shares @ (code.matrix == 1), shares @ (code.matrix == -1)
    q = plus / np.maximum(plus + minus, 1e-300)
    noise = {"noisy": 0.1, "consistent": 0.0, "nearly consistent": 0.02, "certain": 0.3}
    if kind == "random":
        return rng.random(q.shape)
    q = np.clip(q + rng.normal(scale=noise[kind], size=q.shape), 0, 1)
    return np.round(q) if kind == "certain" else q


def image(p, code):
    """What determines the objective, and the sum of p: equal for all minimisers."""
    return np.append(p @ code.matrix, p.sum())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("k", "ell"), SIZES)
def test_least_squares_is_the_minimum_and_of_it_the_least_norm(k, ell, kind, rng):
    code = random_code(k, ell)
    q = outputs(code, kind, 6, rng)
    points = np.vstack([code.matrix.T, np.ones(code.n_classes)])
    for pi, qi in zip(solve(q, code, "least_squares"), q, strict=True):
        assert _twins.kkt_residual(pi, qi, code) < 1e-10
        assert abs(pi.sum() - 1) < 1e-12
        np.testing.assert_allclose(pi, _twins.least_norm(pi, points), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("k", "ell"), SIZES)
def test_kullback_leibler_is_the_minimum_and_of_it_the_least_norm(k, ell, kind, rng):
    code = random_code(k, ell)
    q = outputs(code, kind, 6, rng)
    counts = rng.integers(5, 50, size=code.n_problems).astype(float)
    points = np.vstack([code.matrix.T, np.ones(code.n_classes)])
    p = solve(q, code, "kullback_leibler", sample_counts=counts)
    for pi, qi in zip(p, q, strict=True):
        assert _twins.divergence_gap(pi, qi, code, counts) < 1e-6
        np.testing.assert_allclose(pi, _twins.least_norm(pi, points), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_both_methods_are_exact_for_a_thousand_classes(kind, rng):
    code = make_code("dense_random", 1000, random_state=0)
    q = outputs(code, kind, 3, rng)
    counts = np.ones(code.n_problems)
    least = solve(q, code, "least_squares")
    divergent = solve(q, code, "kullback_leibler")
    for first, second, qi in zip(least, divergent, q, strict=True):
        assert _twins.kkt_residual(first, qi, code) < 1e-10
        assert _twins.divergence_gap(second, qi, code, counts) < 1e-6


def test_least_squares_of_codes_with_zeros_is_exact_for_many_classes(rng):
    code = make_code("sparse_random", 200, random_state=0)
    assert code.n_problems + 1 < code.n_classes
    for kind in KINDS:
        q = outputs(code, kind, 3, rng)
        for pi, qi in zip(solve(q, code, "least_squares"), q, strict=True):
            assert _twins.kkt_residual(pi, qi, code) < 1e-10


@pytest.mark.parametrize("method", ["least_squares", "kullback_leibler"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_classes_permutes_the_answer_and_nothing_else(method, kind, rng):
    code, order = random_code(30, 12), rng.permutation(30)
    q = outputs(code, kind, 10, rng)
    expected = solve(q, code, method)[:, order]
    found = solve(q, Code(code.matrix[order]), method)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_certain_outputs_leave_a_face_of_the_hull_and_there_the_least_norm(rng):
    """Problem 0 is certain, all others fit: half of the classes share the rest."""
    code = random_code(60, 20)
    inside = code.matrix[:, 0] == 1
    shares = np.where(inside, rng.dirichlet(np.ones(60), size=5), 0)
    shares /= shares.sum(axis=1, keepdims=True)
    q = np.clip(shares @ (code.matrix == 1), 0, 1)
    points = np.vstack([code.matrix.T, np.ones(60)])[:, inside]
    for method in ("least_squares", "kullback_leibler"):
        p = solve(q, code, method)
        np.testing.assert_allclose(p @ (code.matrix == 1), q, atol=1e-9)
        for pi, share in zip(p, shares, strict=True):
            expected = _twins.least_norm(share[inside], points)
            np.testing.assert_allclose(pi[inside], expected, atol=1e-6)
            assert np.all(pi[~inside] < 1e-9)


@pytest.mark.parametrize(("d", "k"), [(3, 10), (20, 40), (40, 20)])
def test_nearest_points_and_their_twin_agree(d, k, rng):
    points = np.vstack([rng.normal(size=(d, k)) + 0.5, np.ones(k)])
    room, slopes = _nearest_point.make_room(min(k, d + 1), d + 1), np.empty(k)
    m = _nearest_point.start(points, room, slopes)
    m = _nearest_point.nearest_point(points, m, room, np.empty(d + 1), slopes)
    p = np.zeros(k)
    p[room[0][:m]] = room[4][:m] / room[4][:m].sum()
    np.testing.assert_allclose(p, _twins.nearest_point(points[:d]), atol=1e-8)


@pytest.mark.parametrize("extra", [0, 2])
def test_projectors_and_their_twin_agree_whatever_the_rank(extra, rng):
    points = rng.normal(size=(8, 20))
    points = np.vstack([points, points[:extra] + points[1 : 1 + extra]])
    twin = np.eye(20) - np.linalg.pinv(points) @ points
    np.testing.assert_allclose(_least_norm.projector(points), twin, atol=1e-12)


@pytest.mark.parametrize("zeros", [0, 10, 30])
def test_least_norms_and_their_twin_agree_by_either_dual(zeros, rng):
    points = np.vstack([rng.choice([-1.0, 1.0], size=(9, 50)), np.ones(50)])
    N = _least_norm.projector(points)
    for _ in range(5):
        p = rng.dirichlet(np.full(50, 0.2))
        p[:zeros] = 0
        p /= p.sum()
        twin = _twins.least_norm(p, points)
        by_zeros, chosen = p[np.newaxis].copy(), p[np.newaxis].copy()
        _compiled.least_norms(N, 50, by_zeros, np.ones(1, dtype=bool))
        _least_norm.take_least_norms(chosen, points, N, np.ones(1, dtype=bool))
        by_multipliers = _least_norm.by_multipliers(points, p, p - N @ p > 0)
        for found in (by_zeros[0], by_multipliers, chosen[0]):
            np.testing.assert_allclose(found, twin, atol=1e-6)


@pytest.mark.parametrize("seed", [8, 77, 147])
def test_least_norms_by_entries_that_depend_on_each_other(seed):
    """Columns often repeat, and of several entries that could be 0 the steepest changes places."""
    rng = np.random.default_rng(seed)
    points = np.vstack([rng.choice([-1.0, 0.0, 1.0], size=(9, 50)), np.ones(50)])
    p = rng.dirichlet(np.full(50, 0.1))
    p[rng.random(50) < 0.7] = 0
    p /= p.sum()
    found, is_open = p[np.newaxis].copy(), np.ones(1, dtype=bool)
    _compiled.least_norms(_least_norm.projector(points), 50, found, is_open)
    assert not is_open[0]  # else another method solves it
    np.testing.assert_allclose(found[0], _twins.least_norm(p, points), atol=1e-5)


def test_two_classes_are_the_binary_problem_itself(rng):
    q = rng.random((20, 1))
    for method in ("least_squares", "kullback_leibler", "inverse"):
        p = solve(q, Code([[1], [-1]]), method)
        np.testing.assert_allclose(p, np.c_[q, 1 - q], atol=1e-9)


@pytest.mark.parametrize("name", ["dense_random", "sparse_random", "one_vs_one", "bch"])
def test_inverse_is_what_the_pseudoinverse_of_each_sample_gives(name, rng):
    code = make_code(name, 9, random_state=0)
    q = outputs(code, "noisy", 10, rng)
    x = np.array([np.linalg.pinv(_twins.normal_matrix(qi, code) + 1).sum(axis=1) for qi in q])
    expected = np.maximum(x, 0)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(solve(q, code, "inverse"), expected, atol=1e-9)


@pytest.mark.parametrize("ell", [8, 14])
def test_inverse_is_the_least_norm_solution_where_the_code_leaves_it_open(ell, rng):
    code = random_code(30, ell)
    q = outputs(code, "noisy", 10, rng)
    x = np.array([np.linalg.pinv(_twins.normal_matrix(qi, code) + 1).sum(axis=1) for qi in q])
    expected = np.maximum(x, 0)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(solve(q, code, "inverse"), expected, atol=1e-9)


def test_classes_that_hardly_differ_leave_a_small_residual():
    """With q near 0 two classes ask almost the same: which of them is taken is not exact."""
    rows = ["-1 1 0 0 1", "0 -1 0 1 -1", "0 0 0 -1 1", "1 1 0 1 -1", "1 0 -1 0 1", "1 -1 1 0 0"]
    code = Code(np.array([row.split() for row in [*rows, "0 -1 0 0 1"]], dtype=int))
    q = np.array([[0.261647242, 7.43e-36, 1.06465119e-07, 2.16293764e-06, 3.82748044e-03]])
    p = solve(q, code, "least_squares")
    assert _twins.kkt_residual(p[0], q[0], code) < 1e-5
