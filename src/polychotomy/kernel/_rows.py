"""Kernel rows of the training samples, computed when needed and kept while there is room."""

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.kernel._functions import Kernel

Indices = NDArray[np.int64]

_ROWS_AT_A_TIME = 128
_LEAST_ROWS = 512
_MOST_THREADS = 4


class KernelRows:
    """A cache of kernel rows, shared by all problems and safe under threads.

    Row i is ``values[slot[i]]`` while ``slot[i] >= 0``. Values do not depend on what else is
    computed with them, so that neither threads nor the size of the cache change a result.

    Parameters
    ----------
    kernel : Kernel
    X : array or sparse matrix of shape (n_samples, n_features)
        The samples, or with a precomputed kernel its matrix.
    cache_size : float
        Room for rows, in MiB; there is always room for 512.
    """

    def __init__(self, kernel: Kernel, X: Any, cache_size: float) -> None:
        m = X.shape[0]
        self._X, self._precomputed = X, kernel.name == "precomputed"
        self._against = kernel.against(X)
        fitting = int(cache_size * 2**20 // (m * np.dtype(kernel.dtype).itemsize))
        self.capacity = min(m, max(fitting, _LEAST_ROWS))
        self.values: NDArray[Any] = np.empty((self.capacity, m), dtype=kernel.dtype)
        self.slot = np.full(m, -1, dtype=np.int64)
        self._holds = np.full(self.capacity, -1, dtype=np.int64)
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._pins = np.zeros(self.capacity, dtype=np.int64)
        self._clock = 0
        self.n_computed = 0
        self._lock = Lock()

    @property
    def largest_block(self) -> int:
        """How many rows may be in use by one thread at a time, whatever the number of threads."""
        return self.capacity if self.holds_all else self.capacity // (2 * _MOST_THREADS) // 2 * 2

    @property
    def most_threads(self) -> int | None:
        """How many threads the room is enough for; None for any number."""
        return None if self.holds_all else _MOST_THREADS

    @property
    def holds_all(self) -> bool:
        """Whether no row is ever given up."""
        return self.capacity == len(self.slot)

    def pin(self, rows: Indices) -> None:
        """Make sure of rows and keep them until they are released."""
        with self._lock:
            self._clock += 1
            present = rows[self.slot[rows] >= 0]
            self._pins[self.slot[present]] += 1
            missing = rows[self.slot[rows] < 0]
            for start in range(0, len(missing), _ROWS_AT_A_TIME):
                part = missing[start : start + _ROWS_AT_A_TIME]
                slots = self._free_slots(len(part))
                self._compute(part, slots)
                self._pins[slots] += 1
            self._used[self.slot[rows]] = self._clock

    def release(self, rows: Indices) -> None:
        """Let rows be given up when there is no room."""
        with self._lock:
            self._pins[self.slot[rows]] -= 1

    def _compute(self, rows: Indices, slots: Indices) -> None:
        together = slots[-1] - slots[0] == len(slots) - 1 and (np.diff(slots) == 1).all()
        room = self.values[slots[0] : slots[-1] + 1] if together else None
        part = self._X[rows]
        if self._precomputed:
            part = part if isinstance(part, np.ndarray) else part.toarray()
        found = self._against.values(part, room)
        if found is not room:
            self.values[slots] = found
        self._holds[slots] = rows
        self.n_computed += len(rows)
        self.slot[rows] = slots  # last: other threads may look

    def _free_slots(self, n: int) -> Indices:
        free = np.flatnonzero(self._holds < 0)[:n]
        if len(free) < n:
            unpinned = np.flatnonzero((self._pins == 0) & (self._holds >= 0))
            oldest = unpinned[np.argsort(self._used[unpinned], kind="stable")[: n - len(free)]]
            if len(oldest) < n - len(free):
                raise RuntimeError("The kernel cache is too small for the samples in use.")
            self.slot[self._holds[oldest]] = -1
            self._holds[oldest] = -1
            free = np.sort(np.concatenate([free, oldest]))
        return free
