import json

import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch
from typer.testing import CliRunner

from polychotomy.cli._app import app
from polychotomy.datasets import available

runner = CliRunner()


@pytest.fixture(autouse=True)
def without_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("POLYCHOTOMY_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))


def run(*arguments, status=0):
    result = runner.invoke(app, ["datasets", *map(str, arguments)])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result


def test_list_names_every_data_set():
    lines = run("list").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [data.name for data in available()]
    iris, letter = (
        next(line for line in lines if name in line.split()) for name in ("iris", "letter")
    )
    assert " yes " in iris
    assert " no " in letter
    assert "16" in letter.split()


def test_list_for_programs():
    rows = {row["name"]: row for row in json.loads(run("list", "--json").stdout)}
    assert rows["satimage"]["samples"] == 6435
    assert rows["satimage"]["test"] == 2000
    assert rows["satimage"]["papers"] == ["allwein", "sbc", "mills"]
    assert rows["iris"]["source"] == "scikit-learn"
    assert rows["iris"]["here"] is True
    assert rows["humidity"]["source"] == "nowhere"


def test_show_a_known_data_set():
    shown = run("show", "letter").stdout
    assert "20000 samples, 16 features, 26 classes; 16000 for training, 4000 for testing" in shown
    assert "polychotomy datasets fetch letter" in shown
    assert "Here: formula" in run("show", "waveform").stdout
    assert "humidity.csv.gz" in run("show", "humidity").stdout
    assert json.loads(run("show", "letter", "--json").stdout)["classes"] == 26


def test_show_how_a_file_is_understood(tmp_path):
    path = tmp_path / "land.csv"
    path.write_text("height,soil,cover\n1,wet,o\x7fak\n2,dry,elm\n,wet,elm\n")
    shown = run("show", path).stdout
    assert "3 samples" in shown
    assert "\x7f" not in shown
    assert "2 features, 1 missing values" in shown
    assert "1 nominal features: soil" in shown
    path.write_text("height,soil,cover\n1,wet,oak\n2,dry,elm\n,wet,elm\n")
    shown = run("show", path).stdout
    assert "2 classes in the column 'cover', from 1 samples (oak) to 2 (elm)" in shown
    assert json.loads(run("show", path, "--target", "soil", "--json").stdout)["counts"] == {
        "dry": 1,
        "wet": 2,
    }


def test_show_tells_of_columns_that_are_not_what_they_seem(tmp_path):
    path = tmp_path / "land.csv"
    path.write_text("id,day,x,cover\n7,1 May,3,oak\n8,2 May,1,elm\n9,3 May,2,elm\n")
    lines = run("show", path).stdout.splitlines()
    assert lines[-3:] == [
        "The classes are those of the column 'cover'.",
        "Left out, since no value occurs twice: 'day'. If that is text, --text counts its words.",
        "Used as numbers, although they only count the rows: 'id'.",
    ]
    assert json.loads(run("show", path, "--json").stdout)["remarks"] == lines[-3:]
    path.write_text("x,cover\n3,oak\n4,elm\n6,elm\n")
    assert run("show", path).stdout.splitlines()[2] == "0 nominal features"


def test_the_systems_complaints_name_the_file(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "folder.csv" / "content").touch()
    said = run("show", tmp_path / "folder.csv", status=1).stderr
    assert said.strip() == f"{tmp_path / 'folder.csv'}: Is a directory"


def test_fetch(monkeypatch):
    frame = pd.DataFrame({f"x{i}": range(2310) for i in range(19)})
    target = pd.Series([f"c{i % 7}" for i in range(2310)])
    monkeypatch.setattr(
        sklearn.datasets,
        "fetch_openml",
        lambda **options: Bunch(data=frame, target=target, details={"name": "segment"}),
    )
    expected = "segment: 2310 samples, 19 features, 7 classes from OpenML 36"
    assert run("fetch", "segment").stdout.strip() == expected
    assert "from scikit-learn" in run("fetch", "iris").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("show satimag", "neither a file nor the name of a data set. Did you mean 'satimage'?"),
        ("show nothing.csv", "There is no file nothing.csv"),
        ("fetch satimag", "Did you mean 'satimage'?"),
        ("fetch humidity", "Set the environment variable POLYCHOTOMY_DATA"),
    ],
)
def test_what_is_not_there_is_told(arguments, message):
    result = run(*arguments.split(), status=1)
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_file_that_cannot_be_used_is_told(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\x89PNG\x00")
    assert "is not text in the encoding" in run("show", path, status=1).stderr


@pytest.mark.parametrize("command", ["list", "show", "fetch"])
def test_help_has_examples(command):
    assert f"polychotomy datasets {command}" in run(command, "--help").stdout


def test_bad_usage():
    run("show", status=2)
    run("list", "--nonsense", status=2)


def test_classes_of_equal_size_are_said_in_a_word(tmp_path):
    path = tmp_path / "even.csv"
    path.write_text("x,class\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(8)))
    said = runner.invoke(app, ["datasets", "show", str(path)]).stdout
    assert "2 classes in the column 'class', 4 samples each" in said
