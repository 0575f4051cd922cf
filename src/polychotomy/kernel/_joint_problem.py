"""From samples and targets to a solution: which rows are used, and in which order."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from polychotomy import memory
from polychotomy.arrays import Array, Indices
from polychotomy.kernel._coupled import solve_coupled
from polychotomy.kernel._device import Device
from polychotomy.kernel._device_rows import DeviceRows, upload
from polychotomy.kernel._device_solver import solve_on_device
from polychotomy.kernel._functions import Kernel
from polychotomy.kernel._kernel_rows import KernelRows, row_bytes
from polychotomy.kernel._kernel_store import KernelStore, active_store, spread
from polychotomy.kernel._uncoupled import Solution, solve_apart

_SMALL_SEGMENT = 64
_ROOM = 1024.0
_NUMBERS = 5  # for each sample of each problem, in double precision


@dataclass(frozen=True)
class JointProblem:
    """What is to be solved.

    Attributes
    ----------
    targets : ndarray of shape (n_samples, n_problems)
    limits : ndarray of shape (n_samples, n_problems) or (n_samples, 1)
        Upper bounds of the coefficients.
    coupling : ndarray of shape (n_problems, n_problems), or None
    common_bias : bool
    within : ndarray of shape (n_problems,), optional
        See :func:`~polychotomy.kernel._uncoupled.solve_apart`.
    """

    targets: NDArray[np.int8]
    limits: Array
    coupling: Array | None
    common_bias: bool
    within: Indices | None = None

    @property
    def sides(self) -> NDArray[np.int8]:
        """The targets; where a problem leaves out samples of the one it is within, its sides."""
        if self.within is None or (self.within < 0).all():
            return self.targets
        n = np.arange(self.targets.shape[1])
        return self.targets[:, np.where(self.within < 0, n, self.within)]

    @property
    def together(self) -> bool:
        """Whether the coefficients of all problems, not of each, sum to zero."""
        return self.common_bias and self.targets.shape[1] > 1


@dataclass(frozen=True)
class Solver:
    """How and where it is to be solved; see :func:`~polychotomy.kernel._uncoupled.solve_apart`.

    `room` is that for kernel rows, in MiB; None for what suits the device, which is None for the
    CPU.
    """

    tol: float
    max_iter: int
    n_jobs: int
    done: Callable[[int], None]
    device: Device | None = None
    room: float | None = None

    def rows(
        self, kernel: Kernel, X: Any, segments: Indices | None, n_problems: int
    ) -> KernelRows | DeviceRows:
        """Return a cache of the kernel rows of samples."""
        if self.device is not None:
            return DeviceRows(self.device, kernel, X, self.room, n_problems)
        return KernelRows(kernel, X, self.room or _ROOM, segments)

    def solve(self, rows: Any, problems: JointProblem, start: csc_array | None) -> Solution:
        """Return the solution."""
        targets, limits, M = problems.targets, problems.limits, problems.coupling
        stop: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "start": start}
        if self.device is not None:
            return solve_on_device(rows, problems, done=self.done, **stop)
        upper = np.broadcast_to(limits, targets.shape)
        if M is None and not problems.together:
            stop |= {"n_jobs": self.n_jobs, "done": self.done, "within": problems.within}
            return solve_apart(rows, targets, upper, **stop)
        if M is None:
            M = np.eye(targets.shape[1])
        common = problems.common_bias
        solution = solve_coupled(rows, targets, upper, M, common_bias=common, **stop)
        for s in range(targets.shape[1]):
            self.done(s)
        return solution


def solve(
    kernel: Kernel,
    X: Any,
    problems: JointProblem,
    solver: Solver,
    start: csc_array | None = None,
) -> Solution:
    """Solve problems on samples X, on rows that are shared with other trainings where there are."""
    store = active_store() if kernel.name != "precomputed" else None
    place = None if store is None else store.place(X)
    if solver.device is None:
        _check_memory(problems.targets)
        where = one_blas_thread()  # the threads are over problems
    else:
        where = solver.device.guarded(X.shape[0] ** 2 * np.dtype(kernel.dtype).itemsize)
    with where:
        if store is not None and place is not None:
            return _solve_in_store(store, place, kernel, problems, solver, start)
        return _solve_sorted(kernel, X, problems, solver, start)


def _check_memory(targets: NDArray[np.int8]) -> None:
    """Raise NotEnoughMemoryError if what is kept of samples and problems cannot fit in memory."""
    if row_bytes(len(targets)) + _NUMBERS * 8 * targets.size < memory.SMALL:
        return
    memory.check_room(
        {
            "the least number of kernel rows": row_bytes(len(targets)),
            "coefficients and outputs": _NUMBERS * 8 * int(np.count_nonzero(targets)),
        },
        "Take a code of fewer problems, or fewer samples; probability=None leaves out the problems "
        "of the calibration. For more samples, replace the kernel by features: Nystroem, then "
        "SharedLinear.",
    )


def _solve_in_store(
    store: KernelStore,
    place: Indices,
    kernel: Kernel,
    problems: JointProblem,
    solver: Solver,
    start: csc_array | None,
) -> Solution:
    n_problems = problems.targets.shape[1]
    with store.lock:
        rows = store.rows(kernel, solver.device, partial(solver.rows, n_problems=n_problems))
        sides, upper = spread(place, problems.targets, problems.limits, len(store.X))
        if start is None:
            start = store.recall(place, sides, upper, together=problems.together)
        else:
            given = start.tocoo()
            where = place[given.row], given.col
            start = csc_array((given.data, where), shape=sides.shape)
        found = solver.solve(rows, replace(problems, targets=sides, limits=upper), start)
        store.remember(place, sides, upper, found.coefficients)
    return found.of_samples(place)


def _solve_sorted(
    kernel: Kernel,
    X: Any,
    problems: JointProblem,
    solver: Solver,
    start: csc_array | None,
) -> Solution:
    """Sort the samples so that those of a problem are contiguous, solve, and sort back."""
    own = problems.targets
    if problems.within is not None:  # the others have the samples of these
        own = own[:, problems.within < 0]
    kinds = _kinds(own)
    order: Any = np.argsort(kinds, kind="stable")
    segments = _segments(kinds[order], own)
    there = order
    if solver.device is not None:
        X, there = upload(solver.device, X), solver.device.xp.asarray(order)
    sorted_X = X[there][:, there] if kernel.name == "precomputed" else X[there]
    rows = solver.rows(kernel, sorted_X, segments, problems.targets.shape[1])
    in_order = replace(problems, targets=problems.targets[order], limits=problems.limits[order])
    start = None if start is None else csc_array(start.tocsr()[order])
    found = solver.solve(rows, in_order, start)
    rows.close()
    return found.of_samples(np.argsort(order))


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let BLAS use one thread for a while."""
    limited: AbstractContextManager[Any] = _blas().limit(limits=1)
    return limited


@cache
def _blas() -> Any:
    """Return the control of BLAS's threads; finding the libraries takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def _kinds(targets: NDArray[np.int8]) -> Indices:
    """Return a number for each sample, the same for samples with the same targets."""
    rng = np.random.default_rng(0)
    kinds = np.zeros(len(targets), dtype=np.int64)
    for column in targets.T:
        kinds += column * rng.integers(2**62)
    return kinds


def _segments(kinds: Indices, targets: NDArray[np.int8]) -> Indices | None:
    """Return where samples of another kind begin; None if they are all needed, or kinds small."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(kinds)) + 1])
    worthwhile = len(kinds) >= _SMALL_SEGMENT * len(starts) and not targets.all()
    return starts if worthwhile else None
