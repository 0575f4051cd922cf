"""The squared loss, solved exactly: one factorisation for all problems over the same samples.

A problem minimises ½ ‖w‖² + Σ c (t − x·w − b)². With u = 2 c, means m and t̄ weighted by u, and the
scatter S = Σ u (x − m)(x − m)ᵀ, its solution is

    (S + I) w = Σ u (t − t̄)(x − m)        for many samples, or with Z = √u (x − m)
    w = Zᵀ a,  (Z Zᵀ + I) a = √u (t − t̄)  for fewer samples than features,

and b = t̄ − m·w; without an intercept m = t̄ = 0. Problems with the same u share S. The scatters of
different problems are sums over the same parts of the samples, such as classes and folds, or the
nodes of a tree, so that each sample enters one product only. Scatters are merged around their means
(Chan, Golub and LeVeque, 1979), never subtracted: nothing cancels.
"""

from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.sparse import issparse

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.linear._linear_problems import LinearProblems
from polychotomy.linear._nested_groups import NestedGroups
from polychotomy.linear._scatter import Scatter, Scatters

_BLOCK_ENTRIES = 2**21
_MOST_SCATTER_ENTRIES = 2**25


def solve_squared(problems: LinearProblems) -> tuple[Array, Array]:
    """Return the weights, shape (n_features, n_problems), and the intercepts."""
    d = problems.X.shape[1]
    W, b = np.zeros((d, problems.n_problems)), np.zeros(problems.n_problems)
    groups = _groups(problems)
    for g, used, solver in _solvers(problems, groups):
        group = groups[g]
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

    def against_rest(self) -> tuple[Array, Array]:
        """Return weights and intercepts of each pattern against all others, without their sides.

        The sides of problem s are 2 e_s − 1, so that their products are columns and sums.
        """
        middle, every = np.zeros(len(self._totals)), self._around.sum(axis=0)[:, np.newaxis]
        if self._centred and self._scatter.weight > 0:
            middle = (2 * self._totals - self._totals.sum()) / self._scatter.weight
        W = self._solve(2 * self._around.T - every * (1 + middle))
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
) -> Iterator[tuple[int, Indices, GroupSolver]]:
    """Yield each group's number, the patterns that take part, and what solves its problems."""
    d, u = problems.X.shape[1], 2 * problems.weight
    share = problems.pattern_costs(np.array([group[0] for group in groups]))
    sizes = np.bincount(problems.pattern, u > 0, len(problems.patterns)) @ (share > 0)
    small, large = np.flatnonzero(sizes < d), np.flatnonzero(sizes >= d)
    if len(small):
        kernel = _LinearKernel(problems, shared=len(groups) > 1 and problems.X.shape[0] <= d)
        for g in small.tolist():
            used = np.flatnonzero(share[:, g])
            weight = share[problems.pattern, g] * u
            yield g, used, _DualSolver(problems, weight, used, kernel)
    if len(large):
        sums, totals = problems.pattern_sums(u)
        nested = NestedGroups.of(problems, [groups[g] for g in large], share[:, large])
        for place, scatter in _scatters(nested, u):
            g = int(large[place])
            used = np.flatnonzero(share[:, g])
            costs = share[used, g]
            own = sums[used] * costs[:, np.newaxis], totals[used] * costs
            yield g, used, ScatterSolver(scatter, *own, centred=problems.has_intercept)


def _scatters(nested: NestedGroups, u: Array) -> Iterator[tuple[int, Scatter]]:
    """Yield the number and the scatter of each group.

    Groups are made of parts of the samples. Their scatters are computed once, where they fit in
    memory and groups are not parts of each other.
    """
    problems, share = nested.problems, nested.share
    factors, part = np.unique(share, axis=0, return_inverse=True)
    fits = len(factors) * problems.X.shape[1] ** 2 <= _MOST_SCATTER_ENTRIES
    if not fits or nested.work <= problems.X.shape[0] + np.count_nonzero(factors):
        yield from nested.scatters(u)
        return
    of_sample = part.ravel()[problems.pattern]
    order = np.argsort(of_sample, kind="stable")
    borders = np.searchsorted(of_sample[order], np.arange(1, len(factors)))
    parts = Scatters.of([_scatter(problems, own, u) for own in np.split(order, borders)])
    yield from enumerate(parts.merged(factors, centred=problems.has_intercept))


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
