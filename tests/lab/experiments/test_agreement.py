"""Agreement against brute force over all shuffles, and against SciPy's rank correlation."""

from itertools import permutations
from math import isnan, nan

import numpy as np
import pytest
from scipy.stats import spearmanr

from polychotomy.lab.experiments import Figure, measure_agreement


def make(data_set, method, theirs, ours, spread=1.0, quantity="error_percent", **given):
    values = {"low": nan, "high": nan, "n_folds": 10, **given}
    agrees = abs(theirs - ours) <= spread + 0.005
    return Figure(
        *("sbc", "2", data_set, method, quantity, theirs, spread, ours, nan),
        *(values["low"], values["high"], values["n_folds"], 10, agrees),
    )


THEIRS = {"car": [1.0, 2.2, 9.0, 4.0], "glass": [30.0, 31.5, 33.0, 30.4]}
OURS = {"car": [1.5, 3.0, 8.0, 8.5], "glass": [31.0, 30.0, 33.5, 30.0]}


@pytest.fixture
def figures():
    return [
        make(data_set, f"method {i}", theirs, ours)
        for data_set in THEIRS
        for i, (theirs, ours) in enumerate(zip(THEIRS[data_set], OURS[data_set], strict=True))
    ]


def test_the_shuffled_count_is_the_mean_over_all_shuffles(figures):
    counts = []
    for data_set in THEIRS:
        ours = np.array(OURS[data_set])
        each = [
            np.sum(np.abs(ours - np.array(order)) <= 1.005)
            for order in permutations(THEIRS[data_set])
        ]
        counts.append(np.mean(each))
    found = measure_agreement(figures)
    assert found.shuffled == pytest.approx(sum(counts))
    assert (found.n_agreeing, found.n_judged) == (6, 8)


def test_correlations_are_those_of_scipy(figures):
    found = measure_agreement(figures)
    each = [spearmanr(OURS[d], THEIRS[d]).statistic for d in THEIRS]
    assert found.correlation == pytest.approx(np.mean(each))


def test_equal_figures_agree_more_than_any_shuffle():
    figures = [make("car", f"m{i}", 10.0 * i, 10.0 * i) for i in range(7)]
    found = measure_agreement(figures)
    assert found.n_agreeing == 7
    assert found.shuffled == pytest.approx(1.0)
    assert found.pvalue < 0.01
    assert found.rank_correlation == pytest.approx(1.0)


def test_a_data_set_on_which_all_figures_are_alike_says_nothing():
    figures = [make("car", f"m{i}", 10.0 + 0.01 * i, 10.0) for i in range(7)]
    found = measure_agreement(figures)
    assert found.n_agreeing == found.shuffled == 7
    assert found.pvalue == 1
    assert isnan(found.correlation)


def test_derived_and_partial_figures_do_not_count(figures):
    more = [
        make("car", "method 0", 5.0, 5.0, quantity="total_error_percent"),
        make("all", "method 0", 2.0, 2.0, quantity="average_rank"),
        make("wine", "method 0", 2.0, 2.0, n_folds=2),
    ]
    assert measure_agreement([*figures, *more]) == measure_agreement(figures)


def test_without_a_spread_our_interval_decides():
    figures = [
        make("car", "a", 2.0, 3.0, nan, low=1.5, high=4.0),
        make("car", "b", 5.0, 4.5, nan, low=4.0, high=6.0),
    ]
    figures = [Figure(**{**vars(f), "agrees": True}) for f in figures]
    assert measure_agreement(figures).shuffled == pytest.approx(1.0)
