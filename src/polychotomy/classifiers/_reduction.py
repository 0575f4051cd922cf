"""What all classifiers share that train one binary classifier per problem."""

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from polychotomy.classifiers._checks import (
    check_base,
    check_batch_labels,
    check_data,
    check_labels,
    unless_fit_fails,
)
from polychotomy.classifiers._plan import NOTHING_TO_CALIBRATE_ON, Plan
from polychotomy.classifiers._probabilities import ProbabilityModel
from polychotomy.classifiers._reading import Array, ReadingClassifier
from polychotomy.classifiers._training import Params, check_params, train
from polychotomy.learners import SeparateModel


def _learns_in_batches(self: Any) -> bool:
    return bool(self._can_learn_in_batches())


class ReductionClassifier(CallbackSupportMixin, MetaEstimatorMixin, ReadingClassifier):
    """Trains by a plan, each distinct problem apart, and knows what its problems say.

    A subclass makes the plan and turns outputs into classes.
    """

    estimator: Any
    decoder: str
    _plan: Plan
    _model: SeparateModel

    # Weights go to the estimator, which is asked for them; they are none of our own.
    __metadata_request__fit = {"sample_weight": UNUSED}  # noqa: RUF012
    __metadata_request__partial_fit = {"sample_weight": UNUSED, "classes": UNUSED}  # noqa: RUF012

    @abstractmethod
    def _make_plan(
        self, classes: NDArray[Any], X: Any, y: NDArray[np.intp] | None, params: Params
    ) -> Plan:
        """Return the plan; without y, for training in batches, of which X is the first."""

    @abstractmethod
    def _set_fitted(self, plan: Plan) -> None:
        """Set the fitted attributes that only this class has."""

    def _base(self, lenient: bool = False) -> Any:
        """Return the binary classifier, checked unless `lenient`."""
        return check_base(self.estimator, lenient)

    def _can_learn_in_batches(self) -> bool:
        return hasattr(self._base(), "partial_fit")

    def _sources(self) -> dict[str, Any]:
        """Return the estimators that metadata can be meant for, by name."""
        return {"estimator": self._base()}

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Train the binary problems.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Training data. Data frames reach the estimator as they are.
        y : array-like of shape (n_samples,)
            Labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, for estimators that take them.
        **fit_params
            Further arguments of the estimator's ``fit``; only with scikit-learn's metadata
            routing enabled.

        Returns
        -------
        self
        """
        with unless_fit_fails(self):
            self._base()
            X, y = check_data(self, X, y)
            classes, indices = check_labels(y)
            params = check_params(self, "fit", X, sample_weight, fit_params)
            plan = self._make_plan(classes, X, indices, params)
            return self._train(plan, X, indices, "fit", params)

    @available_if(_learns_in_batches)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> Self:
        """Train the binary problems further on a batch of samples.

        Estimators learn in place: if one of them fails, others may have learnt the batch already.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The batch.
        y : array-like of shape (n_samples,)
            Its labels.
        classes : array-like of shape (n_classes,), optional
            All labels that will ever occur; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, for estimators that take them.
        **fit_params
            Further arguments of the estimator's ``partial_fit``; only with scikit-learn's
            metadata routing enabled.

        Returns
        -------
        self
        """
        self._base()
        first = not self.__sklearn_is_fitted__()
        X, y = check_data(self, X, y, reset=first)
        labels, indices = check_batch_labels(y, classes, None if first else self.classes_)
        params = check_params(self, "partial_fit", X, sample_weight, fit_params)
        plan = self._make_plan(labels, X, None, params) if first else self._plan
        return self._train(plan, X, indices, "partial_fit", params)

    def binary_outputs(self, X: Any) -> Array:
        """Return what the binary problems say.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        outputs : ndarray of shape (n_samples, n_problems)
            A column for each of ``problems_``: positive for its +1 side, the size is the
            confidence.
        """
        return self._outputs(self._checked(X))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata reach the estimator, see scikit-learn's metadata routing.

        Returns
        -------
        routing : MetadataRouter
        """
        mapping = MethodMapping()
        for method in ("fit", "partial_fit"):
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=self).add(**self._sources(), method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is None or hasattr(self.estimator, "__sklearn_tags__"):
            base = get_tags(self._base(lenient=True))
            tags.input_tags = base.input_tags
            tags.non_deterministic = base.non_deterministic
        return tags

    def _train(self, plan: Plan, X: Any, y: NDArray[np.intp], method: str, params: Params) -> Self:
        """Train, and change what is fitted only when all has succeeded."""
        self._model, self._probabilities = self._trained(plan, X, y, method, params)
        self._plan = plan
        self.classes_, self.problems_ = plan.classes, list(plan.names)
        self._set_fitted(plan)
        return self

    def _trained(
        self, plan: Plan, X: Any, y: NDArray[np.intp], method: str, params: Params
    ) -> tuple[SeparateModel, ProbabilityModel | None]:
        """Return what training gives; nothing of this classifier changes."""
        before = self._model if method == "partial_fit" and self.__sklearn_is_fitted__() else None
        return train(self, plan, before, X, y, method, params)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _trained_estimators(self) -> list[Any]:
        """Return the trained binary classifiers, one for each distinct problem."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call 'fit' first.")
        return [problem.estimator for problem in self._model.problems]

    def _check_probabilities(self) -> None:
        """Raise or warn if there are no probabilities, or not all are determined."""
        if self._probabilities is None:
            raise ValueError(f"There are no probabilities. {NOTHING_TO_CALIBRATE_ON}")
        undetermined = [
            np.isin(node.child, node.code.unidentified)
            for node in self._plan.nodes
            if node.code.unidentified
        ]
        if undetermined:
            names = self.classes_[np.any(undetermined, axis=0)][:10].astype(str)
            warnings.warn(
                "The code does not determine the probabilities of the classes "
                f"{', '.join(names)}; of those possible, the most even ones are given.",
                UserWarning,
                stacklevel=3,
            )

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_data(self, X, reset=False)

    def _outputs(self, X: Any) -> Array:
        outputs = self._model.outputs(X, self._plan.kinds, self.n_jobs)
        return self._plan.distinct.expand(outputs)

    def _binary_probabilities(self, X: Any) -> Array:
        """Return the probability of the + side of every problem."""
        assert self._probabilities is not None
        outputs = self._model.outputs(X, self._probabilities.kinds, self.n_jobs)
        return self._plan.distinct.expand_probabilities(self._probabilities.binary(outputs))

    def _class_probabilities(self, X: Any) -> Array:
        assert self._probabilities is not None
        return self._probabilities.of_classes(self._binary_probabilities(X), self.n_jobs)
