"""Margin losses L(z) of the binary margin z, for decoding and for the training-error bound.

The training-error bound of Allwein et al. (Theorem 1) needs (L(z) + L(−z)) / 2 ≥ L(0) > 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np

from polychotomy.arrays import Array


@dataclass(frozen=True)
class Loss:
    """A margin loss.

    Parameters
    ----------
    function : callable
        L, elementwise on an array of margins.
    at_zero : float
        L(0): the loss of a class in a problem in which it takes no part.
    largest : float
        Margins up to this size can be summed over any number of problems without overflow.
    """

    function: Callable[[Array], Array]
    at_zero: float
    largest: float


def _hinge(z: Array) -> Array:
    return np.maximum(1 - z, 0)


def _squared(z: Array) -> Array:
    return (1 - z) ** 2


def _exponential(z: Array) -> Array:
    return np.exp(-z)


def _logistic(z: Array) -> Array:
    return np.logaddexp(0, -z)


def _l1(z: Array) -> Array:
    return (1 - np.tanh(z)) / 2  # = 1 / (1 + e^{2z}) without overflow


def _hamming(z: Array) -> Array:
    return (1 - np.sign(z)) / 2


LOSSES = {
    "hamming": Loss(_hamming, 0.5, np.inf),
    "hinge": Loss(_hinge, 1.0, 1e299),
    "squared": Loss(_squared, 1.0, 1e10),
    "exponential": Loss(_exponential, 1.0, 690.0),
    "logistic": Loss(_logistic, log(2), 1e299),
    "l1": Loss(_l1, 0.5, np.inf),
}
"""The losses by name, for loss-based decoding; the training-error bound holds for all of them."""
