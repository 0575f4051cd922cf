"""Newton's method for many linear problems at once.

All problems of a block take their steps together: each Newton step solves (∇²P) p = −∇P by
conjugate gradients, preconditioned by the diagonal, with one product by X and one by Xᵀ for all
problems of the block, then halves each problem's step until its objective falls enough. Problems
that are solved leave the block.

A problem is solved when a full step was expected to lower P by at most tol P / 10, or when
½ ‖∇P‖² ≤ tol P: as P is strongly convex with constant 1 (in the intercept only if it is penalised),
P then exceeds its minimum by no more than tol P. Conjugate gradients stop as Nash and Sofer (1990)
propose, when their last step adds little to what all of them have gained, and the less the nearer
the solution is; for the squared loss, whose first step is the last, when the last four steps gain
too little to matter.
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
_TRUNCATION = 0.25


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
    if loss == "logistic" and problems.intercept == "free":
        plus, minus = ((block.costs * (side * sides > 0)).sum(axis=0) for side in (1, -1))
        U[-1] = np.log(plus / minus)  # what it is without features
    steps, solved = np.zeros(len(some), np.int64), np.zeros(len(some), bool)
    left = np.arange(len(some))
    state = _State.of(block, U)
    for _ in range(max_iter + 1):
        done = state.done | (_squares(state.G) / 2 <= tol * state.P)
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
    """Where the problems of a block are: U, outputs, objective, gradient.

    A problem is done if its last step was too small to matter. `truncation` says how early
    conjugate gradients may stop.
    """

    block: ColumnBlock
    U: Floats
    F: Floats
    P: Array
    G: Floats
    done: NDArray[np.bool_]
    truncation: Array

    @classmethod
    def of(cls, block: ColumnBlock, U: Floats) -> "_State":
        F = block.forward(U)
        G = block.gradient(F, U)
        n, once = U.shape[1], block.loss is MARGIN_LOSSES["squared"]
        truncation = np.full(n, 0.0 if once else _TRUNCATION)
        return cls(block, U, F, block.objective(F, U), G, np.zeros(n, bool), truncation)

    def part(self, keep: NDArray[np.bool_]) -> "_State":
        if keep.all():
            return self
        U, F, G = self.U[:, keep], self.F[:, keep], self.G[:, keep]
        block = self.block.part(keep)
        return _State(block, U, F, self.P[keep], G, self.done[keep], self.truncation[keep])

    def stepped(self, tol: float) -> "_State":
        """Return the state after a Newton step of each problem."""
        block, D = self.block, self.block.curvature(self.F)
        step, ended = _conjugate_gradients(block, D, self.G, self.truncation, self.P, tol)
        change = block.forward(step)
        slope = np.einsum("js,js->s", self.G, step, dtype=float)
        rounding = 10 * np.finfo(self.U.dtype).eps * self.P
        length, P = self._line_search(step, change, slope, rounding)
        U, F = self.U + length * step, self.F + length * change
        G = block.gradient(F, U)
        done = (-slope / 2 <= tol * self.P / 10) & (length == 1)
        done |= ended & (self.truncation == 0)
        done |= (-slope <= rounding) & (_squares(G) >= _squares(self.G) / 4)
        near = np.sqrt(np.maximum(-slope, 0) / np.maximum(self.P, np.finfo(float).tiny))
        truncation = np.minimum(self.truncation, np.maximum(near, np.finfo(float).tiny))
        return _State(block, U, F, P, G, done | (length == 0), truncation)

    def _line_search(
        self, step: Floats, change: Floats, slope: Array, rounding: Array
    ) -> tuple[Floats, Array]:
        """Return the length of each problem's step, and the objective that it reaches.

        `rounding` is what objectives may be wrong by. A step that finds no lower one has length 0.
        """
        block, length, P = self.block, np.ones(len(slope), self.U.dtype), self.P.copy()
        left = np.arange(len(slope))
        for _ in range(_MOST_HALVINGS):
            a, some = length[left], block.part(left)
            reached = some.objective(
                self.F[:, left] + a * change[:, left], self.U[:, left] + a * step[:, left]
            )
            good = reached <= self.P[left] + _ARMIJO * a * slope[left] + rounding[left]
            P[left[good]] = reached[good]
            left = left[~good]
            if not len(left):
                break
            length[left] /= 2
        length[left] = 0
        return length, P


def _conjugate_gradients(
    block: ColumnBlock, D: Floats, G: Floats, truncation: Array, P: Array, tol: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Solve (∇²P) p = −G for each column; return p, and whether enough steps were taken.

    Stops when the last four steps gain no more than the share tol / 1000 of what is left of P,
    since hundreds of small gains add up where errors cost much, or when the j-th step gains no more
    than the share `truncation` / j of all that was gained. What a column finds does not depend on
    the others.
    """
    out: Floats = np.zeros_like(G)
    M, R, left = block.diagonal(D), -G, np.arange(G.shape[1])
    Z = R / M
    Q, rz, found = Z, _dots(R, Z), np.zeros_like(G)
    gains, total = np.full((4, len(left)), np.inf), np.zeros(len(left))
    running, ended = np.ones(len(left), bool), np.ones(len(left), bool)
    for j in range(1, _MOST_CG_STEPS + 1):
        HQ = block.backward(D * block.forward(Q)) + block.ridge * Q
        a = (running * rz / np.maximum(_dots(Q, HQ), np.finfo(float).tiny)).astype(G.dtype)
        found += a * Q
        R -= a * HQ
        gains[j % 4] = a * rz / 2
        total += gains[j % 4]
        running &= gains.sum(axis=0) > tol / 1000 * np.maximum(P - total, 0)
        running &= j * gains[j % 4] > truncation * total
        if not running.any():
            break
        if running.sum() <= 0.75 * len(running):
            out[:, left] = found
            left, P, rz = left[running], P[running], rz[running]
            truncation = truncation[running]
            gains, total = gains[:, running], total[running]
            M, R, Q = M[:, running], R[:, running], Q[:, running]
            found, D = found[:, running], D[:, running]
            running = running[running]
        Z = R / M
        new = _dots(R, Z)
        Q = Z + (new / np.maximum(rz, np.finfo(float).tiny)).astype(G.dtype) * Q
        rz = new
    out[:, left], ended[left] = found, ~running
    return out, ended


def _squares(A: Floats) -> Array:
    return _dots(A, A)


def _dots(A: Floats, B: Floats) -> Array:
    return np.asarray(np.einsum("js,js->s", A, B, dtype=float))
