"""Files of all formats that a model is asked about, and their labels."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file, load_iris
from typer.testing import CliRunner

pytest.importorskip("skops.io", reason="model files need skops")

from polychotomy.cli._app import app

runner = CliRunner()
X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def run(*arguments, status=0, **options):
    result = runner.invoke(app, [str(a) for a in arguments], **options)
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result


def fit(path, out, *options):
    return run("fit", path, "-o", out, "--reduction", "ovr", "--jobs", 1, *options)


def write(path, X, y):
    if path.suffix == ".libsvm":
        dump_svmlight_file(X, y, str(path))
    elif path.suffix == ".npz":
        np.savez(path, X=X, y=NAMES[y])
    else:
        frame = pd.DataFrame(X, columns=["x1", "x2", "x3", "x4"]).assign(kind=NAMES[y])
        (frame.to_excel if path.suffix == ".xlsx" else frame.to_csv)(path, index=False)


@pytest.mark.parametrize("ending", [".libsvm", ".npz", ".csv", ".xlsx"])
def test_evaluate_and_predict_find_the_labels_of_every_format(tmp_path, ending):
    train, test, out = tmp_path / f"train{ending}", tmp_path / f"test{ending}", tmp_path / "m.skops"
    write(train, X[::2], Y[::2])
    write(test, X[1::2], Y[1::2])
    fit(train, out)
    found = json.loads(run("evaluate", out, test, "--json").stdout)
    assert (found["samples"], found["unlabelled"]) == (75, 0)
    records = json.loads(run("predict", out, test, "--json").stdout)
    truth = Y[1::2] if ending == ".libsvm" else NAMES[Y[1::2]]
    predicted = np.array([record["predicted"] for record in records])
    assert found["error"] == pytest.approx(np.mean(predicted != truth))
    assert 0 < found["error"] < 0.2
    wrong = f"{np.sum(predicted != truth)} of 75 labelled predictions are wrong"
    said = run("predict", out, test, "-o", tmp_path / "out.csv").stderr
    assert wrong in said
    assert "75 predictions in" in said
    run("evaluate", out, test, "--report", tmp_path / "test.html")


def test_an_npz_file_may_lack_labels(tmp_path):
    write(tmp_path / "train.npz", X, Y)
    fit(tmp_path / "train.npz", tmp_path / "m.skops")
    np.savez(tmp_path / "new.npz", X=X[:9])
    said = run("predict", tmp_path / "m.skops", tmp_path / "new.npz")
    assert len(said.stdout.splitlines()) == 10
    said = run("evaluate", tmp_path / "m.skops", tmp_path / "new.npz", status=1)
    assert "must have labels in the column 'y'" in said.stderr


def test_the_labels_of_libsvm_files_have_one_name(tmp_path):
    write(tmp_path / "train.libsvm", X, Y)
    fit(tmp_path / "train.libsvm", tmp_path / "m.skops")
    command = ("evaluate", tmp_path / "m.skops", tmp_path / "train.libsvm", "--target")
    run(*command, "label")
    assert "labels are called 'label'. Got 'kind'" in run(*command, "kind", status=1).stderr


def test_evaluate_takes_another_encoding(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(art=np.array(["süß", "öd", "grün"])[Y])
    frame.to_csv(tmp_path / "utf.csv", index=False)
    frame.to_csv(tmp_path / "latin.csv", index=False, encoding="latin-1")
    fit(tmp_path / "utf.csv", tmp_path / "m.skops")
    command = ("evaluate", tmp_path / "m.skops", tmp_path / "latin.csv")
    run(*command, status=1)
    found = json.loads(run(*command, "--encoding", "latin-1", "--json").stdout)
    assert (found["samples"], found["unknown_class"]) == (150, 0)
