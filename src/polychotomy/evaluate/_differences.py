"""Which methods are significantly worse than the best: on one data set, or over several.

There is one test: on one data set the one-sided corrected resampled t-test of the scores of the
folds, or McNemar's test if there is a single test part; over several data sets the ranks.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from polychotomy.arrays import Array
from polychotomy.assess import average_ranks, corrected_resampled_t, holm, iman_davenport, mcnemar
from polychotomy.evaluate._cell import Cell
from polychotomy.reductions import available_reductions, is_baseline

CellsByMethod = Mapping[str, Sequence[Cell]]
"""The cells of each method, of the same folds in the same order."""

ROUNDING = 1e-9


@dataclass(frozen=True)
class Differences:
    """How methods compare with the best; without baselines, and those that lack folds.

    Attributes
    ----------
    best : str
        The method with the best mean score or, over several data sets, the best average rank.
    scores : mapping of str to float
        Mean score of each method that was compared in full, over folds or over data sets.
    ranks : mapping of str to float
        Average ranks over the data sets; on a single one the ranks there.
    pvalues : mapping of str to float
        p-value of each method being worse than the best; 1 for the best.
    worse : frozenset of str
        The methods that are significantly worse than the best.
    test : str
        The test, in a sentence.
    worse_on : mapping of str to int or None
        Over several data sets, on how many of them a method is significantly worse; None on one.
    """

    best: str
    scores: Mapping[str, float]
    ranks: Mapping[str, float]
    pvalues: Mapping[str, float]
    worse: frozenset[str]
    test: str
    worse_on: Mapping[str, int] | None


def judge(
    by_data_set: Sequence[CellsByMethod], alpha: float
) -> tuple[Differences, list[CellsByMethod]]:
    """Return how the methods compare, and the cells of those that were compared."""
    if not by_data_set:
        raise ValueError("There must be at least one finished cell to summarise.")
    complete = [_complete(folds) for folds in by_data_set]
    names = [name for name in complete[0] if all(name in folds for folds in complete)]
    if not names:  # no method has all data sets
        complete = [folds for folds in complete if folds][:1]
        if not complete:
            raise ValueError("Nothing but a baseline was computed, so nothing can be recommended.")
        names = list(complete[0])[:1]
    compared: list[CellsByMethod] = [{name: folds[name] for name in names} for folds in complete]
    return compare(compared, alpha, several=len(by_data_set) > 1), compared


def _complete(methods: CellsByMethod) -> CellsByMethod:
    """Return the methods that have all folds that any has, without baselines."""
    folds = {name: [cell.fold for cell in cells] for name, cells in methods.items()}
    all_folds = max(folds.values(), key=len)
    return {
        name: cells
        for name, cells in methods.items()
        if folds[name] == all_folds and not is_baseline(name.partition(" (")[0])
    }


def cells_by_method(cells: Iterable[Cell]) -> dict[str, dict[str, list[Cell]]]:
    """Return the cells of each data set and method, in the order of the folds.

    Methods are called by their reduction; with the base, if there are several. They come in the
    order of :func:`~polychotomy.reductions.available_reductions`, so that ties are decided alike
    wherever the cells come from.
    """
    found = list(cells)
    several = len({cell.base for cell in found}) > 1
    folds: dict[str, dict[str, dict[int, Cell]]] = {}
    for cell in found:
        method = f"{cell.reduction} ({cell.base})" if several else cell.reduction
        place = folds.setdefault(cell.data_set, {}).setdefault(method, {})
        if cell.fold in place:
            raise ValueError(
                "Cells of several comparisons cannot be summarised together. Got two of "
                f"{method} in fold {cell.fold} of {cell.data_set}."
            )
        place[cell.fold] = cell
    return {
        data_set: {
            name: [methods[name][fold] for fold in sorted(methods[name])]
            for name in sorted(methods, key=_place)
        }
        for data_set, methods in folds.items()
    }


def _place(method: str) -> tuple[int, str]:
    known = available_reductions()
    name = method.partition(" (")[0].partition(":")[0]
    return known.index(name) if name in known else len(known), method


def compare(data_sets: Sequence[CellsByMethod], alpha: float, *, several: bool) -> Differences:
    """Compare methods, the same on all data sets, with the best of them."""
    names = list(data_sets[0])
    errors = np.array(
        [[-np.mean([cell.score for cell in folds[name]]) for name in names] for folds in data_sets]
    )
    equal = np.round(errors, 9)  # means that differ by rounding alone share a rank
    ranks = average_ranks(equal) if len(names) > 1 else np.ones(1)
    merit = ranks if several else errors[0]
    best = names[int(np.argmax(merit <= merit.min() + ROUNDING))]
    pvalues: dict[str, float] = {}
    worse: set[str] = set()
    words, worse_on = "", Counter[str]() if several else None
    if len(names) > 1 and several:
        pvalues, words = _rank_test(equal, names, alpha)
        worse_on, better_on = _count_differences(best, data_sets, alpha / len(data_sets))
        worse = {name for name, p in pvalues.items() if p <= alpha}
        worse |= worse_on.keys() - better_on.keys()
    elif len(names) > 1:
        pvalues, words = _fold_test(best, data_sets[0], alpha)
        worse = {name for name, p in pvalues.items() if p < alpha}
    return Differences(
        best,
        dict(zip(names, (-errors.mean(axis=0)).tolist(), strict=True)),
        dict(zip(names, ranks.tolist(), strict=True)),
        {**pvalues, best: 1.0},
        frozenset(worse - {best}),
        words,
        worse_on,
    )


def _fold_test(best: str, folds: CellsByMethod, alpha: float) -> tuple[dict[str, float], str]:
    """Compare methods with the best on one data set.

    With several folds by the one-sided t-test of their scores, with the variance corrected for what
    the training parts have in common; with a single test part by McNemar's exact test, one-sided.
    The p-values are not adjusted for the number of methods: that would let worse methods pass.

    References
    ----------
    Dietterich (1998), "Approximate statistical tests for comparing supervised classification
    learning algorithms"; Nadeau and Bengio (2003), "Inference for the generalization error".
    """
    n_tested, n_folds = sum(len(cell.rows) for cell in folds[best]), len(folds[best])
    how = f"the corrected resampled t-test over {n_folds} fold{'s' * (n_folds > 1)}"
    if _by_predictions(folds):
        how = f"McNemar's test of the predictions for {n_tested} samples"
    words = f"Each method was compared with the best by {how}, one-sided, at {alpha:.0%}."
    return _pvalues_against(best, folds), words


def _pvalues_against(control: str, folds: CellsByMethod) -> dict[str, float]:
    """Return the p-value of each other method being worse than one, on one data set."""
    test = _mcnemar if _by_predictions(folds) else _corrected_t
    return {name: test(folds[control], folds[name]) for name in folds if name != control}


def _rank_test(errors: Array, names: Sequence[str], alpha: float) -> tuple[dict[str, float], str]:
    """Compare methods with the best over data sets, by the ranks of their scores.

    If the F of Iman and Davenport finds that any differ, Holm's procedure says which.
    """
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
    best: str, data_sets: Sequence[CellsByMethod], level: float
) -> tuple[Counter[str], Counter[str]]:
    """Return on how many data sets each method is significantly worse, and better, than one.

    A few data sets say little by their ranks, so a method also counts as worse if it is so, by the
    test for one data set at alpha divided by their number, on some of them, and better on none.
    """
    worse: Counter[str] = Counter()
    better: Counter[str] = Counter()
    for folds in data_sets:
        for name, p in _pvalues_against(best, folds).items():
            other_way = _pvalues_against(name, {name: folds[name], best: folds[best]})[best]
            worse.update([name] * (p < level))
            better.update([name] * (other_way < level))
    return worse, better


def _by_predictions(folds: CellsByMethod) -> bool:
    """Whether there is a single test part, and the score is the accuracy."""
    cells = [cell for some in folds.values() for cell in some]
    if len(cells) > len(folds):
        return False
    return all(cell.score == np.mean(cell.truth == cell.predicted) for cell in cells)


def _mcnemar(best: Sequence[Cell], other: Sequence[Cell]) -> float:
    """Return the one-sided p-value of the other being wrong more often."""
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
