"""The posterior against loops over Dirichlet draws; bootstrap ranks against loops."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from polychotomy.assess import average_ranks, bayesian_signed_rank, bootstrap_ranks


def test_the_posterior_is_what_loops_over_pairs_and_draws_give():
    rng = np.random.default_rng(0)
    z = rng.normal(0.01, 0.03, 7)
    found = bayesian_signed_rank(z, np.zeros(7), rope=0.01, n_draws=20_000)
    points, wins = [*z, 0.0], np.zeros(3)
    for _ in range(2000):
        gammas = np.append(rng.gamma(1.0, size=7), rng.gamma(0.5))
        w, shares = gammas / gammas.sum(), np.zeros(3)
        for i, a in enumerate(points):
            for j, b in enumerate(points):
                mean = (a + b) / 2
                shares[0 if mean < -0.01 else 2 if mean > 0.01 else 1] += w[i] * w[j]
        wins[shares.argmax()] += 1
    expected = wins / wins.sum()
    np.testing.assert_allclose([found.lower, found.equivalent, found.higher], expected, atol=0.04)


def test_exchanging_the_methods_exchanges_the_probabilities():
    a, b = [0.1, 0.2, 0.3, 0.15], [0.12, 0.21, 0.29, 0.19]
    one, two = bayesian_signed_rank(a, b), bayesian_signed_rank(b, a)
    assert (one.lower, one.equivalent, one.higher) == (two.higher, two.equivalent, two.lower)
    assert one.median == pytest.approx(-two.median)
    assert one.lower + one.equivalent + one.higher == pytest.approx(1)


def test_small_differences_are_equivalent_and_large_ones_are_not():
    errors = np.linspace(0.1, 0.4, 12)
    assert bayesian_signed_rank(errors + 0.002, errors).equivalent > 0.99
    assert bayesian_signed_rank(errors + 0.05, errors).higher > 0.99


def test_without_a_region_it_agrees_with_wilcoxon_where_that_is_sure():
    rng = np.random.default_rng(1)
    a = rng.normal(size=30)
    b = a + rng.normal(0.8, 1, 30)
    assert wilcoxon(a, b).pvalue < 0.01
    assert bayesian_signed_rank(a, b, rope=0).lower > 0.98


@pytest.mark.parametrize(
    ("first", "second", "rope", "words"),
    [
        ([0.1, 0.2], [0.1], 0.01, "one value for each data set"),
        ([0.1, np.nan], [0.1, 0.2], 0.01, "must be finite"),
        ([0.1], [0.2], -1, "'rope'"),
    ],
)
def test_bad_input_is_refused(first, second, rope, words):
    with pytest.raises(ValueError, match=words):
        bayesian_signed_rank(first, second, rope=rope)


def test_rank_intervals_are_percentiles_over_drawn_data_sets():
    rng = np.random.default_rng(2)
    table = rng.random((15, 4)) + np.array([0, 0.2, 0.4, 0.6])
    found = bootstrap_ranks(table, level=0.9, n_draws=4000)
    means = [average_ranks(table[rng.integers(15, size=15)]) for _ in range(4000)]
    np.testing.assert_allclose(found.ranks, average_ranks(table))
    np.testing.assert_allclose(found.low, np.quantile(means, 0.05, axis=0), atol=0.08)
    np.testing.assert_allclose(found.high, np.quantile(means, 0.95, axis=0), atol=0.08)


def test_ranks_that_are_the_same_everywhere_have_no_interval():
    found = bootstrap_ranks([[1, 2, 3]] * 5)
    np.testing.assert_array_equal(found.low, found.high)


def test_of_one_data_set_the_prior_leaves_what_can_be_computed_by_hand():
    """Weights of 0 and of the difference are Dirichlet (½, 1), and it wins where w₀² < 1 − w₀²."""
    found = bayesian_signed_rank([3.0], [1.0], rope=0.1, n_draws=200_000)
    assert found.higher == pytest.approx(np.sqrt(np.sqrt(0.5)), abs=0.005)
    assert found.equivalent == pytest.approx(1 - np.sqrt(np.sqrt(0.5)), abs=0.005)
