"""The compiled solvers, applied to blocks of samples."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Array, Mask
from polychotomy.codes import Code
from polychotomy.parallel import map_tasks
from polychotomy.probability._least_norm import (
    projector,
    take_least_norm_on_face,
    take_least_norms,
)

_BLOCK_ENTRIES = 2**18
_LANES = 32  # samples that are solved side by side
_MANY_LANES = 96  # not a power of two, whose rows would share few places of the cache
_FEW_CLASSES = 12  # for which strict codes are solved like codes with zeros
_MOST_IN_LANES = 64  # classes whose matrices, one for each sample, fit into the cache in all lanes
_WORST_CONDITION = 1e5  # up to which the inverse that samples share is exact enough


class _Sides(NamedTuple):
    """The classes that take part in each problem, problem after problem."""

    starts: NDArray[np.int64]
    classes: NDArray[np.int64]
    signs: Array


class _Shared(NamedTuple):
    """What the samples of a strict code share, see ``least_squares_strict``."""

    A: Array
    M: Array
    h: Array
    V: Array
    G: Array


def least_squares(binary: Array, code: Code, n_jobs: int | None = None) -> Array:
    """Return the exact minimiser of |Qp − r|² on the simplex, see ``_compiled``."""
    from polychotomy.probability import _compiled

    if code.is_one_vs_one:  # the same minimum, where p ≥ 0 is never active
        return coupling(binary, code, n_jobs)
    matrices = _shared_matrices(code) if code.is_strict and not _leaves_open(code) else None
    if matrices is not None and code.n_classes <= _FEW_CLASSES:
        return _by_blocks(binary, code, n_jobs, _in_lanes(code))
    if matrices is not None:
        return _by_blocks(
            binary,
            code,
            n_jobs,
            lambda q, out: _compiled.least_squares_strict(q, *matrices, _LANES, out),
        )
    if code.is_strict or _leaves_open(code):
        entries, choose = _entries(code), _choose_least_norm(code) if _leaves_open(code) else None

        def solve_few(q: Array, out: Array) -> None:
            faces = np.empty(out.shape, dtype=bool)
            _compiled.least_squares_few(2 * q - 1, entries, out, faces)
            if choose is not None:
                choose(q, out, faces)

        return _by_blocks(binary, code, n_jobs, solve_few)
    return _by_blocks(binary, code, n_jobs, _in_lanes(code))


def _in_lanes(code: Code) -> Callable[[Array, Array], None]:
    """Return the solver of samples with a matrix each, side by side if these are small."""
    from polychotomy.probability import _compiled

    sides, shift, k = _sides(code), float(code.n_problems), code.n_classes
    if k > _MOST_IN_LANES:
        return lambda q, out: _compiled.least_squares(2 * q - 1, *sides, shift, out)
    entries, gram = np.empty((0, k)), np.empty(0)
    if code.is_strict:
        entries = np.vstack([_entries(code), np.zeros((-code.n_problems % 4, k))])
        gram = (entries.T @ entries)[np.triu_indices(k)]
    given = *sides, entries, gram, shift, _MANY_LANES
    return lambda q, out: _compiled.least_squares_lanes(q, *given, out)


def coupling(binary: Array, code: Code, n_jobs: int | None = None) -> Array:
    """Return Wu, Lin and Weng's pairwise coupling (their second method), solved directly."""
    from polychotomy.probability import _compiled

    sides, shift = _sides(code), float(code.n_classes)
    if code.n_classes > _MOST_IN_LANES:
        return _by_blocks(
            binary, code, n_jobs, lambda q, out: _compiled.coupling(2 * q - 1, *sides, shift, out)
        )
    pairs = sides.classes.reshape(-1, 2), sides.signs.reshape(-1, 2)[:, 0].copy()
    return _by_blocks(
        binary, code, n_jobs, lambda q, out: _compiled.coupling_lanes(q, *pairs, _LANES, out)
    )


def kullback_leibler(
    binary: Array,
    code: Code,
    sample_counts: Array,
    tol: float,
    max_iter: int,
    n_jobs: int | None = None,
) -> Array:
    """Return the minimisers of the weighted divergence; warn of samples without convergence."""
    from polychotomy.probability import _compiled

    weights, last = sample_counts / sample_counts.sum(), (tol, max_iter)
    entries, choose = _entries(code), _choose_least_norm(code) if _leaves_open(code) else None
    sides = None if code.is_strict else _sides(code)
    unfinished = []

    def solve(q: Array, out: Array) -> None:
        steps = np.empty(len(q), dtype=np.int64)
        if sides is None:
            faces = np.empty(out.shape, dtype=bool)
            _compiled.kullback_leibler_strict(q, weights, entries, *last, out, faces, steps)
            if choose is not None:
                choose(q, out, faces)
        else:
            _compiled.kullback_leibler(q, weights, *sides, *last, out, steps)
        unfinished.append(int((steps < 0).sum()))

    p = _by_blocks(binary, code, n_jobs, solve)
    if any(unfinished):
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"kullback_leibler did not converge for {sum(unfinished)} of {len(binary)} samples in "
            f"{max_iter} steps. Increase max_iter or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return p


def normal_matrices(binary: Array, code: Code) -> Array:
    """Return N = BᵀB of each sample (n × k × k), see ``_compiled``."""
    from polychotomy.probability import _compiled

    normal = np.empty((len(binary), code.n_classes, code.n_classes))
    _compiled.normal_matrices(2 * binary - 1, *_sides(code), normal)
    return normal


def _leaves_open(code: Code) -> bool:
    """Whether some classes' probabilities are not determined; ``unidentified`` takes k³ steps."""
    return code.n_problems + 1 < code.n_classes or bool(code.unidentified)


def _shared_matrices(code: Code) -> _Shared | None:
    """Return what samples share, or None where a matrix is too ill-conditioned."""
    A = code.matrix.astype(float)
    G = A @ A.T + code.n_problems
    sizes = np.linalg.eigvalsh(G)
    if sizes[-1] > _WORST_CONDITION * sizes[0]:
        return None
    inverse = np.linalg.inv(G)
    each = inverse.sum(axis=1)
    V = inverse - np.outer(each, each) / each.sum()
    return _Shared(np.ascontiguousarray(A.T), A.T @ V, each / each.sum(), V, G)


def _entries(code: Code) -> Array:
    return np.ascontiguousarray(code.matrix.T, dtype=float)


def _choose_least_norm(code: Code) -> Callable[[Array, Array, Mask], None]:
    """Return a function of q, minimisers and faces that overwrites those that are not unique."""
    points = np.vstack([_entries(code), np.ones(code.n_classes)])
    N = projector(points) if code.is_strict else None

    def choose(q: Array, out: Array, faces: Mask) -> None:
        several = faces.sum(axis=1) > (out > 0).sum(axis=1)
        whole = several & faces.all(axis=1) & code.is_strict
        if N is not None:
            take_least_norms(out, points, N, whole)
        for i in np.flatnonzero(several & ~whole):
            r = np.append(2 * q[i] - 1, 0.0)[:, np.newaxis]
            take_least_norm_on_face(out[i], points - r * np.abs(points), faces[i])

    return choose


def _sides(code: Code) -> _Sides:
    problem, classes = np.nonzero(code.matrix.T)
    starts = np.searchsorted(problem, np.arange(code.n_problems + 1))
    signs = code.matrix.T[problem, classes].astype(float)
    return _Sides(starts.astype(np.int64), classes.astype(np.int64), signs)


def _by_blocks(
    binary: NDArray[Any], code: Code, n_jobs: int | None, solve: Callable[[Array, Array], None]
) -> Array:
    """Return the solutions of all samples.

    ``solve(q, out)`` writes the solutions of a block to `out`. Blocks are solved in `n_jobs`
    threads: the compiled functions release the interpreter lock.
    """
    size = max(1, _BLOCK_ENTRIES // code.n_problems)
    solutions = np.empty((len(binary), code.n_classes))

    def one(start: int, binary: NDArray[Any]) -> None:
        q = np.ascontiguousarray(binary[start : start + size], dtype=float)
        solve(q, solutions[start : start + size])

    if len(binary) <= size:
        solve(np.ascontiguousarray(binary, dtype=float), solutions)
    else:
        starts = range(0, len(binary), size)
        list(map_tasks(one, starts, shared=binary, n_jobs=n_jobs, threads=True))
    return solutions
