"""The joint kernel problem with coupling: one binary problem for all classes.

With T, K, M, C and W = T∘α as in ``_uncoupled``:

    maximise  Σ α − ½ ⟨W, K W M⟩   subject to  0 ≤ α ≤ C,  α = 0 where T = 0,
                                   and Σ W = 0 over all entries, or over each problem.

This is one support vector machine of m ℓ entries (i, s) with the kernel K_ij M_st, which is never
formed: what is kept are G = K W and F = G M, one row for each problem. A round solves a block of
the entries that violate most, of whatever problems; adding a changed entry to G costs a kernel row,
and mixing the changed rows of G into F costs ℓ passes for each problem among them. It stops when
the violation of all entries, or of each problem's, is at most `tol`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from polychotomy.arrays import Array
from polychotomy.kernel._kernel_rows import KernelRows
from polychotomy.kernel._uncoupled import Solution, bias_of, warn_unfinished

_BLOCK, _LARGE_BLOCK = 384, 768
_LARGE_PROBLEM = 100_000
_ROUNDS_AT_A_TIME = 20

LARGEST_COUPLING = 1e30
"""Beyond it, kernel values times couplings would leave the range of single precision."""


def solve_coupled(
    rows: KernelRows,
    targets: NDArray[np.int8],
    upper: Array,
    coupling: Array,
    *,
    common_bias: bool,
    tol: float,
    max_iter: int = -1,
    start: csc_array | None = None,
) -> Solution:
    """Solve problems that are coupled, with one bias for all or one for each.

    Parameters
    ----------
    rows : KernelRows
    targets : ndarray of shape (n_samples, n_problems)
    upper : ndarray of shape (n_samples, n_problems)
    coupling : ndarray of shape (n_problems, n_problems)
        Symmetric and positive semi-definite.
    common_bias : bool
    tol : float
        Largest violation at the end.
    max_iter : int, default=-1
        Most steps in all; −1 for no limit.
    start : sparse array of shape (n_samples, n_problems), optional
        Coefficients to begin with; they must sum to zero, over all or in each problem.
    """
    T = np.ascontiguousarray(targets.T)
    y, c = np.where(T == 0, 1.0, T), np.where(T == 0, 0.0, np.ascontiguousarray(upper.T))
    a = np.zeros(y.shape) if start is None else np.clip(start.toarray().T * y, 0, c, order="C")
    G, F = np.zeros(y.shape), np.zeros(y.shape)
    _begin(rows, y * a, coupling, G, F)
    steps, finished = _advance(
        rows, y, a, c, G, F, coupling, 1 if common_bias else len(y), tol, max_iter
    )
    warn_unfinished(int(not finished), 1, max_iter)
    groups = [slice(None)] if common_bias else [slice(s, s + 1) for s in range(len(y))]
    bias = np.empty(len(y))
    for group in groups:
        inside = c[group] > 0
        bias[group] = bias_of(*(part[group][inside] for part in (y, a, c, F)))
    W = y * a
    quadratic = float(W.ravel() @ F.ravel())
    dual = float(a.sum()) - quadratic / 2
    slack = np.maximum(1 - y * (F + bias[:, np.newaxis]), 0)
    gap = quadratic / 2 + float(c.ravel() @ slack.ravel()) - dual
    steps_of_all = np.full(len(y), steps, dtype=np.int64)
    objectives, gaps = np.array([dual]), np.array([gap])
    return Solution(csc_array(W.T), bias, steps_of_all, objectives, gaps, W @ G.T)


def _begin(rows: KernelRows, W: Array, coupling: Array, G: Array, F: Array) -> None:
    """Compute the outputs of the coefficients to begin with."""
    from polychotomy.kernel._compiled import add_coupled

    given = np.flatnonzero(W.any(axis=0))
    size = min(_BLOCK, rows.largest_block)
    for first in range(0, len(given), size):
        part = given[first : first + size]
        rows.pin(part)
        problem, number = np.nonzero(W[:, part])
        sample = part[number]
        add_coupled(rows.values, rows.slot[sample], problem, W[problem, sample], coupling, G, F)
        rows.release(part)


def _advance(
    rows: KernelRows,
    y: Array,
    a: Array,
    c: Array,
    G: Array,
    F: Array,
    coupling: Array,
    n_groups: int,
    tol: float,
    max_iter: int,
) -> tuple[int, bool]:
    """Run rounds to the end; return the steps and whether the end was reached."""
    from polychotomy.kernel._compiled import DONE, TOO_MANY_STEPS, advance_coupled

    m = y.shape[1]
    size = _LARGE_BLOCK if y.size > _LARGE_PROBLEM else _BLOCK
    size = max(4, min(size, rows.largest_block))
    blocks, sizes = np.zeros((n_groups, size), dtype=np.int64), np.zeros(n_groups, dtype=np.int64)
    marked = np.zeros(y.size, dtype=bool)
    state = np.zeros(4)
    shared = rows.holds_all  # otherwise only rows that are pinned may be looked at
    pinned = np.empty(0, dtype=np.int64)
    while True:
        slot = rows.slot
        if not shared:
            slot = np.full(m, -1, dtype=np.int64)
            slot[pinned] = rows.slot[pinned]
        outcome = advance_coupled(
            rows.values,
            slot,
            y,
            a,
            c,
            G,
            F,
            coupling,
            blocks,
            sizes,
            marked,
            state,
            tol,
            max_iter,
            _ROUNDS_AT_A_TIME if shared else 1,
        )
        rows.release(pinned)
        pinned = np.empty(0, dtype=np.int64)
        if outcome in (DONE, TOO_MANY_STEPS):
            return int(state[2]), outcome == DONE
        if state[1]:  # a block was chosen whose rows are not all there
            group = int(state[0])
            pinned = np.unique(blocks[group, : sizes[group]] % m)
            rows.pin(pinned)


def check_coupling(coupling: Any, n_problems: int) -> Array:
    """Return the coupling as a symmetric positive semi-definite matrix, or raise ValueError."""
    M = np.asarray(coupling, dtype=float)
    if M.shape != (n_problems, n_problems) or not np.isfinite(M).all():
        raise ValueError(
            f"The 'coupling' parameter must hold finite numbers for all pairs of {n_problems} "
            f"problems. Got shape {M.shape}."
        )
    size = float(np.abs(M).max())
    if size > LARGEST_COUPLING:
        raise ValueError(
            f"The 'coupling' parameter must hold numbers of at most {LARGEST_COUPLING:g}. "
            f"Got {size:.3g}; divide it by a number and multiply C by the same."
        )
    if not np.allclose(M, M.T, atol=1e-8 * size):
        raise ValueError(
            "The 'coupling' parameter must be symmetric. Its entries differ from their mirror "
            f"images by up to {np.abs(M - M.T).max():.3g}."
        )
    M = (M + M.T) / 2
    least = float(np.linalg.eigvalsh(M)[0])
    if least < -1e-8 * size:
        raise ValueError(
            "The 'coupling' parameter must be positive semi-definite. Its least eigenvalue is "
            f"{least:.3g}: add {-least:.3g} to the diagonal to make it so."
        )
    return M
