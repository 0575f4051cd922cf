"""Which methods are significantly worse than the best: on one data set, or over several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polychotomy.assess import (
    average_ranks,
    corrected_resampled_t,
    holm,
    iman_davenport,
    mcnemar,
)
from polychotomy.assess._significance import adjust_by_holm
from polychotomy.lab._cells import Cell

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Differences:
    """How the methods compare with the best.

    Attributes
    ----------
    best : str
        The method with the lowest error, or the best average rank.
    ranks : mapping of str to float
        Average ranks over the data sets; on a single one the ranks there.
    pvalues : mapping of str to float
        Adjusted by Holm's procedure, for each method but the best.
    alpha : float
        Methods with a p-value of at most this are worse.
    words : str
        Which test it was, and what it found.
    """

    best: str
    ranks: Mapping[str, float]
    pvalues: Mapping[str, float]
    alpha: float
    words: str

    @property
    def worse(self) -> tuple[str, ...]:
        """The methods that are significantly worse than the best."""
        return tuple(name for name, p in self.pvalues.items() if p <= self.alpha)


def compare_on_one(folds: Mapping[str, Sequence[Cell]], alpha: float) -> Differences:
    """Compare methods on one data set by their errors, each with the best.

    If every sample was tested once (cross-validation, a split), by McNemar's exact test of all
    predictions; if samples were tested repeatedly, by the t-test of the folds' errors with the
    variance corrected for what the training parts have in common. Holm's procedure accounts for
    the number of methods, but not for the best having been chosen by looking. McNemar's test takes
    the trained classifiers as given: with cross-validation its p-values are somewhat small.

    Parameters
    ----------
    folds : mapping of str to sequence of Cell
        The cells of each method, of the same folds in the same order.
    alpha : float

    References
    ----------
    Dietterich (1998), "Approximate statistical tests for comparing supervised classification
    learning algorithms"; Nadeau and Bengio (2003), "Inference for the generalization error".
    """
    names = list(folds)
    errors = {name: mean_over_folds(cells, "error") for name, cells in folds.items()}
    best = min(names, key=lambda name: errors[name])
    ranks = average_ranks([list(errors.values())]) if len(names) > 1 else np.ones(1)
    n_tested = sum(len(cell.rows) for cell in folds[best])
    how = (
        f"McNemar's test of the predictions for {n_tested} samples"
        if _tested_once(folds[best])
        else f"the corrected resampled t-test of {len(folds[best])} errors"
    )
    words = f"Each reduction was compared with the best by {how}, with Holm's procedure"
    return Differences(
        best,
        dict(zip(names, ranks.tolist(), strict=True)),
        _against(best, folds),
        alpha,
        f"{words} at {alpha:.0%}." if len(names) > 1 else "",
    )


def count_differences(
    best: str, data_sets: Sequence[Mapping[str, Sequence[Cell]]], alpha: float
) -> dict[str, tuple[int, int]]:
    """Return on how many data sets each method is significantly worse, and better, than one.

    By the tests of :func:`compare_on_one`, with `alpha` divided by the number of data sets.
    """
    counts = {name: [0, 0] for folds in data_sets for name in folds}
    for folds in data_sets:
        for name, p in _against(best, folds).items():
            if p <= alpha / len(data_sets):
                errors = [mean_over_folds(folds[each], "error") for each in (name, best)]
                counts[name][errors[0] < errors[1]] += 1
    return {name: (worse, better) for name, (worse, better) in counts.items()}


def _against(control: str, folds: Mapping[str, Sequence[Cell]]) -> dict[str, float]:
    """Return the adjusted p-values of all methods but the control, on one data set."""
    test = _mcnemar if _tested_once(folds[control]) else _corrected_t
    others = [name for name in folds if name != control]
    adjusted = adjust_by_holm(np.array([test(folds[control], folds[name]) for name in others]))
    return dict(zip(others, adjusted.tolist(), strict=True))


def _tested_once(cells: Sequence[Cell]) -> bool:
    rows = np.concatenate([cell.rows for cell in cells])
    return len(np.unique(rows)) == len(rows)


def compare_over_many(table: Array, names: Sequence[str], alpha: float) -> Differences:
    """Compare methods over data sets by the ranks of their errors, each with the best.

    If the F of Iman and Davenport finds that any differ, Holm's procedure says which.

    Parameters
    ----------
    table : ndarray of shape (n_datasets, n_methods)
        Mean errors.
    names : sequence of str
        The methods.
    alpha : float
    """
    ranks = average_ranks(table)
    best = names[int(ranks.argmin())]
    some = iman_davenport(table)
    words = (
        f"Over {len(table)} data sets the test of Iman and Davenport finds "
        f"{'a difference' if some.pvalue <= alpha else 'no difference'} between the ranks "
        f"(F = {some.statistic:.3g}, p = {some.pvalue:.2g})"
    )
    if some.pvalue <= alpha:
        found = holm(table, alpha=alpha, names=names)
        pvalues = dict(zip(names, found.adjusted.tolist(), strict=True))
        words += "; each reduction was compared with the best by Holm's procedure"
    else:
        pvalues = dict.fromkeys(names, 1.0)
    del pvalues[best]
    return Differences(
        best,
        dict(zip(names, ranks.tolist(), strict=True)),
        pvalues,
        alpha,
        f"{words} at {alpha:.0%}.",
    )


def mean_over_folds(cells: Sequence[Cell], metric: str) -> float:
    """Return the mean of a metric; each fold counts by its number of test samples."""
    values = [cell.metrics[metric] for cell in cells]
    return float(np.average(values, weights=[len(cell.rows) for cell in cells]))


def _errors(cells: Sequence[Cell]) -> Array:
    return np.array([cell.metrics["error"] for cell in cells])


def _mcnemar(best: Sequence[Cell], other: Sequence[Cell]) -> float:
    truth = np.concatenate([cell.truth for cell in best])
    first, second = (np.concatenate([cell.predicted for cell in cells]) for cells in (best, other))
    return mcnemar(truth, first, second).pvalue


def _corrected_t(best: Sequence[Cell], other: Sequence[Cell]) -> float:
    ratio = np.mean([len(cell.rows) / cell.settings["n_train"] for cell in best])
    return corrected_resampled_t(_errors(other), _errors(best), float(ratio)).pvalue
