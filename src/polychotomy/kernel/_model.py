"""A trained set of problems: the union of their support vectors and one matrix product."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from polychotomy.arrays import Array
from polychotomy.kernel._device import Device, is_on_device, to_host
from polychotomy.kernel._device_rows import DeviceKernel
from polychotomy.kernel._functions import Kernel, KernelAgainst

_BLOCK_VALUES = 2**22
_DEVICE_VALUES = 2**28
_DENSE = 0.2


@dataclass(frozen=True, eq=False)
class KernelModel:
    """What kernel problems say: F(x) = k(x)ᵀ W + b over the union of their support vectors.

    Attributes
    ----------
    kernel : Kernel
    support : ndarray of shape (n_support,)
        The training samples with a coefficient in any problem, in order.
    vectors : array or sparse matrix of shape (n_support, n_features)
        These samples; None with a precomputed kernel.
    weights : sparse array of shape (n_support, n_problems)
        W, or W M for coupled problems.
    bias : ndarray of shape (n_problems,)
    """

    kernel: Kernel
    support: NDArray[np.intp]
    vectors: Any
    weights: csc_array
    bias: Array
    _there: ClassVar[Any] = None

    @classmethod
    def of(cls, kernel: Kernel, X: Any, weights: csc_array, bias: Array) -> "KernelModel":
        """Return the model with the samples of X that have a weight."""
        support = np.unique(weights.indices).astype(np.intp)
        vectors = None if kernel.name == "precomputed" else X[support]
        if is_on_device(vectors):
            vectors = to_host(vectors)
        return cls(kernel, support, vectors, weights.tocsr()[support].tocsc(), bias)

    def part(self, problems: Sequence[int]) -> "KernelModel":
        """Return the model of some problems, with their own support vectors only."""
        weights = self.weights[:, problems]
        used = np.unique(weights.indices)
        vectors = None if self.vectors is None else self.vectors[used]
        own = weights.tocsr()[used].tocsc()
        return KernelModel(self.kernel, self.support[used], vectors, own, self.bias[problems])

    def outputs(self, X: Any, device: Device | None = None) -> Any:
        """Return the outputs of all problems, a column for each; a block of samples at a time."""
        if device is not None and len(self.support) and self.kernel.name != "precomputed":
            with device.guarded():
                return self._outputs_on(device, X)
        outputs = np.empty((X.shape[0], len(self.bias)))
        if not len(self.support):
            outputs[:] = self.bias
            return outputs
        size = max(32, _BLOCK_VALUES // len(self.support) // 32 * 32)
        for start in range(0, X.shape[0], size):
            self._write(self._values(X[start : start + size]), outputs[start : start + size])
        return outputs

    def _outputs_on(self, device: Device, X: Any) -> Any:
        """Return the outputs as an array of the device."""
        xp = device.xp
        if self._there is None or self._there[0] is not device:
            against = DeviceKernel(device, self.kernel, self.vectors)
            weights = xp.asarray(self.weights.toarray()), xp.asarray(self.bias)
            object.__setattr__(self, "_there", (device, against, *weights))
        _, against, weights, bias = self._there
        outputs = xp.empty((X.shape[0], len(self.bias)))
        size = max(32, _DEVICE_VALUES // len(self.support))
        for start in range(0, X.shape[0], size):
            values = against.values(X[start : start + size])
            outputs[start : start + size] = values.astype(float) @ weights + bias
        return outputs

    def _values(self, X: Any) -> NDArray[Any]:
        if self.kernel.name != "precomputed":
            return self._against.values(X)
        columns = X[:, self.support]
        return np.asarray(columns if isinstance(columns, np.ndarray) else columns.toarray())

    def _write(self, values: NDArray[Any], outputs: Array) -> None:
        """Write outputs from kernel values; weights that are mostly zero are not filled in."""
        if self._dense is not None:
            np.dot(values.astype(float, copy=False), self._dense, out=outputs)
            outputs += self.bias
            return
        from polychotomy.kernel._compiled import sparse_outputs

        w = self.weights
        sparse_outputs(values, w.indptr, w.indices, w.data, self.bias, outputs)

    @cached_property
    def _against(self) -> KernelAgainst:
        kernel = self.kernel
        if kernel.name != "rbf":  # products can be large, and what they lose shows in the outputs
            kernel = replace(kernel, dtype="float64")
        return kernel.against(self.vectors)

    @cached_property
    def _dense(self) -> Array | None:
        """The weights as a full matrix, where that is not mostly zeros."""
        n, k = self.weights.shape
        return self.weights.toarray() if self.weights.nnz > _DENSE * n * k else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}
