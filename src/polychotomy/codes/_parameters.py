"""Validation of numbers that are parameters."""

from numbers import Real
from typing import Any

import numpy as np

from polychotomy.errors import shown


def check_int(parameter: str, value: Any, *, least: int = 1) -> int:
    """Return `value` as an int of at least `least`, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(
            f"The {parameter!r} parameter must be an int of at least {least}. "
            f"Got {shown(value)} instead."
        )
    return int(value)


def check_positive(parameter: str, value: Any) -> float:
    """Return `value` as a positive and finite float, or raise ValueError."""
    if not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(
            f"The {parameter!r} parameter must be a positive number. Got {shown(value)}."
        )
    return float(value)
