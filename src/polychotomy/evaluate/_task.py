"""Tasks: cells to be computed, how methods are tuned, and training a method for use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

from polychotomy.arrays import Indices
from polychotomy.classifiers import has_rules
from polychotomy.evaluate._cell import Cell
from polychotomy.evaluate._contestant import Contestant
from polychotomy.evaluate._greedy import GreedySearchCV
from polychotomy.evaluate._preparation import Preparation, needs_dense
from polychotomy.evaluate._samples import Samples
from polychotomy.evaluate._scoring import check_scorer

_LEAST_START, _START_PER_CLASS = 500, 25  # samples that a search starts on
_MANY = 4  # times as many are too many to search on all at once
_ENOUGH_TESTS = 1000


@dataclass(frozen=True, eq=False)
class Tuner:
    """How hyper-parameters are tuned, on training samples only.

    The papers' greedy search makes every attempt on all training samples. The usual one starts on
    500 of them, or 25 for each class, if there are four times as many or more (``start_samples`` of
    :class:`~polychotomy.GreedySearchCV`), and then tests only as many folds as hold 1000 samples:
    its cost hardly grows with the samples.

    Attributes
    ----------
    how : "greedy" or mapping
        :class:`~polychotomy.GreedySearchCV`, or the grid of a ``GridSearchCV``.
    n_folds : int
        Stratified folds within the training samples, drawn by the task's seed.
    scoring : str, callable or None
        The score to optimise; None for the accuracy.
    error_score : "raise" or float
        As in scikit-learn's searches.
    as_published : bool
        Whether the greedy search is that of the papers: one round, on all samples and folds.
    """

    how: Any = "greedy"
    n_folds: int = 5
    scoring: Any = None
    error_score: Any = "raise"
    as_published: bool = False

    @classmethod
    def of(cls, tuning: str) -> "Tuner | None":
        """Return the tuner of "greedy", or of "greedyN", as published; None of "none"."""
        if tuning in ("none", "greedy"):
            return None if tuning == "none" else cls()
        found = re.fullmatch(r"greedy(\d{1,3})", tuning)
        n_folds = int(found[1]) if found else 0
        if n_folds < 2:
            raise ValueError(
                "The 'tuning' parameter must be none, greedy, or greedyN with N folds, at least 2. "
                f"Got {tuning!r} instead."
            )
        return cls(n_folds=n_folds, as_published=True)

    @property
    def terms(self) -> dict[str, Any]:
        """What the parameters that it finds depend on, besides the samples."""
        terms: dict[str, Any] = {"tuning_folds": self.n_folds}
        if not self.as_published:
            terms["tuning_samples"] = [_LEAST_START, _START_PER_CLASS, _MANY, _ENOUGH_TESTS]
        return terms

    def search(
        self, contestant: Contestant, X: Any, y: Any, seed: int, n_jobs: int | None = None
    ) -> Any:
        """Return the search for a contestant on these samples, not yet run."""
        by_classes = self.scoring in (None, "accuracy")
        tuned = contestant.to_tune if by_classes else clone(contestant.classifier)
        if n_jobs is not None and has_rules(tuned):
            tuned.set_params(n_jobs=n_jobs)
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=seed)
        options = {
            "scoring": check_scorer(tuned, self.scoring),
            "refit": False,
            "error_score": self.error_score,
        }
        if self.how != "greedy":
            return GridSearchCV(tuned, _grid(self.how, tuned), cv=folds, **options)
        if self.as_published:
            return GreedySearchCV(tuned, contestant.scales, rounds=1, cv=folds, **options)
        start = max(_LEAST_START, _START_PER_CLASS * len(np.unique(y)))
        if len(y) < _MANY * start:
            return GreedySearchCV(tuned, contestant.scales, cv=folds, **options)
        few = islice(folds.split(X, y), ceil(_ENOUGH_TESTS * self.n_folds / len(y)))
        options |= {"start_samples": start, "cv": list(few), "random_state": seed}
        return GreedySearchCV(tuned, contestant.scales, **options)


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


@dataclass(frozen=True, eq=False)
class Task:
    """A cell to be computed: everything that determines it, except the samples.

    Attributes
    ----------
    data_set : str
    method : Contestant
    fold, seed : int
    settings : mapping
        As in :class:`Cell`; ``preparation`` and ``tuning`` among them.
    train, test : ndarray
        Row numbers.
    key : str
        A hash of its content, or any text that is unique among the tasks in memory.
    tuner : Tuner or None
        The tuning of its method.
    scorer : callable or None
        A scorer besides the error; only for tasks in memory.
    fit_params, score_params : mapping
        Further arguments of ``fit`` and of the scorer, of tasks in memory.
    """

    data_set: str
    method: Contestant = field(repr=False)
    fold: int
    seed: int
    settings: Mapping[str, Any]
    train: Indices = field(repr=False)
    test: Indices = field(repr=False)
    key: str
    tuner: Tuner | None = None
    scorer: Any = None
    fit_params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    score_params: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def reduction(self) -> str:
        """Its method's reduction."""
        return self.method.reduction

    @property
    def base(self) -> str:
        """Its method's base."""
        return self.method.base

    def cell(self, samples: Samples, **measured: Any) -> Cell:
        """Return the cell of this task, with what was measured."""
        return Cell(
            data_set=self.data_set,
            reduction=self.reduction,
            base=self.base,
            fold=self.fold,
            seed=self.seed,
            settings=self.settings,
            classes=samples.classes,
            rows=self.test,
            truth=samples.y[self.test],
            key=self.key,
            **measured,
        )

    @property
    def preparation(self) -> str:
        """How the features are prepared."""
        how: str = self.settings["preparation"]
        return how

    def make_preparation(self) -> Preparation | None:
        """Return what prepares the samples for its method, untrained; None if nothing does.

        It returns dense features if the classifier takes no others.
        """
        if self.preparation == "none":
            return None
        dense = needs_dense(self.method.classifier)
        return Preparation(self.preparation == "all_standard", self.settings.get("text"), dense)

    def tune(self, X: Any, y: Any, params: Mapping[str, Any], n_jobs: int | None = None) -> Any:
        """Return the parameters that cross-validate best on training samples, if any are tuned."""
        if self.tuner is None or self.method.scales == {}:
            return {}
        search = self.tuner.search(self.method, X, y, self.seed, n_jobs)
        return search.fit(X, y, **params).best_params_


@dataclass(frozen=True, eq=False)
class TrainedMethod:
    """A trained method.

    Attributes
    ----------
    estimator : classifier
        A pipeline of preparation and classifier, or the classifier itself if nothing is prepared.
    tuned : mapping
        The parameters that were tuned.
    seconds : float
        Seconds that it took.
    """

    estimator: Any
    tuned: Mapping[str, Any]
    seconds: float

    @property
    def classifier(self) -> Any:
        """The classifier, behind the preparation."""
        return self.estimator.steps[-1][1] if hasattr(self.estimator, "steps") else self.estimator


def train_task(task: Task, X: Any, y: Any, *, n_jobs: int | None = None) -> TrainedMethod:
    """Train the method of a task on other samples, with its preparation and tuning.

    Parameters
    ----------
    task : Task
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels.
    n_jobs : int, optional
        Number of workers of a reduction that does not set it.

    Examples
    --------
    >>> from polychotomy import datasets
    >>> from polychotomy.evaluate import Samples, Schedule, train_task
    >>> iris = Samples.of(datasets.load("iris"))
    >>> task = Schedule(iris, ["bch"], ["ridge"]).task_of("bch")
    >>> trained = train_task(task, iris.data, iris.targets)
    >>> [type(step).__name__ for _, step in trained.estimator.steps]
    ['Preparation', 'CodeClassifier']
    """
    start = perf_counter()
    prepare = task.make_preparation()
    if prepare is not None:
        X = prepare.fit_transform(X)
    tuned = task.tune(X, y, task.fit_params, n_jobs)
    classifier = clone(task.method.classifier).set_params(**tuned)
    if has_rules(classifier) and classifier.n_jobs is None:
        classifier.set_params(n_jobs=n_jobs)
    classifier.fit(X, y, **task.fit_params)
    steps = [("preparation", prepare), ("classifier", classifier)]
    trained = classifier if prepare is None else Pipeline(steps)
    return TrainedMethod(trained, tuned, perf_counter() - start)
