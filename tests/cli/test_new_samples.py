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


def test_messages_name_the_options_of_the_command(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame = frame.assign(note=[f"nöte {i}" for i in range(150)], kind=NAMES[Y])
    frame.to_csv(tmp_path / "latin.csv", index=False, encoding="latin-1")
    frame.to_csv(tmp_path / "bare.csv", index=False, header=False)
    frame.to_csv(tmp_path / "whole.csv", index=False)
    show = ("datasets", "show")
    said = run(*show, tmp_path / "latin.csv", status=1).stderr
    assert said.strip().endswith("The option is --encoding.")
    said = run(*show, tmp_path / "bare.csv", status=1).stderr
    assert said.strip().endswith("say that there is no header. The option is --no-header.")
    said = run(*show, tmp_path / "whole.csv", "--target", "note", status=1).stderr
    assert said.strip().endswith("Choose another target. The option is --target.")
    out = tmp_path / "m.skops"
    said = fit(tmp_path / "whole.csv", out).stderr
    assert "no value occurs twice: 'note'. If that is text, --text counts its words." in said
    said = run("predict", out, tmp_path / "latin.csv", status=1).stderr
    assert said.strip().endswith("The option is --encoding.")
    said = run("predict", out, tmp_path / "bare.csv", status=1).stderr
    assert said.strip().endswith("had a header, and this one needs the same.")


def test_the_standard_input_is_csv(tmp_path):
    write(tmp_path / "train.csv", X, Y)
    write(tmp_path / "train.libsvm", X, Y)
    fit(tmp_path / "train.csv", tmp_path / "m.skops")
    fit(tmp_path / "train.libsvm", tmp_path / "sparse.skops")
    said = run("predict", tmp_path / "m.skops", "-", input="a,b\n1,2\n", status=1).stderr
    assert said.startswith("The standard input (CSV) must have the columns")
    content = "x1,x2,x3,x4\n1,2,3,much\n"
    said = run("predict", tmp_path / "m.skops", "-", input=content, status=1).stderr
    assert "The column 'x4' of the standard input (CSV) must contain finite numbers" in said
    said = run("predict", tmp_path / "sparse.skops", "-", input="0 1:2\n", status=1).stderr
    assert "- takes CSV only" in said
    for command in ("predict", "evaluate"):
        said = run(command, "--help", env={"COLUMNS": "200"}).stdout
        assert "- for the standard input, as CSV" in " ".join(said.replace("│", " ").split())


def test_evaluate_takes_another_encoding(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(art=np.array(["süß", "öd", "grün"])[Y])
    frame.to_csv(tmp_path / "utf.csv", index=False)
    frame.to_csv(tmp_path / "latin.csv", index=False, encoding="latin-1")
    fit(tmp_path / "utf.csv", tmp_path / "m.skops")
    command = ("evaluate", tmp_path / "m.skops", tmp_path / "latin.csv")
    run(*command, status=1)
    found = json.loads(run(*command, "--encoding", "latin-1", "--json").stdout)
    assert (found["samples"], found["unknown_class"]) == (150, 0)
