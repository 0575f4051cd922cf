"""Validation of integer parameters."""

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
