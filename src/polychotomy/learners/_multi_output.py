"""Learners of scikit-learn that train several targets at once, where that is the same problem.

Ridge regression on ±1 factorises the same matrix for every target, and neighbours are the same
whatever their labels. A tree or a forest with several outputs is *not* among them: it looks for
splits that suit all targets together, so that it is another model than one tree for each problem.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.learners._gathered_model import GatheredModel

_EXACT_SOLVERS = ("auto", "cholesky", "svd")


class MultiOutputLearner(BaseEstimator):
    """A learner of scikit-learn that trains all problems over the same samples at once.

    Parameters
    ----------
    estimator : classifier
        One for which :func:`multi_output` returns a learner.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit_joint(
        self,
        X: Any,
        targets: Matrix,
        *,
        sample_weight: Array | None = None,
        done: Callable[[int], None] | None = None,
    ) -> GatheredModel:
        """Train all problems, those over the same samples together; see ``JointLearner``."""
        train = _FORMS[_name(self.estimator)].train
        places: list[tuple[Any, int]] = [(None, 0)] * targets.shape[1]
        for columns in _over_same_samples(targets):
            own = np.flatnonzero(targets[:, columns[0]])
            weight = None if sample_weight is None else np.asarray(sample_weight)[own]
            sides = targets[np.ix_(own, columns)]
            model = train(self.estimator, _safe_indexing(X, own), sides, weight)
            for place, s in enumerate(columns):
                places[s] = model, place
                if done is not None:
                    done(int(s))
        return GatheredModel(tuple(places))


def _over_same_samples(targets: Matrix) -> list[Indices]:
    """Return the columns of the targets by the samples that take part in them."""
    groups: dict[bytes, list[int]] = {}
    for s in range(targets.shape[1]):
        groups.setdefault(np.packbits(targets[:, s] != 0).tobytes(), []).append(s)
    return [np.array(columns) for columns in groups.values()]


@dataclass(frozen=True, eq=False)
class _Apart:
    """Problems that were trained one by one after all."""

    estimators: tuple[Any, ...]

    def outputs(self, X: Any) -> Array:
        """Return the margins."""
        return np.column_stack([each.decision_function(X) for each in self.estimators])

    def part(self, problems: Sequence[int]) -> "_Apart":
        """Return some of the problems."""
        return _Apart(tuple(self.estimators[s] for s in problems))

    def estimator(self, place: int) -> Any:
        """Return one problem."""
        return self.estimators[place]


def _train_ridge(learner: Any, X: Any, sides: Matrix, weight: Array | None) -> Any:
    """Train all targets; sparse samples one by one, as their iterations end by the target."""
    if not issparse(X):
        return _RidgeModel.train(learner, X, sides, weight)
    labels = (sides > 0).astype(int).T
    return _Apart(tuple(clone(learner).fit(X, y, sample_weight=weight) for y in labels))


@dataclass(frozen=True, eq=False)
class _RidgeModel:
    """Ridge regression on several targets of ±1, and which of them are the problems."""

    learner: Any
    ridge: Any
    targets: Indices

    @classmethod
    def train(cls, learner: Any, X: Any, sides: Matrix, weight: Array | None) -> "_RidgeModel":
        """Train all targets."""
        from sklearn.linear_model import Ridge

        params = learner.get_params()
        del params["class_weight"]
        ridge = Ridge(**params).fit(X, sides.astype(float), sample_weight=weight)
        return cls(learner, ridge, np.arange(sides.shape[1]))

    def outputs(self, X: Any) -> Array:
        """Return the margins."""
        return np.asarray(self.ridge.predict(X)).reshape(X.shape[0], -1)[:, self.targets]

    def part(self, problems: Sequence[int]) -> "_RidgeModel":
        """Return some of the problems."""
        return replace(self, targets=self.targets[list(problems)])

    def estimator(self, place: int) -> Any:
        """Train on two samples, and put the weights in the place of theirs."""
        weights, own = np.atleast_2d(self.ridge.coef_), self.targets[[place]]
        estimator = clone(self.learner).set_params(alpha=1.0, positive=False)
        estimator.fit(np.eye(2, weights.shape[1]), [0, 1])
        estimator.set_params(**self.learner.get_params())
        estimator.coef_ = weights[own]
        estimator.intercept_ = np.broadcast_to(self.ridge.intercept_, len(weights))[own]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.ridge, name):
                setattr(estimator, name, getattr(self.ridge, name))
        return estimator


@dataclass(frozen=True, eq=False)
class _NeighboursModel:
    """Nearest neighbours with several labels each."""

    learner: Any
    neighbours: Any
    X: Any
    sides: Matrix

    @classmethod
    def train(cls, learner: Any, X: Any, sides: Matrix, weight: Array | None) -> "_NeighboursModel":
        """Keep the samples and all their sides."""
        labels = (sides > 0).astype(int)
        return cls(learner, clone(learner).fit(X, labels[:, 0]), X, sides)

    def outputs(self, X: Any, kind: str = "margin") -> Array:
        """Return the neighbours' share of the + side, or twice that less 1."""
        distances, found = self.neighbours.kneighbors(X)
        weight = np.ones_like(distances)
        if self.learner.weights == "distance":
            at_zero = distances == 0
            any_zero = at_zero.any(axis=1, keepdims=True)
            weight = np.where(any_zero, at_zero, 1 / np.where(any_zero, 1, distances))
        plus = (self.sides > 0).astype(float)
        shares = np.zeros((len(found), plus.shape[1]))
        for j in range(found.shape[1]):
            shares += weight[:, j, np.newaxis] * plus[found[:, j]]
        shares /= weight.sum(axis=1, keepdims=True)
        return shares if kind == "probability" else 2 * shares - 1

    def part(self, problems: Sequence[int]) -> "_NeighboursModel":
        """Return some of the problems."""
        return replace(self, sides=self.sides[:, list(problems)])

    def estimator(self, place: int) -> Any:
        """Train one problem alone."""
        return clone(self.learner).fit(self.X, (self.sides[:, place] > 0).astype(int))


@dataclass(frozen=True)
class _Form:
    """How a learner is trained on all targets, and with which parameters that is exact."""

    train: Callable[..., Any]
    suits: Callable[[Any], bool]


_FORMS: dict[str, _Form] = {
    "sklearn.linear_model._ridge.RidgeClassifier": _Form(
        _train_ridge,
        lambda e: e.class_weight is None and e.solver in _EXACT_SOLVERS and not e.positive,
    ),
    "sklearn.neighbors._classification.KNeighborsClassifier": _Form(
        _NeighboursModel.train,
        lambda e: e.metric != "precomputed" and e.weights in ("uniform", "distance"),
    ),
}
"""By class. A further learner is one line here."""


def multi_output(estimator: Any) -> MultiOutputLearner | None:
    """Return the joint form of a learner, or None if there is none.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from polychotomy.learners import multi_output
    >>> multi_output(RidgeClassifier())
    MultiOutputLearner(estimator=RidgeClassifier())
    >>> multi_output(DecisionTreeClassifier()) is None
    True
    """
    form = _FORMS.get(_name(estimator))
    return MultiOutputLearner(estimator) if form is not None and form.suits(estimator) else None


def _name(estimator: Any) -> str:
    return f"{type(estimator).__module__}.{type(estimator).__qualname__}"
