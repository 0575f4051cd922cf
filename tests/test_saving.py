"""Model files: what is saved comes back, and what is no model is refused in one sentence."""

import io
import json
import pickle
import re
import subprocess
import sys
import warnings
import zipfile
from functools import partial

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

skops_io = pytest.importorskip("skops.io", reason="model files need skops")

import polychotomy  # noqa: E402
from polychotomy import (  # noqa: E402
    CodeClassifier,
    GreedySearchCV,
    KernelSBCClassifier,
    ReductionSearchCV,
    SharedKernelSVC,
    SharedLinear,
    SingleBinaryClassifier,
    TreeClassifier,
)
from polychotomy.errors import ModelError  # noqa: E402
from polychotomy.reductions import available_bases, make_base  # noqa: E402
from polychotomy.saving import refused_types  # noqa: E402
from tests import model_files  # noqa: E402

X, Y = load_iris(return_X_y=True)
CODE = CodeClassifier(LogisticRegression(), "one_vs_rest", probability=None)
MODELS = {
    "code": CodeClassifier(LogisticRegression(), "one_vs_one"),
    "isotonic": CodeClassifier(SVC(), "bch", calibration="isotonic"),
    "random": CodeClassifier(SVC(), "dense_random", random_state=np.random.RandomState(3)),
    "boosting": CodeClassifier(HistGradientBoostingClassifier(max_iter=3)),
    "tree": TreeClassifier(LogisticRegression(), structure="linkage"),
    "ddag": TreeClassifier(LogisticRegression(), structure="ddag"),
    "written": TreeClassifier(SharedKernelSVC(), structure="A {0 B {1 2}}"),
    "single": SingleBinaryClassifier(SharedKernelSVC()),
    "replicas": SingleBinaryClassifier(LogisticRegression(), replication="kesler"),
    "kernel": KernelSBCClassifier(),
    "reductions": ReductionSearchCV(SVC(), ["ovr", "sbc_bch"], cv=2, scoring="neg_log_loss"),
    "width": GreedySearchCV(CodeClassifier(SVC(), probability=None), cv=2, patience=1),
    "neural": CodeClassifier(MLPClassifier(max_iter=2000, tol=0.1), probability=None),
    "gaussian": CodeClassifier(GaussianProcessClassifier(), probability=None),
    "calibrated": CodeClassifier(CalibratedClassifierCV(GaussianNB(), cv=2), probability=None),
    "greedy": GreedySearchCV(CODE, {"estimator__C": 1.0}, cv=2),
    "grid": GridSearchCV(CODE, {"estimator__C": [1.0]}, cv=RepeatedStratifiedKFold(n_splits=2)),
    "pipeline": make_pipeline(StandardScaler(), CodeClassifier(SharedKernelSVC())),
    "frozen": make_pipeline(FrozenEstimator(StandardScaler().fit(X)), CODE),
}


@pytest.fixture(scope="module")
def trained():
    return make_pipeline(
        StandardScaler(), CodeClassifier(SharedKernelSVC(), "one_vs_rest", probability=None)
    ).fit(X, Y)


@pytest.fixture(scope="module")
def content(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.skops"
    polychotomy.save(trained, path)
    return path.read_bytes()


def parts_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def packed(parts):
    """Return a model file of these parts, with the right checksum, as an attacker would do it."""
    from polychotomy.saving import _checksum

    record = json.loads(parts.pop("polychotomy.json"))
    record.pop("checksum", None)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
    with zipfile.ZipFile(stream, "a") as file:
        checked = record | {"checksum": _checksum(file, record)}
        file.writestr("polychotomy.json", json.dumps(checked))
    return stream.getvalue()


def refusal(content, path):
    """Return the sentence that refuses a file, or None if it is opened as a model."""
    path.write_bytes(content)
    try:
        model = polychotomy.load(path)
    except ModelError as error:
        said = str(error)
        assert "\n" not in said
        assert str(path) in said
        return said
    assert hasattr(model, "predict")
    return None


@pytest.mark.parametrize("name", MODELS)
def test_what_is_saved_comes_back(name, tmp_path):
    model = MODELS[name].fit(X, Y)
    polychotomy.save(model, tmp_path / "model.skops")
    again = polychotomy.load(tmp_path / "model.skops")
    assert type(again) is type(model)
    assert np.array_equal(again.predict(X), model.predict(X))
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            assert np.array_equal(getattr(again, method)(X), getattr(model, method)(X))
    assert [file.name for file in tmp_path.iterdir()] == ["model.skops"]


def test_a_path_may_be_a_text(trained, tmp_path):
    X, path = load_iris().data, str(tmp_path / "model.skops")
    polychotomy.save(trained, path)
    assert np.array_equal(polychotomy.load(path).predict(X), trained.predict(X))


def test_a_model_says_which_versions_wrote_it(trained, content, tmp_path):
    import sklearn

    path = tmp_path / "model.skops"
    path.write_bytes(content)
    again = polychotomy.load(path)
    assert again.written_by_["polychotomy"] == polychotomy.__version__
    assert again.written_by_["scikit-learn"] == sklearn.__version__
    parts = parts_of(content)
    record = json.loads(parts["polychotomy.json"])
    record["versions"]["scikit-learn"] = "0.1"
    path.write_bytes(packed(parts | {"polychotomy.json": json.dumps(record)}))
    with pytest.warns(UserWarning, match=r"written with scikit-learn 0\.1 \(here"):
        other = polychotomy.load(path)
    assert other.written_by_["scikit-learn"] == "0.1"
    polychotomy.save(other, path)  # written by this version now
    assert polychotomy.load(path).written_by_["scikit-learn"] == sklearn.__version__


@pytest.mark.parametrize("version", [2, 99])
def test_another_form_is_reported_with_its_writer(content, tmp_path, version):
    """Even if it cannot be checked or opened: its classes may not exist any more."""
    parts = parts_of(content)
    record = json.loads(parts["polychotomy.json"])
    record |= {"version": version, "versions": {"polychotomy": "7.8"}, "checksum": "of old"}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("polychotomy.json", json.dumps(record))
    said = refusal(stream.getvalue(), tmp_path / "model.skops")
    assert "was written by version 7.8 of polychotomy" in said
    assert "train it again" in said


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file_is_refused_or_harmless(trained, content, tmp_path, seed):
    """Cut or with changed bytes; changes outside of what is stored do no harm."""
    rng = np.random.default_rng(seed)
    path = tmp_path / "model.skops"
    assert refusal(content[: rng.integers(len(content))], path) is not None
    damaged = np.frombuffer(content, dtype=np.uint8).copy()
    near_end = rng.random() < 0.5  # there is the directory of the file
    start = len(damaged) - 2000 if near_end else 0
    for place in rng.integers(start, len(damaged), size=rng.integers(1, 6)):
        damaged[place] ^= rng.integers(1, 256)
    if refusal(damaged.tobytes(), path) is None:
        assert np.array_equal(polychotomy.load(path).predict(X), trained.predict(X))


@pytest.mark.parametrize("seed", range(10))
def test_parts_that_are_missing_or_swapped_are_refused(content, tmp_path, seed):
    rng = np.random.default_rng(seed)
    parts = parts_of(content)
    different = {part: name for name, part in parts.items() if name != "polychotomy.json"}
    first, second = rng.choice(sorted(different.values()), size=2, replace=False)
    fewer = {name: part for name, part in parts.items() if name != first}
    swapped = parts | {first: parts[second], second: parts[first]}
    random = parts | {first: rng.bytes(50)}
    for changed in (fewer, swapped, random):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as file:
            for name, part in changed.items():
                file.writestr(name, part)
        assert "is damaged" in refusal(stream.getvalue(), tmp_path / "a.skops")
        refusal(packed(dict(changed)), tmp_path / "b.skops")  # our own error, or another model


def places(tree, found=()):
    """Return the ways to all values within nested lists and dicts."""
    steps = tree.items() if isinstance(tree, dict) else enumerate(tree)
    ways = []
    for step, value in steps:
        ways.append((*found, step))
        if isinstance(value, dict | list):
            ways += places(value, (*found, step))
    return ways


@pytest.mark.parametrize("seed", range(150))
def test_a_schema_with_wrong_types_is_refused_or_opened(content, tmp_path, seed):
    """Changed with care, so that the checksum is right: never anything but our own error."""
    rng = np.random.default_rng(seed)
    parts = parts_of(content)
    schema = json.loads(parts["schema.json"])
    ways = places(schema)
    for _ in range(rng.integers(1, 3)):
        *way, last = ways[rng.integers(len(ways))]
        place = schema
        try:
            for step in way:
                place = place[step]
            place[last]
        except (KeyError, IndexError, TypeError):
            continue
        others = [None, 0, -1, 1e300, True, "", "nonsense", [], {}, [[]], {"a": {}}]
        place[last] = [*others, schema["content"]][rng.integers(len(others) + 1)]
    try:
        text = json.dumps(schema)
    except ValueError:  # it contains itself
        return
    refusal(packed(parts | {"schema.json": text}), tmp_path / "model.skops")


@pytest.mark.parametrize("depth", [10**3, 10**5])
@pytest.mark.parametrize("name", ["schema.json", "polychotomy.json"])
def test_deeply_nested_json_is_refused(content, tmp_path, depth, name):
    deep = "[" * depth + "]" * depth
    node = '{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": ['
    nodes = node * depth + "]}" * depth
    for text in (deep, nodes, deep[: depth + 5]):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as file:
            for other, part in parts_of(content).items():
                file.writestr(other, text if other == name else part)
        assert refusal(stream.getvalue(), tmp_path / "a.skops")
        if name == "schema.json":
            assert refusal(packed(parts_of(content) | {name: text}), tmp_path / "b.skops")


@pytest.mark.parametrize("content", [b"", b"nonsense", pickle.dumps({"format": 1}), b"PK\x05\x06"])
def test_what_is_no_model_is_refused(tmp_path, content):
    assert "is not a model" in refusal(content, tmp_path / "model.skops")


def test_other_files_of_skops_are_refused(trained, tmp_path):
    path = tmp_path / "model.skops"
    skops_io.dump(trained, path)
    assert "is not a model" in refusal(path.read_bytes(), path)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        polychotomy.load(tmp_path / "nothing.skops")


def model_of(part, content, monkeypatch):
    """Return a model file that holds any part at all, made by our own functions."""
    from polychotomy import saving

    monkeypatch.setattr(saving, "_check_model", lambda model: None)
    stream = io.BytesIO()
    skops_io.dump(part, stream)
    parts = parts_of(stream.getvalue())
    return packed(parts | {"polychotomy.json": parts_of(content)["polychotomy.json"]})


@pytest.mark.parametrize(
    "part", [partial(print, "evil"), polychotomy.errors.require, print, pytest.Item, io.BytesIO]
)
def test_nothing_but_models_is_opened(content, tmp_path, monkeypatch, capsys, part):
    said = refusal(model_of(part, content, monkeypatch), tmp_path / "model.skops")
    assert said is not None
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "name",
    [
        "polychotomy.evaluate._bench.partial",
        "polychotomy.evaluate._cell_store.Path",
        "polychotomy.evaluate._greedy.np",
        "polychotomy.evaluate._schedule.compute",
        "polychotomy.evaluate.Cell",  # not where it is defined
        "polychotomy.evaluate._nothing.Cell",
        "polychotomy.codes_of_others.Code",
        "polychotomy.evaluate._samples.replace",  # of the standard library
        "polychotomy.reductions._bases.make_base",  # functions that import by name
        "sklearn.metrics._classification.np",
        "sklearn.pipeline.clone",
        "sklearn.pipeline.BaseEstimator",  # not where it is defined
        "sklearn.utils._testing.TempMemmap",
        "sklearn.externals._packaging.version.Version",
        "subprocess.Popen",
    ],
)
def test_a_type_must_be_defined_in_a_module_that_is_trusted(content, tmp_path, name):
    module, _, kind = name.rpartition(".")
    parts = parts_of(content)
    schema = json.loads(parts["schema.json"])
    schema |= {"__module__": module, "__class__": kind}
    said = refusal(packed(parts | {"schema.json": json.dumps(schema)}), tmp_path / "model.skops")
    assert said is not None
    assert name not in polychotomy.trusted_types()


def test_trusted_types_are_those_of_models(content, tmp_path):
    names = polychotomy.trusted_types()
    assert names == sorted(set(names))
    assert "polychotomy.classifiers._code_classifier.CodeClassifier" in names
    path = tmp_path / "model.skops"
    path.write_bytes(content)
    assert hasattr(skops_io.load(path, trusted=names), "predict")


class Foreign(RidgeClassifier):
    """A binary classifier of another library."""


def test_further_types_can_be_trusted(tmp_path):
    model = CodeClassifier(Foreign(), "one_vs_rest").fit(X, Y)
    path = tmp_path / "model.skops"
    polychotomy.save(model, path)
    name = f"{Foreign.__module__}.Foreign"
    with pytest.raises(ModelError, match=f"not trusted, and is not opened: {re.escape(name)}\\."):
        polychotomy.load(path)
    for trusted in ([name], [Foreign]):
        again = polychotomy.load(path, trusted=trusted)
        assert np.array_equal(again.predict(X), model.predict(X))


def test_types_that_will_be_refused_are_known_before_saving():
    assert refused_types(Foreign().fit(X, Y)) == [f"{Foreign.__module__}.Foreign"]
    assert refused_types(MLPClassifier(max_iter=99, tol=9.0).fit(X, Y)) == []


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CodeClassifier(), "This CodeClassifier is not trained. Call its method 'fit'"),
        (make_pipeline(StandardScaler(), CodeClassifier()), "This Pipeline is not trained"),
        (CodeClassifier, "must be a trained classifier of polychotomy.* Got type instead"),
        ({"a": 1}, "Got dict instead"),
        (None, "Got NoneType instead"),
        (SVC().fit(X, Y), "Got SVC instead"),
    ],
)
def test_what_cannot_be_saved_is_refused(tmp_path, model, message):
    with pytest.raises(ModelError, match=message):
        polychotomy.save(model, tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".pkl", ".pickle", ".joblib", ".PKL"])
def test_the_endings_of_pickles_are_refused(trained, tmp_path, ending):
    with pytest.raises(ModelError, match=r"name it .*model\.skops"):
        polychotomy.save(trained, tmp_path / f"model{ending}")
    assert list(tmp_path.iterdir()) == []


def test_notes_are_kept_with_a_model(trained, tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    monkeypatch.setattr(trained, "notes_", {"made": ["by", 1, None]}, raising=False)
    polychotomy.save(trained, path)
    assert polychotomy.load(path).notes_ == {"made": ["by", 1, None]}
    monkeypatch.setattr(trained, "notes_", {"made": object()})
    with pytest.raises(ModelError, match="cannot be saved: Object of type object is not JSON"):
        polychotomy.save(trained, path)


def test_an_old_file_stays_if_saving_fails(trained, tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    path.write_text("old")
    monkeypatch.setattr("skops.io.dump", lambda *_, **__: 1 / 0)
    with pytest.raises(ModelError, match="cannot be saved: division by zero"):
        polychotomy.save(trained, path)
    assert path.read_text() == "old"
    monkeypatch.undo()
    with pytest.raises(
        FileNotFoundError, match=r"cannot be written: there is no folder .*missing\."
    ):
        polychotomy.save(trained, tmp_path / "missing" / "model.skops")


def test_the_functions_need_no_import_of_skops_before_they_are_used():
    program = "import polychotomy as p; p.save; import sys; print('skops' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "False"


def _load_another(path):
    """Load a file; that versions of libraries differ is not the matter here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*was written with")
        return polychotomy.load(path)


@pytest.mark.parametrize("form", [1, 2, 3, 4])
def test_files_of_earlier_forms_are_refused_and_say_who_wrote_them(form):
    with pytest.raises(ModelError) as caught:
        polychotomy.load(model_files.FOLDER / f"form_{form}.skops")
    said = str(caught.value)
    assert (
        f"was written by version 0.1.0.dev0 of polychotomy, in another form ({form}, here" in said
    )
    assert "\n" not in said


@pytest.mark.parametrize("name", model_files.present_models())
def test_files_of_the_present_form_open_and_predict_as_they_did(name):
    """Where this fails, classes have changed: see tests/model_files.py."""
    model = _load_another(model_files.FOLDER / f"{name}.skops")
    expected = json.loads(model_files.PREDICTED.read_text())[name]
    said = model_files.predictions(model)
    assert said["labels"] == expected["labels"]
    assert ("probabilities" in said) == ("probabilities" in expected)
    if "probabilities" in said:
        np.testing.assert_allclose(said["probabilities"], expected["probabilities"], atol=1e-9)


def test_a_whole_file_that_cannot_be_opened_says_who_wrote_it(content, tmp_path):
    parts = parts_of(content)
    schema = json.loads(parts["schema.json"])
    schema["content"]["content"]["steps"]["content"] = []
    record = json.loads(parts["polychotomy.json"])
    record["versions"]["polychotomy"] = "7.8"
    changed = {"schema.json": json.dumps(schema), "polychotomy.json": json.dumps(record)}
    said = refusal(packed(parts | changed), tmp_path / "model.skops")
    assert "written by version 7.8 of polychotomy, cannot be opened by this one" in said


LEARNERS = [name for name in available_bases() if name not in ("xgboost", "lightgbm")]

IN_ANOTHER_PROCESS = """
import pathlib, sys, numpy as np, polychotomy
X = np.load(sys.argv[1] + "/X.npy")
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.skops")):
    model = polychotomy.load(path)
    methods = ["predict", "predict_proba", "decision_function"]
    said = {m: getattr(model, m)(X) for m in methods if hasattr(model, m)}
    np.savez(path.with_suffix(".npz"), **said)
"""


def _all_models():
    """Return models of all kinds of classifiers and learners."""
    of_learners = {
        f"learner {name}": CodeClassifier(make_base(name), "one_vs_one", cv=2) for name in LEARNERS
    }
    linear = {
        f"linear {loss}": TreeClassifier(SharedLinear(loss=loss), "balanced", cv=2)
        for loss in ("squared", "squared_hinge", "logistic")
    }
    return {**MODELS, **of_learners, **linear}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["code", "tree", "single", "kernel", "linear logistic"], id="some"),
        pytest.param(list(_all_models()), id="all", marks=pytest.mark.slow),
    ],
)
def test_another_process_predicts_the_same_bits(names, tmp_path):
    """On samples that training has not seen."""
    models = {name: _all_models()[name] for name in names}
    new = X + np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    np.save(tmp_path / "X.npy", new)
    for name, model in models.items():
        polychotomy.save(model.fit(X, Y), tmp_path / f"{name}.skops")
    command = [sys.executable, "-W", "ignore", "-c", IN_ANOTHER_PROCESS, str(tmp_path)]
    subprocess.run(command, check=True)
    for name, model in models.items():
        with np.load(tmp_path / f"{name}.npz") as file:
            said = dict(file)
        assert "predict" in said
        for method in said:
            assert np.array_equal(said[method], getattr(model, method)(new)), (name, method)
