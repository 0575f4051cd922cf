"""Cross-validated searches in which all folds of an attempt are trained at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from joblib import hash as content_hash
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from polychotomy.arrays import Folds, Indices
from polychotomy.evaluate._shared_training import is_numbers


class FoldTraining:
    """Samples and their folds, and what was said of them when they were held out.

    Parameters
    ----------
    X, y : array
    folds : sequence of (ndarray, ndarray)
        The samples to train on and those to test on.
    """

    def __init__(self, X: Any, y: Any, folds: Folds) -> None:
        self.X, self.y, self.folds = X, np.asarray(y), folds
        self._last: tuple[str, Any] | None = None

    def decisions(self, classifier: Any) -> Any:
        """Return what a classifier says, trained once for all folds; None if it cannot be."""
        key = content_hash(classifier)
        if self._last is None or self._last[0] != key:
            self._last = key, classifier.held_out_decisions(self.X, self.y, self.folds)
        return self._last[1]


class FoldsAtOnce(ClassifierMixin, BaseEstimator):
    """A classifier of sample numbers, for searches: its folds are trained with the first of them.

    Parameters
    ----------
    classifier : estimator
        It has the parameters that are searched.
    training : FoldTraining
    """

    def __init__(self, classifier: Any, training: FoldTraining) -> None:
        self.classifier, self.training = classifier, training

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the classifier."""
        params: dict[str, Any] = self.classifier.get_params(deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the classifier."""
        self.classifier.set_params(**params)
        return self

    def __sklearn_clone__(self) -> "FoldsAtOnce":
        return FoldsAtOnce(clone(self.classifier), self.training)

    def fit(self, numbers: Indices, y: Any) -> Self:
        """Train all folds; on all samples, or where that cannot be, train on these samples."""
        everything = len(numbers) == len(self.training.y)
        self._said = None if everything else self.training.decisions(self.classifier)
        if self._said is None:
            self.classifier.fit(self._samples(numbers), y)
        self.classes_ = self.classifier.classes_ if self._said is None else self._said[0]
        return self

    def predict(self, numbers: Indices) -> NDArray[Any]:
        """Return the class of each sample."""
        return self._answer(numbers, "predict", 1)

    def decision_function(self, numbers: Indices) -> NDArray[Any]:
        """Return the score of each class."""
        return self._answer(numbers, "decision_function", 2)

    def _answer(self, numbers: Indices, method: str, place: int) -> NDArray[Any]:
        if self._said is None:
            answer: NDArray[Any] = getattr(self.classifier, method)(self._samples(numbers))
        else:
            answer = self._said[place][numbers[:, 0]]
        return answer

    def _samples(self, numbers: Indices) -> Any:
        whole = len(numbers) == len(self.training.y)
        return self.training.X if whole else _safe_indexing(self.training.X, numbers[:, 0])


@contextmanager
def numbers_searched(search: Any, X: Any, y: Any, params: Any) -> Iterator[Any]:
    """Let a search use numbers of samples, if all folds of an attempt can be trained at once.

    Yields what to search on: X, or the numbers. In the end, the search has its own estimator, and
    the best one is one of samples.
    """
    given = search.estimator, search.cv
    if not _can_train_at_once(search, X, y, params):
        yield X
        return
    numbers = np.arange(len(X))[:, np.newaxis]
    folds = list(check_cv(search.cv, y, classifier=True).split(X, y))
    search.estimator, search.cv = FoldsAtOnce(given[0], FoldTraining(X, y, folds)), folds
    try:
        yield numbers
    finally:
        search.estimator, search.cv = given
        if isinstance(best := getattr(search, "best_estimator_", None), FoldsAtOnce):
            search.best_estimator_ = best.classifier


def _can_train_at_once(search: Any, X: Any, y: Any, params: Any) -> bool:
    """Whether folds on a GPU can be columns of one solve, as far as that is known here."""
    classifier = search.estimator
    device = getattr(getattr(classifier, "estimator", None), "device", "cpu")
    if device == "cpu" or not hasattr(classifier, "held_out_decisions"):
        return False
    if classifier.probability is not None or search.n_jobs not in (None, 1):
        return False
    return not params and not search.return_train_score and is_numbers(X, y)
