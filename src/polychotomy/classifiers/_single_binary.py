"""``SingleBinaryClassifier``: one binary classifier for all classes."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from polychotomy.classifiers._additive import additive_kind, why_not_replicated
from polychotomy.classifiers._checks import check_base, resolve_code
from polychotomy.classifiers._extensions import resolve_extension
from polychotomy.classifiers._flat import FlatCodeClassifier
from polychotomy.classifiers._learners import Learner
from polychotomy.classifiers._negatives import check_negatives
from polychotomy.classifiers._nodes import single_node
from polychotomy.classifiers._plan import Plan, make_plan
from polychotomy.classifiers._probabilities import ProbabilityModel
from polychotomy.classifiers._reading import Array
from polychotomy.classifiers._replicas import Concatenation, Kesler, Replication
from polychotomy.classifiers._single_training import ReplicaPlan, train_replicas
from polychotomy.classifiers._training import Params
from polychotomy.codes import Code, one_vs_one, one_vs_rest
from polychotomy.codes._code import DistinctProblems
from polychotomy.decoding import check_outputs
from polychotomy.errors import unknown_name
from polychotomy.kernel import SharedKernelSVC
from polychotomy.learners import JointlyTrained, SeparateModel

_SCHEMES = ("replicate", "single_call", "kesler")
_FEATURES = ("nominal", "numeric")


class SingleBinaryClassifier(FlatCodeClassifier):
    """Multi-class classification by a single binary classifier (SBC).

    Every sample x is replicated, once for each class r, with a row E_r of the extension matrix
    appended to its features. The replica x∘E_r is labelled +1 if r is the sample's class and −1
    otherwise, one binary classifier h is trained on all replicas, and the prediction is

        argmax_r h(x∘E_r).

    With a :class:`~polychotomy.SharedKernelSVC` the replicas are never made: the kernel of the
    replicas is computed from those of the samples and of the rows of E. Any other learner is given
    the replicated samples. With two classes it is the binary classifier itself, on x alone.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier with ``decision_function`` or ``predict_proba`` that does not
        add its features up; by default a :class:`~polychotomy.SharedKernelSVC`.
    extension : str, Code, array-like of shape (n_classes, n_appended) or callable, default="bch"
        The matrix E: ``"identity"``, ``"single"`` (the column 1, …, k), ``"hamming"``, ``"bch"``,
        ``"orthogonal"`` or another name of :func:`~polychotomy.available_codes`, a code (−1 is
        written as 0, and 0 as ½), a matrix of real numbers, or a function of the number of classes
        that returns a code or a matrix. Its rows are the classes in sorted order. With
        ``scheme="single_call"`` it is a code, ``"identity"`` being one-vs-rest.
    scheme : {"replicate", "single_call", "kesler"}, default="replicate"
        ``"replicate"`` is as above. ``"single_call"`` (SBC-ECOC) takes a replica for each problem
        s of the code instead, with s as the only appended feature, labelled as the code says
        (those with 0 are left out), and decodes the outputs. ``"kesler"`` is Kesler's construction,
        for linear learners only: see the notes.
    n_negatives : int, "auto" or None, default=None
        How many replicas of other classes each sample keeps for training beside that of its own
        (section 5); ``"auto"`` takes min(4, k − 1), None all k − 1. Only with
        ``scheme="replicate"``.
    negatives : {"random", "hard", "near"}, default="random"
        Which ones: drawn without replacement; those of the nearest classes, by the Euclidean
        distance (or that of a precomputed kernel) to their nearest samples; or drawn so that nearer
        classes are more likely. With few negatives ``"hard"`` fails where far samples of a class
        then have no replica that says so; ``"near"`` does not.
    feature : {"nominal", "numeric"}, default="nominal"
        How ``scheme="single_call"`` writes the number s: as ℓ features of which the s-th is 1, or
        as one number from 1 to ℓ.
    decoder : str, default="euclidean"
        The rule of :func:`~polychotomy.decoding.decode` for ``scheme="single_call"``, or
        ``"probability"`` or ``"auto"`` as in :class:`~polychotomy.CodeClassifier`.
    probability : str or None, default="auto"
        How class probabilities are solved for, as in :class:`~polychotomy.CodeClassifier`: for
        ``scheme="replicate"`` from one-vs-rest, for ``"kesler"`` from one-vs-one, and for
        ``"single_call"`` from the code. None: there are no probabilities, and nothing is spent on
        calibration.
    calibration : str, default="auto"
        How outputs become binary probabilities, as in :class:`~polychotomy.CodeClassifier`.
    shared_calibration : bool, default=True
        Whether one calibration is fitted to the outputs of all replicas, which come from one
        classifier, or one to those of each class. A shared one keeps the classes' order: the most
        probable class is the predicted one. One for each can have the lower log loss.
    cv : int, cross-validation generator, iterable or None, default=5
        The folds on whose held-out outputs the calibration is fitted: the classifier is trained
        once more for each. None fits it on the outputs of the training samples.
    n_jobs : int, optional
        Number of joblib workers for the folds, and of threads for the probabilities.
    random_state : int, RandomState instance or None, default=None
        Draws replicas and random codes, and seeds the parameters ``random_state`` of the estimator
        that are None. If it is None itself, the estimator is left as it is.
    verbose : int, default=0
        Show a progress bar on the standard error stream if positive.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    code_ : Code
        What the replicas ask: one-vs-rest, with ``scheme="single_call"`` the code, with
        ``"kesler"`` one-vs-one; with two classes, the second against the first.
    extension_ : ndarray of shape (n_problems, n_appended) or None
        What is appended for each problem of ``code_`` (if there are more than two classes). None
        with ``scheme="kesler"``.
    problems_ : list of str
        What each problem asks, in words.
    estimator_ : object
        What was trained on the labels 0 and 1: the estimator or, where replicas are not made, a
        model with ``outputs``.
    decoder_ : str
        The rule in use; ``"argmax"`` with ``scheme="replicate"``.
    probability_, calibration_, output_kind_
        What is in use, as in :class:`~polychotomy.CodeClassifier`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the training data had names.

    See Also
    --------
    polychotomy.CodeClassifier : One binary classifier per problem.
    polychotomy.kernel.fit_concatenated : How replicas are avoided.

    Notes
    -----
    A learner that is linear in its features, or adds functions of one feature each up (naive Bayes,
    boosted stumps), is refused: its score g(x) + h(E_r) ranks the classes alike for every x. Linear
    learners can do *Kesler's construction* instead: for each pair of classes a and b that the
    sample's class is one of, (1, x) stands in the a-th of k places and −(1, x) in the b-th, sparse,
    labelled by the class. The k − 1 replicas of a sample are on their right sides if w_y·(1, x) is
    the largest of all w_r·(1, x). The learner needs a parameter ``fit_intercept``, which is set to
    False. With the hinge loss this is Weston and Watkins' multi-class SVM.

    SBC-SINGLE is ``extension="single"``, and also ``scheme="single_call"`` with one-vs-rest and
    ``feature="numeric"``. The other names of the paper are ``extension="identity"``, ``"hamming"``
    and ``"bch"``, and for SBC-ECOC ``scheme="single_call", extension="bch"``.

    With a SharedKernelSVC, ``gamma="scale"`` and ``"auto"`` go by the features without the appended
    ones; a precomputed kernel is multiplied by exp(−γ‖E_r − E_s‖²), where they go by E.
    A function as its kernel needs the replicas, and so does every other learner: k times the
    samples, in memory at once for training, a block of samples at a time for predictions. A
    pipeline sees the appended features too: scale features before this classifier, not within it.
    Likewise a search within it has replicas of the same sample on both sides of its folds: search
    outside.

    References
    ----------
    El-Yaniv, Kotek, Pechyony and Yom-Tov, "On multiclass classification via a single binary
    classifier"; Anguita, Ridella and Sterpi (2004), "A new method for multiclass support vector
    machines"; Allwein, Schapire and Singer (2000), "Reducing multiclass to binary", JMLR 1; Duda
    and Hart (1973), "Pattern classification and scene analysis", section 5.12.1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import SharedKernelSVC, SingleBinaryClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = SingleBinaryClassifier(SharedKernelSVC(C=10), extension="identity").fit(X, y)
    >>> classifier.score(X, y) > 0.95
    True
    >>> classifier.binary_outputs(X[:1]).argmax()
    np.int64(0)

    Kesler's construction:

    >>> from sklearn.svm import LinearSVC
    >>> linear = SingleBinaryClassifier(LinearSVC(random_state=0), scheme="kesler").fit(X, y)
    >>> linear.estimator_.coef_.shape
    (1, 15)
    """

    extension_: Array | None
    estimator_: Any

    def __init__(
        self,
        estimator: Any = None,
        extension: Any = "bch",
        scheme: str = "replicate",
        n_negatives: Any = None,
        *,
        negatives: str = "random",
        feature: str = "nominal",
        decoder: str = "euclidean",
        probability: str | None = "auto",
        calibration: str = "auto",
        shared_calibration: bool = True,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.extension = extension
        self.scheme = scheme
        self.n_negatives = n_negatives
        self.negatives = negatives
        self.feature = feature
        self.decoder = decoder
        self.probability = probability
        self.calibration = calibration
        self.shared_calibration = shared_calibration
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _base(self, lenient: bool = False) -> Any:
        return SharedKernelSVC() if self.estimator is None else check_base(self.estimator, lenient)

    def _can_learn_in_batches(self) -> bool:
        return False

    def _make_plan(
        self, classes: NDArray[Any], X: Any, y: NDArray[np.intp] | None, params: Params
    ) -> Plan:
        rng = check_random_state(self.random_state)
        replication = self._make_replication(classes, rng)
        n_negatives = self._check_negatives(len(classes))
        learner = self._check_learner()
        two = len(classes) == 2
        code = Code([[-1], [1]], name="binary") if two else replication.code
        chosen = np.zeros(code.n_problems, dtype=np.intp)
        rule = {"replicate": "votes", "kesler": "linear"}.get(self.scheme, self.decoder)
        plan = make_plan(
            self,
            classes,
            code,
            single_node(code),
            (Learner(learner, "estimator"),),
            chosen,
            X,
            y,
            rule,
            None if two else _each_by_itself(code),
        )
        if self.scheme == "replicate":  # which, like votes, goes by the order of outputs
            plan = replace(plan, rules=("argmax",))
        if plan.probability is not None and plan.probability.calibrations[0] != "none":
            shared = replace(plan.probability, shared=bool(self.shared_calibration))
            plan = replace(plan, probability=shared)
        return ReplicaPlan(
            **vars(plan),
            replication=replication,
            n_negatives=n_negatives,
            negatives=self.negatives,
            negatives_seed=None if self.random_state is None else rng.randint(2**31),
        )

    def _make_replication(self, classes: NDArray[Any], rng: Any) -> Replication:
        """Return how a sample is replicated."""
        for name, known in (("scheme", _SCHEMES), ("feature", _FEATURES)):
            given = getattr(self, name)
            if not isinstance(given, str) or given not in known:
                raise unknown_name(name, given, known)
        if self.scheme == "replicate":
            E = resolve_extension(self.extension, classes, rng)
            return Concatenation(one_vs_rest(len(classes)), E)
        if self.scheme == "kesler":
            return Kesler(one_vs_one(len(classes)))
        identity = isinstance(self.extension, str) and self.extension == "identity"
        given = "one_vs_rest" if identity else self.extension
        code = resolve_code(given, classes, rng, name="extension")
        numbers = np.arange(1.0, code.n_problems + 1)[:, np.newaxis]
        nominal = self.feature == "nominal"
        return Concatenation(code, np.eye(code.n_problems) if nominal else numbers)

    def _check_negatives(self, n_classes: int) -> int:
        if self.n_negatives is not None and self.scheme != "replicate":
            raise ValueError(
                "The 'n_negatives' parameter is for scheme='replicate', where a sample has a "
                f"replica for each class; leave it out with scheme={self.scheme!r}."
            )
        return check_negatives(self.n_negatives, self.negatives, n_classes)

    def _check_learner(self) -> Any:
        """Return the learner, fit for the scheme, or raise ValueError."""
        base = self._base()
        if self.scheme == "kesler":
            return _without_intercept(base, additive_kind(base))
        reason = why_not_replicated(base)
        if reason:
            raise ValueError(reason)
        return base

    def _trained(
        self, plan: Plan, X: Any, y: NDArray[np.intp], method: str, params: Params
    ) -> tuple[SeparateModel, ProbabilityModel | None]:
        if len(plan.classes) == 2:
            return super()._trained(plan, X, y, method, params)
        assert isinstance(plan, ReplicaPlan)
        return train_replicas(self, plan, X, y, params)

    def _set_fitted(self, plan: Plan) -> None:
        super()._set_fitted(plan)
        assert isinstance(plan, ReplicaPlan)
        self.extension_ = getattr(plan.replication, "appended", None)
        if isinstance(self._model, JointlyTrained) and len(plan.classes) > 2:
            self.estimator_ = self._model.joint
        else:
            self.estimator_ = self._model.problems[0].estimator

    def _decode(self, outputs: Array, rule: str) -> Array:
        if rule == "argmax" and self.code_.n_classes > 2:
            return check_outputs(outputs, self.code_.matrix)
        return super()._decode(outputs, rule)


def _each_by_itself(code: Code) -> DistinctProblems:
    """Return all problems of a code as they are: equal ones have different replicas."""
    index, sign = np.arange(code.n_problems), np.ones(code.n_problems, dtype=np.int8)
    return DistinctProblems(code.matrix, index, sign)


def _without_intercept(base: Any, kind: str | None) -> Any:
    """Return a linear learner without intercept, or raise ValueError."""
    from sklearn.base import clone

    if kind != "linear":
        raise ValueError(
            "scheme='kesler' is for linear classifiers, such as LogisticRegression() or "
            f"LinearSVC(). Got {base!r} as the 'estimator'; take scheme='replicate' for it."
        )
    names = [n for n in base.get_params(deep=True) if n.rpartition("__")[2] == "fit_intercept"]
    if not names:
        raise ValueError(
            "scheme='kesler' needs a linear classifier that can do without intercept, by a "
            f"parameter 'fit_intercept' such as LinearSVC has. {base!r} has none."
        )
    return clone(base).set_params(**dict.fromkeys(names, False))
