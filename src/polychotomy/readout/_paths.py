"""Ways through a structure that ask only the problems they need."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from polychotomy.arrays import Array, Indices

if TYPE_CHECKING:
    from polychotomy.readout._readout import Ask, Readout

Visit = tuple[slice, Indices]
"""Which problems were asked of which samples."""

Reached = tuple[Indices, Array]


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


def search(readout: "Readout", ask: "Ask") -> tuple[Indices, list[Visit]]:
    """Return each sample's most probable class, of equal ones the first, and the visits.

    First the most probable way down is followed. Then, node by node, only those branches are
    followed that were passed by with at least the probability of the best class so far: no other
    class can be more probable. Every node is asked at most twice.
    """
    n = ask.n_samples
    best, winners = np.full(n, -1.0), np.full(n, -1)
    visits: list[Visit] = []
    waiting: dict[int, list[Reached]] = {0: [(np.arange(n), np.ones(n))]}
    for follow_first in (True, False):
        passed_by: dict[int, list[Reached]] = {}
        for i, node in enumerate(readout.nodes):
            samples, p = _joined(waiting.pop(i, []))
            samples, p = samples[p >= best[samples]], p[p >= best[samples]]
            if not samples.size:
                continue
            visits.append((node.problems, samples))
            rows = None if len(samples) == n else samples
            children = readout.child_probabilities(i, ask, rows)
            if rows is None:  # in the order in which the samples came here
                children = children[samples]
            children = p[:, np.newaxis] * children
            first = children.argmax(axis=1)
            for c, below in enumerate(node.below):
                is_first = (first == c) if follow_first else np.ones(len(first), dtype=bool)
                for chosen, place in ((is_first, waiting), (~is_first, passed_by)):
                    reached = samples[chosen], children[chosen, c]
                    if below < 0:
                        _keep_better(best, winners, *reached, -1 - below)
                    else:
                        place.setdefault(below, []).append(reached)
        waiting = passed_by
    return winners, visits


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


def _leads(readout: "Readout", ask: "Ask", i: int) -> Array:
    """Return how far each child of a node is ahead of the best of the others."""
    scores = readout.node_scores(i, ask)
    if readout.is_direct(i):
        # A binary classifier's own margin; of 0, its first label wins, the −1 side as trained.
        node = readout.nodes[i]
        sign = readout.distinct.sign[node.problems.start]
        first_wins = -node.code.matrix[:, 0] * sign * np.nextafter(0, 1)
        return np.where(scores == 0, first_wins, scores)
    second, best = np.sort(scores, axis=1)[:, -2:].T
    is_best = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, np.newaxis]
    others = np.where(is_best, second[:, np.newaxis], best[:, np.newaxis])
    return scores - others


def _joined(parts: list[Reached]) -> Reached:
    """Return the samples that reached a node from several sides, and their probabilities."""
    if not parts:
        return np.empty(0, dtype=np.intp), np.empty(0)
    samples, p = zip(*parts, strict=True)
    return np.concatenate(samples), np.concatenate(p)


def _keep_better(best: Array, winners: Indices, samples: Indices, p: Array, winner: int) -> None:
    """Keep a class where it is more probable than the best so far, or as probable and earlier."""
    better = (p > best[samples]) | ((p == best[samples]) & (winner < winners[samples]))
    best[samples[better]], winners[samples[better]] = p[better], winner


def _groups(values: Indices) -> Iterator[tuple[int, Indices]]:
    """Yield each value and the samples that have it."""
    order = np.argsort(values, kind="stable")
    found, start = np.unique(values[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, start[1:]), strict=True)
