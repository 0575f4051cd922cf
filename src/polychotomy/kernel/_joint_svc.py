"""Problems that were trained at once: their outputs, and each as a classifier."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Array, Indices
from polychotomy.kernel._kernel_samples import outputs_of
from polychotomy.kernel._model import KernelModel
from polychotomy.kernel._uncoupled import Solution

if TYPE_CHECKING:
    from polychotomy.kernel._svc import SharedKernelSVC


class JointSVC:
    """Problems that were trained at once on one kernel.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The union of all problems' support vectors, as indices of training samples.
    intercept_ : ndarray of shape (n_problems,)
    n_iter_ : ndarray of shape (n_problems,)
    dual_objective_, duality_gap_ : ndarray of shape (n_problems,), or (1,) for coupled problems
    coefficients_ : sparse array of shape (n_samples, n_problems)
        W = T∘α.
    products_ : ndarray of shape (n_problems, n_problems), or None for uncoupled problems
        Wᵀ K W: minus twice the derivative of the dual objective by the coupling.
    """

    def __init__(
        self,
        learner: "SharedKernelSVC",
        model: KernelModel,
        solution: Solution,
        targets: NDArray[np.int8],
    ) -> None:
        self._learner, self._model, self._targets = learner, model, targets
        self._solution = solution
        self.support_, self.intercept_ = model.support, model.bias
        self.n_iter_ = solution.steps
        self.dual_objective_, self.duality_gap_ = solution.objectives, solution.gaps
        self.coefficients_, self.products_ = solution.coefficients, solution.products

    @property
    def model(self) -> KernelModel:
        """The support vectors of all problems, and their weights."""
        return self._model

    def outputs(self, X: Any) -> Any:
        """Return the outputs of all problems, a column for each.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        return outputs_of(self._learner, self._model, X)

    def left_out(self, problems: Sequence[int], samples: Indices) -> Array | None:
        """Return the outputs of folds on training samples that they leave out.

        Parameters
        ----------
        problems : sequence of int
        samples : ndarray of shape (n,)

        Returns
        -------
        outputs : ndarray of shape (n, n_problems), or None without problems within others
            0 for samples that take part in a problem, or in none of its folds.
        """
        known = self._solution.left_out
        if known is None:
            return None
        outputs: Array = known[:, list(problems)].tocsr()[samples].toarray()
        return outputs

    def part(self, problems: Sequence[int]) -> "JointSVC":
        """Return some of the problems, with their own support vectors only."""
        chosen = list(problems)
        found = self._solution
        solution = Solution(
            found.coefficients[:, chosen],
            found.bias[chosen],
            found.steps[chosen],
            found.objectives[chosen] if len(found.objectives) > 1 else found.objectives,
            found.gaps[chosen] if len(found.gaps) > 1 else found.gaps,
        )
        return JointSVC(self._learner, self._model.part(chosen), solution, self._targets[:, chosen])

    def estimator(self, s: int) -> "SharedKernelSVC":
        """Return one problem as a trained binary classifier of the labels 0 and 1."""
        estimator = type(self._learner)(**self._learner.get_params())
        estimator.classes_ = np.array([0, 1])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self._learner, name):
                setattr(estimator, name, getattr(self._learner, name))
        positive = self._targets[:, s] > 0
        return estimator._set_fitted(self._model.part([s]), positive, self._solution, s)
