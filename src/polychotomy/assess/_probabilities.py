"""Quality of class probabilities: scores, calibration, and the gain of rejecting samples."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polychotomy.arrays import Array, Indices
from polychotomy.assess._class_indices import class_indices


def brier_score(
    y: ArrayLike, probabilities: ArrayLike, *, form: str = "usual", classes: Any = None
) -> float:
    """Return the Brier score; smaller is better.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class indices from 0, or labels if `classes` is given or every class occurs.
    probabilities : array-like of shape (n_samples, n_classes)
    form : {"usual", "mills", "winner"}, default="usual"
        ``"usual"`` is the mean over samples of Σ_c (p_c − δ_cy)², between 0 and 2. ``"mills"`` is
        the root of the mean over samples *and classes*, as in Mills' tables. ``"winner"`` is that
        root for the winning class only: the root of the mean of (p_max − [right])².
    classes : array-like of shape (n_classes,), optional
        The labels in the order of the columns, such as ``classifier.classes_``.

    References
    ----------
    Brier (1950); Mills (2023), "Solving for multi-class: a survey and synthesis", section 7.

    Examples
    --------
    >>> from polychotomy.assess import brier_score
    >>> round(brier_score([0, 1], [[0.8, 0.2], [0.6, 0.4]]), 3)
    0.4
    >>> round(brier_score([0, 1], [[0.8, 0.2], [0.6, 0.4]], form="mills"), 3)
    0.447
    """
    rows, p = _check(y, probabilities, classes)
    if form == "winner":
        right = p.argmax(axis=1) == rows
        return float(np.sqrt(np.mean((p.max(axis=1) - right) ** 2)))
    squares = (p - np.eye(p.shape[1])[rows]) ** 2
    if form == "usual":
        return float(squares.sum(axis=1).mean())
    if form == "mills":
        return float(np.sqrt(squares.mean()))
    raise ValueError(
        f"The 'form' parameter must be one of 'usual', 'mills', 'winner'. Got {form!r} instead."
    )


def log_loss(y: ArrayLike, probabilities: ArrayLike, *, classes: Any = None) -> float:
    """Return the log loss, the mean of −log p_y, as in scikit-learn; smaller is better.

    A probability of 0 is replaced by the machine precision.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class indices from 0, or labels if `classes` is given or every class occurs.
    probabilities : array-like of shape (n_samples, n_classes)
    classes : array-like of shape (n_classes,), optional
        The labels in the order of the columns, such as ``classifier.classes_``.

    Examples
    --------
    >>> from polychotomy.assess import log_loss
    >>> round(log_loss([0, 1], [[0.5, 0.5], [0.75, 0.25]]), 4)
    1.0397
    """
    from sklearn.metrics import log_loss as sklearn_log_loss

    rows, p = _check(y, probabilities, classes)
    return float(sklearn_log_loss(rows, p, labels=np.arange(p.shape[1])))


def uncertainty_coefficient(y: ArrayLike, predicted: ArrayLike) -> float:
    """Return the fraction of the labels' entropy that the predictions explain, from 0 to 1.

    (H(y) − H(y | predicted)) / H(y), from the confusion matrix. Always predicting a frequent class
    scores 0, and confusing two classes consistently costs nothing. It is 1 for a single class.

    Parameters
    ----------
    y, predicted : array-like of shape (n_samples,)
        The true labels and the predicted ones.

    References
    ----------
    Shannon and Weaver (1963); Mills (2023), section 7.

    Examples
    --------
    >>> from polychotomy.assess import uncertainty_coefficient
    >>> round(uncertainty_coefficient(["a", "a", "b", "b"], ["a", "a", "b", "b"]), 6)
    1.0
    >>> round(uncertainty_coefficient(["a", "a", "b", "b"], ["a", "b", "a", "b"]), 6)
    0.0
    """
    from scipy.special import entr
    from sklearn.metrics import confusion_matrix

    labels = np.union1d(y, predicted)
    if len(labels) == 1:
        return 1.0
    joint = confusion_matrix(y, predicted, labels=labels).astype(float)
    joint /= joint.sum()
    entropy = float(entr(joint.sum(axis=1)).sum())
    if entropy == 0:
        return 1.0
    left = float(entr(joint).sum() - entr(joint.sum(axis=0)).sum())
    return (entropy - left) / entropy


@dataclass(frozen=True)
class Reliability:
    """A reliability curve: predicted probabilities against observed frequencies, in bins.

    Attributes
    ----------
    predicted : ndarray of shape (n_bins,)
        Mean probability in each non-empty bin.
    observed : ndarray of shape (n_bins,)
        Fraction of the bin's samples that belong to the class.
    counts : ndarray of shape (n_bins,)
        Number of samples in the bin.
    """

    predicted: Array
    observed: Array
    counts: NDArray[np.int_]

    @property
    def error(self) -> float:
        """Mean absolute difference between observed and predicted, weighted by the counts."""
        gaps = np.abs(self.observed - self.predicted)
        return float(np.average(gaps, weights=self.counts))


def reliability(
    y: ArrayLike, probabilities: ArrayLike, *, n_bins: int = 10, classes: Any = None
) -> list[Reliability]:
    """Return the reliability of each class's probabilities, in bins of equal width.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class indices from 0, or labels if `classes` is given or every class occurs.
    probabilities : array-like of shape (n_samples, n_classes)
    n_bins : int, default=10
        Number of bins of equal width.
    classes : array-like of shape (n_classes,), optional
        The labels in the order of the columns, such as ``classifier.classes_``.

    Examples
    --------
    >>> from polychotomy.assess import reliability
    >>> first, second = reliability([0, 0, 1], [[0.75, 0.25], [0.75, 0.25], [0.25, 0.75]])
    >>> first.predicted, first.observed, first.counts
    (array([0.25, 0.75]), array([0., 1.]), array([1, 2]))
    """
    rows, p = _check(y, probabilities, classes)
    return [_bin(p[:, c], rows == c, n_bins) for c in range(p.shape[1])]


def expected_calibration_error(
    y: ArrayLike, probabilities: ArrayLike, *, n_bins: int = 10, classes: Any = None
) -> float:
    """Return the expected calibration error of the winning class (Guo et al. 2017).

    This is the mean gap between the winning probability and its accuracy in bins of equal width,
    weighted by the number of samples.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class indices from 0, or labels if `classes` is given or every class occurs.
    probabilities : array-like of shape (n_samples, n_classes)
    n_bins : int, default=10
        Number of bins of equal width.
    classes : array-like of shape (n_classes,), optional
        The labels in the order of the columns, such as ``classifier.classes_``.

    Examples
    --------
    >>> from polychotomy.assess import expected_calibration_error
    >>> round(expected_calibration_error([0, 0, 1, 1], [[0.75, 0.25]] * 4), 2)
    0.25
    """
    rows, p = _check(y, probabilities, classes)
    return _bin(p.max(axis=1), p.argmax(axis=1) == rows, n_bins).error


@dataclass(frozen=True)
class RejectCurve:
    """A risk-coverage curve: the error that remains when unsure samples are rejected.

    Attributes
    ----------
    coverage : ndarray of shape (n_points,)
        Fraction of accepted samples, from one sample to all.
    error : ndarray of shape (n_points,)
        Error rate of the accepted samples (the risk).
    threshold : ndarray of shape (n_points,)
        Smallest accepted confidence.
    """

    coverage: Array
    error: Array
    threshold: Array

    @property
    def area(self) -> float:
        """Mean error over all coverages: the area under the risk-coverage curve."""
        steps = np.diff(np.concatenate([[0.0], self.coverage]))
        return float(steps @ self.error)


def reject_curve(y: ArrayLike, probabilities: ArrayLike, *, classes: Any = None) -> RejectCurve:
    """Return the risk-coverage curve of the most probable class.

    With 1 − coverage it is the error-reject curve. Samples with the same largest probability are
    accepted together.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class indices from 0, or labels if `classes` is given or every class occurs.
    probabilities : array-like of shape (n_samples, n_classes)
    classes : array-like of shape (n_classes,), optional
        The labels in the order of the columns, such as ``classifier.classes_``.

    Examples
    --------
    >>> from polychotomy.assess import reject_curve
    >>> curve = reject_curve([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> curve.error, curve.threshold
    (array([0.        , 0.        , 0.33333333]), array([0.9, 0.8, 0.6]))
    """
    rows, p = _check(y, probabilities, classes)
    sure = p.max(axis=1)
    order = np.argsort(-sure, kind="stable")
    hits, sure = (p.argmax(axis=1) == rows)[order], sure[order]
    last = np.append(np.flatnonzero(np.diff(sure)), len(sure) - 1)
    accepted = last + 1
    return RejectCurve(accepted / len(sure), 1 - np.cumsum(hits)[last] / accepted, sure[last])


def _bin(probability: Array, came_true: NDArray[np.bool_], n_bins: int) -> Reliability:
    number = np.clip((probability * n_bins).astype(int), 0, n_bins - 1)
    counts = np.bincount(number, minlength=n_bins)
    used = counts > 0
    predicted = np.bincount(number, weights=probability, minlength=n_bins)[used] / counts[used]
    observed = np.bincount(number, weights=came_true, minlength=n_bins)[used] / counts[used]
    return Reliability(predicted, observed, counts[used])


def _check(y: ArrayLike, probabilities: ArrayLike, classes: Any) -> tuple[Indices, Array]:
    p = np.asarray(probabilities, dtype=float)
    if p.ndim != 2 or not np.allclose(p.sum(axis=1), 1, atol=1e-6) or p.min() < 0:
        raise ValueError(
            "probabilities must have shape (n_samples, n_classes), no negative entry, and rows "
            f"that sum to 1. Got shape {p.shape}."
        )
    rows = class_indices(y, p.shape[1], classes)
    if len(rows) != len(p):
        raise ValueError(f"probabilities has {len(p)} samples and y has {len(rows)}.")
    return rows, p
