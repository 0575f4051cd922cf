"""A small builder of ONNX graphs: operators are called, and arrays become constants."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Name = str
"""A tensor of the graph."""

_AXES_ARE_INPUTS_FROM = {"ReduceSum": 13}
_AXES_OF_OTHERS_ARE_INPUTS_FROM = 18
_VERSION_OF_ML = 2  # of LabelEncoder


class Graph:
    """A graph of ONNX in the making; all numbers are in double precision.

    ``graph("Add", x, 1.0)`` adds a node and returns the name of its output.

    Parameters
    ----------
    scope, container : objects of skl2onnx
        They name variables, and hold nodes and constants.
    """

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def __call__(
        self, op: str, *inputs: Any, n_outputs: int = 1, domain: str = "", **attrs: Any
    ) -> Any:
        """Add a node; inputs that are arrays or numbers become constants."""
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        outputs = [self.scope.get_unique_variable_name(f"poly_{op}") for _ in range(n_outputs)]
        self._emit(op, names, outputs, domain, attrs)
        return outputs[0] if n_outputs == 1 else tuple(outputs)

    def _emit(
        self, op: str, inputs: list[Name], outputs: list[Name], domain: str, attrs: dict[str, Any]
    ) -> None:
        name = self.scope.get_unique_operator_name(f"poly_{op}")
        version = _VERSION_OF_ML if domain else None
        self.container.add_node(
            op, inputs, outputs, op_domain=domain, op_version=version, name=name, **attrs
        )

    @property
    def opset(self) -> int:
        """The version of ONNX's operators."""
        return int(self.container.target_opset)

    def constant(self, value: Any) -> Name:
        """Return a constant: strings, truth values, int64, or else double precision."""
        from onnx import numpy_helper

        array = np.asarray(value)
        if array.dtype.kind in "UO":
            array = array.astype(object)
        elif array.dtype.kind != "b":
            array = array.astype(np.int64 if array.dtype.kind in "iu" else float)
        name = self.scope.get_unique_variable_name("poly_constant")
        tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape))
        if array.dtype == object:
            texts = [text.encode() for text in array.ravel().tolist()]
            self.container.add_initializer(name, tensor.data_type, list(array.shape), texts)
        else:
            self.container.add_initializer(name, tensor.data_type, list(array.shape), tensor)
        return name

    def reduce(self, op: str, x: Name, axis: int = 1) -> Name:
        """Reduce along an axis, which is kept."""
        if self.opset >= _AXES_ARE_INPUTS_FROM.get(op, _AXES_OF_OTHERS_ARE_INPUTS_FROM):
            return self(op, x, np.array([axis]), keepdims=1)
        return self(op, x, axes=[axis], keepdims=1)

    def double(self, x: Name) -> Name:
        """Return numbers in double precision."""
        from onnx import TensorProto

        return self("Cast", x, to=TensorProto.DOUBLE)

    def integer(self, x: Name) -> Name:
        """Return numbers as int64."""
        from onnx import TensorProto

        return self("Cast", x, to=TensorProto.INT64)

    def columns(
        self, x: Name, which: Sequence[int] | NDArray[Any], width: int | None = None
    ) -> Name:
        """Return some columns; if these are all `width` in order, x itself."""
        which = np.asarray(which, dtype=np.int64)
        if width is not None and np.array_equal(which, np.arange(width)):
            return x
        return self("Gather", x, which, axis=1)

    def beside(self, parts: Sequence[Name]) -> Name:
        """Return the columns of several tensors, side by side."""
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=1)

    def best(self, scores: Name) -> Name:
        """Return the column of the largest value of each row, of equal ones the first: n × 1."""
        return self("ArgMax", scores, axis=1, keepdims=1)

    def one_minus(self, x: Name) -> Name:
        """Return 1 − x."""
        return self("Sub", 1.0, x)

    def product(self, x: Name, matrix: NDArray[Any]) -> Name:
        """Return the product of x and a constant matrix."""
        return self("MatMul", x, np.asarray(matrix, dtype=float))

    def repeat(
        self,
        times: int,
        state: Sequence[Name],
        step: Callable[["Graph", Sequence[Name]], tuple[list[Name], Name]],
    ) -> list[Name]:
        """Repeat a step until nothing moves; return the last state.

        `step` takes a graph and the state, and returns the next state and how far each sample
        moved (n × 1). It ends when no sample moves by more than 1e-11, or after `times` steps.
        """
        from onnx import TensorProto, helper

        body = _Body(self)
        inner = [body.scope.get_unique_variable_name("poly_state") for _ in state]
        following, moved = step(body, inner)
        moving = body.integer(body("Greater", moved, 1e-11))
        going_on = body("Greater", body("ReduceSum", moving, keepdims=0), np.array(0))
        number, before = (body.scope.get_unique_variable_name("poly_loop") for _ in range(2))
        outputs = [body("Identity", name) for name in following]

        def described(name: Name, kind: int, shape: Any) -> Any:
            return helper.make_tensor_value_info(name, kind, shape)

        graph = helper.make_graph(
            body.nodes,
            self.scope.get_unique_operator_name("poly_body"),
            [
                described(number, TensorProto.INT64, []),
                described(before, TensorProto.BOOL, []),
                *(described(name, TensorProto.DOUBLE, [None, None]) for name in inner),
            ],
            [
                described(going_on, TensorProto.BOOL, []),
                *(described(name, TensorProto.DOUBLE, [None, None]) for name in outputs),
            ],
        )
        found = self(
            "Loop", np.array(times), np.array(True), *state, n_outputs=len(state), body=graph
        )
        return [found] if len(state) == 1 else list(found)


class _Body(Graph):
    """The body of a loop: constants and names belong to the graph around it."""

    def __init__(self, around: Graph) -> None:
        super().__init__(around.scope, around.container)
        self.nodes: list[Any] = []

    def _emit(
        self, op: str, inputs: list[Name], outputs: list[Name], domain: str, attrs: dict[str, Any]
    ) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attrs))
