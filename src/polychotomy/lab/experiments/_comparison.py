"""Figures table by table: how many agree, and the papers' statistics of a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from polychotomy.assess import HolmTest, RankTest, holm, iman_davenport
from polychotomy.lab import published
from polychotomy.lab.experiments._figures import Figure

_LEVEL = 0.1
_LABELS = {
    "average_rank": "Average rank",
    "binary_error_percent": "Error of the binary problems (%)",
    "brier": "Brier score",
    "brier_winning": "Brier score of the winning class",
    "difference_high_percent": "Difference, to (points)",
    "difference_low_percent": "Difference, from (points)",
    "error_percent": "Error (%)",
    "fit_seconds": "Training (s)",
    "largest_relative_error_increase_percent": "Largest increase of the error (%)",
    "n_data_sets_improved": "Data sets improved",
    "predict_seconds": "Prediction (s)",
    "reject_percent": "Rejected (%)",
    "relative_error_increase_percent": "Increase of the error (%)",
    "total_error_percent": "Error, rejects drawn (%)",
    "uncertainty_coefficient": "Uncertainty coefficient",
}


def quantity_label(quantity: str) -> str:
    """Return what tables call a quantity.

    Examples
    --------
    >>> from polychotomy.lab.experiments import quantity_label
    >>> quantity_label("error_percent"), quantity_label("n_leaves")
    ('Error (%)', 'N leaves')
    """
    return _LABELS.get(quantity) or quantity.replace("_", " ").capitalize()


def write_value(value: float, quantity: str, *, sign: bool = False) -> str:
    """Return a value as tables show it, "–" for none.

    Examples
    --------
    >>> from polychotomy.lab.experiments import write_value
    >>> write_value(2.345, "error_percent"), write_value(-0.5, "brier", sign=True)
    ('2.35', '−0.500')
    >>> write_value(1234.5, "fit_seconds"), write_value(float("nan"), "brier")
    ('1230', '–')
    """
    if not isfinite(value):
        return "–"
    if quantity.endswith("_seconds"):
        text = f"{float(f'{value:.3g}'):+g}" if sign else f"{float(f'{value:.3g}'):g}"
    else:
        digits = 0 if quantity.startswith("n_") else 2 if _is_coarse(quantity) else 3
        text = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return text.replace("-", "−")


def _is_coarse(quantity: str) -> bool:
    return quantity.endswith("_percent") or quantity == "average_rank"


@dataclass(frozen=True)
class Comparison:
    """A published table with our figures.

    Attributes
    ----------
    name : str
        Of :func:`polychotomy.lab.published.names`, or else the experiment's.
    title, reference : str
        What it shows, and the paper.
    figures : tuple of Figure
    """

    name: str
    title: str
    reference: str
    figures: tuple[Figure, ...]

    @property
    def judged(self) -> tuple[Figure, ...]:
        """The figures that are judged."""
        return tuple(figure for figure in self.figures if figure.agrees is not None)

    @property
    def n_agreeing(self) -> int:
        """How many agree."""
        return sum(bool(figure.agrees) for figure in self.judged)

    @property
    def words(self) -> str:
        """How many figures agree, and how many are not judged."""
        n, more = len(self.judged), len(self.figures) - len(self.judged)
        why = "times, parts of the folds, or nothing published"
        if not n:
            return f"None of {more} figures can be judged: {why}."
        said = f"{self.n_agreeing} of {n} figures agree"
        if not all(figure.complete for figure in self.judged):
            said += " as far as part of the folds can say"
        others = f"{more} more are" if more > 1 else "1 more is"
        return f"{said}; {others} not judged: {why}." if more else f"{said}."

    @property
    def rank_words(self) -> list[str]:
        """The results of :func:`rank_statistics` for our figures and the published ones, if any."""
        found = {
            whose: rank_statistics(self.figures, theirs=whose == "theirs")
            for whose in ("ours", "theirs")
        }
        return [f"By {whose}: {test.words}" for whose, test in found.items() if test is not None]

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities that occur."""
        return tuple(dict.fromkeys(figure.quantity for figure in self.figures))


def compare_tables(figures: Iterable[Figure]) -> list[Comparison]:
    """Return figures table by table, in the order in which they come."""
    found: dict[str, list[Figure]] = {}
    for figure in figures:
        found.setdefault(f"{figure.paper}-{figure.table}", []).append(figure)
    return [_comparison(name, each) for name, each in found.items()]


def _comparison(name: str, figures: Sequence[Figure]) -> Comparison:
    if name not in published.names():
        return Comparison(name, "What the paper does not print", "", tuple(figures))
    table = published.table(name)
    return Comparison(name, table.title, table.reference, tuple(figures))


@dataclass(frozen=True)
class RankStatistics:
    """Whether methods differ over the data sets of a table, and which.

    Attributes
    ----------
    differ : RankTest
        Of Iman and Davenport.
    against_best : HolmTest or None
        Each method against the one with the best average rank, if any differ.
    """

    differ: RankTest
    against_best: HolmTest | None

    @property
    def worse(self) -> tuple[str, ...]:
        """The methods that are worse than the best."""
        test = self.against_best
        if test is None:
            return ()
        return tuple(n for n, differs in zip(test.names, test.differs, strict=True) if differs)

    @property
    def words(self) -> str:
        """What was found, in a sentence or two."""
        f = f"F = {self.differ.statistic:.3g}, p = {self.differ.pvalue:.2g}"
        if self.against_best is None:
            return f"The methods do not differ at {1 - _LEVEL:.0%} ({f})."
        best = self.against_best.names[self.against_best.control]
        worse = "; ".join(self.worse) or "none"
        return (
            f"The methods differ at {1 - _LEVEL:.0%} ({f}); worse than {best}, the best: {worse}."
        )


def rank_statistics(figures: Iterable[Figure], *, theirs: bool = False) -> RankStatistics | None:
    """Test whether methods differ over data sets, as the papers on a single binary classifier do.

    The F of Iman and Davenport, not corrected for ties, and Holm's procedure against the best, both
    at 90 %, of errors with two decimals.

    Parameters
    ----------
    figures : iterable of Figure
        Of one table that has average ranks.
    theirs : bool, default=False
        Test the published errors instead of ours.

    Returns
    -------
    RankStatistics or None
        None if the table has no average ranks, or not all of it was run.
    """
    given = list(figures)
    methods = [figure.method for figure in given if figure.quantity == "average_rank"]
    errors = {
        (figure.data_set, figure.method): round(figure.theirs if theirs else figure.ours, 2)
        for figure in given
        if figure.quantity == "error_percent" and figure.method in methods
    }
    data_sets = list(dict.fromkeys(data_set for data_set, _ in errors))
    if len(data_sets) < 2 or len(errors) < len(data_sets) * len(methods):
        return None
    table = [[errors[data_set, method] for method in methods] for data_set in data_sets]
    test = iman_davenport(table, correct_ties=False)
    differ = test.pvalue <= _LEVEL
    return RankStatistics(test, holm(table, alpha=_LEVEL, names=methods) if differ else None)
