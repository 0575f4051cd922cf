"""Ways through a structure that ask only what they need, and what all problems say together."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.classifiers._plan import Plan
from polychotomy.classifiers._probabilities import ProbabilityModel
from polychotomy.classifiers._rows import blocks_of, rows_of
from polychotomy.decoding import decode
from polychotomy.learners import SeparateModel

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Visit = tuple[slice, Indices]
Reached = tuple[Indices, Array]


@dataclass(frozen=True)
class Walker:
    """Trained problems, and how the nodes of a structure decide by them."""

    plan: Plan
    model: SeparateModel
    probabilities: ProbabilityModel | None
    n_jobs: int | None

    def descend(self, X: Any) -> tuple[Indices, list[Visit]]:
        """Return each sample's class by the winning child of every node on the way.

        Also returned are the visits: which problems were asked of which samples.
        """
        winners = np.empty(X.shape[0], dtype=np.intp)
        visits: list[Visit] = []
        pending = [(0, np.arange(X.shape[0]))]
        while pending:
            i, samples = pending.pop()
            if not samples.size:
                continue
            node = self.plan.nodes[i]
            visits.append((node.problems, samples))
            child = self.choose(i, X if len(samples) == X.shape[0] else rows_of(X, samples))
            for c, below in enumerate(node.below):
                reached = samples[child == c]
                if below < 0:
                    winners[reached] = -1 - below
                else:
                    pending.append((below, reached))
        return winners, visits

    def search(self, X: Any) -> tuple[Indices, list[Visit]]:
        """Return each sample's most probable class, of equal ones the first.

        First the most probable way down is followed. Then, node by node, only that is looked into
        which was passed by with at least the probability of the best class so far: no other class
        can be more probable. Every node is asked at most twice. Also returned are the visits.
        """
        best, winners = np.full(X.shape[0], -1.0), np.full(X.shape[0], -1)
        visits: list[Visit] = []
        waiting: dict[int, list[Reached]] = {0: [(np.arange(X.shape[0]), np.ones(X.shape[0]))]}
        for follow_first in (True, False):
            passed_by: dict[int, list[Reached]] = {}
            for i, node in enumerate(self.plan.nodes):
                samples, p = _joined(waiting.pop(i, []))
                samples, p = samples[p >= best[samples]], p[p >= best[samples]]
                if not samples.size:
                    continue
                visits.append((node.problems, samples))
                children = p[:, np.newaxis] * self._children(i, X, samples)
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

    def _children(self, i: int, X: Any, samples: Indices) -> Array:
        """Return the probabilities of node i's children for some samples."""
        assert self.probabilities is not None
        part = X if len(samples) == X.shape[0] else rows_of(X, samples)
        problems = self.plan.nodes[i].problems
        blocks = blocks_of(part, problems.stop - problems.start)
        return np.concatenate(
            [
                self.probabilities.of_children(self._binary(block, problems), i, self.n_jobs)
                for block in blocks
            ]
        )

    def eliminate(self, X: Any) -> tuple[Array, list[Visit]]:
        """Return scores by elimination in a DDAG, as :func:`polychotomy.decoding.ddag` gives them.

        The first and the last class of those left are told apart, and the loser leaves: k − 1
        problems for each sample. Also returned are the visits.
        """
        k = self.plan.code.n_classes
        columns = enumerate(self.plan.code.matrix.T)
        pair = {tuple(np.flatnonzero(column).tolist()): s for s, column in columns}
        first, last = np.zeros(X.shape[0], dtype=np.intp), np.full(X.shape[0], k - 1)
        scores = np.empty((X.shape[0], k))
        visits: list[Visit] = []
        for step in range(k - 1):
            first_wins = np.empty(X.shape[0], dtype=bool)
            for r, samples in _groups(first):  # in one step, the last class follows from the first
                s = pair[r, int(last[samples[0]])]
                visits.append((slice(s, s + 1), samples))
                f = self._outputs(rows_of(X, samples), slice(s, s + 1))[:, 0]
                first_wins[samples] = f * self.plan.code.matrix[r, s] >= 0
            scores[np.arange(len(scores)), np.where(first_wins, last, first)] = step
            first, last = (
                np.where(first_wins, first, first + 1),
                np.where(first_wins, last - 1, last),
            )
        scores[np.arange(len(scores)), first] = k - 1
        return scores, visits

    def choose(self, i: int, X: Any) -> Indices:
        """Return the winning child of node i for each sample."""
        node = self.plan.nodes[i]
        if self.asks_directly(i):
            column = node.problems.start
            plus = int(np.argmax(node.code.matrix[:, 0] == self.plan.distinct.sign[column]))
            said = self.model.problems[self.plan.distinct.index[column]].predict(X)
            return np.where(said == 1, plus, 1 - plus)
        blocks = blocks_of(X, node.code.n_problems)
        return np.concatenate([self.scores(i, part).argmax(axis=1) for part in blocks])

    def asks_directly(self, i: int) -> bool:
        """Whether node i has two children and one problem, whose classifier decides by itself."""
        node = self.plan.nodes[i]
        single = node.code.n_classes == 2 and np.ptp(self.plan.distinct.index[node.problems]) == 0
        return bool(single) and self.plan.rules[i] != "probability"

    def scores(self, i: int, X: Any) -> Array:
        """Return the scores of node i's children, larger being better."""
        node, rule = self.plan.nodes[i], self.plan.rules[i]
        if rule == "probability":
            assert self.probabilities is not None
            return self.probabilities.of_children(self._binary(X, node.problems), i, self.n_jobs)
        outputs = self._outputs(X, node.problems)
        if self.asks_directly(i):
            return outputs[:, :1] * node.code.matrix[:, 0]
        return decode(outputs, node.code, rule)

    def margins(self, X: Any) -> Array:
        """Return for each class the smallest lead, over the nodes on its way, of its child.

        Only the class where :meth:`descend` ends leads at every node and has a positive margin.
        """
        margins = np.empty((X.shape[0], self.plan.code.n_classes))
        reached: dict[int, Array] = {0: np.full(X.shape[0], np.inf)}
        for i, node in enumerate(self.plan.nodes):
            here, lead = reached.pop(i), self._leads(i, X)
            for c, below in enumerate(node.below):
                least = np.minimum(here, lead[:, c])
                if below < 0:
                    margins[:, -1 - below] = least
                else:
                    reached[below] = least
        return margins

    def node_errors(self, X: Any, y: Indices) -> Array:
        """Return how often each node chooses the wrong child, of the samples of its classes."""
        errors = np.full(len(self.plan.nodes), np.nan)
        for i, node in enumerate(self.plan.nodes):
            samples = np.flatnonzero(node.child[y] >= 0)
            if samples.size:
                chosen = self.choose(i, rows_of(X, samples))
                errors[i] = np.mean(chosen != node.child[y[samples]])
        return errors

    def _leads(self, i: int, X: Any) -> Array:
        """Return how far each child of a node is before the best of the others."""
        scores = self.scores(i, X)
        if self.asks_directly(i):
            # A binary classifier's own margin; of 0, its first label wins, the −1 side as trained.
            sign = self.plan.distinct.sign[self.plan.nodes[i].problems.start]
            first_wins = -self.plan.nodes[i].code.matrix[:, 0] * sign * np.nextafter(0, 1)
            return np.where(scores == 0, first_wins, scores)
        second, best = np.sort(scores, axis=1)[:, -2:].T
        is_best = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, np.newaxis]
        others = np.where(is_best, second[:, np.newaxis], best[:, np.newaxis])
        return scores - others

    def _asked(self, problems: slice) -> tuple[Indices, Indices]:
        """Return the distinct problems behind some problems, and where each of these is found."""
        which, place = np.unique(self.plan.distinct.index[problems], return_inverse=True)
        return which, place.ravel()

    def _outputs(self, X: Any, problems: slice) -> Array:
        which, place = self._asked(problems)
        outputs = self.model.outputs(X, self.plan.kinds, self.n_jobs, which.tolist())
        return outputs[:, place] * self.plan.distinct.sign[problems]

    def _binary(self, X: Any, problems: slice) -> Array:
        """Return the probability of the + side of some problems."""
        assert self.probabilities is not None
        which, place = self._asked(problems)
        outputs = self.model.outputs(X, self.probabilities.kinds, self.n_jobs, which.tolist())
        q = self.probabilities.binary(outputs, which)[:, place]
        return np.where(self.plan.distinct.sign[problems] > 0, q, 1 - q)


def _joined(parts: list[Reached]) -> Reached:
    """Return the samples that reached a node from several sides, and their probabilities."""
    if not parts:
        return np.empty(0, dtype=np.intp), np.empty(0)
    samples, p = zip(*parts, strict=True)
    return np.concatenate(samples), np.concatenate(p)


def _keep_better(best: Array, winners: Indices, samples: Indices, p: Array, winner: int) -> None:
    """Note a class where it is more probable than the best so far, or as probable and earlier."""
    better = (p > best[samples]) | ((p == best[samples]) & (winner < winners[samples]))
    best[samples[better]], winners[samples[better]] = p[better], winner


def _groups(values: Indices) -> Iterator[tuple[int, Indices]]:
    """Yield each value and the samples that have it."""
    order = np.argsort(values, kind="stable")
    found, start = np.unique(values[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, start[1:]), strict=True)
