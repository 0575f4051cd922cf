"""Comparison of two classifiers on one data set: bootstrap, McNemar, corrected t-test."""

from dataclasses import dataclass
from math import inf, sqrt
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polychotomy.arrays import Array
from polychotomy.assess._table_checks import check_level
from polychotomy.codes import check_int
from polychotomy.errors import unknown_name

_INTERESTING = 0.005  # half a percentage point
_ROUNDING = 1e-12
_ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True, repr=False)
class BootstrapInterval:
    """A bootstrap interval for the difference of two error rates.

    Attributes
    ----------
    low, high : float
        Quantiles of the error of the first classifier minus that of the second, as fractions;
        negative values favour the first.
    difference : float
        The observed difference.
    confidence_level : float
        Probability between the quantiles.
    """

    low: float
    high: float
    difference: float
    confidence_level: float

    @property
    def interesting(self) -> bool:
        """Whether the difference is worth a second look, by the rule of the SBC papers.

        The interval excludes 0, or is asymmetric by more than half a percentage point:
        ||low| − |high|| > 0.005.
        """
        one_side = self.low > 0 or self.high < 0
        return one_side or abs(self.low + self.high) > _INTERESTING

    @property
    def better(self) -> str | None:
        """The better classifier, ``"first"`` or ``"second"``; None if not interesting."""
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
    """The result of McNemar's test of equal error rates.

    Attributes
    ----------
    statistic : float
        The smaller of the two counts, or χ².
    pvalue : float
        Probability of such different counts if the error rates are equal.
    only_first_wrong, only_second_wrong : int
        Number of samples that only one of the classifiers misclassifies.
    """

    statistic: float
    pvalue: float
    only_first_wrong: int
    only_second_wrong: int


@dataclass(frozen=True)
class ResampledTTest:
    """The result of the corrected resampled t-test of equal scores.

    Attributes
    ----------
    statistic : float
        t; infinite if all differences are equal and not 0.
    pvalue : float
        Probability of such an extreme t if the scores are equal on average.
    degrees_of_freedom : int
        Number of folds minus one.
    """

    statistic: float
    pvalue: float
    degrees_of_freedom: int


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
    """Return Rifkin and Klautau's bootstrap interval for the difference of two error rates.

    The difference is computed on many resamples drawn with replacement. The interval reaches
    from its (1 − level)/2 quantile to its (1 + level)/2 quantile.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    first, second : array-like of shape (n_samples,)
        Predictions of the two classifiers. If only their correctness is known, pass these masks
        and an array of ones for `y`.
    folds : array-like of shape (n_samples,), optional
        For predictions by cross-validation, the fold in which each sample was tested. Each
        resample then has 10 % of the samples, and every draw picks each fold with equal
        probability. Without `folds` the samples are a test set, and resamples have its size.
    confidence_level : float, default=0.9
        Probability between the quantiles.
    n_resamples : int, default=10_000
        Number of resamples.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the resamples.

    Returns
    -------
    BootstrapInterval

    Notes
    -----
    A sample matters only by who is wrong: only the first, only the second, or both or neither.
    The counts of these three cases in a resample are multinomial and drawn directly, so the cost
    does not depend on the number of samples.

    Intervals with folds are those of a test set of a tenth the size, hence wider. They are not
    corrected for the number of pairs or data sets compared.

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
    """Test whether two classifiers have equal error rates, by McNemar's test.

    Let b and c count the samples that only the first and only the second classifier gets wrong.
    If the error rates are equal, b is binomial with probability ½ and b + c trials;
    (|b − c| − 1)² / (b + c) is approximately χ² with one degree of freedom.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    first, second : array-like of shape (n_samples,)
        Predictions of the two classifiers.
    exact : bool, default=True
        Whether to use the binomial distribution rather than the approximation, which is good
        from b + c ≈ 25 on.

    Returns
    -------
    McNemarTest
        The p-value is 1 if b + c = 0.

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


def corrected_resampled_t(
    first: ArrayLike,
    second: ArrayLike,
    test_ratio: float,
    *,
    alternative: str = "two-sided",
) -> ResampledTTest:
    """Test whether two methods have equal scores over folds, by the corrected resampled t-test.

    With the differences d of the scores on J folds,

        t = mean(d) / √((1/J + n_test/n_train) var(d))

    approximately follows Student's distribution with J − 1 degrees of freedom. The plain paired
    test uses 1/J alone. It assumes independent folds, although they share training samples, and
    therefore finds differences where there are none far too often.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Scores or errors of two methods on the same folds.
    test_ratio : float
        n_test/n_train, test samples over training samples of a fold; 0 is the plain paired test.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        The alternative hypothesis: the scores differ, the first is greater, or the first is less.

    Returns
    -------
    ResampledTTest
        If all differences are equal, or there is one fold, the variance is zero. The p-value is
        then 0 if the difference agrees with the alternative, else 1.

    Raises
    ------
    ValueError
        If a score is missing or infinite, or the lengths differ.

    References
    ----------
    Nadeau and Bengio (2003), "Inference for the generalization error", Machine Learning 52,
    section 3.

    Examples
    --------
    >>> from polychotomy.assess import corrected_resampled_t
    >>> first, second = [0.9, 0.8, 0.9, 0.8, 0.9], [0.8, 0.8, 0.8, 0.8, 0.8]
    >>> round(corrected_resampled_t(first, second, 1 / 4, alternative="greater").pvalue, 3)
    0.089
    """
    from scipy.stats import t

    if alternative not in _ALTERNATIVES:
        raise unknown_name("alternative", alternative, _ALTERNATIVES)
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    _check_scores(one, other, test_ratio)
    d, n_folds = one - other, len(one)
    mean = float(d.mean())
    spread = float(d.std(ddof=1)) if n_folds > 1 else 0.0
    rounding = _ROUNDING * float(np.abs([one, other]).max())
    if spread <= rounding:
        mean = 0.0 if abs(mean) <= rounding else mean
        found = {"two-sided": mean != 0, "greater": mean > 0, "less": mean < 0}[alternative]
        return ResampledTTest(
            float(np.copysign(inf, mean)) if mean else 0.0, 1.0 - found, n_folds - 1
        )
    statistic = mean / (spread * sqrt(1 / n_folds + test_ratio))
    tail = {"two-sided": abs(statistic), "greater": statistic, "less": -statistic}[alternative]
    sides = 2 if alternative == "two-sided" else 1
    return ResampledTTest(statistic, sides * float(t.sf(tail, n_folds - 1)), n_folds - 1)


def _check_scores(first: NDArray[Any], second: NDArray[Any], test_ratio: Any) -> None:
    if first.ndim != 1 or not first.size or first.shape != second.shape:
        raise ValueError(
            "first and second must be one-dimensional, of the same length, and not empty. "
            f"Got shapes {first.shape} and {second.shape}."
        )
    gaps = int((~np.isfinite([first, second])).sum())
    if gaps:
        raise ValueError(
            f"first and second must have a finite score for each fold. Got {gaps} that are not; "
            "leave these folds out."
        )
    if (
        isinstance(test_ratio, bool)
        or not isinstance(test_ratio, Real)
        or not float(test_ratio) >= 0
    ):
        raise ValueError(
            "The 'test_ratio' parameter must be the number of test samples over that of training "
            f"samples. Got {test_ratio!r} instead."
        )


def _outcomes(y: ArrayLike, first: ArrayLike, second: ArrayLike) -> NDArray[np.int_]:
    """Return +1 where only the first is wrong, −1 where only the second is wrong, else 0."""
    labels, one, other = np.asarray(y), np.asarray(first), np.asarray(second)
    if labels.ndim != 1 or not labels.size or not labels.shape == one.shape == other.shape:
        raise ValueError(
            "y, first and second must be one-dimensional, of the same length, and not empty. "
            f"Got shapes {labels.shape}, {one.shape} and {other.shape}."
        )
    return (one != labels).astype(int) - (other != labels)


def _mean_over_folds(outcome: NDArray[np.int_], folds: ArrayLike) -> Array:
    """Return the probabilities of −1, 0 and +1 if each fold is equally likely."""
    given = np.asarray(folds)
    if given.shape != outcome.shape:
        raise ValueError(
            f"folds must name the fold of each of the {len(outcome)} samples. "
            f"Got shape {given.shape}."
        )
    numbers, fold = np.unique(given, return_inverse=True)
    counts = np.bincount(3 * fold + outcome + 1, minlength=3 * len(numbers)).reshape(-1, 3)
    shares: Array = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares
