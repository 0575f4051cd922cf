"""``KernelSBCClassifier``: one binary classifier for all classes, with a learned kernel."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from polychotomy.arrays import Array
from polychotomy.classifiers._reduction_classifier import ReductionClassifier
from polychotomy.codes import Code, DistinctProblems, check_positive, describe_problems, one_vs_rest
from polychotomy.errors import shown_shortly, unknown_name
from polychotomy.kernel import CouplingLearner, SharedKernelSVC, check_coupling, merged_problems
from polychotomy.learners import NEGATIVES, Learner, Negatives, check_rows_differ
from polychotomy.readout import Readout
from polychotomy.structures import single_node
from polychotomy.training import JointTrainer, Problems, Trainer, TrainingData

_KERNELS = ("rbf", "linear", "poly", "precomputed")


class KernelSBCClassifier(ReductionClassifier):
    """Multi-class classification by a single binary SVM with a learned kernel (SBC-KERNEL).

    Every sample x is replicated, once for each class r; its replica for its own class is labelled
    +1 and the others −1. One SVM is trained on all replicas, with the kernel

        k((x, r), (x', s)) = exp(−γ‖x − x'‖²) M_rs,   M = Σ_j μ_j M_j,
        (M_j)_rs = exp(−γ‖E_r − E_s‖²) for the j-th extension matrix E,

    where the weights μ ≥ 0, Σ μ ≤ R, are the class frequencies, or are learned with the SVM: those
    with which its objective is least. The prediction is the class whose replica has the largest
    output. Replicas are never made: M couples the problems of a
    :class:`~polychotomy.SharedKernelSVC`.

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
    weights : {"class_frequencies", "learned"} or array-like of shape (n_bases,), \
default="class_frequencies"
        ``"class_frequencies"`` takes μ proportional to the number of samples of each class, which
        the paper found correlated with the learned ones, and needs one solve only. ``"learned"``
        is the paper's method; at small C it can merge classes, with a warning. An array gives
        weights in any scale: their sum becomes R.
    extensions : sequence of array-like of shape (n_classes, n_appended), optional
        The extension matrices. By default there is one for each class, with a single appended
        feature that is 1 for this class and 0 for all others (the paper, section 5).
    couplings : sequence of array-like of shape (n_classes, n_classes), optional
        The couplings M_j themselves, symmetric and positive semi-definite, instead of `extensions`.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        The kernel of the features, in place of exp(−γ‖x − x'‖²); that of the extensions stays.
        It must be positive semi-definite.
        With ``"precomputed"``, ``gamma="scale"`` and ``"auto"`` are computed from the extensions.
    degree, coef0 : float, default=3 and 0.0
        Parameters of the kernel poly.
    n_negatives : int, "auto" or None, default=None
        Number of replicas of other classes to train on for each sample, as in
        :class:`~polychotomy.SingleBinaryClassifier`; None uses all.
    negatives : {"random", "hard", "near"}, default="random"
        How they are chosen, as in :class:`~polychotomy.SingleBinaryClassifier`.
    tol : float, default=1e-3
        Learning stops when the relative change of the weights is at most this.
    svm_tol : float, default=1e-3
        The SVM is solved until the largest violation of its optimality conditions is at most this,
        as in scikit-learn.
    max_iter : int, default=100
        Maximum number of solves of the SVM; a ConvergenceWarning is raised if they do not suffice.
    probability : str or None, default="auto"
        Method for the class probabilities, as in :class:`~polychotomy.CodeClassifier` for
        one-vs-rest. None disables probabilities and calibration.
    calibration : str, default="auto"
        Calibration of the outputs, as in :class:`~polychotomy.CodeClassifier`; ``"auto"`` is
        ``"sigmoid"``.
    shared_calibration : bool, default=True
        Whether to fit one calibration to the outputs of all replicas, which come from one
        classifier, or one for each class. A shared one preserves the order of the classes: the most
        probable class is the predicted one.
    cv : int, cross-validation generator, iterable or None, default=5
        Folds for the calibration, which is fitted on held-out outputs. The SVM is solved once more
        for each fold, starting from the coefficients of all samples, with the same weights μ. None
        fits the calibration on the outputs of the training samples.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights. ``"balanced"`` uses n_samples /
        (n_classes · samples of the class).
    cache_size : float or "auto", default="auto"
        Size of the cache of kernel rows, in MiB.
    dtype : {"auto", "float32", "float64"}, default="auto"
        The precision of kernel values; ``"auto"`` is single precision up to R · C = 1000.
    n_jobs : int, optional
        Number of threads. Results do not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where to train and predict, as in :class:`~polychotomy.SharedKernelSVC`.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of replicas.
    verbose : int, default=0
        If positive, write a line for each solve to the standard error stream.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    code_, problems_
        The problems of the replicas, one-vs-rest: as a Code, and in words.
    decoder_ : str
        ``"argmax"``: the class whose replica has the largest output wins.
    weights_ : ndarray of shape (n_bases,)
        μ.
    coupling_ : ndarray of shape (n_classes, n_classes)
        M.
    radius_, gamma_ : float
        R and γ.
    objectives_ : ndarray of shape (n_iter_,)
        The SVM's objective after each change of the weights, the equal ones of the start included,
        in the paper's scale (2 Σ α − …). It always falls.
    n_iter_ : int
        Number of objectives.
    n_solves_ : int
        Number of SVMs solved to learn the weights, including rejected steps.
    optimality_gap_ : float
        By how much the last objective can at most exceed the least one that any weights reach, as a
        fraction of itself. It is certified by duality and includes the SVM's own gap, so also with
        fixed weights.
    support_ : ndarray of shape (n_support,)
        Indices of the training samples of which any replica is a support vector.
    intercept_ : float
        The bias, one for all replicas: it changes no prediction.
    norm_ : float
        Norm of the classifier, without the bias.
    probability_, calibration_ : str or None
        The values in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the training data had names.

    See Also
    --------
    polychotomy.SharedKernelSVC : The SVM.
    polychotomy.active.query : Which samples to label next.
    polychotomy.assess.risk_bound : The paper's bound on the error.

    Notes
    -----
    Learning the weights is a convex problem. It is solved by repeating
    μ_j ← μ_j d_j^¾, scaled to Σ μ = R, with minus the objective's derivative d, and extrapolates
    from the last two points. Where that does not lower the objective, the exponent is ½, with which
    it cannot rise. It stops when the weights would change by no more than `tol` and no d_j is
    larger than the mean by more than 10 `tol`. Each solve begins with the last coefficients.

    Two classes whose default bases both have no weight cannot be distinguished: their outputs are
    equal. With a small C the optimum can be of this kind. A UserWarning says so; a
    larger C, or ``weights="class_frequencies"``, separates the classes.

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
    >>> classifier = KernelSBCClassifier(C=10, weights="learned").fit(X, y)
    >>> classifier.score(X, y) > 0.95
    True
    >>> classifier.weights_.sum() <= classifier.radius_ * (1 + 1e-12)
    np.True_
    """

    _numeric = True
    _draws_bar = False  # every solve writes a line
    _trained: Any

    def __init__(
        self,
        C: float = 1.0,
        gamma: Any = "scale",
        radius: Any = "sqrt",
        weights: Any = "class_frequencies",
        *,
        extensions: Any = None,
        couplings: Any = None,
        kernel: Any = "rbf",
        degree: float = 3,
        coef0: float = 0.0,
        n_negatives: Any = None,
        negatives: str = "random",
        tol: float = 1e-3,
        svm_tol: float = 1e-3,
        max_iter: int = 100,
        probability: str | None = "auto",
        calibration: str = "auto",
        shared_calibration: bool = True,
        cv: Any = 5,
        class_weight: Any = None,
        cache_size: float | str = "auto",
        dtype: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.radius = radius
        self.weights = weights
        self.extensions = extensions
        self.couplings = couplings
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.n_negatives = n_negatives
        self.negatives = negatives
        self.tol = tol
        self.svm_tol = svm_tol
        self.max_iter = max_iter
        self.probability = probability
        self.calibration = calibration
        self.shared_calibration = shared_calibration
        self.cv = cv
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _lay_out(self, data: TrainingData) -> Problems:
        code = self._code_for(data.classes, None)
        names = describe_problems(code.columns, data.classes)
        return Problems(data.classes, code, single_node(code), names)

    def _choose_trainer(
        self, problems: Problems, learners: Mapping[str, Learner], *, in_batches: bool = False
    ) -> Trainer:
        extensions, couplings = self._bases(problems.classes)
        learner = learners["estimator"]
        joint = CouplingLearner(
            learner.estimator,
            extensions,
            couplings,
            self.weights,
            self.radius,
            tol=self.tol,
            max_iter=self.max_iter,
            done=_write_solve if self.verbose else None,
        )
        if self.negatives not in NEGATIVES:
            raise unknown_name("negatives", self.negatives, NEGATIVES)
        negatives = None
        if self.n_negatives is not None:
            seed = self.random_state
            if seed is not None:
                seed = int(check_random_state(seed).randint(2**31))
            k = problems.code.n_classes
            negatives = Negatives.of(self.n_negatives, self.negatives, k, seed)
        distinct = DistinctProblems.each(problems.code.columns)
        return JointTrainer(learner, joint, distinct, negatives)

    def _choose_readout(self, problems: Problems, trainer: Trainer, **further: Any) -> Readout:
        shared = bool(self.shared_calibration)
        return super()._choose_readout(problems, trainer, decoder="argmax", shared=shared)

    def _set_fitted(self) -> None:
        super()._set_fitted()
        model = self._trained.model
        best = model.best
        self.weights_, self.coupling_ = best.weights, best.coupling
        self.radius_, self.gamma_ = model.radius, model.gamma
        self.objectives_ = model.learned.objectives
        self.n_iter_, self.n_solves_ = len(self.objectives_), model.n_solves_
        self.optimality_gap_ = best.optimality_gap(model.radius)
        self.support_, self.intercept_ = best.model.support_, float(best.model.intercept_[0])
        self.norm_ = float(np.sqrt(best.squared_norm))

    def _learners(self) -> dict[str, Any]:
        svm_tol = check_positive("svm_tol", self.svm_tol)
        if isinstance(self.kernel, str) and self.kernel not in _KERNELS:
            raise unknown_name("kernel", self.kernel, _KERNELS)
        svm = SharedKernelSVC(
            self.C,
            self.kernel,
            self.gamma,
            self.degree,
            self.coef0,
            tol=svm_tol,
            cache_size=self.cache_size,
            dtype=self.dtype,
            n_jobs=self.n_jobs,
            device=self.device,
        )
        return {"estimator": svm}

    def _code_for(self, classes: NDArray[Any], rng: Any) -> Code:
        return one_vs_rest(len(classes))

    def _bases(self, classes: NDArray[Any]) -> tuple[list[Array] | None, Array | None]:
        """Return the extensions or the couplings, of which one is None."""
        k = len(classes)
        if self.couplings is None:
            if self.extensions is None:
                return list(np.eye(k)[:, :, np.newaxis]), None
            return check_extensions(self.extensions, classes), None
        if self.extensions is not None:
            raise ValueError("Give 'extensions' or 'couplings', not both.")
        given = _sequence(self.couplings, "couplings")
        if any(np.ndim(M) != 2 for M in given):
            raise ValueError(
                "The 'couplings' parameter must be a sequence of matrices; write [M] for one."
            )
        return None, np.array([check_coupling(M, k) for M in given])

    def _keep(self, problems: Problems, trained: Any, readout: Readout, *_: Any) -> Self:
        """Set the fitted attributes; warn if the coupling does not distinguish two classes."""
        pairs = merged_problems(trained.model.best.coupling)
        if pairs:
            r, s = (problems.classes[c] for c in pairs[0])
            more = f", and {len(pairs) - 1} more pairs of classes" if len(pairs) > 1 else ""
            warnings.warn(
                f"The weights leave no difference between the classes {r!s} and {s!s}{more}: the "
                "classifier cannot distinguish them. Take a larger C or radius, or "
                "weights='class_frequencies'.",
                UserWarning,
                stacklevel=4,
            )
        return super()._keep(problems, trained, readout)


def check_extensions(extensions: Any, classes: NDArray[Any]) -> list[Array]:
    """Return the extension matrices.

    Raises
    ------
    ValueError
        Unless each is a matrix of finite numbers with a row for each class, and any two classes
        have different rows in at least one.
    """
    k = len(classes)
    matrices = []
    for j, extension in enumerate(_sequence(extensions, "extensions")):
        try:
            E = np.asarray(extension, dtype=float)
        except (TypeError, ValueError):
            E = np.empty(0)
        if E.ndim != 2 or len(E) != k or not E.shape[1] or not np.isfinite(E).all():
            raise ValueError(
                "Each of the 'extensions' must be a matrix of finite numbers with a row for each "
                f"of {k} classes. Got {shown_shortly(extension)} for number {j}."
            )
        matrices.append(E)
    check_rows_differ(matrices, classes, "extensions")
    return matrices


def _sequence(given: Any, name: str) -> Any:
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise ValueError(
            f"The {name!r} parameter must be a sequence of matrices with a row for each class. "
            f"Got {type(given).__name__}."
        )
    if not len(given):
        raise ValueError(f"The {name!r} parameter must hold at least one matrix. Got none.")
    return given


def _write_solve(n_solves: int, objective: float) -> None:
    sys.stderr.write(f"solve {n_solves}: objective {objective:.6g}\n")
