"""From the outputs of a binary problem to the probability of its + side.

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

from polychotomy.errors import unknown_name

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Calibrator = Callable[[Array], Array]

_STEPS = 100
_LARGEST_LOG_ODDS = 50.0


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
    """Fit q = 1 / (1 + exp(−αf)), α > 0: the side never changes (Tax and Duin, equation 2).

    The likelihood is that of Platt's softened targets, so that α stays finite where the outputs
    separate the sides.
    """
    return _fit_sigmoid(outputs, positive, weight, with_intercept=False)


def fit_sigmoid(outputs: Array, positive: NDArray[np.bool_], weight: Array) -> Sigmoid:
    """Fit q = 1 / (1 + exp(−(αf + β))) (Platt, with the targets and the Newton method of Lin).

    References
    ----------
    Lin, Lin and Weng (2007), "A note on Platt's probabilistic outputs for support vector
    machines".
    """
    return _fit_sigmoid(outputs, positive, weight, with_intercept=True)


def fit_isotonic(outputs: Array, positive: NDArray[np.bool_], weight: Array) -> Isotonic:
    """Fit a non-decreasing function by scikit-learn's isotonic regression."""
    from sklearn.isotonic import IsotonicRegression

    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    return Isotonic(regression.fit(outputs, positive, sample_weight=weight))


def fit_temperature(outputs: Array, positive: NDArray[np.bool_], weight: Array) -> Sigmoid:
    """Fit q = 1 / (1 + exp(−f/T)), f being log-odds: one parameter, as in :func:`fit_logistic`."""
    return fit_logistic(outputs, positive, weight)


CALIBRATIONS: dict[str, Callable[[Array, NDArray[np.bool_], Array], Calibrator]] = {
    "logistic": fit_logistic,
    "sigmoid": fit_sigmoid,
    "isotonic": fit_isotonic,
    "temperature": fit_temperature,
}


def own_probability(outputs: Array) -> Array:
    """Return the probability p that an output 2p − 1 stands for."""
    return (outputs + 1) / 2


def choose_calibration(calibration: object, estimator: Any, loss: str | None) -> str:
    """Return the calibration to use; ``"auto"`` goes by the estimator and the loss it minimises.

    Probabilities are taken as they are where the estimator minimises the logistic loss or has
    probabilities only; everything else gets ``"sigmoid"``.
    """
    has_probabilities = hasattr(estimator, "predict_proba")
    if calibration == "auto":
        own = has_probabilities and (
            loss == "logistic" or not hasattr(estimator, "decision_function")
        )
        return "none" if own else "sigmoid"
    if not isinstance(calibration, str) or calibration not in {*CALIBRATIONS, "none"}:
        raise unknown_name("calibration", calibration, [*CALIBRATIONS, "none", "auto"])
    if calibration == "none" and not has_probabilities:
        raise ValueError(
            f"calibration='none' needs an estimator with predict_proba, which {estimator!r} does "
            f"not have. Take one of {', '.join(map(repr, CALIBRATIONS))}."
        )
    return calibration


def output_kind(calibration: str, estimator: Any) -> str:
    """Return the kind of outputs that a calibration reads."""
    if calibration == "none":
        return "probability"
    if calibration == "temperature" and hasattr(estimator, "predict_proba"):
        return "log_odds"
    return "margin" if hasattr(estimator, "decision_function") else "log_odds"


def limit(outputs: Array) -> Array:
    """Keep log-odds of probabilities 0 and 1 from dominating a fit."""
    return np.clip(outputs, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)


def folds(cv: Any, X: Any, y: Indices, classes: NDArray[Any]) -> Iterator[tuple[Indices, Indices]]:
    """Yield training and test samples such that no class is ever missing from training.

    With an int, the folds are shuffled (always alike) and stratified by class. A class with fewer
    samples than folds is held out in as many folds as it has samples; the only sample of a class
    never is. Both are told by a warning. Anything else that scikit-learn takes for `cv` is used as
    it is.
    """
    from sklearn.model_selection import StratifiedKFold, check_cv

    if not isinstance(cv, int | np.integer):
        yield from check_cv(cv, y, classifier=True).split(X, y)
        return
    if isinstance(cv, bool) or cv < 2:
        raise ValueError(f"The 'cv' parameter must be an int of at least 2. Got {cv!r} instead.")
    counts = np.bincount(y, minlength=len(classes))
    fold = np.full(len(y), -1)
    frequent = np.flatnonzero(counts[y] >= cv)
    if frequent.size:
        # Shuffled, always alike: where samples come in order, say by speaker, folds of neighbours
        # make the problems look harder than they are.
        splits = StratifiedKFold(cv, shuffle=True, random_state=0).split(frequent, y[frequent])
        for number, (_, test) in enumerate(splits):
            fold[frequent[test]] = number
    rare = np.flatnonzero(counts < cv)
    for c in rare:
        if counts[c] > 1:
            fold[y == c] = np.arange(counts[c])
    if rare.size:
        names = ", ".join(str(classes[c]) for c in rare[:10]) + (", …" if rare.size > 10 else "")
        warn(
            f"Calibration by {cv} folds has classes with fewer samples than folds: {names}. Their "
            "probabilities rest on little; give a smaller 'cv'.",
            UserWarning,
            stacklevel=2,
        )
    for number in range(cv):
        if (fold == number).any():
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def _fit_sigmoid(
    outputs: Array, positive: NDArray[np.bool_], weight: Array, with_intercept: bool
) -> Sigmoid:
    """Minimise the weighted cross entropy with Platt's targets by Newton's method.

    Outputs are scaled to a root mean square of 1. The step is halved until the loss falls; stops
    when the gradient is below 1e-10 of the total weight.
    """
    scale = float(np.sqrt(np.average(outputs**2, weights=weight))) or 1.0
    f = outputs / scale
    plus, minus = float(weight[positive].sum()), float(weight[~positive].sum())
    target = np.where(positive, (plus + 1) / (plus + 2), 1 / (minus + 2))
    design = np.column_stack([f, np.ones_like(f)]) if with_intercept else f[:, np.newaxis]
    theta = np.zeros(design.shape[1])
    if with_intercept:
        theta[1] = np.log((plus + 1) / (minus + 1))

    def loss(parameters: Array) -> float:
        z = design @ parameters
        return float(weight @ (np.logaddexp(0, z) - target * z))

    value, total = loss(theta), plus + minus
    for _ in range(_STEPS):
        p = expit(design @ theta)
        gradient = design.T @ (weight * (p - target))
        if np.abs(gradient).max() < 1e-10 * total:
            break
        hessian = (design * (weight * p * (1 - p))[:, np.newaxis]).T @ design
        hessian += 1e-12 * total * np.eye(len(theta))
        step = np.linalg.solve(hessian, gradient)
        t = 1.0
        while loss(theta - t * step) > value and t > 1e-10:
            t /= 2
        theta = theta - t * step
        value = loss(theta)
    slope = float(theta[0]) / scale
    if not with_intercept:
        slope = max(slope, 1e-6 / scale)
    return Sigmoid(slope, float(theta[1]) if with_intercept else 0.0)
