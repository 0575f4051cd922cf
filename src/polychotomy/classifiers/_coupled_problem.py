"""The binary problem of all classes at once, for any coupling, and what its bases are."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from polychotomy.codes import one_vs_rest
from polychotomy.errors import unknown_name
from polychotomy.kernel import JointSVC, SharedKernelSVC
from polychotomy.kernel._coupled import LARGEST_COUPLING

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_WEIGHTS = ("learned", "class_frequencies")
_SMALLEST_DISTANCE = 1e-3


@dataclass(frozen=True, eq=False)
class CoupledProblem:
    """All replicas of all samples: labelled +1 for the sample's own class, −1 for the others.

    Attributes
    ----------
    learner : SharedKernelSVC
    X : array or sparse matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Class indices.
    n_classes : int
    weight : ndarray of shape (n_samples,)
        Factors of C.
    """

    learner: SharedKernelSVC
    X: Any
    y: Indices
    n_classes: int
    weight: Array

    @property
    def targets(self) -> NDArray[np.int8]:
        """The labels of the replicas, shape (n_samples, n_classes)."""
        labels: NDArray[np.int8] = one_vs_rest(self.n_classes).matrix[self.y]
        return labels

    def part(self, samples: Indices) -> "CoupledProblem":
        """Return the problem of some of the samples."""
        X, y, weight = self.X[samples], self.y[samples], self.weight[samples]
        return CoupledProblem(self.learner, X, y, self.n_classes, weight)

    def solve(self, coupling: Array, start: csc_array | None = None) -> JointSVC:
        """Return the solution with a coupling; `start` is balanced if it is not feasible."""
        return self.learner.fit_joint(
            self.X,
            self.targets,
            coupling=coupling,
            common_bias=True,
            sample_weight=self.weight,
            start=None if start is None else balanced(start),
        )


def balanced(coefficients: csc_array) -> csc_array:
    """Return coefficients that sum to zero, the larger side being scaled down."""
    W = csc_array(coefficients, copy=True)
    plus, minus = W.data[W.data > 0].sum(), -W.data[W.data < 0].sum()
    if plus != minus:
        side = W.data > 0 if plus > minus else W.data < 0
        W.data[side] *= min(plus, minus) / max(plus, minus)
    return W


def check_tolerance(svm_tol: Any) -> float:
    """Return the tolerance of the SVM, or raise ValueError."""
    if not isinstance(svm_tol, Real) or not 0 < float(svm_tol) < np.inf:
        raise ValueError(f"The 'svm_tol' parameter must be a positive number. Got {svm_tol!r}.")
    return float(svm_tol)


def resolve_radius(radius: Any, weight: Array) -> float:
    """Return R; "sqrt" is the root of the number of samples, counted by their weights."""
    if isinstance(radius, str):
        if radius != "sqrt":
            raise unknown_name("radius", radius, ["sqrt"])
        return float(np.sqrt(weight.sum()))
    if not isinstance(radius, Real) or not 0 < float(radius) < LARGEST_COUPLING:
        raise ValueError(
            "The 'radius' parameter must be 'sqrt' or a positive number below "
            f"{LARGEST_COUPLING:g}. Got {radius!r}."
        )
    return float(radius)


def resolve_extensions(extensions: Any, classes: NDArray[Any]) -> list[Array]:
    """Return the extension matrices; by default one for each class that sets it apart.

    Raises
    ------
    ValueError
        Unless each is a matrix of finite numbers with a row for each class, and any two classes
        have different rows in at least one.
    """
    k = len(classes)
    if extensions is None:
        return list(np.eye(k)[:, :, np.newaxis])
    if isinstance(extensions, str) or not isinstance(extensions, Sequence | np.ndarray):
        raise ValueError(
            "The 'extensions' parameter must be a sequence of matrices, classes × appended "
            f"features. Got {type(extensions).__name__}."
        )
    matrices = [_as_matrix(extension, j, k) for j, extension in enumerate(extensions)]
    if not matrices:
        raise ValueError("The 'extensions' parameter must hold at least one matrix. Got none.")
    rows = np.hstack(matrices)
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    same = np.flatnonzero(first[inverse.ravel()] != np.arange(k))
    if same.size:
        r, s = first[inverse.ravel()[same[0]]], same[0]
        raise ValueError(
            "The 'extensions' parameter must hold a matrix with different rows for any two "
            f"classes, or nothing could tell them apart. Those of the classes {classes[r]!s} and "
            f"{classes[s]!s} (rows {r} and {s}) are equal in all of them."
        )
    return matrices


def resolve_weights(
    weights: Any, n_bases: int, y: Indices, n_classes: int, weight: Array, radius: float
) -> Array | None:
    """Return the weights μ with Σ μ = R, or None if they are to be learned."""
    given: Array
    if isinstance(weights, str):
        if weights not in _WEIGHTS:
            raise unknown_name("weights", weights, _WEIGHTS)
        if weights == "learned":
            return None
        if n_bases != n_classes:
            raise ValueError(
                "weights='class_frequencies' needs as many extensions as classes. "
                f"Got {n_bases} for {n_classes} classes."
            )
        given = np.bincount(y, weights=weight, minlength=n_classes).astype(float)
    else:
        given = _as_numbers(weights)
        if given.shape != (n_bases,) or not (given >= 0).all() or not 0 < given.sum() < np.inf:
            raise ValueError(
                "The 'weights' parameter must be 'learned', 'class_frequencies' or a number that "
                f"is not negative for each of {n_bases} extensions, not all of them 0. "
                f"Got {_words(weights)}."
            )
    return given * (radius / given.sum())


def warn_of_likeness(coupling: Array, classes: NDArray[Any]) -> None:
    """Warn if the coupling leaves two classes without a difference.

    Goes by M_rr + M_ss − 2 M_rs, the squared distance of the replicas of one sample.
    """
    own = np.diag(coupling)
    distances = own[:, np.newaxis] + own - 2 * coupling
    r, s = np.triu_indices(len(own), 1)
    same = np.flatnonzero(distances[r, s] <= _SMALLEST_DISTANCE * distances.max())
    if same.size:
        first = same[0]
        more = f", and {same.size - 1} more pairs of classes" if same.size > 1 else ""
        warnings.warn(
            f"The weights leave no difference between the classes {classes[r[first]]!s} "
            f"and {classes[s[first]]!s}{more}: the classifier cannot tell them apart. Take a "
            "larger C or radius, or weights='class_frequencies'.",
            UserWarning,
            stacklevel=3,
        )


def _as_matrix(extension: Any, j: int, n_classes: int) -> Array:
    E = _as_numbers(extension)
    if E.ndim != 2 or len(E) != n_classes or not E.shape[1] or not np.isfinite(E).all():
        raise ValueError(
            "Each of the 'extensions' must be a matrix of finite numbers with a row for each of "
            f"{n_classes} classes. Got {_words(extension)} for number {j}."
        )
    return E


def _as_numbers(given: Any) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)


def _words(given: Any) -> str:
    if isinstance(given, str) or np.ndim(given) == 0:
        return repr(given)[:100]
    return f"an array of shape {np.shape(given)} with such entries"
