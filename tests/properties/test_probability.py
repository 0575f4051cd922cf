import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from polychotomy import Code
from polychotomy.probability import _twins, solve

from .strategies import codes


def binaries(code, *others):
    sizes = st.floats(0, 1, width=32) | st.sampled_from([0.0, 0.5, 1.0, *others])
    return arrays(np.float64, (3, code.n_problems), elements=sizes)


def _tolerance(code):
    """The residual of a minimum: rounding, and what the choice among several solutions adds.

    There, points b_c of classes within 1e-10 |B| of each other are one. That moves Σ p_c b_c by
    1e-10 |B| |Δp| at most, and the residual by three times as much times the largest |b_c|.
    """
    k, ell = code.matrix.shape
    size, longest = 2 * np.sqrt(k * ell), np.sqrt(4 * ell + 1)
    return 1e-9 + (3e-10 * np.sqrt(2) * size * longest if code.unidentified else 0)


@given(st.data())
def test_least_squares_is_a_minimum_for_any_code_and_input(data):
    code = data.draw(codes())
    q = data.draw(binaries(code, 1e-7, 1 - 1e-7))  # for which classes can be nearly alike
    p = solve(q, code, "least_squares")
    assert p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    residuals = [_twins.kkt_residual(pi, qi, code) for pi, qi in zip(p, q, strict=True)]
    assert max(residuals) < _tolerance(code)


def _is_well_conditioned(q, code):
    """Whether each eigenvalue of the matrix to invert is either zero or far from it."""
    matrices = np.stack([_twins.normal_matrix(qi, code) for qi in q]) + 1
    sizes = np.linalg.eigvalsh(matrices)
    ratio = sizes / sizes[:, -1:]
    return not ((ratio > 1e-14) & (ratio < 1e-9)).any()


@pytest.mark.parametrize("method", ["least_squares", "inverse", "votes"])
@given(data=st.data())
def test_relabelling_and_reordering_permute_the_answer_and_nothing_else(method, data):
    code = data.draw(codes())
    q = data.draw(binaries(code))
    assume(method != "inverse" or _is_well_conditioned(q, code))
    rows = data.draw(st.permutations(range(code.n_classes)))
    columns = data.draw(st.permutations(range(code.n_problems)))
    other = Code(code.matrix[rows][:, columns])
    np.testing.assert_allclose(
        solve(q[:, columns], other, method), solve(q, code, method)[:, rows], atol=1e-6
    )


@given(st.data())
def test_turning_a_problem_turns_its_probability(data):
    code = data.draw(codes())
    q = data.draw(binaries(code))
    sign = np.ones(code.n_problems, dtype=int)
    sign[data.draw(st.integers(0, code.n_problems - 1))] = -1
    turned = np.where(sign > 0, q, 1 - q)
    np.testing.assert_allclose(
        solve(turned, Code(code.matrix * sign), "least_squares"),
        solve(q, code, "least_squares"),
        atol=1e-6,
    )


@given(st.data())
def test_kullback_leibler_is_a_minimum_for_any_strict_code_and_input(data):
    """The gap pᵀg − min g bounds what D is above its minimum, as D is convex."""
    code = data.draw(codes(strict=True).filter(lambda code: code.is_strict))
    q = data.draw(binaries(code))
    q = np.where(q < 1e-12, 0, q)  # where the gap says little: it divides by such probabilities
    p = solve(q, code, "kullback_leibler")
    assert p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    counts = np.ones(code.n_problems)
    for pi, qi in zip(p, q, strict=True):
        assert _twins.divergence_gap(pi, qi, code, counts) < 1e-6


@given(st.data())
def test_relabelling_permutes_kullback_leibler_of_strict_codes(data):
    code = data.draw(codes(strict=True).filter(lambda code: code.is_strict))
    q = data.draw(binaries(code))
    rows = data.draw(st.permutations(range(code.n_classes)))
    columns = data.draw(st.permutations(range(code.n_problems)))
    other = Code(code.matrix[rows][:, columns])
    np.testing.assert_allclose(
        solve(q[:, columns], other, "kullback_leibler"),
        solve(q, code, "kullback_leibler")[:, rows],
        atol=1e-4,
    )
