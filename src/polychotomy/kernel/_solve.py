"""The joint kernel problem: all binary problems of a code on one set of kernel rows.

Samples i = 1 … m, problems s = 1 … ℓ, targets T ∈ {−1, 0, +1}, kernel K, coupling M (positive
semi-definite), upper bounds C. With W = T∘α:

    maximise  Σ α − ½ ⟨W, K W M⟩   subject to  0 ≤ α ≤ C,  α = 0 where T = 0,
                                   and Σ W = 0 over each problem, or over all together.

Outputs are F(x) = k(x)ᵀ W M + b. Solved until the violation (see ``_compiled``) of every problem,
or of all together, is at most `tol`. Without coupling the problems are independent but for the
kernel rows they share; each is advanced by itself, in threads.
"""

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from sklearn.exceptions import ConvergenceWarning

from polychotomy.kernel._rows import KernelRows

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_MOST_ROUNDS = 1_000_000
_ROUNDS_AT_A_TIME = 20
_BLOCK = 384
_MIDDLE_BLOCK = 256
_SMALL_BLOCK = 128
_SMALL_PROBLEM = 2500
_MIDDLE_PROBLEM = 6000


@dataclass(frozen=True)
class Solution:
    """What was found.

    Attributes
    ----------
    coefficients : sparse array of shape (n_samples, n_problems)
        W = T∘α.
    bias : ndarray of shape (n_problems,)
    steps : ndarray of shape (n_problems,)
        Pairs that were optimised; with coupling all together, in every entry.
    objectives, gaps : ndarray of shape (n_problems,), or (1,) with coupling
        The dual objective, and by how much the primal one exceeds it.
    products : ndarray of shape (n_problems, n_problems), or None without coupling
        Wᵀ K W: minus twice the derivative of the dual objective by the coupling.
    """

    coefficients: csc_array
    bias: Array
    steps: NDArray[np.int64]
    objectives: Array
    gaps: Array
    products: Array | None = None


@dataclass
class _Problem:
    """One problem on its own samples; see ``_compiled`` for the names."""

    sample: Indices
    starts: Indices
    stops: Indices
    y: Array
    c: Array
    a: Array
    f: Array

    @classmethod
    def of(cls, target: NDArray[np.int8], upper: Array, start: Array | None) -> "_Problem":
        sample = np.flatnonzero(target)
        breaks = np.flatnonzero(np.diff(sample) != 1)
        starts = sample[np.concatenate([[0], breaks + 1])] if len(sample) else sample
        stops = sample[np.concatenate([breaks, [len(sample) - 1]])] + 1 if len(sample) else sample
        y, c = target[sample].astype(float), upper[sample].astype(float)
        a = np.zeros(len(sample)) if start is None else np.clip(np.abs(start[sample]), 0, c)
        return cls(sample, starts, stops, y, c, a, np.zeros(len(sample)))

    def bias(self) -> float:
        """Return b: the mean e of free samples or, if there are none, the middle of its range."""
        e = self.y - self.f
        free = (self.a > 0) & (self.a < self.c)
        if free.any():
            return float(e[free].mean())
        up = np.where(self.y > 0, self.a < self.c, self.a > 0)
        down = np.where(self.y > 0, self.a > 0, self.a < self.c)
        if up.any() and down.any():
            return float((e[up].max() + e[down].min()) / 2)
        if up.any():
            return float(e[up].max())
        return float(e[down].min()) if down.any() else 0.0

    def objective_and_gap(self, bias: float) -> tuple[float, float]:
        quadratic = float(self.y * self.a @ self.f)
        slack = np.maximum(1 - self.y * (self.f + bias), 0)
        dual = float(self.a.sum()) - quadratic / 2
        return dual, quadratic / 2 + float(self.c @ slack) - dual


def solve_apart(
    rows: KernelRows,
    targets: NDArray[np.int8],
    upper: Array,
    *,
    tol: float,
    max_iter: int = -1,
    n_jobs: int = 1,
    start: csc_array | None = None,
    done: Callable[[int], None] = lambda s: None,
) -> Solution:
    """Solve problems that are not coupled, each with a bias of its own.

    Parameters
    ----------
    rows : KernelRows
    targets : ndarray of shape (n_samples, n_problems)
    upper : ndarray of shape (n_samples, n_problems)
    tol : float
        Largest violation at the end.
    max_iter : int, default=-1
        Most steps of a problem; −1 for no limit.
    n_jobs : int, default=1
        Number of threads. It changes no result.
    start : sparse array of shape (n_samples, n_problems), optional
        Coefficients to begin with; they must sum to zero in each problem.
    done : callable
        Told of each problem that is solved.
    """
    n_problems = targets.shape[1]
    stopped = Event()
    n_jobs = min(n_jobs, rows.most_threads or n_jobs)

    def work(s: int) -> tuple[_Problem, int, bool]:
        begin = None if start is None else start[:, [s]].toarray().ravel()
        problem = _Problem.of(targets[:, s], upper[:, s], begin)
        steps, finished = _solve_problem(rows, problem, tol, max_iter, stopped)
        done(s)
        return problem, steps, finished

    if n_jobs == 1 or n_problems == 1:
        results = [work(s) for s in range(n_problems)]
    else:
        with ThreadPoolExecutor(n_jobs) as workers:
            try:
                results = list(workers.map(work, range(n_problems)))
            except BaseException:
                stopped.set()
                workers.shutdown(cancel_futures=True)
                raise
    _warn_unfinished(sum(not finished for *_, finished in results), n_problems, max_iter)
    bias, objectives, gaps = np.empty(n_problems), np.empty(n_problems), np.empty(n_problems)
    for s, (problem, *_) in enumerate(results):
        bias[s] = problem.bias()
        objectives[s], gaps[s] = problem.objective_and_gap(bias[s])
    return Solution(
        _coefficients([problem for problem, *_ in results], len(targets)),
        bias,
        np.array([steps for _, steps, _ in results], dtype=np.int64),
        objectives,
        gaps,
    )


def _coefficients(problems: list[_Problem], m: int) -> csc_array:
    """Return W, a column for each problem; most entries are zero."""
    kept = [np.flatnonzero(problem.a) for problem in problems]
    columns = np.concatenate([[0], np.cumsum([len(k) for k in kept])])
    pairs = list(zip(problems, kept, strict=True))
    values = np.concatenate([problem.y[k] * problem.a[k] for problem, k in pairs])
    samples = np.concatenate([problem.sample[k] for problem, k in pairs])
    return csc_array((values, samples, columns), shape=(m, len(problems)))


def _solve_problem(
    rows: KernelRows, problem: _Problem, tol: float, max_iter: int, stopped: Event
) -> tuple[int, bool]:
    """Advance one problem to its end; return its steps and whether the end was reached."""
    from polychotomy.kernel._compiled import DONE, INTERRUPTED, NEEDS_ROWS, advance

    n = len(problem.y)
    size = max(4, min(_block_size(n), rows.largest_block))
    block, marked = np.empty(size, dtype=np.int64), np.zeros(n, dtype=bool)
    state = np.zeros(5)
    segments = rows.segments_of(problem.sample)
    _begin(rows, problem, size, segments)
    shared = rows.holds_all  # otherwise only rows that are pinned may be looked at
    slot = rows.slots(segments)
    while state[3] < _MOST_ROUNDS and not stopped.is_set():
        outcome = advance(
            rows.values,
            slot if shared else _only(rows, problem, block, state),
            problem.sample,
            problem.starts,
            problem.stops,
            problem.y,
            problem.a,
            problem.c,
            problem.f,
            block,
            marked,
            state,
            tol,
            max_iter,
            _ROUNDS_AT_A_TIME if shared else 1,
        )
        wanted = problem.sample[block[: int(state[0])]]
        if outcome == NEEDS_ROWS:
            rows.pin(wanted, segments)
            slot[wanted] = rows.slot[wanted]
            if shared:
                rows.release(wanted)
        elif outcome == INTERRUPTED:
            if not shared:
                rows.release(wanted)
        else:
            return int(state[2]), outcome == DONE
    return int(state[2]), False


def _block_size(n: int) -> int:
    """Return how many samples to solve for at a time: larger blocks for longer outputs to mend."""
    if n <= _SMALL_PROBLEM:
        return _SMALL_BLOCK
    return _MIDDLE_BLOCK if n <= _MIDDLE_PROBLEM else _BLOCK


def _begin(rows: KernelRows, problem: _Problem, size: int, segments: Indices) -> None:
    """Bring the outputs to the coefficients that a problem begins with."""
    from polychotomy.kernel._compiled import add_rows

    given = np.flatnonzero(problem.a)
    for first in range(0, len(given), size):
        part = given[first : first + size]
        wanted = problem.sample[part]
        rows.pin(wanted, segments)
        weights, slots = problem.y[part] * problem.a[part], rows.slot[wanted]
        f, starts, stops = problem.f, problem.starts, problem.stops
        add_rows(rows.values, slots, weights, len(part), f, starts, stops)
        rows.release(wanted)


def _only(rows: KernelRows, problem: _Problem, block: Indices, state: Array) -> Indices:
    """Return slots that show only the rows of the chosen block, which are pinned.

    Others might be given up for another thread while this one looks at them.
    """
    slot = np.full(len(rows.slot), -1, dtype=np.int64)
    if state[1]:
        wanted = problem.sample[block[: int(state[0])]]
        slot[wanted] = rows.slot[wanted]
    return slot


def _warn_unfinished(count: int, n_problems: int, max_iter: int) -> None:
    if count:
        warnings.warn(
            f"{count} of {n_problems} problems were stopped early (max_iter={max_iter}). Consider "
            "scaling the features, or increase max_iter or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )


def solve_coupled(
    rows: KernelRows,
    targets: NDArray[np.int8],
    upper: Array,
    coupling: Array,
    *,
    common_bias: bool,
    tol: float,
    max_iter: int = -1,
    start: Array | None = None,
) -> Solution:
    """Solve problems that are coupled, with one bias for all or one for each.

    See :func:`solve_apart` for the parameters. The kernel of two entries (i, s) and (j, t) is
    K_ij M_st; it is never formed.
    """
    from polychotomy.kernel._compiled import fill_block, select, solve_block

    m, n_problems = targets.shape
    entries = np.flatnonzero(targets.T)  # problem after problem
    problem, sample = entries // m, entries % m
    y, c = targets.T.ravel()[entries].astype(float), upper.T.ravel()[entries].astype(float)
    a = np.zeros(len(y)) if start is None else np.clip(np.abs(start.T.ravel()[entries]), 0, c)
    F = _outputs(rows, (y * a), sample, problem, targets.shape, coupling)
    groups = (
        [np.arange(len(y))]
        if common_bias
        else [np.flatnonzero(problem == s) for s in range(n_problems)]
    )
    size = max(4, min(_BLOCK, rows.largest_block))
    blocks = [np.empty(size, dtype=np.int64) for _ in groups]
    filled = [0] * len(groups)
    marks = [np.zeros(len(group), dtype=bool) for group in groups]
    up, down = np.empty(size // 2, dtype=np.int64), np.empty(size // 2, dtype=np.int64)
    steps, finished = 0, False
    while True:
        f = F.T.ravel()[entries]
        worst, chosen = tol, None
        for g, group in enumerate(groups):
            found = select(y[group], a[group], c[group], f[group], up, down)
            violation = found[2] - found[3] if found[0] and found[1] else 0.0
            if violation > worst:
                worst, chosen = violation, (g, up.copy(), down.copy(), found)
        if chosen is None:
            finished = True
            break
        if 0 <= max_iter <= steps:
            break
        g, best_up, best_down, found = chosen
        filled[g] = fill_block(
            blocks[g], filled[g], best_up, found[0], best_down, found[1], marks[g]
        )
        own = groups[g][blocks[g][: filled[g]]]
        wanted = np.unique(sample[own])
        rows.pin(wanted)
        Q = (
            rows.values[np.ix_(rows.slot[sample[own]], sample[own])]
            * coupling[np.ix_(problem[own], problem[own])]
        )
        block_a, e = a[own].copy(), y[own] - f[own]
        enough = max(0.5 * tol, 0.1 * worst)
        left = max_iter - steps if max_iter >= 0 else 1_000_000
        steps += solve_block(
            np.ascontiguousarray(Q, dtype=float), y[own], block_a, c[own], e, len(own), enough, left
        )
        moved = np.zeros((len(wanted), n_problems))
        np.add.at(
            moved,
            (np.searchsorted(wanted, sample[own]), problem[own]),
            y[own] * (block_a - a[own]),
        )
        a[own] = block_a
        F += rows.values[rows.slot[wanted], :m].T.astype(float) @ (moved @ coupling)
        rows.release(wanted)
    _warn_unfinished(int(not finished), 1, max_iter)
    KW = _outputs(rows, y * a, sample, problem, targets.shape, np.eye(n_problems))
    return _coupled_solution(F, KW, y, a, c, problem, sample, groups, targets.shape, steps)


def _outputs(
    rows: KernelRows,
    weights: Array,
    sample: Indices,
    problem: Indices,
    shape: tuple[int, ...],
    coupling: Array,
) -> Array:
    """Return K W M for the training samples, a block of rows at a time."""
    W = np.zeros(shape)
    W[sample, problem] = weights
    F = np.zeros(shape)
    given = np.flatnonzero(W.any(axis=1))
    for first in range(0, len(given), rows.largest_block):
        part = given[first : first + rows.largest_block]
        rows.pin(part)
        F += rows.values[rows.slot[part], : shape[0]].T.astype(float) @ (W[part] @ coupling)
        rows.release(part)
    return F


def _coupled_solution(
    F: Array,
    KW: Array,
    y: Array,
    a: Array,
    c: Array,
    problem: Indices,
    sample: Indices,
    groups: list[Indices],
    shape: tuple[int, ...],
    steps: int,
) -> Solution:
    f = F[sample, problem]
    none = np.empty(0, dtype=np.int64)
    bias = np.empty(shape[1])
    for g, group in enumerate(groups):
        part = _Problem(none, none, none, y[group], c[group], a[group], f[group])
        bias[slice(None) if len(groups) == 1 else g] = part.bias()
    coefficients = np.zeros(shape)
    coefficients[sample, problem] = y * a
    quadratic = float(coefficients.ravel() @ F.ravel())
    dual = float(a.sum()) - quadratic / 2
    slack = np.maximum(1 - y * (f + bias[problem]), 0)
    gap = quadratic / 2 + float(c @ slack) - dual
    return Solution(
        csc_array(coefficients),
        bias,
        np.full(shape[1], steps, dtype=np.int64),
        np.array([dual]),
        np.array([gap]),
        coefficients.T @ KW,
    )


def check_coupling(coupling: Any, n_problems: int) -> Array:
    """Return the coupling as a symmetric positive semi-definite matrix, or raise ValueError."""
    M = np.asarray(coupling, dtype=float)
    if M.shape != (n_problems, n_problems) or not np.isfinite(M).all():
        raise ValueError(
            f"The 'coupling' parameter must hold finite numbers for all pairs of {n_problems} "
            f"problems. Got shape {M.shape}."
        )
    if not np.allclose(M, M.T) or np.linalg.eigvalsh((M + M.T) / 2)[0] < -1e-8 * max(
        1.0, np.abs(M).max()
    ):
        raise ValueError("The 'coupling' parameter must be symmetric and positive semi-definite.")
    return (M + M.T) / 2
