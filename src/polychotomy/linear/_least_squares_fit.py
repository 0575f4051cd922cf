"""The squared loss, solved exactly: one factorisation for all problems over the same samples.

A problem minimises ½ ‖w‖² + Σ c (t − x·w − b)². With u = 2 c, means m and t̄ weighted by u, and the
scatter S = Σ u (x − m)(x − m)ᵀ, its solution is

    (S + I) w = Σ u (t − t̄)(x − m)        for many samples, or with Z = √u (x − m)
    w = Zᵀ a,  (Z Zᵀ + I) a = √u (t − t̄)  for fewer samples than features,

and b = t̄ − m·w; without an intercept m = t̄ = 0. Problems with the same u share S. The scatters of
different problems are sums over the same parts of the samples, such as classes and folds, so that
each sample enters one product only. Scatters are merged around their means (Chan, Golub and
LeVeque, 1979), never subtracted: nothing cancels.
"""

from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.sparse import issparse

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.linear._linear_problems import LinearProblems

_BLOCK_ENTRIES = 2**21
_BLOCK_GROUPS = 32
_MOST_SCATTER_ENTRIES = 2**25


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


def solve_squared(problems: LinearProblems) -> tuple[Array, Array]:
    """Return the weights, shape (n_features, n_problems), and the intercepts."""
    d = problems.X.shape[1]
    W, b = np.zeros((d, problems.n_problems)), np.zeros(problems.n_problems)
    groups = _groups(problems)
    for group, (used, solver) in zip(groups, _solvers(problems, groups), strict=True):
        everything = len(groups) == 1 and len(used) == len(problems.patterns)
        columns = problems.patterns if everything else problems.patterns[np.ix_(used, group)]
        W[:, group], b[group] = solver.by_blocks(columns)
    return W, b


class GroupSolver:
    """Solves problems with the same weights u of their samples."""

    def __call__(self, sides: Array) -> tuple[Array, Array]:
        """Return weights and intercepts; `sides` has a row for each pattern that takes part."""
        raise NotImplementedError

    def by_blocks(self, sides: Matrix) -> tuple[Array, Array]:
        """Return the same with a block of problems at a time in double precision."""
        size = max(1, _BLOCK_ENTRIES // max(1, len(sides)))
        starts = range(0, sides.shape[1], size)
        found = [self(sides[:, start : start + size].astype(float)) for start in starts]
        W, b = zip(*found, strict=True)
        return np.hstack(W), np.concatenate(b)


class ScatterSolver(GroupSolver):
    """Solves problems with the same weights u of their samples from moments.

    Parameters
    ----------
    scatter : Scatter
        Of the samples with the weights u.
    sums, totals : ndarray of shape (n_patterns, n_features) and (n_patterns,)
        Σ u x and Σ u of each pattern that takes part.
    centred : bool
        Whether there is an intercept.
    """

    def __init__(self, scatter: Scatter, sums: Array, totals: Array, *, centred: bool) -> None:
        self._scatter, self._totals, self._centred = scatter, totals, centred
        self._around = sums - totals[:, np.newaxis] * scatter.mean
        self._solve = _factorised(scatter.matrix)

    def __call__(self, sides: Array) -> tuple[Array, Array]:
        middle = np.zeros(sides.shape[1])
        if self._centred and self._scatter.weight > 0:
            middle = self._totals @ sides / self._scatter.weight
        W = self._solve(self._around.T @ (sides - middle))
        return W, (middle - self._scatter.mean @ W) * self._centred


def _groups(problems: LinearProblems) -> list[Indices]:
    """Return the problems in groups of the same u."""
    n = problems.n_problems
    if problems.factors is None and problems.patterns.all():
        return [np.arange(n)]
    found: dict[bytes, list[int]] = {}
    size = max(1, _BLOCK_ENTRIES // max(1, len(problems.patterns)))
    for start in range(0, n, size):
        some = np.arange(start, min(start + size, n))
        for s, costs in zip(some.tolist(), problems.pattern_costs(some).T.copy(), strict=True):
            found.setdefault(blake2b(costs.tobytes(), digest_size=16).digest(), []).append(s)
    return [np.array(group) for group in found.values()]


def _solvers(
    problems: LinearProblems, groups: list[Indices]
) -> Iterator[tuple[Indices, GroupSolver]]:
    """Yield for each group the patterns that take part, and what solves its problems."""
    d, u = problems.X.shape[1], 2 * problems.weight
    share = problems.pattern_costs(np.array([group[0] for group in groups]))
    sizes = np.bincount(problems.pattern, u > 0, len(problems.patterns)) @ (share > 0)
    kernel = None
    if (sizes >= d).any():
        sums, totals = problems.pattern_sums(u)
        scatters = _scatters(problems, share[:, sizes >= d], u)
    if (sizes < d).any():
        kernel = _LinearKernel(problems, shared=len(groups) > 1 and problems.X.shape[0] <= d)
    for costs, size in zip(share.T, sizes, strict=True):
        used = np.flatnonzero(costs)
        if size < d:
            assert kernel is not None
            yield used, _DualSolver(problems, costs[problems.pattern] * u, used, kernel)
        else:
            own = sums[used] * costs[used, np.newaxis], totals[used] * costs[used]
            yield used, ScatterSolver(next(scatters), *own, centred=problems.has_intercept)


def _scatters(problems: LinearProblems, share: NDArray[Any], u: Array) -> Iterator[Scatter]:
    """Yield the scatter of each group; `share` has c / weight of each pattern.

    Groups are made of parts of the samples, whose scatters are computed once if they fit in memory.
    """
    factors, part = np.unique(share, axis=0, return_inverse=True)
    if len(factors) * problems.X.shape[1] ** 2 > _MOST_SCATTER_ENTRIES:
        for costs in share.T:
            weight = costs[problems.pattern] * u
            yield _scatter(problems, np.arange(len(weight)), weight)
        return
    of_sample = part.ravel()[problems.pattern]
    order = np.argsort(of_sample, kind="stable")
    borders = np.searchsorted(of_sample[order], np.arange(1, len(factors)))
    parts = Scatters.of([_scatter(problems, own, u) for own in np.split(order, borders)])
    yield from parts.merged(factors, centred=problems.has_intercept)


def _scatter(problems: LinearProblems, samples: Indices, weight: Array) -> Scatter:
    """Return the scatter of those of some samples that have a weight."""
    samples = samples[weight[samples] > 0]
    X = problems.X
    own = X if len(samples) == X.shape[0] else X[samples]
    chosen = weight if own is X else weight[samples]
    return Scatter.of(own, chosen, centred=problems.has_intercept)


class _LinearKernel:
    """The products of samples with each other, computed once where groups share samples."""

    def __init__(self, problems: LinearProblems, *, shared: bool) -> None:
        X = problems.X
        self._X, self.centre = X, np.zeros(X.shape[1])
        if problems.has_intercept and not issparse(X):
            self.centre = X.mean(axis=0, dtype=float)
        self._all = self._products(self.rows(np.arange(X.shape[0]))) if shared else None

    def rows(self, samples: Indices) -> Any:
        """Return samples in double precision; dense ones around their common mean."""
        own = self._X[samples]
        return own.astype(float) if issparse(own) else own - self.centre

    def values(self, samples: Indices, rows: Any) -> Array:
        """Return the products of samples, whose rows are given, with each other."""
        return self._products(rows) if self._all is None else self._all[np.ix_(samples, samples)]

    @staticmethod
    def _products(rows: Any) -> Array:
        K = rows @ rows.T
        return K.toarray() if issparse(K) else np.asarray(K)


class _DualSolver(GroupSolver):
    """Solves the problems of one group that has fewer samples than features."""

    def __init__(
        self, problems: LinearProblems, u: Array, used: Indices, kernel: _LinearKernel
    ) -> None:
        self._centred, self._centre = problems.has_intercept, kernel.centre
        own = np.flatnonzero(u)
        self._pattern = np.searchsorted(used, problems.pattern[own])
        self._root = np.sqrt(u[own])
        self._share = u[own] / max(u.sum(), np.finfo(float).tiny)
        self._rows = kernel.rows(own)
        K = kernel.values(own, self._rows)
        if self._centred:
            middle = K @ self._share
            K = K - middle - middle[:, np.newaxis] + self._share @ middle
        self._solve = _factorised(K * self._root * self._root[:, np.newaxis])

    def __call__(self, sides: Array) -> tuple[Array, Array]:
        sides, root = sides[self._pattern], self._root[:, np.newaxis]
        middle = self._share @ sides * self._centred
        a = root * self._solve(root * (sides - middle))
        W = np.asarray(self._rows.T @ a)
        if not self._centred:
            return W, middle
        mean = np.asarray(self._rows.T @ self._share).ravel()
        W -= np.outer(mean, a.sum(axis=0))
        return W, middle - (mean + self._centre) @ W


def _factorised(matrix: Array) -> Callable[[Array], Array]:
    """Return a function that solves (matrix + I) x = right, for a positive semi-definite matrix."""
    if not len(matrix):
        return np.copy
    try:
        factor = cho_factor(matrix + np.eye(len(matrix)), lower=True, overwrite_a=True)
    except LinAlgError:  # I is lost in rounding: directions without scatter get no weight
        values, vectors = eigh(matrix)
        least = len(matrix) * np.finfo(float).eps * max(values[-1], 1.0)
        inverse = np.where(values > least, 1 / (np.maximum(values, least) + 1), 0.0)
        return lambda right: vectors @ (inverse[:, np.newaxis] * (vectors.T @ right))
    return lambda right: np.asarray(cho_solve(factor, right))
