"""The values of training: problems, trained problems, held-out outputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from polychotomy.arrays import Array, Folds, Indices
from polychotomy.codes import Code, DistinctProblems, Targets
from polychotomy.learners import Says
from polychotomy.structures import Node


@dataclass(frozen=True, eq=False)
class Problems:
    """The binary questions that a classifier asks.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels; row r of `code` is class r.
    code : Code
        All problems as one flat code.
    nodes : tuple of Node
        The nodes that they belong to; a single one for a flat code.
    names : sequence of str
        Each problem in words.
    """

    classes: NDArray[Any]
    code: Code
    nodes: tuple[Node, ...]
    names: Sequence[str]


@dataclass(frozen=True, eq=False)
class Counts:
    """The cost of training, counted.

    Attributes
    ----------
    problems : int
        Binary problems that were solved: the distinct ones, or those of all solves where the
        coupling was learned.
    samples : ndarray of shape (n_distinct,)
        Total weight of the samples of each distinct problem.
    classes : ndarray of shape (n_classes,)
        Number of samples of each class.
    """

    problems: int
    samples: Array
    classes: Indices

    def plus(self, before: "Counts") -> "Counts":
        """Return the counts of two batches together."""
        return Counts(self.problems, self.samples + before.samples, self.classes + before.classes)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Outputs of each problem on its own samples, by models that have not seen them.

    Samples that no fold holds out have the outputs of the model of all samples.

    Attributes
    ----------
    targets : Targets
        Which samples belong to which distinct problem, and on which side.
    outputs : sequence of ndarray
        For each distinct problem, the outputs on ``targets.samples(s)``.
    weights : sequence of ndarray of shape (n_samples,)
        The weights that each problem's learner was given.
    by_folds : bool
        Whether there were folds; else all outputs are of samples that were trained on.
    """

    targets: Targets
    outputs: Sequence[Array]
    weights: Sequence[Array]
    by_folds: bool


class TrainedProblems(Protocol):
    """Trained problems, however they were trained."""

    @property
    def learns_further(self) -> bool:
        """Whether training can go on batch by batch."""
        ...

    @property
    def counts(self) -> Counts:
        """What training cost."""
        ...

    def outputs(self, X: Any, kind: str, which: Sequence[int] | None = None) -> Array:
        """Return the outputs of all distinct problems, or of those in `which`, as columns.

        `kind` is "margin", "probability" (of the + side), or "side" (−1 or +1).
        """
        ...

    def estimator(self, s: int) -> Any:
        """Return one distinct problem as a trained classifier of the labels 0 and 1."""
        ...


class Trainer(Protocol):
    """A way to train problems: it holds the learners, their parameters and seeds."""

    @property
    def distinct(self) -> DistinctProblems:
        """The distinct problems, which are trained."""
        ...

    @property
    def says(self) -> tuple[Says, ...]:
        """The kind of outputs of each distinct problem."""
        ...

    @property
    def n_tasks(self) -> int:
        """Number of tasks that it reports for each part of the samples."""
        ...

    def train(
        self,
        problems: Problems,
        X: Any,
        y: Indices,
        folds: Folds | None,
        kinds: Sequence[str],
        progress: Any,
    ) -> tuple[TrainedProblems, HeldOut | None]:
        """Return the trained problems and, unless `folds` is None, held-out outputs.

        `kinds` has the kind of the held-out outputs of each distinct problem. Without a fold, the
        outputs are those of the training samples.
        """
        ...

    def update(
        self, trained: Any, problems: Problems, X: Any, y: Indices, progress: Any
    ) -> TrainedProblems:
        """Return the problems after learning a batch; `trained` is None before the first."""
        ...


@dataclass(frozen=True, eq=False)
class Asking:
    """Trained problems and samples to ask them about, as a readout does."""

    trained: TrainedProblems
    X: Any

    @property
    def n_samples(self) -> int:
        """How many samples there are."""
        n: int = self.X.shape[0]
        return n

    def __call__(
        self, kind: str, which: Sequence[int] | None = None, rows: Indices | None = None
    ) -> Array:
        """Return outputs of a kind, of some of the problems and some of the samples."""
        part = self.X
        if rows is not None:  # an array by itself: a tree asks thousands of times
            part = part[rows] if isinstance(part, np.ndarray) else _safe_indexing(part, rows)
        return self.trained.outputs(part, kind, which)


@dataclass(frozen=True, eq=False)
class KnownOutputs:
    """Outputs of all problems on some samples, for a readout to ask for.

    Attributes
    ----------
    margins : ndarray of shape (n_samples, n_distinct)
    """

    margins: Array

    @property
    def n_samples(self) -> int:
        """How many samples there are."""
        return len(self.margins)

    def __call__(
        self, kind: str, which: Sequence[int] | None = None, rows: Indices | None = None
    ) -> Array:
        """Return margins or sides, of some of the problems and some of the samples."""
        said = self.margins if rows is None else self.margins[rows]
        said = said.copy() if which is None else said[:, which]
        return np.where(said > 0, 1.0, -1.0) if kind == "side" else said


@dataclass(frozen=True, eq=False)
class RememberedOutputs:
    """Trained problems that compute their outputs on one set of samples once.

    Attributes
    ----------
    trained : TrainedProblems
    X : array, sparse matrix or data frame
        The samples, recognised as an object; questions about others are passed on.
    said : dict
        What was said of them, by kind.
    """

    trained: TrainedProblems
    X: Any
    said: dict[str, Array]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self.trained, name)

    def outputs(self, X: Any, kind: str, which: Sequence[int] | None = None) -> Array:
        """Return the outputs of all problems, or of those in `which`, a column for each."""
        if X is not self.X or (which is not None and kind not in self.said):
            return self.trained.outputs(X, kind, which)
        if kind not in self.said:
            self.said[kind] = self.trained.outputs(X, kind)
        return self.said[kind].copy() if which is None else self.said[kind][:, which]
