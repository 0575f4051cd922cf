"""Training each binary problem by itself: a clone of a scikit-learn classifier per problem."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _check_method_params

from polychotomy.arrays import Array, Folds, Indices, Matrix
from polychotomy.codes import Code, DistinctProblems, Targets, distinct_problems
from polychotomy.kernel import count_threads
from polychotomy.learners import Learner, Says, TrainedProblem, problem_seeds
from polychotomy.parallel import map_tasks, uses_cluster
from polychotomy.training._inputs import check_held_out_room, check_total_weights
from polychotomy.training._problems import Counts, HeldOut, Problems
from polychotomy.training._progress import FitProgress
from polychotomy.training._shared_problems import active_problems


@dataclass(frozen=True, eq=False)
class SeparatelyTrained:
    """Problems that were trained one by one.

    Attributes
    ----------
    problems : tuple of TrainedProblem
    counts : Counts
    n_jobs : int or None
        Number of threads that ask them.
    """

    problems: tuple[TrainedProblem, ...]
    counts: Counts
    n_jobs: int | None = None

    @property
    def learns_further(self) -> bool:
        """Whether training can go on batch by batch."""
        return True

    def outputs(self, X: Any, kind: str, which: Sequence[int] | None = None) -> Array:
        """Return the outputs of all problems, or of those in `which`, a column for each."""
        asked = range(len(self.problems)) if which is None else which
        one_thread = len(asked) == 1 or count_threads(self.n_jobs) == 1
        said = map_tasks(
            _ask,
            [self.problems[s] for s in asked],
            shared=(X, kind),
            n_jobs=1 if one_thread else self.n_jobs,
            threads=True,
        )
        return np.column_stack(list(said))

    def estimator(self, s: int) -> Any:
        """Return the trained classifier of one problem."""
        return self.problems[s].estimator


@dataclass(frozen=True, eq=False)
class SeparateTrainer:
    """Trains each distinct problem by itself.

    Attributes
    ----------
    learners : tuple of Learner
    learner_of : ndarray of shape (n_distinct,)
        The learner of each distinct problem.
    distinct : DistinctProblems
        Equal columns with the same learner are trained once.
    seeds : ndarray of shape (n_distinct,) or None
        The same for a problem in whatever code it occurs.
    n_jobs : int or None
    says, n_tasks
        The kind of outputs of each distinct problem, and the number of these problems.
    """

    learners: tuple[Learner, ...]
    learner_of: Indices
    distinct: DistinctProblems
    seeds: NDArray[np.int_] | None = None
    n_jobs: int | None = None
    says: tuple[Says, ...] = field(init=False)
    n_tasks: int = field(init=False)

    def __post_init__(self) -> None:
        said = [learner.says for learner in self.learners]
        object.__setattr__(self, "says", tuple(said[j] for j in self.learner_of))
        object.__setattr__(self, "n_tasks", len(self.learner_of))

    @classmethod
    def of(
        cls,
        code: Code,
        learners: tuple[Learner, ...],
        chosen: Indices | None = None,
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> "SeparateTrainer":
        """Return the trainer of a code's problems; `chosen` has the learner of each."""
        if chosen is None:
            chosen = np.zeros(code.n_problems, dtype=np.intp)
        frozen = np.array([learner.is_frozen for learner in learners])
        distinct = code.distinct
        if len(learners) > 1 or frozen.any():
            distinct = distinct_problems(code.matrix, chosen, frozen[chosen])
        seeds = problem_seeds(random_state, distinct.columns)
        return cls(learners, chosen[distinct.first], distinct, seeds, n_jobs)

    def train(
        self,
        problems: Problems,
        X: Any,
        y: Indices,
        folds: Folds | None,
        kinds: Sequence[str],
        progress: FitProgress,
    ) -> tuple[SeparatelyTrained, HeldOut | None]:
        """Train the problems on all samples and on each fold, in one parallel call.

        A fold's model is dropped as soon as its held-out outputs are known.
        """
        targets, weights = Targets(self.distinct.columns, y), self._weights(y)
        samples = targets.total_weights(weights)
        check_total_weights(samples, problems, self.distinct)
        if folds is not None:
            check_held_out_room(targets)
        counts = Counts(self.n_tasks, samples, np.bincount(y, minlength=len(targets.columns)))
        tests = [np.sort(test) for _, test in folds or ()]
        parts = [(None, None), *((f[0], t) for f, t in zip(folds or (), tests, strict=True))]
        results = self._run(_Tasks(self, problems, targets, parts, kinds), X, progress)
        trained = SeparatelyTrained(tuple(results[: targets.n_problems]), counts, self.n_jobs)
        if folds is None:
            return trained, None
        outputs = self._held_out(trained, tests, results, targets, X, kinds)
        return trained, HeldOut(targets, outputs, weights, bool(folds))

    def update(
        self,
        trained: SeparatelyTrained | None,
        problems: Problems,
        X: Any,
        y: Indices,
        progress: FitProgress,
    ) -> SeparatelyTrained:
        """Return the problems after learning a batch; `trained` is None before the first."""
        targets = Targets(self.distinct.columns, y)
        samples = targets.total_weights(self._weights(y))
        counts = Counts(self.n_tasks, samples, np.bincount(y, minlength=len(targets.columns)))
        before = [None] * self.n_tasks
        if trained is not None:
            counts = counts.plus(trained.counts)
            before = [each.estimator for each in trained.problems]
        results = self._run(_Tasks(self, problems, targets, before=before), X, progress)
        return SeparatelyTrained(tuple(results), counts, self.n_jobs)

    def _weights(self, y: Indices) -> list[Array]:
        """Return the weights of the samples for each distinct problem."""
        own = [learner.weight(len(y)) for learner in self.learners]
        return [own[j] for j in self.learner_of]

    def _run(self, tasks: "_Tasks", X: Any, progress: FitProgress) -> list[Any]:
        """Return the result of each task; unless they go on with a batch, a store may know it."""
        store = active_problems.get() if tasks.before is None else None
        keys = [None] * len(tasks) if store is None else store.keys(tasks, X)
        results = [None if store is None else store.recall(key) for key in keys]
        missing = [i for i, known in enumerate(results) if known is None]
        for i in np.setdiff1d(np.arange(len(tasks)), missing):
            progress.begin(tasks[int(i)].name)
            progress.end()
        announced = (progress.begin(each.name, each) for each in map(tasks.__getitem__, missing))
        if uses_cluster(self.n_jobs):  # samples and sides of a task are cheaper to make than send
            numbers = (i for i, _ in zip(missing, announced, strict=True))
            found = map_tasks(_train_numbered, numbers, shared=(tasks, X), n_jobs=self.n_jobs)
        else:
            found = map_tasks(_train, announced, shared=X, n_jobs=self.n_jobs)
        for i, result in zip(missing, found, strict=True):
            progress.end()
            results[i] = result
            if store is not None:
                store.keep(keys[i], result)
        return results

    def _held_out(
        self,
        trained: SeparatelyTrained,
        tests: Sequence[Indices],
        results: Sequence[Any],
        targets: Targets,
        X: Any,
        kinds: Sequence[str],
    ) -> list[Array]:
        """Return the outputs on each problem's own samples, by folds that have not seen them."""
        outputs = []
        for s, problem in enumerate(trained.problems):
            samples = targets.samples(s)
            own = np.full(len(samples), np.nan)
            never = np.ones(len(samples), dtype=bool)
            for f, test in enumerate(tests):
                asked = _common(samples, test, targets.n_samples)
                place = np.searchsorted(samples, asked)
                own[place], never[place] = results[(f + 1) * targets.n_problems + s], False
            if never.any():
                own[never] = problem.outputs(_safe_indexing(X, samples[never]), kinds[s])
            outputs.append(own)
        return outputs


class _Task(NamedTuple):
    """A problem to train; if there are samples it is `asked` about, its outputs are wanted."""

    name: str
    estimator: Any
    params: Mapping[str, Any]
    samples: Indices
    sides: Matrix
    asked: Indices | None
    kind: str
    turned: bool
    method: str


@dataclass(frozen=True, eq=False)
class _Tasks:
    """All tasks of a training; each is made when a worker is free, so that few are in memory.

    Attributes
    ----------
    trainer : SeparateTrainer
    problems : Problems
    targets : Targets
    parts : sequence of (training samples, test samples)
        The folds; None for all samples, and for no test.
    kinds : sequence of str
        The kind of the held-out outputs of each problem.
    before : sequence of estimators, optional
        Those that go on with a batch, None for problems of which no sample has come.
    """

    trainer: SeparateTrainer
    problems: Problems
    targets: Targets
    parts: Sequence[tuple[Indices | None, Indices | None]] = ((None, None),)
    kinds: Sequence[str] = ()
    before: Sequence[Any] | None = None

    def __len__(self) -> int:
        return len(self.parts) * self.targets.n_problems

    def __iter__(self) -> Iterator[_Task]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, i: int) -> _Task:
        part, s = divmod(i, self.targets.n_problems)
        training, test = self.parts[part]
        own = samples = self.targets.samples(s)
        if training is not None:  # in the order of the fold, repeated samples included
            samples = training[self.targets.columns[self.targets.y[training], s] != 0]
        trainer = self.trainer
        learner = trainer.learners[trainer.learner_of[s]]
        estimator = None if self.before is None else self.before[s]
        if estimator is None and (self.before is None or samples.size):
            estimator = learner.fresh(None if trainer.seeds is None else int(trainer.seeds[s]))
        turned = False
        if learner.is_frozen:
            column, classes = self.targets.columns[:, s], self.problems.classes
            turned = learner.is_turned(classes[column < 0], classes[column > 0])
        return _Task(
            self.problems.names[trainer.distinct.first[s]],
            estimator,
            learner.params,
            samples,
            self.targets.sides(s, samples),
            None if test is None else _common(own, test, self.targets.n_samples),
            self.kinds[s] if self.kinds else "margin",
            turned,
            "fit" if self.before is None else "partial_fit",
        )


def _common(samples: Indices, test: Indices, n_samples: int) -> Indices:
    """Return the test samples that take part in a problem; both are sorted."""
    return test if len(samples) == n_samples else samples[np.isin(samples, test)]


def _train_numbered(i: int, shared: tuple[_Tasks, Any]) -> TrainedProblem | Array:
    tasks, X = shared
    return _train(tasks[i], X)


def _train(task: _Task, X: Any) -> TrainedProblem | Array:
    """Return the trained problem, or what it says of the samples that are asked about."""
    if task.samples.size:
        problem = _fitted(task, X)
    else:  # of which a batch or a fold has no sample
        problem = TrainedProblem(task.estimator if task.method == "partial_fit" else None)
    if task.asked is None:
        return problem
    if not task.asked.size:
        return np.empty(0)
    return problem.outputs(_safe_indexing(X, task.asked), task.kind)


def _fitted(task: _Task, X: Any) -> TrainedProblem:
    part, params = X, task.params
    if not np.array_equal(task.samples, np.arange(X.shape[0])):  # else X is not copied
        part = _safe_indexing(X, task.samples)
        params = _check_method_params(X, task.params, indices=task.samples)
    pairwise = get_tags(task.estimator).input_tags.pairwise
    if pairwise:
        part = part[:, task.samples]
    if task.method == "partial_fit":
        params = {**params, "classes": np.array([0, 1])}
    try:
        fit: Callable[..., Any] = getattr(task.estimator, task.method)
        fit(part, (task.sides > 0).astype(int), **params)
    except Exception as error:
        plus = int(np.sum(task.sides > 0))
        error.add_note(
            f"This happened while training the binary problem «{task.name}» "
            f"on {plus} and {len(task.sides) - plus} samples."
        )
        raise
    return TrainedProblem(task.estimator, task.samples if pairwise else None, task.turned)


def _ask(problem: TrainedProblem, shared: tuple[Any, str]) -> Array:
    return problem.outputs(*shared)
