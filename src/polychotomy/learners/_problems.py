"""The binary problems of a code on a set of samples, and what they ask, in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.codes._code import Matrix

Indices = NDArray[np.intp]

_NAMED = 6


@dataclass(frozen=True)
class BinaryProblems:
    """Which samples take part in which problem, on which side.

    Samples are looked up by class, so a problem costs what its own samples cost.

    Parameters
    ----------
    columns : ndarray of shape (n_classes, n_problems)
        A column for each problem.
    y : ndarray of shape (n_samples,)
        Class indices, the rows of `columns`.
    names : sequence of str
        What each problem asks, to name one that fails.
    """

    columns: Matrix
    y: Indices
    names: Sequence[str]

    def samples(self, s: int) -> Indices:
        """Return the samples that take part in problem s, in their order."""
        taking_part = np.flatnonzero(self.columns[:, s])
        if len(taking_part) == len(self.columns):
            return np.arange(len(self.y))
        return np.sort(np.concatenate([self._by_class[c] for c in taking_part]))

    def target(self, s: int, samples: Indices) -> Matrix:
        """Return the side of each of these samples in problem s."""
        side: Matrix = self.columns[self.y[samples], s]
        return side

    @cached_property
    def _by_class(self) -> list[Indices]:
        order = np.argsort(self.y, kind="stable")
        borders = np.searchsorted(self.y[order], np.arange(1, len(self.columns)))
        return np.split(order, borders)


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
