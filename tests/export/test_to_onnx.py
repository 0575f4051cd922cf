"""The function itself: labels of all types, pipelines, skl2onnx, and what is refused."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import skl2onnx
from onnx import checker
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import polychotomy.export
from polychotomy import CodeClassifier, ReductionSearchCV
from polychotomy.errors import ModelError
from polychotomy.export import to_onnx
from tests.export.onnx_sessions import LABELS_ONLY, check_same, run, session_of

X, Y = make_blobs(120, 3, centers=4, cluster_std=3.0, random_state=7)
NEW = np.random.default_rng(7).uniform(-10, 10, (50, 3)).astype(np.float32)


def _normalised(**options):
    return CodeClassifier(LogisticRegression(), "one_vs_rest", probability="normalise", **options)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -1, 7, 4]),
        np.array([3, 1, 7, 4], dtype=np.uint8),
        np.array(["pin", "chêne", "a", "zz"]),
        np.array(["pin", "chêne", "a", "zz"], dtype=object),
        np.array([5.0, 1.0, -2.0, 7.0]),
    ],
    ids=["int", "uint8", "str", "object", "float"],
)
def test_labels_keep_their_type(labels, k):
    own = k > Y
    model = _normalised().fit(X[own], labels[Y[own]])
    check_same(model, NEW, probabilities=True)


def test_truth_values_stay_truth_values():
    own = Y < 2
    check_same(_normalised().fit(X[own], Y[own] == 1), NEW, probabilities=True)


def test_the_model_is_valid_and_its_inputs_are_single_precision():
    exported = to_onnx(_normalised().fit(X, Y))
    checker.check_model(exported, full_check=True)
    session = session_of(exported)
    assert [(i.name, i.type, i.shape) for i in session.get_inputs()] == [
        ("X", "tensor(float)", [None, 3])
    ]
    assert [(o.name, o.type) for o in session.get_outputs()] == [
        ("label", "tensor(int64)"),
        ("probabilities", "tensor(float)"),
    ]


@pytest.mark.parametrize("samples", [None, 3, np.int64(3), X, X.astype(np.float32), X.tolist()])
def test_the_number_of_features_can_be_given_in_several_ways(samples):
    model = _normalised().fit(X, Y)
    np.testing.assert_array_equal(run(to_onnx(model, samples), NEW)[0], model.predict(NEW))


@pytest.mark.parametrize("opset", [14, 15, 17, 18, 21])
def test_older_operators_do_as_well(opset):
    model = CodeClassifier(SVC(), "one_vs_one", probability="inverse", cv=2).fit(X, Y)
    labels, p = run(to_onnx(model, target_opset=opset), NEW)
    np.testing.assert_array_equal(labels, model.predict(NEW))
    np.testing.assert_allclose(p, model.predict_proba(NEW), atol=1e-5)


@pytest.mark.parametrize(
    ("method", "instead"),
    [
        ("coupling", "probability='inverse' or probability='votes' or probability='prob 1-1'"),
        ("kullback_leibler", "probability='inverse'"),
        ("least_squares", "probability='inverse'"),
    ],
)
def test_iterative_methods_export_labels_only_and_say_so(method, instead):
    model = CodeClassifier(LogisticRegression(), "one_vs_one", probability=method).fit(X, Y)
    with pytest.warns(UserWarning, match=f"{LABELS_ONLY}.*'{method}' finds.*{instead}"):
        exported = to_onnx(model)
    assert [output.name for output in exported.graph.output] == ["label"]
    np.testing.assert_array_equal(run(exported, NEW)[0], model.predict(NEW))


def test_a_model_without_probabilities_exports_labels_without_a_warning():
    model = CodeClassifier(SVC(), "one_vs_one", probability=None).fit(X, Y)
    assert run(to_onnx(model), NEW)[1] is None


def test_a_pipeline_is_exported_as_a_whole():
    model = make_pipeline(StandardScaler(), _normalised()).fit(X, Y)
    check_same(model, NEW, probabilities=True)


def test_a_search_exports_what_it_found():
    search = GridSearchCV(_normalised(), {"estimator__C": [0.1, 1.0]}, cv=2).fit(X, Y)
    check_same(search, NEW, probabilities=True)


def test_a_search_over_reductions_exports_what_it_found():
    search = ReductionSearchCV(LogisticRegression(), ["one_vs_rest", "chain"], cv=2).fit(X, Y)
    labels, _ = run(to_onnx(search), NEW)
    np.testing.assert_array_equal(labels, search.predict(NEW))


def test_columns_of_a_data_frame_are_inputs_of_their_own():
    frame = pd.DataFrame(X.astype(np.float32), columns=["a", "b", "c"])
    frame["soil"] = np.array(["clay", "sand", "loam"])[np.arange(len(X)) % 3]
    prepare = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["a", "b", "c"]),
            ("names", OneHotEncoder(sparse_output=False), ["soil"]),
        ]
    )
    model = make_pipeline(prepare, _normalised()).fit(frame, Y)
    session = session_of(to_onnx(model, frame))
    inputs = {name: frame[[name]].to_numpy() for name in frame}
    labels, p = session.run(None, inputs)
    np.testing.assert_array_equal(labels, model.predict(frame))
    np.testing.assert_allclose(p, model.predict_proba(frame), atol=1e-5)


def test_skl2onnx_converts_pipelines_once_the_package_is_imported():
    model = make_pipeline(StandardScaler(), _normalised()).fit(X, Y)
    polychotomy.export.register()
    plain = skl2onnx.to_onnx(model, NEW[:1], options={"zipmap": False})
    labels, p = run(plain, NEW)
    np.testing.assert_array_equal(labels, model.predict(NEW))
    np.testing.assert_allclose(p, model.predict_proba(NEW), atol=1e-5)
    dictionaries = run(skl2onnx.to_onnx(model, NEW[:1]), NEW)[1]
    assert dictionaries[0] == pytest.approx(dict(enumerate(p[0])))


def test_importing_the_package_registers_the_converters():
    program = (
        "import polychotomy.export, skl2onnx, numpy as np\n"
        "from polychotomy import CodeClassifier\n"
        "X = np.arange(12.0).reshape(6, 2).astype(np.float32)\n"
        "m = CodeClassifier(code='one_vs_rest', probability=None).fit(X, [0, 0, 1, 1, 2, 2])\n"
        "print(skl2onnx.to_onnx(m, X).graph.output[0].name)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "label", done.stderr


def test_an_untrained_model_is_refused():
    with pytest.raises(NotFittedError):
        to_onnx(_normalised())


def test_what_needs_probabilities_that_are_not_exported_is_refused():
    from sklearn.calibration import CalibratedClassifierCV

    inner = CodeClassifier(LogisticRegression(), "one_vs_one", probability="coupling")
    with pytest.raises(ModelError, match="probabilities of this CodeClassifier cannot be exported"):
        to_onnx(CalibratedClassifierCV(inner, cv=2).fit(X, Y))


def test_labels_that_onnx_does_not_know_are_refused():
    model = _normalised().fit(X, Y)
    model.classes_ = np.array([(0,), (1,), (2,), (3, 1)], dtype=object)
    with pytest.raises(ModelError, match="Labels must be numbers, strings or truth values"):
        to_onnx(model)


def test_batches_of_any_size_give_the_same_bits():
    session = session_of(
        to_onnx(CodeClassifier(SVC(), "one_vs_rest", probability="normalise").fit(X, Y))
    )
    whole = session.run(None, {"X": NEW})[1]
    parts = [session.run(None, {"X": NEW[i : i + 7]})[1] for i in range(0, len(NEW), 7)]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-6)
