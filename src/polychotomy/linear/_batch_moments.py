"""Moments of samples that come in batches: all that a least-squares fit needs of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.linear._least_squares_fit import ScatterSolver
from polychotomy.linear._linear_problems import LinearProblems
from polychotomy.linear._scatter import Scatter, Scatters


@dataclass(frozen=True, eq=False)
class BatchMoments:
    """Moments of all samples so far, as if they had come at once.

    Classes that take part in the same problems are one *part*, whose samples share a scatter: all
    classes of a strict code, each class by itself for one-vs-one.

    Attributes
    ----------
    part : ndarray of shape (n_classes,)
        The part of each class.
    weights, means, matrices : ndarray
        Total weight, mean and scatter matrix of each part, of shape (n_parts,), (n_parts,
        n_features) and (n_parts, n_features, n_features).
    sums, totals : ndarray of shape (n_classes, n_features) and (n_classes,)
        Σ weight x and Σ weight of each class.
    """

    part: Indices
    weights: Array
    means: Array
    matrices: Array
    sums: Array
    totals: Array

    @classmethod
    def of(
        cls, X: Any, y: Indices, weight: Array, part: Indices, *, centred: bool
    ) -> "BatchMoments":
        """Return the moments of one batch; `y` are class indices."""
        rows = np.zeros((len(part), 0), dtype=np.int8)
        sums, totals = LinearProblems(X, rows, y, weight, None, "free").pattern_sums(weight)
        own = (np.flatnonzero(part[y] == p) for p in range(part.max() + 1))
        some = (rows if len(rows) < len(y) else slice(None) for rows in own)
        found = [Scatter.of(X[rows], weight[rows], centred=centred) for rows in some]
        return cls(part, *Scatters.of(found), sums, totals)

    def plus(self, other: "BatchMoments", *, centred: bool) -> "BatchMoments":
        """Return the moments of both sets of samples together."""
        found = [
            a.plus(b, centred=centred) for a, b in zip(self._each(), other._each(), strict=True)
        ]
        sums, totals = self.sums + other.sums, self.totals + other.totals
        return BatchMoments(self.part, *Scatters.of(found), sums, totals)

    def solve(self, columns: Matrix, C: float, *, centred: bool) -> tuple[Array, Array]:
        """Return weights and intercepts of the problems of a code."""
        u = 2 * C
        W, b = np.zeros((self.means.shape[1], columns.shape[1])), np.zeros(columns.shape[1])
        first = np.unique(self.part, return_index=True)[1]
        takes_part, group = np.unique(columns[first] != 0, axis=1, return_inverse=True)
        scatters = Scatters(self.weights, self.means, self.matrices)
        for g, scatter in enumerate(scatters.merged(takes_part, centred=centred)):
            own, used = np.flatnonzero(group == g), np.flatnonzero(takes_part[self.part, g])
            sums, totals = self.sums[used] * u, self.totals[used] * u
            solver = ScatterSolver(scatter.times(u), sums, totals, centred=centred)
            W[:, own], b[own] = solver.by_blocks(columns[np.ix_(used, own)])
        return W, b

    def against_rest(self, C: float, *, centred: bool) -> tuple[Array, Array]:
        """Return weights and intercepts of :func:`one_vs_rest`; all classes are one part."""
        if len(self.part) == 2:
            return self.solve(one_vs_rest(2), C, centred=centred)
        (scatter,), u = self._each(), 2 * C
        sums, totals = self.sums * u, self.totals * u
        return ScatterSolver(scatter.times(u), sums, totals, centred=centred).against_rest()

    def _each(self) -> Iterator[Scatter]:
        moments = zip(self.weights, self.means, self.matrices, strict=True)
        return (Scatter(float(weight), mean, matrix) for weight, mean, matrix in moments)


def one_vs_rest(n_classes: int) -> Matrix:
    """Return the code of the problems: one for two classes, otherwise one for each class."""
    if n_classes == 2:
        return np.array([[-1], [1]], dtype=np.int8)
    columns: Matrix = 2 * np.eye(n_classes, dtype=np.int8) - 1
    return columns


def parts_of(columns: NDArray[Any]) -> Indices:
    """Return the part of each class of a code: those that take part in the same problems."""
    return np.unique(columns != 0, axis=0, return_inverse=True)[1].ravel()


def check_batch_classes(classes: Any, known: NDArray[Any] | None) -> NDArray[Any]:
    """Return the labels of all batches, `known` from the first; raise ValueError for others."""
    if known is None and classes is None:
        raise ValueError(
            "The 'classes' parameter must hold all labels in the first call to partial_fit."
        )
    if known is None:
        found = np.unique(classes)
        if len(found) < 2:
            raise ValueError("The 'classes' parameter must hold at least two classes.")
        return found
    if classes is not None and not np.array_equal(np.unique(classes), known):
        raise ValueError(
            "The 'classes' parameter must hold the same labels in every call to partial_fit, "
            "or be None after the first."
        )
    return known
