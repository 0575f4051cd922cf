"""Base class of classifiers whose binary classifier is a parameter."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin
from sklearn.callback import with_callbacks
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch, check_random_state, get_tags
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if

from polychotomy.arrays import Array, Indices
from polychotomy.classifiers._reduction_classifier import ReductionClassifier
from polychotomy.codes import check_int
from polychotomy.learners import Learner, check_learner, multi_output
from polychotomy.linear import check_batch_classes
from polychotomy.structures import ordered_categories, resolve_class_order
from polychotomy.training import (
    FitProgress,
    JointTrainer,
    Params,
    Problems,
    Reservoir,
    SeparateTrainer,
    Trainer,
    TrainingData,
    check_data,
    check_labels,
    check_params,
    class_weights,
    part_of_batch,
    weigh,
)


def _learns_in_batches(self: Any) -> bool:
    return bool(self._learns_in_batches())


class MetaReductionClassifier(MetaEstimatorMixin, ReductionClassifier):
    """A reduction whose binary classifier is a parameter, `estimator`."""

    estimator: Any
    class_order: Any
    random_state: Any
    reservoir: int | None

    # Weights go to the estimator, which is asked for them; they are none of our own.
    __metadata_request__fit = {"sample_weight": UNUSED}  # noqa: RUF012
    __metadata_request__partial_fit = {"sample_weight": UNUSED, "classes": UNUSED}  # noqa: RUF012

    @available_if(_learns_in_batches)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> Self:
        """Train the binary problems further on a batch of samples.

        Estimators learn in place: if one of them fails, others may have learnt the batch already.
        With `reservoir`, some samples of the stream are held out, and after every batch the
        outputs on them are calibrated anew. The calibration of an earlier ``fit`` stays as it is.

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
        learners = self._learners()
        first = not self.__sklearn_is_fitted__()
        order = ordered_categories(y)
        X, y = check_data(self, X, y, reset=first)
        known = check_batch_classes(classes, None if first else self.classes_)
        labels, indices = check_labels(y, known)
        params = check_params(self, "partial_fit", X, sample_weight, fit_params)
        data = TrainingData(X, None, labels, order, params.get("sample_weight"))
        problems = self._lay_out(data) if first else self._problems
        factor = class_weights(self, learners, labels, indices)
        reservoir, kept = self._hold_out(X, indices, len(labels), weigh(params, factor))
        X, indices, params, factor = part_of_batch(X, indices, params, factor, kept)
        routed = self._route("partial_fit", learners, params, factor)
        trainer = self._choose_trainer(problems, routed, in_batches=True)
        readout = None if first else self._readout
        if readout is None:
            readout = self._choose_readout(problems, trainer, in_batches=reservoir is None)
        with FitProgress(self, trainer.n_tasks, self.verbose) as progress:
            before = None if first else self._trained
            trained = trainer.update(before, problems, X, indices, progress)
        held_out = None
        if reservoir is not None and readout.needs_calibration:
            held_out = reservoir.outputs_of(trained, trainer.distinct, readout.kinds)
        readout = readout.calibrated(trained.counts.samples, held_out)
        return self._keep(problems, trained, readout, reservoir)

    @property
    def held_out_(self) -> Any:
        """The samples that ``partial_fit`` has held out: `data`, `target`, `weight`, by name."""
        reservoir = getattr(self, "_reservoir", None)
        if reservoir is None:
            raise AttributeError(
                "Samples are held out only by partial_fit, where 'reservoir' is a number."
            )
        labels = self.classes_[reservoir.y]
        return Bunch(data=reservoir.X, target=labels, weight=reservoir.stream_weight)

    def _hold_out(
        self, X: Any, y: Indices, n_classes: int, params: Params
    ) -> tuple[Reservoir | None, NDArray[np.bool_]]:
        """Return the samples that are held out, and which of a batch are left to train on."""
        if self.__sklearn_is_fitted__():
            reservoir = getattr(self, "_reservoir", None)
        elif self.reservoir is None:
            reservoir = None
        else:
            size = check_int("reservoir", self.reservoir, least=n_classes)
            seed = 0 if self.random_state is None else self.random_state
            if not isinstance(seed, Integral):
                seed = check_random_state(seed).randint(2**31)
            reservoir = Reservoir.empty(size, n_classes, int(seed))
        if reservoir is None:
            return None, np.ones(len(y), dtype=bool)
        weight = params.get("sample_weight")
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
        reservoir, taken = reservoir.hold_out(X, y, weight)
        return reservoir, ~taken

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of the classifier and its estimator.

        Returns
        -------
        routing : MetadataRouter
        """
        mapping = MethodMapping()
        for method in ("fit", "partial_fit"):
            mapping.add(caller=method, callee=method)
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(**self._learners(), method_mapping=mapping)

    def _learners(self) -> dict[str, Any]:
        return {"estimator": check_learner(self.estimator)}

    def _route(
        self, method: str, learners: Mapping[str, Any], params: Params, factor: Array | None
    ) -> dict[str, Learner]:
        if not _routing_enabled():
            return super()._route(method, learners, params, factor)
        routed = process_routing(self, method, **params)
        return {
            name: Learner(each, weigh(dict(routed[name][method]), factor))
            for name, each in learners.items()
        }

    def _order(self, data: TrainingData) -> Indices | None:
        """Return the class indices from first to last, None if nothing says their order."""
        given = data.order if self.class_order is None else self.class_order
        if given is None:
            return None
        return resolve_class_order(
            given,
            data.classes,
            data.X,
            data.y,
            distance=getattr(self, "distance", "auto"),
            sample_weight=data.weight,
            pairwise=get_tags(self).input_tags.pairwise,
        )

    def _learns_in_batches(self) -> bool:
        if isinstance(self.class_order, str):  # found in all samples
            return False
        if isinstance(self.class_weight, str):
            raise AttributeError(
                "class_weight='balanced' needs all samples: give a dictionary to partial_fit."
            )
        if self.__sklearn_is_fitted__() and not self._trained.learns_further:
            raise AttributeError(
                "partial_fit goes on from partial_fit. 'fit' has trained all problems at once, and "
                "kept no sums over its samples: train a new classifier by partial_fit alone."
            )
        return all(hasattr(learner, "partial_fit") for learner in self._learners().values())

    def _trainer(
        self,
        problems: Problems,
        learners: tuple[Learner, ...],
        chosen: Indices | None = None,
        *,
        in_batches: bool,
    ) -> Trainer:
        """Return the trainer of independent problems: joint if the only learner is."""
        code = problems.code
        joint = len(learners) == 1 and learners[0].is_joint
        if in_batches and joint:
            joint = hasattr(learners[0].estimator, "update_joint")
        several = None
        if not joint and len(learners) == 1 and code.is_strict and not in_batches:
            several = multi_output(learners[0].estimator)
        if several is not None:
            return JointTrainer(learners[0], several, code.distinct)
        if not joint:
            return SeparateTrainer.of(
                code, learners, chosen, random_state=self.random_state, n_jobs=self.n_jobs
            )
        learner = learners[0].fresh()
        if self.n_jobs is not None and "n_jobs" in learner.get_params():
            learner.set_params(n_jobs=self.n_jobs)
        return JointTrainer(learners[0], learner, code.distinct)

    def _trained_estimators(self) -> list[Any]:
        """Return the trained binary classifiers, one for each distinct problem."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call 'fit' first.")
        return [self._trained.estimator(s) for s in range(len(self._readout.says))]
