"""Kernel functions: values between samples and all others, a block of rows at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.errors import unknown_name

KERNELS = ("rbf", "linear", "poly", "sigmoid", "precomputed")
Floats = NDArray[Any]

_PADDED = 32
_LARGE_EXPONENT = 32.0


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters.

    Parameters
    ----------
    name : str or callable
        One of ``KERNELS``, or a function of two sets of samples.
    gamma, coef0 : float
    degree : float
    dtype : {"float32", "float64"}
        In what precision values are computed and kept.
    """

    name: str | Callable[[Any, Any], Any]
    gamma: float
    coef0: float
    degree: float
    dtype: str

    def against(self, Y: Any) -> "KernelAgainst":
        """Return the kernel between any samples and those in Y."""
        return KernelAgainst(self, Y)


class KernelAgainst:
    """A kernel against fixed samples Y: their products and squares are prepared once."""

    def __init__(self, kernel: Kernel, Y: Any) -> None:
        self.kernel, self._Y = kernel, Y
        self._centre: Any = 0.0
        self._dtype = np.dtype(kernel.dtype)
        if kernel.name == "precomputed" or callable(kernel.name):
            return
        if kernel.name == "rbf" and not _is_sparse(Y):
            self._centre = np.asarray(Y).mean(axis=0)  # or products would round distances away
        prepared = self._prepared(Y)
        self._squares = _squares(prepared)
        if kernel.gamma * float(self._squares.max(initial=0)) > _LARGE_EXPONENT:
            self._dtype = np.dtype(float)
            prepared = self._prepared(Y)
            self._squares = _squares(prepared)
        self._transposed = prepared.T.tocsr() if _is_sparse(Y) else np.ascontiguousarray(prepared.T)

    def values(self, X: Any, out: Floats | None = None) -> Floats:
        """Return the values of samples X against Y, row by row the same in whatever company."""
        kernel = self.kernel
        if kernel.name == "precomputed":
            return np.asarray(X, dtype=kernel.dtype)
        if callable(kernel.name):
            return np.asarray(kernel.name(X, self._Y), dtype=kernel.dtype)
        prepared = self._prepared(X)
        products = self._products(prepared)
        if kernel.name == "rbf":
            return self._rbf(products, _squares(prepared), out)
        if kernel.name == "poly":
            products = (kernel.gamma * products + kernel.coef0) ** kernel.degree
        elif kernel.name == "sigmoid":
            products = np.tanh(kernel.gamma * products + kernel.coef0)
        return products.astype(kernel.dtype, copy=False)

    def _prepared(self, X: Any) -> Any:
        if _is_sparse(X):
            return X.astype(self._dtype)
        return np.asarray(np.asarray(X) - self._centre, dtype=self._dtype)

    def _products(self, X: Any) -> Floats:
        if _is_sparse(X) or _is_sparse(self._transposed):
            products = X @ self._transposed
            return np.asarray(products.toarray() if _is_sparse(products) else products)
        # Matrix products treat a last, incomplete group of rows differently: there is none.
        extra = -len(X) % _PADDED
        padded = np.vstack([X, np.zeros((extra, X.shape[1]), X.dtype)]) if extra else X
        return (padded @ self._transposed)[: len(X)]

    def _rbf(self, products: Floats, own: Floats, out: Floats | None) -> Floats:
        if self._dtype == np.float32:
            from polychotomy.kernel._compiled import rbf_from_products

            out = np.empty_like(products) if out is None else out
            rbf_from_products(products, own, self._squares, np.float32(self.kernel.gamma), out)
            return out
        products *= -2
        products += own[:, np.newaxis]
        products += self._squares
        np.maximum(products, 0, out=products)
        products *= -self.kernel.gamma
        return np.exp(products, out=products).astype(self.kernel.dtype, copy=False)


def check_kernel(name: Any) -> None:
    """Raise ValueError if there is no such kernel."""
    if not callable(name) and (not isinstance(name, str) or name not in KERNELS):
        raise unknown_name("kernel", name, KERNELS)


def resolve_gamma(gamma: Any, X: Any) -> float:
    """Return γ, for "scale" 1 / (d · variance of X), for "auto" 1 / d, as scikit-learn does."""
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / X.shape[1]
        if gamma != "scale":
            raise unknown_name("gamma", gamma, ["scale", "auto"])
        is_sparse = _is_sparse(X)
        variance = X.multiply(X).mean() - X.mean() ** 2 if is_sparse else np.asarray(X).var()
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    if not isinstance(gamma, Real) or not 0 < float(gamma) < np.inf:
        raise ValueError(
            f"The 'gamma' parameter must be 'scale', 'auto' or a positive number. Got {gamma!r}."
        )
    return float(gamma)


def _is_sparse(X: Any) -> bool:
    from scipy.sparse import issparse

    return bool(issparse(X))


def _squares(X: Any) -> Floats:
    if _is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)
