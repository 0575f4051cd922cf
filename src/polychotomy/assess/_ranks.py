"""Rank tests of whether methods differ over several data sets."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polychotomy.arrays import Array
from polychotomy.assess._table_checks import check_table

# Means of the same errors over folds differ by rounding only, and count as ties.
_TIE = 1e-12


@dataclass(frozen=True, repr=False)
class RankTest:
    """The result of a test of whether all methods perform equally.

    Attributes
    ----------
    statistic : float
        χ² or F.
    pvalue : float
        Probability of such a large statistic if they do.
    degrees_of_freedom : tuple of int
        One number for χ², two for F.
    """

    statistic: float
    pvalue: float
    degrees_of_freedom: tuple[int, ...]

    def __repr__(self) -> str:
        return (
            f"RankTest(statistic={self.statistic:.4g}, pvalue={self.pvalue:.4g}, "
            f"degrees_of_freedom={self.degrees_of_freedom})"
        )


def average_ranks(table: Any, *, higher_is_better: bool = False) -> Array:
    """Return the mean rank of each method over the data sets; 1 is the best.

    In each row the best value gets rank 1, the next 2, and so on; equal values share the mean of
    their ranks. Values within a relative difference of 10⁻¹² are equal, so that rounding in a
    mean over folds does not break ties.

    Parameters
    ----------
    table : array-like or data frame of shape (n_datasets, n_methods)
        A value for every method on every data set, such as its error.
    higher_is_better : bool, default=False
        Whether larger values are better, as for scores.

    Returns
    -------
    ranks : ndarray of shape (n_methods,)

    References
    ----------
    Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
    section 3.2.2; El-Yaniv et al., "On multiclass classification via a single binary classifier",
    footnote 4, whose example this is.

    Examples
    --------
    >>> from polychotomy.assess import average_ranks
    >>> average_ranks([[32.38, 32.38, 36.67, 32.38, 49.52, 30.95, 30.95]])
    array([4. , 4. , 6. , 4. , 7. , 1.5, 1.5])
    """
    return row_ranks(check_table(table), higher_is_better).mean(axis=0)


def friedman(table: Any, *, higher_is_better: bool = False, correct_ties: bool = True) -> RankTest:
    """Test whether all methods perform equally, by Friedman's χ².

    With n data sets, k methods, and r_ij the rank of method j on data set i and R_j its mean::

        χ² = (k − 1) n² Σ_j (R_j − (k+1)/2)² / V,    V = Σ_ij (r_ij − (k+1)/2)²

    Parameters
    ----------
    table, higher_is_better
        As in :func:`average_ranks`, with at least two data sets.
    correct_ties : bool, default=True
        Ties make V smaller. If False, V = n k (k² − 1)/12 as without ties: Demšar's formula,
        which the SBC papers use. It is conservative.

    Returns
    -------
    RankTest
        χ² with k − 1 degrees of freedom. The approximation is good from about ten data sets and
        five methods on. If all values in every row are equal, the p-value is 1.

    References
    ----------
    Friedman (1937); Demšar (2006), section 3.2.2.

    Examples
    --------
    >>> from polychotomy.assess import friedman
    >>> friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    RankTest(statistic=4.5, pvalue=0.1054, degrees_of_freedom=(2,))
    """
    from scipy.stats import chi2

    statistic, _, k = _chi_squared(table, higher_is_better, correct_ties)
    return RankTest(statistic, float(chi2.sf(statistic, k - 1)), (k - 1,))


def iman_davenport(
    table: Any, *, higher_is_better: bool = False, correct_ties: bool = True
) -> RankTest:
    """Test whether all methods perform equally, by Iman and Davenport's F.

    From Friedman's χ², which is conservative::

        F = (n − 1) χ² / (n (k − 1) − χ²)

    Parameters
    ----------
    table, higher_is_better, correct_ties
        As in :func:`friedman`. With `correct_ties` this is the F statistic of an analysis of
        variance of the ranks.

    Returns
    -------
    RankTest
        F with k − 1 and (k − 1)(n − 1) degrees of freedom. F is infinite and the p-value 0 if all
        data sets give the same ranks.

    References
    ----------
    Iman and Davenport (1980); Demšar (2006), section 3.2.2.

    Examples
    --------
    >>> from polychotomy.assess import iman_davenport
    >>> iman_davenport([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    RankTest(statistic=3.857, pvalue=0.08374, degrees_of_freedom=(2, 6))
    """
    from scipy.stats import f

    chi_squared, n, k = _chi_squared(table, higher_is_better, correct_ties)
    left = n * (k - 1) - chi_squared
    # Rounding can leave a little more or less than zero for a perfect agreement.
    statistic = (n - 1) * chi_squared / left if left > 1e-9 else np.inf
    degrees = (k - 1, (k - 1) * (n - 1))
    return RankTest(float(statistic), float(f.sf(statistic, *degrees)), degrees)


def _chi_squared(table: Any, higher_is_better: bool, correct_ties: bool) -> tuple[float, int, int]:
    """Return Friedman's χ² and the numbers of data sets and methods."""
    centred = row_ranks(check_table(table, least=2), higher_is_better)
    n, k = centred.shape
    centred -= (k + 1) / 2
    spread = float((centred**2).sum()) if correct_ties else n * k * (k * k - 1) / 12
    between = float((centred.sum(axis=0) ** 2).sum())
    return (k - 1) * between / spread if between else 0.0, n, k


def row_ranks(values: Array, higher_is_better: bool) -> Array:
    """Return the ranks within each row, 1 for the best; ties share their mean rank."""
    from scipy.stats import rankdata

    values = -values if higher_is_better else values
    order = np.argsort(values, axis=1)
    increasing = np.take_along_axis(values, order, axis=1)
    steps = np.diff(increasing, axis=1) > _TIE * np.abs(increasing[:, 1:])
    group = np.zeros(values.shape, dtype=np.intp)
    np.put_along_axis(group, order[:, 1:], np.cumsum(steps, axis=1), axis=1)
    ranks: Array = rankdata(group, axis=1)
    return ranks
