"""Training each binary problem apart: one clone of a scikit-learn classifier per problem."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from polychotomy.learners._problems import BinaryProblems, Indices
from polychotomy.learners._progress import FitProgress
from polychotomy.learners._sharing import active_problems


class TrainedProblem(NamedTuple):
    """One trained binary problem.

    `estimator` is None while incremental training has seen no sample of the problem's classes.
    `kernel_columns` are the training samples whose kernel values the estimator expects, None if
    it does not work on a precomputed kernel.
    """

    estimator: Any
    kernel_columns: Indices | None = None

    def outputs(self, X: Any, kind: str) -> NDArray[np.float64]:
        """Return what the problem says to each sample: positive for its +1 side.

        `kind` is "margin" (the estimator's ``decision_function``), or made of the probability p
        of the +1 side: "probability" (2p − 1) or "log_odds" (log p/(1−p), finite).
        """
        if self.estimator is None:
            return np.zeros(X.shape[0])
        if self.kernel_columns is not None:
            X = X[:, self.kernel_columns]
        if kind == "margin":
            return self._column("decision_function", X, width=1)
        p = self._column("predict_proba", X, width=2)
        return 2 * p - 1 if kind == "probability" else _log_odds(p)

    def predict(self, X: Any) -> Indices:
        """Return 1 for the samples that the estimator puts on the +1 side, 0 for the others."""
        if self.estimator is None:
            return np.zeros(X.shape[0], dtype=int)
        X = X if self.kernel_columns is None else X[:, self.kernel_columns]
        return np.asarray(self.estimator.predict(X), dtype=int)

    def _column(self, method: str, X: Any, width: int) -> NDArray[np.float64]:
        """Return the last column of what a method says of X, which must have the right shape."""
        said = np.asarray(getattr(self.estimator, method)(X), dtype=float)
        if said.ndim == 1 and width == 1:
            said = said[:, np.newaxis]
        if said.shape != (X.shape[0], width):
            raise ValueError(
                f"{method} of a binary classifier must give {width} value(s) for each of "
                f"{X.shape[0]} samples. {self.estimator!r} gave an array of shape {said.shape}."
            )
        return said[:, -1]


@dataclass(frozen=True)
class SeparateModel:
    """Binary problems that were trained apart."""

    problems: Sequence[TrainedProblem]

    @property
    def together(self) -> bool:
        """Whether all problems cost about as much as one."""
        return False

    @classmethod
    def untrained(cls, n_problems: int) -> "SeparateModel":
        """Return the model that knows nothing yet."""
        return cls((TrainedProblem(None),) * n_problems)

    def outputs(
        self,
        X: Any,
        kinds: Sequence[str],
        n_jobs: int | None = None,
        which: Sequence[int] | None = None,
    ) -> NDArray[np.float64]:
        """Return the outputs of all problems, or of those in `which`, a column for each.

        `kinds` has the kind of output of every problem, see :class:`TrainedProblem`.
        """
        asked = range(len(self.problems)) if which is None else which
        if len(asked) == 1 or effective_n_jobs(n_jobs) == 1:  # the workers would only cost time
            return np.column_stack([self.problems[s].outputs(X, kinds[s]) for s in asked])
        columns = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(self.problems[s].outputs)(X, kinds[s]) for s in asked
        )
        return np.column_stack(columns)

    def trained(
        self,
        problems: BinaryProblems,
        X: Any,
        fresh: Callable[[int], Any],
        *,
        method: str,
        fit_params: Callable[[int], Mapping[str, Any]],
        n_jobs: int | None,
        progress: FitProgress,
    ) -> "SeparateModel":
        """Return the model after training each problem on the samples of its classes.

        Parameters
        ----------
        problems : BinaryProblems
            Who is to be told from whom.
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        fresh : callable
            Makes the estimator of problem s where there is none yet. It will see the labels 0
            and 1, for the −1 and the +1 side.
        method : {"fit", "partial_fit"}
            What to call. A problem without samples in a batch stays as it is.
        fit_params : callable
            Arguments of `method` for problem s; those with a value per sample are cut to the
            problem's samples.
        n_jobs : int, optional
            Number of joblib workers.
        progress : FitProgress
            Who is told.
        """
        n_problems = len(self.problems)
        store = active_problems() if method == "fit" else None
        keys = [None] * n_problems if not store else store.keys(problems, X, fresh, fit_params)
        done = [store.recall(key) if store else None for key in keys]
        missing = [s for s in range(n_problems) if done[s] is None]
        for s in np.setdiff1d(np.arange(n_problems), missing):
            progress.begin(problems.names[s])
            progress.end()

        def tasks() -> Iterator[Any]:
            for s in missing:
                words, samples = problems.names[s], problems.samples(s)
                progress.begin(words)
                learner = self.problems[s].estimator
                if learner is None and samples.size:
                    learner = fresh(s)
                target = problems.target(s, samples)
                yield delayed(_train)(learner, X, samples, target, words, method, fit_params(s))

        # Not every backend can hand results over one by one; then progress comes at the end.
        as_they_come = get_active_backend()[0].supports_return_generator
        workers = Parallel(n_jobs=n_jobs, return_as="generator" if as_they_come else "list")
        for s, problem in zip(missing, workers(tasks()), strict=True):
            progress.end()
            done[s] = problem
            if store:
                store.keep(keys[s], problem)
        return SeparateModel(tuple(problem for problem in done if problem is not None))


def seeded_clone(estimator: Any, seed: int | None) -> Any:
    """Return a clone whose unset ``random_state`` parameters are drawn from `seed`, if given."""
    learner = clone(estimator)
    if seed is not None:
        rng = np.random.default_rng(seed)
        unset = {
            name: int(rng.integers(2**31))
            for name, value in sorted(learner.get_params(deep=True).items())
            if name.rpartition("__")[2] == "random_state" and value is None
        }
        learner.set_params(**unset)
    return learner


def _train(
    learner: Any,
    X: Any,
    samples: Indices,
    target: NDArray[np.int8],
    words: str,
    method: str,
    fit_params: Mapping[str, Any],
) -> TrainedProblem:
    if not samples.size:
        return TrainedProblem(learner)
    part, params = X, fit_params
    if samples.size < X.shape[0]:  # else there is nothing to cut, and X is not copied
        part = _safe_indexing(X, samples)
        params = _check_method_params(X, fit_params, indices=samples)
    pairwise = get_tags(learner).input_tags.pairwise
    if pairwise:
        part = part[:, samples]
    if method == "partial_fit":
        params = {**params, "classes": np.array([0, 1])}
    try:
        getattr(learner, method)(part, (target > 0).astype(int), **params)
    except Exception as error:
        error.add_note(
            f"This happened while training the binary problem «{words}» "
            f"on {np.sum(target > 0)} and {np.sum(target < 0)} samples."
        )
        raise
    return TrainedProblem(learner, samples if pairwise else None)


def _log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log p/(1−p) with ±744, the logarithm of the smallest float, for 1 and 0.

    For ½ it is the largest negative float: a binary classifier with equal probabilities predicts
    its first class.
    """
    smallest = np.nextafter(0, 1)
    odds = np.log(np.maximum(p, smallest)) - np.log(np.maximum(1 - p, smallest))
    return np.where(p == 0.5, -smallest, odds)
