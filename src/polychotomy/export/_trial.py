"""Test whether skl2onnx converts an estimator, and converts it correctly."""

import warnings
from typing import Any

import numpy as np

from polychotomy.errors import ModelError, require

_SAMPLES = 25
_TOLERANCE = 1e-3
_MOST_WRONG = 0.2  # of the samples: neighbours, say, may be equally far

_known: dict[Any, str] = {}


def works_in(estimator: Any, kind: str) -> str:
    """Return the precision in which skl2onnx converts an estimator: "double" if it can, or "float".

    The first estimator with given class and parameters is converted on its own, run by onnxruntime
    on random samples, and compared with its own outputs.

    Parameters
    ----------
    estimator : classifier or transformer
        Trained.
    kind : {"margin", "probability", "side", "transform"}
        Which output is needed.

    Raises
    ------
    ModelError
        If it cannot be converted, or if the results differ.
    """
    key = type(estimator), kind, _parameters(estimator)
    if key not in _known:
        _known[key] = _try(estimator, kind)
    return _known[key]


def _parameters(estimator: Any) -> str:
    """Return the parameters, including those of nested classifiers, except random states."""
    params = sorted(estimator.get_params(deep=True).items())
    kept = {name: value for name, value in params if not name.endswith("random_state")}
    named = {n: type(v).__name__ if hasattr(v, "get_params") else repr(v) for n, v in kept.items()}
    return repr(named)


def _try(estimator: Any, kind: str) -> str:
    reason = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for precision in ("double", "float"):
            try:
                if _is_right(estimator, kind, precision):
                    return precision
                reason = "its results differ from those of scikit-learn"
            except Exception as error:  # whatever a converter or onnxruntime raises
                reason = reason or " ".join(str(error).split())[:80] or type(error).__name__
    skl2onnx = require("skl2onnx", extra="onnx")
    raise ModelError(
        f"{type(estimator).__name__} cannot be exported: skl2onnx {skl2onnx.__version__} does not "
        f"convert its {_WORDS[kind]} ({reason}). Train with another {_of_kind(kind)}."
    )


_WORDS = {
    "margin": "decision_function",
    "probability": "predict_proba",
    "side": "predict",
    "transform": "transform",
}


def _of_kind(kind: str) -> str:
    return "transformer" if kind == "transform" else "binary classifier"


def _is_right(estimator: Any, kind: str, precision: str) -> bool:
    """Return whether most random samples get the right answers; an error is no."""
    X = np.random.default_rng(0).normal(size=(_SAMPLES, estimator.n_features_in_))
    X = X.astype(np.float32)
    own = getattr(estimator, _WORDS[kind])(X)
    said = _run(estimator, kind, precision, X)
    if kind == "side":
        return bool(np.mean(said[0] != own) <= _MOST_WRONG)
    if kind == "transform":
        return bool(np.isclose(said[0], own, atol=_TOLERANCE, rtol=_TOLERANCE).all())
    own = own[:, 1] if kind == "probability" else own
    wrong = ~np.isclose(said[1][:, 1], own, atol=_TOLERANCE, rtol=_TOLERANCE)
    return bool(np.mean(wrong) <= _MOST_WRONG)


def _run(estimator: Any, kind: str, precision: str, X: Any) -> Any:
    """Convert an estimator by itself, and return its outputs for X."""
    skl2onnx = require("skl2onnx", extra="onnx")
    onnxruntime = require("onnxruntime", extra="onnx")
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    double = precision == "double"
    tensor = (DoubleTensorType if double else FloatTensorType)([None, X.shape[1]])
    options = {} if kind == "transform" else {"zipmap": False}
    if kind == "margin":
        options["raw_scores"] = True
    model = skl2onnx.to_onnx(
        estimator, initial_types=[("X", tensor)], options={id(estimator): options}
    )
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), quiet, providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"X": X.astype(float) if double else X})
