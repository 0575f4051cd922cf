"""Scatters: total weight, mean and products of features around it, of some samples."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from polychotomy.arrays import Array

_BLOCK_ENTRIES = 2**21
_BLOCK_GROUPS = 32


class Scatter(NamedTuple):
    """Total weight, mean and scatter around the mean of some samples."""

    weight: float
    mean: Array
    matrix: Array

    @classmethod
    def of(cls, X: Any, weight: Array, *, centred: bool) -> "Scatter":
        """Return that of all rows of X; around 0 if not `centred`."""
        total, d = float(weight.sum()), X.shape[1]
        mean = np.zeros(d)
        if centred and total > 0:
            mean = np.asarray(X.T @ weight, dtype=float).ravel() / total
        matrix = np.zeros((d, d))
        size = max(256, _BLOCK_ENTRIES // max(1, d))
        for start in range(0, X.shape[0], size):
            rows = X[start : start + size]
            rows = rows.toarray() if issparse(rows) else rows
            Z = (rows - mean) * np.sqrt(weight[start : start + size, np.newaxis])
            matrix += Z.T @ Z
        return cls(total, mean, matrix)

    def plus(self, other: "Scatter", *, centred: bool) -> "Scatter":
        """Return that of both sets of samples together."""
        total = self.weight + other.weight
        if not centred or total == 0:
            return Scatter(total, self.mean, self.matrix + other.matrix)
        way = other.mean - self.mean
        matrix = self.matrix + other.matrix
        matrix += np.outer(way, way * (self.weight * other.weight / total))
        return Scatter(total, self.mean + way * (other.weight / total), matrix)

    def times(self, factor: float) -> "Scatter":
        """Return that of the same samples with other weights."""
        return Scatter(self.weight * factor, self.mean, self.matrix * factor)


class Scatters(NamedTuple):
    """Total weights, means and scatters of several sets of samples."""

    weights: Array
    means: Array
    matrices: Array

    @classmethod
    def of(cls, parts: list[Scatter]) -> "Scatters":
        """Return scatters as arrays."""
        return cls(*(np.array(each) for each in zip(*parts, strict=True)))

    def merged(self, factors: NDArray[Any], *, centred: bool) -> Iterator[Scatter]:
        """Yield scatters of sets together; `factors` of their weights, a column for each scatter.

        Columns are taken in blocks, which in a tree have many sets in common: one product for all.
        """
        size = max(1, min(_BLOCK_GROUPS, _BLOCK_ENTRIES // max(1, self.means.shape[1] ** 2)))
        for start in range(0, factors.shape[1], size):
            block = factors[:, start : start + size]
            used = np.flatnonzero(block.any(axis=1))
            block = block[used].astype(float)
            matrices = np.tensordot(block.T, self.matrices[used], 1)
            for factor, matrix in zip(block.T, matrices, strict=True):
                weights, means = self.weights[used] * factor, self.means[used]
                total, mean = float(weights.sum()), np.zeros(means.shape[1])
                if centred and total > 0:
                    mean = weights @ means / total
                    around = (means - mean) * np.sqrt(weights[:, np.newaxis])
                    matrix = matrix + around.T @ around
                yield Scatter(total, mean, matrix)
