"""``to_onnx``: export a trained model as a graph that runs without Python."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from polychotomy.classifiers import has_rules
from polychotomy.errors import ModelError, require
from polychotomy.export._converters import register


def to_onnx(model: Any, X: Any = None, *, target_opset: int | None = None) -> Any:
    """Return a trained model as an ONNX model.

    The inputs are float32 of shape (n, n_features) under the name ``X``, with any number n of rows.
    The outputs are ``label`` and, where they are closed formulas, ``probabilities``. The
    graph computes in double precision, except where skl2onnx converts in single precision.

    Parameters
    ----------
    model : estimator
        A trained classifier or search of this library, or a scikit-learn pipeline or search that
        contains one and that skl2onnx can convert.
    X : {array-like, data frame} or int, optional
        Samples, of which only the column types are used, or the number of features. By default
        the number that the model was trained with. A data frame gives one input per column, as
        a ColumnTransformer requires: float32, int64 or string.
    target_opset : int, optional
        The version of ONNX's operators, at least 14; by default the newest that skl2onnx knows.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ModelError
        If a binary classifier cannot be converted; it is named.
    MissingExtraError
        If skl2onnx is not installed (extra ``onnx``).

    Warns
    -----
    UserWarning
        If the probabilities are computed by iteration: only labels are exported then. The
        warning says what to choose instead.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxruntime import InferenceSession
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import CodeClassifier
    >>> from polychotomy.export import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CodeClassifier(code="one_vs_rest", probability="normalise").fit(X, y)
    >>> session = InferenceSession(to_onnx(model).SerializeToString())
    >>> labels, probabilities = session.run(None, {"X": X[:2].astype(np.float32)})
    >>> labels.tolist(), np.allclose(probabilities, model.predict_proba(X[:2]), atol=1e-5)
    ([0, 0], True)
    """
    skl2onnx = require("skl2onnx", extra="onnx")
    register()
    check_is_fitted(model)
    model = getattr(model, "best_estimator_", model)
    inputs = _initial_types(model, X)
    try:
        exported = skl2onnx.to_onnx(
            model,
            initial_types=inputs,
            options=_without_dictionaries(model),
            target_opset=target_opset,
        )
    except ModelError:
        raise
    except Exception as error:  # whatever the converters of other classes raise
        raise ModelError(
            f"The model cannot be converted by skl2onnx: {' '.join(str(error).split())[:300]}"
        ) from error
    return _with_names(exported, [name for name, _ in inputs])


def _with_names(exported: Any, names: list[str]) -> Any:
    """Give the inputs the names of the columns, in which skl2onnx replaces spaces and the like."""
    given = {i.name: name for i, name in zip(exported.graph.input, names, strict=True)}
    for node in exported.graph.node:
        node.input[:] = [given.get(name, name) for name in node.input]
    for each in exported.graph.input:
        each.name = given[each.name]
    return exported


def _without_dictionaries(model: Any) -> dict[int, dict[str, Any]]:
    """Return options by which probabilities are an array, and not a dictionary for each sample."""
    parts = [model]
    while isinstance(parts[-1], Pipeline):
        parts.append(parts[-1].steps[-1][1])
    ours = has_rules(parts[-1]) or hasattr(parts[-1], "predict_proba")
    return {id(part): {"zipmap": False} for part in parts} if ours else {}


def _initial_types(model: Any, X: Any) -> list[tuple[str, Any]]:
    """Return the names and types of the inputs."""
    from skl2onnx.common.data_types import FloatTensorType

    if hasattr(X, "columns"):
        return [(str(name), _column_type(X[name])) for name in X.columns]
    if X is None:
        width = getattr(model, "n_features_in_", None)
        if width is None:
            raise ModelError(
                "The number of features is not known: give it, or some samples, as the second "
                "argument of to_onnx."
            )
    else:
        width = X if isinstance(X, int | np.integer) else np.shape(X)[1]
    return [("X", FloatTensorType([None, int(width)]))]


def _column_type(column: Any) -> Any:
    """Return the type of the input for a column of a data frame."""
    from skl2onnx.common import data_types

    kind = getattr(column.dtype, "kind", "O")
    names = {"f": "FloatTensorType", "i": "Int64TensorType", "u": "Int64TensorType"}
    return getattr(data_types, names.get(kind, "StringTensorType"))([None, 1])
