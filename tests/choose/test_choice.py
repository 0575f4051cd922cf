import numpy as np
import pytest
from scipy.stats import ttest_rel

from polychotomy.choose._choice import Words, choose, worse_pvalue

GOOD = np.array([0.90, 0.92, 0.91, 0.93, 0.90])
SAME = np.array([0.91, 0.91, 0.90, 0.93, 0.90])
BAD = np.array([0.80, 0.83, 0.80, 0.84, 0.79])


def test_without_correction_it_is_the_paired_test():
    expected = ttest_rel(GOOD, SAME, alternative="greater").pvalue
    assert worse_pvalue(GOOD, SAME, 0) == pytest.approx(expected)


def test_the_correction_by_hand():
    # d = 0, 0.1, 0.2: mean 0.1, deviation 0.1; t = 0.1 / (0.1 sqrt(1/3 + 1/2)); two degrees of
    # freedom, for which P(T > t) = 1/2 − t / (2 sqrt(2 + t²))
    t = 1 / np.sqrt(5 / 6)
    expected = 1 / 2 - t / (2 * np.sqrt(2 + t**2))
    found = worse_pvalue(np.array([0.5, 0.6, 0.7]), np.array([0.5, 0.5, 0.5]), 1 / 2)
    assert found == pytest.approx(expected)


def test_differences_without_spread():
    assert worse_pvalue(GOOD, GOOD, 0.25) == 1
    assert worse_pvalue(GOOD, GOOD - 0.1, 0.25) == 0
    assert worse_pvalue(np.array([0.9]), np.array([0.8]), 0.25) == 0  # one fold
    assert worse_pvalue(np.array([0.9]), np.array([0.9]), 0.25) == 1
    assert np.isnan(worse_pvalue(GOOD, np.full(5, np.nan), 0.25))


@pytest.mark.slow
def test_it_rarely_finds_what_is_not_there():
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    found = []
    for seed in range(400):  # two copies of one method on different noise features
        rng = np.random.default_rng(seed)
        y = np.arange(100) % 2
        X = rng.normal(size=(100, 4)) + 0.5 * y[:, np.newaxis]
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        one, two = (
            cross_val_score(KNeighborsClassifier(), X[:, part], y, cv=folds)
            for part in (slice(0, 2), slice(2, 4))
        )
        found.append(worse_pvalue(one, two, 1 / 4) < 0.05)
    assert np.mean(found) < 0.08


def test_the_cheapest_that_is_not_worse_is_taken():
    scores = np.array([BAD, SAME, GOOD, SAME])
    choice = choose(scores, np.array([1.0, 5.0, 9.0, 4.0]), 0.25, 0.05)
    assert (choice.best, choice.chosen) == (2, 3)
    assert choice.pvalues[2] == 1
    assert choice.pvalues[0] < 0.05 <= choice.pvalues[1]
    assert choose(scores, np.array([1.0, 5.0, 9.0, 4.0]), 0.25, 0.0).chosen == 0
    assert choose(scores, np.array([1.0, 5.0, 9.0, 4.0]), 0.25, 1.0).chosen == 2


def test_ties_go_to_the_better_and_then_to_the_first():
    scores = np.array([SAME, GOOD, GOOD])
    assert choose(scores, np.ones(3), 0.25, 0.05).chosen == 1


def test_unknown_costs_are_the_highest_and_failures_take_no_part():
    scores = np.array([SAME, GOOD, np.full(5, np.nan)])
    assert choose(scores, np.array([np.nan, 3.0, 0.0]), 0.25, 0.05).chosen == 1
    assert choose(scores, np.array([np.nan, np.nan, 0.0]), 0.25, 0.05).chosen == 1


def words(costs, **options):
    scores = np.array([BAD, SAME, GOOD])
    costs = np.array(costs)
    options = {"skipped": {}, **options}
    said = Words(list("abc"), scores.mean(axis=1), costs, costs, 5, "accuracy", 0.05, **options)
    return said.of(choose(scores, costs, 0.25, 0.05))


def test_the_reasons_in_words():
    said = words([1.0, 4.0, 9.0], skipped={"orthogonal": "needs four"})
    assert said == (
        "b is chosen: its mean score (accuracy) over 5 folds is 0.9100, not significantly below "
        "the best, 0.9120 of c (p = 0.37, corrected resampled t-test at the level 0.05), and it is "
        "cheaper: 4 binary problems for a sample in training and prediction together, against 9. "
        "Of the 2 others, 1 is significantly worse than the best. Not tried: orthogonal."
    )
    said = words([1.0, 9.0, 4.0])
    assert said == (
        "c is chosen: its mean score (accuracy) over 5 folds, 0.9120, is the best of the 3 that "
        "were compared. Of the 2 others, 1 is significantly worse than the best. None that is as "
        "good costs less."
    )
    assert "and it asks 4 binary problems" in words([1.0, 4.0, np.nan])
