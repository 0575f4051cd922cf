import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import euclidean_distances

from polychotomy.learners import Negatives


def choose(X, y, s, how, pairwise=False, seed=0):
    return Negatives(s, how, seed).choose(X, y, y.max() + 1, pairwise=pairwise)


@pytest.mark.parametrize("how", ["random", "hard", "near"])
@pytest.mark.parametrize("s", [1, 3, 8])
def test_each_sample_keeps_its_own_class_and_s_others(how, s, digits):
    X, y = digits
    kept = choose(X, y, s, how)
    assert (kept.sum(axis=1) == s + 1).all()
    assert kept[np.arange(len(y)), y].all()


def test_random_ones_are_even(digits):
    _, y = digits
    share = np.mean([choose(None, y, 2, "random", seed=i) for i in range(200)], axis=0)
    share[np.arange(len(y)), y] = 2 / 9
    np.testing.assert_allclose(share, 2 / 9, atol=0.15)
    np.testing.assert_allclose(share.mean(axis=0), 2 / 9, atol=0.005)


def test_hard_ones_have_the_nearest_samples(digits):
    X, y = digits
    D = euclidean_distances(X)
    nearest = np.column_stack([D[:, y == r].min(axis=1) for r in range(10)])
    nearest[np.arange(len(y)), y] = np.inf
    kept = choose(X, y, 3, "hard")
    kept[np.arange(len(y)), y] = False
    worst_kept = np.where(kept, nearest, -np.inf).max(axis=1)
    best_left = np.where(kept, np.inf, nearest).min(axis=1)
    assert (worst_kept <= best_left + 1e-9).all()


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_near_ones_are_drawn_with_their_odds(scale):
    # Samples of class 0 at 0, the others at distances 1, 1.5 and 3 times the nearest.
    X = np.concatenate([np.zeros(4000), [1.0, 1.5, 3.0]])[:, np.newaxis] * scale
    y = np.concatenate([np.zeros(4000, dtype=int), [1, 2, 3]])
    odds = np.exp(-2 * np.array([1, 1.5, 3]))
    share = odds / odds.sum()
    first = choose(X, y, 1, "near", seed=0)[:4000].mean(axis=0)
    np.testing.assert_allclose(first[1:], share, atol=0.03)
    # Two of three are left after one is drawn: without replacement, the odds stay.
    left_out = 1 - choose(X, y, 2, "near", seed=1)[:4000].mean(axis=0)[1:]
    expected = [
        sum(share[a] * share[b] / (1 - share[a]) for a, b in ((a, b), (b, a)))
        for a, b in ((1, 2), (0, 2), (0, 1))
    ]
    np.testing.assert_allclose(left_out, expected, atol=0.03)


def test_beside_a_sample_of_another_class_that_class_is_near():
    X, y = np.array([[0.0], [0.0], [300.0], [500.0]]), np.arange(4)
    for seed in range(20):
        kept = choose(X, y, 1, "near", seed=seed)
        np.testing.assert_array_equal(kept[:2], [[True, True, False, False]] * 2)


@pytest.mark.parametrize("how", ["hard", "near"])
def test_kernels_frames_and_sparse_data(how, digits):
    X, y = digits
    expected = choose(X, y, 2, how)
    np.testing.assert_array_equal(choose(csr_array(X), y, 2, how), expected)
    np.testing.assert_array_equal(choose(pd.DataFrame(X), y, 2, how), expected)
    by_kernel = choose(X @ X.T, y, 2, how, pairwise=True)
    assert np.mean(by_kernel == expected) > 0.999


def test_samples_on_top_of_each_other():
    X, y = np.zeros((6, 2)), np.array([0, 0, 1, 1, 2, 2])
    for how in ("hard", "near"):
        assert (choose(X, y, 1, how).sum(axis=1) == 2).all()


def test_how_many():
    assert Negatives.of("auto", "random", 7, 0) == Negatives(4, "random", 0)
    assert Negatives.of(np.int64(1), "near", 3, None) == Negatives(1, "near", None)
    assert Negatives.of("auto", "hard", 3, 0) is None  # all others
    assert Negatives.of(2, "hard", 3, 0) is None


@pytest.mark.parametrize("given", [0, 3, -1, 1.5, True, "all"])
def test_how_many_must_fit(given):
    with pytest.raises(
        ValueError, match="'n_negatives' parameter must be None, 'auto' or an int from 1 to 2"
    ):
        Negatives.of(given, "random", 3, 0)
