"""Training all binary problems at once, by a learner that can."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from polychotomy.learners._separate import SeparateModel, TrainedProblem
from polychotomy.learners._sharing import active_problems, size_of

Array = NDArray[np.float64]


class JointModel(Protocol):
    """Problems that were trained at once."""

    def outputs(self, X: Any) -> Array:
        """Return the outputs of all problems, shape (n_samples, n_problems)."""
        ...

    def part(self, problems: Sequence[int]) -> "JointModel":
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


def train_jointly(
    learner: JointLearner,
    X: Any,
    targets: NDArray[np.int8],
    done: Callable[[int], None],
    params: Mapping[str, Any],
) -> JointModel:
    """Train all problems at once, but for those that were trained already in a shared context.

    Parameters
    ----------
    learner : JointLearner
    X : array or sparse matrix of shape (n_samples, n_features)
    targets : ndarray of shape (n_samples, n_problems)
    done : callable
        Told a number for each problem that is solved.
    params : mapping
        Further arguments of ``fit_joint``.
    """
    store = active_problems()
    if store is None:
        return learner.fit_joint(X, targets, done=done, **params)
    keys = store.column_keys(targets, X, learner, params)
    places = [store.recall(key) for key in keys]
    missing = [s for s, place in enumerate(places) if place is None]
    for s in np.setdiff1d(np.arange(len(keys)), missing):
        done(int(s))
    if missing:
        trained = learner.fit_joint(X, targets[:, missing], done=done, **params)
        size = size_of(trained) // len(missing)
        for i, s in enumerate(missing):
            places[s] = trained, i
            store.keep(keys[s], places[s], size)
        if len(missing) == len(keys):
            return trained
    return GatheredModel(tuple(places))


@dataclass(frozen=True)
class GatheredModel:
    """Problems of several joint models, as if they had been trained at once.

    `places` has the model of each problem, and its number there.
    """

    places: tuple[tuple[JointModel, int], ...]

    def outputs(self, X: Any) -> Array:
        """Return the outputs of all problems, shape (n_samples, n_problems)."""
        outputs = np.empty((X.shape[0], len(self.places)))
        for model, columns in self._parts:
            outputs[:, columns] = model.outputs(X)
        return outputs

    def part(self, problems: Sequence[int]) -> "GatheredModel":
        """Return the model of some of the problems."""
        return GatheredModel(tuple(self.places[s] for s in problems))

    def estimator(self, s: int) -> Any:
        """Return one problem as a trained binary classifier of the labels 0 and 1."""
        model, place = self.places[s]
        return model.estimator(place)

    @cached_property
    def _parts(self) -> list[tuple[JointModel, list[int]]]:
        """The needed part of each model, and the columns of its problems here."""
        columns: dict[int, list[int]] = {}
        for s, (model, _) in enumerate(self.places):
            columns.setdefault(id(model), []).append(s)
        return [
            (self.places[own[0]][0].part([self.places[s][1] for s in own]), own)
            for own in columns.values()
        ]


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
