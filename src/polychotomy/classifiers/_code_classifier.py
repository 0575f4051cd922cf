"""``CodeClassifier``: a flat code, one binary classifier per problem, decoding."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, get_tags

from polychotomy.arrays import Array, Folds
from polychotomy.classifiers._meta_reduction_classifier import MetaReductionClassifier
from polychotomy.codes import Code, check_ordered, describe_problems, resolve_code
from polychotomy.errors import unknown_name
from polychotomy.learners import Learner
from polychotomy.memory import check_room
from polychotomy.structures import class_distances, ordered_categories, single_node
from polychotomy.training import (
    KnownOutputs,
    Problems,
    Trainer,
    TrainingData,
    check_data,
    check_labels,
    refuse_pairs,
)

_MANY_CLASSES = 300
_MANY_PROBLEMS = 100_000
_BYTES_OF_PROBLEM = 500  # at least: its name, its place among the others, a small model


class CodeClassifier(MetaReductionClassifier):
    """Multi-class classification by a code and one binary classifier per problem.

    The code says which classes are on which side of each binary problem; a clone of
    `estimator` is trained on each (identical and complementary problems once); the outputs of
    all problems are decoded to a class. With two classes it is the binary classifier itself.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier with ``decision_function`` or ``predict_proba``; by default a
        logistic regression. A ``FrozenEstimator`` is not trained. If its labels are the two classes
        of a problem, they identify the sides; otherwise its second label is the +1 side.
    code : str, Code, array-like of shape (n_classes, n_problems) or callable, \
default="one_vs_one"
        A name of :func:`~polychotomy.available_codes`, a code, a matrix over {−1, 0, +1} (whose
        rows are the classes in the order of `class_order`), or a function of the number of classes
        that returns a code or a matrix. For 300 or more classes ``"one_vs_one"`` raises an error
        that states its cost; give the code itself to train it nevertheless.
    decoder : str, default="auto"
        A rule of :func:`~polychotomy.decoding.decode`. ``"auto"`` uses ``"votes"`` for one-vs-one
        with three or more classes. For other codes it uses the loss that the estimator minimises:
        hinge for SVMs, exponential for AdaBoost (with the margins before scikit-learn divides
        them), logistic for logistic regression, squared for ridge. If the loss is unknown, it uses
        ``"linear"`` on the binary probabilities. ``"class_means"`` compares outputs with the mean
        training outputs of each class instead of its codeword. This is better for weak learners
        with many classes, such as linear ones, and costs O(kℓ) per sample. ``"probability"``
        predicts the class with the largest probability.
    probability : str or None, default="auto"
        Method for the class probabilities, see :func:`~polychotomy.probability.solve`. ``"auto"``
        uses coupling for one-vs-one. For other codes it chooses among least squares,
        Kullback–Leibler (up to 100 classes) and, for one-vs-rest, normalise by the out-of-fold log
        loss; without calibration folds it uses least squares. None disables probabilities and
        calibration.
    calibration : str, default="auto"
        Calibration of the outputs: ``"logistic"``, ``"sigmoid"``, ``"isotonic"``, or ``"none"`` for
        the estimator's own probabilities. ``"auto"`` is ``"none"`` for learners with reliable
        probabilities: those that minimise the log loss (logistic regression, boosted trees of
        scikit-learn, LightGBM, XGBoost and CatBoost, multi-layer perceptrons), forests, and
        ``CalibratedClassifierCV``. Otherwise it is ``"sigmoid"``.
    cv : int, cross-validation generator, iterable or None, default=5
        Folds for the calibration, which is fitted on held-out outputs; the problems are trained
        once more for each fold. None fits it on the outputs of the training samples, as in the
        papers.
    assignment : {"similar", "spread"} or None, default=None
        Assignment of codewords to classes: ``"similar"`` gives classes with close means similar
        codewords, so that problems are easier to learn; ``"spread"`` gives them different ones, so
        that more problems separate them. See :func:`~polychotomy.codes.assigned`. None keeps the
        rows in order.
    class_order : list, "data" or None, default=None
        Order of the classes: row r of the code is the r-th class. ``"adjacent"`` needs an order,
        and warns if it is only alphabetical. ``"data"`` uses the order of
        :func:`~polychotomy.structures.order_classes`. By default the order is that of an ordered
        categorical y (pandas, or polars Enum), otherwise the sorted one.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights; the estimator must accept
        weights. ``"balanced"`` uses n_samples / (n_classes · samples of the class).
    reservoir : int or None, default=None
        For :meth:`partial_fit`: the maximum number of samples of the stream to hold out, on which
        the outputs are calibrated. They are drawn at random, equally many of each class, and are
        never trained on. At least ``n_classes``; a few hundred per class give good probabilities.
        With None no samples are held out, and only learners with their own probabilities have any.
    n_jobs : int, optional
        Number of joblib workers for the problems, and of threads for the probabilities.
    random_state : int, RandomState instance or None, default=None
        Seed of random codes, and of all ``random_state`` parameters of the estimator that are None.
        If None, the estimator is not changed.
    verbose : int, default=0
        Show a progress bar on the standard error stream if positive. For another display, give
        scikit-learn's ``ProgressBar`` to ``set_callbacks``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; row r of the code is class r.
    code_ : Code
        The code.
    problems_ : list of str
        Each problem in words, the +1 side first.
    estimators_ : list of classifiers
        One for each *distinct* problem, in the order of ``code_.distinct``, with the labels 0 and
        1. None for a problem without samples of its classes in ``partial_fit``.
    decoder_ : str
        The decoding rule in use.
    probability_ : str or None
        The method for probabilities in use.
    calibration_ : str or None
        The calibration in use.
    output_kind_ : {"margin", "probability", "log_odds"}
        The kind of the binary outputs: the estimator's ``decision_function`` or, from the
        probability p of the +1 side, 2p − 1 or log p/(1−p). The last is used by rules that depend
        on signs and use sizes only to break ties, where 2p − 1 would round small probabilities
        away.
    held_out_ : Bunch
        With `reservoir`, the samples that are held out: `data`, `target` (their labels) and
        `weight` (which restores the class frequencies of the stream).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the training data had names.

    See Also
    --------
    polychotomy.codes : The codes.
    polychotomy.decoding.decode : The rules.
    polychotomy.probability.solve : The methods for class probabilities.

    Notes
    -----
    The cost of training is that of the distinct problems. Predictions are made for blocks of
    samples: the outputs of all problems are never in memory for all samples at once.

    ``code="one_vs_one"`` predicts the same as scikit-learn's ``OneVsOneClassifier`` and, with
    ``decoder="votes"``, ``code="one_vs_rest"`` the same as ``OneVsRestClassifier``. The former can
    differ only if votes tie and the estimator has no ``decision_function``: scikit-learn
    then sums probabilities that are not centred, which favours later classes. If pairs are
    missing, votes favour the classes that take part in more problems, so ``"auto"`` uses the
    loss instead.

    With an estimator that has only probabilities, many of them close to 1 (naive Bayes),
    one-vs-rest has many ties, as in scikit-learn.

    References
    ----------
    Allwein, Schapire and Singer (2000), "Reducing multiclass to binary", JMLR 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from polychotomy import CodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = CodeClassifier(SVC(), code="one_vs_rest").fit(X, y)
    >>> classifier.decoder_
    'hinge'
    >>> classifier.problems_
    ['0 against the rest', '1 against the rest', '2 against the rest']
    >>> classifier.predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self,
        estimator: Any = None,
        code: Any = "one_vs_one",
        decoder: str = "auto",
        probability: str | None = "auto",
        calibration: str = "auto",
        cv: Any = 5,
        *,
        assignment: str | None = None,
        class_order: Any = None,
        class_weight: Any = None,
        reservoir: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.decoder = decoder
        self.probability = probability
        self.calibration = calibration
        self.cv = cv
        self.assignment = assignment
        self.class_order = class_order
        self.class_weight = class_weight
        self.reservoir = reservoir
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def estimators_(self) -> list[Any]:
        """The trained binary classifiers, one for each distinct problem."""
        return self._trained_estimators()

    def held_out_decisions(
        self, X: Any, y: Any, folds: Folds
    ) -> tuple[NDArray[Any], NDArray[Any], Array] | None:
        """Return what :meth:`predict` says of each sample when its fold is not trained on.

        The problems of all folds are trained at once, by a :class:`~polychotomy.SharedKernelSVC` on
        a GPU. The code is the same for all folds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        folds : sequence of (ndarray, ndarray)
            The samples to train on and those that are held out, for each fold.

        Returns
        -------
        classes, labels, scores : ndarray, or None
            The labels of all classes, that of each sample, and what :meth:`decision_function`
            says. None if folds have to be trained one by one: with probabilities, with weights,
            by other learners, and where a fold's samples decide on the code.
        """
        chosen = (self.probability, self.assignment, self.class_order, self.class_weight)
        if any(option is not None for option in chosen) or not hasattr(self.estimator, "held_out"):
            return None
        X, y = check_data(self, X, y)
        classes, indices = check_labels(y)
        if any(len(np.unique(indices[training])) < len(classes) for training, _ in folds):
            return None
        problems = self._lay_out(TrainingData(X, indices, classes, ordered_categories(y)))
        learners = self._route("fit", self._learners(), {}, None)
        trainer: Any = self._choose_trainer(problems, learners)
        outputs = trainer.held_out(X, indices, folds)
        if outputs is None:
            return None
        readout, ask = self._choose_readout(problems, trainer), KnownOutputs(outputs)
        return classes, classes[readout.decide(ask)[0]], readout.decision(readout.scores(ask))

    def _lay_out(self, data: TrainingData) -> Problems:
        classes = data.classes
        code = self._code_for(classes, check_random_state(self.random_state))
        if isinstance(self.code, str) and code.is_one_vs_one and len(classes) >= _MANY_CLASSES:
            refuse_pairs(code, self._learners()["estimator"], data.X, data.y)
        if code.n_problems > _MANY_PROBLEMS:
            needed = {f"{code.n_problems} binary problems": _BYTES_OF_PROBLEM * code.n_problems}
            advice = "Take a code of fewer problems, such as 'one_vs_rest' or 'dense_random'."
            check_room(needed, advice)
        if self.assignment is not None:
            code = self._assigned(code, data)
        order = self._order(data)
        nodes, flat = single_node(code, order), code
        if order is None and self.assignment is None:
            check_ordered(self.code, classes)
        elif order is not None:
            flat = code.reordered(nodes[0].child)
        return Problems(classes, flat, nodes, describe_problems(flat.columns, classes))

    def _choose_trainer(
        self, problems: Problems, learners: Mapping[str, Learner], *, in_batches: bool = False
    ) -> Trainer:
        return self._trainer(problems, (learners["estimator"],), in_batches=in_batches)

    def _assigned(self, code: Code, data: TrainingData) -> Code:
        """Return the code with the codewords given to classes by the distances of their means."""
        if not isinstance(self.assignment, str) or self.assignment not in ("similar", "spread"):
            raise unknown_name("assignment", self.assignment, ["similar", "spread"])
        if self.class_order is not None:
            raise ValueError(
                "The 'assignment' parameter says which class gets which codeword, and so does "
                "'class_order'. Give one of them."
            )
        if get_tags(self).input_tags.pairwise:
            raise ValueError(
                "The 'assignment' parameter needs the means of the classes, for which a "
                "precomputed kernel is not enough. Give a code with its rows in order."
            )
        y = np.asarray(data.y)
        distances = class_distances(data.X, y, "centroid", sample_weight=data.weight)
        return code.assigned(distances, similar=self.assignment == "similar")

    def _learns_in_batches(self) -> bool:
        if self.decoder == "class_means":
            raise AttributeError(
                "decoder='class_means' needs the outputs of all training samples: use fit, or "
                "another decoder with partial_fit."
            )
        return self.assignment is None and super()._learns_in_batches()

    def _code_for(self, classes: NDArray[Any], rng: Any) -> Code:
        return resolve_code(self.code, classes, rng)
