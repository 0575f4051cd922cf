"""Kernel rows on a GPU: computed by matrix products when needed, kept while there is room."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from polychotomy.errors import DeviceError
from polychotomy.kernel._device import Device
from polychotomy.kernel._functions import Kernel, SamplePreparation, padded

_ROWS_AT_A_TIME = 8192
_LEAST_ROWS = 1024
_TEMPORARY_VALUES = 2**28
_CHEAP_PRODUCTS = 2**34  # of all rows; they are computed at once
_MOST_OF_ALL = 0.75  # the part of all rows from which on the rest is computed, too


class DeviceKernel:
    """A kernel against fixed samples Y on a device, which are prepared once."""

    def __init__(self, device: Device, kernel: Kernel, Y: Any) -> None:
        self.device, self.kernel = device, kernel
        xp = device.xp
        self.n = Y.shape[0]
        self.stride = padded(self.n)
        if kernel.name == "precomputed":
            self.dtype = np.dtype(kernel.dtype)
            return
        Y = upload(device, Y)
        self._preparation, prepared, squares = SamplePreparation.of(kernel, Y, xp)
        self.dtype = self._preparation.dtype
        self._Y = xp.zeros((self.stride, Y.shape[1]), dtype=self.dtype)
        self._Y[: self.n] = prepared
        self._squares = xp.zeros(self.stride, dtype=self.dtype)
        self._squares[: self.n] = squares

    def own(self, numbers: Any, out: Any = None) -> Any:
        """Return the values of samples of Y against all, with :attr:`stride` columns."""
        return self._of_prepared(self._Y[numbers], self._squares[numbers], out)

    def values(self, X: Any) -> Any:
        """Return the values of samples X against Y."""
        prepared = self._preparation.apply(upload(self.device, X), self.device.xp)
        squares = self.device.xp.einsum("ij,ij->i", prepared, prepared)
        return self._of_prepared(prepared, squares)[:, : self.n]

    def _of_prepared(self, X: Any, squares: Any, out: Any = None) -> Any:
        xp, kernel = self.device.xp, self.kernel
        products = xp.matmul(X, self._Y.T, out=out)
        if kernel.name == "rbf":
            self.device.gaussian(products, squares, self._squares, kernel.gamma)
        elif kernel.name in ("poly", "sigmoid"):
            products *= self.dtype.type(kernel.gamma)
            products += self.dtype.type(kernel.coef0)
            if kernel.name == "poly":
                xp.power(products, self.dtype.type(kernel.degree), out=products)
            else:
                xp.tanh(products, out=products)
        return products


class DeviceRows:
    """A cache of kernel rows on a device, shared by all problems.

    Row i is ``values[slot[i], :n_samples]`` while ``slot[i] >= 0``. All rows are kept if they fit
    into `room`; otherwise those that were not used for longest are given up.

    Parameters
    ----------
    device : Device
    kernel : Kernel
    X : array or sparse matrix of shape (n_samples, n_features)
        The samples, or with a precomputed kernel its matrix.
    room : float, optional
        For rows, in MiB; by default most of what is free, less what `n_problems` take.
    n_problems : int
    """

    def __init__(
        self, device: Device, kernel: Kernel, X: Any, room: float | None, n_problems: int
    ) -> None:
        self.device = device
        xp, m = device.xp, X.shape[0]
        self._against = DeviceKernel(device, kernel, X)
        stride, dtype = self._against.stride, self._against.dtype
        others = m * n_problems * 48 + _ROWS_AT_A_TIME * stride * dtype.itemsize
        n_bytes = device.free_bytes() - others if room is None else int(room * 2**20)
        fitting = n_bytes // (stride * dtype.itemsize)
        self.capacity = int(min(m, max(fitting, min(m, _LEAST_ROWS))))
        needed = self.capacity * stride * dtype.itemsize
        if needed > device.free_bytes():
            raise DeviceError(
                f"The GPU must have room for {self.capacity} kernel rows of {m} samples, "
                f"{needed / 2**30:.1f} GiB. It has {device.free_bytes() / 2**30:.1f} GiB: set "
                "cache_size to less, train on fewer samples, or use device='cpu'."
            )
        self.slot = xp.full(m, -1, dtype=np.int64)
        if kernel.name == "precomputed":
            self.values = xp.zeros((m, stride), dtype=dtype)
            self.values[:, :m] = upload(device, X)
            self.slot[:] = xp.arange(m)
            self._n_taken = m
            return
        self.values = xp.empty((self.capacity, stride), dtype=dtype)
        self._holds = xp.full(self.capacity, -1, dtype=np.int64)
        self._used = xp.zeros(self.capacity, dtype=np.int64)
        self._clock = self._n_taken = 0
        self.n_computed = 0
        cheap = m * m * X.shape[1] <= _CHEAP_PRODUCTS
        self._most_of_all = 0 if cheap else _MOST_OF_ALL * m

    @property
    def holds_all(self) -> bool:
        """Whether no row is ever given up."""
        return self.capacity == len(self.slot)

    @property
    def complete(self) -> bool:
        """Whether all rows are there."""
        return self._n_taken == len(self.slot)

    def close(self) -> None:
        """Give the memory up."""
        del self.values, self._against

    def fetch(self, wanted: NDArray[np.bool_]) -> None:
        """Make sure of the rows of flagged samples, of which there are at most `capacity`."""
        xp = self.device.xp
        missing = xp.flatnonzero(wanted & (self.slot < 0))
        n = int(missing.size)
        if n and self.holds_all and self._n_taken + n > self._most_of_all:
            missing = xp.flatnonzero(self.slot < 0)  # the rest: rounds need not ask any more
            n = int(missing.size)
        if not self.holds_all:
            self._clock += 1
            kept = self.slot[wanted]
            self._used[kept[kept >= 0]] = self._clock
        if n == 0:
            return
        slots = self._free_slots(n)
        self.n_computed += n
        for start in range(0, n, _ROWS_AT_A_TIME):
            part = slice(start, start + _ROWS_AT_A_TIME)
            if self.holds_all:  # next to each other
                first = int(self._n_taken - n + start)
                where = slice(first, first + len(missing[part]))
                self._against.own(missing[part], out=self.values[where])
            else:
                self.values[slots[part]] = self._against.own(missing[part])
        self.slot[missing] = slots
        self._holds[slots], self._used[slots] = missing, self._clock

    def _free_slots(self, n: int) -> Any:
        xp = self.device.xp
        if self._n_taken + n <= self.capacity:
            self._n_taken += n
            slots = xp.arange(self._n_taken - n, self._n_taken)
        else:
            # Free slots were used at time 0; those of this round are the last.
            slots = xp.argsort(self._used)[:n]
            holds = self._holds[slots]
            self.slot[holds[holds >= 0]] = -1
            self._n_taken = self.capacity
        return slots

    def times(self, W: Any) -> Any:
        """Return K W for sparse coefficients W, a row for each problem."""
        xp = self.device.xp
        product = xp.zeros(W.shape)
        given = xp.flatnonzero(W.any(axis=0))
        size = max(1, min(self.capacity, _TEMPORARY_VALUES // W.shape[1]))
        for start in range(0, len(given), size):
            part = given[start : start + size]
            wanted = xp.zeros(W.shape[1], dtype=bool)
            wanted[part] = True
            self.fetch(wanted)
            rows = self.values[self.slot[part], : W.shape[1]]
            product += W[:, part] @ rows.astype(float)
        return product


def upload(device: Device, X: Any) -> Any:
    """Return samples as an array of the device; sparse ones are filled in."""
    if not issparse(X):
        return device.xp.asarray(X)
    n_bytes = X.shape[0] * X.shape[1] * 8
    if n_bytes > device.free_bytes():
        raise DeviceError(
            f"Sparse samples are filled in on the GPU, {n_bytes / 2**30:.1f} GiB for "
            f"{X.shape[0]} × {X.shape[1]}. It has {device.free_bytes() / 2**30:.1f} GiB free: use "
            "device='cpu', or fewer features."
        )
    dense = device.xp.empty(X.shape)
    size = max(1, _TEMPORARY_VALUES // max(1, X.shape[1]))
    for start in range(0, X.shape[0], size):
        part = X[start : start + size].toarray()
        dense[start : start + size] = device.xp.asarray(part)
    return dense
