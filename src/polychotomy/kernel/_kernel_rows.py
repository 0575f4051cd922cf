"""Kernel rows of the training samples, computed when needed and kept while there is room."""

from collections.abc import Iterator
from concurrent.futures import Executor, wait
from contextlib import contextmanager
from threading import Condition, Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Indices
from polychotomy.kernel._functions import Kernel, Ranges, padded

_LEAST_ROWS = 512
_MOST_THREADS = 4
_ROWS_OF_A_PART = 64  # that a thread takes over from another

# Memory that was never touched is slow to get (on virtual machines some ten times slower than to
# compute what goes there), so that the room of the last cache is kept for the next one.
_spare: list[NDArray[np.uint8]] = []
_spare_lock = Lock()


def _take_room(n_rows: int, n_columns: int, dtype: str) -> NDArray[Any]:
    n_bytes = n_rows * n_columns * np.dtype(dtype).itemsize
    with _spare_lock:
        room = _spare.pop() if _spare and len(_spare[-1]) >= n_bytes else None
    room = np.empty(n_bytes, dtype=np.uint8) if room is None else room
    return room[:n_bytes].view(dtype).reshape(n_rows, n_columns)


def _leave_room(values: NDArray[Any]) -> None:
    while values.base is not None:
        values = values.base
    with _spare_lock:
        if not _spare or len(_spare[-1]) < len(values):
            _spare[:] = [values]


def free_memory() -> None:
    """Release the memory that is kept for the next kernel cache, at most one `cache_size`.

    Examples
    --------
    >>> from polychotomy.kernel import free_memory
    >>> free_memory()
    """
    with _spare_lock:
        _spare.clear()


def row_bytes(m: int) -> int:
    """Return the bytes of the least number of rows that are kept of m samples."""
    return 4 * min(m, _LEAST_ROWS) * padded(m)


class KernelRows:
    """A cache of kernel rows, shared by all problems and safe under threads.

    Row i is ``values[slot[i], :n_samples]`` while it is pinned, in the segments of columns that
    were asked for. Threads compute rows at the same time. Values do not depend on what else is
    computed with them, so that threads change no result.

    Parameters
    ----------
    kernel : Kernel
    X : array or sparse matrix of shape (n_samples, n_features)
        The samples, or with a precomputed kernel its matrix.
    cache_size : float
        Room for rows, in MiB; there is always room for 512.
    segments : ndarray of shape (n_segments,), optional
        Where segments of columns begin, in order: for problems that need only a run of samples,
        only these columns are computed. By default there is one segment.

    Attributes
    ----------
    holds_all : bool
        Whether no row is ever given up.
    most_threads : int or None
        How many threads the room is enough for; None for any number.
    largest_block : int
        How many rows may be in use by one thread at a time, whatever the number of threads.
    """

    def __init__(
        self, kernel: Kernel, X: Any, cache_size: float, segments: Indices | None = None
    ) -> None:
        m = X.shape[0]
        self._against = kernel.against(X)
        fitting = int(cache_size * 2**20 // (padded(m) * np.dtype(kernel.dtype).itemsize))
        self.capacity = min(m, max(fitting, _LEAST_ROWS))
        self.holds_all = self.capacity == m
        self.most_threads = None if self.holds_all else _MOST_THREADS
        shared = self.capacity // (2 * _MOST_THREADS) // 2 * 2
        self.largest_block = self.capacity if self.holds_all else shared
        self.values: NDArray[Any] = _take_room(self.capacity, padded(m), kernel.dtype)
        self.slot = np.full(m, -1, dtype=np.int64)
        self._holds = np.full(self.capacity, -1, dtype=np.int64)
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._pins = np.zeros(self.capacity, dtype=np.int64)
        if segments is None or not self._against.by_ranges:
            segments = np.zeros(1, dtype=np.int64)
        self._starts, self._stops = segments, np.append(segments[1:], m)
        self._filled = np.zeros((self.capacity, len(segments)), dtype=bool)
        self._clock = 0
        self._n_taken = 0
        self.n_computed = 0
        self._busy = np.zeros(self.capacity, dtype=bool)
        self._changed = Condition()
        self._helpers: Executor | None = None

    @contextmanager
    def helped_by(self, helpers: Executor) -> Iterator[None]:
        """Let threads that have nothing else to do compute rows for others."""
        self._helpers = helpers
        try:
            yield
        finally:
            self._helpers = None

    def close(self) -> None:
        """Leave the room to the next cache; the rows are gone."""
        _leave_room(self.values)
        del self.values

    def segments_of(self, sample: Indices) -> Indices:
        """Return the segments that have some of the samples, which are in order."""
        found = np.searchsorted(self._starts, sample, side="right") - 1
        return found[np.concatenate([[True], np.diff(found) != 0])] if len(found) else found

    def slots(self, segments: Indices) -> Indices:
        """Return the slots of the rows that are there for some segments; −1 for others."""
        whole = np.append(self._filled[:, segments].all(axis=1), False)
        return np.where(whole[self.slot], self.slot, -1)

    def pin(self, rows: Indices, segments: Indices | None = None) -> None:
        """Make sure of rows, for some segments or all, and keep them until they are released."""
        if segments is None:
            segments = np.arange(len(self._starts))
        with self._changed:
            self._clock += 1
            slots = self.slot[rows]
            absent = np.flatnonzero(slots < 0)
            self._pins[slots[slots >= 0]] += 1  # first, so that they are not given up
            if len(absent):
                slots[absent] = self._free_slots(len(absent))
                self._pins[slots[absent]] += 1
                self._holds[slots[absent]] = rows[absent]
                self.slot[rows] = slots
            self._used[slots] = self._clock
        self._fill(rows, slots, segments)

    def release(self, rows: Indices) -> None:
        """Let rows be given up when there is no room."""
        with self._changed:
            self._pins[self.slot[rows]] -= 1

    def _fill(self, rows: Indices, slots: Indices, segments: Indices) -> None:
        """Compute what is lacking of rows, while other threads compute theirs."""
        while True:
            with self._changed:
                lacking = ~self._filled[slots][:, segments]
                wanted = lacking.any(axis=1)
                own = np.flatnonzero(wanted & ~self._busy[slots])
                if not len(own):
                    if not wanted.any():
                        return
                    self._changed.wait()  # for another thread that computes them
                    continue
                others = len(own) < np.count_nonzero(wanted)
                self._busy[slots[own]] = True
            ranges = Ranges(self._starts[segments], self._stops[segments], lacking[own])
            computed = False
            try:
                self._write(rows[own], slots[own], ranges)
                computed = True
            finally:
                with self._changed:
                    self._busy[slots[own]] = False
                    self._filled[slots[own][:, np.newaxis], segments] = computed
                    self.n_computed += len(own)
                    self._changed.notify_all()
            if not others:
                return

    def _write(self, rows: Indices, slots: Indices, ranges: Ranges) -> None:
        """Compute rows; idle threads take parts of them, and this one takes all that are left."""

        def write(first: int) -> None:
            part = slice(first, first + size)
            wanted = ranges._replace(wanted=ranges.wanted[part])
            self._against.write_own(rows[part], self.values, slots[part], wanted)

        helpers, size = self._helpers, _ROWS_OF_A_PART
        if helpers is None or len(rows) <= size:
            self._against.write_own(rows, self.values, slots, ranges)
            return
        first, *others = range(0, len(rows), size)
        given = [(part, helpers.submit(write, part)) for part in others]
        try:
            write(first)
            for part, future in reversed(given):
                if future.cancel():
                    write(part)
        finally:
            taken = [future for _, future in given if not future.cancel()]
            wait(taken)
        for future in taken:
            future.result()

    def _free_slots(self, n: int) -> Indices:
        if self.holds_all:
            self._n_taken += n
            return np.arange(self._n_taken - n, self._n_taken)
        free = np.flatnonzero(self._holds < 0)[:n]
        if len(free) < n:
            unpinned = np.flatnonzero((self._pins == 0) & (self._holds >= 0))
            oldest = unpinned[np.argsort(self._used[unpinned], kind="stable")[: n - len(free)]]
            if len(oldest) < n - len(free):
                raise RuntimeError("The kernel cache is too small for the samples in use.")
            self.slot[self._holds[oldest]] = -1
            self._holds[oldest] = -1
            self._filled[oldest] = False
            free = np.sort(np.concatenate([free, oldest]))
        return free
