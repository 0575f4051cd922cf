"""Post-hoc tests: which methods differ over several data sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Array
from polychotomy.assess._ranks import row_ranks
from polychotomy.assess._table_checks import check_level, check_table, method_names
from polychotomy.errors import unknown_name


@dataclass(frozen=True, repr=False)
class HolmTest:
    """The result of Holm's procedure: which methods differ from a control.

    Attributes
    ----------
    names : tuple of str
        The methods.
    ranks : ndarray of shape (n_methods,)
        Their average ranks.
    control : int
        Index of the control, with which the others are compared.
    pvalues : ndarray of shape (n_methods,)
        Two-sided p-values of the single comparisons; 1 for the control.
    adjusted : ndarray of shape (n_methods,)
        Holm's adjusted p-values: the smallest `alpha` at which the method differs from the
        control; 1 for the control.
    alpha : float
        Largest probability of finding any difference where there is none.
    """

    names: tuple[str, ...]
    ranks: Array
    control: int
    pvalues: Array
    adjusted: Array
    alpha: float

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Mask of the methods that differ from the control, of shape (n_methods,)."""
        different: NDArray[np.bool_] = self.adjusted <= self.alpha
        return different

    def __repr__(self) -> str:
        width = max(map(len, self.names))
        lines = [f"Holm's procedure against {self.names[self.control]}, alpha={self.alpha:g}"]
        for i in np.argsort(self.ranks, kind="stable"):
            said = "control" if i == self.control else f"adjusted p {self.adjusted[i]:.4f}"
            mark = "  differs" if self.differs[i] else ""
            lines.append(f"  {self.names[i]:<{width}}  rank {self.ranks[i]:.2f}  {said}{mark}")
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class NemenyiTest:
    """The result of Nemenyi's test: which methods differ from each other.

    Attributes
    ----------
    names : tuple of str
        The methods.
    ranks : ndarray of shape (n_methods,)
        Their average ranks.
    critical_difference : float
        Methods whose average ranks differ by at least this much differ significantly.
    pvalues : ndarray of shape (n_methods, n_methods)
        p-value of each pair, adjusted for all pairs.
    alpha : float
        Largest probability of finding any difference where there is none.
    """

    names: tuple[str, ...]
    ranks: Array
    critical_difference: float
    pvalues: Array
    alpha: float

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Mask of the pairs that differ, of shape (n_methods, n_methods)."""
        gaps = np.abs(self.ranks[:, None] - self.ranks)
        different: NDArray[np.bool_] = gaps >= self.critical_difference
        return different

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The maximal sets of two or more methods that do not differ, the best first."""
        order = np.argsort(self.ranks, kind="stable")
        alike = ~self.differs[np.ix_(order, order)]
        # In order of rank, the methods that follow the i-th and do not differ from it.
        ends = [i + int(alike[i, i:].sum()) for i in range(len(order))]
        return tuple(
            tuple(order[i:end].tolist())
            for i, end in enumerate(ends)
            if end - i > 1 and (i == 0 or end > ends[i - 1])
        )

    def __repr__(self) -> str:
        width = max(map(len, self.names))
        lines = [
            f"Nemenyi's test, alpha={self.alpha:g}, "
            f"critical difference {self.critical_difference:.4g}"
        ]
        for i in np.argsort(self.ranks, kind="stable"):
            others = [self.names[j] for j in np.flatnonzero(self.differs[i])]
            said = f"  differs from {', '.join(others)}" if others else ""
            lines.append(f"  {self.names[i]:<{width}}  rank {self.ranks[i]:.2f}{said}")
        return "\n".join(lines)


def holm(
    table: Any,
    *,
    control: str | int | None = None,
    alpha: float = 0.05,
    higher_is_better: bool = False,
    names: Sequence[str] | None = None,
) -> HolmTest:
    """Compare all methods with a control by their average ranks, with Holm's procedure.

    z_j = (R_j − R_control) / √(k (k+1) / (6n)) is approximately normal if method j and the
    control perform equally. The k − 1 p-values are taken from the smallest: as long as the i-th
    is at most alpha / (k − i), its method differs.

    Parameters
    ----------
    table : array-like or data frame of shape (n_datasets, n_methods)
        As in :func:`average_ranks`, with at least two data sets.
    control : str or int, optional
        Name or index of a method; by default the first one with the best average rank.
    alpha : float, default=0.05
        Largest probability of finding any difference where there is none.
    higher_is_better : bool, default=False
        Whether larger values are better, as for scores.
    names : sequence of str, optional
        The methods' names; by default a data frame's columns, or the indices.

    Returns
    -------
    HolmTest

    Notes
    -----
    `alpha` holds for a control chosen in advance. With the best method as control, chosen from
    the same data, it is slightly optimistic.

    References
    ----------
    Holm (1979); Demšar (2006), section 3.2.2.

    Examples
    --------
    >>> from polychotomy.assess import holm
    >>> table = [[1, 2, 9], [1, 3, 8], [2, 1, 9], [1, 2, 7], [1, 2, 8]]
    >>> holm(table, names=["pairs", "rest", "single"])
    Holm's procedure against pairs, alpha=0.05
      pairs   rank 1.20  control
      rest    rank 1.80  adjusted p 0.3428
      single  rank 3.00  adjusted p 0.0089  differs
    """
    from scipy.stats import norm

    alpha = check_level("alpha", alpha)
    values, ranks, known = _ranked(table, higher_is_better, names)
    chosen = int(ranks.argmin()) if control is None else _find(control, known)
    z = (ranks - ranks[chosen]) / _standard_error(values)
    pvalues: Array = 2 * norm.sf(np.abs(z))
    adjusted = np.insert(adjust_by_holm(np.delete(pvalues, chosen)), chosen, 1.0)
    return HolmTest(known, ranks, chosen, pvalues, adjusted, alpha)


def adjust_by_holm(pvalues: Array) -> Array:
    """Return p-values adjusted by Holm's method for multiple comparisons.

    The adjusted p-value is the smallest level at which the comparison's hypothesis is rejected.

    Parameters
    ----------
    pvalues : ndarray of shape (n_comparisons,)

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.assess import adjust_by_holm
    >>> adjust_by_holm(np.array([0.04, 0.01, 0.03]))
    array([0.06, 0.03, 0.06])
    """
    order = np.argsort(pvalues, kind="stable")
    steps = pvalues[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def nemenyi(
    table: Any,
    *,
    alpha: float = 0.05,
    higher_is_better: bool = False,
    names: Sequence[str] | None = None,
) -> NemenyiTest:
    """Compare all methods with each other by their average ranks, with Nemenyi's test.

    Two methods differ if their average ranks differ by at least CD = q √(k (k+1) / (6n)), where
    q √2 is the quantile of the studentised range of k normal variables.

    Parameters
    ----------
    table : array-like or data frame of shape (n_datasets, n_methods)
        As in :func:`average_ranks`, with at least two data sets.
    alpha : float, default=0.05
        Largest probability of finding any difference where there is none.
    higher_is_better : bool, default=False
        Whether larger values are better, as for scores.
    names : sequence of str, optional
        The methods' names; by default a data frame's columns, or the indices.

    Returns
    -------
    NemenyiTest

    References
    ----------
    Nemenyi (1963); Demšar (2006), section 3.2.2.

    Examples
    --------
    >>> from polychotomy.assess import nemenyi
    >>> table = [[1, 2, 9], [1, 3, 8], [2, 1, 9], [1, 2, 7], [1, 2, 8]]
    >>> nemenyi(table, names=["pairs", "rest", "single"])
    Nemenyi's test, alpha=0.05, critical difference 1.482
      pairs   rank 1.20  differs from single
      rest    rank 1.80
      single  rank 3.00  differs from pairs
    """
    from scipy.stats import studentized_range

    alpha = check_level("alpha", alpha)
    values, ranks, known = _ranked(table, higher_is_better, names)
    k, error = len(known), _standard_error(values) / sqrt(2)
    row, column = np.triu_indices(k, 1)
    ranges = np.abs(ranks[row] - ranks[column]) / error
    pvalues = np.ones((k, k))
    pvalues[row, column] = np.clip(studentized_range.sf(ranges, k, np.inf), 0, 1)
    pvalues[column, row] = pvalues[row, column]
    critical = float(studentized_range.ppf(1 - alpha, k, np.inf)) * error
    return NemenyiTest(known, ranks, critical, pvalues, alpha)


def _ranked(
    table: Any, higher_is_better: bool, names: Sequence[str] | None
) -> tuple[Array, Array, tuple[str, ...]]:
    values = check_table(table, least=2)
    ranks = row_ranks(values, higher_is_better).mean(axis=0)
    return values, ranks, method_names(table, names, values.shape[1])


def _standard_error(values: Array) -> float:
    """Return the standard error of a difference of average ranks if all methods are equal."""
    n, k = values.shape
    return sqrt(k * (k + 1) / (6 * n))


def _find(control: str | int, names: tuple[str, ...]) -> int:
    if isinstance(control, str):
        if control not in names:
            raise unknown_name("control", control, names)
        return names.index(control)
    if isinstance(control, bool) or not 0 <= control < len(names):
        raise ValueError(
            "The 'control' parameter must be a name or an index from 0 to "
            f"{len(names) - 1}. Got {control!r} instead."
        )
    return int(control)
