"""Ways through a structure that ask only the problems they need."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from polychotomy.arrays import Array, Indices
from polychotomy.decoding import best_classes, largest
from polychotomy.probability import best_products

if TYPE_CHECKING:
    from polychotomy.readout._readout import Ask, Readout

_SMALLEST = np.nextafter(0, 1)

Visit = tuple[slice, Indices]
"""Which problems were asked of which samples."""

Reached = tuple[Indices, Array]

Branches = list[tuple[int, Indices, Array]]
"""Nodes, the samples that may still go there, and the values that they come with."""


def descend(readout: "Readout", ask: "Ask") -> tuple[Indices, list[Visit]]:
    """Return each sample's class by the winning child of every node on the way, and the visits."""
    n = ask.n_samples
    winners = np.empty(n, dtype=np.intp)
    visits: list[Visit] = []
    pending = [(0, np.arange(n))]
    while pending:
        i, samples = pending.pop()
        if not samples.size:
            continue
        node = readout.nodes[i]
        visits.append((node.problems, samples))
        child = readout.choose_child(i, ask, None if len(samples) == n else samples)
        for c, below in enumerate(node.below):
            reached = samples[child == c]
            if below < 0:
                winners[reached] = -1 - below
            else:
                pending.append((below, reached))
    return winners, visits


def search(
    readout: "Readout", ask: "Ask", n_best: int = 1, by: str = "probability"
) -> tuple[Indices, Array, list[Visit]]:
    """Return each sample's best classes, of equal ones the first, their values, and the visits.

    The value of a class is its probability, or with ``by="lead"`` the smallest lead on the way to
    it. Either can only become smaller on the way down. So first the best branch that was passed by
    is followed down, once for each class wanted. Then, node by node, only those branches are
    followed that were passed by with at least the value of the last of the best classes so far: no
    other class can be better. Every node is asked at most once more than there are classes wanted.
    """
    n = ask.n_samples
    best = _Best(np.full((n, n_best), -np.inf), np.full((n, n_best), -1))
    visits: list[Visit] = []
    start = np.ones(n) if by == "probability" else np.full(n, np.inf)
    branches: Branches = [(0, np.arange(n), start)]
    for dive in range(n_best + 1):
        if not branches:
            break
        follow_first = dive < n_best
        branches, rest = _best_of_each(branches, n) if follow_first else (branches, [])
        waiting, branches = _Waiting(branches), rest
        for i, samples, value in waiting:
            promising = value >= best.least[samples]
            samples, value = samples[promising], value[promising]
            if not samples.size:
                continue
            node = readout.nodes[i]
            visits.append((node.problems, samples))
            children = _values(readout, ask, i, samples, value, by)
            below = np.array(node.below)
            leaves = np.flatnonzero(below < 0)
            if leaves.size:
                best.keep(samples, children[:, leaves], -1 - below[leaves])
            first = children.argmax(axis=1)
            for c in np.flatnonzero(below >= 0).tolist():
                is_first = (first == c) if follow_first else np.ones(len(first), dtype=bool)
                waiting.add(node.below[c], samples[is_first], children[is_first, c])
                if follow_first:
                    branches.append((node.below[c], samples[~is_first], children[~is_first, c]))
    return best.classes, best.values, visits


def best_found(readout: "Readout", ask: "Ask", n: int, by: str) -> tuple[Indices, Array]:
    """Return the n best classes of a flat code that is searched, and their values."""
    node, rule = readout.nodes[0], readout.rules[0]
    in_order = np.array_equal(node.child, np.arange(node.code.n_classes))
    code = node.code if in_order else node.code.reordered(node.child)
    if by == "score" and rule == "class_means":
        return largest(readout.scores(ask), n)
    if by == "score" and rule != "probability":
        return best_classes(readout.outputs(ask), code, rule, n)
    if readout.methods == ("product",) and readout.path != "least_squares":
        return best_products(readout.binary(ask), code, n)
    return largest(readout.probabilities(ask), n)


class _Waiting:
    """Samples that wait at nodes; those of the first node come first, parents before children.

    Nodes at which no sample waits cost nothing.
    """

    def __init__(self, branches: Branches) -> None:
        self._nodes: list[int] = []
        self._parts: dict[int, list[Reached]] = {}
        for branch in branches:
            self.add(*branch)

    def add(self, i: int, samples: Indices, value: Array) -> None:
        """Let samples wait at node i with a value."""
        if not samples.size:
            return
        if i not in self._parts:
            heappush(self._nodes, i)
            self._parts[i] = []
        self._parts[i].append((samples, value))

    def __iter__(self) -> Iterator[tuple[int, Indices, Array]]:
        while self._nodes:
            i = heappop(self._nodes)
            samples, value = zip(*self._parts.pop(i), strict=True)
            yield i, np.concatenate(samples), np.concatenate(value)


def eliminate(readout: "Readout", ask: "Ask") -> tuple[Array, list[Visit]]:
    """Return scores by elimination in a DDAG, as :func:`polychotomy.decoding.ddag` gives them.

    The problem of the first and the last class that are left is asked, and the loser is
    eliminated: k − 1 problems for each sample. Also returned are the visits.
    """
    n, node = ask.n_samples, readout.nodes[0]
    matrix, k = node.code.matrix, node.code.n_classes
    pair = {tuple(np.flatnonzero(column).tolist()): s for s, column in enumerate(matrix.T)}
    first, last = np.zeros(n, dtype=np.intp), np.full(n, k - 1)
    scores = np.empty((n, k))
    visits: list[Visit] = []
    for step in range(k - 1):
        first_wins = np.empty(n, dtype=bool)
        for r, samples in _groups(first):  # in one step, the last class follows from the first
            s = pair[r, int(last[samples[0]])]
            visits.append((slice(s, s + 1), samples))
            f = readout.outputs(ask, slice(s, s + 1), samples)[:, 0]
            first_wins[samples] = f * matrix[r, s] >= 0
        scores[np.arange(n), np.where(first_wins, last, first)] = step
        first, last = (
            np.where(first_wins, first, first + 1),
            np.where(first_wins, last - 1, last),
        )
    scores[np.arange(n), first] = k - 1
    return scores[:, node.child], visits


def most_held(readout: "Readout") -> int:
    """Return how many outputs or scores of a sample are held at a time, to find its best classes.

    Where a structure is searched, these are the children on the way from its top to a class.
    """
    nodes = readout.nodes
    if len(nodes) == 1 or readout.path not in ("recursive", "most_probable"):
        return max(readout.code.columns.shape)
    held = np.array([len(node.below) for node in nodes])
    for i, node in enumerate(nodes):  # parents before children
        for below in node.below:
            if below > 0:
                held[below] += held[i]
    return int(held.max())


def put_first(classes: Indices, winners: Indices) -> Indices:
    """Return classes with the winner of each row in front, in place of the last if it is new."""
    others = np.argsort(classes == winners[:, np.newaxis], axis=1, kind="stable")
    rest = np.take_along_axis(classes, others[:, : classes.shape[1] - 1], axis=1)
    return np.column_stack([winners, rest])


def smallest_leads(readout: "Readout", ask: "Ask") -> Array:
    """Return for each class the smallest lead, over the nodes on its way, of its child.

    Only the class where :func:`descend` ends leads at every node and has a positive score.
    """
    margins = np.empty((ask.n_samples, readout.code.n_classes))
    reached: dict[int, Array] = {0: np.full(ask.n_samples, np.inf)}
    for i, node in enumerate(readout.nodes):
        here, lead = reached.pop(i), _leads(readout, ask, i)
        for c, below in enumerate(node.below):
            least = np.minimum(here, lead[:, c])
            if below < 0:
                margins[:, -1 - below] = least
            else:
                reached[below] = least
    return margins


def _values(
    readout: "Readout", ask: "Ask", i: int, samples: Indices, value: Array, by: str
) -> Array:
    """Return the values of the children of a node, for samples that come with a value."""
    n = ask.n_samples
    rows = None if len(samples) == n else samples
    if by == "probability":
        children = readout.child_probabilities(i, ask, rows)
    else:
        children = _leads(readout, ask, i, rows)
    if rows is None:  # in the order in which the samples came here
        children = children[samples]
    value = value[:, np.newaxis]
    return value * children if by == "probability" else np.minimum(value, children)


def _leads(readout: "Readout", ask: "Ask", i: int, rows: Indices | None = None) -> Array:
    """Return how far each child of a node is ahead of the best of the others.

    Of equal children the first is ahead, as it is where a class is decided.
    """
    scores = readout.node_scores(i, ask, rows)
    if readout.is_direct(i):
        # A binary classifier's own margin; of 0, its first label wins, the −1 side as trained.
        node = readout.nodes[i]
        sign = readout.distinct.sign[node.problems.start]
        first_wins = -node.code.columns[:, 0] * sign * _SMALLEST
        return np.where(scores == 0, first_wins, scores)
    second, best = np.sort(scores, axis=1)[:, -2:].T
    is_best = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, np.newaxis]
    others = np.where(is_best, second[:, np.newaxis], best[:, np.newaxis])
    lead = scores - others
    return np.where(is_best, np.maximum(lead, _SMALLEST), lead)


@dataclass(frozen=True, eq=False)
class _Best:
    """The best classes of each sample so far, best first, and their values."""

    values: Array
    classes: Indices

    @property
    def least(self) -> Array:
        """The value of the last of each sample's best classes."""
        return self.values[:, -1]

    def keep(self, samples: Indices, values: Array, new: Indices) -> None:
        """Keep those of some classes that are better than the last so far, or as good and earlier.

        `values` has a row for each sample and a column for each class in `new`.
        """
        kept = np.hstack([self.values[samples], values])
        classes = np.hstack([self.classes[samples], np.broadcast_to(new, values.shape)])
        order = np.lexsort((classes, -kept))[:, : self.values.shape[1]]
        self.values[samples] = np.take_along_axis(kept, order, axis=1)
        self.classes[samples] = np.take_along_axis(classes, order, axis=1)


def _best_of_each(branches: Branches, n: int) -> tuple[Branches, Branches]:
    """Return the best branch of each sample, and the other branches."""
    node = np.concatenate([np.full(len(samples), i) for i, samples, _ in branches])
    samples = np.concatenate([samples for _, samples, _ in branches])
    value = np.concatenate([value for _, _, value in branches])
    order = np.lexsort((-node, value, samples))
    is_last = np.diff(samples[order], append=n) > 0
    found: list[Branches] = []
    for part in (order[is_last], order[~is_last]):
        groups = _groups(node[part]) if part.size else ()
        found.append([(i, samples[part[own]], value[part[own]]) for i, own in groups])
    return found[0], found[1]


def _groups(values: Indices) -> Iterator[tuple[int, Indices]]:
    """Yield each value and the samples that have it."""
    order = np.argsort(values, kind="stable")
    found, start = np.unique(values[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, start[1:]), strict=True)
