"""Outputs of trained problems as graphs, whether trained separately or jointly."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from polychotomy.errors import ModelError
from polychotomy.export._graph import Graph, Name
from polychotomy.export._joint_blocks import concatenated_margins, kernel_margins, linear_margins
from polychotomy.export._learner_outputs import LearnerOutputs
from polychotomy.kernel import ConcatenatedSVC, CoupledModel, JointSVC
from polychotomy.learners import (
    Concatenation,
    GatheredModel,
    Placement,
    ReplicatedModel,
    TrainedProblem,
)
from polychotomy.linear import JointLinear
from polychotomy.training import JointlyTrained, RememberedOutputs, SeparatelyTrained


class OutputsGraph(Protocol):
    """Tensors of outputs, as a readout asks for them."""

    def __call__(self, kind: str, which: Sequence[int]) -> Name:
        """Return outputs of a kind ("side", "margin" or "probability"), a column per problem."""
        ...


def trained_outputs(g: Graph, x: Name, trained: Any) -> OutputsGraph:
    """Return the outputs of trained problems for samples x (n × d, in double precision)."""
    if type(trained) not in _TRAINED:
        raise ModelError(f"Problems trained by {type(trained).__name__} cannot be exported.")
    return _TRAINED[type(trained)](g, x, trained)


class JointOutputs:
    """Outputs of problems that were trained at once: one block for all of them."""

    def __init__(self, graph: Graph, x: Name, model: Any) -> None:
        self._graph, self._x, self._model = graph, x, model
        self._known: dict[str, tuple[Name, int]] = {}

    def __call__(self, kind: str, which: Sequence[int]) -> Name:
        """Return outputs of a kind, a column for each problem in `which`."""
        outputs, width = self._all(kind)
        return self._graph.columns(outputs, which, width)

    def _all(self, kind: str) -> tuple[Name, int]:
        """Return the outputs of all problems, and how many there are."""
        g = self._graph
        if kind not in self._known and kind == "side":
            margins, width = self._all("margin")
            self._known[kind] = g("Where", g("Greater", margins, 0.0), 1.0, -1.0), width
        elif kind not in self._known:
            self._known[kind] = _block(g, self._x, self._model, kind)
        return self._known[kind]


def _block(g: Graph, x: Name, model: Any, kind: str) -> tuple[Name, int]:
    """Return the outputs of all problems of a joint model, and how many there are."""
    if type(model) not in _BLOCKS:
        raise ModelError(f"Models of the class {type(model).__name__} cannot be exported.")
    return _BLOCKS[type(model)](g, x, model, kind)


def _coupled(g: Graph, x: Name, model: CoupledModel, kind: str) -> tuple[Name, int]:
    return _block(g, x, model.best.model, kind)


def _linear(g: Graph, x: Name, model: JointLinear, kind: str) -> tuple[Name, int]:
    margins = linear_margins(g, x, model.weights_, model.intercept_)
    said = g("Sigmoid", margins) if kind == "probability" else margins
    return said, model.weights_.shape[1]


def _kernel(g: Graph, x: Name, model: JointSVC, kind: str) -> tuple[Name, int]:
    m = model.model
    vectors = m.support if m.vectors is None else m.vectors
    return kernel_margins(g, x, m.kernel, vectors, m.weights, m.bias), len(m.bias)


def _concatenated(g: Graph, x: Name, model: ConcatenatedSVC, kind: str) -> tuple[Name, int]:
    return concatenated_margins(g, x, model.model), model.model.weights.shape[1]


def _gathered(g: Graph, x: Name, model: GatheredModel, kind: str) -> tuple[Name, int]:
    """Return the problems of several joint models."""
    blocks: dict[int, tuple[Name, int]] = {}
    columns = []
    for own, place in model.places:
        if type(own) not in _BLOCKS:  # one of scikit-learn's learners
            problem = TrainedProblem(own.estimator(place))
            columns.append(LearnerOutputs(g, x, [problem])(kind, [0]))
            continue
        if id(own) not in blocks:
            blocks[id(own)] = _block(g, x, own, kind)
        columns.append(g.columns(blocks[id(own)][0], [place]))
    return g.beside(columns), len(columns)


def _replicated(g: Graph, x: Name, model: ReplicatedModel, kind: str) -> tuple[Name, int]:
    """Return the outputs of one classifier for all replicas, which become rows (n · ℓ)."""
    replicas, n_problems = model.replicas, model.replicas.code.n_problems
    Z = _REPLICAS[type(replicas)](g, x, replicas)
    said = LearnerOutputs(g, Z, [model.trained])(kind, [0])
    return g("Reshape", said, np.array([-1, n_problems])), n_problems


def _concatenation(g: Graph, x: Name, replicas: Concatenation) -> Name:
    """Return each sample with each row of a matrix appended."""
    appended = np.asarray(replicas.appended, dtype=float)
    p, a = appended.shape
    samples = g("Unsqueeze", x, np.array([1]))
    one = g("Mul", g("Gather", samples, np.array([0]), axis=2), 0.0)  # n × 1 × 1
    left = g("Add", samples, np.zeros((1, p, 1)))
    right = g("Add", one, appended[np.newaxis])
    Z = g("Concat", left, right, axis=2)
    width = g("Add", g("Shape", x, start=1), np.array([a]))
    return g("Reshape", Z, g("Concat", np.array([-1]), width, axis=0))


def _placement(g: Graph, x: Name, replicas: Placement) -> Name:
    """Return (1, x) in the place of one class and −(1, x) in that of another, for each pair."""
    code = replicas.code
    one = g("Add", g("Mul", g.columns(x, [0]), 0.0), 1.0)
    augmented = g("Unsqueeze", g.beside([one, x]), np.array([1, 2]))  # n × 1 × 1 × (d + 1)
    placed = g("Mul", augmented, code.matrix.T.astype(float)[np.newaxis, :, :, np.newaxis])
    width = g("Mul", g("Add", g("Shape", x, start=1), np.array([1])), np.array([code.n_classes]))
    return g("Reshape", placed, g("Concat", np.array([-1]), width, axis=0))


_TRAINED: dict[type, Callable[..., OutputsGraph]] = {
    SeparatelyTrained: lambda g, x, trained: LearnerOutputs(g, x, trained.problems),
    JointlyTrained: lambda g, x, trained: JointOutputs(g, x, trained.model),
    RememberedOutputs: lambda g, x, trained: trained_outputs(g, x, trained.trained),
}
_BLOCKS: dict[type, Callable[..., tuple[Name, int]]] = {
    ConcatenatedSVC: _concatenated,
    CoupledModel: _coupled,
    GatheredModel: _gathered,
    JointLinear: _linear,
    JointSVC: _kernel,
    ReplicatedModel: _replicated,
}
_REPLICAS: dict[type, Callable[..., Name]] = {
    Concatenation: _concatenation,
    Placement: _placement,
}
