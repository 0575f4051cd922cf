"""Measuring: bounds, errors, and the quality of probabilities."""

from polychotomy.assess._binary_errors import BinaryErrors, binary_errors
from polychotomy.assess._bound import TrainingErrorBound, training_error_bound
from polychotomy.assess._probabilities import (
    RejectCurve,
    Reliability,
    brier_score,
    expected_calibration_error,
    log_loss,
    reject_curve,
    reliability,
    uncertainty_coefficient,
)

__all__ = [
    "BinaryErrors",
    "RejectCurve",
    "Reliability",
    "TrainingErrorBound",
    "binary_errors",
    "brier_score",
    "expected_calibration_error",
    "log_loss",
    "reject_curve",
    "reliability",
    "training_error_bound",
    "uncertainty_coefficient",
]
