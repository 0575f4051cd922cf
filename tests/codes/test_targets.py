import tracemalloc

import numpy as np
import pytest

from polychotomy.codes import Targets, one_vs_one, one_vs_rest


def test_samples_and_sides_of_a_problem():
    targets = Targets(one_vs_one(3).matrix, np.array([2, 0, 1, 0, 2]))
    assert (targets.n_samples, targets.n_problems) == (5, 3)
    np.testing.assert_array_equal(targets.samples(1), [0, 1, 3, 4])
    np.testing.assert_array_equal(targets.sides(1, targets.samples(1)), [-1, 1, 1, -1])
    assert targets.sides(1, np.arange(5)).dtype == np.int8


@pytest.mark.parametrize("code", [one_vs_rest(80), one_vs_one(5), one_vs_rest(5)])
def test_total_weights_are_sums_over_the_samples_of_each_problem(code, rng):
    y, weight = np.arange(200) % code.n_classes, rng.random(200)
    targets = Targets(code.columns, y).restricted(np.arange(150))
    expected = np.abs(targets.block(slice(None)).T) @ weight
    assert targets.is_strict == code.is_strict
    weights = [weight] * code.n_problems
    np.testing.assert_allclose(targets.total_weights(weights), expected)


def test_the_weight_of_a_problem_is_that_of_its_samples():
    targets = Targets(one_vs_one(3).matrix, np.array([2, 0, 1, 0, 2]))
    weights = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    found = targets.total_weights([weights, weights, 10 * weights])
    np.testing.assert_array_equal(found, [2 + 4 + 8, 1 + 2 + 8 + 16, 10 * (1 + 4 + 16)])


def test_a_class_without_samples_changes_nothing():
    targets = Targets(one_vs_one(4).matrix, np.array([3, 0, 3]))
    np.testing.assert_array_equal(targets.samples(0), [1])
    assert targets.samples(3).size == 0


def test_what_is_left_out_and_what_is_held_out():
    kept = np.array([[True, True], [False, True], [True, True]])
    targets = Targets(np.array([[1, 1], [-1, 0]], dtype=np.int8), np.array([0, 0, 1]), kept)
    np.testing.assert_array_equal(targets.samples(0), [0, 2])
    np.testing.assert_array_equal(targets.sides(0, np.arange(3)), [1, 0, -1])
    held_out = targets.restricted([1, 2])
    np.testing.assert_array_equal(held_out.block(slice(None)), [[0, 0], [0, 1], [-1, 0]])
    np.testing.assert_array_equal(held_out.restricted([0, 1]).samples(1), [1])


@pytest.mark.parametrize(
    "mask", [{"kept": np.ones((3, 3), dtype=bool)}, {"within": np.ones(3, dtype=int)}]
)
def test_masks_of_another_shape_or_type_are_refused(mask):
    with pytest.raises(ValueError, match="must be a boolean array of shape"):
        Targets(one_vs_rest(2).matrix, np.array([0, 1, 0]), **mask)


def test_a_block_takes_the_memory_of_its_own_columns():
    k, m = 1500, 4000
    targets = Targets(one_vs_rest(k).matrix, np.arange(m) % k)
    tracemalloc.start()
    try:
        for start in range(0, k, 300):
            targets.restricted(np.arange(m // 2)).block(slice(start, start + 10))
            targets.block(np.arange(start, start + 10))
        targets.samples(7), targets.restricted(np.arange(9)).samples(7)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1e6 < m * k  # a sixth of int8 targets, a fiftieth of floats
