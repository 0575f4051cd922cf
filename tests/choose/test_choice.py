import numpy as np

from polychotomy.choose._choice import Words, cheapest, choose

GOOD = np.array([0.90, 0.92, 0.91, 0.93, 0.90])
SAME = np.array([0.91, 0.91, 0.90, 0.93, 0.90])
BAD = np.array([0.80, 0.83, 0.80, 0.84, 0.79])


def test_of_those_about_as_cheap_the_first_is_taken():
    assert cheapest([3.0, 1.0, 1.0]) == 1
    assert cheapest(iter([1.3, 1.2, 1.0]), within=1.2) == 1
    assert cheapest([np.inf, np.inf]) == 0
    assert cheapest([0.1, 0.0], within=1.2) == 1


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


def test_one_alone_is_best_of_nothing():
    scores, costs = np.array([GOOD]), np.array([4.0])
    said = Words(["c"], scores.mean(axis=1), costs, costs, 5, "accuracy", 0.05, {})
    assert said.of(choose(scores, costs, 0.25, 0.05)) == (
        "c is chosen, as nothing else was compared: its mean score (accuracy) over 5 folds is "
        "0.9120."
    )


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
    assert "and it asks 4 binary problems." in words([1.0, 4.0, np.nan])
    assert "and it asks 1 binary problem." in words([1.0, 1.0, np.nan])
