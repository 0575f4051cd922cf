import csv
import io
import json
import pickle
import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

skops_io = pytest.importorskip("skops.io", reason="model files need skops")


import polychotomy  # noqa: E402
from polychotomy.cli import _models  # noqa: E402
from polychotomy.cli._app import app  # noqa: E402
from polychotomy.cli._model_files import load_model, writing  # noqa: E402
from polychotomy.evaluate import _time_limit  # noqa: E402
from polychotomy.reductions import available_bases  # noqa: E402

runner = CliRunner()


def run(*arguments, status=0):
    result = runner.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Flowers with a nominal column, a gap, and names of the rows; and a model of them."""
    folder = tmp_path_factory.mktemp("flowers")
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["size"] = np.where(X[:, 3] > 1, "large", "small")
    frame.loc[3, "size"] = None
    frame.loc[5, "a"] = np.nan
    frame.insert(0, "name", [f"flower {i}" for i in range(150)])
    frame.insert(2, "kind", np.array(["iris s", "iris, v", "ünïcode"])[y])
    frame.to_csv(folder / "flowers.csv", index=False)
    run("fit", folder / "flowers.csv", "--target", "kind", "-o", folder / "m.skops", "--jobs", 1)
    return folder


def test_from_a_file_to_predictions(folder):
    frame = pd.read_csv(folder / "flowers.csv")
    said = run("predict", folder / "m.skops", folder / "flowers.csv").stdout
    predicted = np.array([row["predicted"] for row in table(said)])
    assert np.mean(predicted == frame["kind"]) > 0.93
    # columns in another order, others beside them, no labels, and none that only names rows
    new = frame.drop(columns=["kind", "name"]).iloc[:, ::-1].assign(more=1)
    new.to_csv(folder / "new.csv", index=False, sep=";")
    assert run("predict", folder / "m.skops", folder / "new.csv").stdout == said


def test_what_fit_says(folder):
    out = folder / "told.skops"
    arguments = ("--target", "kind", "-o", out, "--jobs", 1)
    said = run("fit", folder / "flowers.csv", *arguments).stdout
    assert said.startswith("Use ")
    assert "error in five-fold cross-validation" in said
    assert f"polychotomy explain {out}" in said
    told = json.loads(run("fit", folder / "flowers.csv", *arguments, "--json").stdout)
    assert told["samples"] == 150
    assert told["features"] == 5  # without the names
    assert told["classes"] == ["iris s", "iris, v", "ünïcode"]
    assert told["explanation"] in said
    assert 0 < told["error"] < 0.1
    assert len(told["compared"]) > 5
    assert told["recommendation"]["method"] == told["reduction"]


def test_probabilities_and_rejection(folder):
    command = ("predict", folder / "m.skops", folder / "flowers.csv", "--proba")
    rows = table(run(*command).stdout)
    names = ["p(iris s)", "p(iris, v)", "p(ünïcode)"]
    assert list(rows[0]) == ["predicted", *names]
    p = np.array([[float(row[name]) for name in names] for row in rows])
    assert p.sum(axis=1) == pytest.approx(1)
    out = folder / "out.csv"
    assert run(*command, "--reject", 0.8, "-o", out).stdout == ""
    rejected = table(out.read_text())
    accepted = p.max(axis=1) >= 0.8
    assert 0 < accepted.sum() < 150
    assert [row["accepted"] for row in rejected] == ["yes" if a else "no" for a in accepted]
    for row, sure, best in zip(rejected, accepted, p.argmax(axis=1), strict=True):
        assert row["predicted"] == (names[best][2:-1] if sure else "")
    records = json.loads(run(*command[:3], "--reject", 0.8, "--json").stdout)
    assert [record["accepted"] for record in records] == accepted.tolist()
    assert {record["predicted"] is None for record in records} == {True, False}
    assert [f.name for f in folder.iterdir() if f.name.endswith(".part")] == []


def test_labels_that_are_numbers_stay_numbers(tmp_path):
    path = tmp_path / "n.csv"
    path.write_text("x,class\n" + "".join(f"{i % 7 + 10 * (i % 3)},{i % 3}\n" for i in range(90)))
    run("fit", path, "-o", tmp_path / "m", "--reduction", "one_vs_rest", "--jobs", 1)
    records = json.loads(run("predict", tmp_path / "m", path, "--json").stdout)
    assert [record["predicted"] for record in records] == [i % 3 for i in range(90)]


@pytest.mark.slow
@pytest.mark.parametrize("base", available_bases())
@pytest.mark.parametrize("reduction", ["one_vs_one", "linkage_tree", "ddag"])
def test_every_base_survives_its_file(folder, base, reduction):
    out = folder / f"{base}.skops"
    run(
        *("fit", folder / "flowers.csv", "--target", "kind", "-o", out, "--jobs", 1),
        *("--base", base, "--reduction", reduction),
    )
    rows = table(run("predict", out, folder / "flowers.csv", "--proba").stdout)
    right = pd.read_csv(folder / "flowers.csv")["kind"]
    assert np.mean([row["predicted"] for row in rows] == right) > 0.7
    assert "binary problems" in run("explain", out).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reduction", "tuned"),
    [("sbc_bch", "estimator__C"), ("sbc_ecoc:l1", None), ("sbc_kernel_frequencies", "C")],
)
def test_single_binary_classifiers_survive_their_file(folder, reduction, tuned):
    out = folder / "single.skops"
    run(
        *("fit", folder / "flowers.csv", "--target", "kind", "-o", out, "--jobs", 1),
        *("--base", "svm", "--reduction", reduction, *(["--tune"] if tuned else [])),
    )
    rows = table(run("predict", out, folder / "flowers.csv", "--proba").stdout)
    right = pd.read_csv(folder / "flowers.csv")["kind"]
    assert np.mean([row["predicted"] for row in rows] == right) > 0.9
    assert "one binary classifier that is asked" in run("explain", out).stdout
    told = json.loads(run("explain", out, "--json").stdout)
    assert told["decoder"] == ("l1" if "ecoc" in reduction else "argmax")
    assert all(problem["error"] < 0.2 for problem in told["problems"])
    assert tuned is None or tuned in told["tuned"]


def test_a_base_that_does_not_suit_is_told(folder):
    said = run(
        *("fit", folder / "flowers.csv", "--target", "kind", "-o", folder / "none.skops"),
        *("--reduction", "sbc_bch"),
        status=1,
    ).stderr
    assert "The 'estimator' parameter must not be linear" in said


def test_explain_a_code(folder):
    out = folder / "code.skops"
    path = folder / "flowers.csv"
    run("fit", path, "--target", "kind", "--reduction", "one_vs_rest:votes", "-o", out)
    said = run("explain", out, "--problems", 1).stdout
    assert "iris s   + − −\niris, v  − + −\nünïcode  − − +" in said
    assert "ünïcode against the rest" in said
    errors = json.loads(run("explain", out, "--json").stdout)["problems"]
    worst = max(errors, key=lambda problem: problem["error"])
    assert worst["asks"] == "iris, v against the rest"  # between the two others
    assert said.rstrip().endswith(f"{100 * worst['error']:.2f} %  {worst['asks']}")
    told = json.loads(run("explain", out, "--json").stdout)
    assert told["code"] == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    assert told["columns"] == ["a", "b", "c", "d", "size"]
    assert told["decoder"] == "votes"


def test_explain_a_tree(folder):
    out = folder / "tree.skops"
    path = folder / "flowers.csv"
    run("fit", path, "--target", "kind", "--reduction", "linkage_tree", "-o", out, "--jobs", 1)
    said = run("explain", out).stdout
    assert "├── " in said
    assert "└── " in said
    assert "The weakest:" in said
    assert "{" in json.loads(run("explain", out, "--json").stdout)["structure"]


def test_tuning(folder):
    out = folder / "tuned.skops"
    arguments = ("--target", "kind", "--reduction", "one_vs_rest", "--tune", "-o", out)
    told = json.loads(run("fit", folder / "flowers.csv", *arguments, "--json").stdout)
    assert set(told["tuned"]) == {"estimator__C"}
    assert "Tuned: estimator__C" in run("explain", out).stdout
    result = run("fit", "wine", "--base", "lda", "--tune", "-o", out, status=2)
    assert "only these can be tuned" in result.stderr


def test_fit_says_what_it_tries_and_what_there_was_no_time_for(folder, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(_time_limit, "monotonic", lambda: clock[0])
    run_schedule = _models.run_with_progress

    def slow(schedule, store, jobs, check, budget):
        assert budget == pytest.approx(0.7 * 120)

        def check_slowly():
            clock[0] += 10  # once before the first cell

        return run_schedule(schedule, store, jobs, check_slowly, budget)

    monkeypatch.setattr(_models, "run_with_progress", slow)
    out = folder / "quick.skops"
    arguments = ("--target", "kind", "--base", "ridge", "--jobs", 1, "-o", out, "--json")
    result = run("fit", folder / "flowers.csv", *arguments, "--budget", "2m")
    lines = result.stderr.splitlines()
    tried = "one_vs_rest, one_vs_one, dense_random, bch, linkage_tree, native, majority"
    assert f"Trying {tried} with ridge on 5 folds; stopping after 2 min." in lines
    assert "0 of 35 cells are done" in lines
    assert "Not tried for lack of time: 4 of 5 folds." in lines
    told = json.loads(result.stdout)
    assert (told["not_tried"], told["folds"]) == ("4 of 5 folds", 1)
    assert _models._error_text(told).startswith("Its error on 1 of 5 folds is ")
    assert out.exists()


def test_known_data_sets_and_their_test_part(tmp_path, monkeypatch):
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        split=np.where(np.arange(150) % 3, "train", "test"), kind=y
    )
    frame.to_csv(tmp_path / "split.csv", index=False)
    out = tmp_path / "m.skops"
    said = json.loads(run("fit", tmp_path / "split.csv", "-o", out, "--jobs", 1, "--json").stdout)
    assert said["samples"] == 100
    assert 0 <= said["test_error"] < 0.1
    run("fit", "wine", "-o", out, "--reduction", "one_vs_rest", "--jobs", 1)
    assert len(table(run("predict", out, "wine").stdout)) == 178
    assert "lacks the columns" in run("predict", out, "iris", status=1).stderr


def test_rare_classes_are_no_obstacle(tmp_path):
    path = tmp_path / "rare.csv"
    rows = [f"{i % 9},{'ab'[i % 2]}" for i in range(60)] + ["30,c", "31,c", "40,d"]
    path.write_text("x,class\n" + "\n".join(rows) + "\n")
    run("fit", path, "-o", tmp_path / "m", "--reduction", "one_vs_one", "--jobs", 1)
    path.write_text("x,class\n" + "".join(f"{i},{i // 2}\n" for i in range(20)))
    message = run("fit", path, "-o", tmp_path / "m", status=1).stderr
    assert "must have 5 samples or more" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b,c,d\n1,2,3,4\n", "lacks 'size'"),
        ("a,b,c,d,size\n1,2,three,4,large\n", "'c' of .* must contain finite numbers. Got 'three'"),
        ("a,b,c,d,size\n1,2,inf,4,large\n", "'c' of .* must contain finite numbers"),
        ("a,b,c,d,size\n", "has no rows"),
        ("a,a,c,d,size\n1,2,3,4,large\n", "repeats 'a'"),
    ],
)
def test_samples_that_cannot_be_asked_about(folder, tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    result = run("predict", folder / "m.skops", path, status=1)
    assert len(result.stderr.splitlines()) == 1
    assert re.search(message, result.stderr)


def test_new_values_and_gaps_are_fine(folder, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("size,a,b,c,d\nhuge,5,3,1,0.2\n,,,,\n,5,3,NA,?\n")
    assert len(table(run("predict", folder / "m.skops", path).stdout)) == 3


def test_models_that_are_none(folder, tmp_path):
    assert "There is no file" in run("explain", tmp_path / "no.skops", status=1).stderr
    path = tmp_path / "bad.skops"
    whole = (folder / "m.skops").read_bytes()
    for content in (b"", b"nonsense", whole[: len(whole) // 2], pickle.dumps({"format": 1})):
        path.write_bytes(content)
        result = run("predict", path, folder / "flowers.csv", status=1)
        assert "is not a model of this program" in result.stderr
        assert len(result.stderr.splitlines()) == 1
    skops_io.dump({"some": "thing"}, path)
    assert "is not a model of this program" in run("explain", path, status=1).stderr
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("schema.json", "[]")
    assert "is not a model" in run("explain", path, status=1).stderr


def test_models_of_other_versions(folder, tmp_path):
    path = tmp_path / "other.skops"
    trusted = skops_io.get_untrusted_types(file=folder / "m.skops")
    content = skops_io.load(folder / "m.skops", trusted=trusted)
    content["versions"]["scikit-learn"] = "0.1"
    skops_io.dump(content, path)
    assert "scikit-learn 0.1 (here" in run("explain", path).stderr
    for version in (1, 99):
        content["version"] = version
        skops_io.dump(content, path)
        said = run("explain", path, status=1).stderr
        assert f"was written by version {polychotomy.__version__} of this program" in said
        assert "train it again" in said


def test_an_old_model_is_reported_before_its_content_is_opened(folder, tmp_path):
    """Its classes may not exist any more: the file is not damaged for that."""
    path = tmp_path / "old.skops"
    with zipfile.ZipFile(folder / "m.skops") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "schema.json":
                schema = json.loads(content)
                schema["content"]["version"]["content"] = "1"
                schema["content"]["pipeline"]["__module__"] = "polychotomy.choose._gone"
                content = json.dumps(schema)
            new.writestr(name, content)
    said = run("explain", path, status=1).stderr
    assert "was written by version" in said
    assert "damaged" not in said


def test_a_native_model_has_no_problems_to_explain(folder, tmp_path):
    out = tmp_path / "native.skops"
    options = ("--target", "kind", "-o", out, "--jobs", 1, "--reduction", "native")
    run("fit", folder / "flowers.csv", *options)
    assert "the learner's own multi-class form" in run("explain", out).stdout
    assert json.loads(run("explain", out, "--json").stdout)["problems"] == []
    assert len(table(run("predict", out, folder / "flowers.csv", "--proba").stdout)) == 150


def test_nothing_but_models_is_opened(tmp_path):
    from functools import partial

    path = tmp_path / "evil.skops"
    skops_io.dump({"format": "polychotomy model", "pipeline": partial(print, "evil")}, path)
    result = run("explain", path, status=1)
    assert "does not belong into a model" in result.stderr
    assert "evil\n" not in result.stdout
    from polychotomy.errors import require

    skops_io.dump({"format": "polychotomy model", "pipeline": require}, path)
    assert "polychotomy.errors.require" in run("explain", path, status=1).stderr


def test_a_model_keeps_what_it_says(folder):
    model, warning = load_model(folder / "m.skops")
    assert warning == ""
    again = load_model(folder / "m.skops")[0]
    frame = pd.read_csv(folder / "flowers.csv")[model.features]
    assert np.array_equal(model.pipeline.predict_proba(frame), again.pipeline.predict_proba(frame))


def test_places_that_cannot_be_written_are_told_before_training(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(_models, "train_model", lambda *_, **__: pytest.fail("trained"))
    for out, message in (
        (tmp_path / "missing" / "m.skops", "there is no folder"),
        (tmp_path, "is a folder"),
    ):
        assert message in run("fit", folder / "flowers.csv", "-o", out, status=1).stderr
        predicted = run("predict", folder / "m.skops", folder / "flowers.csv", "-o", out, status=1)
        assert message in predicted.stderr


def test_nothing_is_half_written(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o600)
    link = tmp_path / "link"
    link.symlink_to(path)

    def fail():
        with writing(link) as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    with writing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "link"]


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "evil.csv"
    path.write_text(
        "x,class\n" + "".join(f"{i % 5 + 20 * (i % 3)},k\x7f{i % 3}[red]\n" for i in range(60))
    )
    run("fit", path, "-o", tmp_path / "m", "--reduction", "one_vs_rest", "--jobs", 1)
    said = run("explain", tmp_path / "m").stdout
    assert "\x7f" not in said
    assert "[red]" in said


def test_interrupted(folder, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(_models, "train_model", interrupt)
    said = run("fit", "wine", "-o", tmp_path / "m", status=130).stderr
    assert said.strip() == "Interrupted."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("fit wine", 2, "Missing option"),
        ("fit wine -o m --jobs 0", 2, "not a number of workers"),
        ("fit nothing -o m", 1, "neither a file nor the name of a data set"),
        ("fit wine -o m --base nothing", 2, "'nothing' is none of"),
        ("fit wine -o m --reduction one_vs_rst", 1, "Did you mean 'one_vs_rest'"),
        ("fit wine -o m --reduction orthogonal", 1, "at least 4 classes"),
        ("predict", 2, "Missing argument"),
        ("predict m wine --reject 2", 2, "less than or equal to 1"),
    ],
)
def test_bad_usage(tmp_path, monkeypatch, arguments, status, message):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments.split(), status=status)
    assert message in " ".join(result.output.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_a_model_without_probabilities_says_so(folder, tmp_path):
    out = tmp_path / "m.skops"
    arguments = ("--target", "kind", "--reduction", "one_vs_rest::None", "-o", out, "--jobs", 1)
    run("fit", folder / "flowers.csv", *arguments)
    run("predict", out, folder / "flowers.csv")
    message = run("predict", out, folder / "flowers.csv", "--proba", status=1).stderr
    assert "has no probabilities" in message


@pytest.mark.parametrize("command", ["fit", "predict", "explain"])
def test_help_has_examples(command):
    assert "Examples" in run(command, "--help").stdout


def test_truth_values_are_predicted_as_they_are_called(tmp_path):
    x = np.linspace(-1, 1, 40)
    frame = pd.DataFrame({"x": x, "zone": ["01", "a"] * 20, "wet": x > 0})
    frame.to_csv(tmp_path / "wet.csv", index=False)
    arguments = ("--base", "ridge", "--reduction", "one_vs_rest", "--jobs", 1)
    said = run("fit", tmp_path / "wet.csv", "-o", tmp_path / "m.skops", *arguments)
    assert "wet: The classes are those of the column 'wet'." in said.stderr
    (tmp_path / "new.csv").write_text("x,zone\n-1,01\n1,01\n")
    command = ("predict", tmp_path / "m.skops", tmp_path / "new.csv")
    assert run(*command).stdout == "predicted\nFalse\nTrue\n"
    assert run(*command, "--reject", 1).stdout == "predicted,accepted\n,no\n,no\n"
    (tmp_path / "new.csv").write_text("x,zone\n-1,01\n1,a\n")
    probable = [row["p(True)"] for row in table(run(*command, "--proba").stdout)]
    (tmp_path / "new.csv").write_text("x,zone\n-1,01\n1,01\n")  # as in the file before
    assert table(run(*command, "--proba").stdout)[0]["p(True)"] == probable[0]
