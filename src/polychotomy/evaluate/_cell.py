"""The result of one method in one fold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Indices
from polychotomy.classifiers import Cost


@dataclass(frozen=True, eq=False, kw_only=True)
class Cell:
    """The scores, counts and predictions of one method on one fold of a data set.

    Attributes
    ----------
    data_set : str
        Its name, or the stem of its file.
    reduction : str
        As :class:`~polychotomy.reductions.Reduction` writes it, or what a paper calls it.
    base : str
        The binary learner, by the name that it has here or in a paper.
    fold : int
        Number of the fold within the protocol, from 0.
    seed : int
        Drew the folds, random codes and what is random in the learner.
    settings : mapping
        All else that determines the result: ``protocol``, ``n_folds``, ``n_train``, ``tuning``,
        ``preparation``, ``parameters`` of the classifier, the ``search`` of scales that are tuned,
        and hashes of the ``data`` and of the fold's ``rows``.
    classes : tuple of str
        Names of the classes.
    rows, truth, predicted : ndarray of shape (n_test,)
        Numbers of the test samples within the data set, the index of the class of each, and of the
        class that was predicted.
    probabilities : ndarray of shape (n_test, n_classes) or None
        In single precision.
    metrics : mapping
        ``error``, ``uncertainty_coefficient`` and, with probabilities, ``log_loss`` and ``brier``;
        with them ``score``, if there is a scorer, and what the method measures by itself.
    n_problems : int
        Number of binary problems trained.
    fit_seconds, predict_seconds : float
        CPU time of training and of predicting the classes of the test part, on one thread. Without
        preprocessing and tuning.
    chosen : mapping
        Choices made in training: tuned parameters, decoder, method for probabilities.
    versions : mapping
        Versions of polychotomy, scikit-learn, numpy and python.
    key : str
        A hash of all that determines the result.
    cost : Cost or None
        The cost, counted; None if unknown.
    """

    data_set: str
    reduction: str
    base: str
    fold: int
    seed: int
    settings: Mapping[str, Any]
    classes: tuple[str, ...]
    rows: Indices
    truth: Indices
    predicted: Indices
    probabilities: NDArray[np.float32] | None = None
    metrics: Mapping[str, float]
    n_problems: int
    fit_seconds: float
    predict_seconds: float
    chosen: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    key: str
    cost: Cost | None = None

    @property
    def score(self) -> float:
        """The score that is compared, larger is better: the scorer's, by default the accuracy."""
        if "score" in self.metrics:
            return self.metrics["score"]
        return float(np.mean(self.truth == self.predicted))


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed, and why.

    Attributes
    ----------
    data_set, reduction, base : str
    fold : int
    reason : str
        The message of the exception, or its class where it has none.
    key : str
    kind : str
        The class of the exception.
    """

    data_set: str
    reduction: str
    base: str
    fold: int
    reason: str
    key: str
    kind: str = "Exception"
