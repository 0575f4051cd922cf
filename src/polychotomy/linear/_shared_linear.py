"""``SharedLinear``: a linear classifier that trains all problems of a code at once."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.codes import check_int, check_positive
from polychotomy.errors import shown, unknown_name
from polychotomy.linear._batch_moments import BatchMoments, check_batch_classes, one_vs_rest
from polychotomy.linear._column_training import ColumnTraining
from polychotomy.linear._joint_linear import JointLinear
from polychotomy.linear._linear_problems import (
    LinearProblems,
    check_range,
    class_factors,
    find_patterns,
    is_balanced,
    side_factors,
)
from polychotomy.linear._newton import Found
from polychotomy.linear._streamed_linear import StreamedLinear

_MOST_KEPT = 1024
_INTERCEPTS = {"squared": "free", "squared_hinge": "penalised", "logistic": "free"}


def _minimises(loss: str) -> Callable[[Any], bool]:
    return lambda self: bool(self.loss == loss)


def _shares_moments(self: Any) -> bool:
    return bool(self.loss == "squared" and self.class_weight is None)


class SharedLinear(ClassifierMixin, BaseEstimator):
    """Linear classifier that trains all problems of a code at once.

    Each binary problem minimises

        ½ ‖w‖² + C Σ_i weight_i L(t_i (x_i·w + b)),    t_i = ±1.

    As the estimator of a :class:`~polychotomy.CodeClassifier` or
    :class:`~polychotomy.TreeClassifier`, all binary problems, and all folds of their calibration,
    share the work on X, and predictions are one matrix product. On its own it separates two classes
    or, with one problem for each class against the rest, more.

    Parameters
    ----------
    loss : {"squared", "squared_hinge", "logistic"}, default="squared"
        L(z): (1 − z)², as in ``RidgeClassifier(alpha=1 / (2 * C))``; max(0, 1 − z)², as in
        ``LinearSVC``; or log(1 + exp(−z)), as in ``LogisticRegression``, whose probabilities need
        no calibration.
    C : float, default=1.0
        Inverse of the regularisation strength, as in scikit-learn.
    fit_intercept : bool, default=True
        Whether to fit an intercept b. With the squared hinge loss it is penalised like a weight, as
        in ``LinearSVC``; with the other losses it is not.
    class_weight : dict, "balanced" or None, default=None
        Factors of C, as in scikit-learn. In :meth:`fit_joint` the classes are 0 and 1, for the −1
        and the +1 side, and ``"balanced"`` balances each problem.
    tol : float, default=1e-4
        Training stops when the objective exceeds its minimum by at most about this fraction. The
        squared loss is solved exactly, except with conjugate gradients.
    max_iter : int, default=1000
        Maximum number of Newton steps of each problem, or of passes over the samples. A
        ConvergenceWarning is raised if they do not suffice.
    n_jobs : int, optional
        Number of threads, one for each block of problems. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights of each problem: one if there are two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Number of Newton steps, or of passes over the samples.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the training data had names.

    See Also
    --------
    polychotomy.SharedKernelSVC : The same for kernel SVMs.

    Notes
    -----
    *Squared loss*: one factorisation for all problems over the same samples, of features, or of
    samples if these are fewer. Its cost depends little on the number of classes: sums over classes
    take the place of targets. Where both sides of sparse data exceed 2048, or 8192 of dense data,
    conjugate gradients. *Squared hinge loss*: Newton's method on all problems of a block at once,
    and on sparse data dual coordinate descent (compiled) with a problem for each thread, up to 200
    passes. Only then Newton's method takes its place.
    *Logistic loss*: Newton's method. A problem that has samples on one side only gets the free
    intercept ±log(1 + n).

    Numbers in single precision stay so, except in the factorisations of the squared loss.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi and Sundararajan (2008), "A dual coordinate descent method for
    large-scale linear SVM"; Chan, Golub and LeVeque (1979), "Updating formulae and a pairwise
    algorithm for computing sample variances".

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from polychotomy import CodeClassifier, SharedLinear
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = CodeClassifier(SharedLinear("logistic", C=0.01), "one_vs_rest").fit(X, y)
    >>> classifier.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        loss: str = "squared",
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on two or more classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C.

        Returns
        -------
        self
        """
        training = self._check_parameters()
        X, y = self._check_samples(X, y)
        try:
            check_classification_targets(y)
            classes, indices = np.unique(y, return_inverse=True)
        except TypeError as error:
            raise ValueError(f"All labels in y must be of one kind: {error}.") from error
        if len(classes) < 2:
            raise ValueError(
                f"Classification needs two classes. Got one class, {shown(classes[0])}."
            )
        weight = self._check_weight(X, sample_weight)
        weight *= class_factors(self.class_weight, classes, y)[indices]
        self._check_range(X, weight)
        if self.loss == "squared" and X.shape[1] <= _MOST_KEPT:
            return self._set_moments(classes, X, self._sums(X, indices, weight, len(classes)))
        problems = self._problems(X, one_vs_rest(len(classes)), indices, weight, None)
        model = JointLinear.of(self, X.dtype, training.solve(problems, _ignore))
        self.__dict__.pop("_moments", None)
        return self._set_fitted(classes, model)

    @available_if(_minimises("squared"))  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train further on a batch of samples; only with ``loss="squared"``.

        The result is that of ``fit`` on all batches together. Kept are sums over the samples of
        each class and a matrix of n_features × n_features. ``fit`` keeps them up to 1024 features,
        and can then be followed by ``partial_fit``; ``fit_joint`` does not.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The batch.
        y : array-like of shape (n_samples,)
            Its labels.
        classes : array-like of shape (n_classes,), optional
            All labels that will ever occur; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C.

        Returns
        -------
        self
        """
        self._check_parameters()
        before = getattr(self, "_moments", None)
        if before is None and hasattr(self, "classes_"):
            raise ValueError(
                f"partial_fit goes on from partial_fit, or from fit on up to {_MOST_KEPT} "
                "features: nothing else keeps sums over its samples. Train a new SharedLinear by "
                "partial_fit alone."
            )
        X, y = self._check_samples(X, y, reset=before is None)
        check_classification_targets(y)
        labels = check_batch_classes(classes, getattr(self, "classes_", None))
        if not np.isin(y, labels).all():
            raise ValueError("The labels of a batch must be among the 'classes' of the first call.")
        if is_balanced(self.class_weight):
            raise ValueError(
                "class_weight='balanced' needs all samples: give a dictionary to partial_fit."
            )
        weight = self._check_weight(X, sample_weight)
        indices, centred = np.searchsorted(labels, y), bool(self.fit_intercept)
        weight *= class_factors(self.class_weight, labels, labels)[indices]
        self._check_range(X, weight)
        moments = self._sums(X, indices, weight, len(labels))
        moments = moments if before is None else before.plus(moments, centred=centred)
        return self._set_moments(labels, X, moments)

    def fit_joint(
        self,
        X: Any,
        targets: ArrayLike,
        *,
        sample_weight: Any = None,
        done: Callable[[int], None] | None = None,
    ) -> JointLinear:
        """Train many problems at once.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        targets : array-like of shape (n_samples, n_problems)
            −1, 0 and +1: the side of each sample in each problem; with 0 it takes no part.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C.
        done : callable, optional
            Called with the number of each problem that is solved.

        Returns
        -------
        model : JointLinear
            With ``outputs(X)`` of shape (n_samples, n_problems).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from polychotomy import SharedLinear, make_code
        >>> X, y = load_iris(return_X_y=True)
        >>> model = SharedLinear().fit_joint(X, make_code("one_vs_one", 3).matrix[y])
        >>> model.outputs(X).shape
        (150, 3)
        """
        training = self._check_parameters()
        X = self._check_samples(X)
        weight = self._check_weight(X, sample_weight)
        self._check_range(X, weight)
        patterns, pattern = find_patterns(targets, X.shape[0])
        given = None
        if self.class_weight is not None and not is_balanced(self.class_weight):
            two = np.array([0, 1])
            given = class_factors(self.class_weight, two, two)
        factors = side_factors(self.class_weight, patterns, pattern, given)
        problems = self._problems(X, patterns, pattern, weight, factors)
        return JointLinear.of(self, X.dtype, training.solve(problems, done or _ignore))

    def sums_classes(self, X: Any) -> bool:
        """Whether ``fit_one_vs_rest`` is the better way to train one-vs-rest on these samples."""
        return _shares_moments(self) and X.shape[1] <= min(_MOST_KEPT, X.shape[0])

    def fit_one_vs_rest(
        self, X: Any, y: Indices, n_classes: int, *, sample_weight: Any = None
    ) -> JointLinear:
        """Train each class against all others without their targets, by the squared loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            Class indices.
        n_classes : int
            Three or more.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C.
        """
        self._check_parameters()
        X = self._check_samples(X)
        weight = self._check_weight(X, sample_weight)
        self._check_range(X, weight)
        return self._of_moments(X, self._sums(X, y, weight, n_classes))

    @available_if(_shares_moments)  # type: ignore[untyped-decorator]
    def update_joint(
        self,
        model: StreamedLinear | None,
        X: Any,
        y: Indices,
        columns: Matrix,
        *,
        sample_weight: Any = None,
    ) -> StreamedLinear:
        """Return all problems of a code after a batch; only with ``loss="squared"``.

        Kept are sums over classes, and a matrix of n_features × n_features for each set of classes
        that takes part in the same problems: one for a strict code, n_classes for one-vs-one.

        Parameters
        ----------
        model : StreamedLinear or None
            What the last call returned; None before the first.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            Class indices, the rows of `columns`.
        columns : ndarray of shape (n_classes, n_problems)
            The problems, over {−1, 0, +1}.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C.
        """
        self._check_parameters()
        learner = self if model is None else model.learner
        X = learner._check_samples(X, reset=model is None)
        weight = self._check_weight(X, sample_weight)
        self._check_range(X, weight)
        before = StreamedLinear(self, columns, X.dtype.name, None) if model is None else model
        return before.plus(X, y, weight)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the margins of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of ``classes_[1]`` if there are two classes, otherwise of each class.
        """
        check_is_fitted(self)
        X = self._check_samples(X, reset=False)
        margins = np.asarray(X @ self.coef_.T) + self.intercept_
        return margins[:, 0] if len(self.classes_) == 2 else margins

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        margins = self.decision_function(X)
        best = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    @available_if(_minimises("logistic"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class; only with ``loss="logistic"``.

        With more than two classes these are the probabilities of each class against the rest,
        divided by their sum. :class:`~polychotomy.CodeClassifier` has better ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        plus = expit(self.decision_function(X).astype(float))
        if plus.ndim == 1:
            return np.column_stack([1 - plus, plus])
        total = plus.sum(axis=1, keepdims=True)
        plus[total[:, 0] == 0] = 1.0
        return np.asarray(plus / plus.sum(axis=1, keepdims=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_samples(self, X: Any, *labels: Any, reset: bool = True) -> Any:
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        return validate_data(self, X, *labels, reset=reset, **options)

    def _check_weight(self, X: Any, sample_weight: Any) -> Array:
        """Return the weights of samples in double precision, a new array."""
        weight = _check_sample_weight(sample_weight, X, dtype=float, ensure_non_negative=True)
        return np.array(weight, dtype=float)

    def _check_range(self, X: Any, weight: Array) -> None:
        """Raise ValueError if sums over the squares of features would be beyond floats."""
        dtype = np.float64 if self.loss == "squared" else X.dtype
        check_range(X, float(self.C) * float(weight.sum()), float(np.finfo(dtype).max))

    def _check_parameters(self) -> ColumnTraining:
        if not isinstance(self.loss, str) or self.loss not in _INTERCEPTS:
            raise unknown_name("loss", self.loss, _INTERCEPTS)
        for name in ("C", "tol"):
            check_positive(name, getattr(self, name))
        check_int("max_iter", self.max_iter, least=1)
        return ColumnTraining(self.loss, float(self.tol), int(self.max_iter), self.n_jobs)

    def _problems(
        self, X: Any, patterns: Matrix, pattern: Any, weight: Array, factors: Array | None
    ) -> LinearProblems:
        intercept = _INTERCEPTS[self.loss] if self.fit_intercept else "none"
        return LinearProblems(X, patterns, pattern, float(self.C) * weight, factors, intercept)

    def _set_moments(self, classes: NDArray[Any], X: Any, moments: BatchMoments) -> Self:
        """Become the least-squares classifier of samples that are known by their moments."""
        self._moments = moments
        return self._set_fitted(classes, self._of_moments(X, moments))

    def _sums(self, X: Any, y: Indices, weight: Array, n_classes: int) -> BatchMoments:
        one = np.zeros(n_classes, dtype=np.intp)
        return BatchMoments.of(X, y, weight, one, centred=bool(self.fit_intercept))

    def _of_moments(self, X: Any, moments: BatchMoments) -> JointLinear:
        """Return each class against all others, or the second of two against the first."""
        W, b = moments.against_rest(float(self.C), centred=bool(self.fit_intercept))
        steps = np.ones(len(b), np.int64)
        return JointLinear.of(self, X.dtype, Found(W, b, steps, steps > 0))

    def _set_fitted(self, classes: NDArray[Any], model: JointLinear) -> Self:
        """Become the trained classifier of a model with a problem, or with one per class."""
        self.classes_ = classes
        self.coef_ = model.weights_.T
        self.intercept_ = model.intercept_
        self.n_iter_ = model.n_iter_
        return self


def _ignore(s: int) -> None:
    pass
