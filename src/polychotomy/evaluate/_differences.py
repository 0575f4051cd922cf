"""Which methods are significantly worse than the best: on one data set, or over several.

There is one test: on one data set the one-sided corrected resampled t-test of the scores of the
folds, or McNemar's test if there is a single test part; over several data sets the ranks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polychotomy.arrays import Array
from polychotomy.assess import average_ranks, corrected_resampled_t, holm, iman_davenport, mcnemar
from polychotomy.evaluate._cell import Cell

Folds = Mapping[str, Sequence[Cell]]
"""The cells of each method, of the same folds in the same order."""

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Differences:
    """How the methods compare with the best.

    Attributes
    ----------
    best : str
        The method with the best mean score, or the best average rank; of several the first.
    scores : mapping of str to float
        Mean scores over folds, or over data sets.
    ranks : mapping of str to float
        Average ranks over the data sets; on a single one the ranks there.
    pvalues : mapping of str to float
        Of each method being worse than the best, without the best itself.
    worse : frozenset of str
        The methods that are significantly worse than the best.
    worse_on : mapping of str to int
        Over several data sets, on how many of them a method is significantly worse.
    words : str
        Which test it was.
    """

    best: str
    scores: Mapping[str, float]
    ranks: Mapping[str, float]
    pvalues: Mapping[str, float]
    worse: frozenset[str]
    worse_on: Mapping[str, int]
    words: str


def mean_score(cells: Sequence[Cell]) -> float:
    """Return the mean score over the folds, as scikit-learn's searches have it."""
    return float(np.mean([cell.score for cell in cells]))


def compare_on_one(folds: Folds, alpha: float) -> Differences:
    """Compare methods on one data set, each with the best.

    With several folds by the one-sided t-test of their scores, with the variance corrected for what
    the training parts have in common; with a single test part by McNemar's exact test, one-sided.
    The p-values are not adjusted for the number of methods: that would let worse methods pass.

    Parameters
    ----------
    folds : mapping of str to sequence of Cell
        The cells of each method, of the same folds in the same order.
    alpha : float
        Methods with a p-value below it are worse.

    References
    ----------
    Dietterich (1998), "Approximate statistical tests for comparing supervised classification
    learning algorithms"; Nadeau and Bengio (2003), "Inference for the generalization error".
    """
    names = list(folds)
    scores = {name: mean_score(cells) for name, cells in folds.items()}
    highest = max(scores.values())
    best = next(name for name in names if scores[name] >= highest - _ROUNDING)
    ranks = average_ranks([[-score for score in scores.values()]]) if len(names) > 1 else np.ones(1)
    n_tested, n_folds = sum(len(cell.rows) for cell in folds[best]), len(folds[best])
    how = (
        f"McNemar's test of the predictions for {n_tested} samples"
        if _by_predictions(folds)
        else f"the corrected resampled t-test over {n_folds} fold{'s' * (n_folds > 1)}"
    )
    words = f"Each method was compared with the best by {how}, one-sided, at {alpha:.0%}."
    pvalues = pvalues_against(best, folds)
    return Differences(
        best,
        scores,
        dict(zip(names, ranks.tolist(), strict=True)),
        pvalues,
        frozenset(name for name, p in pvalues.items() if p < alpha),
        {},
        words if len(names) > 1 else "",
    )


def pvalues_against(control: str, folds: Folds) -> dict[str, float]:
    """Return the p-value of each other method being worse than one, on one data set."""
    test = _mcnemar if _by_predictions(folds) else _corrected_t
    return {name: test(folds[control], folds[name]) for name in folds if name != control}


def compare_over_many(data_sets: Sequence[Folds], alpha: float) -> Differences:
    """Compare methods over data sets by the ranks of their scores, each with the best.

    If the F of Iman and Davenport finds that any differ, Holm's procedure says which. A few data
    sets say little by their ranks, so a method also counts as worse if it is so, by the test for
    one data set at alpha divided by their number, on some of them, and better on none.

    Parameters
    ----------
    data_sets : sequence of mapping
        For each data set the cells of the methods, which are the same on all of them.
    alpha : float
    """
    names = list(data_sets[0])
    errors = np.array([[-mean_score(folds[name]) for name in names] for folds in data_sets])
    scores = dict(zip(names, (-errors.mean(axis=0)).tolist(), strict=True))
    if len(names) == 1:
        return Differences(names[0], scores, {names[0]: 1.0}, {}, frozenset(), {}, "")
    ranks = average_ranks(errors)
    best = names[int(ranks.argmin())]
    pvalues, words = _by_ranks(errors, names, alpha)
    del pvalues[best]
    counts = _count_differences(best, data_sets, alpha)
    worse = {name for name, p in pvalues.items() if p <= alpha}
    worse |= {name for name, (n_worse, n_better) in counts.items() if n_worse and not n_better}
    return Differences(
        best,
        scores,
        dict(zip(names, ranks.tolist(), strict=True)),
        pvalues,
        frozenset(worse),
        {name: n_worse for name, (n_worse, _) in counts.items()},
        words,
    )


def _by_ranks(errors: Array, names: Sequence[str], alpha: float) -> tuple[dict[str, float], str]:
    some = iman_davenport(errors)
    words = (
        f"Over {len(errors)} data sets the test of Iman and Davenport finds "
        f"{'a difference' if some.pvalue <= alpha else 'no difference'} between the ranks "
        f"(F = {some.statistic:.3g}, p = {some.pvalue:.2g})"
    )
    if some.pvalue > alpha:
        return dict.fromkeys(names, 1.0), f"{words} at {alpha:.0%}."
    found = holm(errors, alpha=alpha, names=names)
    words += f"; each method was compared with the best by Holm's procedure at {alpha:.0%}."
    return dict(zip(names, found.adjusted.tolist(), strict=True)), words


def _count_differences(
    best: str, data_sets: Sequence[Folds], alpha: float
) -> dict[str, tuple[int, int]]:
    """Return on how many data sets each method is significantly worse, and better, than one."""
    counts = {name: [0, 0] for name in data_sets[0] if name != best}
    for folds in data_sets:
        for name, p in pvalues_against(best, folds).items():
            better = pvalues_against(name, {name: folds[name], best: folds[best]})[best]
            counts[name][0] += p < alpha / len(data_sets)
            counts[name][1] += better < alpha / len(data_sets)
    return {name: (worse, better) for name, (worse, better) in counts.items()}


def _by_predictions(folds: Folds) -> bool:
    """Whether there is a single test part, and the score is the accuracy."""
    cells = [cell for some in folds.values() for cell in some]
    if len(cells) > len(folds):
        return False
    return all(cell.score == np.mean(cell.truth == cell.predicted) for cell in cells)


def _mcnemar(best: Sequence[Cell], other: Sequence[Cell]) -> float:
    """Return the one-sided p-value of the other being wrong more often."""
    from scipy.stats import binomtest

    (one,), (two,) = best, other
    found = mcnemar(one.truth, one.predicted, two.predicted)
    n = found.only_first_wrong + found.only_second_wrong
    if n == 0:
        return 1.0
    return float(binomtest(found.only_second_wrong, n, alternative="greater").pvalue)


def _corrected_t(best: Sequence[Cell], other: Sequence[Cell]) -> float:
    """Return the one-sided p-value of the other scoring less."""
    ratio = float(np.mean([len(cell.rows) / cell.settings["n_train"] for cell in best]))
    one, two = ([cell.score for cell in cells] for cells in (best, other))
    return corrected_resampled_t(one, two, ratio, alternative="greater").pvalue
