"""A binary learner, untrained and trained: its loss, its kinds of output, fresh copies of it."""

import re
from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import _routing_enabled
from sklearn.utils.validation import has_fit_parameter

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.codes import RuleMatrix, column_blocks

_PAIR = re.compile(r"\w+=\S.*", re.DOTALL)
_LONGEST_OPTIONS = 1000
_KINDS = (is_classifier, is_regressor)

_LOSS_OF = {
    "AdaBoostClassifier": "exponential",
    "HistGradientBoostingClassifier": "logistic",
    "LinearSVC": "hinge",
    "LogisticRegression": "logistic",
    "LogisticRegressionCV": "logistic",
    "NuSVC": "hinge",
    "PassiveAggressiveClassifier": "hinge",
    "RidgeClassifier": "squared",
    "RidgeClassifierCV": "squared",
    "SVC": "hinge",
    "SharedKernelSVC": "hinge",
    "StumpBoosting": "exponential",
}

# Classifiers whose loss is a parameter.
_LOSS_OF_PARAMETER = {
    "GradientBoostingClassifier": {"log_loss": "logistic", "exponential": "exponential"},
    "SGDClassifier": {
        "hinge": "hinge",
        "squared_hinge": "hinge",
        "perceptron": "hinge",
        "log_loss": "logistic",
        "modified_huber": "hinge",
        "squared_error": "squared",
    },
    "SharedLinear": {"squared": "squared", "squared_hinge": "hinge", "logistic": "logistic"},
}

# Learners whose probabilities are used as they are, by package and class, so that none is imported:
# those that minimise the log loss, with the values of the parameter that says so; Gaussian
# processes; what is calibrated already; and averages of trees: a sigmoid raised the log loss of
# random forests on most of six data sets. It lowered that of naive Bayes, single trees and
# neighbours, which are not among them; others are calibrated because nothing is known of them.
_TRUSTED: dict[tuple[str, str], tuple[str, tuple[str | None, ...]] | None] = {
    **{
        ("sklearn", name): None
        for name in (
            "BaggingClassifier",
            "CalibratedClassifierCV",
            "ExtraTreesClassifier",
            "GaussianProcessClassifier",
            "HistGradientBoostingClassifier",
            "LogisticRegression",
            "LogisticRegressionCV",
            "MLPClassifier",
            "RandomForestClassifier",
        )
    },
    ("sklearn", "GradientBoostingClassifier"): ("loss", ("log_loss",)),
    ("sklearn", "SGDClassifier"): ("loss", ("log_loss",)),
    ("polychotomy", "SharedLinear"): ("loss", ("logistic",)),
    ("catboost", "CatBoostClassifier"): ("loss_function", (None, "Logloss", "CrossEntropy")),
    ("lightgbm", "LGBMClassifier"): ("objective", (None, "binary", "cross_entropy", "xentropy")),
    ("tabpfn", "TabPFNClassifier"): None,
    ("xgboost", "XGBClassifier"): ("objective", (None, "binary:logistic")),
}


class Says(NamedTuple):
    """What a learner's outputs are.

    `loss` is the margin loss that it minimises, None if not known; `kinds` are the kinds of output
    that it offers, of "margin" and "probability"; `trusted` says whether its probabilities need no
    calibration, and `name` what it is called.
    """

    loss: str | None
    kinds: tuple[str, ...]
    trusted: bool = False
    name: str = "the estimator"


@runtime_checkable
class JointLearner(Protocol):
    """A classifier that trains all problems at once.

    Besides ``fit`` and the other methods of a binary classifier it has ``fit_joint(X, targets,
    sample_weight=None, done=None)``. `targets` is an int8 array of −1, 0 and +1 of shape
    (n_samples, n_problems), the problems of calibration folds as further columns; `done` is called
    with the number of each problem that is solved. It returns a model with ``outputs(X)`` of shape
    (n_samples, n_problems), ``part(problems)``, the model of some problems, and ``estimator(s)``,
    one problem as a trained classifier of the labels 0 and 1. A learner with ``predict_proba`` but
    no ``decision_function`` gives a model whose ``outputs(X, "probability")`` are probabilities.
    """

    def fit_joint(self, X: Any, targets: Any, **options: Any) -> Any:
        """Train all problems."""
        ...


@dataclass(frozen=True, eq=False)
class Learner:
    """A binary classifier for some or all problems.

    Attributes
    ----------
    estimator : classifier
    params : mapping
        Arguments of its ``fit``, one value per sample where they are arrays.
    """

    estimator: Any
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_frozen(self) -> bool:
        """Whether it is trained already, and used as it is."""
        return isinstance(self.estimator, FrozenEstimator)

    @property
    def is_joint(self) -> bool:
        """Whether it trains all problems at once; a frozen learner is never trained."""
        return isinstance(self.estimator, JointLearner) and not self.is_frozen

    @property
    def says(self) -> Says:
        """The loss that it minimises, and the kinds of output that it offers."""
        methods = {"margin": "decision_function", "probability": "predict_proba"}
        kinds = tuple(kind for kind, name in methods.items() if hasattr(self.estimator, name))
        trusted = "probability" in kinds and has_trusted_probabilities(self.estimator)
        return Says(minimised_loss(self.estimator), kinds, trusted, type(self.estimator).__name__)

    def fresh(self, seed: int | None = None) -> Any:
        """Return a clone; its unset ``random_state`` parameters are drawn from `seed`, if given."""
        learner = clone(self.estimator)
        if seed is not None:
            rng = np.random.default_rng(seed)
            unset = {
                name: int(rng.integers(2**31))
                for name, value in sorted(learner.get_params(deep=True).items())
                if name.rpartition("__")[2] == "random_state" and value is None
            }
            learner.set_params(**unset)
        return learner

    def is_turned(self, minus: NDArray[Any], plus: NDArray[Any]) -> bool:
        """Whether the first label of a frozen learner is the +1 side of a problem.

        That is so where its labels are the classes of the two sides and say so. Otherwise its
        second label is the +1 side.
        """
        if not (self.is_frozen and len(minus) == len(plus) == 1):
            return False
        known, labels = np.asarray(self.estimator.classes_), np.concatenate([plus, minus])
        # False and True are sides, and not the classes 0 and 1.
        return (known.dtype == bool) == (labels.dtype == bool) and np.array_equal(known, labels)

    def weight(self, n_samples: int) -> Array:
        """Return the weights of the samples, 1 if none were given.

        Raises ValueError for weights that its ``fit`` does not take.
        """
        given = self.params.get("sample_weight")
        if given is None:
            return np.ones(n_samples)
        routed = _routing_enabled()  # then scikit-learn has checked
        if not routed and not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"{type(self.estimator).__name__} takes no sample_weight. Leave the weights (or "
                "'class_weight') out, take another estimator or, for a pipeline, use "
                "scikit-learn's metadata routing."
            )
        return np.asarray(given, dtype=float)


class TrainedProblem(NamedTuple):
    """One trained binary problem.

    `estimator` is None while incremental training has seen no sample of the problem's classes.
    `kernel_columns` are the training samples whose kernel values the estimator expects, None if
    it does not work on a precomputed kernel. `turned` says that its first label is the +1 side, as
    a frozen estimator may have it.
    """

    estimator: Any
    kernel_columns: Indices | None = None
    turned: bool = False

    def outputs(self, X: Any, kind: str) -> Array:
        """Return the margin, the probability of the +1 side, or the side (−1 or +1)."""
        if self.estimator is None:
            return np.full(X.shape[0], {"margin": 0.0, "probability": 0.5, "side": -1.0}[kind])
        if self.kernel_columns is not None:
            X = X[:, self.kernel_columns]
        sign = -1.0 if self.turned else 1.0
        if kind == "side":
            plus = np.asarray(self.estimator.predict(X)) == self.estimator.classes_[1]
            return np.where(plus, sign, -sign)
        if kind == "margin":
            margins = self._columns("decision_function", X, width=1)[:, 0]
            return margins * (sign * margin_factor(self.estimator))
        return self._columns("predict_proba", X, width=2)[:, 0 if self.turned else 1]

    def _columns(self, method: str, X: Any, width: int) -> Array:
        """Return what a method gives for X, which must have the right shape."""
        said = np.asarray(getattr(self.estimator, method)(X), dtype=float)
        if said.ndim == 1 and width == 1:
            said = said[:, np.newaxis]
        if said.shape != (X.shape[0], width):
            raise ValueError(
                f"{method} of a binary classifier must give {width} value(s) for each of "
                f"{X.shape[0]} samples. {self.estimator!r} gave an array of shape {said.shape}."
            )
        return said


def problem_seeds(random_state: Any, columns: Matrix | RuleMatrix) -> NDArray[np.int_] | None:
    """Return a seed for each problem, the same in whatever code it occurs; None without seeds."""
    if random_state is None:
        return None
    first = check_random_state(random_state).randint(2**31)
    blocks = (block for _, block in column_blocks(columns))
    return np.array([crc32(column.tobytes(), first) for block in blocks for column in block.T])


def check_learner(estimator: Any, *, name: str = "estimator") -> Any:
    """Return a binary classifier, a logistic regression for None.

    Raises ValueError if it is not a classifier with margins or probabilities.
    """
    if estimator is None:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression()
    try:
        kinds = [not isinstance(estimator, type) and is_a(estimator) for is_a in _KINDS]
    except (AttributeError, TypeError):
        kinds = [False, False]
    if not (kinds[0] and hasattr(estimator, "fit")):
        reason = ""
        if kinds[1]:
            reason = (
                " A regressor predicts numbers, not sides: for least squares on ±1 take "
                "RidgeClassifier(), otherwise the classifier of its kind."
            )
        raise ValueError(
            f"The {name!r} parameter must be a classifier instance such as SVC(). "
            f"Got {_name(estimator)} instead.{reason}"
        )
    if not (hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")):
        raise ValueError(
            f"The {name!r} parameter must have decision_function or predict_proba: decoding "
            f"needs margins or probabilities. {_name(estimator)} has neither; wrap it in "
            "sklearn.calibration.CalibratedClassifierCV or take another classifier."
        )
    return estimator


def minimised_loss(estimator: Any) -> str | None:
    """Return the decoding rule for the loss that `estimator` minimises, None if unknown.

    Looks at the last step of a pipeline and at what a search object searches over, and knows
    subclasses by their parents.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> from polychotomy.learners import minimised_loss
    >>> minimised_loss(make_pipeline(StandardScaler(), SVC()))
    'hinge'
    """
    learner = _innermost(estimator)
    if not hasattr(learner, "decision_function"):
        return None
    for ancestor in type(learner).__mro__:
        if ancestor.__name__ in _LOSS_OF:
            return _LOSS_OF[ancestor.__name__]
        if ancestor.__name__ in _LOSS_OF_PARAMETER:
            return _LOSS_OF_PARAMETER[ancestor.__name__].get(learner.loss)
    return None


def has_trusted_probabilities(estimator: Any) -> bool:
    """Return whether the probabilities of a learner are known to need no calibration.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from polychotomy.learners import has_trusted_probabilities
    >>> has_trusted_probabilities(LogisticRegression()), has_trusted_probabilities(GaussianNB())
    (True, False)
    """
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    learner = _innermost(estimator)
    while isinstance(learner, FixedThresholdClassifier | TunedThresholdClassifierCV):
        learner = _innermost(learner.estimator)
    for ancestor in type(learner).__mro__:
        key = ancestor.__module__.partition(".")[0], ancestor.__name__
        if key in _TRUSTED:
            condition = _TRUSTED[key]
            return condition is None or getattr(learner, condition[0], None) in condition[1]
    return False


def with_options(estimator: Any, text: str, known: Mapping[str, Any]) -> Any:
    """Return a learner with the parameters that an option string sets.

    Parameters
    ----------
    estimator : classifier
    text : str
        Such as ``"C=10 gamma=0.1"``; empty for the learner itself.
    known : mapping
        Names that could have been meant instead, for the error message.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from polychotomy.learners import with_options
    >>> with_options(SVC(), "C=10 gamma=0.1", {})
    SVC(C=10, gamma=0.1)
    """
    if not text:
        return estimator
    if len(text) > _LONGEST_OPTIONS:
        raise ValueError(
            f"The options of a problem may have {_LONGEST_OPTIONS} characters. Got {len(text)}."
        )
    params = {}
    for pair in re.split(r" (?=\w+=)", " ".join(text.split())):
        if not _PAIR.fullmatch(pair):
            names = ", ".join(map(repr, known)) or "none"
            raise ValueError(
                "The options of a problem must be parameters of the estimator, as in "
                "'C=10 gamma=0.1', or a name in the 'estimators' parameter (there: "
                f"{names}). Got {text!r}."
            )
        name, _, value = pair.partition("=")
        params[name] = _value(value)
    try:
        return clone(estimator).set_params(**params)
    except ValueError as error:
        error.add_note(f"This happened with the options {text!r} of a problem.")
        raise


def _value(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def _innermost(estimator: Any) -> Any:
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.pipeline import Pipeline

    while True:
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        elif isinstance(estimator, BaseSearchCV | FrozenEstimator):
            estimator = getattr(estimator, "best_estimator_", estimator.estimator)
        else:
            return estimator


def margin_factor(trained: Any) -> float:
    """Return what a margin is multiplied by to be that of the learner's loss.

    scikit-learn's AdaBoost divides 2 Σ w_t h_t, w_t = 2 α_t, by Σ w_t; the exponential loss is that
    of Σ α_t h_t.
    """
    learner = _innermost(trained)
    if any(ancestor.__name__ == "AdaBoostClassifier" for ancestor in type(learner).__mro__):
        return float(np.sum(learner.estimator_weights_)) / 4
    return 1.0


def _name(estimator: Any) -> str:
    return f"the class {estimator.__name__}" if isinstance(estimator, type) else repr(estimator)
