"""From cells to tables, and to a recommendation in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from polychotomy.choose._choice import cheapest
from polychotomy.lab._cells import Cell
from polychotomy.lab._significance import (
    Differences,
    compare_on_one,
    compare_over_many,
    count_differences,
    mean_over_folds,
)

METRICS = ("error", "log_loss", "brier", "uncertainty_coefficient")
_ABOUT_AS_CHEAP = 1.2  # CPU times vary by as much from run to run


@dataclass(frozen=True)
class Row:
    """How one method did, on one data set or on average over several.

    Attributes
    ----------
    method : str
        The reduction; with the base, if there are several.
    n_problems : int
        Number of binary problems, the largest if it varies.
    means : mapping of str to float
        Mean of each metric over the folds (each counting by its number of test samples), or over
        the data sets; without those that are missing.
    standard_errors : mapping of str to float
        Of these means; empty over several data sets. Of a single test part only that of the error.
    fit_seconds, predict_seconds : float
        Mean CPU time of a fold.
    rank : float or None
        By its error, 1 for the best; None if folds or data sets are missing.
    pvalue : float or None
        Adjusted, of its difference from the best; None for the best and where there is no rank.
    verdict : {"best", "worse", "", "incomplete"}
        Whether it is significantly worse than the best.
    worse_on : int
        Over several data sets, on how many of them it is significantly worse than the best of all.
    """

    method: str
    n_problems: int
    means: Mapping[str, float]
    standard_errors: Mapping[str, float]
    fit_seconds: float
    predict_seconds: float
    rank: float | None
    pvalue: float | None
    verdict: str
    worse_on: int = 0

    @property
    def seconds(self) -> float:
        """Training and predicting together."""
        return self.fit_seconds + self.predict_seconds


@dataclass(frozen=True)
class Summary:
    """A comparison in a few tables and sentences.

    Attributes
    ----------
    tables : mapping of str to tuple of Row
        For each data set its methods, the best first.
    overall : tuple of Row
        The methods over all data sets, the best first; of a single data set, its table.
    recommended : str
        The method to use.
    why : str
        The recommendation in words.
    how_sure : str
        Which test was made.
    """

    tables: Mapping[str, tuple[Row, ...]]
    overall: tuple[Row, ...]
    recommended: str
    why: str
    how_sure: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)


def summarise(cells: Iterable[Cell], *, alpha: float = 0.05) -> Summary:
    """Make tables of a comparison, and recommend a method.

    Among the methods that are not significantly worse than the best, it is the cheapest by CPU time
    of training and predicting; of those within 20 % of its time, the one with the lowest error or
    rank. "Not significantly worse" is not "as good": few samples show few differences.

    * One data set: every method is compared with the one of lowest error, by McNemar's exact test
      of all predictions if every sample was tested once (``cvN``, ``split``), and by the corrected
      resampled t-test of the errors otherwise (``repeatN``); Holm's procedure accounts for the
      number of methods.
    * Several: the ranks of the mean errors, by the F of Iman and Davenport and, if it finds a
      difference, Holm's procedure against the best average rank. A few data sets say little by
      their ranks, so a method is also held to be worse that is so, by the test for one data set at
      alpha divided by their number, on some of them, and better on none.

    A method that lacks folds or data sets is shown but not ranked.

    Parameters
    ----------
    cells : iterable of Cell
        Of one comparison, see :func:`comparisons`: a single cell for each data set, method, fold.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    Summary

    Examples
    --------
    >>> from polychotomy import datasets
    >>> from polychotomy.lab import Plan, Samples, summarise
    >>> iris = Samples.of(datasets.load("iris"))
    >>> cells, _ = Plan(iris, ["one_vs_one", "one_vs_rest"], ["ridge"], protocol="cv5").run()
    >>> print(summarise(cells).recommended)
    one_vs_one
    """
    folds = _by_method(cells)
    if not folds:
        raise ValueError("There must be at least one finished cell to summarise.")
    tables = {name: _table_of_one(methods, alpha) for name, methods in folds.items()}
    if len(tables) == 1:
        (overall,) = tables.values()
        (methods,) = folds.values()
        found = compare_on_one(_complete(methods), alpha)
    else:
        overall, found = _table_of_many(folds, tables, alpha)
    recommended, why = _recommend(overall, several=len(tables) > 1)
    return Summary(tables, overall, recommended, why, found.words)


def comparisons(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Return the cells of a store apart by comparison, under a few words that tell them apart.

    Cells belong together that have protocol, tuning, seed and versions in common. Two data sets of
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


_Methods = dict[str, list[Cell]]


def _by_method(cells: Iterable[Cell]) -> dict[str, _Methods]:
    """Return the cells of each data set and method, in the order of the folds."""
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
        data_set: {name: [by[fold] for fold in sorted(by)] for name, by in methods.items()}
        for data_set, methods in folds.items()
    }


def _complete(methods: _Methods) -> _Methods:
    """Return the methods that have all folds that any has."""
    folds = {name: [cell.fold for cell in cells] for name, cells in methods.items()}
    all_folds = max(folds.values(), key=len)
    return {name: cells for name, cells in methods.items() if folds[name] == all_folds}


def _table_of_one(methods: _Methods, alpha: float) -> tuple[Row, ...]:
    found = compare_on_one(_complete(methods), alpha)
    return _sorted(_row(name, cells, found) for name, cells in methods.items())


def _row(name: str, cells: Sequence[Cell], found: Differences) -> Row:
    known = [metric for metric in METRICS if all(metric in cell.metrics for cell in cells)]
    values = {metric: [cell.metrics[metric] for cell in cells] for metric in known}
    return Row(
        name,
        max(cell.n_problems for cell in cells),
        {metric: mean_over_folds(cells, metric) for metric in known},
        _standard_errors(values, len(cells[0].rows)),
        float(np.mean([cell.fit_seconds for cell in cells])),
        float(np.mean([cell.predict_seconds for cell in cells])),
        found.ranks.get(name),
        found.pvalues.get(name),
        _verdict(name, found),
    )


def _standard_errors(values: Mapping[str, list[float]], n_test: int) -> dict[str, float]:
    n = len(values["error"])
    if n == 1:
        (error,) = values["error"]
        return {"error": sqrt(error * (1 - error) / n_test)}
    return {name: float(np.std(each, ddof=1) / sqrt(n)) for name, each in values.items()}


def _table_of_many(
    folds: Mapping[str, _Methods], tables: Mapping[str, tuple[Row, ...]], alpha: float
) -> tuple[tuple[Row, ...], Differences]:
    by_method: dict[str, list[Row]] = {}
    for table in tables.values():
        for row in table:
            by_method.setdefault(row.method, []).append(row)
    names = [
        name
        for name, rows in by_method.items()
        if len(rows) == len(tables) and all(row.rank is not None for row in rows)
    ]
    if len(names) > 1:
        errors = np.array([[row.means["error"] for row in by_method[name]] for name in names]).T
        found = compare_over_many(errors, names, alpha)
    else:
        alone = names[0] if names else next(iter(by_method))
        found = Differences(alone, dict.fromkeys(names, 1.0), {}, alpha, "")
    both = [{name: methods[name] for name in names} for methods in folds.values()]
    counts = count_differences(found.best, both, alpha) if len(names) > 1 else {}
    overall = _sorted(
        _mean_row(name, rows, found, *counts.get(name, (0, 0))) for name, rows in by_method.items()
    )
    return overall, found


def _mean_row(
    name: str, rows: Sequence[Row], found: Differences, worse_on: int, better_on: int
) -> Row:
    known = [metric for metric in METRICS if all(metric in row.means for row in rows)]
    return Row(
        name,
        max(row.n_problems for row in rows),
        {metric: float(np.mean([row.means[metric] for row in rows])) for metric in known},
        {},
        float(np.mean([row.fit_seconds for row in rows])),
        float(np.mean([row.predict_seconds for row in rows])),
        found.ranks.get(name),
        found.pvalues.get(name),
        "worse" if worse_on and not better_on else _verdict(name, found),
        worse_on,
    )


def _verdict(name: str, found: Differences) -> str:
    if name not in found.ranks:
        return "incomplete"
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


def _recommend(table: Sequence[Row], *, several: bool) -> tuple[str, str]:
    """Return the cheapest of the methods that are not significantly worse, and why, in words."""
    ranked = [row for row in table if row.rank is not None] or table[:1]
    best, candidates = ranked[0], [row for row in ranked if row.verdict != "worse"]
    chosen = candidates[cheapest((row.seconds for row in candidates), within=_ABOUT_AS_CHEAP)]
    if len(ranked) == 1:
        return best.method, f"Only {best.method} was compared in full."
    measure = "average rank" if several else "error"
    if chosen is best:
        alike, where = len(candidates) - 1, ", at least on some data sets" if several else ""
        rest = (
            f"{alike} of the others {'is' if alike == 1 else 'are'} not significantly worse, but "
            "not much cheaper."
            if alike
            else f"All others are significantly worse{where}."
        )
        return best.method, f"Use {best.method}: lowest {measure}, {_size(best, several)}. {rest}"
    return chosen.method, (
        f"Use {chosen.method}: its {measure} of {_size(chosen, several)} is not significantly "
        f"worse than the lowest, {_size(best, several)} of {best.method} (p = {chosen.pvalue:.2g}),"
        f" and it takes {chosen.seconds:.2g} s a fold instead of {best.seconds:.2g} s."
    )


def _size(row: Row, several: bool) -> str:
    return f"{row.rank:.2f}" if several else f"{row.means['error']:.2%}"
