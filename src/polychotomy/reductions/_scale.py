"""A parameter that is searched by factors."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Scale:
    """A positive parameter that a search multiplies and divides.

    Parameters
    ----------
    start : float, default=1.0
        Where to begin.
    simpler : {"smaller", "larger"}, default="smaller"
        Which of two values with equal scores to prefer.
    value : callable, optional
        Turns a position on the scale into the parameter's value; by default the position itself.

    Examples
    --------
    >>> from polychotomy.reductions import Scale
    >>> Scale(2.0, "larger").simplicity(4.0)
    4.0
    """

    start: float = 1.0
    simpler: str = "smaller"
    value: Callable[[float], float] | None = None

    def __post_init__(self) -> None:
        start: Any = self.start
        if not isinstance(start, Real) or not 0 < float(start) < np.inf:
            raise ValueError(f"A scale must start at a positive number. Got {self.start!r}.")
        if self.simpler not in ("smaller", "larger"):
            raise ValueError(f"'simpler' must be 'smaller' or 'larger'. Got {self.simpler!r}.")

    def given(self, position: float) -> float:
        """Return the parameter's value at a position."""
        return position if self.value is None else self.value(position)

    def simplicity(self, position: float) -> float:
        """Return a number that is larger for simpler models."""
        return -position if self.simpler == "smaller" else position
