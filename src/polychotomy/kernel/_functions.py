"""Kernel functions: values between samples and all others, a block of rows at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from polychotomy.errors import unknown_name

KERNELS = ("rbf", "linear", "poly", "sigmoid", "precomputed")
Floats = NDArray[Any]

# Rows of one product: so few that every BLAS treats them alike. In larger blocks the last bits of
# a row depend on its place.
_ROWS_AT_A_TIME = {"float32": 8, "float64": 16}
_MOST_COMPILED_FEATURES = 256  # BLAS is faster for more
_PADDED_COLUMNS = 64
_ALIGNED = 16
_LARGE_EXPONENT = 250.0
_LARGEST_SINGLE = 1e30
_ROUNDED_EXPONENT = 1e8  # from here on the rounding of γ‖x − y‖² shows in a kernel value
_ZERO_EXPONENT = 800.0  # e to minus that is 0
_FAR = 1e6


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


class Ranges(NamedTuple):
    """Parts of kernel rows: row r from ``starts[g]`` to ``stops[g]`` where ``wanted[r, g]``."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    wanted: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SamplePreparation:
    """How samples enter products: without a centre, and in which precision.

    Gaussian kernels need a centre, or products would round distances away.
    """

    centre: Any
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, kernel: Kernel, Y: Any, xp: Any = np) -> tuple["SamplePreparation", Any, Any]:
        """Return what suits a kernel and samples Y, these prepared, and their squared norms.

        Raises ValueError if kernel values can leave the range of floats. `xp` is the array module.
        """
        centred = kernel.name == "rbf" and not issparse(Y)
        with np.errstate(over="ignore", invalid="ignore"):
            chosen = cls(xp.asarray(Y).mean(axis=0) if centred else 0.0, np.dtype(kernel.dtype))
            prepared = chosen.apply(Y, xp)
            squares = _squares(prepared, xp)
            largest = float(squares.max()) if len(squares) else 0.0
            if centred and largest > _FAR * float(xp.median(squares)):
                # Few samples far away move the mean away from all others.
                chosen = cls(xp.median(xp.asarray(Y), axis=0), np.dtype(float))
                largest = np.inf
            out_of_range = not max(kernel.gamma, largest) < _LARGEST_SINGLE
            if kernel.gamma * largest > _LARGE_EXPONENT or out_of_range:
                chosen = cls(chosen.centre, np.dtype(float))
                prepared = chosen.apply(Y, xp)
                squares = _squares(prepared, xp)
        _check_range(kernel, float(squares.max()) if len(squares) else 0.0)
        return chosen, prepared, squares

    def apply(self, X: Any, xp: Any = np) -> Any:
        """Return samples as they enter products."""
        if issparse(X):
            return X.astype(self.dtype)
        return xp.asarray(xp.asarray(X) - self.centre, dtype=self.dtype)


def _check_range(kernel: Kernel, largest: float) -> None:
    """Raise ValueError if values can leave the range of floats; `largest` is a squared norm."""
    reach = {"rbf": largest, "linear": largest}.get(
        str(kernel.name), kernel.gamma * largest + abs(kernel.coef0)
    )
    with np.errstate(over="ignore"):
        reach = float(np.power(reach, kernel.degree if kernel.name == "poly" else 1.0))
    dtype = "float64" if kernel.name in ("rbf", "sigmoid") else kernel.dtype
    if not reach <= float(np.finfo(dtype).max):
        raise ValueError(
            f"The values of the kernel {kernel.name!r} must be finite. The largest squared "
            f"norm of the samples is {largest:.3g}: scale the features, for example by "
            "StandardScaler(), or take a smaller gamma."
        )


class KernelAgainst:
    """A kernel against fixed samples Y: their products and squares are prepared once.

    A row's values do not depend on which others are computed with it. Gaussian kernels of few
    features in single precision are compiled, and can be written for some columns only. Otherwise
    matrix products are always of the same shape, a few rows with all of Y (filled up with zeros).
    """

    def __init__(self, kernel: Kernel, Y: Any) -> None:
        self.kernel, self._Y = kernel, Y
        self.by_ranges = False
        if kernel.name == "precomputed" or callable(kernel.name):
            return
        self._preparation, prepared, squares = SamplePreparation.of(kernel, Y)
        self._dtype = self._preparation.dtype
        if issparse(Y):
            self._transposed = prepared.T.tocsr()
        else:
            self._transposed = np.zeros((Y.shape[1], padded(Y.shape[0])), self._dtype)
            self._transposed[:, : Y.shape[0]] = prepared.T
        self.by_ranges = bool(
            kernel.name == "rbf"
            and self._dtype == np.float32
            and not issparse(Y)
            and Y.shape[1] <= _MOST_COMPILED_FEATURES
        )
        self._largest = float(squares.max()) if len(squares) else 0.0
        # Rows of K end in some columns that mean nothing: unaligned rows take five times as long.
        self._squares = np.pad(squares, (0, padded(Y.shape[0]) - Y.shape[0]))

    def values(self, X: Any) -> Floats:
        """Return the values of samples X against Y."""
        out = np.empty((X.shape[0], padded(self._Y.shape[0])), dtype=self.kernel.dtype)
        self.write(X, out, np.arange(X.shape[0]))
        return out[:, : self._Y.shape[0]]

    def write(
        self,
        X: Any,
        K: Floats,
        slots: NDArray[np.int64],
    ) -> None:
        """Write the values of samples X against Y: of row r into ``K[slots[r]]``.

        K has :func:`padded` columns.
        """
        m = self._Y.shape[0]
        if self.kernel.name == "precomputed":
            K[slots, :m] = X
            return
        if callable(self.kernel.name):
            values = self.kernel.name(X, self._Y)
            if not np.isfinite(values).all():
                raise ValueError(
                    "The values of the kernel must be finite. Its function gave others."
                )
            K[slots, :m] = values
            return
        with np.errstate(over="ignore", invalid="ignore"):
            prepared = self._preparation.apply(X)
            own = _squares(prepared)
            far = ~np.isfinite(own) if self.kernel.name == "rbf" else np.zeros(len(own), dtype=bool)
            if far.any():  # from all of Y: the norm is the distance
                K[slots[far]] = np.exp(-self.kernel.gamma * _squares(self._apart(X, far)))[:, None]
                self._write_prepared(prepared[~far], own[~far], K, slots[~far])
                return
            if self.kernel.name != "rbf" and len(own):
                largest = float(own.max())
                if not np.isfinite(largest):
                    largest = float(_squares(self._apart(X, ~far)).max())
                _check_range(self.kernel, float(np.sqrt(largest) * np.sqrt(self._largest)))
        self._write_prepared(prepared, own, K, slots)

    def _apart(self, X: Any, rows: NDArray[np.bool_]) -> Any:
        """Return some samples as they enter products, but in double precision."""
        return SamplePreparation(self._preparation.centre, np.dtype(float)).apply(X[rows])

    def _write_prepared(
        self, prepared: Any, own: Floats, K: Floats, slots: NDArray[np.int64]
    ) -> None:
        """Write the values of prepared samples, with their squared norms, against Y."""
        m = self._Y.shape[0]
        if issparse(self._transposed):
            products = prepared @ self._transposed
            products = products.toarray() if issparse(products) else products
            products = np.pad(np.asarray(products), ((0, 0), (0, K.shape[1] - m)))
            self._finish(products, prepared, own, K, slots)
            return
        prepared = prepared.toarray() if issparse(prepared) else prepared
        if self.by_ranges:
            n = len(slots)
            whole = Ranges(np.array([0]), np.array([m]), np.ones((n, 1), dtype=bool))
            self._write_ranges(prepared, own, np.arange(n), K, slots, whole)
            return
        n = _ROWS_AT_A_TIME[self._dtype.name]
        some = np.zeros((n, prepared.shape[1]), self._dtype)
        room = np.empty((n, self._transposed.shape[1]), self._dtype)
        for start in range(0, len(prepared), n):
            part = prepared[start : start + n]
            some[: len(part)] = part
            np.dot(some, self._transposed, out=room)
            some_of = slice(start, start + n)
            self._finish(room[: len(part)], part, own[some_of], K, slots[some_of])

    def write_own(
        self, numbers: NDArray[np.int64], K: Floats, slots: NDArray[np.int64], ranges: Ranges
    ) -> None:
        """Write the values of sample ``numbers[r]`` of Y into ``K[slots[r]]``.

        With `by_ranges` only what `ranges` asks for is written, and up to 15 columns next to it.
        """
        if self.by_ranges:
            squares = self._squares[: self._Y.shape[0]]
            self._write_ranges(self._own, squares, numbers, K, slots, ranges)
            return
        part = self._Y[numbers]
        if self.kernel.name == "precomputed":
            part = part if isinstance(part, np.ndarray) else part.toarray()
        self.write(part, K, slots)

    @cached_property
    def _own(self) -> Floats:
        """The samples as they are in products, one after the other."""
        return np.ascontiguousarray(self._transposed[:, : self._Y.shape[0]].T)

    def _write_ranges(
        self,
        X: Floats,
        own: Floats,
        numbers: NDArray[np.int64],
        K: Floats,
        slots: NDArray[np.int64],
        ranges: Ranges,
    ) -> None:
        from polychotomy.kernel._compiled import rbf_rows

        starts = ranges.starts // _ALIGNED * _ALIGNED  # unaligned it is several times slower
        stops = -(-ranges.stops // _ALIGNED) * _ALIGNED
        rbf_rows(
            X,
            own,
            numbers,
            self._transposed,
            self._squares,
            np.float32(self.kernel.gamma),
            K,
            slots,
            starts,
            stops,
            ranges.wanted,
        )

    def _finish(
        self, products: Floats, X: Any, own: Floats, K: Floats, slots: NDArray[np.int64]
    ) -> None:
        """Write kernel values of samples X from their products with Y."""
        kernel = self.kernel
        if kernel.name == "rbf" and self._dtype == np.float32:
            from polychotomy.kernel._compiled import rbf_from_products

            gamma = np.float32(kernel.gamma)
            rbf_from_products(products, own, self._squares, gamma, K, slots)
        elif kernel.name == "rbf":
            sums = own[:, np.newaxis] + self._squares
            distances = np.maximum(sums - 2 * products, 0)
            if kernel.gamma * self._largest > _ROUNDED_EXPONENT:
                self._correct(distances, sums, X)
            K[slots] = np.exp(-kernel.gamma * distances)
        elif kernel.name == "poly":
            K[slots] = (kernel.gamma * products + kernel.coef0) ** kernel.degree
        elif kernel.name == "sigmoid":
            K[slots] = np.tanh(kernel.gamma * products + kernel.coef0)
        else:
            K[slots] = products

    def _correct(self, distances: Floats, sums: Floats, X: Any) -> None:
        """Replace squared distances by those of the differences, where rounding could show.

        Products round them by some 10⁻¹⁶ of the squared norms. Most are so large that their kernel
        value is 0 all the same.
        """
        m = self._Y.shape[0]
        for r in range(X.shape[0]):
            rounding = 1e-12 * sums[r, :m]
            columns = np.flatnonzero(
                distances[r, :m] < _ZERO_EXPONENT / self.kernel.gamma + rounding
            )
            near = self._transposed[:, columns]
            near = near.toarray() if issparse(near) else near
            row = X[[r]].toarray()[0] if issparse(X) else X[r]
            distances[r, columns] = _squares(near.T - row)


def padded(n: int) -> int:
    """Return the number of columns of a matrix of kernel rows against n samples."""
    return -(-n // _PADDED_COLUMNS) * _PADDED_COLUMNS


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
        with np.errstate(over="ignore", invalid="ignore"):
            sparse = issparse(X)
            variance = float(X.multiply(X).mean() - X.mean() ** 2 if sparse else X.var(dtype=float))
            scaled = float(1.0 / np.float64(X.shape[1] * variance)) if variance > 0 else 1.0
        if not np.isfinite(variance) or not np.isfinite(scaled):
            raise ValueError(
                "With gamma='scale', the variance of the features and its inverse must be finite. "
                f"The variance is {variance:.3g}, beyond the range of floats: scale the features, "
                "for example by StandardScaler()."
            )
        return scaled
    if not isinstance(gamma, Real) or not 0 < float(gamma) < np.inf:
        raise ValueError(
            f"The 'gamma' parameter must be 'scale', 'auto' or a positive number. Got {gamma!r}."
        )
    return float(gamma)


def _squares(X: Any, xp: Any = np) -> Any:
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return xp.einsum("ij,ij->i", X, X)
