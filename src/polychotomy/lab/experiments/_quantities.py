"""Quantities that several papers print, from cells."""

from collections.abc import Sequence

import numpy as np

from polychotomy.assess import average_ranks, bootstrap_difference
from polychotomy.evaluate import Cell
from polychotomy.lab import published
from polychotomy.lab.experiments._experiment import FinishedCells
from polychotomy.lab.experiments._figures import Estimate

_LEVEL = 0.95


def mean_over_folds(cells: Sequence[Cell], metric: str) -> float:
    """Return the mean of a metric; each fold counts by its number of test samples."""
    values = [cell.metrics[metric] for cell in cells]
    return float(np.average(values, weights=[len(cell.rows) for cell in cells]))


def error_percent(results: FinishedCells, cell: published.PublishedCell) -> Estimate | None:
    """Return the error over all test samples, its deviation over folds and bootstrap interval."""
    cells = results.of(cell.data_set, cell.method)
    return estimate_error(cells) if cells else None


def estimate_error(cells: Sequence[Cell]) -> Estimate:
    """Return the error in per cent.

    The bootstrap distribution of a share of n samples is binomial, so that nothing has to be drawn.
    Where all samples are right, or all wrong, it has no width: the exact interval is taken.
    """
    from scipy.stats import binom, binomtest

    error = mean_over_folds(cells, "error")
    n_tested = sum(len(cell.rows) for cell in cells)
    if 0 < error < 1:
        low, high = np.array(binom.interval(_LEVEL, n_tested, error)) / n_tested
    else:
        low, high = binomtest(round(error * n_tested), n_tested).proportion_ci(_LEVEL)
    spread = np.std([cell.metrics["error"] for cell in cells], ddof=1) if len(cells) > 1 else np.nan
    return Estimate(
        100 * error,
        100 * float(spread),
        100 * float(low),
        100 * float(high),
        len(cells),
    )


def estimate_draws(draws: Sequence[Sequence[Cell]]) -> Estimate:
    """Return the mean error of several draws of a random code, in per cent.

    The interval is that of a single draw, such as the published one: a draw is taken at random, and
    its test samples are bootstrapped. That is a mixture of binomial distributions.

    Parameters
    ----------
    draws : sequence of sequences of Cell
        The folds of each draw.
    """
    from scipy.stats import binom

    if len(draws) == 1:
        return estimate_error(draws[0])
    errors = [mean_over_folds(cells, "error") for cells in draws]
    n_tested = sum(len(cell.rows) for cell in draws[0])
    wrong = np.arange(n_tested + 1)
    below = np.mean([binom.cdf(wrong, n_tested, error) for error in errors], axis=0)
    low, high = np.searchsorted(below, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]) / n_tested
    folds = np.mean([[cell.metrics["error"] for cell in cells] for cells in draws], axis=0)
    return Estimate(
        100 * float(np.mean(errors)),
        100 * float(np.std(folds, ddof=1)) if len(folds) > 1 else np.nan,
        100 * float(low),
        100 * float(high),
        len(folds),
    )


def estimate_mean(values: Sequence[float], n_folds: int, *, judged: bool = True) -> Estimate | None:
    """Return mean and deviation of what some folds gave, or None if there is nothing."""
    if not values:
        return None
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else np.nan
    return Estimate(float(np.mean(values)), spread, n_folds=n_folds, judged=judged)


def average_rank(results: FinishedCells, cell: published.PublishedCell) -> Estimate | None:
    """Return the mean rank of a method over all data sets of the table, if all were run in full.

    Errors are rounded as they are printed, two decimals, so that ties are the paper's.
    """
    printed = published.table(f"{cell.paper}-{cell.table}").cells
    data_sets = list(dict.fromkeys(c.data_set for c in printed if c.quantity == "error_percent"))
    methods = list(dict.fromkeys(c.method for c in printed if c.quantity == "error_percent"))
    if not all(results.complete(data_set, method) for data_set in data_sets for method in methods):
        return None
    errors = [
        [
            round(100 * mean_over_folds(results.of(data_set, method), "error"), 2)
            for method in methods
        ]
        for data_set in data_sets
    ]
    return Estimate(float(average_ranks(errors)[methods.index(cell.method)]))


def difference_bound(
    end: str, results: FinishedCells, cell: published.PublishedCell
) -> Estimate | None:
    """Return an end of the bootstrap interval of the difference of two errors, in per cent.

    It agrees if the difference that we observe lies within the published interval or, where only a
    part of the folds was run, if our interval and theirs overlap.

    Parameters
    ----------
    end : {"low", "high"}
    results : FinishedCells
    cell : published.PublishedCell
        Of a method "A vs. B".
    """
    first, second = (results.of(cell.data_set, name) for name in cell.method.split(" vs. "))
    if not first or [c.fold for c in first] != [c.fold for c in second]:
        return None
    truth, one, two, folds = (
        np.concatenate(parts)
        for parts in (
            [c.truth for c in first],
            [c.predicted for c in first],
            [c.predicted for c in second],
            [np.full(len(c.rows), c.fold) for c in first],
        )
    )
    found = bootstrap_difference(
        truth, one, two, folds=folds if len(first) > 1 else None, random_state=0
    )
    low, high = _published_interval(cell)
    ends = [100 * end for end in (found.low, found.high)]
    if all(results.complete(cell.data_set, name) for name in cell.method.split(" vs. ")):
        ends = [100 * found.difference] * 2
    return Estimate(
        100 * (found.low if end == "low" else found.high),
        n_folds=len(first),
        agrees=bool(ends[0] <= high and low <= ends[1]),
    )


def _published_interval(cell: published.PublishedCell) -> tuple[float, float]:
    ends = {
        c.quantity: c.value
        for c in published.table(f"{cell.paper}-{cell.table}").cells
        if (c.data_set, c.method) == (cell.data_set, cell.method)
    }
    return ends["difference_low_percent"], ends["difference_high_percent"]
