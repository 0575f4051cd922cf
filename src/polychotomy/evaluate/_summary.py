"""From cells to tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from polychotomy.classifiers import Cost
from polychotomy.evaluate._cell import Cell
from polychotomy.evaluate._differences import Differences
from polychotomy.evaluate._recommendation import (
    Recommendation,
    cells_by_method,
    decide,
    judge,
    mean_cost,
    mean_costs,
)
from polychotomy.reductions import is_baseline

METRICS = ("error", "log_loss", "brier", "uncertainty_coefficient")


@dataclass(frozen=True)
class Row:
    """How one method did, on one data set or on average over several.

    Attributes
    ----------
    method : str
        The reduction; with the base, if there are several.
    n_problems : float
        Mean number of binary problems trained.
    means : mapping of str to float
        Mean of each metric over the folds, or over the data sets; without those that are missing.
    standard_errors : mapping of str to float
        Of these means; empty over several data sets. Of a single test part only that of the error.
    fit_seconds, predict_seconds : float
        Median CPU time of a fold.
    rank : float or None
        By its score, 1 for the best; None for baselines, and if folds or data sets are missing.
    pvalue : float or None
        Of its being worse than the best; None for the best and where there is no rank.
    verdict : {"best", "worse", "", "baseline", "incomplete"}
        Whether it is significantly worse than the best.
    worse_on : int
        Over several data sets, on how many of them it is significantly worse than the best of all.
    cost : Cost or None
        What it costs, counted; None if that is unknown.
    """

    method: str
    n_problems: float
    means: Mapping[str, float]
    standard_errors: Mapping[str, float]
    fit_seconds: float
    predict_seconds: float
    rank: float | None
    pvalue: float | None
    verdict: str
    worse_on: int = 0
    cost: Cost | None = None

    @property
    def seconds(self) -> float:
        """Training and predicting together."""
        return self.fit_seconds + self.predict_seconds


@dataclass(frozen=True)
class Summary:
    """A comparison in a few tables, with its recommendation.

    Attributes
    ----------
    tables : mapping of str to tuple of Row
        For each data set its methods, the best first.
    overall : tuple of Row
        The methods over all data sets, the best first; of a single data set, its table.
    recommendation : Recommendation
        The method to use, and why.
    how_sure : str
        Which test was made.
    """

    tables: Mapping[str, tuple[Row, ...]]
    overall: tuple[Row, ...]
    recommendation: Recommendation
    how_sure: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "tables": {name: [asdict(row) for row in rows] for name, rows in self.tables.items()},
            "overall": [asdict(row) for row in self.overall],
            "recommended": self.recommendation.method,
            "why": self.recommendation.words,
            "recommendation": self.recommendation.as_dict(),
            "how_sure": self.how_sure,
        }


def summarise(cells: Iterable[Cell], *, alpha: float = 0.05, prefer: str = "balanced") -> Summary:
    """Make tables of a comparison, and recommend a method.

    On one data set every method is compared with the one of the highest mean score, by the
    corrected resampled t-test over the folds or, with a single test part, by McNemar's test; over
    several data sets by the ranks of the mean scores. "Not significantly worse" is not "as good":
    few samples show few differences. A method that lacks folds or data sets is shown but not
    ranked, and so are baselines.

    Parameters
    ----------
    cells : iterable of Cell
        Of one comparison, see :func:`comparisons`: a single cell for each data set, method, fold.
    alpha : float, default=0.05
        Significance level.
    prefer : {"balanced", "accuracy", "cost"}, default="balanced"
        What is recommended, see :func:`recommend`.

    Returns
    -------
    Summary

    Examples
    --------
    >>> from polychotomy import datasets
    >>> from polychotomy.evaluate import Samples, Schedule, summarise
    >>> iris = Samples.of(datasets.load("iris"))
    >>> cells, _ = Schedule(iris, ["one_vs_one", "one_vs_rest"], ["ridge"]).run()
    >>> summarise(cells).recommendation.method
    'one_vs_one'
    """
    folds = cells_by_method(cells)
    found, compared = judge(list(folds.values()), alpha)
    tables = {name: _table_of_one(methods, alpha) for name, methods in folds.items()}
    several = len(tables) > 1
    if several:
        overall = _table_of_many(tables, found)
    else:
        (overall,) = tables.values()
    advice = decide(found, mean_costs(compared), prefer, several=several)
    return Summary(tables, overall, advice, found.words)


def comparisons(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Return the cells of a store by comparison, under a few words that name it.

    Cells belong together that have the same protocol, tuning, seed and versions. Two data sets of
    one name within a comparison get the first digits of their hash, ``land [3f2a]``.
    """
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        versions = [f"{name} {v}" for name, v in cell.versions.items() if name != "python"]
        settings = cell.settings
        words = [settings["protocol"], f"tuning {settings['tuning']}", f"seed {cell.seed}"]
        groups.setdefault(", ".join([*words, *versions]), []).append(cell)
    return {words: _told_apart(group) for words, group in groups.items()}


def _told_apart(cells: list[Cell]) -> list[Cell]:
    contents: dict[str, set[str]] = {}
    for cell in cells:
        contents.setdefault(cell.data_set, set()).add(cell.settings["data"])
    return [
        cell
        if len(contents[cell.data_set]) == 1
        else replace(cell, data_set=f"{cell.data_set} [{cell.settings['data'][:4]}]")
        for cell in cells
    ]


def _table_of_one(methods: Mapping[str, Sequence[Cell]], alpha: float) -> tuple[Row, ...]:
    found, _ = judge([methods], alpha)
    return _sorted(_row(name, cells, found) for name, cells in methods.items())


def _row(name: str, cells: Sequence[Cell], found: Differences) -> Row:
    known = [metric for metric in METRICS if all(metric in cell.metrics for cell in cells)]
    values = {metric: [cell.metrics[metric] for cell in cells] for metric in known}
    return Row(
        name,
        float(np.mean([cell.n_problems for cell in cells])),
        {metric: float(np.mean(each)) for metric, each in values.items()},
        _standard_errors(values, len(cells[0].rows)),
        float(np.median([cell.fit_seconds for cell in cells])),
        float(np.median([cell.predict_seconds for cell in cells])),
        found.ranks.get(name),
        found.pvalues.get(name),
        _verdict(name, found),
        cost=mean_cost([cell.cost for cell in cells]),
    )


def _standard_errors(values: Mapping[str, list[float]], n_test: int) -> dict[str, float]:
    n = len(values["error"])
    if n == 1:
        (error,) = values["error"]
        return {"error": sqrt(error * (1 - error) / n_test)}
    return {name: float(np.std(each, ddof=1) / sqrt(n)) for name, each in values.items()}


def _table_of_many(tables: Mapping[str, tuple[Row, ...]], found: Differences) -> tuple[Row, ...]:
    by_method: dict[str, list[Row]] = {}
    for table in tables.values():
        for row in table:
            by_method.setdefault(row.method, []).append(row)
    return _sorted(_mean_row(name, rows, found) for name, rows in by_method.items())


def _mean_row(name: str, rows: Sequence[Row], found: Differences) -> Row:
    known = [metric for metric in METRICS if all(metric in row.means for row in rows)]
    return Row(
        name,
        float(np.mean([row.n_problems for row in rows])),
        {metric: float(np.mean([row.means[metric] for row in rows])) for metric in known},
        {},
        float(np.mean([row.fit_seconds for row in rows])),
        float(np.mean([row.predict_seconds for row in rows])),
        found.ranks.get(name),
        found.pvalues.get(name),
        _verdict(name, found),
        found.worse_on.get(name, 0),
        mean_cost([row.cost for row in rows]),
    )


def _verdict(name: str, found: Differences) -> str:
    if name not in found.ranks:
        return "baseline" if is_baseline(name.partition(" (")[0]) else "incomplete"
    if name == found.best:
        return "best"
    return "worse" if name in found.worse else ""


def _sorted(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the best first, and those without a rank last."""
    return tuple(
        sorted(
            rows,
            key=lambda r: (r.rank is None, r.rank or 0.0, r.verdict != "best", r.means["error"]),
        )
    )
