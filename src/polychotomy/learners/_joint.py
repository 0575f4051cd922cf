"""Training all binary problems at once, by a learner that can."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from polychotomy.learners._separate import SeparateModel, TrainedProblem

Array = NDArray[np.float64]


class JointModel(Protocol):
    """Problems that were trained at once."""

    def outputs(self, X: Any) -> Array:
        """Return the outputs of all problems, shape (n_samples, n_problems)."""
        ...

    def part(self, problems: range) -> "JointModel":
        """Return the model of some of the problems."""
        ...

    def estimator(self, s: int) -> Any:
        """Return one problem as a trained binary classifier of the labels 0 and 1."""
        ...


@runtime_checkable
class JointLearner(Protocol):
    """A learner that trains all problems at once.

    ``fit_joint(X, targets, coupling=None, sample_weight=None, done=None)`` takes targets −1, 0 and
    +1 of shape (n_samples, n_problems), and tells `done` the number of each problem it has solved.
    """

    def fit_joint(self, X: Any, targets: Any, **options: Any) -> JointModel:
        """Train all problems."""
        ...


@dataclass(frozen=True)
class JointlyTrained(SeparateModel):
    """Binary problems that were trained at once: together they cost one prediction."""

    joint: JointModel

    @property
    def together(self) -> bool:
        """Whether all problems cost about as much as one."""
        return True

    @classmethod
    def of(cls, joint: JointModel, n_problems: int) -> "JointlyTrained":
        """Return the problems of a joint model."""
        return cls(_Apart(joint, n_problems), joint)

    def outputs(
        self,
        X: Any,
        kinds: Sequence[str],
        n_jobs: int | None = None,
        which: Sequence[int] | None = None,
    ) -> Array:
        """Return the outputs of all problems, or of those in `which`, a column for each."""
        if which is not None and 4 * len(which) < len(self.problems):
            return super().outputs(X, kinds, n_jobs, which)
        outputs = self.joint.outputs(X)
        return outputs if which is None else outputs[:, which]


class _Apart(Sequence[TrainedProblem]):
    """The problems of a joint model one by one, each made into an estimator when first asked for.

    Of hundreds of problems few are ever looked at alone.
    """

    def __init__(self, joint: JointModel, n_problems: int) -> None:
        self._joint = joint
        self._made: list[TrainedProblem | None] = [None] * n_problems

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, s: int) -> TrainedProblem: ...
    @overload
    def __getitem__(self, s: slice) -> list[TrainedProblem]: ...
    def __getitem__(self, s: int | slice) -> TrainedProblem | list[TrainedProblem]:
        if isinstance(s, slice):
            return [self[i] for i in range(len(self))[s]]
        problem = self._made[s]
        if problem is None:
            problem = TrainedProblem(self._joint.estimator(range(len(self))[s]))
            self._made[s] = problem
        return problem
