"""Plain twins of the compiled functions, for the tests: slow and obvious."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from polychotomy.arrays import Array
from polychotomy.kernel._device import State


def rbf_from_products(products: Array, own: Array, squares: Array, gamma: float) -> Array:
    """Return Gaussian kernel values from products."""
    distances = own[:, np.newaxis] + squares - 2 * products
    return np.exp(-gamma * np.maximum(distances, 0))


def rbf_rows(X: Array, Y: Array, gamma: float) -> Array:
    """Return Gaussian kernel values of the rows of X with the columns of Y."""
    return rbf_from_products(X @ Y, (X**2).sum(axis=1), (Y**2).sum(axis=0), gamma)


def solve_problem(K: Array, y: Array, c: Array, tol: float) -> Array:
    """Return the coefficients by pairs of second-order gain over all samples."""
    a, e = np.zeros(len(y)), y.astype(float)
    while True:
        up = np.where(y > 0, a < c, a > 0)
        down = np.where(y > 0, a > 0, a < c)
        if not up.any() or not down.any():
            return a
        i = int(np.where(up, e, -np.inf).argmax())
        if e[i] - np.where(down, e, np.inf).min() <= tol:
            return a
        slope = np.where(down, np.maximum(e[i] - e, 0), 0)
        curve = np.maximum(K[i, i] + np.diag(K) - 2 * K[i], 1e-12)
        j = int((slope**2 / curve).argmax())
        t = min(
            (e[i] - e[j]) / curve[j],
            c[i] - a[i] if y[i] > 0 else a[i],
            a[j] if y[j] > 0 else c[j] - a[j],
        )
        a[i] += y[i] * t
        a[j] -= y[j] * t
        a[[i, j]] = np.clip(a[[i, j]], 0, c[[i, j]])
        e = y - (y * a) @ K


def add_coupled(K: Array, W: Array, M: Array) -> tuple[Array, Array]:
    """Return G = W K and F = M G of coefficients with a row for each problem."""
    G = W @ K
    return G, M @ G


class HostDevice:
    """What a :class:`~polychotomy.kernel._device.Device` does, in NumPy."""

    xp = np

    def __init__(self, n_bytes: int = 2**34) -> None:
        self._n_bytes = n_bytes

    def free_bytes(self) -> int:
        """Return what was given."""
        return self._n_bytes

    def guarded(self, n_bytes: int = 0) -> AbstractContextManager[None]:
        """Guard nothing."""
        return nullcontext()

    def choose(self, state: State, groups: Any, tol: float) -> None:
        """Choose by sorting; of equal violations in single precision, the first."""
        parts = (state.y, state.a, state.c, state.f)
        y, a, c, f = (part.reshape(len(state.sizes), -1) for part in parts)
        for g in groups:
            e = y[g] - f[g]
            up = np.where(np.where(y[g] > 0, a[g] < c[g], (y[g] < 0) & (a[g] > 0)), e, -np.inf)
            down = np.where(np.where(y[g] > 0, a[g] > 0, (y[g] < 0) & (a[g] < c[g])), e, np.inf)
            violation = up.max() - down.min()
            state.violations[g] = 0.0 if np.isinf(violation) else violation
            if state.violations[g] > tol:
                self._fill(state, g, up, down)

    def _fill(self, state: State, g: int, up: Array, down: Array) -> None:
        """Put the worst of both sides into a block, then what fits of the last one."""
        size, n = state.blocks.shape[1], state.sizes[g]
        wanted = size // 4 if n else size // 2
        chosen: list[int] = []
        if state.together:
            m, number = state.y.shape[1], np.arange(state.y.shape[1])
            highest, lowest = up.reshape(-1, m), down.reshape(-1, m)
            up_entry = highest.argmax(axis=0) * m + number
            down_entry = lowest.argmin(axis=0) * m + number
            wanted //= 2
            gap = up[up_entry] - down[down_entry]
            for p in _largest(np.where(gap > 0, gap, -np.inf), wanted):
                chosen += [up_entry[p], down_entry[p]]
            worst = up_entry[_largest(up[up_entry], wanted)]
            chosen += [p for p in worst if p not in chosen]
            worst = down_entry[_largest(-down[down_entry], wanted)]
            chosen += [p for p in worst if p not in chosen]
        else:
            for keys in (up, -down):
                chosen += [p for p in _largest(keys, wanted) if p not in chosen]
        chosen += [p for p in state.blocks[g, :n] if p not in chosen]
        state.sizes[g] = min(len(chosen), size)
        state.blocks[g, : state.sizes[g]] = chosen[:size]

    def flag(self, state: State, groups: Any, flags: Any) -> None:
        """Flag the samples of the blocks of listed groups."""
        for g in groups:
            flags[state.blocks[g, : state.sizes[g]] % len(flags)] = True

    def solve(
        self, K: Any, slot: Any, state: State, groups: Any, tol: float, most: int, left: Any
    ) -> tuple[Any, Any, Any]:
        """Solve each block by pairs of second-order gain."""
        y, a, c, f = (part.reshape(-1) for part in (state.y, state.a, state.c, state.f))
        m = len(slot)
        changed = np.zeros((len(groups), state.blocks.shape[1]), dtype=np.int32)
        changes, counts = np.zeros(changed.shape), np.zeros(len(groups), dtype=np.int32)
        for b, g in enumerate(groups):
            block = state.blocks[g, : state.sizes[g]]
            entry = g * state.length + block
            Q = K[slot[entry % m]][:, entry % m].astype(float)
            if state.M is not None:
                Q = Q * state.M[np.ix_(entry // m, entry // m)]
            own, before = y[entry].astype(float), a[entry].copy()
            enough = max(0.5 * tol, state.part * state.violations[g])
            at_most = most if left is None else min(most, left[g])
            new, steps = _pairs(Q, own, before, c[entry], own - f[entry], enough, at_most)
            a[entry] = new
            state.steps[g] += steps
            moved = np.flatnonzero(new != before)
            counts[b] = len(moved)
            changed[b, : len(moved)] = block[moved]
            changes[b, : len(moved)] = (own * (new - before))[moved]
        return changed, changes, counts

    def add(
        self, K: Any, slot: Any, state: State, groups: Any, problems: Any, changes: Any
    ) -> None:
        """Add one kernel row after the other."""
        changed, weights, counts = changes
        m = len(slot)
        for b, g in enumerate(groups):
            for p, weight in zip(changed[b, : counts[b]], weights[b], strict=False):
                entry = g * state.length + p
                state.G[entry // m] += weight * K[slot[entry % m], :m]

    def mix(self, state: State) -> None:
        """Write the outputs f = M G of coupled problems."""
        state.f[:] = state.M @ state.G

    def gaussian(self, products: Any, own: Any, squares: Any, gamma: float) -> None:
        """Turn products into values of the Gaussian kernel, in place."""
        products[:] = rbf_from_products(products, own, squares, gamma)


def _largest(keys: Array, n: int) -> Array:
    """Return the places of the n largest finite keys, in ascending order."""
    order = np.argsort(-keys.astype(np.float32), kind="stable")[:n]
    return np.sort(order[np.isfinite(keys[order])])


def _pairs(
    Q: Array, y: Array, a: Array, c: Array, e: Array, enough: float, most: int
) -> tuple[Array, int]:
    """Return the coefficients after at most so many steps, and how many it took."""
    a, e = a.copy(), e.copy()
    for step in range(most):
        up, down = np.where(y > 0, a < c, a > 0), np.where(y > 0, a > 0, a < c)
        i = int(np.where(up, e, -np.inf).argmax())
        if not up.any() or not down.any() or e[i] - np.where(down, e, np.inf).min() <= enough:
            return a, step
        slope = np.where(down, np.maximum(e[i] - e, 0), 0)
        curve = np.maximum(Q[i, i] + np.diag(Q) - 2 * Q[i], 1e-12)
        j = int((slope**2 / curve).argmax())
        room_i = c[i] - a[i] if y[i] > 0 else a[i]
        room_j = a[j] if y[j] > 0 else c[j] - a[j]
        t = min((e[i] - e[j]) / curve[j], room_i, room_j)
        before = a[[i, j]]
        a[i] = (c[i] if y[i] > 0 else 0.0) if t == room_i else a[i] + y[i] * t
        a[j] = (0.0 if y[j] > 0 else c[j]) if t == room_j else a[j] - y[j] * t
        e = e - (y[[i, j]] * (a[[i, j]] - before)) @ Q[[i, j]]
    return a, most
