"""Measuring: bounds and errors."""

from polychotomy.assess._binary_errors import BinaryErrors, binary_errors
from polychotomy.assess._bound import TrainingErrorBound, training_error_bound

__all__ = ["BinaryErrors", "TrainingErrorBound", "binary_errors", "training_error_bound"]
