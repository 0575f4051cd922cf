"""Calibration: from the outputs of a binary problem to the probability of its + side.

Every calibrator is fitted to outputs, the sides they belong to and weights, and is then a function
of outputs. A new one is a function and a line in ``CALIBRATIONS``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from polychotomy.arrays import Array, Folds, Indices
from polychotomy.errors import unknown_name

__all__ = [
    "CALIBRATIONS",
    "FORMS",
    "Calibrator",
    "Isotonic",
    "Sigmoid",
    "calibrated_form",
    "check_folds",
    "choose_calibration",
    "fit_calibrator",
    "fit_isotonic",
    "fit_logistic",
    "fit_sigmoid",
    "folds",
]

Calibrator = Callable[[Array], Array]

_STEPS = 100
_LARGEST_LOG_ODDS = 50.0
_SMALLEST = np.nextafter(0, 1)
_FLATTEST, _STEEPEST = 1e-6, 50.0


@dataclass(frozen=True)
class Sigmoid:
    """The calibrator q = 1 / (1 + exp(−(slope · f + intercept)))."""

    slope: float
    intercept: float = 0.0

    def __call__(self, outputs: Array) -> Array:
        """Return the probability of the + side."""
        return np.asarray(expit(self.slope * outputs + self.intercept), dtype=float)


@dataclass(frozen=True)
class Isotonic:
    """A calibrator that is a non-decreasing step function, interpolated."""

    regression: Any

    def __call__(self, outputs: Array) -> Array:
        """Return the probability of the + side."""
        return np.asarray(self.regression.predict(outputs), dtype=float)


def fit_logistic(outputs: Array, positive: NDArray[np.bool_], weight: Array) -> Sigmoid:
    """Fit q = 1 / (1 + exp(−αf)), α > 0, by maximum likelihood (Tax and Duin, equation 2).

    The side never changes. Where the outputs separate the sides, the likelihood grows with α
    without end: α is at most 50 over the root mean square of the outputs.
    """
    scale = float(np.sqrt(np.average(outputs**2, weights=weight))) or 1.0
    f = outputs / scale

    def slope_of_loss(alpha: float) -> float:
        return float((weight * f) @ (expit(alpha * f) - positive))

    if slope_of_loss(_STEEPEST) <= 0:
        alpha = _STEEPEST
    elif slope_of_loss(_FLATTEST) >= 0:
        alpha = _FLATTEST
    else:
        from scipy.optimize import brentq

        alpha = float(brentq(slope_of_loss, _FLATTEST, _STEEPEST, xtol=1e-12))
    return Sigmoid(alpha / scale)


def fit_sigmoid(outputs: Array, positive: NDArray[np.bool_], weight: Array) -> Sigmoid:
    """Fit q = 1 / (1 + exp(−(αf + β))) (Platt, with the targets and the Newton method of Lin).

    Minimises the weighted cross entropy with Platt's targets. Outputs are scaled to a root mean
    square of 1. The step is halved until the loss falls, up to rounding; stops when the gradient is
    below 1e-10 of the total weight.

    References
    ----------
    Lin, Lin and Weng (2007), "A note on Platt's probabilistic outputs for support vector
    machines".
    """
    scale = float(np.sqrt(np.average(outputs**2, weights=weight))) or 1.0
    plus, minus = float(weight[positive].sum()), float(weight[~positive].sum())
    target = np.where(positive, (plus + 1) / (plus + 2), 1 / (minus + 2))
    f, weighed = outputs / scale, weight * target
    fitted = np.array([weighed @ f, weighed.sum()])
    theta, total = np.array([0.0, np.log((plus + 1) / (minus + 1))]), plus + minus
    ridge = 1e-12 * total

    def at(parameters: Array) -> tuple[float, Array]:
        z = parameters[0] * f + parameters[1]
        small = np.exp(-np.abs(z))  # of log(1 + e^z) = max(z, 0) + log(1 + e^−|z|) and of p
        larger = 1 / (1 + small)
        p = np.where(z > 0, larger, small * larger)
        value = weight @ (np.maximum(z, 0) - np.log(larger) - target * z)
        return float(value), p

    value, p = at(theta)
    for _ in range(_STEPS):
        share = weight * p
        gradient = np.array([share @ f, share.sum()]) - fitted
        if np.abs(gradient).max() < 1e-10 * total:
            break
        share *= 1 - p
        second, first, none = (share * f) @ f + ridge, share @ f, share.sum() + ridge
        inverse = np.array([[none, -first], [-first, second]]) / (second * none - first**2)
        step = inverse @ gradient
        t = 1.0
        while (reached := at(theta - t * step))[0] > value * (1 + 1e-12) and t > 1e-10:
            t /= 2
        theta, (value, p) = theta - t * step, reached
    return Sigmoid(float(theta[0]) / scale, float(theta[1]))


def fit_isotonic(outputs: Array, positive: NDArray[np.bool_], weight: Array) -> Isotonic:
    """Fit a non-decreasing function by scikit-learn's isotonic regression."""
    from sklearn.isotonic import IsotonicRegression

    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    return Isotonic(regression.fit(outputs, positive, sample_weight=weight))


CALIBRATIONS: dict[str, Callable[[Array, NDArray[np.bool_], Array], Calibrator]] = {
    "logistic": fit_logistic,
    "sigmoid": fit_sigmoid,
    "isotonic": fit_isotonic,
}


def fit_calibrator(
    name: str, outputs: Array, positive: NDArray[np.bool_], weight: Array
) -> Calibrator | None:
    """Return the calibrator of one problem, None for "none".

    A stream may have held out no sample of its classes yet: then it is the logistic function.
    """
    if name == "none":
        return None
    return CALIBRATIONS[name](outputs, positive, weight) if weight.any() else Sigmoid(1.0)


def choose_calibration(calibration: object, said: Any, in_batches: bool = False) -> str:
    """Return the calibration to use for a learner.

    Parameters
    ----------
    calibration : str
        A name of ``CALIBRATIONS``, ``"none"`` for the learner's own probabilities, or ``"auto"``:
        these where they are trusted, and ``"sigmoid"`` otherwise.
    said : Says
        The kind of outputs of the learner.
    in_batches : bool, default=False
        Whether it learns in batches, without outputs to calibrate on: ``"auto"`` then takes its own
        probabilities, if it has any.
    """
    has_own = "probability" in said.kinds
    if calibration == "auto":
        return "none" if said.trusted or (in_batches and has_own) else "sigmoid"
    if not isinstance(calibration, str) or calibration not in {*CALIBRATIONS, "none"}:
        raise unknown_name("calibration", calibration, [*CALIBRATIONS, "none", "auto"])
    if calibration == "none" and not has_own:
        raise ValueError(
            f"calibration='none' needs an estimator with predict_proba, and {said.name} has none. "
            f"Take one of {', '.join(map(repr, CALIBRATIONS))}."
        )
    return calibration


def _centred(p: Array) -> Array:
    return 2 * p - 1


def _log_odds(p: Array) -> Array:
    """Return log p/(1−p) with ±744, the logarithm of the smallest float, for 1 and 0.

    For ½ it is the largest negative float: a binary classifier with equal probabilities predicts
    its first class.
    """
    odds = np.log(np.maximum(p, _SMALLEST)) - np.log(np.maximum(1 - p, _SMALLEST))
    return np.where(p == 0.5, -_SMALLEST, odds)


FORMS: dict[str, Callable[[Array], Array]] = {"probability": _centred, "log_odds": _log_odds}
"""The forms of a probability, by name."""


def calibrated_form(outputs: Array, kind: str) -> Array:
    """Return the input of a calibrator: margins, or bounded log-odds of probabilities."""
    if kind == "margin":
        return outputs
    return np.clip(_log_odds(outputs), -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)


def folds(cv: Any, X: Any, y: Indices, classes: NDArray[Any]) -> Iterator[tuple[Indices, Indices]]:
    """Yield training and test samples such that no class is ever missing from training.

    With an int, the folds are shuffled (always in the same way) and stratified by class. A class
    with fewer samples than folds is held out in as many folds as it has samples; the only sample
    of a class never is. A warning names such classes. Anything else that scikit-learn takes for
    `cv` is used as it is; None gives no folds.
    """
    from sklearn.model_selection import StratifiedKFold, check_cv

    if not isinstance(cv, int | np.integer):
        splits = [] if cv is None else list(check_cv(cv, y, classifier=True).split(X, y))
        if not splits and cv is not None:
            raise ValueError(
                "The 'cv' parameter must give at least one fold. Got none; cv=None calibrates on "
                "the training samples."
            )
        for split in splits:
            parts = (np.asarray(part) for part in split)
            training, test = (np.flatnonzero(p) if p.dtype == bool else p for p in parts)
            yield training, test
        return
    if isinstance(cv, bool) or cv < 2:
        raise ValueError(f"The 'cv' parameter must be an int of at least 2. Got {cv!r} instead.")
    counts = np.bincount(y)
    fold = np.full(len(y), -1)
    frequent = np.flatnonzero(counts[y] >= cv)
    if frequent.size:
        # Shuffled, always in the same way: where samples come in order, say by speaker, folds of
        # neighbours make the problems look harder than they are.
        splits = StratifiedKFold(cv, shuffle=True, random_state=0).split(frequent, y[frequent])
        for number, (_, test) in enumerate(splits):
            fold[frequent[test]] = number
    rare = np.flatnonzero(counts < cv)
    order = np.argsort(y, kind="stable")
    within = np.empty(len(y), dtype=int)  # the number of each sample within its class
    within[order] = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    several = (counts[y] > 1) & (counts[y] < cv)
    fold[several] = within[several]
    if rare.size:
        names = ", ".join(str(classes[c]) for c in rare[:10]) + (", …" if rare.size > 10 else "")
        warn(
            f"Calibration by {cv} folds has classes with fewer samples than folds: {names}. Their "
            "probabilities are unreliable; use a smaller 'cv'.",
            UserWarning,
            stacklevel=2,
        )
    for number in range(cv):
        if (fold == number).any():
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def check_folds(splits: Folds, y: Indices, classes: NDArray[Any]) -> None:
    """Raise ValueError unless every class is in the training part of each fold."""
    for number, (training, _) in enumerate(splits):
        missing = np.setdiff1d(np.arange(len(classes)), y[training])
        if missing.size:
            raise ValueError(
                "Every class must have a sample in the training part of each fold of 'cv'. "
                f"Fold {number} has none of class {classes[missing[0]]!s}; give fewer folds, or "
                "folds that are stratified."
            )
