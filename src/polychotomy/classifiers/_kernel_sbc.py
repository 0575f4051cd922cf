"""``KernelSBCClassifier``: one binary classifier for all classes, with a learned kernel."""

import sys
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from polychotomy.classifiers._checks import check_labels, unless_fit_fails
from polychotomy.classifiers._coupled_probabilities import calibrate, plan_probabilities
from polychotomy.classifiers._coupled_problem import (
    CoupledProblem,
    check_tolerance,
    resolve_extensions,
    resolve_radius,
    resolve_weights,
    warn_of_likeness,
)
from polychotomy.classifiers._probabilities import ProbabilityModel
from polychotomy.classifiers._reading import Array, ReadingClassifier, RejectingMixin
from polychotomy.classifiers._risk_bound import check_bound_parameters, multiclass_risk_bound
from polychotomy.codes import one_vs_rest
from polychotomy.decoding import accepted_by_confidence, accepted_by_votes
from polychotomy.kernel import JointSVC, SharedKernelSVC, rows_kept
from polychotomy.kernel._functions import resolve_gamma
from polychotomy.kernel._learned_coupling import (
    LearnedCoupling,
    couple,
    extension_couplings,
    learn_coupling,
)
from polychotomy.learners import problem_words


class KernelSBCClassifier(RejectingMixin, ReadingClassifier):
    """Multi-class classification by a single binary SVM with a learned kernel (SBC-KERNEL).

    Every sample x is replicated, once for each class r; its replica for its own class is labelled
    +1 and the others −1. One SVM is trained on all replicas, with the kernel

        k((x, r), (x', s)) = exp(−γ‖x − x'‖²) M_rs,   M = Σ_j μ_j M_j,
        (M_j)_rs = exp(−γ‖E_r − E_s‖²) for the j-th extension matrix E,

    where the weights μ ≥ 0, Σ μ ≤ R, are learned with the SVM: those with which its objective is
    least. The prediction is the class whose replica has the largest output. Replicas are never
    made: M couples the problems of a :class:`~polychotomy.SharedKernelSVC`.

    Parameters
    ----------
    C : float, default=1.0
        Upper bound of the coefficients, as in scikit-learn. The paper's C is the number of samples
        times this one.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of the kernel, both of the features and of the extensions, as in scikit-learn.
    radius : "sqrt" or float, default="sqrt"
        R, the sum of the weights; ``"sqrt"`` is the square root of the number of samples (of the
        sum of their weights), as in the paper. R scales the kernel and so acts on C as well: what
        changes is R · C.
    weights : {"learned", "class_frequencies"} or array-like of shape (n_bases,), default="learned"
        ``"class_frequencies"`` takes μ proportional to the number of samples of each class, which
        the paper found correlated with the learned ones, and needs one solve only. An array gives
        weights in any scale: their sum becomes R.
    extensions : sequence of array-like of shape (n_classes, n_appended), optional
        The extension matrices. By default there is one for each class, with a single appended
        feature that is 1 for this class and 0 for all others (the paper, section 5).
    optimizer : {"multiplicative", "paper"}, default="multiplicative"
        How weights are learned: see the notes.
    tol : float, default=1e-3
        The relative change of the weights at which to stop learning them.
    svm_tol : float, default=1e-3
        The largest violation of the SVM's optimality conditions, as in scikit-learn.
    max_iter : int, default=100
        Most solves of the SVM. A ConvergenceWarning tells when they were too few.
    probability : str or None, default="auto"
        How class probabilities are solved for, as in :class:`~polychotomy.CodeClassifier` for
        one-vs-rest. None: there are no probabilities, and nothing is spent on calibration.
    calibration : str, default="auto"
        How outputs become binary probabilities, as in :class:`~polychotomy.CodeClassifier`;
        ``"auto"`` is ``"sigmoid"``.
    shared_calibration : bool, default=True
        Whether one calibration is fitted to the outputs of all replicas, which come from one
        classifier, or one to those of each class. A shared one keeps the classes' order: the most
        probable class is the predicted one.
    cv : int, cross-validation generator, iterable or None, default=5
        The folds on whose held-out outputs the calibration is fitted. The SVM is solved once more
        for each, beginning with the coefficients of all samples and with their weights μ, which are
        not learned again. None fits the calibration on the outputs of the training samples.
    cache_size : float, default=1024
        Room for kernel rows, in MiB.
    dtype : {"auto", "float32", "float64"}, default="auto"
        The precision of kernel values; ``"auto"`` is single precision up to R · C = 1000.
    n_jobs : int, optional
        Number of threads. It changes no result.
    verbose : int, default=0
        Write a line for each solve on the standard error stream if positive.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    code_, problems_
        What the replicas ask, one-vs-rest: as a Code, and each in words.
    weights_ : ndarray of shape (n_bases,)
        μ.
    coupling_ : ndarray of shape (n_classes, n_classes)
        M.
    radius_, gamma_ : float
        R and γ.
    objectives_ : ndarray of shape (n_iter_,)
        The SVM's objective after each change of the weights, the equal ones of the start included,
        in the paper's scale (2 Σ α − …). With the default optimiser it always falls.
    n_iter_ : int
        How many there are.
    n_solves_ : int
        SVMs that were solved to learn the weights, those that were no better included.
    optimality_gap_ : float
        By how much the last objective can at most exceed the least one that any weights reach, as a
        fraction of itself. It is certified by duality and includes the SVM's own gap, so also with
        fixed weights.
    support_ : ndarray of shape (n_support,)
        Indices of the training samples of which any replica is a support vector.
    intercept_ : float
        The bias, one for all replicas: it changes no prediction.
    probability_, calibration_ : str or None
        What is in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the training data had names.

    See Also
    --------
    polychotomy.SharedKernelSVC : The SVM.
    polychotomy.active.query : Which samples to label next.

    Notes
    -----
    Learning the weights is a convex problem. The default, ``optimizer="multiplicative"``, repeats
    μ_j ← μ_j d_j^¾, scaled to Σ μ = R, with minus the objective's derivative d, and extrapolates
    from the last two points. Where that does not lower the objective, the exponent is ½, with which
    it cannot rise. It stops when the weights would change by no more than `tol` and no d_j is
    larger than the mean by more than 10 `tol`. Each solve begins with the last coefficients.

    ``optimizer="paper"`` is the gradient step of length 1 of section 3.1. It can jump between
    extremes for ever, and stands still where d is proportional to μ, which is not where the
    objective is least: ``optimality_gap_`` tells how far from it.

    Two classes whose default bases both have no weight are one to the classifier: its outputs for
    them are equal. Where C is small the least objective may be there. A UserWarning tells; a larger
    C, or ``weights="class_frequencies"``, tells the classes apart.

    With two classes all default bases are the same, and the classifier is the binary SVM without
    bias, with the kernel R (1 − exp(−γ)) exp(−γ‖x − x'‖²).

    References
    ----------
    El-Yaniv, Pechyony and Yom-Tov, "Superior multi-class classification through a margin-optimized
    single binary problem".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import KernelSBCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = KernelSBCClassifier(C=10).fit(X, y)
    >>> classifier.score(X, y) > 0.95
    True
    >>> classifier.weights_.sum() <= classifier.radius_ * (1 + 1e-12)
    np.True_
    """

    _model: JointSVC

    def __init__(
        self,
        C: float = 1.0,
        gamma: Any = "scale",
        radius: Any = "sqrt",
        weights: Any = "learned",
        *,
        extensions: Any = None,
        optimizer: str = "multiplicative",
        tol: float = 1e-3,
        svm_tol: float = 1e-3,
        max_iter: int = 100,
        probability: str | None = "auto",
        calibration: str = "auto",
        shared_calibration: bool = True,
        cv: Any = 5,
        cache_size: float = 1024,
        dtype: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.radius = radius
        self.weights = weights
        self.extensions = extensions
        self.optimizer = optimizer
        self.tol = tol
        self.svm_tol = svm_tol
        self.max_iter = max_iter
        self.probability = probability
        self.calibration = calibration
        self.shared_calibration = shared_calibration
        self.cv = cv
        self.cache_size = cache_size
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weights and train the SVM.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C, not negative; they also count in class frequencies, and in the number of
            samples from which the radius follows.

        Returns
        -------
        self
        """
        with unless_fit_fails(self):
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=float)
            classes, indices = check_labels(y)
            weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            gamma, radius = resolve_gamma(self.gamma, X), resolve_radius(self.radius, weight)
            problem = CoupledProblem(self._learner(gamma), X, indices, len(classes), weight)
            bases = extension_couplings(resolve_extensions(self.extensions, classes), gamma)
            fixed = resolve_weights(self.weights, len(bases), indices, len(classes), weight, radius)
            plan = plan_probabilities(self, problem, classes)
            with rows_kept(X, indices):
                learned = self._learn(problem, bases, radius, fixed)
                warn_of_likeness(learned.best.coupling, classes)
                probabilities = calibrate(plan, problem, classes, learned.best) if plan else None
            self.calibration_ = plan.calibrations[0] if plan else None
            return self._set_fitted(problem, classes, radius, learned, probabilities)

    def binary_outputs(self, X: Any) -> Array:
        """Return what the binary classifier says of each replica.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        outputs : ndarray of shape (n_samples, n_classes)
            Positive where the sample seems to belong to the class.
        """
        X = self._checked(X)
        return self._model.outputs(X)

    def decision_function(self, X: Any) -> Array:
        """Return the score of each class, larger being better.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) with two classes
            The outputs of the replicas; with two classes, half the difference of both: positive for
            ``classes_[1]``.
        """
        outputs = self.binary_outputs(X)
        return outputs if outputs.shape[1] > 2 else (outputs[:, 1] - outputs[:, 0]) / 2

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class whose replica has the largest output; of equal ones the first.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        winners = self.binary_outputs(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winners]
        return labels

    def risk_bound(self, margin: float, delta: float = 0.05, *, corrected: bool = False) -> float:
        """Return the bound (26) on the probability of a wrong prediction.

        With m samples, c classes, t = mc replicas, n extensions, Σ μ ≤ R, margin γ and ε the
        fraction of training replicas whose output on their own side is at most γ, it is

            c ε + c √(8 (2 + n log(128 e t³ R / (γ² n)) + (256 R / γ) log(γ e t / (8 √R))
                         log(128 t R / γ²) − log δ) / t).

        The factor c comes from inequality (23), by which a wrong prediction takes a wrong replica;
        the first logarithm pays for the choice of μ, the product of the others for that of the SVM.

        Parameters
        ----------
        margin : float
            γ, on the scale of :meth:`binary_outputs`; if `corrected`, of these divided by the norm
            of the classifier.
        delta : float, default=0.05
            δ: the bound holds with probability 1 − δ over the draw of the training samples, for a γ
            and R chosen before.
        corrected : bool, default=False
            Whether to read the theorem as Srebro and Ben-David prove it, see the notes.

        Returns
        -------
        bound : float
            Above 1 it says nothing, and so it is for any number of samples that one can train on.
            Infinite where the argument of a logarithm is below 1: there are too few samples for
            the margin, or the margin is larger than any.

        Notes
        -----
        The theorem is about classifiers without bias. Ours is one for all replicas and changes no
        prediction, so the bound is for the outputs without it, and nothing need be assumed of it
        (the paper's footnote 4). That the bases have k_j(x, x) ≤ 1 holds for this kernel.

        As printed, (26) seems to differ from the theorem it builds on in two ways: that has R/γ²
        in place of R/γ, and its γ is the margin of a classifier of norm 1. `corrected` takes both
        into account; without it, the value is that of the printed formula.

        References
        ----------
        El-Yaniv, Pechyony and Yom-Tov, section 4; Srebro and Ben-David (2006), "Learning bounds for
        support vector machines with learned kernels".
        """
        check_is_fitted(self)
        gamma, delta = check_bound_parameters(margin, delta)
        scale = self._norm if corrected else 1.0
        t = len(self._margins)
        return multiclass_risk_bound(
            float(np.searchsorted(self._margins, gamma * scale, side="right")) / t,
            n_samples=t // len(self.classes_),
            n_classes=len(self.classes_),
            n_bases=len(self.weights_),
            radius=self.radius_,
            margin=gamma,
            delta=delta,
            corrected=corrected,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=float, reset=False)

    def _check_probabilities(self) -> None:
        if self._probabilities is None:
            raise ValueError("There are no probabilities: fit again, with 'probability' not None.")

    def _class_probabilities(self, X: Any) -> Array:
        assert self._probabilities is not None
        binary = self._probabilities.binary(self._model.outputs(X))
        return self._probabilities.of_classes(binary, self.n_jobs)

    def _decide(
        self, X: Any, threshold: float | None
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        outputs = self._model.outputs(X)
        winners = outputs.argmax(axis=1)
        if threshold is None:  # the class that alone is claimed has the largest output
            return winners, accepted_by_votes(outputs, self.code_)
        if outputs.shape[1] == 2:
            outputs = outputs - outputs.mean(axis=1, keepdims=True)
        return winners, accepted_by_confidence(outputs, threshold)

    def _learner(self, gamma: float) -> SharedKernelSVC:
        return SharedKernelSVC(
            self.C,
            gamma=gamma,
            tol=check_tolerance(self.svm_tol),
            cache_size=self.cache_size,
            dtype=self.dtype,
            n_jobs=self.n_jobs,
        )

    def _learn(
        self, problem: CoupledProblem, bases: Array, radius: float, fixed: Array | None
    ) -> LearnedCoupling:
        """Return the learned or the given weights, with the problem solved by them."""
        if fixed is not None:
            best = couple(problem.solve, bases, fixed)
            self._tell(1, best.objective)
            return LearnedCoupling(best, np.array([best.objective]), 1)
        return learn_coupling(
            problem.solve,
            bases,
            radius,
            optimizer=self.optimizer,
            tol=self.tol,
            max_iter=self.max_iter,
            done=self._tell,
        )

    def _tell(self, n_solves: int, objective: float) -> None:
        if self.verbose:
            sys.stderr.write(f"solve {n_solves}: objective {objective:.6g}\n")

    def _set_fitted(
        self,
        problem: CoupledProblem,
        classes: NDArray[Any],
        radius: float,
        learned: LearnedCoupling,
        probabilities: ProbabilityModel | None,
    ) -> Self:
        best = learned.best
        self._model, self._probabilities = best.model, probabilities
        self.classes_, self.code_ = classes, one_vs_rest(len(classes))
        self.problems_ = [problem_words(column, classes) for column in self.code_.matrix.T]
        self.weights_, self.coupling_ = best.weights, best.coupling
        self.radius_, self.gamma_ = radius, float(problem.learner.gamma)
        self.objectives_, self.n_iter_ = learned.objectives, len(learned.objectives)
        self.n_solves_ = learned.n_solves
        self.optimality_gap_ = best.optimality_gap(radius)
        self.support_, self.intercept_ = best.model.support_, float(best.model.intercept_[0])
        self.probability_ = probabilities and probabilities.methods[0]
        outputs = best.model.outputs(problem.X) - self.intercept_
        self._margins = np.sort((outputs * problem.targets).ravel())
        self._norm = float(np.sqrt(best.squared_norm))
        return self
