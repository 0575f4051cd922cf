"""How two classifiers differ on one data set."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polychotomy.assess._checks import check_level
from polychotomy.codes._parameters import check_int

_INTERESTING = 0.005  # half a point


@dataclass(frozen=True, repr=False)
class BootstrapInterval:
    """Where the difference of two errors lies.

    Attributes
    ----------
    low, high : float
        Quantiles of the error of the first classifier minus that of the second, as fractions:
        below 0 the first is better.
    difference : float
        The difference that was observed.
    confidence_level : float
        Probability between the quantiles.
    """

    low: float
    high: float
    difference: float
    confidence_level: float

    @property
    def interesting(self) -> bool:
        """Whether it is worth a second look, by the rule of the SBC papers.

        It leans to one side by more than half a point, ||low| − |high|| > 0.005, or lies on one
        side of 0.
        """
        one_side = self.low > 0 or self.high < 0
        return one_side or abs(self.low + self.high) > _INTERESTING

    @property
    def better(self) -> str | None:
        """``"first"`` or ``"second"`` if it is interesting, else None."""
        if not self.interesting:
            return None
        return "first" if self.low + self.high < 0 else "second"

    def __repr__(self) -> str:
        said = f", {self.better} better" if self.better else ""
        return (
            f"BootstrapInterval([{100 * self.low:.2f}, {100 * self.high:.2f}] points "
            f"at {self.confidence_level:g}, observed {100 * self.difference:.2f}{said})"
        )


@dataclass(frozen=True)
class McNemarTest:
    """Whether two classifiers are equally often wrong.

    Attributes
    ----------
    statistic : float
        The smaller of the two counts, or χ².
    pvalue : float
        Probability of counts so different if they are.
    only_first_wrong, only_second_wrong : int
        Number of samples that one classifier alone gets wrong.
    """

    statistic: float
    pvalue: float
    only_first_wrong: int
    only_second_wrong: int


def bootstrap_difference(
    y: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    folds: ArrayLike | None = None,
    confidence_level: float = 0.9,
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> BootstrapInterval:
    """Return the interval of Rifkin and Klautau for the difference of two errors.

    The difference of the errors is computed on many samples drawn with replacement; the interval
    reaches from its (1 − level)/2 to its (1 + level)/2 quantile.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    first, second : array-like of shape (n_samples,)
        What the two classifiers predict for them. (If it is only known where they are right, these
        masks, and ones for `y`.)
    folds : array-like of shape (n_samples,), optional
        For predictions by cross-validation, the fold in which each sample was tested. Each
        resample is then as large as 10 % of the samples, and every draw takes each fold with
        equal probability. Without it the samples are a test set, and resamples are as large.
    confidence_level : float, default=0.9
        Probability between the quantiles.
    n_resamples : int, default=10_000
        Number of resamples.
    random_state : int, RandomState, Generator or None, default=None
        Draws them.

    Returns
    -------
    BootstrapInterval

    Notes
    -----
    A draw matters only by who is wrong: the first, the second, or both or neither. The counts of
    these three in a resample are multinomial, and are drawn as such: the cost does not depend on
    the number of samples.

    Intervals with folds are those of a test set of a tenth the size, hence wider. No correction
    is made for the number of pairs or data sets looked at.

    References
    ----------
    Rifkin and Klautau (2004), "In defense of one-vs-all classification", JMLR 5; El-Yaniv et al.,
    "On multiclass classification via a single binary classifier", section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.assess import bootstrap_difference
    >>> y = np.zeros(500)
    >>> first, second = np.arange(500) < 20, np.arange(500) < 50
    >>> bootstrap_difference(y, first, second, random_state=0)
    BootstrapInterval([-7.80, -4.40] points at 0.9, observed -6.00, first better)
    """
    level = check_level("confidence_level", confidence_level)
    n_resamples = check_int("n_resamples", n_resamples)
    outcome = _outcomes(y, first, second)
    if folds is None:
        size = len(outcome)
        shares = np.bincount(outcome + 1, minlength=3) / size
    else:
        size = max(len(outcome) // 10, 1)
        shares = _mean_over_folds(outcome, folds)
    counts = np.random.default_rng(random_state).multinomial(size, shares, size=n_resamples)
    differences = (counts[:, 2] - counts[:, 0]) / size
    tail = (1 - level) / 2
    low, high = np.quantile(differences, [tail, 1 - tail])
    return BootstrapInterval(float(low), float(high), float(outcome.mean()), level)


def mcnemar(
    y: ArrayLike, first: ArrayLike, second: ArrayLike, *, exact: bool = True
) -> McNemarTest:
    """Test by McNemar's test whether two classifiers are equally often wrong.

    Of the samples that only one of them gets wrong, half should be the first's. With b and c such
    samples, b is binomial, or by the approximation (|b − c| − 1)² / (b + c) is about χ² with one
    degree of freedom.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    first, second : array-like of shape (n_samples,)
        What the two classifiers predict for them.
    exact : bool, default=True
        Whether to take the binomial distribution rather than the approximation, which is good
        from about 25 such samples on.

    Returns
    -------
    McNemarTest
        With p-value 1 if there are no such samples.

    References
    ----------
    McNemar (1947); Dietterich (1998), "Approximate statistical tests for comparing supervised
    classification learning algorithms".

    Examples
    --------
    >>> from polychotomy.assess import mcnemar
    >>> mcnemar([0] * 10, [0] * 10, [0] * 4 + [1] * 6)
    McNemarTest(statistic=0.0, pvalue=0.03125, only_first_wrong=0, only_second_wrong=6)
    """
    from scipy.stats import binomtest, chi2

    outcome = _outcomes(y, first, second)
    b, c = int((outcome > 0).sum()), int((outcome < 0).sum())
    if b + c == 0:
        return McNemarTest(0.0, 1.0, b, c)
    if exact:
        return McNemarTest(float(min(b, c)), float(binomtest(b, b + c).pvalue), b, c)
    statistic = max(abs(b - c) - 1, 0) ** 2 / (b + c)
    return McNemarTest(statistic, float(chi2.sf(statistic, 1)), b, c)


def _outcomes(y: ArrayLike, first: ArrayLike, second: ArrayLike) -> NDArray[np.int_]:
    """Return +1 where only the first is wrong, −1 where only the second is, and 0 elsewhere."""
    labels, one, other = np.asarray(y), np.asarray(first), np.asarray(second)
    if labels.ndim != 1 or not labels.size or not labels.shape == one.shape == other.shape:
        raise ValueError(
            "y, first and second must be one-dimensional, of the same length, and not empty. "
            f"Got shapes {labels.shape}, {one.shape} and {other.shape}."
        )
    return (one != labels).astype(int) - (other != labels)


def _mean_over_folds(outcome: NDArray[np.int_], folds: ArrayLike) -> NDArray[np.float64]:
    """Return the shares of −1, 0 and +1 if each fold is drawn with equal probability."""
    given = np.asarray(folds)
    if given.shape != outcome.shape:
        raise ValueError(
            f"folds must name the fold of each of the {len(outcome)} samples. "
            f"Got shape {given.shape}."
        )
    numbers, fold = np.unique(given, return_inverse=True)
    counts = np.bincount(3 * fold + outcome + 1, minlength=3 * len(numbers)).reshape(-1, 3)
    shares: NDArray[np.float64] = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares
