"""Agreement compared with shuffled figures, and the order of the methods."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from polychotomy.lab import published
from polychotomy.lab.experiments._figures import Figure, matches

_DERIVED = (
    "total_error_percent",  # of error and rejects
    "average_rank",  # of errors
    "difference_low_percent",  # of two errors, which another table has
    "difference_high_percent",
)
_SHUFFLES = 2000


@dataclass(frozen=True)
class Agreement:
    """How many figures agree, and how many would by chance.

    Attributes
    ----------
    n_agreeing, n_judged : int
        Of the figures that are not computed from others of the same paper.
    shuffled : float
        How many would agree on average if the published figures of each data set and quantity
        were shuffled among the methods: what is owed to the data set alone.
    pvalue : float
        How often shuffling gives at least as many as agree.
    correlation : float
        Spearman's rank correlation of ours and theirs over the methods, the mean over data sets and
        quantities; NaN where there are fewer than three methods.
    rank_correlation : float
        Spearman's, of the methods' average ranks over the data sets, the mean over quantities.
    """

    n_agreeing: int
    n_judged: int
    shuffled: float
    pvalue: float
    correlation: float
    rank_correlation: float


def is_derived(figure: Figure) -> bool:
    """Return whether a figure is computed from others that the paper prints."""
    return figure.quantity in _DERIVED


def measure_agreement(figures: Iterable[Figure]) -> Agreement:
    """Compare the agreement of figures with that of shuffled ones.

    Figures that are computed from others are left out, and so is what was run in part. Shuffling
    moves a published value with its spread; whether it agrees is decided as for the figure itself.
    The mean over all shuffles is exact, the p-value is of 2000 of them and the real order.

    Parameters
    ----------
    figures : iterable of Figure
        Of one experiment or paper.

    Examples
    --------
    >>> from polychotomy.lab.experiments import Figure, measure_agreement
    >>> nan = float("nan")
    >>> figures = [
    ...     Figure("sbc", "2", "car", name, "error_percent", theirs, 0.5, ours, nan, nan, nan,
    ...            10, 10, True)
    ...     for name, theirs, ours in [("OVA", 1.1, 1.0), ("ECOC", 3.0, 3.2), ("SBC-BCH", 9.0, 8.8)]
    ... ]
    >>> found = measure_agreement(figures)
    >>> found.n_agreeing, found.n_judged, round(found.shuffled, 2), round(found.correlation, 2)
    (3, 3, 1.0, 1.0)
    """
    groups = _groups(figures)
    tables = [_agreement_table(group) for group in groups]
    n_agreeing = sum(int(np.trace(table)) for table in tables)
    return Agreement(
        n_agreeing,
        sum(len(group) for group in groups),
        float(sum(table.mean(axis=0).sum() for table in tables)),
        _share_of_shuffles(tables, n_agreeing),
        _mean_correlation(groups),
        _rank_correlation(groups),
    )


def _groups(figures: Iterable[Figure]) -> list[list[Figure]]:
    """Return the judged figures of each data set and quantity, over all tables."""
    found: dict[tuple[str, str], list[Figure]] = {}
    for figure in figures:
        if figure.agrees is not None and figure.complete and not is_derived(figure):
            found.setdefault((figure.data_set, figure.quantity), []).append(figure)
    return list(found.values())


def _agreement_table(group: Sequence[Figure]) -> NDArray[np.bool_]:
    """Return whether our figure i agrees with the published one j."""
    printed = [_decimals(figure) for figure in group]
    table = np.array(
        [
            [
                bool(matches(ours, theirs.theirs, theirs.their_spread, decimals))
                for theirs, decimals in zip(group, printed, strict=True)
            ]
            for ours in group
        ]
    )
    np.fill_diagonal(table, [bool(figure.agrees) for figure in group])
    return table


def _decimals(figure: Figure) -> int:
    name = f"{figure.paper}-{figure.table}"
    place = (figure.data_set, figure.method, figure.quantity)
    cells = published.table(name).cells if name in published.names() else ()
    found = (c.decimals for c in cells if (c.data_set, c.method, c.quantity) == place)
    return next(found, 2)


def _share_of_shuffles(tables: Sequence[NDArray[np.bool_]], n_agreeing: int) -> float:
    rng = np.random.default_rng(0)
    reached = 1
    for _ in range(_SHUFFLES):
        count = sum(int(t[np.arange(len(t)), rng.permutation(len(t))].sum()) for t in tables)
        reached += count >= n_agreeing
    return reached / (_SHUFFLES + 1)


def _mean_correlation(groups: Sequence[Sequence[Figure]]) -> float:
    each = [_spearman([f.ours for f in group], [f.theirs for f in group]) for group in groups]
    finite = [value for value in each if isfinite(value)]
    return float(np.mean(finite)) if finite else nan


def _rank_correlation(groups: Sequence[Sequence[Figure]]) -> float:
    """Return the correlation of average ranks over data sets, the mean over quantities."""
    by_quantity: dict[str, list[Sequence[Figure]]] = {}
    for group in groups:
        by_quantity.setdefault(group[0].quantity, []).append(group)
    each = [_correlation_of_ranks(some) for some in by_quantity.values()]
    finite = [value for value in each if isfinite(value)]
    return float(np.mean(finite)) if finite else nan


def _correlation_of_ranks(groups: Sequence[Sequence[Figure]]) -> float:
    from scipy.stats import rankdata

    ranks: dict[str, list[tuple[float, float]]] = {}
    for group in groups:
        ours, theirs = (rankdata([getattr(f, w) for f in group]) for w in ("ours", "theirs"))
        for figure, *both in zip(group, ours / len(group), theirs / len(group), strict=True):
            ranks.setdefault(figure.method, []).append((both[0], both[1]))
    means = np.array([np.mean(each, axis=0) for each in ranks.values()]).reshape(-1, 2).round(9)
    return _spearman(means[:, 0], means[:, 1])


def _spearman(
    ours: Sequence[float] | NDArray[np.float64], theirs: Sequence[float] | NDArray[np.float64]
) -> float:
    from scipy.stats import spearmanr

    if len(ours) < 3 or np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return nan
    return float(spearmanr(ours, theirs).statistic)
