"""Binary problems in words: which classes are on which side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Matrix
from polychotomy.codes._rule_matrix import (
    OneVsOneRule,
    OneVsRestRule,
    RuleMatrix,
    column_blocks,
)

_NAMED = 6


def describe_problems(
    matrix: Matrix | RuleMatrix, classes: Sequence[Any] | NDArray[Any]
) -> list[str]:
    """Return :func:`problem_words` for each column of a code matrix.

    Examples
    --------
    >>> from polychotomy.codes import describe_problems, one_vs_one
    >>> describe_problems(one_vs_one(3).matrix, ["oak", "elm", "ash"])
    ['oak against elm', 'oak against ash', 'elm against ash']
    """
    if isinstance(matrix, OneVsRestRule) and len(classes) > 2:
        return [f"{label} against the rest" for label in classes]
    if isinstance(matrix, OneVsOneRule):
        pairs = zip(*matrix.pairs(np.arange(matrix.shape[1])), strict=True)
        return [f"{classes[first]} against {classes[second]}" for first, second in pairs]
    blocks = (np.ascontiguousarray(block.T) for _, block in column_blocks(matrix))
    return [problem_words(column, classes) for block in blocks for column in block]


def problem_words(column: Matrix, classes: Sequence[Any] | NDArray[Any]) -> str:
    """Return a problem as "these classes against those", the +1 side first.

    At most six classes are named on each side.

    Parameters
    ----------
    column : ndarray of shape (n_classes,)
        A column of a code matrix.
    classes : sequence of n_classes labels

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.codes import problem_words
    >>> problem_words(np.array([1, -1, 0, -1]), ["oak", "elm", "ash", "fir"])
    'oak against elm, fir'
    >>> problem_words(np.array([1, -1, -1, -1]), ["oak", "elm", "ash", "fir"])
    'oak against the rest'
    """
    sides, words = [np.flatnonzero(column == sign) for sign in (1, -1)], []
    for members, others in (sides, sides[::-1]):
        named, more = [str(classes[r]) for r in members[:_NAMED]], len(members) - _NAMED
        rest = len(others) == 1 and len(members) == len(column) - 1 > 1
        side = ", ".join(named) + (f" and {more} more" if more > 0 else "")
        words.append("the rest" if rest else side)
    return " against ".join(words)
