"""``SharedKernelSVC``: a binary kernel SVM that can train many problems on one kernel."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from polychotomy.arrays import Array, Folds
from polychotomy.codes import are_sides, check_positive
from polychotomy.errors import shown, unknown_name
from polychotomy.kernel._concatenated import CONCATENATED, FACTORISING, ConcatenatedLearner
from polychotomy.kernel._coupled import check_coupling
from polychotomy.kernel._device import Device, to_host
from polychotomy.kernel._functions import Kernel, check_kernel, resolve_gamma
from polychotomy.kernel._held_out import held_out_outputs
from polychotomy.kernel._joint_problem import JointProblem, Solver, solve
from polychotomy.kernel._joint_svc import JointSVC
from polychotomy.kernel._kernel_samples import check_samples, device_for, outputs_of
from polychotomy.kernel._model import KernelModel
from polychotomy.kernel._threads import count_threads
from polychotomy.kernel._uncoupled import Solution

_LARGEST_SINGLE_C = 1000.0


class SharedKernelSVC(ClassifierMixin, BaseEstimator):
    """Binary support vector machine that trains all problems of a code on one shared kernel.

    On its own it is a binary classifier like scikit-learn's ``SVC``. As the estimator of a
    :class:`~polychotomy.CodeClassifier` or :class:`~polychotomy.TreeClassifier`, all binary
    problems, and all folds of their calibration, share their kernel rows, and predictions are one
    matrix product over the union of the support vectors.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter, as in scikit-learn: the upper bound of the coefficients.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel, as in scikit-learn.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of the kernels rbf, poly and sigmoid. ``"scale"`` uses all training samples, also when
        problems have only some of them.
    degree : float, default=3
        Degree of the kernel poly.
    coef0 : float, default=0.0
        Constant of the kernels poly and sigmoid.
    tol : float, default=1e-3
        Training stops when the largest violation of the optimality conditions is at most this.
    cache_size : float or "auto", default="auto"
        Size of the cache of kernel rows, in MiB, at least 512 rows (1024 on a GPU). Rows that do
        not fit are computed again when needed. ``"auto"`` is 1024 MiB or, on a GPU, most of its
        free memory.
    class_weight : dict, "balanced" or None, default=None
        Factors of C, as in scikit-learn. In :meth:`fit_joint` the classes are 0 and 1, for the −1
        and the +1 side, and ``"balanced"`` balances each problem.
    max_iter : int, default=-1
        Maximum number of steps of each problem; −1 for no limit. A ConvergenceWarning is raised if
        they do not suffice.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of kernel values. Single precision has an error of about 1e-7 in each value, and
        up to Σ|α| times that in outputs. ``"auto"`` uses it up to C = 1000, and double precision
        above, where it matters for nearly singular kernels; the largest value of a coupling counts
        as a factor of C.
    n_jobs : int, optional
        Number of threads, one for each problem at a time. Results do not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where to train and predict. ``"cuda"`` is an NVIDIA GPU (extra ``gpu``); ``"auto"`` uses it
        if there is one and the problem is large enough to benefit. Coefficients agree with those of
        the CPU within `tol`. A model trained on a GPU predicts anywhere. CuPy arrays and CUDA
        tensors of torch stay on the GPU, and so do their outputs; sparse samples are converted to
        dense ones there. Kernels that are functions run on the CPU only.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors.
    support_vectors_ : array of shape (n_support, n_features)
        The support vectors; empty with a precomputed kernel.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (1, n_support)
        y α of the support vectors.
    intercept_ : ndarray of shape (1,)
        The bias.
    n_iter_ : ndarray of shape (1,)
        Number of steps.
    dual_objective_, duality_gap_ : float
        Σ α − ½ Σ y α K y α, and by how much the primal objective exceeds it.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the training data had names.

    Notes
    -----
    The papers on a single binary classifier write 0 ≤ α ≤ C/m, with m samples, and an objective
    twice this one, which has the same solution: their C is m times this one.

    References
    ----------
    Chang and Lin (2011), "LIBSVM: a library for support vector machines"; Fan, Chen and Lin (2005),
    "Working set selection using second order information for training SVM".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import CodeClassifier, SharedKernelSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = CodeClassifier(SharedKernelSVC(C=10), code="bch").fit(X, y)
    >>> classifier.score(X, y) > 0.95
    True
    """

    starts_folds: ClassVar[bool] = True

    def __init__(
        self,
        C: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        *,
        tol: float = 1e-3,
        cache_size: float | str = "auto",
        class_weight: Any = None,
        max_iter: int = -1,
        dtype: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or with ``kernel="precomputed"`` the kernel of the training samples.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C.

        Returns
        -------
        self
        """
        self._check_numbers()
        X, y = check_samples(self, X, y)
        check_classification_targets(y)
        classes, sides = np.unique(y, return_inverse=True)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}. For {len(classes)} classes give this classifier to a "
                "polychotomy.CodeClassifier or TreeClassifier."
            )
        if len(classes) < 2:
            raise ValueError(
                f"Classification needs two classes. Got one class, {shown(classes[0])}."
            )
        factors = compute_class_weight(self.class_weight, classes=classes, y=y)
        weight = _check_sample_weight(sample_weight, X) * factors[sides]
        targets = (2 * sides - 1).astype(np.int8)[:, np.newaxis]
        problem = JointProblem(targets, self.C * weight[:, np.newaxis], None, False)
        model, solution = self._solve(X, problem)
        self.classes_ = classes
        return self._set_fitted(model, sides > 0, solution, 0)

    def fit_joint(
        self,
        X: Any,
        targets: ArrayLike,
        *,
        coupling: ArrayLike | None = None,
        sample_weight: Any = None,
        common_bias: bool | None = None,
        start: csc_array | None = None,
        within: ArrayLike | None = None,
        done: Callable[[int], None] | None = None,
    ) -> JointSVC:
        """Train many problems at once.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        targets : array-like of shape (n_samples, n_problems)
            −1, 0 and +1: the side of each sample in each problem; with 0 it takes no part.
        coupling : array-like of shape (n_problems, n_problems), optional
            A symmetric, positive semi-definite kernel between problems; by default they are not
            coupled.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C.
        common_bias : bool, optional
            Whether all problems have one bias; by default they do if they are coupled.
        start : sparse array of shape (n_samples, n_problems), optional
            Coefficients to begin with, such as ``coefficients_`` of a problem that differs little.
            They must fit the bounds and the targets.
        within : array-like of shape (n_problems,), optional
            For each problem the number of one with the same sides of more samples, −1 for none:
            folds are within the problem of all samples. On the CPU they begin with its solution,
            and ``model.left_out`` has their outputs on the samples that they leave out.
        done : callable, optional
            Called with the number of each problem that is solved.

        Returns
        -------
        model : JointSVC
            With ``outputs(X)`` of shape (n_samples, n_problems).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from polychotomy import SharedKernelSVC, make_code
        >>> X, y = load_iris(return_X_y=True)
        >>> model = SharedKernelSVC().fit_joint(X, make_code("one_vs_one", 3).matrix[y])
        >>> model.outputs(X).shape
        (150, 3)
        """
        self._check_numbers()
        X = check_samples(self, X)
        sides = np.asarray(targets)
        if sides.ndim != 2 or len(sides) != X.shape[0] or not are_sides(sides):
            raise ValueError(
                f"The 'targets' parameter must hold −1, 0 and +1 in shape ({X.shape[0]}, "
                f"n_problems). Got shape {sides.shape}."
            )
        sides = sides.astype(np.int8)
        M = None if coupling is None else check_coupling(coupling, sides.shape[1])
        weight = _check_sample_weight(sample_weight, X)[:, np.newaxis] * self._side_weights(sides)
        if common_bias is None:
            common_bias = M is not None
        problems = JointProblem(
            sides,
            self.C * weight,
            M,
            common_bias,
            None if within is None else np.asarray(within, dtype=np.int64),
        )
        model, solution = self._solve(X, problems, done, start)
        return JointSVC(self, model, solution, sides)

    def held_out(self, X: Any, targets: NDArray[np.int8], folds: Folds) -> Array | None:
        """Return the outputs for each sample of problems that were trained without its fold.

        The problems of all folds are columns of one solve on a GPU. Within
        :func:`~polychotomy.kernel.shared_kernel`, other values of C begin with its solution.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        targets : ndarray of shape (n_samples, n_problems)
            −1, 0 and +1.
        folds : sequence of (ndarray, ndarray)
            The samples to train on and those that are held out, for each fold.

        Returns
        -------
        outputs : ndarray of shape (n_samples, n_problems) or None
            None on the CPU, where folds gain nothing by it, with class weights, and if γ would
            depend on the samples of a fold.
        """
        if isinstance(self.gamma, str) or self.class_weight is not None:
            return None
        if callable(self.kernel) or self.kernel == "precomputed":
            return None
        device = device_for(self, X, len(X) * targets.shape[1] * len(folds))
        if device is None:
            return None
        kernel = self._check_parameters(X)
        return held_out_outputs(kernel, X, targets, self.C, folds, self._solver(device, None))

    @property
    def appends_features(self) -> bool:
        """Whether features can be appended to the samples without replicating these."""
        if not isinstance(self.kernel, str):
            return False
        linear = self.kernel == "poly" and self.degree == 1
        return self.kernel in FACTORISING + CONCATENATED and not linear

    def concatenated(self, appended: Array) -> ConcatenatedLearner | None:
        """Return a learner for the samples with each row of a matrix appended.

        Parameters
        ----------
        appended : ndarray of shape (n_problems, n_appended)

        Returns
        -------
        learner : ConcatenatedLearner or None
            None for kernels that need the replicated samples.
        """
        return ConcatenatedLearner(self, appended) if self.appends_features else None

    def decision_function(self, X: Any) -> Array:
        """Return the output for each sample: positive for ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        outputs : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return outputs_of(self, self._model, X)[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        labels: NDArray[Any] = self.classes_[(to_host(self.decision_function(X)) > 0).astype(int)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _solve(
        self,
        X: Any,
        problems: JointProblem,
        done: Callable[[int], None] | None = None,
        start: csc_array | None = None,
    ) -> tuple[KernelModel, Solution]:
        coupling = problems.coupling
        kernel = self._check_parameters(X, 1.0 if coupling is None else float(coupling.max()))
        solver = self._solver(device_for(self, X, problems.targets.size), done)
        found = solve(kernel, X, problems, solver, start)
        weights = found.coefficients
        if coupling is not None:
            weights = csc_array(weights @ coupling)
        return KernelModel.of(kernel, X, weights, found.bias), found

    def _solver(self, device: Device | None, done: Callable[[int], None] | None) -> Solver:
        return Solver(
            self.tol,
            self.max_iter,
            count_threads(self.n_jobs),
            done or _ignore,
            device,
            None if isinstance(self.cache_size, str) else self.cache_size,
        )

    def _check_numbers(self) -> None:
        checked: dict[str, Any] = {"C": self.C, "tol": self.tol}
        if self.cache_size != "auto":
            checked["cache_size"] = self.cache_size
        for name, value in checked.items():
            check_positive(name, value)

    def _check_parameters(self, X: Any, scale: float = 1.0) -> Kernel:
        """Return the kernel, or raise ValueError; `scale` is what its values are multiplied by."""
        check_kernel(self.kernel)
        self._check_numbers()
        if self.dtype not in ("auto", "float32", "float64"):
            raise unknown_name("dtype", self.dtype, ["auto", "float32", "float64"])
        precomputed = self.kernel == "precomputed"
        if precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                "A precomputed kernel must be a square matrix, n_samples × n_samples. "
                f"Got shape {X.shape}."
            )
        gamma = 1.0 if precomputed else resolve_gamma(self.gamma, X)
        dtype = self.dtype
        if dtype == "auto":
            dtype = "float32" if self.C * scale <= _LARGEST_SINGLE_C else "float64"
        if precomputed and dtype == "float32" and max(X.max(), -X.min()) > np.finfo(dtype).max:
            raise ValueError(
                "The values of the kernel must be finite in single precision. They are too large: "
                "divide them by a number and multiply C by the same, or use dtype='float64'."
            )
        return Kernel(self.kernel, gamma, float(self.coef0), float(self.degree), dtype)

    def _side_weights(self, sides: NDArray[np.int8]) -> Array:
        """Return the factor of C of each sample in each problem, by its side."""
        if self.class_weight is None:
            return np.ones((1, 1))
        if self.class_weight == "balanced":
            plus, minus = np.sum(sides > 0, axis=0), np.sum(sides < 0, axis=0)
            both = np.maximum(plus + minus, 1)
            return np.where(
                sides > 0, both / (2 * np.maximum(plus, 1)), both / (2 * np.maximum(minus, 1))
            )
        given = compute_class_weight(
            self.class_weight, classes=np.array([0, 1]), y=np.array([0, 1])
        )
        return np.where(sides > 0, given[1], given[0])

    def _set_fitted(
        self, model: KernelModel, positive: NDArray[np.bool_], solution: Solution, s: int
    ) -> Self:
        """Become the trained binary classifier of one problem."""
        self._model = model
        self.support_ = model.support
        self.support_vectors_ = np.empty((0, 0)) if model.vectors is None else model.vectors
        signs = positive[model.support]
        self.n_support_ = np.array([np.sum(~signs), np.sum(signs)])
        self.dual_coef_ = model.weights.toarray().T
        self.intercept_ = model.bias
        self.n_iter_ = solution.steps[s : s + 1]
        index = min(s, len(solution.objectives) - 1)
        self.dual_objective_ = float(solution.objectives[index])
        self.duality_gap_ = float(solution.gaps[index])
        return self


def _ignore(s: int) -> None:
    pass
