"""What a binary problem asks, in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.codes._code import Matrix

_NAMED = 6


def problem_words(column: Matrix, classes: Sequence[Any] | NDArray[Any]) -> str:
    """Return a problem as "these classes against those", the +1 side first.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.learners import problem_words
    >>> problem_words(np.array([1, -1, 0, -1]), ["oak", "elm", "ash", "fir"])
    'oak against elm, fir'
    >>> problem_words(np.array([1, -1, -1, -1]), ["oak", "elm", "ash", "fir"])
    'oak against the rest'
    """
    return " against ".join(_side_words(column, sign, classes) for sign in (1, -1))


def _side_words(column: Matrix, sign: int, classes: Sequence[Any] | NDArray[Any]) -> str:
    members = np.flatnonzero(column == sign)
    if np.sum(column == -sign) == 1 and len(members) == len(column) - 1 > 1:
        return "the rest"
    named = ", ".join(str(classes[r]) for r in members[:_NAMED])
    more = len(members) - _NAMED
    return f"{named} and {more} more" if more > 0 else named
