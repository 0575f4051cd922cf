"""From cells to tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from math import sqrt
from typing import Any

import numpy as np

from polychotomy.arrays import Array
from polychotomy.classifiers import Cost
from polychotomy.evaluate._cell import Cell
from polychotomy.evaluate._differences import Differences, cells_by_method, judge
from polychotomy.evaluate._recommendation import Recommendation, mean_cost, recommend
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
        The cost, counted; None if unknown.
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
        The test that was used.
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

    Methods are compared as by :func:`recommend`. "Not significantly worse" is not "as good": few
    samples show few differences. A method that lacks folds or data sets is shown but not ranked,
    and so are baselines.

    Parameters
    ----------
    cells : iterable of Cell
        Cells of one comparison, see :func:`comparisons`: one for each data set, method, fold.
    alpha : float, default=0.05
        Significance level.
    prefer : {"balanced", "accuracy", "cost"}, default="balanced"
        How to recommend a method, see :func:`recommend`.

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
    found = list(cells)
    advice = recommend(found, alpha=alpha, prefer=prefer)
    tables = {}
    for name, methods in cells_by_method(found).items():
        differences, _ = judge([methods], alpha)
        tables[name] = _table([_row(each, methods[each], differences) for each in methods])
    if len(tables) == 1:
        (overall,) = tables.values()
        return Summary(tables, overall, advice, advice.test)
    by_method: dict[str, list[Row]] = {}
    for row in chain.from_iterable(tables.values()):
        by_method.setdefault(row.method, []).append(row)
    overall = _table([_mean_row(name, rows, advice) for name, rows in by_method.items()])
    return Summary(tables, overall, advice, advice.test)


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
    return {words: _with_different_names(group) for words, group in groups.items()}


def rank_digits(rows: Iterable[Row]) -> int:
    """Return how many decimals show all ranks of a table alike: none, 1 for ties, 2 for means."""
    ranks = [round(row.rank, 6) for row in rows if row.rank is not None]
    return max((2 if 2 * rank % 1 else int(rank % 1 > 0) for rank in ranks), default=0)


def _with_different_names(cells: list[Cell]) -> list[Cell]:
    contents: dict[str, set[str]] = {}
    for cell in cells:
        contents.setdefault(cell.data_set, set()).add(cell.settings["data"])
    return [
        cell
        if len(contents[cell.data_set]) == 1
        else replace(cell, data_set=f"{cell.data_set} [{cell.settings['data'][:4]}]")
        for cell in cells
    ]


def _row(name: str, cells: Sequence[Cell], found: Differences) -> Row:
    """Return how a method did on one data set."""
    means = _means([cell.metrics for cell in cells])
    if len(cells) == 1:
        errors = {"error": sqrt(means["error"] * (1 - means["error"]) / len(cells[0].rows))}
    else:
        values = {metric: [cell.metrics[metric] for cell in cells] for metric in means}
        errors = {n: float(np.std(each, ddof=1) / sqrt(len(cells))) for n, each in values.items()}
    seconds = [(cell.fit_seconds, cell.predict_seconds) for cell in cells]
    return _judged(name, cells, means, errors, np.median(seconds, axis=0), found)


def _mean_row(name: str, rows: Sequence[Row], found: Differences) -> Row:
    """Return how a method did on average over several data sets."""
    seconds = [(row.fit_seconds, row.predict_seconds) for row in rows]
    means = _means([row.means for row in rows])
    return _judged(name, rows, means, {}, np.mean(seconds, axis=0), found)


def _means(metrics: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric that is nowhere missing."""
    known = [name for name in METRICS if all(name in each for each in metrics)]
    return {name: float(np.mean([each[name] for each in metrics])) for name in known}


def _judged(
    name: str,
    parts: Sequence[Cell] | Sequence[Row],
    means: Mapping[str, float],
    errors: Mapping[str, float],
    seconds: Array,
    found: Differences,
) -> Row:
    """Return a row with its rank, p-value and verdict."""
    if name == found.best:
        verdict = "best"
    elif name in found.ranks:
        verdict = "worse" if name in found.worse else ""
    else:
        verdict = "baseline" if is_baseline(name.partition(" (")[0]) else "incomplete"
    return Row(
        name,
        float(np.mean([part.n_problems for part in parts])),
        means,
        errors,
        float(seconds[0]),
        float(seconds[1]),
        found.ranks.get(name),
        None if name == found.best else found.pvalues.get(name),
        verdict,
        (found.worse_on or {}).get(name, 0),
        mean_cost([part.cost for part in parts]),
    )


def _table(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the best first, and those without a rank last."""
    return tuple(
        sorted(
            rows,
            key=lambda r: (r.rank is None, r.rank or 0.0, r.verdict != "best", r.means["error"]),
        )
    )
