"""What a classifier makes of what its binary problems say: probabilities, and classes to trust."""

from abc import abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from polychotomy.classifiers._probabilities import ProbabilityModel
from polychotomy.classifiers._rows import blocks_of
from polychotomy.decoding import accepted_by_confidence
from polychotomy.errors import unknown_name

Array = NDArray[np.float64]

_REJECT_RULES = ("votes", "confidence", "probability")


def _has_probabilities(self: Any) -> bool:
    """Whether probabilities were asked for."""
    return self.probability is not None


class ReadingClassifier(ClassifierMixin, BaseEstimator):
    """Has class probabilities, if these were asked for.

    A subclass checks samples, and says what the probabilities of a block of them are.
    """

    probability: str | None
    n_jobs: int | None
    classes_: NDArray[Any]
    problems_: list[str]
    _probabilities: ProbabilityModel | None

    @abstractmethod
    def _checked(self, X: Any) -> Any:
        """Return samples as the problems take them, or raise if they or the classifier are not."""

    @abstractmethod
    def _check_probabilities(self) -> None:
        """Raise ValueError if there are no probabilities."""

    @abstractmethod
    def _class_probabilities(self, X: Any) -> Array:
        """Return the probabilities of checked samples."""

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities.

        The outputs are calibrated to binary probabilities, and these are solved for the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import SVC
        >>> from polychotomy import CodeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = CodeClassifier(SVC()).fit(X, y)
        >>> classifier.probability_, classifier.calibration_
        ('coupling', 'sigmoid')
        >>> classifier.predict_proba(X[:1]).argmax()
        np.int64(0)
        """
        X = self._checked(X)
        self._check_probabilities()
        blocks = blocks_of(X, len(self.problems_))
        return np.concatenate([self._class_probabilities(part) for part in blocks])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the class probabilities; −inf for 0.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class RejectingMixin:
    """Tells which of the predicted labels to trust.

    A subclass decides for a block of samples.
    """

    classes_: NDArray[Any]
    problems_: list[str]
    predict_proba: Any
    _checked: Any

    @abstractmethod
    def _decide(
        self, X: Any, threshold: float | None
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the winning classes and which of them are accepted: by votes without threshold."""

    def predict_or_reject(
        self, X: Any, rule: str = "votes", threshold: float | None = None
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the predicted labels, and which of them to trust.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        rule : {"votes", "confidence", "probability"}, default="votes"
            ``"votes"`` takes the class with the most votes, whatever `decoder` is, and rejects
            samples where several classes share the first place: for one-vs-one ties, for
            one-vs-rest samples that no class or several classes claim.
            ``"confidence"`` rejects samples whose winning score in :meth:`decision_function` (with
            two classes its absolute value) is below `threshold`. ``"probability"`` takes the
            class with the largest probability and rejects samples where that is below `threshold`.
        threshold : float, optional
            For ``rule="confidence"`` and ``rule="probability"``, which need it.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The winners, also for the rejected samples: with ``rule="confidence"`` what
            :meth:`predict` says, otherwise what it says with ``decoder="votes"`` or
            ``decoder="probability"``.
        accepted : ndarray of bool of shape (n_samples,)
            False where the sample is rejected.

        References
        ----------
        Tax and Duin (2002), "Using two-class classifiers for multiclass classification".

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from polychotomy import CodeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = CodeClassifier(code="one_vs_rest").fit(X, y)
        >>> labels, accepted = classifier.predict_or_reject(X)
        >>> bool((labels == y)[accepted].mean() > (labels == y).mean())
        True
        """
        if rule not in _REJECT_RULES:
            raise unknown_name("rule", rule, _REJECT_RULES)
        if isinstance(threshold, Real) is (rule == "votes"):
            raise ValueError(
                "The 'threshold' parameter must be a number with rule='confidence' and "
                "rule='probability', and None with rule='votes'. "
                f"Got {threshold!r} with rule={rule!r}."
            )
        if rule == "probability":
            p = self.predict_proba(X)
            return self.classes_[p.argmax(axis=1)], accepted_by_confidence(p, float(threshold or 0))
        X = self._checked(X)
        blocks = blocks_of(X, len(self.problems_))
        parts = [self._decide(part, threshold) for part in blocks]
        winners, accepted = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return self.classes_[winners], accepted
