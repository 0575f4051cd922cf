"""Outputs for held-out samples on a GPU: the problems of all folds as columns of one solve."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Array, Folds, Indices
from polychotomy.kernel._device import to_host
from polychotomy.kernel._device_solver import outputs_on_device
from polychotomy.kernel._functions import Kernel
from polychotomy.kernel._joint_problem import Solver
from polychotomy.kernel._kernel_store import KernelStore, active_store


def held_out_outputs(
    kernel: Kernel, X: Any, targets: NDArray[np.int8], C: float, folds: Folds, solver: Solver
) -> Array:
    """Return the outputs for each sample of problems that were trained without its fold.

    Within :func:`~polychotomy.kernel.shared_kernel`, kernel rows are kept for other values of C,
    and so are the coefficients, to begin with.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n_samples, n_features)
    targets : ndarray of shape (n_samples, n_problems)
    C : float
        Upper bound of the coefficients.
    folds : sequence of (training samples, test samples)
    solver : Solver
        With a device.

    Returns
    -------
    outputs : ndarray of shape (n_samples, n_problems)
        0 for samples that no fold holds out.
    """
    device: Any = solver.device
    store = active_store()
    place = None if store is None else store.place(X)
    kept = place is not None
    if store is None or place is None:
        store = KernelStore(X, np.zeros(len(X)), unchanged=True)
        place = np.arange(len(X))
    n_columns = targets.shape[1] * len(folds)
    with device.guarded(len(X) ** 2 * np.dtype(kernel.dtype).itemsize), store.lock:
        try:
            make = partial(solver.rows, n_problems=n_columns)
            rows = store.rows(kernel, device, make)
            start = _start_of(store.columns, kernel)
            columns, outputs = _solve_folds(rows, place, targets, C, folds, start, solver)
            store.columns = kernel, *columns
            return outputs
        finally:
            if not kept:
                store.close()


def _start_of(columns: Any, kernel: Kernel) -> Any:
    """Return the last solution, if it is one to begin with.

    With a larger γ most support vectors stay, and more are added; with a smaller one, to take
    coefficients back would take longer than to find them.
    """
    if columns is None:
        return None
    before, *solution = columns
    alike = replace(before, gamma=kernel.gamma) == kernel and before.gamma <= kernel.gamma
    return tuple(solution) if alike else None


def _solve_folds(
    rows: Any,
    place: Indices,
    targets: NDArray[np.int8],
    C: float,
    folds: Folds,
    start: Any,
    solver: Solver,
) -> tuple[tuple[Any, Any, Any], Array]:
    """Return sides, coefficients and bounds of all columns, and the outputs."""
    xp, (m, n), n_rows = rows.device.xp, targets.shape, len(rows.slot)
    sides = np.zeros((len(folds), n, n_rows), dtype=np.int8)
    held_out = np.zeros((len(folds), 1, n_rows), dtype=bool)
    for k, (training, test) in enumerate(folds):
        sides[k][:, place[training]] = targets[training].T
        held_out[k, 0, place[test]] = True
    y = xp.asarray(sides)
    c = xp.where(y != 0, float(C), 0.0)
    y = xp.where(xp.asarray(held_out), np.int8(1), y)  # for outputs; their bound is 0
    y, c = (part.reshape(len(folds) * n, -1) for part in (y, c))
    limits: dict[str, Any] = {"tol": solver.tol, "max_iter": solver.max_iter}
    a, f = outputs_on_device(rows, y, c, start, **limits)
    outputs = np.zeros((m, n))
    for k, (_, test) in enumerate(folds):
        outputs[test] = to_host(f[k * n : (k + 1) * n][:, xp.asarray(place[test])]).T
    return (y, a, c), outputs
