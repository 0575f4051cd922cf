"""Labels and probabilities of every code by every decoder and every method."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import CodeClassifier, available_codes, make_code
from polychotomy.classifiers import with_rules
from polychotomy.decoding import RULES
from polychotomy.probability import METHODS
from tests.export.onnx_sessions import check_same

K = 6
CODES = [name for name in available_codes() if name not in ("orthogonal",)]
DECODERS = sorted(RULES)
CLOSED = ("normalise", "votes", "product", "orthogonal", "prob 1-r", "prob 1-1")


def _data(k=K, seed=0):
    X, y = make_blobs(40 * k, 4, centers=k, cluster_std=3.0, random_state=seed)
    return X, y, np.random.default_rng(seed).uniform(-10, 10, (60, 4))


def _code(name, k=K):
    return make_code("orthogonal", 4) if name == "orthogonal" else make_code(name, k)


def _suits(decoder, code):
    return decoder != "ddag" or code.is_one_vs_one


@pytest.mark.parametrize("name", ["one_vs_rest", "one_vs_one", "sparse_random", "trellis"])
def test_labels_of_a_code_by_all_decoders(name):
    code = _code(name)
    X, y, new = _data(code.n_classes)
    trained = CodeClassifier(LinearSVC(random_state=0), code, probability=None).fit(X, y)
    for decoder in (d for d in DECODERS if _suits(d, code)):
        check_same(with_rules(trained, decoder, None), new, probabilities=False)


@pytest.mark.slow
@pytest.mark.parametrize("decoder", [*DECODERS, "probability"])
@pytest.mark.parametrize("name", [*CODES, "orthogonal"])
@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(),
        LinearSVC(random_state=0),
        DecisionTreeClassifier(max_depth=3, random_state=0),
    ],
)
def test_labels_of_every_code_by_every_decoder(learner, name, decoder):
    code = _code(name)
    if not _suits(decoder, code):
        pytest.skip("a DDAG needs a one-vs-one code")
    X, y, new = _data(code.n_classes, seed=1)
    check_same(CodeClassifier(learner, code, decoder=decoder, cv=2).fit(X, y), new)


@pytest.mark.parametrize(
    "calibration",
    [
        "isotonic",
        *(pytest.param(c, marks=pytest.mark.slow) for c in ("none", "sigmoid", "logistic")),
    ],
)
@pytest.mark.parametrize("name", ["one_vs_rest", "one_vs_one", "exhaustive", "orthogonal"])
def test_probabilities_of_a_code_by_all_methods(name, calibration):
    code = make_code(name, 4)
    X, y, new = _data(4)
    trained = CodeClassifier(
        LogisticRegression(), code, probability="auto", calibration=calibration, cv=2
    ).fit(X, y)
    for method in (m for m in METHODS if METHODS[m].suits(code)):
        projected = method == "least_squares" and name in ("one_vs_rest", "orthogonal")
        closed = method in (*CLOSED, "inverse") or projected
        check_same(with_rules(trained, None, method), new, probabilities=closed)


@pytest.mark.parametrize("method", ["least_squares", "kullback_leibler", "coupling"])
@pytest.mark.parametrize("name", ["one_vs_one", "dense_random", "sparse_random"])
def test_the_most_probable_class_is_exported_where_probabilities_are_not(name, method):
    code = make_code(name, K)
    if not METHODS[method].suits(code):
        pytest.skip("coupling needs a one-vs-one code")
    X, y, new = _data(seed=2)
    model = CodeClassifier(
        LinearSVC(random_state=0), code, decoder="probability", probability=method, cv=2
    ).fit(X, y)
    check_same(model, new, probabilities=False)


def test_outputs_beyond_the_range_of_exponentials_are_decoded():
    X, y, new = _data()
    model = CodeClassifier(
        LinearSVC(random_state=0), "one_vs_rest", decoder="exponential", probability=None
    ).fit(X, y)
    check_same(model, 1e4 * new, probabilities=False)
