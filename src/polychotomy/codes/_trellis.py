"""Trellis codes: classes are paths through a small graph, problems are its edges."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.codes._code import Code
from polychotomy.codes._parameters import check_int
from polychotomy.codes._rule_matrix import RuleFacts, RuleMatrix
from polychotomy.memory import check_room


def trellis(n_classes: int, *, width: int = 2) -> Code:
    """Return a trellis code (W-LTLS): about b² log_b k problems, decoded in as many steps.

    The graph has ⌊log_b k⌋ steps of b states, each connected to all states of the next step, and
    exits on the way such that there are exactly k paths from its source to its sink. Each path is a
    class. Problem s separates the classes whose path uses edge s, +1, from the others. The best
    classes are found by Viterbi's algorithm, without looking at all k.

    Parameters
    ----------
    n_classes : int
        Number of classes, k.
    width : int, default=2
        States of each step, b: more make problems easier to learn and codewords more different, at
        the cost of more problems.

    References
    ----------
    Jasinska and Karampatziakis (2016), "Log-time and log-space extreme classification"; Evron,
    Moroshko and Crammer (2018), "Efficient loss-based decoding on graphs for extreme
    classification".

    Examples
    --------
    >>> from polychotomy.codes import trellis
    >>> print(trellis(5))
    + − + − − − + − − +
    − + − − + − + − − +
    + − − + − − − + − +
    − + − − − + − + − +
    + − − − − − − − + −
    >>> trellis(1000, width=4)
    Code('trellis': 1000 classes, 66 problems)
    """
    k = check_int("n_classes", n_classes, least=2)
    b = check_int("width", width, least=2)
    if b > k:
        raise ValueError(
            f"The 'width' parameter must be at most the number of classes, {k}. Got {b}."
        )
    return Code(TrellisRule(k, b), name="trellis")


@dataclass(frozen=True)
class TrellisRule(RuleMatrix):
    """The matrix of a trellis code, and sums over its paths.

    Class numbers are made of the states on the way, each a digit in base b. With k = Σ d_i b^i, the
    first d_m b^m classes go through all m steps; then come those that leave from step m, and so on.
    """

    n_classes: int
    width: int

    searches = True

    @property
    def facts(self) -> RuleFacts | None:
        """Nothing: small as it is, its matrix is looked at."""
        return None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of classes and problems."""
        return self.n_classes, self._n_edges

    @cached_property
    def digits(self) -> tuple[int, ...]:
        """The digits of k in base b, the last one first."""
        found, rest = [], self.n_classes
        while rest:
            rest, digit = divmod(rest, self.width)
            found.append(digit)
        return tuple(found)

    @property
    def n_steps(self) -> int:
        """Number of steps, m."""
        return len(self.digits) - 1

    @cached_property
    def paths(self) -> Indices:
        """The edges of each class, shape (n_classes, m + 2); −1 where there are fewer."""
        m, b, edges = self.n_steps, self.width, self._edges
        paths = np.full((self.n_classes, m + 2), -1)
        for i, start in self._groups():
            members = start + np.arange(self.digits[i] * b**i)
            number = members - start
            states = [(number // b**t) % b for t in range(i)]
            last = number // b**i
            if i < m:  # leaves from state `last` of step i
                states.append(last)
                paths[members, i + 1] = edges.leave[i][last]
            elif edges.whole.size:
                paths[members, m + 1] = edges.whole[last]
            paths[members, 0] = edges.enter[states[0]]
            for t in range(1, len(states)):
                paths[members, t] = edges.between[t - 1][states[t - 1], states[t]]
            if i == m:
                paths[members, m] = edges.collect[states[-1]]
        return paths

    def entries(self, r: Indices, s: Indices) -> Matrix:
        """Return +1 where edge s is on the path of class r, otherwise −1."""
        return self._matrix[r, s]

    def total(self, plus: Array, minus: Array) -> Array:
        """Return the sums of `plus` over the +1s and of `minus` over the −1s of each class."""
        gain = np.hstack([plus - minus, np.zeros((len(plus), 1))])  # the last one for no edge
        sums = np.zeros((len(plus), self.n_classes))
        for edge in self.paths.T:  # in the order of `best`, so that both round alike
            sums += gain[:, edge]
        return sums + minus.sum(axis=1, keepdims=True)

    def best(self, plus: Array, minus: Array, n_best: int) -> tuple[Indices, Array]:
        """Return the classes with the largest sums, best first, and these, by Viterbi's algorithm.

        The best partial paths to each state are kept, n_best of them, of equal ones those of the
        first classes.
        """
        gain, edges, b = plus - minus, self._edges, self.width
        starts = dict(self._groups())
        values = gain[:, edges.enter][:, :, np.newaxis]  # sample × state × partial path
        numbers = np.broadcast_to(np.arange(b)[:, np.newaxis], values.shape)
        found = []
        for t in range(self.n_steps):
            for j in range(self.digits[t] if t in starts else 0):
                gained = values[:, j] + gain[:, edges.leave[t][j], np.newaxis]
                found.append((gained, starts[t] + numbers[:, j]))
            if t + 1 < self.n_steps:
                reached = [
                    _first(
                        values + gain[:, edges.between[t][:, v], np.newaxis],
                        numbers + v * b ** (t + 1),
                        n_best,
                    )
                    for v in range(b)
                ]
                values, numbers = (np.stack(each, axis=1) for each in zip(*reached, strict=True))
        values, numbers = _first(values + gain[:, edges.collect, np.newaxis], numbers, n_best)
        for d in range(self.digits[-1]):
            last = gain[:, edges.whole[d], np.newaxis] if edges.whole.size else 0.0
            found.append((values + last, numbers + d * b**self.n_steps))
        sums, classes = (np.concatenate(each, axis=1) for each in zip(*found, strict=True))
        sums, classes = _first(sums, classes, n_best)
        return classes, sums + minus.sum(axis=1, keepdims=True)

    def log_sum(self, plus: Array, minus: Array) -> Array:
        """Return the logarithm of the sum of the exponentials of all totals, shape (n_samples,)."""
        gain, edges = plus - minus, self._edges
        values, found = gain[:, edges.enter], []
        for t in range(self.n_steps):
            leaving = edges.leave[t]
            found.append(values[:, : len(leaving)] + gain[:, leaving])
            if t + 1 < self.n_steps:
                ways = values[:, :, np.newaxis] + gain[:, edges.between[t]]
                values = np.logaddexp.reduce(ways, axis=1)
        whole = np.logaddexp.reduce(values + gain[:, edges.collect], axis=1)[:, np.newaxis]
        found.append(whole + gain[:, edges.whole] if edges.whole.size else whole)
        return np.logaddexp.reduce(np.hstack(found), axis=1) + minus.sum(axis=1)

    def _groups(self) -> list[tuple[int, int]]:
        """Return for each number of steps that classes go, the most first, its first class."""
        sizes = [(i, d * self.width**i) for i, d in enumerate(self.digits) if d][::-1]
        starts = np.cumsum([0, *(size for _, size in sizes)])
        return [(i, int(start)) for (i, _), start in zip(sizes, starts, strict=False)]

    @cached_property
    def _edges(self) -> "_Edges":
        b, m, digits = self.width, self.n_steps, self.digits
        sizes = [b, *[b * b] * (m - 1), b, *digits[:-1], digits[-1]]
        if sum(digits) == 1:  # all paths would use the last edge: it is no problem
            sizes[-1] = 0
        parts = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
        between = tuple(part.reshape(b, b) for part in parts[1:m])
        return _Edges(parts[0], between, parts[m], tuple(parts[m + 1 : -1]), parts[-1])

    @cached_property
    def _n_edges(self) -> int:
        edges = self._edges
        apart = [edges.enter, *edges.between, edges.collect, *edges.leave, edges.whole]
        return sum(part.size for part in apart)

    @cached_property
    def _matrix(self) -> Matrix:
        what = f"a trellis code of {self.n_classes} classes and {self._n_edges} problems"
        check_room({what: self.n_classes * self._n_edges}, "Take a smaller 'width'.")
        matrix = np.full((self.n_classes, self._n_edges + 1), -1, dtype=np.int8)
        np.put_along_axis(matrix, self.paths, np.int8(1), axis=1)
        return matrix[:, :-1]


@dataclass(frozen=True, eq=False)
class _Edges:
    """The numbers of the edges.

    Attributes
    ----------
    enter : ndarray of shape (b,)
        From the source to the first step.
    between : tuple of ndarrays of shape (b, b)
        From each state to each state of the next step.
    collect : ndarray of shape (b,)
        From the last step to the end of all steps.
    leave : tuple of ndarrays
        From some states of each step to the sink.
    whole : ndarray
        From the end of all steps to the sink.
    """

    enter: Indices
    between: tuple[Indices, ...]
    collect: Indices
    leave: tuple[Indices, ...]
    whole: Indices


def _first(values: Array, numbers: Indices, n_best: int) -> tuple[Array, Indices]:
    """Return the largest values of each row and their numbers, of equal ones the smallest."""
    values, numbers = values.reshape(len(values), -1), numbers.reshape(len(values), -1)
    order = np.lexsort((numbers, -values))[:, :n_best]
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(numbers, order, axis=1)
