"""How certain the recommendation is: what the report adds to the summary."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polychotomy.assess import (
    BootstrapInterval,
    McNemarTest,
    NemenyiTest,
    bootstrap_difference,
    mcnemar,
    nemenyi,
)
from polychotomy.evaluate import Cell, Row
from polychotomy.report._gathered import Gathered, in_words


@dataclass(frozen=True, eq=False)
class Rival:
    """How a method compares with the best.

    Attributes
    ----------
    row : Row
        Its row of the summary, which has the p-value and the verdict.
    mcnemar : McNemarTest or None
        With the method as the first, if there is a single data set.
    interval : BootstrapInterval or None
        Of its error minus the best's, likewise.
    """

    row: Row
    mcnemar: McNemarTest | None
    interval: BootstrapInterval | None


@dataclass(frozen=True, eq=False)
class Findings:
    """Conclusions from the results.

    Attributes
    ----------
    best, chosen : Row
        The method with the lowest error or average rank, and the recommended one.
    rivals : list of Rival
        The methods compared with the best, in the order of their ranks.
    ranks : NemenyiTest or None
        Of the methods compared, if there are several data sets.
    """

    best: Row
    chosen: Row
    rivals: list[Rival]
    ranks: NemenyiTest | None


def find(results: Gathered) -> Findings:
    """Compare every method with the best."""
    best, *others = results.ranked
    chosen = next(
        row for row in results.ranked if row.method == results.summary.recommendation.method
    )
    if results.several:
        rivals = [Rival(row, None, None) for row in others]
        return Findings(best, chosen, rivals, _nemenyi(results) if others else None)
    (data_set,) = results.data_sets
    theirs = results.cells[data_set, best.method]
    rivals = [Rival(row, *_pair(results.cells[data_set, row.method], theirs)) for row in others]
    return Findings(best, chosen, rivals, None)


def sureness(results: Gathered, findings: Findings) -> list[str]:
    """Return how certain the comparison is, in sentences."""
    if not findings.rivals:
        return ["With a single method no difference can be tested."]
    best = findings.best.method
    worse = [rival.row.method for rival in findings.rivals if rival.row.verdict == "worse"]
    level = [rival.row.method for rival in findings.rivals if rival.row.verdict != "worse"]
    said = [results.summary.how_sure]
    if worse:
        said.append(f"Significantly worse than {best}: {in_words(worse, most=20)}.")
    if level:
        said.append(
            f"Not significantly worse than {best}: {in_words(level, most=20)}. That is no proof "
            "that they are equally good: with more samples or data sets a difference may show."
        )
    if results.several and len(results.data_sets) < 10:
        said.append("On fewer than ten data sets ranks show large differences only.")
    said.append(
        "The best was found by looking at these results, so that its error on new data is likely "
        "to be a little higher than it is here."
    )
    return [*said, *filter(None, [results.summary.recommendation.experience])]


def same_samples(
    first: Sequence[Cell], second: Sequence[Cell]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int_]]:
    """Return where two methods are right, and the fold, for the samples of their cells.

    A sample that was tested several times, by repeated splits, counts the first time.

    Parameters
    ----------
    first, second : sequence of Cell
        Of the same folds in the same order.
    """
    rows = np.concatenate([cell.rows for cell in first])
    _, once = np.unique(rows, return_index=True)
    rights = [
        np.concatenate([cell.predicted == cell.truth for cell in cells])[once]
        for cells in (first, second)
    ]
    folds = np.repeat([cell.fold for cell in first], [len(cell.rows) for cell in first])
    return rights[0], rights[1], folds[once]


def _pair(cells: Sequence[Cell], best: Sequence[Cell]) -> tuple[McNemarTest, BootstrapInterval]:
    one, other, folds = same_samples(cells, best)
    truth = np.ones(len(folds))
    interval = bootstrap_difference(
        truth, one, other, folds=folds if np.ptp(folds) else None, random_state=0
    )
    return mcnemar(truth, one, other), interval


def _nemenyi(results: Gathered) -> NemenyiTest:
    names = [row.method for row in results.ranked]
    tables = [{row.method: row for row in table} for table in results.summary.tables.values()]
    errors = [[table[name].means["error"] for name in names] for table in tables]
    return nemenyi(errors, names=names)
