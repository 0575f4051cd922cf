"""Groups of problems whose samples are those of other groups, as in a tree of classes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.linear._linear_problems import LinearProblems
from polychotomy.linear._scatter import Scatter


@dataclass(frozen=True, eq=False)
class NestedGroups:
    """Groups of problems with the same weights, some of which are sides of problems of others.

    In a tree, each side of a node's problem is a child, or a class. The scatter of the node is that
    of its children merged, so that a sample enters one product only, however deep the tree is.

    Attributes
    ----------
    problems : LinearProblems
    share : ndarray of shape (n_patterns, n_groups)
        c / weight of each pattern, 0 where it takes no part.
    children : list of lists of int
        For each group those that are disjoint parts of it, the largest first; each is the child of
        one group at most.
    rest : list of ndarray
        For each group the patterns of no child.
    """

    problems: LinearProblems
    share: NDArray[Any]
    children: list[list[int]]
    rest: list[Indices]

    @classmethod
    def of(
        cls, problems: LinearProblems, groups: list[Indices], share: NDArray[Any]
    ) -> "NestedGroups":
        """Return the groups, with the children that each has among them."""
        takes_part = share > 0
        known = {key: g for g, key in enumerate(_keys(takes_part))}
        children: list[list[int]] = []
        rest: list[Indices] = []
        taken: set[int] = set()
        for g, group in enumerate(groups):
            left, own = takes_part[:, g].copy(), []
            for side, key in _sides(problems.patterns[:, group], left):
                h = known.get(key, g)
                is_free = h != g and h not in taken and left[side].all()
                if is_free and np.ptp(share[side, g]) == 0:
                    own.append(h)
                    taken.add(h)
                    left &= ~side
            children.append(own)
            rest.append(np.flatnonzero(left))
        return cls(problems, share, children, rest)

    @property
    def work(self) -> int:
        """Matrices of n_features × n_features that are added up: of samples, and of children."""
        counts = np.bincount(self.problems.pattern, minlength=len(self.share))
        rows = sum(int(counts[patterns].sum()) for patterns in self.rest)
        return rows + 3 * sum(map(len, self.children))

    def scatters(self, u: Array) -> Iterator[tuple[int, Scatter]]:
        """Yield the number and the scatter of each group, children before their parent.

        The largest child comes first, so that about log₂ n_groups scatters wait for their parents.
        """
        waiting: dict[int, Scatter] = {}
        waits = {h for own in self.children for h in own}
        for g in self._order():
            parts = [(waiting.pop(h), self._factor(h, g)) for h in self.children[g]]
            rest = self._samples(self.rest[g])
            factors = self.share[self.problems.pattern[rest], g].astype(float)
            plain = self._merged([part for part, _ in parts], rest, u[rest])
            if g in waits:
                waiting[g] = plain
            if (factors == 1).all() and all(factor == 1 for _, factor in parts):
                yield g, plain
            else:
                weighted = [part.times(factor) for part, factor in parts]
                yield g, self._merged(weighted, rest, u[rest] * factors)

    def _merged(self, parts: list[Scatter], rest: Indices, weight: Array) -> Scatter:
        """Return the scatter of parts and of further samples."""
        X, centred = self.problems.X, self.problems.has_intercept
        if len(rest) or not parts:
            own = X if len(rest) == X.shape[0] else X[rest]
            parts = [*parts, Scatter.of(own, weight, centred=centred)]
        return reduce(lambda a, b: a.plus(b, centred=centred), parts)

    def _factor(self, child: int, parent: int) -> float:
        """Return c / weight of a child's patterns in the parent's problems."""
        first = np.flatnonzero(self.share[:, child])[0]
        return float(self.share[first, parent])

    def _order(self) -> list[int]:
        """Return the groups with children before parents, and largest children first."""
        waits = {h for own in self.children for h in own}
        found: list[int] = []
        stack = [g for g in range(len(self.children)) if g not in waits]
        while stack:
            found.append(stack.pop())
            stack.extend(self.children[found[-1]])
        return found[::-1]

    def _samples(self, patterns: Indices) -> Indices:
        """Return the samples of some patterns, in order; none without weight."""
        order, borders = self._by_pattern
        own = [order[borders[p] : borders[p + 1]] for p in patterns.tolist()]
        return np.sort(np.concatenate(own)) if own else order[:0]

    @cached_property
    def _by_pattern(self) -> tuple[Indices, Indices]:
        """The samples that have a weight, in the order of patterns, and where each begins."""
        some = np.flatnonzero(self.problems.weight > 0)
        pattern = self.problems.pattern[some]
        order = some[np.argsort(pattern, kind="stable")]
        counts = np.bincount(pattern, minlength=len(self.share))
        return order, np.concatenate([[0], np.cumsum(counts)])


def _keys(sets: NDArray[np.bool_]) -> list[bytes]:
    """Return a key of each column, the same for equal columns only."""
    return [row.tobytes() for row in np.packbits(sets, axis=0).T]


def _sides(
    patterns: Matrix, takes_part: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.bool_], bytes]]:
    """Yield the sides of problems as sets of patterns, and their keys; large ones first."""
    sides = np.hstack([patterns < 0, patterns > 0]) & takes_part[:, np.newaxis]
    order = np.argsort(-sides.sum(axis=0), kind="stable")
    sides = sides[:, order]
    yield from zip(sides.T, _keys(sides), strict=True)
