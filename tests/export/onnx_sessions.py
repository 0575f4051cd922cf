"""Running exported models, and comparing them with the models they come from."""

import warnings

import numpy as np
import onnxruntime
from onnxruntime import InferenceSession, SessionOptions
from sklearn.utils.fixes import parse_version

from polychotomy.export import to_onnx

LABELS_ONLY = "Only labels are exported"


def session_of(exported):
    options = SessionOptions()
    options.log_severity_level = 3
    return InferenceSession(
        exported.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(exported, X):
    """Return the labels and, if there are any, the probabilities."""
    answers = session_of(exported).run(None, {"X": X})
    return answers[0], (answers[1] if len(answers) > 1 else None)


def quietly(model, *args, **kwargs):
    """Export, without the warning that there are only labels."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=LABELS_ONLY)
        return to_onnx(model, *args, **kwargs)


KNOWS_NO_ROWS = parse_version(onnxruntime.__version__) >= parse_version("1.31")


def is_clear(model, X, least=1e-5):
    """Return which samples have a clear winner: others may be decided by rounding."""
    scores = model.decision_function(X)
    if scores.ndim == 1:
        return np.abs(scores) > least
    ordered = np.sort(scores, axis=1)
    return ordered[:, -1] - ordered[:, -2] > least * np.abs(ordered[:, -1])


def check_same(model, X, *, probabilities=None):
    """Assert that onnxruntime answers as the model does, for many, one and no rows.

    Versions of onnxruntime before 1.31 end the process where TopK is given no rows.
    `probabilities` says whether there must be some, or must be none.
    """
    X = X.astype(np.float32)
    session = session_of(quietly(model))
    answers = session.run(None, {"X": X})
    clear = is_clear(model, X)
    assert clear.mean() > 0.2
    np.testing.assert_array_equal(answers[0][clear], model.predict(X)[clear])
    if probabilities is not None:
        assert len(answers) == 1 + probabilities
    if len(answers) > 1:
        np.testing.assert_allclose(answers[1], model.predict_proba(X), atol=1e-5)
    for n in (0, 1) if KNOWS_NO_ROWS else (1,):
        for answer, whole in zip(session.run(None, {"X": X[:n]}), answers, strict=True):
            assert answer.shape == (n, *whole.shape[1:])
            np.testing.assert_array_equal(answer, whole[:n])
