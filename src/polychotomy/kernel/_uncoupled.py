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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from sklearn.exceptions import ConvergenceWarning

from polychotomy.arrays import Array, Indices
from polychotomy.kernel._kernel_rows import KernelRows

_MOST_ROUNDS = 1_000_000
_ROUNDS_AT_A_TIME = 4
_BLOCK = 384
_MIDDLE_BLOCK = 256
_SMALL_BLOCK = 128
_LEAST_BLOCK = 64
_LARGEST_BLOCK = 1024
_MOST_FREE = 0.75  # of a block
_PADDING = 16  # columns, so that those of a block do not meet in the processor's cache
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
    left_out : sparse array of shape (n_samples, n_problems), or None
        Of problems within others: the outputs on the samples that they leave out.
    """

    coefficients: csc_array
    bias: Array
    steps: NDArray[np.int64]
    objectives: Array
    gaps: Array
    products: Array | None = None
    left_out: csc_array | None = None

    def of_samples(self, numbers: Indices) -> "Solution":
        """Return what was found with the samples in this order."""
        W, left_out = self.coefficients, self.left_out
        if left_out is not None:
            left_out = left_out.tocsr()[numbers].tocsc()
        return replace(self, coefficients=W.tocsr()[numbers].tocsc(), left_out=left_out)


@dataclass
class _Problem:
    """One problem on its own samples; see ``_compiled`` for the names."""

    sample: Indices
    segments: Indices
    starts: Indices
    stops: Indices
    y: Array
    c: Array
    a: Array
    f: Array

    @classmethod
    def of(
        cls, rows: KernelRows, side: NDArray[np.int8], upper: Array, start: Array | None
    ) -> "_Problem":
        sample = np.flatnonzero(side)
        breaks = np.flatnonzero(np.diff(sample) != 1)
        starts = sample[np.concatenate([[0], breaks + 1])] if len(sample) else sample
        stops = sample[np.concatenate([breaks, [len(sample) - 1]])] + 1 if len(sample) else sample
        y, c = side[sample].astype(float), upper[sample].astype(float)
        a = np.zeros(len(sample)) if start is None else np.clip(np.abs(start[sample]), 0, c)
        return cls(sample, rows.segments_of(sample), starts, stops, y, c, a, np.zeros(len(sample)))

    def within(self, target: NDArray[np.int8], upper: Array) -> "_Problem":
        """Return the problem with a bound of 0 for samples without a target, at its beginning."""
        c = np.where(target[self.sample] == 0, 0.0, upper[self.sample])
        zeros = np.zeros((2, len(c)))
        return replace(self, c=c, a=zeros[0], f=zeros[1])

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
    within: Indices | None = None,
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
    within : ndarray of shape (n_problems,), optional
        For each problem the number of one with the same sides of more samples, −1 for none. It is
        solved first, and the problem begins with its solution. Samples that it leaves out are kept
        with a bound of 0, for their outputs.
    done : callable
        Called with the number of each problem that is solved.
    """
    n_problems = targets.shape[1]
    stopped = Event()
    at_once = min(n_jobs, rows.most_threads or n_jobs)  # the other threads compute rows for these
    within = np.full(n_problems, -1) if within is None else within
    solved: dict[int, tuple[_Problem, int, bool]] = {}

    def work(s: int) -> None:
        begin = None if start is None else _column(start, s)
        if within[s] < 0:
            problem = _Problem.of(rows, targets[:, s], upper[:, s], begin)
        else:
            problem = solved[within[s]][0].within(targets[:, s], upper[:, s])
        if within[s] >= 0:
            _take_over(rows, solved[within[s]][0], problem)
        else:
            given = np.flatnonzero(problem.a)
            _add(rows, problem, problem.sample[given], (problem.y * problem.a)[given])
        solved[s] = problem, *_solve_problem(rows, problem, tol, max_iter, stopped)
        done(s)

    def work_on(left: Iterator[int]) -> None:
        try:
            for s in left:
                if stopped.is_set():
                    return
                work(s)
        except BaseException:
            stopped.set()
            raise

    for some in (np.flatnonzero(within < 0).tolist(), np.flatnonzero(within >= 0).tolist()):
        if n_jobs == 1 or not some:
            work_on(iter(some))
            continue
        with ThreadPoolExecutor(n_jobs) as workers, rows.helped_by(workers):
            try:
                list(workers.map(work_on, [iter(some)] * at_once))
            except BaseException:
                stopped.set()
                workers.shutdown(cancel_futures=True)
                raise
    results = [solved[s] for s in range(n_problems)]
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
        left_out=_left_out([problem for problem, *_ in results], targets, within, bias),
    )


def _left_out(
    problems: list[_Problem], targets: NDArray[np.int8], within: Indices, bias: Array
) -> csc_array | None:
    """Return the outputs of problems within others on the samples that they leave out."""
    if (within < 0).all():
        return None
    kept = [np.flatnonzero(targets[p.sample, s] == 0) for s, p in enumerate(problems)]
    columns = np.concatenate([[0], np.cumsum([len(k) for k in kept])])
    pairs = list(zip(problems, kept, bias, strict=True))
    values = np.concatenate([problem.f[k] + b for problem, k, b in pairs])
    samples = np.concatenate([problem.sample[k] for problem, k, _ in pairs])
    return csc_array((values, samples, columns), shape=targets.shape)


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
    rows: KernelRows,
    problem: _Problem,
    tol: float,
    max_iter: int,
    stopped: Event,
) -> tuple[int, bool]:
    """Advance one problem to its end; return its steps and whether the end was reached."""
    from polychotomy.kernel._compiled import DONE, INTERRUPTED, NEEDS_ROWS, advance

    block = _Block.of(rows, problem)
    state, marked = block.state, np.zeros(len(problem.y), dtype=bool)
    where = np.zeros(len(problem.y), dtype=np.int32)
    shared = rows.holds_all  # otherwise only rows that are pinned may be looked at
    slot = rows.slots(problem.segments)
    while state[3] < _MOST_ROUNDS and not stopped.is_set():
        outcome = advance(
            rows.values,
            slot if shared else _only(rows, problem, block),
            problem.sample,
            problem.starts,
            problem.stops,
            problem.y,
            problem.a,
            problem.c,
            problem.f,
            block.entries,
            block.places,
            block.fresh,
            block.Q,
            where,
            marked,
            state,
            tol,
            max_iter,
            _ROUNDS_AT_A_TIME if shared else 1,
        )
        wanted = problem.sample[block.chosen]
        if outcome == NEEDS_ROWS:
            wanted = wanted[slot[wanted] < 0] if shared else wanted
            rows.pin(wanted, problem.segments)
            slot[wanted] = rows.slot[wanted]
            if shared:
                rows.release(wanted)
        elif outcome == INTERRUPTED:
            if not shared:
                rows.release(wanted)
            if state[3] % _ROUNDS_AT_A_TIME == 0:  # whatever rows were there before
                block.grow(problem)
        else:
            return int(state[2]), outcome == DONE
    return int(state[2]), False


@dataclass
class _Block:
    """The samples that are solved for at a time, and the kernel among them; see ``_compiled``.

    `largest` is the most samples that it may have.
    """

    entries: Indices
    places: Indices
    fresh: NDArray[np.bool_]
    Q: NDArray[Any]
    state: Array
    largest: int

    @classmethod
    def of(cls, rows: KernelRows, problem: _Problem) -> "_Block":
        """Return a block with coefficients between the bounds, if there are some to begin with."""
        begun = np.flatnonzero((problem.a > 0) & (problem.a < problem.c))
        largest = max(4, min(_LARGEST_BLOCK, rows.largest_block))
        size = max(_block_size(len(problem.y), len(begun)), int(len(begun) / _MOST_FREE))
        size = min(size, largest)
        given = min(len(begun), size)
        block = cls(
            np.zeros(size, dtype=np.int64),
            np.arange(size),
            np.zeros(size, dtype=bool),
            np.empty((size, size + _PADDING), dtype=rows.values.dtype),
            np.zeros(5),
            largest,
        )
        block.entries[:given] = begun[:given]
        block.state[0] = given
        return block

    @property
    def chosen(self) -> Indices:
        """The samples in it."""
        return self.entries[: int(self.state[0])]

    def grow(self, problem: _Problem) -> None:
        """Make room where most of a full block would be coefficients between the bounds."""
        size = len(self.entries)
        if size == self.largest or self.state[0] < size:
            return
        n_free = int(np.count_nonzero((problem.a > 0) & (problem.a < problem.c)))
        if n_free <= _MOST_FREE * size:
            return
        more = min(self.largest, max(2 * size, int(n_free / _MOST_FREE))) - size
        Q = np.empty((size + more, size + more + _PADDING), dtype=self.Q.dtype)
        Q[:size, :size] = self.Q[:, :size]
        self.Q = Q
        self.entries = np.append(self.entries, np.zeros(more, dtype=np.int64))
        self.places = np.append(self.places, np.arange(size, size + more))
        self.fresh = np.append(self.fresh, np.zeros(more, dtype=bool))


def _block_size(n: int, n_begun: int) -> int:
    """Return how many samples to solve for at a time: larger blocks where outputs are longer.

    Few coefficients between the bounds to begin with, `n_begun`, take half of a small block.
    """
    if n <= _SMALL_PROBLEM:
        size = _SMALL_BLOCK
    else:
        size = _MIDDLE_BLOCK if n <= _MIDDLE_PROBLEM else _BLOCK
    return min(size, max(_LEAST_BLOCK, 2 * n_begun)) if n_begun else size


def _add(rows: KernelRows, problem: _Problem, samples: Indices, weights: Array) -> None:
    """Add the kernel rows of samples, with weights, to the outputs of a problem."""
    from polychotomy.kernel._compiled import add_rows

    size = min(_BLOCK, rows.largest_block)
    for first in range(0, len(samples), size):
        part = samples[first : first + size]
        rows.pin(part, problem.segments)
        slots, some = rows.slot[part], weights[first : first + size]
        f, starts, stops = problem.f, problem.starts, problem.stops
        add_rows(rows.values, slots, some, len(part), f, starts, stops)
        rows.release(part)


def _take_over(rows: KernelRows, whole: _Problem, part: _Problem) -> None:
    """Begin a problem with the solution of one on the same samples, with other bounds.

    Coefficients above the bounds are cut. Then the side with the larger sum gives up those of the
    samples that are classified best, since few rows should change.
    """
    a = np.minimum(whole.a, part.c)
    excess = float(part.y @ a)
    side = np.flatnonzero((part.y * excess > 0) & (a > 0))
    side = side[np.argsort(-part.y[side] * whole.f[side], kind="stable")]
    taken = np.minimum(np.cumsum(a[side]), abs(excess))
    a[side] -= np.diff(taken, prepend=0.0)
    part.a[:], part.f[:] = a, whole.f
    changed = np.flatnonzero(a != whole.a)
    weights = (part.y * (a - whole.a))[changed]
    _add(rows, part, part.sample[changed], weights)


def _only(rows: KernelRows, problem: _Problem, block: _Block) -> Indices:
    """Return slots that show only the rows of the chosen block, which are pinned.

    Others might be given up for another thread while this one looks at them.
    """
    slot = np.full(len(rows.slot), -1, dtype=np.int64)
    if block.state[1]:
        wanted = problem.sample[block.chosen]
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
