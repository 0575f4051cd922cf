"""``SingleBinaryClassifier``: one binary classifier for all classes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from polychotomy.arrays import Array
from polychotomy.classifiers._meta_reduction_classifier import MetaReductionClassifier
from polychotomy.codes import Code, DistinctProblems, describe_problems
from polychotomy.errors import unknown_name
from polychotomy.kernel import SharedKernelSVC
from polychotomy.learners import (
    NEGATIVES,
    Concatenated,
    Learner,
    Negatives,
    check_learner,
    problem_seeds,
    resolve_replication,
)
from polychotomy.readout import Readout
from polychotomy.structures import single_node
from polychotomy.training import JointTrainer, Problems, Trainer, TrainingData


class SingleBinaryClassifier(MetaReductionClassifier):
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
        Any scikit-learn classifier with ``decision_function`` or ``predict_proba`` that is not
        additive in its features; by default a :class:`~polychotomy.SharedKernelSVC`.
    replication : Concatenated, SingleCall, Kesler or a short form, optional
        How samples are replicated, by default ``Concatenated("bch")``. The values are in
        :mod:`polychotomy.learners`: :class:`~polychotomy.learners.Concatenated` is as above,
        :class:`~polychotomy.learners.SingleCall` (SBC-ECOC) takes a replica for each problem of a
        code, :class:`~polychotomy.learners.Kesler` is for linear learners. Short forms are
        ``"single_call"``, ``"kesler"``, and for ``Concatenated`` its extension: a name such as
        ``"identity"`` or ``"bch"``, a code, a matrix or a function of the number of classes. To
        search its parameters, such as ``replication__scale``, give the value itself.
    n_negatives : int, "auto" or None, default=None
        Number of replicas of other classes to train on for each sample, in addition to that of its
        own class (section 5); ``"auto"`` uses min(4, k − 1), None all k − 1. Only with
        ``Concatenated``.
    extension : str, Code, array-like or callable, optional
        Short for ``replication=Concatenated(extension)``.
    negatives : {"random", "hard", "near"}, default="random"
        How the negatives are chosen: at random without replacement; from the nearest classes, by
        the Euclidean distance (or that of a precomputed kernel) to their nearest samples; or at
        random with higher odds for nearer classes. With few negatives ``"hard"`` fails if distant
        samples of a class have no replica that separates them; ``"near"`` does not.
    probability : str or None, default="auto"
        Method for the class probabilities, as in :class:`~polychotomy.CodeClassifier`: for
        ``Concatenated`` of one-vs-rest, for ``Kesler`` of one-vs-one, and for ``SingleCall`` of the
        code. None disables probabilities and calibration.
    calibration : str, default="auto"
        Calibration of the outputs, as in :class:`~polychotomy.CodeClassifier`.
    shared_calibration : bool, default=True
        Whether to fit one calibration to the outputs of all replicas, which come from one
        classifier, or one for each class. A shared one preserves the order of the classes: the most
        probable class is the predicted one. Separate ones can have a lower log loss.
    cv : int, cross-validation generator, iterable or None, default=5
        Folds for the calibration, which is fitted on held-out outputs; the classifier is trained
        once more for each fold. None fits it on the outputs of the training samples.
    class_order : list, "data" or None, default=None
        Order of the classes: row r of an extension or a code is the r-th class. ``"data"`` uses the
        order of :func:`~polychotomy.structures.order_classes`. By default the order is that of an
        ordered categorical y (pandas, or polars Enum), otherwise the sorted one.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights; the estimator must accept
        weights. ``"balanced"`` uses n_samples / (n_classes · samples of the class).
    n_jobs : int, optional
        Number of joblib workers for the folds, and of threads for the probabilities.
    random_state : int, RandomState instance or None, default=None
        Seed of replicas and random codes, and of all ``random_state`` parameters of the estimator
        that are None. If None, the estimator is not changed.
    verbose : int, default=0
        Show a progress bar on the standard error stream if positive.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    code_ : Code
        The problems of the replicas: one-vs-rest, with ``SingleCall`` the code, with ``Kesler``
        one-vs-one; with two classes, the second against the first.
    extension_ : ndarray of shape (n_problems, n_appended) or None
        The features appended for each problem of ``code_`` (with more than two classes). None with
        ``Kesler``.
    problems_ : list of str
        Each problem in words.
    estimator_ : object
        The classifier trained on the labels 0 and 1 or, if replicas are not made, a model with
        ``outputs``.
    decoder_ : str
        The decoding rule in use; ``"argmax"`` with ``Concatenated``.
    probability_, calibration_, output_kind_
        The values in use, as in :class:`~polychotomy.CodeClassifier`.
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
    Learners that are linear or additive in their features (naive Bayes,
    boosted stumps) raise an error: their score g(x) + h(E_r) ranks the classes alike for every x.
    Linear learners can use Kesler's construction instead, ``replication="kesler"``.

    The names of the paper: SBC-SINGLE is ``replication="single"``, SBC-IDENTITY ``"identity"``,
    SBC-HAMMING ``"hamming"``, SBC-BCH ``"bch"`` and SBC-ECOC ``"single_call"``.

    With a SharedKernelSVC, ``gamma="scale"`` and ``"auto"`` use the features without the appended
    ones; a precomputed kernel is multiplied by exp(−γ‖E_r − E_s‖²), where they use E.
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
    >>> classifier = SingleBinaryClassifier(SharedKernelSVC(C=10), "identity").fit(X, y)
    >>> classifier.score(X, y) > 0.95
    True
    >>> classifier.binary_outputs(X[:1]).argmax()
    np.int64(0)

    Kesler's construction:

    >>> from sklearn.svm import LinearSVC
    >>> linear = SingleBinaryClassifier(LinearSVC(random_state=0), "kesler").fit(X, y)
    >>> linear.estimator_.coef_.shape
    (1, 15)
    """

    extension_: Array | None
    estimator_: Any
    _trained: Any

    def __init__(
        self,
        estimator: Any = None,
        replication: Any = None,
        n_negatives: Any = None,
        *,
        extension: Any = None,
        negatives: str = "random",
        probability: str | None = "auto",
        calibration: str = "auto",
        shared_calibration: bool = True,
        cv: Any = 5,
        class_order: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.replication = replication
        self.n_negatives = n_negatives
        self.extension = extension
        self.negatives = negatives
        self.probability = probability
        self.calibration = calibration
        self.shared_calibration = shared_calibration
        self.cv = cv
        self.class_order = class_order
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learners(self) -> dict[str, Any]:
        given = SharedKernelSVC() if self.estimator is None else self.estimator
        return {"estimator": check_learner(given)}

    def _learns_in_batches(self) -> bool:
        return False

    def _lay_out(self, data: TrainingData) -> Problems:
        classes, rng = data.classes, check_random_state(self.random_state)
        replicas = self._replication().replicas(classes, rng, self._order(data))
        code = replicas.code if len(classes) > 2 else Code([[-1], [1]], name="binary")
        names = describe_problems(code.columns, classes)
        seed = None if self.random_state is None else int(rng.randint(2**31))
        return ReplicatedProblems(classes, code, single_node(code), names, replicas, seed)

    def _choose_trainer(
        self, problems: Problems, learners: Mapping[str, Learner], *, in_batches: bool = False
    ) -> Trainer:
        assert isinstance(problems, ReplicatedProblems)
        replication, k = self._replication(), len(problems.classes)
        if self.negatives not in NEGATIVES:
            raise unknown_name("negatives", self.negatives, NEGATIVES)
        if self.n_negatives is not None and not replication.takes_negatives:
            raise ValueError(
                "The 'n_negatives' parameter is for replication=Concatenated(), where a sample has "
                f"a replica for each class; leave it out with {type(replication).__name__}()."
            )
        negatives = None
        if self.n_negatives is not None:
            negatives = Negatives.of(self.n_negatives, self.negatives, k, problems.seed)
        given = learners["estimator"]
        learner = replace(given, estimator=replication.checked(given.estimator))
        if k == 2:
            return self._trainer(problems, (given,), in_batches=in_batches)
        seeds = problem_seeds(self.random_state, problems.code.columns[:, :1])
        seeded = learner.fresh(None if seeds is None else int(seeds[0]))
        if self.n_jobs is not None and learner.is_joint:
            seeded.set_params(n_jobs=self.n_jobs)
        joint = replication.joint_learner(seeded, problems.replicas)
        distinct = DistinctProblems.each(problems.code.columns)
        return JointTrainer(learner, joint, distinct, negatives, self.n_jobs)

    def _choose_readout(self, problems: Problems, trainer: Trainer, **further: Any) -> Readout:
        rule, shared = self._replication().rule, bool(self.shared_calibration)
        return super()._choose_readout(problems, trainer, decoder=rule, shared=shared)

    def _set_fitted(self) -> None:
        super()._set_fitted()
        assert isinstance(self._problems, ReplicatedProblems)
        self.extension_ = getattr(self._problems.replicas, "appended", None)
        if len(self.classes_) == 2:
            self.estimator_ = self._trained.estimator(0)
        else:
            model = self._trained.model
            self.estimator_ = getattr(model, "classifier", model)

    def _set_decoder(self, decoder: str) -> bool:
        replication = self._replication()
        if getattr(replication, "decoder", decoder) == decoder:
            return False
        self.replication = clone(replication).set_params(decoder=decoder)
        return True

    def _replication(self) -> Any:
        """Return how samples are replicated."""
        if self.extension is None:
            return resolve_replication(self.replication)
        if self.replication is not None:
            raise ValueError(
                "The 'extension' parameter is short for replication=Concatenated(extension): give "
                f"one of the two. Got both, replication={self.replication!r}."
            )
        return Concatenated(self.extension)

    def _code_for(self, classes: NDArray[Any], rng: Any) -> Code:
        as_given = np.arange(len(classes))  # an order, of which nothing is to be said again
        code: Code = self._replication().replicas(classes, rng, as_given).code
        return code


@dataclass(frozen=True, eq=False)
class ReplicatedProblems(Problems):
    """The problems that the replicas of samples ask, and how replicas are made.

    `seed` draws the replicas that training leaves out.
    """

    replicas: Any
    seed: int | None
