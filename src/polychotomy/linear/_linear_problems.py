"""The binary problems of a linear learner: samples, sides and what each error costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import compute_class_weight

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.codes import are_sides
from polychotomy.errors import shown


@dataclass(frozen=True, eq=False)
class LinearProblems:
    """Linear problems s = 1 … ℓ that share their samples.

    Each of them minimises ½ ‖w‖² + Σ_i c_is L(t_is (x_i·w + b)), with ½ b² if the intercept is
    penalised.

    Samples with the same sides in all problems share a *pattern*. There are few of these, at most
    one for each class and fold, so that much is computed for patterns instead of samples.

    Attributes
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    patterns : ndarray of shape (n_patterns, n_problems)
        The sides −1 and +1; 0 where samples take no part.
    pattern : ndarray of shape (n_samples,)
        The pattern of each sample.
    weight : ndarray of shape (n_samples,)
        C times the weight of each sample.
    factors : ndarray of shape (2, n_problems) or None
        Factors of c on the −1 and the +1 side of each problem; None if all are 1.
    intercept : {"none", "free", "penalised"}
    """

    X: Any
    patterns: Matrix
    pattern: Indices
    weight: Array
    factors: Array | None
    intercept: str

    @property
    def n_problems(self) -> int:
        """Number of problems, ℓ."""
        return self.patterns.shape[1]

    @property
    def has_intercept(self) -> bool:
        """Whether outputs have an intercept."""
        return self.intercept != "none"

    @cached_property
    def norms(self) -> Array:
        """‖x‖² of each sample of a sparse matrix."""
        return np.asarray(self.X.multiply(self.X).sum(axis=1), dtype=float).ravel()

    def sides(self, problems: Indices) -> Matrix:
        """Return the sides of all samples in some problems."""
        sides: Matrix = self.patterns[:, problems][self.pattern]
        return sides

    def pattern_costs(self, problems: Indices) -> NDArray[Any]:
        """Return c / weight of each pattern in some problems; of int8 where all are 0 or 1."""
        sides = self.patterns[:, problems]
        if self.factors is None:
            return np.abs(sides)
        minus, plus = self.factors[:, problems]
        return np.where(sides > 0, plus, np.where(sides < 0, minus, 0.0))

    def costs(self, problems: Indices) -> Array:
        """Return c of all samples in some problems."""
        costs: Array = self.pattern_costs(problems)[self.pattern] * self.weight[:, np.newaxis]
        return costs

    def pattern_sums(self, weight: Array) -> tuple[Array, Array]:
        """Return Σ weight · x and Σ weight over the samples of each pattern."""
        n = len(self.pattern)
        totals: Array = np.bincount(self.pattern, weight, len(self.patterns)).astype(float)
        shape = (len(self.patterns), n)
        gather = csr_array((weight, (self.pattern, np.arange(n))), shape=shape)
        sums = gather @ self.X
        return sums.toarray() if issparse(sums) else np.asarray(sums), totals


def find_patterns(targets: ArrayLike, n: int) -> tuple[Matrix, Indices]:
    """Return the distinct rows of the targets of n samples, and the number of each row among them.

    Where hardly any rows are the same, all of them are returned. Raises ValueError unless there are
    n rows of −1, 0 and +1.
    """
    given = np.asarray(targets)
    if given.ndim != 2 or len(given) != n or not given.shape[1] or not are_sides(given):
        raise ValueError(
            f"The 'targets' parameter must hold −1, 0 and +1 in shape ({n}, n_problems), with a "
            f"problem or more. Got shape {given.shape}."
        )
    targets = np.ascontiguousarray(given, dtype=np.int8)
    numbers: dict[bytes, int] = {}
    pattern = np.empty(n, dtype=np.intp)
    for i, row in enumerate(targets):
        pattern[i] = numbers.setdefault(row.tobytes(), len(numbers))
        if 2 * len(numbers) > max(n, 64):
            return targets, np.arange(n)
    distinct = np.frombuffer(b"".join(numbers), dtype=np.int8).reshape(-1, targets.shape[1])
    return distinct, pattern


def check_range(X: Any, weight: float, largest: float) -> None:
    """Raise ValueError unless sums of weight · x² over all samples and features are small enough.

    `largest` is the largest float; a tenth of its digits is left to what solvers multiply.
    """
    values = X.data if issparse(X) else X
    size = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if (2 * np.log(max(size, 1)) + np.log(max(weight, 1))) > 0.9 * np.log(largest):
        raise ValueError(
            "C · Σ weight · x² must be far from the largest float, "
            f"{largest:.1g}. The largest feature is {size:.1g}, and C times the sum of all weights "
            f"{weight:.1g}: scale the features, for instance by a StandardScaler."
        )


def side_factors(
    class_weight: Any, patterns: Matrix, pattern: Indices, given: NDArray[Any] | None
) -> Array | None:
    """Return the factors of the −1 and the +1 side of each problem, None if all are 1.

    Parameters
    ----------
    class_weight : "balanced", or anything else if the factors are given
    patterns, pattern
        As in :class:`LinearProblems`.
    given : ndarray of shape (2,) or None
        The factors of the two sides, the same for all problems.
    """
    if class_weight is None:
        return None
    if given is not None:
        return np.repeat(np.asarray(given, dtype=float)[:, np.newaxis], patterns.shape[1], axis=1)
    counts = np.bincount(pattern, minlength=len(patterns)).astype(float)
    sizes = np.array([counts @ (patterns < 0), counts @ (patterns > 0)])
    balanced: Array = sizes.sum(axis=0) / (2 * np.maximum(sizes, 1))
    return balanced


def is_balanced(class_weight: Any) -> bool:
    """Whether a 'class_weight' asks for equal weights of all classes."""
    return isinstance(class_weight, str) and class_weight == "balanced"


def class_factors(class_weight: Any, classes: NDArray[Any], y: NDArray[Any]) -> Array:
    """Return the factor of C of each class, by 'class_weight'."""
    given = class_weight
    if not (given is None or isinstance(given, Mapping) or is_balanced(given)):
        raise ValueError(
            "The 'class_weight' parameter must be a dictionary of classes and weights, "
            f"'balanced' or None. Got {shown(given)}."
        )
    given = dict(given) if isinstance(given, Mapping) else given
    factors: Array = np.asarray(compute_class_weight(given, classes=classes, y=y), dtype=float)
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise ValueError("The weights in 'class_weight' must be finite and not negative.")
    return factors
