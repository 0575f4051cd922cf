"""Validation of tables of results, method names and significance levels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from polychotomy.arrays import Array


def check_table(table: Any, *, least: int = 1) -> Array:
    """Return a table of data sets × methods as an array, or raise ValueError."""
    values = np.asarray(table, dtype=float)
    if values.ndim != 2 or len(values) < least or values.shape[1] < 2:
        raise ValueError(
            "The table must have a row for each data set and a column for each method, at least "
            f"{least} by 2. Got shape {values.shape}."
        )
    gaps = int((~np.isfinite(values)).sum())
    if gaps:
        raise ValueError(
            "Ranking needs a finite value for every method on every data set. "
            f"Got {gaps} missing or infinite values; leave out these data sets or methods."
        )
    return values


def method_names(table: Any, names: Sequence[str] | None, n_methods: int) -> tuple[str, ...]:
    """Return the given names, or the column names of a data frame, or the column indices."""
    given: Any = getattr(table, "columns", range(n_methods)) if names is None else names
    known = tuple(str(name) for name in given)
    if len(known) != n_methods or len(set(known)) != n_methods:
        raise ValueError(
            f"The methods need {n_methods} different names. Got {len(known)}, "
            f"{len(set(known))} of them different."
        )
    return known


def check_level(parameter: str, value: Any) -> float:
    """Return `value` as a float strictly between 0 and 1, or raise ValueError."""
    if not isinstance(value, float | np.floating) or not 0 < value < 1:
        raise ValueError(
            f"The {parameter!r} parameter must be a number between 0 and 1. Got {value!r} instead."
        )
    return float(value)
