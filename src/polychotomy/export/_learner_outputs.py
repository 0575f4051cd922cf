"""Outputs of binary classifiers as graphs: margins, probabilities and sides.

Linear models and SVMs are computed here, those on the same features together. Everything else is
converted by skl2onnx, after a trial.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Array
from polychotomy.errors import ModelError
from polychotomy.export._formula_learners import FORMULAS, formula_margins
from polychotomy.export._graph import Graph, Name
from polychotomy.export._joint_blocks import dense, kernel_margins, linear_margins
from polychotomy.export._trial import works_in
from polychotomy.learners import TrainedProblem, margin_factor

_LINEAR = (
    *("LinearDiscriminantAnalysis", "LinearSVC", "LogisticRegression", "LogisticRegressionCV"),
    *("PassiveAggressiveClassifier", "Perceptron", "RidgeClassifier", "RidgeClassifierCV"),
    *("SGDClassifier", "SharedLinear"),
)
_SVMS = ("NuSVC", "SVC", "SharedKernelSVC")


@dataclass(frozen=True)
class Threshold:
    """A learner's own threshold: the side is + where an output is at least `value`.

    Attributes
    ----------
    kind : {"margin", "probability"}
    value : float
    turned : bool
        Whether output and side are those of the learner's first label.
    """

    kind: str
    value: float
    turned: bool


@dataclass(frozen=True, eq=False)
class Innermost:
    """A binary classifier without the pipeline, search or threshold around it.

    Attributes
    ----------
    estimator : classifier
        Gives the margins or probabilities.
    steps : tuple of estimators
        The transformers before it.
    threshold : Threshold or None
    """

    estimator: Any
    steps: tuple[Any, ...] = ()
    threshold: Threshold | None = None

    @classmethod
    def of(cls, estimator: Any) -> "Innermost":
        """Look into pipelines, searches, frozen estimators and those with a threshold."""
        from sklearn.frozen import FrozenEstimator
        from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
        from sklearn.pipeline import Pipeline

        if isinstance(estimator, FrozenEstimator):
            return cls.of(estimator.estimator)
        if hasattr(estimator, "best_estimator_"):
            return cls.of(estimator.best_estimator_)
        if isinstance(estimator, Pipeline):
            before = tuple(s for _, s in estimator.steps[:-1] if s not in (None, "passthrough"))
            found = cls.of(estimator.steps[-1][1])
            return replace(found, steps=before + found.steps)
        if isinstance(estimator, FixedThresholdClassifier | TunedThresholdClassifierCV):
            found = cls.of(estimator.estimator_)
            return replace(found, threshold=_threshold(estimator))
        return cls(estimator)

    @property
    def name(self) -> str:
        """The class of the estimator."""
        return type(self.estimator).__name__

    @property
    def link(self) -> str | None:
        """How margins become probabilities, or None if there is no formula."""
        e = self.estimator
        if self.name == "SGDClassifier":
            return {"log_loss": "logistic", "modified_huber": "huber"}.get(e.loss)
        if self.name == "SharedLinear":
            return "logistic" if e.loss == "logistic" else None
        known = ("LinearDiscriminantAnalysis", "LogisticRegression", "LogisticRegressionCV")
        by_formula = self.is_formula and hasattr(e, "predict_proba")
        return "logistic" if self.name in known or by_formula else None

    @property
    def is_linear(self) -> bool:
        """Whether it is computed here, as a linear function."""
        return _is_of(self.estimator, _LINEAR)

    @property
    def is_formula(self) -> bool:
        """Whether it is computed here, by a formula of its own."""
        return _is_of(self.estimator, tuple(FORMULAS))

    @property
    def is_svm(self) -> bool:
        """Whether it is computed here, as a sum over support vectors."""
        return (
            _is_of(self.estimator, _SVMS) and getattr(self.estimator, "probability", 0) is not True
        )


def _is_of(estimator: Any, names: Sequence[str]) -> bool:
    kind = type(estimator)
    return kind.__name__ in names and kind.__module__.split(".")[0] in ("sklearn", "polychotomy")


def _threshold(estimator: Any) -> Threshold:
    """Return the threshold of one of scikit-learn's classifiers with a threshold."""
    methods = estimator._get_response_method()
    methods = [methods] if isinstance(methods, str) else methods
    method = next(each for each in methods if hasattr(estimator.estimator_, each))
    tuned = hasattr(estimator, "best_threshold_")
    value: Any = estimator.best_threshold_ if tuned else estimator.threshold
    if value == "auto":
        value = 0.5 if method == "predict_proba" else 0.0
    label = getattr(estimator, "pos_label", None)
    if label is None and hasattr(estimator, "_curve_scorer"):
        label = estimator._curve_scorer._get_pos_label()
    turned = label is not None and label == estimator.classes_[0]
    kind = "probability" if method == "predict_proba" else "margin"
    return Threshold(kind, float(value), bool(turned))


def _kernel(svm: Any) -> Any:
    """Return the kernel of a trained SVM."""
    if hasattr(svm, "_model"):
        return svm._model.kernel
    gamma = getattr(svm, "_gamma", 1.0)
    return SimpleNamespace(name=svm.kernel, gamma=gamma, coef0=svm.coef0, degree=svm.degree)


@dataclass(eq=False)
class LearnerOutputs:
    """Outputs of separately trained binary problems, as tensors.

    Parameters
    ----------
    graph : Graph
    x : str
        The samples (n × d), in double precision.
    problems : sequence of TrainedProblem
    """

    graph: Graph
    x: Name
    problems: Sequence[TrainedProblem]
    _prepared: dict[Any, Name] = field(default_factory=dict)
    _columns: dict[tuple[str, int], Name] = field(default_factory=dict)
    _blocks: dict[Any, tuple[Name, dict[int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._inner = [
            Innermost(None) if p.estimator is None else Innermost.of(p.estimator)
            for p in self.problems
        ]

    def __call__(self, kind: str, which: Sequence[int]) -> Name:
        """Return outputs of a kind, a column for each problem in `which`."""
        blocks = [self._block_of(s) if kind != "side" else None for s in which]
        if blocks[0] is not None and all(block == blocks[0] for block in blocks):
            return self._of_block(kind, blocks[0], which)
        return self.graph.beside([self._column(kind, s) for s in which])

    def _column(self, kind: str, s: int) -> Name:
        if (kind, s) not in self._columns:
            self._columns[kind, s] = self._make_column(kind, s)
        return self._columns[kind, s]

    def _make_column(self, kind: str, s: int) -> Name:
        g, problem = self.graph, self.problems[s]
        if problem.estimator is None:
            nothing = {"margin": 0.0, "probability": 0.5, "side": -1.0}[kind]
            return g("Add", g("Mul", g.columns(self.x, [0]), 0.0), nothing)
        if kind == "side":
            return self._side(s)
        block = self._block_of(s)
        if block is not None:
            return self._of_block(kind, block, [s])
        said = self._converted(kind, s)
        if kind == "margin":
            factor = margin_factor(problem.estimator) * (-1.0 if problem.turned else 1.0)
            return said if factor == 1 else g("Mul", said, factor)
        return g.one_minus(said) if problem.turned else said

    def _side(self, s: int) -> Name:
        """Return −1 or +1, by the learner's own threshold or label."""
        g, problem, inner = self.graph, self.problems[s], self._inner[s]
        sign = -1.0 if problem.turned else 1.0
        if inner.threshold is not None:
            as_labelled = problem._replace(turned=False)
            said = LearnerOutputs(g, self.x, [as_labelled])(inner.threshold.kind, [0])
            return self._beyond(said, inner.threshold, sign)
        if self._block_of(s) is not None:
            positive = g("Greater", self._column("margin", s), 0.0)
            if problem.turned:
                positive = g("Not", g("Less", self._column("margin", s), 0.0))
            return g("Where", positive, 1.0, -1.0)
        positive = self._converted("side", s)
        return g("Where", positive, sign, -sign)

    def _beyond(self, said: Name, threshold: Threshold, sign: float) -> Name:
        g = self.graph
        if threshold.turned:
            said = g("Neg", said) if threshold.kind == "margin" else g.one_minus(said)
            sign = -sign
        below = g("Less", said, threshold.value)
        return g("Where", below, -sign, sign)

    # Blocks: problems that are computed together

    def _block_of(self, s: int) -> Any:
        """Return the key of the block that a problem belongs to, None if it is converted."""
        inner = self._inner[s]
        if inner.is_linear:
            key: tuple[Any, ...] = ("linear", inner.link)
        elif inner.is_formula:
            key = ("formula", inner.link, s)
        elif not inner.is_svm:
            return None
        else:
            kernel = _kernel(inner.estimator)
            key = ("kernel", kernel.name, kernel.gamma, kernel.coef0, kernel.degree)
            if kernel.name == "precomputed" and not inner.steps:
                return self.x, *key
        return (self._samples(s), *key)

    def _of_block(self, kind: str, key: Any, which: Sequence[int]) -> Name:
        g = self.graph
        if key not in self._blocks:
            members = [s for s in range(len(self.problems)) if self._block_of(s) == key]
            make = {"linear": self._linear, "formula": self._formula, "kernel": self._kernels}
            margins = make[key[1]](key[0], members)
            self._blocks[key] = margins, {s: c for c, s in enumerate(members)}
        margins, place = self._blocks[key]
        margins = g.columns(margins, [place[s] for s in which], len(place))
        turned = np.array([self.problems[s].turned for s in which])
        if turned.any():
            margins = g("Mul", margins, np.where(turned, -1.0, 1.0)[np.newaxis])
        if kind == "margin":
            return margins
        if key[2] == "logistic":
            return g("Sigmoid", margins)
        if key[2] == "huber":
            return g("Mul", g("Add", g("Max", g("Min", margins, 1.0), -1.0), 1.0), 0.5)
        raise ModelError(f"The probabilities of {self._inner[which[0]].name} cannot be exported.")

    def _linear(self, x: Name, members: Sequence[int]) -> Name:
        learners = [self._inner[s].estimator for s in members]
        weights = np.vstack([dense(e.coef_).reshape(1, -1) for e in learners])
        intercept = [float(np.ravel(e.intercept_)[0]) for e in learners]
        return linear_margins(self.graph, x, weights.T, np.array(intercept))

    def _formula(self, x: Name, members: Sequence[int]) -> Name:
        return formula_margins(self.graph, x, self._inner[members[0]].estimator)

    def _kernels(self, x: Name, members: Sequence[int]) -> Name:
        """Return the margins of SVMs with one kernel, over the union of their support vectors."""
        learners = [self._inner[s].estimator for s in members]
        vectors = [self._vectors(s) for s in members]
        union, place = np.unique(np.vstack(vectors), axis=0, return_inverse=True)
        places = np.split(place.ravel(), np.cumsum([len(v) for v in vectors])[:-1])
        weights = np.zeros((len(union), len(learners)))
        for c, (learner, rows) in enumerate(zip(learners, places, strict=True)):
            np.add.at(weights[:, c], rows, dense(learner.dual_coef_)[0])
        bias = np.array([float(np.ravel(e.intercept_)[0]) for e in learners])
        kernel = _kernel(learners[0])
        union = union[:, 0].astype(int) if kernel.name == "precomputed" else union
        return kernel_margins(self.graph, x, kernel, union, weights, bias)

    def _vectors(self, s: int) -> Array:
        """Return the support vectors of an SVM; their columns of a precomputed kernel."""
        svm, columns = self._inner[s].estimator, self.problems[s].kernel_columns
        if _kernel(svm).name != "precomputed":
            return dense(svm.support_vectors_)
        own = svm.support_ if columns is None else columns[svm.support_]
        return np.asarray(own, dtype=float)[:, np.newaxis]

    # What skl2onnx converts

    def _samples(self, s: int) -> Name:
        """Return the samples as a problem's innermost classifier sees them."""
        steps, columns = self._inner[s].steps, self.problems[s].kernel_columns
        if not steps and columns is None:
            return self.x
        key = s if steps else ("columns", s)
        if key not in self._prepared:
            x = self.x if columns is None else self.graph.columns(self.x, columns)
            self._prepared[key] = transformed(self.graph, x, steps) if steps else x
        return self._prepared[key]

    def _converted(self, kind: str, s: int) -> Name:
        """Return a column of the outputs of a classifier that skl2onnx converts."""
        estimator = self._inner[s].estimator
        label, scores = converted(self.graph, self._samples(s), estimator, kind)
        if kind != "side":
            return scores
        return _is_second(self.graph, label, np.asarray(estimator.classes_))


def transformed(g: Graph, x: Name, steps: Sequence[Any]) -> Name:
    """Return the samples after transformers that skl2onnx converts."""
    from skl2onnx._parse import _parse_sklearn

    for step in steps:
        variable = _variable(g, x, works_in(step, "transform"))
        found = _parse_sklearn(g.scope, step, [variable])
        x = g.beside([_without_last_row(g, g.double(each.full_name)) for each in found])
    return x


def converted(g: Graph, x: Name, estimator: Any, kind: str) -> tuple[Name, Name]:
    """Return the label, and margin or probability (n × 1), of a classifier by skl2onnx."""
    from skl2onnx._parse import _parse_sklearn

    precision = works_in(estimator, kind)
    own = copy(estimator)  # options belong to an object, and margins may be wanted as well
    options = {"zipmap": False, "raw_scores": kind == "margin"}
    known = g.container._get_allowed_options(own) or {}
    options = {name: value for name, value in options.items() if name in known}
    for each in (g.scope, g.container):
        each.add_options(id(own), options)
    label, scores = _parse_sklearn(g.scope, own, [_variable(g, x, precision)])[:2]
    margins = g.columns(g.double(scores.full_name), [1])
    return _without_last_row(g, label.full_name), _without_last_row(g, margins)


def _variable(g: Graph, x: Name, precision: str) -> Any:
    """Return samples as a variable of skl2onnx, with a row of zeros after them.

    Some of its converters fail without any row.
    """
    from onnx import TensorProto
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    double = precision == "double"
    kind = DoubleTensorType if double else FloatTensorType
    variable = g.scope.declare_local_variable("poly_samples", kind([None, None]))
    cast = TensorProto.DOUBLE if double else TensorProto.FLOAT
    name = g.scope.get_unique_operator_name("poly_Cast")
    padded = g("Pad", x, np.array([0, 0, 1, 0]))
    g.container.add_node("Cast", [padded], [variable.full_name], name=name, to=cast)
    return variable


def _without_last_row(g: Graph, x: Name) -> Name:
    return g("Slice", x, np.array([0]), np.array([-1]), np.array([0]))


def _is_second(g: Graph, label: Name, classes: NDArray[Any]) -> Name:
    """Return whether labels are the second of two classes (n × 1)."""
    shape = np.array([-1, 1])
    if classes.dtype.kind in "UO":
        label = g(
            "LabelEncoder",
            label,
            domain="ai.onnx.ml",
            keys_strings=[str(each) for each in classes],
            values_int64s=[0, 1],
        )
        return g("Equal", g("Reshape", label, shape), np.array(1))
    return g("Equal", g("Reshape", g.integer(label), shape), np.array(int(classes[1])))
