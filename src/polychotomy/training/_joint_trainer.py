"""Training all binary problems at once, by a learner with ``fit_joint``."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, get_tags

from polychotomy.arrays import Array, Folds, Indices, Matrix
from polychotomy.calibration import check_folds
from polychotomy.codes import DistinctProblems, Targets
from polychotomy.kernel import rows_kept, to_host
from polychotomy.learners import GatheredModel, Learner, Negatives, Says
from polychotomy.parallel import map_tasks
from polychotomy.training._inputs import check_held_out_room, check_total_weights
from polychotomy.training._problems import (
    Counts,
    HeldOut,
    Problems,
)
from polychotomy.training._progress import FitProgress
from polychotomy.training._shared_problems import active_problems, size_of

_ALL_AT_ONCE = "all classes at once"
_MOST_TARGETS = 2**28


@dataclass(frozen=True, eq=False)
class JointlyTrained:
    """Problems that were trained at once: together they cost about as much as one.

    Attributes
    ----------
    model : object
        The result of ``fit_joint``.
    counts : Counts
    """

    model: Any
    counts: Counts
    _parts: dict[tuple[int, ...], Any] = field(default_factory=dict, repr=False)
    _estimators: dict[int, Any] = field(default_factory=dict, repr=False)

    @property
    def learns_further(self) -> bool:
        """Whether training can go on batch by batch: ``fit_joint`` keeps nothing of the samples."""
        return bool(getattr(self.model, "learns_further", False))

    def outputs(self, X: Any, kind: str, which: Sequence[int] | None = None) -> Array:
        """Return the outputs of all problems, or of those in `which`, a column for each."""
        if which is not None and 4 * len(which) < len(self.counts.samples):
            return _outputs(self._part(tuple(int(s) for s in which)), X, kind)
        outputs = _outputs(self.model, X, kind)
        return outputs if which is None else outputs[:, which]

    def estimator(self, s: int) -> Any:
        """Return one problem as a trained binary classifier, made when first asked for."""
        if s not in self._estimators:
            self._estimators[s] = self.model.estimator(s)
        return self._estimators[s]

    def _part(self, which: tuple[int, ...]) -> Any:
        """Return the model of a few problems; a tree asks for the same ones again and again."""
        if which not in self._parts:
            self._parts[which] = self.model.part(which)
        return self._parts[which]

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "counts": self.counts, "_parts": {}, "_estimators": {}}


@dataclass(frozen=True, eq=False)
class JointTrainer:
    """Trains all distinct problems by one learner.

    Attributes
    ----------
    learner : Learner
        The binary learner: what its outputs are, and the arguments of its training.
    joint : object
        What trains: ``fit_joint(X, targets, **params)``. If its attribute `couples` is true, the
        problems depend on each other: folds are trained one by one, and `fit_joint` takes
        ``like``, the model of all samples, to start from. If `shares_rows` is true, the folds
        share kernel rows. If `starts_folds` is true, `fit_joint` takes ``within``: for each column
        of a fold that of all samples. Where ``sums_classes(X)`` is true, ``fit_one_vs_rest(X, y,
        n_classes, **params)`` trains one-vs-rest without targets.
    distinct : DistinctProblems
    negatives : Negatives or None
        Which targets training leaves out.
    n_jobs : int or None
        Workers for the folds of coupled problems that have no threads of their own.
    says, couples, n_tasks
        What the outputs of each distinct problem are, whether the problems depend on each other,
        and how many tasks are reported for each part of the samples.
    """

    learner: Learner
    joint: Any
    distinct: DistinctProblems
    negatives: Negatives | None = None
    n_jobs: int | None = None
    says: tuple[Says, ...] = field(init=False)
    couples: bool = field(init=False)
    n_tasks: int = field(init=False)

    def __post_init__(self) -> None:
        n, couples = self.distinct.columns.shape[1], bool(getattr(self.joint, "couples", False))
        object.__setattr__(self, "says", (self.learner.says,) * n)
        object.__setattr__(self, "couples", couples)
        object.__setattr__(self, "n_tasks", 1 if couples else n)

    def train(
        self,
        problems: Problems,
        X: Any,
        y: Indices,
        folds: Folds | None,
        kinds: Sequence[str],
        progress: FitProgress,
    ) -> tuple[JointlyTrained, HeldOut | None]:
        """Train the problems on all samples and on each fold.

        Problems that do not depend on each other are trained in one call, with the problems of the
        folds as further columns. A fold's model is dropped as soon as its outputs are known.
        """
        targets = whole = Targets(self.distinct.columns, y)
        weights = [self.learner.weight(len(y))] * targets.n_problems
        samples = targets.total_weights(weights)
        check_total_weights(samples, problems, self.distinct)
        if folds is not None:
            check_held_out_room(targets)
        if self.negatives is not None:
            pairwise = get_tags(self.learner.estimator).input_tags.pairwise
            kept = self.negatives.choose(X, y, targets.n_problems, pairwise=pairwise)
            whole = Targets(targets.columns, y, kept)
            samples = whole.total_weights(weights)
        parts = [whole, *(whole.restricted(training) for training, _ in folds or ())]
        tests = [np.sort(test) for _, test in folds or ()]
        if self.couples:
            check_folds(folds or (), y, problems.classes)
            found = self._one_by_one(X, y, parts, tests, kinds[0], progress)
        else:
            found = self._as_columns(X, parts, tests, kinds[0], problems, progress)
        model = next(found)
        n_solved = whole.n_problems * getattr(model, "n_solves_", 1)
        classes = np.bincount(y, minlength=len(problems.classes))
        trained = JointlyTrained(model, Counts(n_solved, samples, classes))
        outputs = [] if folds is None else _held_out(trained, targets, X, tests, found, kinds[0])
        next(found, None)  # nothing is left, but it gives back the kernel rows
        if folds is None:
            return trained, None
        return trained, HeldOut(targets, outputs, weights, bool(folds))

    def update(
        self,
        trained: JointlyTrained | None,
        problems: Problems,
        X: Any,
        y: Indices,
        progress: FitProgress,
    ) -> JointlyTrained:
        """Return the problems after learning a batch; `trained` is None before the first."""
        columns = self.distinct.columns
        for s in self.distinct.first:
            progress.begin(problems.names[s])
        before = None if trained is None else trained.model
        matrix = np.asarray(columns[:, slice(None)], dtype=np.int8)
        model = self.joint.update_joint(before, X, y, matrix, **self.learner.params)
        for s in range(columns.shape[1]):
            progress.end(s)
        weights = [self.learner.weight(len(y))] * columns.shape[1]
        samples = Targets(columns, y).total_weights(weights)
        counts = Counts(columns.shape[1], samples, np.bincount(y, minlength=len(columns)))
        return JointlyTrained(model, counts if trained is None else counts.plus(trained.counts))

    def held_out(self, X: Any, y: Indices, folds: Folds) -> Array | None:
        """Return the outputs of all problems for each sample, trained without its fold.

        All folds are trained at once. Returns None if the learner cannot do that.
        """
        by_folds = getattr(self.joint, "held_out", None)
        if by_folds is None or self.couples or self.negatives is not None or self.learner.params:
            return None
        said: Array | None = by_folds(
            X, Targets(self.distinct.columns, y).block(slice(None)), folds
        )
        return said

    def _as_columns(
        self,
        X: Any,
        parts: Sequence[Targets],
        tests: Sequence[Indices],
        kind: str,
        problems: Problems,
        progress: FitProgress,
    ) -> Iterator[Any]:
        """Yield the model of all samples, and then the outputs on each fold's test samples."""
        n, first = parts[0].n_problems, self.distinct.first
        for s in [*first] * len(parts):
            progress.begin(problems.names[s])
        places: list[tuple[Any, int]] = []
        size = max(1, _MOST_TARGETS // max(1, parts[0].n_samples))
        in_one = len(parts) * n <= size
        model: Any
        if self._does_without_targets(X, parts[0]) and (not in_one or len(parts) == 1):
            models = [self._against_rest(X, targets, progress) for targets in parts]
            model = GatheredModel(tuple((some, s) for some in models for s in range(n)))
        elif in_one:
            T = np.hstack([part.block(slice(None)) for part in parts])
            whole = np.tile(np.arange(n), len(parts) - 1)
            within = np.concatenate([np.full(n, -1), whole])
            model = _fit_missing(self.joint, X, T, self.learner.params, progress, within)
        else:  # in as few calls as memory for the targets allows
            for part in parts:
                for start in range(0, n, size):
                    T = part.block(slice(start, start + size))
                    some = _fit_missing(self.joint, X, T, self.learner.params, progress)
                    places += [(some, s) for s in range(T.shape[1])]
            model = GatheredModel(tuple(places))
        for p in range(len(parts)):
            columns = range(p * n, (p + 1) * n)
            said = None if p == 0 else _left_out(model, columns, parts[p], tests[p - 1], kind)
            if said is not None:
                yield said
                continue
            part = model.part(columns) if len(parts) > 1 else model
            yield part if p == 0 else _outputs(part, _safe_indexing(X, tests[p - 1]), kind)

    def _does_without_targets(self, X: Any, targets: Targets) -> bool:
        """Whether the learner trains each class against all others from sums over classes."""
        can = getattr(self.joint, "sums_classes", None)
        return can is not None and targets.is_one_vs_rest and bool(can(X))

    def _against_rest(self, X: Any, targets: Targets, progress: FitProgress) -> Any:
        """Return the problems of each class against all others, on the samples that take part."""
        params, y = self.learner.params, targets.y
        if targets.within is not None:
            own = np.flatnonzero(targets.within)
            X, y = _safe_indexing(X, own), y[own]
            params = {name: _safe_indexing(value, own) for name, value in params.items()}
        model = self.joint.fit_one_vs_rest(X, y, targets.n_problems, **params)
        for _ in range(targets.n_problems):
            progress.end()
        return model

    def _one_by_one(
        self,
        X: Any,
        y: Indices,
        parts: Sequence[Targets],
        tests: Sequence[Indices],
        kind: str,
        progress: FitProgress,
    ) -> Iterator[Any]:
        """Yield the model of all samples, and then the outputs on each fold's test samples."""
        on_kernel = getattr(self.joint, "shares_rows", False)
        with rows_kept(X, y) if on_kernel else nullcontext():
            progress.begin(_ALL_AT_ONCE)
            model = self.joint.fit_joint(X, parts[0].block(slice(None)), **self.learner.params)
            progress.end()
            yield model
            folds = zip(parts[1:], tests, strict=True)
            tasks = (progress.begin(_ALL_AT_ONCE, fold) for fold in folds)
            shared = (self.joint, model, X, self.learner.params, kind)
            if on_kernel:  # which has threads of its own
                answers = (_outputs_of_fold(task, shared) for task in tasks)
            else:
                answers = map_tasks(_outputs_of_fold, tasks, shared=shared, n_jobs=self.n_jobs)
            for said in answers:
                progress.end()
                yield said


def _fit_missing(
    joint: Any,
    X: Any,
    targets: Matrix,
    params: Mapping[str, Any],
    progress: FitProgress,
    within: Indices | None = None,
) -> Any:
    """Train all columns, except those that a shared store already has.

    `within` has for columns of a fold those of all samples, which some learners begin with.
    """
    store = active_problems.get()
    if store is None:
        if within is not None and getattr(joint, "starts_folds", False):
            params = {**params, "within": within}
        return joint.fit_joint(X, targets, done=progress.end, **params)
    keys = store.column_keys(targets, X, joint, params)
    places = [store.recall(key) for key in keys]
    missing = [s for s, place in enumerate(places) if place is None]
    for s in range(len(keys) - len(missing)):
        progress.end(s)
    if missing:
        trained = joint.fit_joint(X, targets[:, missing], done=progress.end, **params)
        size = size_of(trained) // len(missing)
        for i, s in enumerate(missing):
            places[s] = trained, i
            store.keep(keys[s], places[s], size)
        if len(missing) == len(keys):
            return trained
    return GatheredModel(tuple(places))


def _outputs_of_fold(task: tuple[Targets, Indices], shared: tuple[Any, ...]) -> Array:
    """Train coupled problems on a fold, and return their outputs on its test samples."""
    part, test = task
    joint, like, X, params, kind = shared
    model = joint.fit_joint(X, part.block(slice(None)), like=like, **params)
    return _outputs(model, _safe_indexing(X, test), kind)


def _outputs(model: Any, X: Any, kind: str) -> Array:
    if kind == "probability":
        said: Array = model.outputs(X, kind)
        return said
    margins: Array = to_host(model.outputs(X))
    return margins if kind == "margin" else _sides(margins)


def _left_out(
    model: Any, columns: Sequence[int], part: Targets, test: Indices, kind: str
) -> Array | None:
    """Return the outputs of a fold's problems on its test samples, if training knows them.

    It knows those of samples that take part in a problem, but not in the fold. Negatives that were
    left out take part in neither.
    """
    known = getattr(model, "left_out", None)
    if known is None or kind == "probability" or part.kept is not None or part.within is None:
        return None
    margins = None if part.within[test].any() else known(columns, test)
    return margins if margins is None or kind == "margin" else _sides(margins)


def _sides(margins: Array) -> Array:
    return np.where(margins > 0, 1.0, -1.0)


def _held_out(
    trained: JointlyTrained,
    targets: Targets,
    X: Any,
    tests: Sequence[Indices],
    said: Iterator[Array],
    kind: str,
) -> list[Array]:
    """Return the outputs on each problem's own samples, by folds that have not seen them.

    The outputs of a fold on all problems are dropped before those of the next are computed: in a
    tree, most samples take no part in most problems.
    """
    samples = [targets.samples(s) for s in range(targets.n_problems)]
    outputs = [np.empty(len(own)) for own in samples]
    never = np.setdiff1d(np.arange(targets.n_samples), np.concatenate([[], *tests]))
    for test in [*tests, never] if never.size else tests:
        by_all = test is never
        answers = trained.outputs(_safe_indexing(X, never), kind) if by_all else next(said)
        place = np.full(targets.n_samples, -1)
        place[test] = np.arange(len(test))
        for s, own in enumerate(samples):
            asked = place[own]
            outputs[s][asked >= 0] = answers[asked[asked >= 0], s]
        del answers
    return outputs
