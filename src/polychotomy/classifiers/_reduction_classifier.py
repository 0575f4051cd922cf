"""Base class of all classifiers: training, predictions, probabilities and rejection."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import _safe_indexing, gen_batches, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from polychotomy.arrays import Array
from polychotomy.calibration import folds
from polychotomy.codes import check_int
from polychotomy.errors import unknown_name
from polychotomy.kernel import beside, to_host
from polychotomy.learners import Learner
from polychotomy.readout import NO_PROBABILITIES, Readout, with_class_means
from polychotomy.structures import ordered_categories
from polychotomy.training import (
    Asking,
    FitProgress,
    Params,
    Problems,
    Reservoir,
    TrainedProblems,
    Trainer,
    TrainingData,
    check_data,
    check_labels,
    check_params,
    class_weights,
    unless_fit_fails,
    weigh,
)

_BLOCK_OUTPUTS = 2**22
_REJECT_RULES = ("votes", "confidence", "probability")


def _has_probabilities(self: Any) -> bool:
    return self.probability is not None


class ReductionClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A classifier made of binary problems, trained problems and a readout.

    A subclass lays out the problems, chooses the trainer and chooses the readout.
    """

    decoder: str
    probability: str | None
    calibration: str
    cv: Any
    class_weight: Any
    n_jobs: int | None
    verbose: int
    classes_: NDArray[Any]
    problems_: list[str]
    _numeric = False  # whether all features must be numbers, whatever the learner
    _draws_bar = True  # whether `verbose` draws a progress bar
    _problems: Problems
    _trained: TrainedProblems
    _readout: Readout
    _reservoir: Reservoir | None

    @abstractmethod
    def _lay_out(self, data: TrainingData) -> Problems:
        """Return the problems."""

    @abstractmethod
    def _choose_trainer(
        self, problems: Problems, learners: Mapping[str, Learner], *, in_batches: bool = False
    ) -> Trainer:
        """Return the trainer of the problems, for learners with the arguments of their training."""

    @abstractmethod
    def _learners(self) -> dict[str, Any]:
        """Return the binary classifiers by name, or raise ValueError if one is not a classifier."""

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
            learners = self._learners()
            order = ordered_categories(y)
            X, y = check_data(self, X, y, numeric=self._numeric)
            classes, indices = check_labels(y)
            params = check_params(self, "fit", X, sample_weight, fit_params)
            factor = class_weights(self, learners, classes, indices, params.get("sample_weight"))
            weight = weigh(params, factor).get("sample_weight")
            problems = self._lay_out(TrainingData(X, indices, classes, order, weight))
            trainer = self._choose_trainer(problems, self._route("fit", learners, params, factor))
            readout = self._choose_readout(problems, trainer)
            calibrates = readout.needs_calibration
            splits = list(folds(self.cv, X, indices, classes)) if calibrates else None
            n_tasks = trainer.n_tasks * (1 + len(splits or ()))
            with FitProgress(self, n_tasks, self.verbose and self._draws_bar) as progress:
                trained, held_out = trainer.train(
                    problems, X, indices, splits, readout.kinds, progress
                )
                ask = Asking(trained, X)
                readout = readout.calibrated(trained.counts.samples, held_out, ask)
                if readout.rules[0] == "class_means":
                    readout = with_class_means(readout, ask, indices, weight, held_out)
            return self._keep(problems, trained, readout)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample; ties go to the first class.

        With two classes, what the binary classifier itself predicts.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        winners = [self._readout.decide(ask)[0] for ask in self._asks(X, n_best=1)]
        return self.classes_[np.concatenate(winners)]

    def decision_function(self, X: Any) -> Array:
        """Return the score of each class; larger is better.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) with two classes
            With two classes, the output of the binary classifier: positive for ``classes_[1]``.
            A structure whose most probable class is predicted gives the probabilities; other
            trees the smallest lead, over the nodes on the way to the class, of its child over
            the others; a DDAG the step in which the class was eliminated.
        """
        scores = np.concatenate([self._readout.scores(ask) for ask in self._asks(X)])
        return beside(self._readout.decision(scores), X)

    def binary_outputs(self, X: Any) -> Array:
        """Return the outputs of the binary problems.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        outputs : ndarray of shape (n_samples, n_problems)
            A column for each of ``problems_``: positive for its +1 side, the size is the
            confidence.
        """
        samples = self._checked(X)
        return beside(self._readout.outputs(Asking(self._trained, samples)), X)

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
        >>> from polychotomy import CodeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> CodeClassifier().fit(X, y).predict_proba(X[:1]).argmax()
        np.int64(0)
        """
        asks = self._asks(X)
        self._check_probabilities()
        return beside(np.concatenate([self._readout.probabilities(ask) for ask in asks]), X)

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
            return beside(np.log(to_host(self.predict_proba(X))), X)

    def predict_top(self, X: Any, n: int = 5) -> NDArray[Any]:
        """Return the classes with the largest scores, the best first.

        Only some samples' scores are held at a time, and a tree asks only the problems that can
        matter.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        n : int, default=5
            How many classes, at most all.

        Returns
        -------
        labels : ndarray of shape (n_samples, n)
            The first column is what :meth:`predict` returns, the others follow in the order of
            :meth:`decision_function`; of classes with equal scores the first.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from polychotomy import CodeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> CodeClassifier().fit(X, y).predict_top(X[[0, 60]], 2)
        array([[0, 1],
               [1, 2]])
        """
        return self._top(X, n, "score")[0]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_top_proba(self, X: Any, n: int = 5) -> tuple[NDArray[Any], Array]:
        """Return the most probable classes, the most probable one first, and their probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        n : int, default=5
            How many classes, at most all.

        Returns
        -------
        labels : ndarray of shape (n_samples, n)
        probabilities : ndarray of shape (n_samples, n)
            As in :meth:`predict_proba`.
        """
        check_is_fitted(self)
        self._check_probabilities()
        return self._top(X, n, "probability")

    def predict_or_reject(
        self, X: Any, rule: str | None = None, threshold: float | None = None
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the predicted labels, and whether each is accepted.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        rule : {"votes", "confidence", "probability"}, optional
            ``"probability"``, the default with a `threshold`, takes the class with the largest
            probability and rejects samples where that is below `threshold`. ``"confidence"``
            rejects samples whose winning score in :meth:`decision_function` (with two classes its
            absolute value) is below `threshold`. ``"votes"``, the default without `threshold`,
            takes the class with the most votes, whatever `decoder` is, and rejects samples where
            several classes share the first place: for one-vs-one ties, for one-vs-rest samples
            that no class or several classes claim. Trees have no votes, nor have single binary
            classifiers whose replicas share one bias: all of them may be on the same side.
        threshold : float, optional
            For ``rule="confidence"`` and ``rule="probability"``, which need it.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The predicted labels, those of rejected samples included: with ``rule="confidence"``
            those of :meth:`predict`, otherwise those that it gives with ``decoder="votes"`` or
            ``decoder="probability"``.
        accepted : ndarray of bool of shape (n_samples,)
            False where the sample is rejected.

        References
        ----------
        Tax and Duin (2002), "Using two-class classifiers for multiclass classification".
        """
        asks = self._asks(X)
        has_votes = len(self._problems.nodes) == 1 and self._readout.rules[0] != "argmax"
        if rule is None:
            rule = "votes" if has_votes and threshold is None else "probability"
        if rule == "votes" and not has_votes:
            raise ValueError(
                "The 'rule' parameter must be one of 'confidence', 'probability' where problems "
                "have no votes: in a tree, and where the replicas of all classes share one bias "
                "and may all be on the same side. Got 'votes'."
            )
        if rule not in _REJECT_RULES:
            raise unknown_name("rule", rule, _REJECT_RULES if has_votes else _REJECT_RULES[1:])
        if isinstance(threshold, Real) is (rule == "votes"):
            raise ValueError(
                "The 'threshold' parameter must be a number, such as 0.8, with rule='confidence' "
                "and rule='probability', and None with rule='votes'. "
                f"Got {threshold!r} with rule={rule!r}."
            )
        if rule == "probability":
            self._check_probabilities()
        parts = [self._readout.reject(ask, rule, threshold) for ask in asks]
        winners, accepted = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return self.classes_[winners], accepted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = getattr(self, "estimator", None)
        if learner is None:  # all defaults take sparse samples
            tags.input_tags.sparse = True
        elif hasattr(learner, "__sklearn_tags__"):
            tags.input_tags = get_tags(learner).input_tags
            tags.non_deterministic = get_tags(learner).non_deterministic
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_trained")

    def _asks(self, X: Any, *, n_best: int | None = None) -> Iterator[Asking]:
        """Check samples, and yield some of them at a time, so that their outputs stay small.

        If only the best classes are looked for, a tree holds little of each sample: many are asked
        together, as every node that is reached costs time for each block.
        """
        X = self._checked(X)
        held = max(self._problems.code.columns.shape)
        if n_best is not None:
            held = min(held, self._readout.most_held + n_best)
        size = max(1, _BLOCK_OUTPUTS // held)
        if X.shape[0] <= size:
            return iter([Asking(self._trained, X)])
        blocks = gen_batches(X.shape[0], size)
        return (Asking(self._trained, _safe_indexing(X, block)) for block in blocks)

    def _top(self, X: Any, n: int, by: str) -> tuple[NDArray[Any], Array]:
        """Return the labels and values of the n best classes of each sample."""
        check_is_fitted(self)
        n, k = check_int("n", n), len(self.classes_)
        if n > k:
            raise ValueError(f"The 'n' parameter must be at most the {k} classes. Got {n}.")
        parts = [self._readout.best(ask, n, by) for ask in self._asks(X, n_best=n)]
        classes, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        return self.classes_[classes], values

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_data(self, X, reset=False, numeric=self._numeric)

    def _check_probabilities(self) -> None:
        """Raise if there are no probabilities, warn if the code does not determine all of them."""
        if self.probability is None:
            raise ValueError("There are no probabilities: set 'probability' and fit again.")
        if self._readout.calibrators is None:
            raise ValueError(f"There are no probabilities. {NO_PROBABILITIES}")
        methods = self._readout.methods or ()
        undetermined = [
            np.isin(node.child, node.code.unidentified)
            for node, method in zip(self._problems.nodes, methods, strict=True)
            if method != "product" and node.code.unidentified
        ]
        if undetermined:
            names = self.classes_[np.any(undetermined, axis=0)][:10].astype(str)
            warnings.warn(
                "The code does not determine the probabilities of the classes "
                f"{', '.join(names)}; of those possible, the most even ones are given.",
                UserWarning,
                stacklevel=3,
            )

    def _choose_readout(
        self,
        problems: Problems,
        trainer: Trainer,
        *,
        in_batches: bool = False,
        decoder: str | None = None,
        **further: Any,
    ) -> Readout:
        """Return the way back from outputs to classes, not calibrated yet."""
        return Readout.of(
            problems,
            trainer,
            decoder=self.decoder if decoder is None else decoder,
            probability=self.probability,
            calibration=self.calibration,
            in_batches=in_batches,
            n_jobs=self.n_jobs,
            **further,
        )

    def _route(
        self, method: str, learners: Mapping[str, Any], params: Params, factor: Array | None
    ) -> dict[str, Learner]:
        """Return the learners with the arguments of a method, weights multiplied by a factor."""
        return {name: Learner(each, weigh(params, factor)) for name, each in learners.items()}

    def _keep(
        self,
        problems: Problems,
        trained: TrainedProblems,
        readout: Readout,
        reservoir: Reservoir | None = None,
    ) -> Self:
        """Set the fitted attributes, now that everything has succeeded."""
        self._problems, self._trained, self._readout = problems, trained, readout
        self._reservoir = reservoir
        self.classes_, self.problems_ = problems.classes, list(problems.names)
        self._set_fitted()
        return self

    def _set_decoder(self, decoder: str) -> bool:
        """Change the decoder, if there is one to choose; return whether it is another one."""
        if getattr(self, "decoder", decoder) == decoder:
            return False
        self.decoder = decoder
        return True

    def _set_fitted(self) -> None:
        """Set further fitted attributes, here those of classifiers with one node."""
        readout = self._readout
        self.code_ = self._problems.code
        self.decoder_, self.output_kind_ = readout.rules[0], readout.forms[0]
        self.probability_ = readout.methods[0] if readout.methods else None
        self.calibration_ = readout.calibrations[0] if readout.calibrations else None
