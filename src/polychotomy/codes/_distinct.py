"""The different binary problems of a code: equal and complementary columns merged."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Indices, Matrix
from polychotomy.codes._rule_matrix import ChangedRule, RuleMatrix, column_blocks


@dataclass(frozen=True)
class DistinctProblems:
    """The different binary problems of a code: ``matrix == columns[:, index] * sign``.

    Columns are oriented as in scikit-learn's own reductions: the side with fewer classes is +1.
    If both sides are equal, the side without the problem's first class is +1.
    """

    columns: Matrix | RuleMatrix
    index: Indices
    sign: Matrix

    @cached_property
    def first(self) -> Indices:
        """The first problem of each distinct one."""
        return np.unique(self.index, return_index=True)[1]

    @classmethod
    def each(cls, matrix: Matrix | RuleMatrix) -> "DistinctProblems":
        """Return all problems as they are, none merged and none turned round."""
        n_problems = matrix.shape[1]
        return cls(matrix, np.arange(n_problems), np.ones(n_problems, dtype=np.int8))


def distinct_problems(
    matrix: Matrix | RuleMatrix,
    learners: Indices | None = None,
    fixed: NDArray[np.bool_] | None = None,
) -> DistinctProblems:
    """Return the different problems of a matrix, in order of appearance.

    Parameters
    ----------
    matrix : ndarray or RuleMatrix of shape (n_classes, n_problems)
    learners : ndarray of shape (n_problems,), optional
        A number for each problem; those of different learners are different too.
    fixed : boolean ndarray of shape (n_problems,), optional
        Which problems keep their orientation, because their learner is trained already.
    """
    if isinstance(matrix, RuleMatrix):
        if matrix.facts is not None:
            return _by_rule(matrix, matrix.facts.kind)
        matrix = np.asarray(matrix)
    orientation = _orientation(matrix)
    if fixed is not None:
        orientation = np.where(fixed, 1, orientation).astype(np.int8)
    oriented = matrix * orientation
    keys = oriented if learners is None else np.vstack([oriented, learners])
    _, first, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.argsort(order)
    columns, index = oriented[:, first[order]], rank[inverse.ravel()]
    for array in (columns, index, orientation):
        array.setflags(write=False)
    return DistinctProblems(columns, index, orientation)


def _by_rule(rule: RuleMatrix, kind: str) -> DistinctProblems:
    """Return the problems of a rule, none of which is repeated, each oriented."""
    index = np.arange(rule.shape[1])
    if kind == "one_vs_rest":  # the one class is the smaller side
        return DistinctProblems(rule, index, np.ones(len(index), dtype=np.int8))
    sign = np.concatenate([_orientation(block) for _, block in column_blocks(rule)])
    return DistinctProblems(ChangedRule(rule, np.arange(len(rule)), sign), index, sign)


def _orientation(matrix: Matrix) -> Matrix:
    """Return ±1 per problem, so that ``matrix * orientation`` is oriented like scikit-learn's."""
    balance = matrix.sum(axis=0, dtype=int)
    first = np.take_along_axis(matrix, np.argmax(matrix != 0, axis=0)[np.newaxis], axis=0)[0]
    return np.where((balance > 0) | ((balance == 0) & (first == 1)), -1, 1).astype(np.int8)
