"""Kernel rows that outlive one training: for all folds and parameters of a search."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from polychotomy.kernel._functions import Kernel
from polychotomy.kernel._rows import KernelRows

Indices = NDArray[np.int64]

_active: ContextVar["KernelStore | None"] = ContextVar("kernel_store", default=None)


@contextmanager
def shared_kernel(X: Any, y: ArrayLike) -> Iterator[None]:
    """Let all :class:`~polychotomy.SharedKernelSVC` trained within it on samples of X share rows.

    Folds are found by their content, so that anything that trains on some rows of X, such as a
    cross-validation or a grid search without worker processes, computes a kernel row once for each
    kernel, whatever the number of folds, problems and values of C. Training on other samples goes
    on as usual. Only for arrays of numbers.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels, by which rows are laid out; nothing else depends on them.

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
    store = KernelStore(X, y)
    token = _active.set(store)
    try:
        yield
    finally:
        _active.reset(token)
        store.close()


def active_store() -> "KernelStore | None":
    """Return the store that this training may use."""
    return _active.get()


class KernelStore:
    """Samples in the order of their classes, and the rows of the kernel in use."""

    def __init__(self, X: Any, y: ArrayLike) -> None:
        order = np.argsort(np.asarray(y), kind="stable")
        self.X = np.ascontiguousarray(np.asarray(X, dtype=float)[order])
        self._numbers: dict[int, list[int]] = defaultdict(list)
        for i, row in enumerate(self.X):
            self._numbers[hash(row.tobytes())].append(i)
        self._kernel: Kernel | None = None
        self._rows: KernelRows | None = None
        self._solved: dict[int, tuple[float, NDArray[Any], NDArray[Any]]] = {}
        self.lock = Lock()

    def place(self, X: Any) -> Indices | None:
        """Return which samples these are, or None if they are not all from here."""
        if not isinstance(X, np.ndarray) or X.shape[1:] != self.X.shape[1:]:
            return None
        taken: dict[int, int] = defaultdict(int)
        found = np.empty(len(X), dtype=np.int64)
        for i, row in enumerate(np.ascontiguousarray(X, dtype=float)):
            key = hash(row.tobytes())
            same = self._numbers.get(key, [])
            if taken[key] >= len(same):
                return None
            found[i] = same[taken[key]]
            taken[key] += 1
        return found if np.array_equal(self.X[found], X) else None

    def rows(self, kernel: Kernel, cache_size: float) -> KernelRows:
        """Return the rows of a kernel; those of the last one are given up for another."""
        if self._rows is None or kernel != self._kernel:
            self.close()
            self._kernel, self._rows = kernel, KernelRows(kernel, self.X, cache_size)
        return self._rows

    def remember(
        self, targets: NDArray[np.int8], upper: NDArray[np.float64], coefficients: csc_array
    ) -> None:
        """Keep the solutions of problems."""
        for s in range(targets.shape[1]):
            column = coefficients[:, [s]]
            found = upper[:, s].max(), column.indices, column.data
            self._solved[_key(targets[:, s], upper[:, s])] = found

    def recall(self, targets: NDArray[np.int8], upper: NDArray[np.float64]) -> csc_array | None:
        """Return the last solutions of the same problems, scaled to their bounds; zeros if none."""
        if not self._solved:
            return None
        nothing = 1.0, np.empty(0, dtype=np.int64), np.empty(0)
        samples, values, first = [], [], [0]
        for s in range(targets.shape[1]):
            bound, rows, data = self._solved.get(_key(targets[:, s], upper[:, s]), nothing)
            samples.append(rows)
            values.append(data * (upper[:, s].max() / bound))
            first.append(first[-1] + len(rows))
        parts = np.concatenate(values), np.concatenate(samples), np.array(first)
        return csc_array(parts, shape=targets.shape)

    def close(self) -> None:
        """Give up all rows and solutions."""
        self._solved.clear()
        if self._rows is not None:
            self._rows.close()
            self._rows = None


def _key(target: NDArray[np.int8], upper: NDArray[np.float64]) -> int:
    """Return a number that is the same for problems that differ by C alone."""
    shares = np.round(upper / max(upper.max(), np.finfo(float).tiny), 12)
    return hash((target.tobytes(), shares.tobytes()))


def spread(
    found: Indices, targets: NDArray[np.int8], upper: NDArray[np.float64], n: int
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Return the targets and bounds of all samples of a store from those of some.

    Samples that are not trained on get a bound of 0 and cannot move. Where they stand between
    samples of a problem they take part in name, so that its samples stand in long runs.
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
