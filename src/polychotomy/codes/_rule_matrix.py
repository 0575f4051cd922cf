"""Code matrices that are given by a rule, whose columns are computed on demand."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from polychotomy.arrays import Array, Indices, Matrix

_BLOCK_ENTRIES = 2**22


@dataclass(frozen=True)
class RuleFacts:
    """Properties of a code that follow from its rule.

    Attributes
    ----------
    kind : str
        The name of the code.
    is_strict : bool
    row_distance, column_distance : float
    """

    kind: str
    is_strict: bool
    row_distance: float
    column_distance: float


class RuleMatrix(ABC):
    """A code matrix whose entries follow a rule.

    It is indexed by rows and columns as an array is.
    """

    searches = False
    """Whether it finds the best classes without looking at all, by :meth:`best`."""

    @property
    @abstractmethod
    def facts(self) -> "RuleFacts | None":
        """What is known of it without looking at its entries, if no problem is repeated."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of classes and problems."""

    @abstractmethod
    def entries(self, r: Indices, s: Indices) -> Matrix:
        """Return the entries of classes r in problems s, which are broadcast."""

    @abstractmethod
    def total(self, plus: Array, minus: Array) -> Array:
        """Return for each class the sum of `plus` over its +1s and of `minus` over its −1s.

        Both have shape (n_samples, n_problems), the result (n_samples, n_classes).
        """

    def best(self, plus: Array, minus: Array, n_best: int) -> tuple[Indices, Array]:
        """Return the classes with the largest totals, best first, and their totals."""
        raise NotImplementedError

    def log_sum(self, plus: Array, minus: Array) -> Array:
        """Return the logarithm of the sum of the exponentials of all totals, shape (n_samples,)."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Matrix:
        rows, columns = index if isinstance(index, tuple) else (index, slice(None))
        r, s = _numbers(rows, self.shape[0]), _numbers(columns, self.shape[1])
        outer = (isinstance(rows, slice) and s.ndim > 0) or (
            isinstance(columns, slice) and r.ndim > 0
        )
        return self.entries(r[:, np.newaxis] if outer else r, s)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        rows, columns = np.ogrid[: self.shape[0], : self.shape[1]]
        return self.entries(rows, columns).astype(dtype or np.int8, copy=False)


@dataclass(frozen=True)
class OneVsRestRule(RuleMatrix):
    """Class s against all others in problem s."""

    n_classes: int

    @property
    def facts(self) -> RuleFacts:
        """What is known of it."""
        return RuleFacts("one_vs_rest", True, 2.0, 2.0)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of classes and problems."""
        return self.n_classes, self.n_classes

    def entries(self, r: Indices, s: Indices) -> Matrix:
        """Return +1 where r is s, otherwise −1."""
        return np.where(r == s, np.int8(1), np.int8(-1))

    def total(self, plus: Array, minus: Array) -> Array:
        """Return the sums of `plus` over the +1s and of `minus` over the −1s of each class."""
        return minus.sum(axis=1, keepdims=True) + (plus - minus)


@dataclass(frozen=True)
class OneVsOneRule(RuleMatrix):
    """Each pair of classes in a problem, the first of them +1, in the order of the pairs."""

    n_classes: int

    @property
    def facts(self) -> RuleFacts:
        """What is known of it: all problems but one leave half a distance between two classes."""
        row_distance = 1 + (self.shape[1] - 1) / 2
        return RuleFacts("one_vs_one", False, row_distance, (self.n_classes - 1) / 2)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of classes and problems."""
        return self.n_classes, self.n_classes * (self.n_classes - 1) // 2

    def pairs(self, s: Indices) -> tuple[Indices, Indices]:
        """Return the first and the second class of problems s."""
        k = self.n_classes
        borders = np.cumsum(np.arange(k - 1, 0, -1))  # where the first class changes
        first = np.searchsorted(borders, s, side="right")
        return first, s - np.where(first > 0, borders[first - 1], 0) + first + 1

    def entries(self, r: Indices, s: Indices) -> Matrix:
        """Return +1 for the first and −1 for the second class of a pair."""
        first, second = self.pairs(s)
        return (r == first).astype(np.int8) - (r == second).astype(np.int8)

    def total(self, plus: Array, minus: Array) -> Array:
        """Return the sums of `plus` over the +1s and of `minus` over the −1s of each class."""
        from scipy.sparse import csr_array

        every = np.arange(self.shape[1])
        first, second = (
            csr_array((np.ones(len(every)), (classes, every)), shape=self.shape)
            for classes in self.pairs(every)
        )
        return np.asarray((first @ plus.T + second @ minus.T).T)


@dataclass(frozen=True)
class AdjacentRule(RuleMatrix):
    """The first s + 1 classes as −1 against the others in problem s."""

    n_classes: int

    @property
    def facts(self) -> RuleFacts:
        """What is known of it."""
        return RuleFacts("adjacent", True, 1.0, 1.0)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of classes and problems."""
        return self.n_classes, self.n_classes - 1

    def entries(self, r: Indices, s: Indices) -> Matrix:
        """Return −1 up to class s, and then +1."""
        return np.where(r <= s, np.int8(-1), np.int8(1))

    def total(self, plus: Array, minus: Array) -> Array:
        """Return the sums of `plus` over the +1s and of `minus` over the −1s of each class."""
        none = np.zeros((len(plus), 1))
        before = np.cumsum(np.hstack([none, plus]), axis=1)
        after = np.cumsum(np.hstack([minus, none])[:, ::-1], axis=1)[:, ::-1]
        return before + after


@dataclass(frozen=True, eq=False)
class ChangedRule(RuleMatrix):
    """A rule with its classes in another order, or some of its problems turned round.

    Attributes
    ----------
    rule : RuleMatrix
    rows : ndarray of shape (n_classes,)
        The row of `rule` of each class.
    sign : ndarray of shape (n_problems,)
        −1 for problems whose sides change places.
    """

    rule: RuleMatrix
    rows: Indices
    sign: Matrix

    @property
    def facts(self) -> RuleFacts | None:
        """What is known of it."""
        return self.rule.facts

    @property
    def searches(self) -> bool:  # type: ignore[override]
        """Whether it finds the best classes without looking at all."""
        return self.rule.searches

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of classes and problems."""
        return self.rule.shape

    def entries(self, r: Indices, s: Indices) -> Matrix:
        """Return the entries of the rule, where they are now."""
        return self.rule.entries(self.rows[r], s) * self.sign[s]

    def total(self, plus: Array, minus: Array) -> Array:
        """Return the sums of `plus` over the +1s and of `minus` over the −1s of each class."""
        return self.rule.total(*self._sides(plus, minus))[:, self.rows]

    def best(self, plus: Array, minus: Array, n_best: int) -> tuple[Indices, Array]:
        """Return the classes with the largest totals, best first, and their totals.

        The rule breaks ties by its own rows. Where the last class ties with one that is left out,
        all classes are looked at.
        """
        n_classes = len(self)
        sides = self._sides(plus, minus)
        rows, sums = self.rule.best(*sides, min(n_best + 1, n_classes))
        classes = np.argsort(self.rows)[rows]
        if n_best < n_classes:
            tied = sums[:, n_best - 1] == sums[:, n_best]
            classes, sums = classes[:, :n_best], sums[:, :n_best]
            every = self.rule.total(*(side[tied] for side in sides))[:, self.rows]
            classes[tied] = np.argsort(-every, axis=1, kind="stable")[:, :n_best]
        order = np.lexsort((classes, -sums))
        sums = np.take_along_axis(sums, order, axis=1)
        return np.take_along_axis(classes, order, axis=1), sums

    def log_sum(self, plus: Array, minus: Array) -> Array:
        """Return the logarithm of the sum of the exponentials of all totals."""
        return self.rule.log_sum(*self._sides(plus, minus))

    def _sides(self, plus: Array, minus: Array) -> tuple[Array, Array]:
        turned = self.sign < 0
        return np.where(turned, minus, plus), np.where(turned, plus, minus)


def _numbers(part: Any, size: int) -> Indices:
    """Return which of `size` rows or columns an index means, as it does for an array."""
    if isinstance(part, slice):
        return np.arange(*part.indices(size))
    part = np.asarray(part)
    if part.dtype == bool and part.shape == (size,):
        return np.flatnonzero(part)
    if part.dtype.kind not in "iu" and part.size:
        raise IndexError(
            f"Indices of a code must be integers, slices or a mask of {size} booleans. "
            f"Got dtype {part.dtype} and shape {part.shape}."
        )
    part = part.astype(np.intp)
    wrong = (part < -size) | (part >= size)
    if wrong.any():
        raise IndexError(f"Index {part[wrong].flat[0]} is out of bounds: there are {size}.")
    return np.where(part < 0, part + size, part)


def column_blocks(matrix: Matrix | RuleMatrix) -> Iterator[tuple[slice, Matrix]]:
    """Yield the columns of a matrix, or of a rule, in blocks that do not take much memory.

    Examples
    --------
    >>> from polychotomy.codes import column_blocks, one_vs_rest
    >>> [(columns, block.shape) for columns, block in column_blocks(one_vs_rest(3).columns)]
    [(slice(0, 3, None), (3, 3))]
    """
    n_classes, n_problems = matrix.shape
    size = n_problems if isinstance(matrix, np.ndarray) else max(1, _BLOCK_ENTRIES // n_classes)
    for start in range(0, n_problems, size):
        block = slice(start, min(start + size, n_problems))
        yield block, matrix[:, block]
