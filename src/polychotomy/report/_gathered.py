"""Finished cells by data set and method, with their summary."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from polychotomy.evaluate import Cell, Row, Summary, summarise


@dataclass(frozen=True)
class Measure:
    """What is measured, and how it is written."""

    label: str
    scale: float
    digits: int
    higher_is_better: bool = False
    score: bool = True


MEASURES: Mapping[str, Measure] = {
    "error": Measure("Error (%)", 100, 2),
    "log_loss": Measure("Log loss", 1, 3),
    "brier": Measure("Brier score", 1, 3),
    "uncertainty_coefficient": Measure("Uncertainty coefficient", 1, 3, higher_is_better=True),
    "fit_seconds": Measure("Training (s)", 1, 3, score=False),
    "predict_seconds": Measure("Prediction (s)", 1, 3, score=False),
    "n_problems": Measure("Problems", 1, 0, score=False),
}


@dataclass(frozen=True, eq=False)
class Gathered:
    """What each method did on each data set.

    Attributes
    ----------
    methods : tuple of str
        In the order in which they were met; named as in the summary.
    reductions : tuple of str
        The reduction of each method.
    data_sets : tuple of str
    cells : mapping
        From a data set and a method to its cells, in the order of the folds.
    summary : Summary
        Tables, verdicts and the recommendation.
    """

    methods: tuple[str, ...]
    reductions: tuple[str, ...]
    data_sets: tuple[str, ...]
    cells: Mapping[tuple[str, str], Sequence[Cell]]
    summary: Summary

    @property
    def several(self) -> bool:
        """Whether there is more than one data set."""
        return len(self.data_sets) > 1

    @property
    def ranked(self) -> tuple[Row, ...]:
        """The methods that take part in the comparison, the best first."""
        found = tuple(row for row in self.summary.overall if row.rank is not None)
        return found or self.summary.overall[:1]

    @property
    def measures(self) -> list[str]:
        """The measures that occur."""
        tables = [self.summary.overall, *self.summary.tables.values()]
        rows = [row for table in tables for row in table]
        return [name for name in MEASURES if any(measured(row, name) is not None for row in rows)]


def gather(cells: Iterable[Cell], summary: Summary | None = None) -> Gathered:
    """Put cells together with their summary, which is made if there is none.

    Raises
    ------
    ValueError
        There is no cell, a fold of a method occurs twice (the cells are of several comparisons),
        or the cells of a data set differ in their classes.
    """
    given = sorted(cells, key=lambda cell: cell.fold)
    if not given:
        raise ValueError(
            "A report needs at least one finished cell. Got none: run a comparison first."
        )
    several_bases = len({cell.base for cell in given}) > 1
    reductions: dict[str, str] = {}
    together: dict[tuple[str, str], list[Cell]] = {}
    classes: dict[str, tuple[str, ...]] = {}
    for cell in given:
        method = f"{cell.reduction} ({cell.base})" if several_bases else cell.reduction
        reductions[method] = cell.reduction
        together.setdefault((cell.data_set, method), []).append(cell)
        if classes.setdefault(cell.data_set, tuple(cell.classes)) != tuple(cell.classes):
            raise ValueError(
                f"All cells of the data set {cell.data_set!r} must have the same classes: these "
                "are different data of one name. Make a report for each."
            )
    names = tuple(reductions.values())
    summary = summarise(given) if summary is None else summary
    return Gathered(tuple(reductions), names, tuple(classes), together, summary)


def measured(what: Cell | Row, measure: str) -> float | None:
    """Return a measure of a cell or a row, in the unit in which it is shown; None if missing."""
    if measure in ("fit_seconds", "predict_seconds", "n_problems"):
        return float(getattr(what, measure))
    values = what.metrics if isinstance(what, Cell) else what.means
    return MEASURES[measure].scale * values[measure] if measure in values else None


def remarks(results: Gathered) -> list[str]:
    """Return what is missing, in sentences."""
    missing = [row.method for row in results.summary.overall if row.verdict == "incomplete"]
    if not missing:
        return []
    what = "folds or data sets" if results.several else "folds"
    return [f"Shown, but left out of the comparison because they lack {what}: {in_words(missing)}."]


def in_words(names: Sequence[str], most: int = 5) -> str:
    """Return names as "a, b and c", or "a, b and 7 more".

    Examples
    --------
    >>> from polychotomy.report._gathered import in_words
    >>> in_words(["bch", "ddag", "chain"]), in_words(list("abcdefg"), most=2)
    ('bch, ddag and chain', 'a, b and 5 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
