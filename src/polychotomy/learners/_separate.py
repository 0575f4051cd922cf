"""Training each binary problem apart: one clone of a scikit-learn classifier per problem."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _check_method_params

from polychotomy.codes._code import Matrix
from polychotomy.learners._progress import FitProgress
from polychotomy.learners._words import problem_words

Indices = NDArray[np.intp]


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
            return np.asarray(self.estimator.decision_function(X), dtype=float).ravel()
        p = np.asarray(self.estimator.predict_proba(X)[:, 1], dtype=float)
        return 2 * p - 1 if kind == "probability" else _log_odds(p)


def train_problems(
    problems: Sequence[TrainedProblem],
    fresh: Callable[[int], Any],
    X: Any,
    y: Indices,
    columns: Matrix,
    classes: Sequence[Any] | NDArray[Any],
    *,
    method: str,
    fit_params: Mapping[str, Any],
    n_jobs: int | None,
    progress: FitProgress,
) -> list[TrainedProblem]:
    """Train each problem on the samples of its classes, with joblib.

    Parameters
    ----------
    problems : sequence of TrainedProblem
        What there is so far.
    fresh : callable
        Makes the estimator of problem s where there is none yet.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Class indices, the rows of `columns`.
    columns : ndarray of shape (n_classes, n_problems)
        The estimators see the labels 0 and 1, for the −1 and the +1 side.
    classes : sequence
        The labels, to name a problem that fails.
    method : {"fit", "partial_fit"}
        What to call. A problem without samples in a batch stays as it is.
    fit_params : mapping
        Arguments of `method`; those with a value per sample are cut to the problem's samples.
    n_jobs : int, optional
        Number of joblib workers.
    progress : FitProgress
        Who is told.
    """

    def tasks() -> Iterator[Any]:
        for s, (problem, column) in enumerate(zip(problems, columns.T, strict=True)):
            words = problem_words(column, classes)
            progress.begin(words)
            target, learner = column[y], problem.estimator
            if learner is None and target.any():
                learner = fresh(s)
            yield delayed(_train)(learner, X, target, words, method, fit_params)

    trained = []
    for s, problem in enumerate(Parallel(n_jobs=n_jobs, return_as="generator")(tasks())):
        progress.end(s)
        trained.append(problem)
    return trained


def outputs_of(
    problems: Sequence[TrainedProblem], X: Any, kind: str, n_jobs: int | None
) -> NDArray[np.float64]:
    """Return the outputs of all problems, a column for each."""
    columns = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(problem.outputs)(X, kind) for problem in problems
    )
    return np.column_stack(columns)


def seeded_clone(estimator: Any, seed: int | None) -> Any:
    """Return a clone whose unset ``random_state`` parameters are drawn from `seed`."""
    learner = clone(estimator)
    if seed is not None:
        _seed(learner, seed)
    return learner


def _train(
    learner: Any, X: Any, target: Matrix, words: str, method: str, fit_params: Mapping[str, Any]
) -> TrainedProblem:
    taking_part = np.flatnonzero(target)
    if not taking_part.size:
        return TrainedProblem(learner)
    part, params = _cut(X, taking_part, fit_params)
    pairwise = get_tags(learner).input_tags.pairwise
    if pairwise:
        part = part[:, taking_part]
    if method == "partial_fit":
        params = {**params, "classes": np.array([0, 1])}
    try:
        getattr(learner, method)(part, (target[taking_part] > 0).astype(int), **params)
    except Exception as error:
        error.add_note(
            f"This happened while training the binary problem «{words}» "
            f"on {np.sum(target == 1)} and {np.sum(target == -1)} samples."
        )
        raise
    return TrainedProblem(learner, taking_part if pairwise else None)


def _cut(
    X: Any, taking_part: Indices, fit_params: Mapping[str, Any]
) -> tuple[Any, Mapping[str, Any]]:
    """Return what belongs to the samples that take part; a strict problem's X is not copied."""
    if taking_part.size == X.shape[0]:
        return X, fit_params
    return (
        _safe_indexing(X, taking_part),
        _check_method_params(X, fit_params, indices=taking_part),
    )


def _log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log p/(1−p) with ±744, the logarithm of the smallest float, for 1 and 0."""
    smallest = np.nextafter(0, 1)
    return np.log(np.maximum(p, smallest)) - np.log(np.maximum(1 - p, smallest))


def _seed(learner: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    unset = {
        name: int(rng.integers(2**31))
        for name, value in sorted(learner.get_params(deep=True).items())
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    learner.set_params(**unset)
