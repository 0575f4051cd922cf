"""The forms of outputs that decoding rules and calibrators read."""

import numpy as np

from polychotomy.arrays import Array
from polychotomy.calibration import limit

_SMALLEST = np.nextafter(0, 1)


def _centred(p: Array) -> Array:
    return 2 * p - 1


def _log_odds(p: Array) -> Array:
    """Return log p/(1−p) with ±744, the logarithm of the smallest float, for 1 and 0.

    For ½ it is the largest negative float: a binary classifier with equal probabilities predicts
    its first class.
    """
    odds = np.log(np.maximum(p, _SMALLEST)) - np.log(np.maximum(1 - p, _SMALLEST))
    return np.where(p == 0.5, -_SMALLEST, odds)


FORMS = {"probability": _centred, "log_odds": _log_odds}
"""The forms of a probability, by name."""


def calibrated_form(outputs: Array, kind: str) -> Array:
    """Return what a calibrator reads: margins, or the log-odds of probabilities within bounds."""
    return outputs if kind == "margin" else limit(_log_odds(outputs))
