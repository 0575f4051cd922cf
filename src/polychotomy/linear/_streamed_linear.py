"""Linear problems of a code that learn batch by batch, all from the same moments."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.linear._batch_moments import BatchMoments, parts_of
from polychotomy.linear._joint_linear import JointLinear
from polychotomy.memory import check_room

if TYPE_CHECKING:
    from polychotomy.linear._shared_linear import SharedLinear


class StreamedLinear:
    """Least-squares problems of a code, known by the moments of the samples so far.

    A batch is added to the moments once, for all problems. These are solved when they are first
    asked, and are those of a fit on all samples at once.

    Parameters
    ----------
    learner : SharedLinear
    columns : ndarray of shape (n_classes, n_problems)
        The problems.
    dtype : str
        The precision of the samples.
    moments : BatchMoments or None
        None before the first batch.
    """

    learns_further = True  # see JointTrainer

    def __init__(
        self, learner: "SharedLinear", columns: Matrix, dtype: str, moments: BatchMoments | None
    ) -> None:
        self.learner, self._columns, self._dtype, self._moments = learner, columns, dtype, moments
        self._model: JointLinear | None = None

    def plus(self, X: Any, y: Indices, weight: Array) -> "StreamedLinear":
        """Return the problems after a further batch; `y` are class indices."""
        centred, before = bool(self.learner.fit_intercept), self._moments
        part = parts_of(self._columns) if before is None else before.part
        if before is None:
            check_room(
                {
                    "sums of products of the features": 2
                    * 8
                    * (int(part.max()) + 1)
                    * X.shape[1] ** 2
                },
                "Take fewer features, or a code without zeros, such as one_vs_rest.",
            )
        moments = BatchMoments.of(X, y, weight, part, centred=centred)
        if before is not None:
            moments = before.plus(moments, centred=centred)
        return StreamedLinear(self.learner, self._columns, self._dtype, moments)

    def outputs(self, X: Any, kind: str = "margin") -> Array:
        """Return the outputs of all problems, a column for each."""
        return self._solved().outputs(X, kind)

    def part(self, problems: Sequence[int]) -> JointLinear:
        """Return some of the problems, as they are now."""
        return self._solved().part(problems)

    def estimator(self, s: int) -> "SharedLinear":
        """Return one problem as a trained binary classifier of the labels 0 and 1."""
        return self._solved().estimator(s)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_model": None}

    def _solved(self) -> JointLinear:
        if self._model is None:
            assert self._moments is not None
            C, centred = float(self.learner.C), bool(self.learner.fit_intercept)
            W, b = self._moments.solve(self._columns, C, centred=centred)
            steps = np.ones(len(b), dtype=np.int64)
            dtype = np.dtype(self._dtype)
            W = np.ascontiguousarray(W, dtype=dtype)
            self._model = JointLinear(self.learner, W, b.astype(dtype), steps)
        return self._model
