"""Converters for this library's classifiers, registered in skl2onnx."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.classifiers import (
    CodeClassifier,
    KernelSBCClassifier,
    SingleBinaryClassifier,
    TreeClassifier,
    has_rules,
    parts_of,
)
from polychotomy.errors import ModelError, require
from polychotomy.evaluate import Preparation
from polychotomy.export._graph import Graph, Name
from polychotomy.export._learner_outputs import LearnerOutputs
from polychotomy.export._preparation_graph import prepared
from polychotomy.export._readout_graph import (
    ReadoutGraph,
    closed_alternatives,
    iterative_methods,
)
from polychotomy.export._trained_outputs import trained_outputs
from polychotomy.kernel import SharedKernelSVC
from polychotomy.learners import TrainedProblem
from polychotomy.linear import SharedLinear

_CLASSIFIERS = (CodeClassifier, TreeClassifier, SingleBinaryClassifier, KernelSBCClassifier)
_LEARNERS = (SharedKernelSVC, SharedLinear)
_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "output_class_labels": [False, True],
    "nocl": [False, True],
}


def register() -> None:
    """Register the classifiers of this library in skl2onnx, so that it converts them in pipelines.

    Importing ``polychotomy.export`` does so where skl2onnx is installed; calling it again changes
    nothing.

    Raises
    ------
    MissingExtraError
        If skl2onnx is not installed (extra ``onnx``).
    """
    skl2onnx = require("skl2onnx", extra="onnx")
    for kind in (*_CLASSIFIERS, *_LEARNERS):
        skl2onnx.update_registered_converter(
            kind,
            f"Polychotomy{kind.__name__}",
            _set_shapes,
            _convert_classifier if kind in _CLASSIFIERS else _convert_learner,
            parser=_parse,
            options=_OPTIONS,
        )
    skl2onnx.update_registered_converter(
        Preparation, "PolychotomyPreparation", _set_prepared_shape, _convert_preparation
    )


def has_exported_probabilities(model: Any) -> bool:
    """Whether a classifier has probabilities that are closed formulas."""
    if not has_rules(model):
        return hasattr(model, "predict_proba")
    readout = parts_of(model)[2]
    has_any = model.probability is not None and readout.calibrators is not None
    return has_any and not iterative_methods(readout)


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the outputs of a classifier: labels, and probabilities where they are exported."""
    from skl2onnx._parse import _parse_sklearn_classifier
    from skl2onnx.common.data_types import Int64TensorType

    if has_exported_probabilities(model):
        return _parse_sklearn_classifier(scope, model, inputs, custom_parsers=custom_parsers)
    _warn_of_iteration(model)
    operator = scope.declare_local_operator(f"Polychotomy{type(model).__name__}", model)
    operator.inputs.extend(inputs)
    operator.outputs.append(scope.declare_local_variable("label", Int64TensorType()))
    return operator.outputs


def _warn_of_iteration(model: Any) -> None:
    """Warn about probabilities that are not exported, and say what to do."""
    readout = parts_of(model)[2] if has_rules(model) else None
    methods = [] if readout is None or model.probability is None else iterative_methods(readout)
    if readout is None or not methods:
        return
    closed = " or ".join(f"probability={name!r}" for name in closed_alternatives(readout))
    if readout.path == "least_squares":
        closed = "solve='most_probable'"
    warnings.warn(
        f"Only labels are exported, and no probabilities: {' and '.join(map(repr, methods))} finds "
        f"them by iteration. For probabilities, train with {closed or 'another code'}.",
        UserWarning,
        stacklevel=2,
    )


def _set_shapes(operator: Any) -> None:
    """Declare types and shapes of a classifier's outputs."""
    from skl2onnx.common.data_types import guess_tensor_type

    model, n = operator.raw_operator, operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = _label_type(model)([n])
    if len(operator.outputs) > 1:
        kind = type(guess_tensor_type(operator.inputs[0].type))
        operator.outputs[1].type = kind([n, len(model.classes_)])


def _label_type(model: Any) -> Any:
    """Return the type of a classifier's labels in ONNX."""
    from skl2onnx.common import data_types

    kind = model.classes_.dtype.kind
    if kind == "O" and all(isinstance(label, str) for label in model.classes_):
        kind = "U"
    names = {
        "i": "Int64TensorType",
        "u": "Int64TensorType",
        "U": "StringTensorType",
        "b": "BooleanTensorType",
        "f": "DoubleTensorType",
    }
    if kind not in names:
        raise ModelError(
            "Labels must be numbers, strings or truth values to be exported. "
            f"Got {type(model.classes_[0]).__name__} among them."
        )
    return getattr(data_types, names[kind])


def _samples(g: Graph, operator: Any) -> Name:
    """Return all inputs, side by side in double precision."""
    return g.beside([g.double(each.full_name) for each in operator.inputs])


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Add a reduction to the graph."""
    model, g = operator.raw_operator, Graph(scope, container)
    problems, trained, readout = parts_of(model)
    if len(operator.outputs) > 1 and not has_exported_probabilities(model):
        raise ModelError(
            f"The probabilities of this {type(model).__name__} cannot be exported, and what is "
            "built upon it needs them. Train it with a method for probabilities that is a closed "
            "formula."
        )
    way_back = ReadoutGraph(g, readout, trained_outputs(g, _samples(g, operator), trained))
    _set_label(g, operator, way_back.classes(), problems.classes)
    if len(operator.outputs) > 1:
        _set_probabilities(g, operator, way_back.probabilities())


def _convert_learner(scope: Any, operator: Any, container: Any) -> None:
    """Add a SharedKernelSVC or SharedLinear that was trained by itself."""
    model, g = operator.raw_operator, Graph(scope, container)
    x, k = _samples(g, operator), len(model.classes_)
    if k == 2:
        ask = LearnerOutputs(g, x, [TrainedProblem(model)])
        positive = g("Greater", ask("margin", [0]), 0.0)
        _set_label(g, operator, g.integer(positive), model.classes_)
        if len(operator.outputs) > 1:
            q = ask("probability", [0])
            _set_probabilities(g, operator, g.beside([g.one_minus(q), q]))
        return
    margins = g("Add", g.product(x, model.coef_.T), np.asarray(model.intercept_)[np.newaxis])
    _set_label(g, operator, g.best(margins), model.classes_)
    if len(operator.outputs) > 1:
        plus = g("Max", g("Sigmoid", margins), 1e-300)
        _set_probabilities(g, operator, g("Div", plus, g.reduce("ReduceSum", plus)))


def _set_prepared_shape(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType

    n = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = DoubleTensorType([n, None])


def _convert_preparation(scope: Any, operator: Any, container: Any) -> None:
    g, inputs = Graph(scope, container), [each.full_name for each in operator.inputs]
    _write(g, prepared(g, inputs, operator.raw_operator), operator.outputs[0])


def _set_label(g: Graph, operator: Any, number: Name, classes: NDArray[Any]) -> None:
    """Write the labels of classes given by their numbers (n × 1)."""
    flat = g("Reshape", number, np.array([-1]))
    labels = classes.astype(bool) if classes.dtype.kind == "b" else classes
    label = g("Gather", g.constant(labels), flat)
    _write(g, label, operator.outputs[0])


def _set_probabilities(g: Graph, operator: Any, p: Name) -> None:
    from skl2onnx.common.data_types import guess_proto_type

    cast = g("Cast", p, to=guess_proto_type(operator.outputs[1].type))
    _write(g, cast, operator.outputs[1])


def _write(g: Graph, name: Name, variable: Any) -> None:
    node = g.scope.get_unique_operator_name("poly_Identity")
    g.container.add_node("Identity", [name], [variable.full_name], name=node)
