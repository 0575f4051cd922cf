"""The joint kernel problem on a GPU: all problems advance together, a round at a time.

The problem is stated in ``_uncoupled`` (without coupling) and ``_coupled``. In each round every
problem that is not solved chooses a block of entries, a quarter of it the worst of either side and
the rest from its last block; one thread block solves it to a tenth of its violation; and one pass
adds the kernel rows of what changed to the outputs. With one bias for all problems there is one
block, with entries of whatever problems; with a coupling and several biases, the problem that
violates most takes its turn.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from polychotomy.arrays import Array, Indices
from polychotomy.kernel._device import THREADS, State, to_host
from polychotomy.kernel._device_rows import DeviceRows
from polychotomy.kernel._uncoupled import Solution, warn_unfinished

if TYPE_CHECKING:
    from polychotomy.kernel._joint_problem import JointProblem

_MOST_ROUNDS = 1_000_000
_MOST_STEPS = 100  # of a round, times the size of a block
_LARGE_PROBLEM = 5000
_UNSEEN_ROUNDS = 8
_BLOCK_VALUES = 2**29  # of all blocks' kernels


def solve_on_device(
    rows: DeviceRows,
    problems: "JointProblem",
    *,
    tol: float,
    max_iter: int = -1,
    start: csc_array | None = None,
    done: Callable[[int], None] = lambda s: None,
) -> Solution:
    """Solve problems, coupled or not; see :func:`~polychotomy.kernel._uncoupled.solve_apart`."""
    state = _begin(rows, problems, start)
    if problems.together or state.M is not None:
        finished = _advance_coupled(rows, state, tol, max_iter)
        for s in range(len(state.y)):
            done(s)
    else:
        finished = _advance(rows, state, tol, max_iter, done)
    warn_unfinished(int(np.sum(~finished)), len(finished), max_iter)
    return _solution(rows.device.xp, state, problems)


def _begin(rows: DeviceRows, problems: "JointProblem", start: csc_array | None) -> State:
    """Return the state of the problems at the coefficients to begin with."""
    xp = rows.device.xp
    targets, sides = problems.targets, problems.sides
    taken = xp.ascontiguousarray(xp.asarray(targets).T)
    y = taken if sides is targets else xp.ascontiguousarray(xp.asarray(sides).T)
    c = xp.where(taken == 0, 0.0, xp.asarray(np.asarray(problems.limits, dtype=float)).T)
    M = None if problems.coupling is None else xp.asarray(problems.coupling, dtype=float)
    if M is None and problems.together:
        M = xp.eye(len(y))
    a = None
    if start is not None:
        a = xp.clip(xp.asarray(start.T.toarray(order="C")) * y, 0, c)
    return _state(rows, y, c, a, M, 1 if problems.together else len(y))


def _state(rows: DeviceRows, y: Any, c: Any, a: Any, M: Any, n_groups: int) -> State:
    """Return the state of problems at coefficients `a`, or None for zeros."""
    xp = rows.device.xp
    G = xp.zeros(y.shape) if a is None else rows.times(y * a)
    largest = y.size if n_groups < len(y) else int((y != 0).sum(axis=1).max())
    size = (4 if largest > _LARGE_PROBLEM else 2) * THREADS
    return State(
        y,
        xp.zeros(y.shape) if a is None else a,
        c,
        G if M is None else M @ G,
        G,
        M,
        blocks=xp.zeros((n_groups, size), dtype=np.int32),
        sizes=xp.zeros(n_groups, dtype=np.int32),
        violations=xp.zeros(n_groups),
        steps=xp.zeros(n_groups, dtype=np.int64),
    )


def outputs_on_device(
    rows: DeviceRows,
    y: Any,
    c: Any,
    start: tuple[Any, Any, Any] | None,
    *,
    tol: float,
    max_iter: int = -1,
) -> tuple[Any, Any]:
    """Solve problems that are not coupled; return their coefficients and outputs on all samples.

    All arrays are of shape (n_problems, n_samples) and stay on the device.

    Parameters
    ----------
    rows : DeviceRows
    y, c : arrays
        Sides and bounds. A sample with a side and a bound of 0 is given outputs, and nothing else.
    start : tuple of arrays, optional
        Sides, coefficients and bounds of a solution; it is used if the sides are the same.
    tol, max_iter
        As for :func:`solve_on_device`.
    """
    xp = rows.device.xp
    a = None
    if start is not None and start[0].shape == y.shape and bool((start[0] == y).all()):
        _, before, bound = start
        a = xp.where(before >= bound, c, xp.minimum(before, c))
        plus, minus = ((a * (y == side)).sum(axis=1, keepdims=True) for side in (1, -1))
        a *= xp.minimum(xp.where(y > 0, minus, plus) / xp.where(y > 0, plus, minus).clip(1e-300), 1)
    state = _state(rows, y, c, a, None, len(y))
    finished = _advance(rows, state, tol, max_iter, lambda s: None)
    warn_unfinished(int(np.sum(~finished)), len(finished), max_iter)
    return state.a, state.f + xp.asarray(_biases(xp, state))[:, np.newaxis]


def _advance(
    rows: DeviceRows, state: State, tol: float, max_iter: int, done: Callable[[int], None]
) -> NDArray[np.bool_]:
    """Run rounds of uncoupled problems to the end; return which of them reached it."""
    size = state.blocks.shape[1]
    at_once = _BLOCK_VALUES // size**2
    if not rows.holds_all:
        at_once = max(1, min(at_once, rows.capacity // size))
    active = np.arange(len(state.sizes))
    finished = np.zeros(len(active), dtype=bool)
    listed, groups = active[:0], None
    for _ in range(_MOST_ROUNDS):
        if not np.array_equal(listed, active[:at_once]):
            listed = active[:at_once]
            groups = rows.device.xp.asarray(listed, dtype=np.int32)
        solved = _choose(rows, state, groups, tol)[listed] <= tol
        over = solved.copy()
        if max_iter >= 0:
            over |= to_host(state.steps)[listed] >= max_iter
        if over.any():
            finished[listed[solved]] = True
            for s in listed[over]:
                done(int(s))
            active = np.concatenate([listed[~over], active[at_once:]])
            if not active.size:
                break
            listed = listed[~over]
            groups = rows.device.xp.asarray(listed, dtype=np.int32)
        if listed.size:
            _run(rows, state, groups, groups, tol, max_iter)
    return finished


def _advance_coupled(
    rows: DeviceRows, state: State, tol: float, max_iter: int
) -> NDArray[np.bool_]:
    """Run rounds of coupled problems to the end; return whether it was reached.

    One group needs no decision between rounds: only after some of them is the violation looked at,
    since a device that is waited for does nothing. Rounds after the end change nothing.
    """
    device = rows.device
    groups = device.xp.arange(len(state.sizes), dtype=np.int32)
    problems = device.xp.arange(len(state.y), dtype=np.int32)
    chosen = groups
    for number in range(_MOST_ROUNDS):
        if state.together and max_iter < 0 and rows.complete and number % _UNSEEN_ROUNDS:
            device.choose(state, groups, tol)
        else:
            violations = _choose(rows, state, groups, tol)
            if violations.max() <= tol:
                return np.array([True])
            if 0 <= max_iter <= int(state.steps.sum()):
                break
            worst = int(violations.argmax())
            chosen = groups[worst : worst + 1]
        _run(rows, state, chosen, problems if len(groups) == 1 else chosen, tol, max_iter)
        device.mix(state)
    return np.array([False])


def _choose(rows: DeviceRows, state: State, groups: Any, tol: float) -> Array:
    rows.device.choose(state, groups, tol)
    violations: Array = to_host(state.violations)
    _check_finite(violations)
    return violations


def _check_finite(values: Array) -> None:
    if not np.isfinite(values).all():
        raise ValueError(
            "The values of the kernel must be finite. They are not: scale the features, for "
            "example by StandardScaler()."
        )


def _run(
    rows: DeviceRows, state: State, groups: Any, problems: Any, tol: float, max_iter: int
) -> None:
    """Solve the blocks of some groups and add what changed to the outputs of some problems."""
    device = rows.device
    if not rows.complete:
        flags = device.xp.zeros(len(rows.slot), dtype=bool)
        device.flag(state, groups, flags)
        rows.fetch(flags)
    left = None
    if max_iter >= 0:
        left = max_iter - (state.steps if state.M is None else state.steps.sum(keepdims=True))
        left = device.xp.broadcast_to(left, state.steps.shape).copy()
    most = _MOST_STEPS * state.blocks.shape[1]
    changes = device.solve(rows.values, rows.slot, state, groups, tol, most, left)
    device.add(rows.values, rows.slot, state, groups, problems, changes)


def _solution(xp: Any, state: State, problems: "JointProblem") -> Solution:
    """Return what was found."""
    y, a, c, f = state.y, state.a, state.c, state.f
    bias = _biases(xp, state)
    W = y * a
    quadratic = (W * f).sum(axis=1)
    duals = a.sum(axis=1) - quadratic / 2
    slack = xp.maximum(1 - y * (f + xp.asarray(bias)[:, np.newaxis]), 0)
    gaps = to_host(quadratic / 2 + (c * slack).sum(axis=1) - duals)
    objectives, steps, products = to_host(duals), to_host(state.steps), None
    _check_finite(objectives)
    if state.M is not None:
        products = to_host(W @ state.G.T)
        objectives, gaps = objectives.sum(keepdims=True), gaps.sum(keepdims=True)
        steps = np.full(len(y), steps.sum(), dtype=np.int64)
    coefficients, left_out = _taken(xp, W, a != 0), None
    if problems.sides is not problems.targets:
        left = (y != 0) & (xp.asarray(problems.targets).T == 0)
        left_out = _taken(xp, f + xp.asarray(bias)[:, np.newaxis], left)
    return Solution(coefficients, bias, steps, objectives, gaps, products, left_out)


def _taken(xp: Any, values: Any, where: Any) -> csc_array:
    """Return some values of shape (n_problems, n_samples) as a sparse array, transposed."""
    problem, sample = xp.nonzero(where)
    columns = np.concatenate([[0], np.cumsum(to_host(where.sum(axis=1)))])
    stored = to_host(values[problem, sample]), to_host(sample), columns
    return csc_array(stored, shape=values.shape[::-1])


def _biases(xp: Any, state: State) -> Array:
    """Return the bias of each problem; see :func:`~polychotomy.kernel._uncoupled.bias_of`."""
    n_groups = len(state.sizes)
    parts = (state.y, state.a, state.c, state.f)
    y, a, c, f = (part.reshape(n_groups, -1) for part in parts)
    e, free = y - f, (a > 0) & (a < c)
    count, total = to_host(free.sum(axis=1)), to_host(xp.where(free, e, 0.0).sum(axis=1))
    up = xp.where(y > 0, a < c, (y < 0) & (a > 0))
    down = xp.where(y > 0, a > 0, (y < 0) & (a < c))
    highest = to_host(xp.where(up, e, -np.inf).max(axis=1))
    lowest = to_host(xp.where(down, e, np.inf).min(axis=1))
    with np.errstate(invalid="ignore"):
        middle = (highest + lowest) / 2
    middle = np.where(np.isinf(lowest), highest, np.where(np.isinf(highest), lowest, middle))
    middle = np.where(np.isinf(middle), 0.0, middle)
    bias: Indices = np.where(count > 0, total / np.maximum(count, 1), middle)
    return np.repeat(bias, len(state.y) // n_groups)
