"""Margin losses of linear learners, with first and second derivatives."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Margins = NDArray[np.floating[Any]]


class MarginLoss(NamedTuple):
    """A loss L(z) of the margin z = t f: its value, first and second derivative."""

    value: Callable[[Margins], Margins]
    slope: Callable[[Margins], Margins]
    curvature: Callable[[Margins], Margins]


def _slack(z: Margins) -> Margins:
    return np.maximum(1 - z, 0)


def _logistic(z: Margins) -> Margins:
    return np.log1p(np.exp(-np.abs(z))) + np.maximum(-z, 0)


def _logistic_curvature(z: Margins) -> Margins:
    return expit(z) * expit(-z)  # 1 − expit(z) would be 0 long before expit(−z) is


MARGIN_LOSSES = {
    "squared": MarginLoss(
        lambda z: (1 - z) ** 2, lambda z: 2 * (z - 1), lambda z: np.full_like(z, 2)
    ),
    "squared_hinge": MarginLoss(
        lambda z: _slack(z) ** 2, lambda z: -2 * _slack(z), lambda z: 2 * (z < 1).astype(z.dtype)
    ),
    "logistic": MarginLoss(_logistic, lambda z: -expit(-z), _logistic_curvature),
}
