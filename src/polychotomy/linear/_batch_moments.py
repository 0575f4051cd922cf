"""What least squares must know of samples seen in batches: moments of each class."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.linear._least_squares_fit import Scatter, ScatterSolver
from polychotomy.linear._linear_problems import LinearProblems


@dataclass(frozen=True, eq=False)
class BatchMoments:
    """Moments of all samples so far, as if they had come at once.

    Attributes
    ----------
    scatter : tuple of float, ndarray and ndarray
        Total weight, mean and scatter matrix, of shape (n_features, n_features).
    sums, totals : ndarray of shape (n_classes, n_features) and (n_classes,)
        Σ weight x and Σ weight of each class.
    """

    scatter: tuple[float, Array, Array]
    sums: Array
    totals: Array

    @classmethod
    def of(cls, X: Any, y: Indices, weight: Array, n_classes: int, *, centred: bool) -> Any:
        """Return the moments of one batch; `y` are class indices."""
        rows = np.zeros((n_classes, 0), dtype=np.int8)
        sums, totals = LinearProblems(X, rows, y, weight, None, "free").pattern_sums(weight)
        return cls(_plain(Scatter.of(X, weight, centred=centred)), sums, totals)

    def plus(self, other: "BatchMoments", *, centred: bool) -> "BatchMoments":
        """Return the moments of both sets of samples together."""
        scatter = Scatter(*self.scatter).plus(Scatter(*other.scatter), centred=centred)
        return BatchMoments(_plain(scatter), self.sums + other.sums, self.totals + other.totals)

    def solve(self, columns: Matrix, C: float, *, centred: bool) -> tuple[Array, Array]:
        """Return weights and intercepts of the problems of a code."""
        u = 2 * C
        scatter = Scatter(*self.scatter).times(u)
        solver = ScatterSolver(scatter, self.sums * u, self.totals * u, centred=centred)
        return solver.by_blocks(columns)


def _plain(scatter: Scatter) -> tuple[float, Array, Array]:
    """Return a scatter in a form that model files know."""
    return scatter.weight, scatter.mean, scatter.matrix
