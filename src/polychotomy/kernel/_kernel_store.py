"""Kernel rows that outlive one training: for all folds and parameters of a search."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from polychotomy.arrays import Indices
from polychotomy.kernel._device import is_on_device
from polychotomy.kernel._functions import Kernel

_active: ContextVar["KernelStore | None"] = ContextVar("kernel_store", default=None)


@contextmanager
def shared_kernel(X: Any, y: ArrayLike, *, starts: bool = True) -> Iterator[None]:
    """Share kernel rows between all :class:`~polychotomy.SharedKernelSVC` trained on samples of X.

    Folds are found by their content, so that anything that trains on some rows of X, such as a
    cross-validation or a grid search without worker processes, computes a kernel row once for each
    kernel, whatever the number of folds, problems and values of C. Training on other samples goes
    on as usual. Only for arrays of numbers.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels, by which rows are laid out; nothing else depends on them.
    starts : bool, default=True
        Whether a training starts from the solution of an earlier one with the same problems, of
        another C or another fold. Results then depend on what ran before, within the tolerance.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from polychotomy import CodeClassifier, SharedKernelSVC
    >>> from polychotomy.kernel import shared_kernel
    >>> X, y = load_iris(return_X_y=True)
    >>> with shared_kernel(X, y):
    ...     for C in (1, 10):
    ...         model = CodeClassifier(SharedKernelSVC(C=C, gamma=0.5), probability=None)
    ...         score = cross_val_score(model, X, y).mean()
    """
    with _in_use(KernelStore(X, y, starts=starts)):
        yield


@contextmanager
def _in_use(store: "KernelStore") -> Iterator[None]:
    """Let trainings use a store for a while."""
    token = _active.set(store)
    try:
        yield
    finally:
        _active.reset(token)
        store.close()


@contextmanager
def rows_kept(X: Any, y: ArrayLike) -> Iterator[None]:
    """Share rows between trainings on the same samples, which start from earlier solutions.

    Rows that are shared already are used; solutions from outside are used only where they are
    shared, too. Sparse samples and samples on a GPU share nothing.
    """
    from sklearn.utils import check_array

    if is_on_device(X):
        yield
        return
    samples = check_array(
        X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
    )
    store = active_store()
    if not isinstance(samples, np.ndarray):
        yield
    elif store is None or store.place(samples) is None:
        with _in_use(KernelStore(samples, y, unchanged=True)):
            yield
    else:
        with store.own_starts():
            yield


def active_store() -> "KernelStore | None":
    """Return the store that this training may use."""
    return _active.get()


class KernelStore:
    """Samples in the order of their classes, and the rows of the kernel in use.

    Solutions are kept too, for the same problems with another C or on other folds to begin with.
    `columns` are those of all folds at once, on a device, with their kernel.

    Parameters
    ----------
    X, y, starts
        As for :func:`shared_kernel`.
    unchanged : bool, default=False
        Whether X does not change while the store is in use, and is recognised as itself.
    """

    def __init__(
        self, X: Any, y: ArrayLike, *, starts: bool = True, unchanged: bool = False
    ) -> None:
        self._starts = starts
        self._given = X if unchanged else None
        labels = np.unique(np.asarray(y), return_inverse=True)[1]
        order = np.argsort(labels, kind="stable")
        X = np.asarray(X)
        X = X if X.dtype == np.float32 else X.astype(float, copy=False)
        self.X = np.ascontiguousarray(X[order])
        self._labels = labels[order]
        self._by_label = order
        hashes = _hashes(self.X)
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._order]
        self._key: tuple[Kernel, Any] | None = None
        self._rows: Any = None
        self._solved: dict[Any, tuple[csc_array, NDArray[np.bool_]]] = {}
        self.columns: Any = None
        self.lock = Lock()

    @contextmanager
    def own_starts(self) -> Iterator[None]:
        """Keep solutions for a while, from none, if they are not kept anyway."""
        if self._starts:
            yield
            return
        self._starts = True
        try:
            yield
        finally:
            self._starts = False
            self._solved.clear()

    def place(self, X: Any) -> Indices | None:
        """Return which samples these are, or None if they are not all from here."""
        if not isinstance(X, np.ndarray) or X.shape[1:] != self.X.shape[1:]:
            return None
        if self._given is not None and _is_same(X, self._given):
            return np.argsort(self._by_label)
        from polychotomy.kernel._compiled import are_rows

        hashes = _hashes(np.ascontiguousarray(X, dtype=self.X.dtype))
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        # Of samples that are alike the first is the first here, the second the second.
        first = np.searchsorted(ordered, ordered)
        position = np.searchsorted(self._hashes, ordered) + np.arange(len(X)) - first
        if position.max(initial=-1) >= len(self.X):
            return None
        found = np.empty(len(X), dtype=np.int64)
        found[order] = self._order[position]
        return found if are_rows(self.X, found, X) else None

    def rows(self, kernel: Kernel, device: Any, make: Callable[..., Any]) -> Any:
        """Return the rows of a kernel on a device; those of the last one are given up."""
        if self._rows is None or (kernel, device) != self._key:
            columns = self.columns
            self.close()
            self.columns = columns
            segments = np.flatnonzero(np.diff(self._labels, prepend=-1))
            self._key = kernel, device
            self._rows = make(kernel, self.X, segments)
        return self._rows

    def remember(
        self,
        found: Indices,
        targets: NDArray[np.int8],
        upper: NDArray[np.float64],
        coefficients: csc_array,
    ) -> None:
        """Keep the solution of problems; the arrays are those of all samples."""
        if not self._starts:
            return
        column = np.repeat(np.arange(targets.shape[1]), np.diff(coefficients.indptr))
        bounded = np.abs(coefficients.data) >= upper[coefficients.indices, column]
        problems, fold = self._keys(found, targets)
        self._solved[problems] = self._solved[problems, fold] = coefficients, bounded

    def recall(
        self,
        found: Indices,
        targets: NDArray[np.int8],
        upper: NDArray[np.float64],
        *,
        together: bool,
    ) -> csc_array | None:
        """Return coefficients to begin with, made of the last solution of the same problems.

        The last one on the same samples if there is one, else that on another fold.
        """
        if not self._solved:
            return None
        problems, fold = self._keys(found, targets)
        known = self._solved.get((problems, fold)) or self._solved.get(problems)
        return None if known is None else carry_over(*known, targets, upper, together=together)

    def _keys(self, found: Indices, targets: NDArray[np.int8]) -> tuple[bytes, bytes]:
        """Return a key of the problems, by the sides of the classes, and one of the fold."""
        places = self._labels[found], np.arange(len(found))
        shape = self._labels[-1] + 1, len(found)
        members = csc_array((np.ones(len(found), dtype=np.int64), places), shape=shape)
        return np.sign(members @ targets[found]).tobytes(), np.sort(found).tobytes()

    def close(self) -> None:
        """Give up all rows and solutions."""
        self._solved.clear()
        self.columns = None
        if self._rows is not None:
            self._rows.close()
            self._rows = None


def carry_over(
    coefficients: csc_array,
    bounded: NDArray[np.bool_],
    targets: NDArray[np.int8],
    upper: NDArray[np.float64],
    *,
    together: bool,
) -> csc_array:
    """Return coefficients that are allowed for problems, from those of similar ones.

    What was at its bound goes to the new one, and the rest stays where it is allowed. Then the
    side with the larger sum is scaled down, since the coefficients of each problem, or of all
    together, must sum to zero.
    """
    n_problems = targets.shape[1]
    column = np.repeat(np.arange(n_problems), np.diff(coefficients.indptr))
    bound = upper[coefficients.indices, column]
    side = targets[coefficients.indices, column]
    column = np.zeros_like(column) if together else column
    size = np.where(bounded, bound, np.minimum(np.abs(coefficients.data), bound))
    size[side != np.sign(coefficients.data)] = 0
    plus, minus = (np.bincount(column, size * (side == s), n_problems) for s in (1, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.where(side > 0, (minus / plus)[column], (plus / minus)[column])
    values = np.sign(coefficients.data) * size * np.minimum(np.nan_to_num(shrink), 1)
    return csc_array((values, coefficients.indices, coefficients.indptr), shape=targets.shape)


def _is_same(X: NDArray[Any], Y: NDArray[Any]) -> bool:
    """Whether two arrays are the same memory."""
    same = X.ctypes.data == Y.ctypes.data and X.strides == Y.strides
    return same and X.shape == Y.shape and X.dtype == Y.dtype


def _hashes(X: NDArray[np.floating[Any]]) -> NDArray[np.uint64]:
    """Return a number for each row by its bits."""
    from polychotomy.kernel._compiled import hash_rows

    factors = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) * 2 + 1
    numbers: NDArray[np.uint64] = hash_rows(X.view(f"u{X.itemsize}"), factors)
    return numbers


def spread(
    found: Indices, targets: NDArray[np.int8], upper: NDArray[np.float64], n: int
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Return the targets and bounds of all samples of a store from those of some.

    Samples that are not trained on get a bound of 0 and cannot move. Between samples of a
    problem they take part in name, so that its samples form long runs.
    """
    here = np.zeros(n, dtype=bool)
    here[found] = True
    all_targets = np.zeros((n, targets.shape[1]), dtype=np.int8)
    all_targets[found] = targets
    numbers = np.arange(n)
    before = np.maximum.accumulate(np.where(here, numbers, 0))
    after = np.minimum.accumulate(np.where(here, numbers, n - 1)[::-1])[::-1]
    between = ~here[:, np.newaxis] & (all_targets[before] != 0) & (all_targets[after] != 0)
    all_targets[between] = 1
    all_upper = np.zeros((n, upper.shape[1]))
    all_upper[found] = upper
    return all_targets, np.broadcast_to(all_upper, all_targets.shape)
