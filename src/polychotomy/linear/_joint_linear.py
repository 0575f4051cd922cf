"""Linear problems that were trained at once: one matrix of weights."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from polychotomy.arrays import Array
from polychotomy.linear._newton import Found

if TYPE_CHECKING:
    from polychotomy.linear._shared_linear import SharedLinear


class JointLinear:
    """Linear problems that were trained at once.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features, n_problems)
    intercept_ : ndarray of shape (n_problems,)
    n_iter_ : ndarray of shape (n_problems,)
    """

    def __init__(
        self,
        learner: "SharedLinear",
        weights: NDArray[Any],
        intercept: NDArray[Any],
        n_iter: NDArray[np.int64],
    ) -> None:
        self._learner = learner
        self.weights_, self.intercept_, self.n_iter_ = weights, intercept, n_iter

    @classmethod
    def of(cls, learner: "SharedLinear", dtype: Any, found: Found) -> "JointLinear":
        """Return solved problems, their weights in the precision of the samples."""
        weights = np.ascontiguousarray(found.W, dtype=dtype)
        return cls(learner, weights, found.b.astype(dtype), found.steps)

    def outputs(self, X: Any, kind: str = "margin") -> Array:
        """Return the outputs of all problems, a column for each.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        kind : {"margin", "probability"}
            Probabilities are those of the +1 side, with ``loss="logistic"`` only.
        """
        X = self._learner._check_samples(X, reset=False)
        margins = np.asarray(X @ self.weights_, dtype=float)
        margins += self.intercept_
        return margins if kind == "margin" else np.asarray(expit(margins))

    def part(self, problems: Sequence[int]) -> "JointLinear":
        """Return some of the problems."""
        chosen = list(problems)
        return JointLinear(
            self._learner, self.weights_[:, chosen], self.intercept_[chosen], self.n_iter_[chosen]
        )

    def estimator(self, s: int) -> "SharedLinear":
        """Return one problem as a trained binary classifier of the labels 0 and 1."""
        estimator = type(self._learner)(**self._learner.get_params())
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self._learner, name):
                setattr(estimator, name, getattr(self._learner, name))
        return estimator._set_fitted(np.array([0, 1]), self.part([s]))
