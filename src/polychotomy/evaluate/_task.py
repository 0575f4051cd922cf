"""A cell that is to be computed: a method, a fold, and all that determines the result."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polychotomy.arrays import Indices
from polychotomy.classifiers import has_rules
from polychotomy.evaluate._contestant import Contestant

_USUAL_TUNING_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Tuner:
    """How hyper-parameters are found, on training samples alone.

    Attributes
    ----------
    how : "greedy" or mapping
        :class:`~polychotomy.GreedySearchCV`, or the grid of a ``GridSearchCV``.
    n_folds : int
        Stratified folds within the training samples, drawn by the task's seed.
    scoring : str, callable or None
        What is optimised; None for the accuracy.
    error_score : "raise" or float
        As in scikit-learn's searches.
    """

    how: Any = "greedy"
    n_folds: int = _USUAL_TUNING_FOLDS
    scoring: Any = None
    error_score: Any = "raise"

    def make_search(self, contestant: Contestant, seed: int, n_jobs: int | None = None) -> Any:
        """Return the search for a contestant, not yet run."""
        from sklearn.base import clone
        from sklearn.model_selection import GridSearchCV, StratifiedKFold

        from polychotomy.evaluate._greedy import GreedySearchCV

        by_classes = self.scoring in (None, "accuracy")
        tuned = contestant.to_tune if by_classes else clone(contestant.classifier)
        if n_jobs is not None and has_rules(tuned):
            tuned.set_params(n_jobs=n_jobs)
        options = {
            "cv": StratifiedKFold(self.n_folds, shuffle=True, random_state=seed),
            "scoring": self.scoring,
            "refit": False,
            "error_score": self.error_score,
        }
        if self.how == "greedy":
            return GreedySearchCV(tuned, contestant.scales, **options)
        return GridSearchCV(tuned, _grid(self.how, tuned), **options)


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


def tuning_folds(tuning: str) -> int:
    """Return the number of folds of "greedyN", 5 of "greedy", and 0 of "none"."""
    found = re.fullmatch(r"greedy(\d{1,3})?", tuning)
    if tuning != "none" and (found is None or int(found[1] or _USUAL_TUNING_FOLDS) < 2):
        raise ValueError(
            "The 'tuning' parameter must be none, greedy, or greedyN with N folds, at least 2. "
            f"Got {tuning!r} instead."
        )
    return int(found[1] or _USUAL_TUNING_FOLDS) if found else 0


@dataclass(frozen=True, eq=False)
class Scoring:
    """A scorer, and its arguments: those with a value for each sample are cut to the test part."""

    scorer: Any
    params: Mapping[str, Any]

    def score(self, trained: Any, X: Any, y: Any, X_all: Any, rows: Indices) -> float:
        """Return the score of a trained classifier on the test part, `rows` of all samples."""
        from sklearn.utils.validation import _check_method_params

        params = _check_method_params(X_all, self.params, indices=rows)
        return float(self.scorer(trained, X, y, **params))


@dataclass(frozen=True, eq=False)
class Task:
    """A cell that is to be computed: all that determines it, except the samples.

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
        How its method is tuned.
    scoring : Scoring or None
        What is scored besides errors; of tasks in memory.
    fit_params : mapping
        Further arguments of ``fit``, of tasks in memory.
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
    scoring: Scoring | None = None
    fit_params: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def reduction(self) -> str:
        """Its method's reduction."""
        return self.method.reduction

    @property
    def base(self) -> str:
        """Its method's base."""
        return self.method.base

    @property
    def data(self) -> str:
        """The fingerprint of its samples."""
        fingerprint: str = self.settings["data"]
        return fingerprint

    @property
    def preparation(self) -> str:
        """How the features are prepared."""
        how: str = self.settings["preparation"]
        return how

    @property
    def group(self) -> tuple[object, ...]:
        """The same for tasks that one training serves, or one search."""
        same = (self.settings[name] for name in ("data", "rows", "preparation", "tuning"))
        return self.seed, *same, self.method.training if self.tuner is None else self.method.tuning
