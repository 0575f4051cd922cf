"""Trellis codes: their paths are counted, and sums over paths are compared with all classes'."""

import numpy as np
import pytest

from polychotomy import Code, make_code
from polychotomy.codes import trellis
from polychotomy.decoding import RULES, best_classes, decode
from polychotomy.probability import best_products, solve

SIZES = [(k, b) for k in (2, 3, 4, 5, 7, 8, 9, 26, 27, 64, 100, 243) for b in (2, 3, 5) if b <= k]


@pytest.mark.parametrize(("k", "width"), SIZES)
def test_every_class_has_a_path_of_its_own(k, width):
    code = trellis(k, width=width)
    rule = code.columns
    assert Code(code.matrix) == code  # raises unless rows differ and problems have two sides
    assert code.is_strict
    steps = int(np.log(k) / np.log(width) + 1e-9)
    assert rule.n_steps == steps
    assert code.n_problems <= width**2 * steps + 2 * width * (steps + 1)
    lengths = (code.matrix == 1).sum(axis=1)
    assert lengths.max() <= steps + 2
    np.testing.assert_array_equal(lengths, (rule.paths >= 0).sum(axis=1))


def test_the_smallest_trellis_by_hand():
    # Two states: in by either, out by either; all paths would share a last edge, which is left out.
    assert trellis(2).matrix.tolist() == [[1, -1, 1, -1], [-1, 1, -1, 1]]


@pytest.mark.parametrize(("k", "width"), SIZES)
@pytest.mark.parametrize("reordered", [False, True])
def test_sums_over_paths(k, width, reordered):
    code = trellis(k, width=width)
    rng = np.random.default_rng(k)
    if reordered:
        code = code.reordered(rng.permutation(k))
    plus, minus = rng.integers(-3, 4, size=(2, 6, code.n_problems)).astype(float)
    expected = plus @ (code.matrix == 1).T + minus @ (code.matrix == -1).T
    np.testing.assert_array_equal(code.columns.total(plus, minus), expected)
    found = code.columns.log_sum(plus, minus)
    np.testing.assert_allclose(found, np.logaddexp.reduce(expected, axis=1))
    for n_best in (1, 2, min(k, 7)):
        classes, sums = code.columns.best(plus, minus, n_best)
        order = np.argsort(-expected, axis=1, kind="stable")[:, :n_best]
        np.testing.assert_array_equal(sums, np.take_along_axis(expected, order, axis=1))
        np.testing.assert_array_equal(np.take_along_axis(expected, classes, axis=1), sums)
        if not reordered:  # of equal classes the first
            np.testing.assert_array_equal(classes, order)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "ddag"])
def test_the_best_classes_of_every_rule(rule):
    code = make_code("trellis", 50, width=3)
    outputs = np.random.default_rng(0).normal(size=(30, code.n_problems))
    outputs[:3] *= 1e4
    outputs[4, :5] = 0
    scores = decode(outputs, Code(code.matrix), rule)
    np.testing.assert_allclose(decode(outputs, code, rule), scores, rtol=1e-9, atol=1e-9)
    classes, found = best_classes(outputs, code, rule, 4)
    np.testing.assert_allclose(found, -np.sort(-scores, axis=1)[:, :4], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.take_along_axis(scores, classes, axis=1), found, rtol=1e-9)


def test_products_of_probabilities():
    code = make_code("trellis", 20)
    q = np.random.default_rng(1).uniform(size=(10, code.n_problems))
    q[0, :3] = [0, 1, 0]
    sides = np.where(code.matrix == 1, q[:, np.newaxis], 1 - q[:, np.newaxis])
    p = sides.prod(axis=2)
    p /= p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(solve(q, code, "product"), p, rtol=1e-9, atol=1e-200)
    np.testing.assert_allclose(solve(q, Code(code.matrix), "product"), p, rtol=1e-9, atol=1e-200)
    classes, found = best_products(q, code, 3)
    np.testing.assert_allclose(found, -np.sort(-p, axis=1)[:, :3], rtol=1e-9)
    np.testing.assert_allclose(np.take_along_axis(p, classes, axis=1), found, rtol=1e-9)


@pytest.mark.parametrize(
    ("k", "width", "message"),
    [
        (10, 1, "must be an int of at least 2"),
        (10, 11, "must be at most the number of classes, 10"),
        (10, 2.5, "must be an int"),
        (1, 2, "must be an int of at least 2"),
    ],
)
def test_what_is_no_trellis(k, width, message):
    with pytest.raises(ValueError, match=message):
        trellis(k, width=width)


def test_problems_grow_with_the_logarithm_of_the_classes():
    # Two edges in and two out, four between steps, and one for each 1 in the binary number k.
    for k, steps in ((100, 6), (1000, 9), (10_000, 13), (100_000, 16)):
        assert trellis(k).n_problems == 4 + 4 * (steps - 1) + k.bit_count()


def test_what_is_determined_is_solved_for_exactly():
    p = np.random.default_rng(2).dirichlet(np.ones(3), size=5)
    small, large = make_code("trellis", 3), make_code("trellis", 12)
    assert not small.unidentified
    assert large.unidentified
    np.testing.assert_allclose(solve(p @ (small.matrix == 1), small), p, atol=1e-9)
    q = np.random.default_rng(2).uniform(size=(3, large.n_problems))
    np.testing.assert_array_equal(solve(q, large), solve(q, large, "product"))
