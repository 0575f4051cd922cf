"""Finished cells, put together by data set and method."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from polychotomy.lab import Cell

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """What is measured, and how it is written."""

    label: str
    scale: float
    digits: int
    higher_is_better: bool = False


MEASURES: Mapping[str, Measure] = {
    "error": Measure("Error (%)", 100, 2),
    "log_loss": Measure("Log loss", 1, 3),
    "brier": Measure("Brier score", 1, 3),
    "uncertainty_coefficient": Measure("Uncertainty coefficient", 1, 3, higher_is_better=True),
    "fit_seconds": Measure("Training (s)", 1, 3),
    "predict_seconds": Measure("Prediction (s)", 1, 3),
    "n_problems": Measure("Problems", 1, 0),
}


@dataclass(frozen=True, eq=False)
class Results:
    """What each method did on each data set.

    Attributes
    ----------
    methods : tuple of str
        The reductions; with their base learner if there are several.
    reductions : tuple of str
        The reduction of each method.
    data_sets : tuple of str
        In the order in which they were met, as the methods are.
    cells : dict
        From a data set and a method to its cells, by seed and fold.
    means : dict
        From the name of a measure to its mean over the cells, of shape
        (n_data_sets, n_methods); NaN where there is none. Only measures that occur.
    """

    methods: tuple[str, ...]
    reductions: tuple[str, ...]
    data_sets: tuple[str, ...]
    cells: Mapping[tuple[str, str], Mapping[tuple[int, int], "Cell"]]
    means: Mapping[str, Array]

    def of(self, data_set: str, method: str) -> "Sequence[Cell]":
        """Return the cells of a method on a data set, in order of seed and fold."""
        found = self.cells.get((data_set, method), {})
        return [found[place] for place in sorted(found)]

    @property
    def seconds(self) -> Array:
        """Mean time to train and predict, of shape (n_data_sets, n_methods)."""
        return self.means["fit_seconds"] + self.means["predict_seconds"]

    def compared(self) -> tuple[list[int], list[int]]:
        """Return the data sets and methods between which no result is missing.

        These are the data sets on which all methods have one. As long as there is none, the method
        that was tried on the fewest data sets is left out.
        """
        there = ~np.isnan(self.means["error"])
        methods = list(range(len(self.methods)))
        while not there[:, methods].all(axis=1).any():
            methods.remove(min(methods, key=lambda m: int(there[:, m].sum())))
        return np.flatnonzero(there[:, methods].all(axis=1)).tolist(), methods


def gather(cells: "Iterable[Cell]") -> Results:
    """Put cells together.

    Raises
    ------
    ValueError
        There is no cell, a fold of a method occurs twice (the cells were computed with different
        settings), or the cells of a data set differ in their classes.
    """
    given = list(cells)
    if not given:
        raise ValueError(
            "A report needs at least one finished cell. Got none: run a comparison first."
        )
    several_bases = len({cell.base for cell in given}) > 1
    reductions: dict[str, str] = {}
    together: dict[tuple[str, str], dict[tuple[int, int], Cell]] = {}
    classes: dict[str, tuple[str, ...]] = {}
    for cell in given:
        method = f"{cell.reduction} with {cell.base}" if several_bases else cell.reduction
        reductions[method] = cell.reduction
        found = together.setdefault((cell.data_set, method), {})
        if (cell.seed, cell.fold) in found:
            raise _twice(found[cell.seed, cell.fold], cell)
        found[cell.seed, cell.fold] = cell
        if classes.setdefault(cell.data_set, tuple(cell.classes)) != tuple(cell.classes):
            raise ValueError(
                f"All cells of the data set {cell.data_set!r} must have the same classes: these "
                "are different data of one name. Make a report for each."
            )
    methods, data_sets = tuple(reductions), tuple(classes)
    means = {name: _means(name, methods, data_sets, together) for name in MEASURES}
    there = {name: table for name, table in means.items() if not np.isnan(table).all()}
    return Results(methods, tuple(reductions.values()), data_sets, together, there)


def remarks(results: Results) -> list[str]:
    """Return what is missing, in sentences."""
    said = []
    data_sets, methods = results.compared()
    if len(methods) < len(results.methods):
        others = [name for m, name in enumerate(results.methods) if m not in methods]
        said.append(f"Left out of the comparison, for want of results: {in_words(others)}.")
    if len(data_sets) < len(results.data_sets):
        others = [name for d, name in enumerate(results.data_sets) if d not in data_sets]
        said.append(
            f"Left out of the comparison, for not all methods have results on them: "
            f"{in_words(others)}."
        )
    for d in data_sets:
        counts = [len(results.of(results.data_sets[d], results.methods[m])) for m in methods]
        usual = Counter(counts).most_common(1)[0][0]
        odd = [results.methods[m] for m, n in zip(methods, counts, strict=True) if n != usual]
        if odd:
            said.append(
                f"On {results.data_sets[d]}, {in_words(odd)} had another number of folds than the "
                "other methods: the run is not complete."
            )
    return said


def in_words(names: Sequence[str], most: int = 5) -> str:
    """Return names as "a, b and c", or "a, b and 7 more".

    Examples
    --------
    >>> from polychotomy.report._results import in_words
    >>> in_words(["bch", "ddag", "chain"]), in_words(list("abcdefg"), most=2)
    ('bch, ddag and chain', 'a, b and 5 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def value_of(cell: "Cell", measure: str) -> float:
    """Return what was measured; NaN if it was not."""
    own = ("fit_seconds", "predict_seconds", "n_problems")
    return float(
        getattr(cell, measure) if measure in own else cell.metrics.get(measure, float("nan"))
    )


def _means(
    measure: str,
    methods: Sequence[str],
    data_sets: Sequence[str],
    cells: "Mapping[tuple[str, str], Mapping[tuple[int, int], Cell]]",
) -> Array:
    table = np.full((len(data_sets), len(methods)), np.nan)
    for d, data_set in enumerate(data_sets):
        for m, method in enumerate(methods):
            values = [
                value_of(cell, measure) for cell in cells.get((data_set, method), {}).values()
            ]
            if values:
                table[d, m] = np.mean(values)
    return table


def _twice(first: "Cell", second: "Cell") -> ValueError:
    names = sorted({*first.settings, *second.settings})
    differing = [n for n in names if first.settings.get(n) != second.settings.get(n)]
    if first.versions != second.versions:
        differing.append("versions")
    why = f" They differ in: {', '.join(differing)}." if differing else ""
    return ValueError(
        f"There must be one cell for fold {first.fold} and seed {first.seed} of "
        f"{first.reduction!r} with {first.base!r} on {first.data_set!r}. Got two.{why} "
        "Make a report for each kind of cells."
    )
