"""The joint kernel problem, without coupling: all problems of a code on one set of kernel rows.

Samples i = 1 … m, problems s = 1 … ℓ, targets T ∈ {−1, 0, +1}, kernel K, coupling M (positive
semi-definite), upper bounds C. With W = T∘α:

    maximise  Σ α − ½ ⟨W, K W M⟩   subject to  0 ≤ α ≤ C,  α = 0 where T = 0,
                                   and Σ W = 0 over each problem, or over all together.

Outputs are F(x) = k(x)ᵀ W M + b. Solved until the violation (see ``_compiled``) of every problem,
or of all together, is at most `tol`. Without coupling, M = 1, the problems are independent except
for the kernel rows they share; each is advanced by itself, in threads. For others see ``_coupled``.
"""

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from sklearn.exceptions import ConvergenceWarning

from polychotomy.arrays import Array, Indices
from polychotomy.kernel._kernel_rows import KernelRows

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

    def objective_and_gap(self, bias: float) -> tuple[float, float]:
        quadratic = float(self.y * self.a @ self.f)
        slack = np.maximum(1 - self.y * (self.f + bias), 0)
        dual = float(self.a.sum()) - quadratic / 2
        return dual, quadratic / 2 + float(self.c @ slack) - dual


def bias_of(y: Array, a: Array, c: Array, f: Array) -> float:
    """Return b: the mean e of free samples or, if there are none, the middle of its range."""
    e = y - f
    free = (a > 0) & (a < c)
    if free.any():
        return float(e[free].mean())
    up = np.where(y > 0, a < c, a > 0)
    down = np.where(y > 0, a > 0, a < c)
    if up.any() and down.any():
        return float((e[up].max() + e[down].min()) / 2)
    if up.any():
        return float(e[up].max())
    return float(e[down].min()) if down.any() else 0.0


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
        Called with the number of each problem that is solved.
    """
    n_problems = targets.shape[1]
    stopped = Event()
    n_jobs = min(n_jobs, rows.most_threads or n_jobs)

    def work(s: int) -> tuple[_Problem, int, bool]:
        begin = None if start is None else _column(start, s)
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
    warn_unfinished(sum(not finished for *_, finished in results), n_problems, max_iter)
    bias, objectives, gaps = np.empty(n_problems), np.empty(n_problems), np.empty(n_problems)
    for s, (problem, *_) in enumerate(results):
        bias[s] = bias_of(problem.y, problem.a, problem.c, problem.f)
        objectives[s], gaps[s] = problem.objective_and_gap(bias[s])
    return Solution(
        _coefficients([problem for problem, *_ in results], len(targets)),
        bias,
        np.array([steps for _, steps, _ in results], dtype=np.int64),
        objectives,
        gaps,
    )


def _column(W: csc_array, s: int) -> Array:
    """Return a column; indexing takes longer than it takes to solve a small problem."""
    stored = slice(*W.indptr[s : s + 2])
    column = np.zeros(W.shape[0])
    column[W.indices[stored]] = W.data[stored]
    return column


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
    """Return how many samples to solve for at a time: larger blocks where outputs are longer."""
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


def warn_unfinished(count: int, n_problems: int, max_iter: int) -> None:
    if count:
        warnings.warn(
            f"{count} of {n_problems} problems were stopped early (max_iter={max_iter}). Consider "
            "scaling the features, or increase max_iter or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
