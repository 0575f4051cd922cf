"""Newton's method for many linear problems at once.

All problems of a block take their steps together: each Newton step solves (∇²P) p = −∇P by
conjugate gradients, preconditioned by the diagonal, with one product by X and one by Xᵀ for all
problems of the block, then halves each problem's step until its objective falls enough. Problems
that are solved leave the block.

A problem is solved when ½ ‖∇P‖² ≤ tol P. As P is strongly convex with constant 1 (in the intercept
only if it is penalised), P then exceeds its minimum by no more than tol P.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from polychotomy.arrays import Array, Indices
from polychotomy.linear._linear_problems import LinearProblems
from polychotomy.linear._margin_loss import MARGIN_LOSSES, MarginLoss

Floats = NDArray[np.floating[Any]]

_ROWS_OF_SQUARES = 2**20
_MOST_CG_STEPS = 200
_MOST_HALVINGS = 40
_ARMIJO = 1e-4


class Found(NamedTuple):
    """Solutions: weights and intercepts, steps, and whether each problem is solved."""

    W: Floats
    b: Floats
    steps: NDArray[np.int64]
    solved: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ColumnBlock:
    """Problems that are solved together.

    Attributes
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    sides, costs : ndarray of shape (n_samples, n_columns)
        t and c; `costs` may have a single column for all.
    loss : MarginLoss
    ridge : ndarray of shape (n_features + 1, 1)
        Factor of the penalty of each weight; the last is that of the intercept.
    intercept : bool
    """

    X: Any
    sides: Floats
    costs: Floats
    loss: MarginLoss
    ridge: Floats
    intercept: bool

    def forward(self, U: Floats) -> Floats:
        """Return X w + b of each column of U, which are weights and then the intercept."""
        F: Floats = np.asarray(self.X @ U[:-1])
        F += U[-1]
        return F

    def backward(self, R: Floats) -> Floats:
        """Return Xᵀ r, and Σ r for the intercept."""
        out = np.empty((self.X.shape[1] + 1, R.shape[1]), R.dtype)
        out[:-1] = self.X.T @ R
        out[-1] = R.sum(axis=0) if self.intercept else 0
        return out

    def objective(self, F: Floats, U: Floats) -> Array:
        """Return P of each column."""
        errors = self.loss.value(self.sides * F) * self.costs
        penalty = np.einsum("js,js,j->s", U, U, self.ridge[:, 0], dtype=float)
        return np.asarray(errors.sum(axis=0, dtype=float) + penalty / 2)

    def gradient(self, F: Floats, U: Floats) -> Floats:
        """Return ∇P of each column."""
        return self.backward(self.loss.slope(self.sides * F) * self.sides * self.costs) + (
            self.ridge * U
        )

    def curvature(self, F: Floats) -> Floats:
        """Return c L''(t f) of each sample and column."""
        return self.loss.curvature(self.sides * F) * self.costs

    def diagonal(self, D: Floats) -> Floats:
        """Return the diagonal of ∇²P, given the curvature."""
        out = np.zeros((self.X.shape[1] + 1, D.shape[1]), D.dtype)
        out[-1] = D.sum(axis=0) if self.intercept else 0
        size = max(1, _ROWS_OF_SQUARES // max(1, self.X.shape[1]))
        if issparse(self.X):
            out[:-1] = self.X.multiply(self.X).T @ D
        else:
            for start in range(0, len(D), size):
                out[:-1] += (self.X[start : start + size] ** 2).T @ D[start : start + size]
        out += self.ridge
        return np.maximum(out, np.finfo(D.dtype).tiny)

    def part(self, columns: Any) -> "ColumnBlock":
        """Return some of the problems."""
        costs = self.costs if self.costs.shape[1] == 1 else self.costs[:, columns]
        return replace(self, sides=self.sides[:, columns], costs=costs)


def solve_newton(
    problems: LinearProblems, some: Indices, loss: str, tol: float, max_iter: int
) -> Found:
    """Solve some problems together."""
    X, dtype = problems.X, problems.X.dtype
    costs = problems.weight[:, np.newaxis] if problems.factors is None else problems.costs(some)
    ridge = np.ones((X.shape[1] + 1, 1), dtype)
    ridge[-1] = 0 if problems.intercept == "free" else 1
    sides = problems.sides(some).astype(dtype)
    if problems.factors is None and not sides.all():
        costs = costs * np.abs(sides)
    block = ColumnBlock(
        X, sides, costs.astype(dtype), MARGIN_LOSSES[loss], ridge, problems.has_intercept
    )
    U = np.zeros((X.shape[1] + 1, len(some)), dtype)
    steps, solved = np.zeros(len(some), np.int64), np.zeros(len(some), bool)
    left = np.arange(len(some))
    state = _State.of(block, U)
    for _ in range(max_iter + 1):
        done = state.is_solved(tol) | state.stuck
        solved[left[done]] = True
        U[:, left[done]] = state.U[:, done]
        left, state = left[~done], state.part(~done)
        if not len(left) or steps[left[0]] == max_iter:
            break
        state = state.stepped(tol)
        steps[left] += 1
    U[:, left] = state.U
    return Found(U[:-1], U[-1], steps, solved)


@dataclass(frozen=True, eq=False)
class _State:
    """Where the problems of a block are: U, outputs, objective, gradient and its first norm.

    A problem is stuck if rounding keeps it from getting better.
    """

    block: ColumnBlock
    U: Floats
    F: Floats
    P: Array
    G: Floats
    first: Array
    stuck: NDArray[np.bool_]

    @classmethod
    def of(cls, block: ColumnBlock, U: Floats) -> "_State":
        F = block.forward(U)
        G = block.gradient(F, U)
        stuck = np.zeros(U.shape[1], bool)
        return cls(block, U, F, block.objective(F, U), G, _squares(G), stuck)

    def is_solved(self, tol: float) -> NDArray[np.bool_]:
        return np.asarray(_squares(self.G) / 2 <= tol * self.P)

    def part(self, keep: NDArray[np.bool_]) -> "_State":
        if keep.all():
            return self
        U, F, G = self.U[:, keep], self.F[:, keep], self.G[:, keep]
        block = self.block.part(keep)
        return _State(block, U, F, self.P[keep], G, self.first[keep], self.stuck[keep])

    def stepped(self, tol: float) -> "_State":
        """Return the state after a Newton step of each problem."""
        block, norm = self.block, _squares(self.G)
        D = block.curvature(self.F)
        forcing = np.minimum(0.1, np.sqrt(norm / self.first)) ** 2 * norm
        if block.loss is MARGIN_LOSSES["squared"]:
            forcing = np.full_like(norm, 0.0) + tol * self.P * 0.01
        step = _conjugate_gradients(block, D, self.G, forcing)
        change = block.forward(step)
        slope = np.einsum("js,js->s", self.G, step, dtype=float)
        rounding = 10 * np.finfo(self.U.dtype).eps * self.P
        length = self._line_search(step, change, slope, rounding)
        U, F = self.U + length * step, self.F + length * change
        G = block.gradient(F, U)
        stuck = (-slope <= rounding) & (_squares(G) >= norm / 4)
        return _State(block, U, F, block.objective(F, U), G, self.first, stuck)

    def _line_search(self, step: Floats, change: Floats, slope: Array, rounding: Array) -> Floats:
        """Return the length of each problem's step; `rounding` is what objectives are wrong by."""
        block, length = self.block, np.ones(len(slope), self.U.dtype)
        left = np.arange(len(slope))
        for _ in range(_MOST_HALVINGS):
            a, some = length[left], block.part(left)
            reached = some.objective(
                self.F[:, left] + a * change[:, left], self.U[:, left] + a * step[:, left]
            )
            good = reached <= self.P[left] + _ARMIJO * a * slope[left] + rounding[left]
            left = left[~good]
            if not len(left):
                break
            length[left] /= 2
        length[left] = 0
        return length


def _conjugate_gradients(block: ColumnBlock, D: Floats, G: Floats, target: Array) -> Floats:
    """Solve (∇²P) p = −G for each column until the squared residual is at most its target."""
    out: Floats = np.zeros_like(G)
    M, R, left = block.diagonal(D), -G, np.arange(G.shape[1])
    Z = R / M
    Q, rz, P = Z, _dots(R, Z), np.zeros_like(G)
    for _ in range(_MOST_CG_STEPS):
        HQ = block.backward(D * block.forward(Q)) + block.ridge * Q
        a = (rz / np.maximum(_dots(Q, HQ), np.finfo(float).tiny)).astype(G.dtype)
        P += a * Q
        R -= a * HQ
        running = _squares(R) > target
        if not running.any():
            break
        if running.sum() <= 0.75 * len(running):
            out[:, left] = P
            left, target, rz = left[running], target[running], rz[running]
            M, R, Q = M[:, running], R[:, running], Q[:, running]
            P, D = P[:, running], D[:, running]
        Z = R / M
        new = _dots(R, Z)
        Q = Z + (new / np.maximum(rz, np.finfo(float).tiny)).astype(G.dtype) * Q
        rz = new
    out[:, left] = P
    return out


def _squares(A: Floats) -> Array:
    return _dots(A, A)


def _dots(A: Floats, B: Floats) -> Array:
    return np.asarray(np.einsum("js,js->s", A, B, dtype=float))
