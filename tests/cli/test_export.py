import re

import numpy as np
import pandas as pd
import pytest
from onnxruntime import InferenceSession
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import polychotomy
from polychotomy.cli._app import app

runner = CliRunner()


def run(*arguments, status=0):
    result = runner.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Flowers with a nominal column and gaps, and models of them."""
    folder = tmp_path_factory.mktemp("exported")
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["sepal length", "b", "c", "d"])
    frame["kind"] = np.array(["setosa", "versicolor", "ünïcode"])[y]
    frame.to_csv(folder / "numbers.csv", index=False)
    frame.insert(0, "size", np.where(X[:, 3] > 1, "large", "small"))
    frame.loc[3, "size"], frame.loc[5, "b"] = None, np.nan
    frame.to_csv(folder / "flowers.csv", index=False)
    options = ("--target", "kind", "--base", "logistic", "--reduction", "one_vs_rest", "--jobs", 1)
    for name in ("numbers", "flowers"):
        run("fit", folder / f"{name}.csv", "-o", folder / f"{name}.skops", *options)
    return folder


def test_a_model_of_numbers_has_one_input(folder):
    said = run("export", folder / "numbers.skops", "-o", folder / "own.onnx").output
    assert re.search(r"X \(sepal length, b, c, d\) -> label, probabilities: .*own\.onnx", said)
    model = polychotomy.load(folder / "numbers.skops")
    X = pd.read_csv(folder / "numbers.csv").drop(columns="kind").astype(np.float32)
    labels, p = InferenceSession(folder / "own.onnx").run(None, {"X": X.to_numpy()})
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(p, model.predict_proba(X), atol=1e-5)


def test_a_model_of_named_columns_has_an_input_for_each(folder):
    run("export", folder / "flowers.skops")
    model = polychotomy.load(folder / "flowers.skops")
    X = pd.read_csv(folder / "flowers.csv").drop(columns="kind")
    X.loc[7, "size"] = "never seen before"
    X[X.columns[1:]] = X[X.columns[1:]].astype(np.float32)
    inputs = {name: X[[name]].to_numpy(np.float32) for name in X.columns[1:]}
    inputs["size"] = X[["size"]].fillna("").to_numpy(object)
    labels, p = InferenceSession(folder / "flowers.onnx").run(None, inputs)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(p, model.predict_proba(X), atol=1e-5)


def test_a_model_that_python_saved_is_exported_too(folder, iris):
    X, y = iris
    model = polychotomy.CodeClassifier(LogisticRegression(max_iter=500), "one_vs_one").fit(X, y)
    polychotomy.save(model, folder / "python.skops")
    said = run("export", folder / "python.skops", "--opset", 15).output
    assert "Only labels are exported" in said
    assert "X -> label: " in said
    session = InferenceSession(folder / "python.onnx")
    labels = session.run(None, {"X": X.astype(np.float32)})[0]
    np.testing.assert_array_equal(labels, model.predict(X.astype(np.float32)))


def test_errors_are_one_sentence_and_leave_no_file(folder, iris):
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = iris
    model = polychotomy.CodeClassifier(HistGradientBoostingClassifier(max_iter=3), "one_vs_rest")
    polychotomy.save(model.fit(X, y), folder / "boosting.skops")
    said = run("export", folder / "boosting.skops", status=1).output
    assert "HistGradientBoostingClassifier cannot be exported" in said
    assert not (folder / "boosting.onnx").exists()
    assert "no file" in run("export", folder / "missing.skops", status=1).output.lower()
    assert "no folder" in run(
        "export", folder / "numbers.skops", "-o", folder / "no" / "x.onnx", status=1
    ).output.lower().replace("\n", " ")
