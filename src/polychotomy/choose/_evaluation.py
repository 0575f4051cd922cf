"""What a search does on one fold: train each reduction, and score all its rows."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from polychotomy.choose._candidates import Candidate, Row
from polychotomy.choose._greedy import GreedySearchCV
from polychotomy.classifiers import KernelSBCClassifier, SingleBinaryClassifier, TreeClassifier
from polychotomy.classifiers._reduction import ReductionClassifier
from polychotomy.classifiers._views import (
    has_rules,
    with_remembered_outputs,
    with_rules,
    without_probabilities,
)
from polychotomy.learners import shared_problems

Indices = NDArray[np.intp]
_TUNING_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How candidates are trained and scored.

    Attributes
    ----------
    scorer : callable
        Of a trained classifier, X and y.
    tuning : Tuning
    fit_params, score_params : mapping
        Arguments of `fit` and of the scorer; those with a value per sample are cut to the fold.
    error_score : "raise" or float
        What stands for the score of what fails.
    """

    scorer: Any
    tuning: "Tuning"
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]
    error_score: Any

    def on_fold(
        self, candidates: Sequence[Candidate], X: Any, y: Any, train: Indices, test: Indices
    ) -> list["Outcome"]:
        """Return how each candidate does on a fold. Problems they have in common are shared."""
        with shared_problems():
            return [self._outcome(candidate, X, y, train, test) for candidate in candidates]

    def _outcome(
        self, candidate: Candidate, X: Any, y: Any, train: Indices, test: Indices
    ) -> "Outcome":
        outcome = Outcome(len(candidate.rows))
        X_train, y_train = _safe_split(candidate.classifier, X, y, train)
        X_test, y_test = _safe_split(candidate.classifier, X, y, test, train)
        fit_params = _check_method_params(X, self.fit_params, indices=train)
        score_params = _check_method_params(X, self.score_params, indices=test)
        start = perf_counter()
        with self._allowed_to_fail(candidate.name, outcome):
            made, outcome.tuned = self.tuning.of(candidate.classifier, X_train, y_train, fit_params)
            trained = made.fit(X_train, y_train, **fit_params)
            outcome.fit_seconds = perf_counter() - start
            outcome.n_problems, outcome.cost = cost_of(trained, y_train, X_test)
            if isinstance(trained, ReductionClassifier):
                trained = with_remembered_outputs(trained)
            for i, row in enumerate(candidate.rows):
                start = perf_counter()
                with self._allowed_to_fail(row.label, outcome):
                    outcome.scores[i] = self.scorer(
                        _read(trained, row), X_test, y_test, **score_params
                    )
                outcome.score_seconds[i] = perf_counter() - start
        return outcome

    @contextmanager
    def _allowed_to_fail(self, label: str, outcome: "Outcome") -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self.error_score == "raise":
                raise
            outcome.scores[np.isnan(outcome.scores)] = self.error_score
            outcome.errors.append(f"{type(error).__name__}: {error}")
            warnings.warn(
                f"{label!r} failed on a fold, and its score there is {self.error_score}. "
                f"{outcome.errors[-1]}",
                FitFailedWarning,
                stacklevel=2,
            )


@dataclass
class Outcome:
    """How a candidate did on a fold, with a score for each of its rows."""

    n_rows: int
    scores: NDArray[np.float64] = field(init=False)
    score_seconds: NDArray[np.float64] = field(init=False)
    fit_seconds: float = 0.0
    n_problems: float = np.nan
    cost: float = np.nan
    tuned: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scores = np.full(self.n_rows, np.nan)
        self.score_seconds = np.zeros(self.n_rows)


@dataclass(frozen=True, eq=False)
class Tuning:
    """How hyper-parameters are chosen, on training samples alone.

    Attributes
    ----------
    how : None, "greedy" or mapping
        Nothing is tuned, :class:`GreedySearchCV`, or the grid of a ``GridSearchCV``.
    scoring : str, callable or None
    seed : int
        Draws the folds.
    error_score : "raise" or float
    """

    how: Any
    scoring: Any
    seed: int
    error_score: Any

    def __post_init__(self) -> None:
        if not (self.how is None or self.how == "greedy" or isinstance(self.how, Mapping)):
            raise ValueError(
                "The 'tune' parameter must be None, 'greedy' or a dictionary of the estimator's "
                f"parameters and lists of values. Got {self.how!r}."
            )

    def of(
        self, classifier: Any, X: Any, y: Any, fit_params: Mapping[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Return the classifier with the parameters found, not trained, and these."""
        if self.how is None:
            return clone(classifier), {}
        options = {
            "cv": StratifiedKFold(_TUNING_FOLDS, shuffle=True, random_state=self.seed),
            "scoring": self.scoring,
            "refit": False,
            "error_score": self.error_score,
        }
        by_classes = self.scoring in (None, "accuracy")
        plain = without_probabilities(classifier) if by_classes else clone(classifier)
        if self.how == "greedy":
            search = GreedySearchCV(plain, **options)
        else:
            search = GridSearchCV(plain, _grid(self.how, classifier), **options)
        best = dict(search.fit(X, y, **fit_params).best_params_)
        return clone(classifier).set_params(**best), best


def cost_of(trained: Any, y: Any, X: Any) -> tuple[float, float]:
    """Return the number of different problems, and what they cost in training and prediction.

    The cost is the mean number of problems that a training sample takes part in, plus the mean
    number that are asked of one of the samples X; y are the labels of the training samples. It
    depends on nothing but the data, unlike times. A single binary classifier is one problem in
    which a sample takes part by each of its replicas, again whenever weights are learned. It is not
    known (NaN) of classifiers that are not trained problem by problem.
    """
    if isinstance(trained, KernelSBCClassifier):
        n_replicas = len(trained.classes_)
        return 1.0, float(n_replicas * trained.n_solves_ + n_replicas)
    if not isinstance(trained, ReductionClassifier):
        return np.nan, np.nan
    columns = trained._plan.distinct.columns
    _, counts = np.unique(y, return_counts=True)
    trained_on = np.abs(columns).T @ counts / counts.sum()
    if isinstance(trained, SingleBinaryClassifier):
        return 1.0, _replicas(trained, trained_on.sum()) + columns.shape[1]
    asked = float(columns.shape[1])
    if isinstance(trained, TreeClassifier):
        asked = trained.decision_path(X).sum() / X.shape[0]
    return float(columns.shape[1]), float(trained_on.sum() + asked)


def _replicas(trained: SingleBinaryClassifier, n_all: float) -> float:
    """Return the mean number of replicas that a sample is trained on, if not all are."""
    few = trained.scheme == "replicate" and len(trained.classes_) > 2
    return 1.0 + trained._plan.n_negatives if few else float(n_all)  # type: ignore[attr-defined]


def _read(trained: Any, row: Row) -> Any:
    if row.decoder is None or not has_rules(trained):
        return trained
    return with_rules(trained, row.decoder, row.probability)


def _grid(given: Mapping[str, Any], classifier: Any) -> dict[str, Any]:
    """Return the grid with the names that the parameters have in the classifier."""
    known = classifier.get_params(deep=True)
    grid = {}
    for name, values in given.items():
        inner = f"estimator__{name}"
        if inner not in known and name not in known:
            raise ValueError(
                "The 'tune' parameter must name parameters of the estimator. "
                f"{name!r} is none of them."
            )
        grid[inner if inner in known else name] = values
    return grid
