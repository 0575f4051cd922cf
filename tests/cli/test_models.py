import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import load_iris
from typer.testing import CliRunner

pytest.importorskip("skops.io", reason="model files need skops")


import polychotomy
from polychotomy import datasets
from polychotomy.cli import _fitted_model, _models, _quick_look
from polychotomy.cli._app import app
from polychotomy.cli._model_files import load_model, writing
from polychotomy.cli._models import _error_text
from polychotomy.cli._quick_look import hint_at_learner
from polychotomy.evaluate import Samples, _time_limit
from polychotomy.reductions import available_bases

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
    assert "always the largest class 66.67 %" in said
    assert f"polychotomy explain {out}" in said
    told = json.loads(run("fit", folder / "flowers.csv", *arguments, "--json").stdout)
    assert told["samples"] == 150
    assert told["features"] == 5  # without the names
    assert told["classes"] == ["iris s", "iris, v", "ünïcode"]
    assert told["explanation"] in said
    assert 0 < told["error"] < 0.1
    assert len(told["compared"]) > 5
    assert told["recommendation"]["method"] == told["reduction"]


def test_fit_says_how_good_the_learner_is_by_itself(folder, tmp_path):
    facts = {"error": 0.1, "samples": 9, "classes": ["a", "b"], "majority_error": 0.5, "folds": 5}
    rows = [{"reduction": "native", "error": 0.2}, {"reduction": "bch", "error": 0.1}]
    said = _error_text(facts | {"base": "ridge", "reduction": "bch", "compared": rows})
    assert said.endswith("largest class 50.00 %, ridge by itself, without a reduction, 20.00 %.")
    rows[0]["reduction"] = "native (tree)"
    said = _error_text(facts | {"base": "ridge", "reduction": "bch", "compared": rows})
    assert "tree by itself" in said
    said = _error_text(facts | {"base": "tree", "reduction": "native", "compared": rows})
    assert said.endswith("largest class 50.00 %.")
    said = _error_text(facts | {"error": 0.5, "base": "tree", "reduction": "bch", "compared": rows})
    assert said.endswith("learned nothing: always predicting the largest class is as good.")


@pytest.mark.slow
def test_a_reduction_that_is_chosen_is_compared_with_the_learner_itself(folder, tmp_path):
    command = ("fit", folder / "flowers.csv", "--target", "kind", "-o", tmp_path / "m.skops")
    options = ("--base", "ridge", "--reduction", "chain", "--jobs", 1)
    said = run(*command, *options).stdout
    assert "Use chain: chosen by --reduction." in said
    told = json.loads(run(*command, *options, "--json").stdout)
    assert (told["reduction"], told["recommendation"]["method"]) == ("chain", "chain")
    error = next(row["error"] for row in told["compared"] if row["reduction"] == "native")
    assert f"ridge by itself, without a reduction, {100 * error:.2f} %." in said
    whole = json.loads(run(*command, "--base", "ridge", "--jobs", 1, "--json").stdout)
    assert error in [row["error"] for row in whole["compared"] if row["reduction"] == "native"]
    # an SVM of two classes has no such form, and with two learners the better one is taken
    options = ("--reduction", "ovr::None", "--jobs", 1, "--json", "--base")
    told = json.loads(run(*command, *options, "svm,ridge").stdout)
    assert {row["reduction"] for row in told["compared"]} == {
        "one_vs_rest:auto:None (svm)",
        "one_vs_rest:auto:None (ridge)",
        "native (ridge)",
    }
    assert (told["reduction"], told["base"]) == ("one_vs_rest:auto:None", "svm")


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


@pytest.fixture
def labelled(folder):
    """The flowers with three labels of its own: one wrong, one that is no class, one missing."""
    frame = pd.read_csv(folder / "flowers.csv")
    frame.loc[[0, 1, 2], "kind"] = ["ünïcode", "rose", None]
    frame.to_csv(folder / "labelled.csv", index=False)
    return frame


def test_evaluate_agrees_with_scikit_learn(folder, labelled):
    path = folder / "labelled.csv"
    found = json.loads(run("evaluate", folder / "m.skops", path, "--json").stdout)
    records = json.loads(run("predict", folder / "m.skops", path, "--proba", "--json").stdout)
    predicted = np.array([record["predicted"] for record in records])
    has_label = labelled["kind"].notna().to_numpy()
    known = has_label & (labelled["kind"] != "rose").to_numpy()
    truth = labelled["kind"].to_numpy()
    assert found["samples"] == 149
    assert found["majority_error"] == pytest.approx(1 - 51 / 149)
    assert (found["unlabelled"], found["unknown_class"]) == (1, 1)
    said = run("evaluate", folder / "m.skops", path).stdout
    assert "Samples without a label were left out: 1." in said
    assert found["error"] == pytest.approx(np.mean(predicted[has_label] != truth[has_label]))
    classes = ["iris s", "iris, v", "ünïcode"]
    p = np.array([[record[f"p({name})"] for name in classes] for record in records])[known]
    assert found["log_loss"] == pytest.approx(metrics.log_loss(truth[known], p, labels=classes))
    counts = metrics.confusion_matrix(truth[known], predicted[known], labels=classes)
    assert found["confusion"] == counts.tolist()
    scores = metrics.precision_recall_fscore_support(truth[known], predicted[known], labels=classes)
    for name, expected in zip(("precision", "recall"), scores, strict=False):
        assert [each[name] for each in found["classes"]] == pytest.approx(expected.tolist())
    right = np.array(classes)[p.argmax(axis=1)] == truth[known]
    assert found["reject"][0]["coverage"] == 1
    for point in found["reject"]:
        accepted = p.max(axis=1) >= point["threshold"]
        assert point["coverage"] == pytest.approx(accepted.mean())
        assert point["error"] == pytest.approx(1 - right[accepted].mean())


def test_evaluate_prints_what_one_asks_first(folder, labelled):
    said = run("evaluate", folder / "m.skops", folder / "labelled.csv").stdout
    assert re.search(r"\d+ of 149 predictions are wrong, an error of \d+\.\d\d %", said)
    for words in ("Log loss", "Brier", "recall %", "ünïcode predicted as iris s", "--reject"):
        assert words in said
    assert "1 sample has a class that the model does not know" in said
    assert max(len(line) for line in said.splitlines()[1:]) <= 120


def test_names_that_look_like_markup_are_shown_as_they_are(tmp_path):
    path, names = tmp_path / "[bold]data[red].csv", np.array(["[/b]", "[red]x", ":smile:"])
    frame = pd.DataFrame({"a": np.arange(60.0), "class": np.repeat(names, 20)})
    frame.to_csv(path, index=False)
    model = tmp_path / "m.skops"
    run("fit", path, "--base", "ridge", "--reduction", "one_vs_rest", "-o", model, "--jobs", 1)
    said = run("evaluate", model, path).stdout
    heading = said.split("predictions across")[1].split("─")[0]
    assert heading.split() == sorted(names)
    said = run("compare", path, "--base", "ridge", "--reductions", "one_vs_rest", "--jobs", 1)
    assert "[bold]data[red]" in said.stdout


def test_evaluate_needs_labels(folder, tmp_path):
    frame = pd.read_csv(folder / "flowers.csv")
    frame.rename(columns={"kind": "sort"}).to_csv(tmp_path / "sort.csv", index=False)
    said = run("evaluate", folder / "m.skops", tmp_path / "sort.csv", status=1).stderr
    assert "must have labels in the column 'kind'. Name another column with --target." in said
    found = run("evaluate", folder / "m.skops", tmp_path / "sort.csv", "--target", "sort")
    assert "of 150 predictions are wrong" in found.stdout
    said = run("evaluate", folder / "m.skops", tmp_path / "sort.csv", "--target", "no", status=1)
    assert "has no column 'no' for the labels" in said.stderr
    frame.assign(kind="fern").to_csv(tmp_path / "ferns.csv", index=False)
    said = run("evaluate", folder / "m.skops", tmp_path / "ferns.csv", status=1).stderr
    assert f"that are classes of the model, such as '{min(frame['kind'])}'" in said


def test_evaluate_writes_a_report(folder, labelled):
    pytest.importorskip("vl_convert", reason="needs the extra 'report'")
    path = folder / "evaluated.html"
    said = run("evaluate", folder / "m.skops", folder / "labelled.csv", "--report", path)
    assert str(path) in said.stderr
    text = path.read_text("utf-8")
    assert "How good it is" in text
    assert "What to use" not in text
    assert "Schedule(" not in text  # it was trained before, on other samples


def test_predict_keeps_columns_and_says_what_it_wrote(folder, labelled):
    out = folder / "kept.csv"
    command = ("predict", folder / "m.skops", folder / "labelled.csv")
    said = run(*command, "--keep", "name, kind", "-o", out)
    assert said.stdout == ""
    assert f"150 predictions in {out}" in said.stderr
    rows = table(out.read_text())
    assert list(rows[0]) == ["name", "kind", "predicted"]
    assert [row["name"] for row in rows] == labelled["name"].tolist()
    assert [row["kind"] for row in rows[:4]] == ["ünïcode", "rose", "", "iris s"]
    wrong = sum(row["predicted"] != row["kind"] for row in rows if row["kind"])
    assert f"{wrong} of 149 labelled predictions are wrong ({wrong / 1.49:.2f} %)" in said.stderr
    assert (
        "lacks the columns to keep, such as 'no'" in run(*command, "--keep", "no", status=1).stderr
    )
    new = labelled.drop(columns="kind").rename(columns={"name": "predicted"})
    new.to_csv(folder / "unlabelled.csv", index=False)
    assert run("predict", folder / "m.skops", folder / "unlabelled.csv").stderr == ""
    clash = ("predict", folder / "m.skops", folder / "unlabelled.csv", "--keep", "predicted")
    assert "must not name a column of the predictions" in run(*clash, status=1).stderr


def test_features_are_kept_as_they_are_written(tmp_path):
    days = [f"2024-0{1 + i % 3}-{10 + i // 3}" for i in range(30)]
    frame = pd.DataFrame({"day": days, "size": [f"{i % 3}.50" for i in range(30)]})
    frame["kind"] = np.array(["fir", "oak", "yew"])[np.arange(30) % 3]
    path, model = tmp_path / "trees.csv", tmp_path / "m.skops"
    frame.to_csv(path, index=False)
    run("fit", path, "--reduction", "ovr", "--jobs", 1, "-o", model)
    rows = table(run("predict", model, path, "--keep", "size,day").stdout)
    assert [(row["day"], row["size"]) for row in rows] == [*zip(days, frame["size"], strict=True)]
    by_input = ["predict", str(model), "-", "--keep", "size,day"]
    assert table(runner.invoke(app, by_input, input=path.read_bytes()).stdout) == rows


def test_samples_come_by_the_standard_input(folder):
    text = (folder / "flowers.csv").read_bytes()
    by_file = run("predict", folder / "m.skops", folder / "flowers.csv").stdout
    result = runner.invoke(app, ["predict", str(folder / "m.skops"), "-"], input=text)
    assert result.stdout == by_file
    result = runner.invoke(app, ["evaluate", str(folder / "m.skops"), "-"], input=b"a,b\n1,2\n")
    assert result.exit_code == 1
    assert result.stderr.startswith("The standard input (CSV) must have the columns")


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
    first = said.partition("it has not seen:\n")[2].splitlines()[0]
    assert first.endswith(f"{100 * worst['error']:.2f} %  {worst['asks']}")
    assert said.count(worst["asks"]) == 1  # no list is printed twice
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
    assert "and how often each is wrong about samples it has not seen" in said
    assert "{" in json.loads(run("explain", out, "--json").stdout)["structure"]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Seven classes on a circle, neighbours overlapping, and a model of many problems."""
    folder = tmp_path_factory.mktemp("many")
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(7), 30)
    X = np.column_stack([np.cos(0.9 * y), np.sin(0.9 * y)]) + rng.normal(0, 0.2, (210, 2))
    frame = pd.DataFrame(X, columns=["x", "z"]).assign(soil=["a", "b", "c"] * 70, kind=y)
    frame.to_csv(folder / "many.csv", index=False)
    out = folder / "many.skops"
    options = ("--reduction", "dense_random", "--base", "ridge", "--jobs", 1)
    run("fit", folder / "many.csv", "--target", "kind", "-o", out, *options)
    return out


def test_explain_leads_with_what_one_wants_to_know(many):
    said = run("explain", many).stdout
    assert "3 features (prepared: 5 numbers)" in said
    parts = ["Cost: ", "Wrong in cross-validation: ", "hardest to separate", "The weakest of"]
    places = [said.index(part) for part in parts]
    assert places == sorted(places)
    assert len(said.splitlines()) < 30
    told = json.loads(run("explain", many, "--json").stdout)
    assert sum(pair["samples"] for pair in told["confused"]) == told["wrong"]
    assert told["wrong"] == pytest.approx(told["error"] * told["tested"])
    assert told["tested"] == 210
    whole = run("explain", many, "--all").stdout
    assert all(problem["asks"] in whole for problem in told["problems"])
    assert "+" in whole
    assert "+" not in said


@pytest.mark.slow
def test_explain_all_shows_the_whole_code_and_the_whole_tree(tmp_path):
    """Of more problems than a line holds, and a tree that is deeper than it can be drawn."""
    said = {}
    for name, k in (("one_vs_one", 13), ("chain", 33)):
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(k), 6)
        frame = pd.DataFrame(3 * rng.normal(size=(k, 8))[y] + rng.normal(size=(len(y), 8)))
        path, out = tmp_path / f"{name}.csv", tmp_path / f"{name}.skops"
        frame.add_prefix("x").assign(kind=y).to_csv(path, index=False)
        options = ("--reduction", f"{name}::None", "--base", "ridge", "--jobs", 1)
        run("fit", path, "-o", out, *options)
        said[name] = run("explain", out, "--all").stdout
    rows = [line.split()[1:] for line in said["one_vs_one"].splitlines() if "·" in line]
    assert [len(row) for row in rows] == [78] * 13
    assert all(row.count("·") == 78 - 12 for row in rows)
    said = said["chain"]
    assert "classes\n" not in said.partition("Wrong in")[2]
    assert "…" not in said
    assert all(re.search(rf"\b{label}\b", said) for label in range(33))


def test_weak_pairs_are_those_without_a_good_problem(many):
    told = json.loads(run("explain", many, "--json").stdout)
    code = np.array(told["code"])
    errors = np.array([problem["error"] for problem in told["problems"]])
    expected = {}
    for i in range(7):
        for j in range(i):
            parting = code[i] * code[j] < 0
            expected[j, i] = (parting.sum(), errors[parting].min())
    found = {
        tuple(int(name) for name in pair["classes"]): (pair["problems"], pair["error"])
        for pair in told["weak_pairs"]
    }
    assert found == expected
    assert [pair["error"] for pair in told["weak_pairs"]] == sorted(errors_of(found), reverse=True)


def errors_of(pairs):
    return [error for _, error in pairs.values()]


def test_several_bases_are_compared(folder, tmp_path):
    out = tmp_path / "m.skops"
    options = ("--target", "kind", "-o", out, "--jobs", 1, "--reduction", "one_vs_rest", "--json")
    bases = ("knn", "sklearn.naive_bayes.GaussianNB")
    told = json.loads(
        run("fit", folder / "flowers.csv", *options, "--base", ",".join(bases)).stdout
    )
    errors = {row["reduction"]: row["error"] for row in told["compared"]}
    assert set(errors) == {f"{name} ({b})" for name in ("one_vs_rest", "native") for b in bases}
    chosen = f"{told['reduction']} ({told['base']})"
    assert told["recommendation"]["method"] == chosen
    assert errors[chosen] == told["error"]
    assert len(table(run("predict", out, folder / "flowers.csv").stdout)) == 150


def test_a_weak_default_is_followed_by_a_hint(tmp_path):
    rng = np.random.default_rng(0)
    radius, angle = np.repeat([1, 2, 3], 40) + rng.normal(0, 0.1, 120), rng.uniform(0, 6.3, 120)
    frame = pd.DataFrame({"a": radius * np.cos(angle), "b": radius * np.sin(angle)})
    frame.assign(ring=np.repeat(["in", "mid", "out"], 40)).to_csv(tmp_path / "r.csv", index=False)
    options = ("--reduction", "one_vs_rest", "--jobs", 1, "-o", tmp_path / "m.skops")
    said = run("fit", tmp_path / "r.csv", *options).stderr.splitlines()[-1]
    assert re.fullmatch(r"On a quick look at 120 samples .* logistic .*: try --base \w+\.", said)
    assert run("fit", tmp_path / "r.csv", *options).stderr.splitlines()[-1] == said
    named = run("fit", tmp_path / "r.csv", *options, "--base", "ridge").stderr
    assert "quick look" not in named


def test_a_default_that_is_good_needs_no_hint():
    iris = Samples.of(datasets.load("iris"))
    assert hint_at_learner(iris) == ""


def test_the_same_samples_give_the_same_hint(rng):
    noise = Samples.make("noise", rng.normal(size=(150, 4)), rng.integers(0, 3, 150))
    assert _quick_look._wrong(noise) == _quick_look._wrong(noise)


@pytest.mark.slow
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
    for content in (b"nonsense", whole[: len(whole) // 2]):
        path.write_bytes(content)
        result = run("predict", path, folder / "flowers.csv", status=1)
        assert "is not a model of this version" in result.stderr
        assert len(result.stderr.splitlines()) == 1
    saved = polychotomy.load(folder / "m.skops")
    del saved.notes_
    polychotomy.save(saved, path)
    result = run("predict", path, folder / "flowers.csv", status=1)
    assert "open it with polychotomy.load" in result.stderr


def test_a_warning_of_other_versions_is_one_line(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(polychotomy, "__version__", "7.8")
    said = run("explain", folder / "m.skops").stderr
    assert re.fullmatch(r".*m.skops was written with polychotomy .* \(here 7.8\).*\n", said)


def test_the_command_line_and_the_library_open_the_same_files(folder):
    model = polychotomy.load(folder / "m.skops")
    frame = pd.read_csv(folder / "flowers.csv")
    said = table(run("predict", folder / "m.skops", folder / "flowers.csv").stdout)
    assert model.predict(frame[model.notes_["features"]]).tolist() == [
        row["predicted"] for row in said
    ]


def test_a_native_model_has_no_problems_to_explain(folder, tmp_path):
    out = tmp_path / "native.skops"
    options = ("--target", "kind", "-o", out, "--jobs", 1, "--reduction", "native")
    run("fit", folder / "flowers.csv", *options)
    said = run("explain", out).stdout
    assert "the learner's own multi-class form" in said
    assert "Cost: 1 question per sample;" in said
    assert json.loads(run("explain", out, "--json").stdout)["problems"] == []
    assert len(table(run("predict", out, folder / "flowers.csv", "--proba").stdout)) == 150


def test_a_model_keeps_what_it_says(folder):
    model, warning = load_model(folder / "m.skops")
    assert warning == ""
    again = load_model(folder / "m.skops")[0]
    frame = pd.read_csv(folder / "flowers.csv")[model.features]
    assert np.array_equal(model.pipeline.predict_proba(frame), again.pipeline.predict_proba(frame))


def test_places_that_cannot_be_written_are_told_before_training(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(_fitted_model, "train_model", lambda *_, **__: pytest.fail("trained"))
    for out, message in (
        (tmp_path / "missing" / "m.skops", "there is no folder"),
        (tmp_path, "is a folder"),
        (tmp_path / "m.pkl", f"name it {tmp_path / 'm.skops'}."),
    ):
        assert message in run("fit", folder / "flowers.csv", "-o", out, status=1).stderr
        if out.suffix == ".pkl":
            continue
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

    monkeypatch.setattr(_fitted_model, "train_model", interrupt)
    said = run("fit", "wine", "-o", tmp_path / "m", status=130).stderr
    assert said.strip() == "Interrupted."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("fit wine", 2, "Missing option"),
        ("fit wine -o m --jobs 0", 2, "not a number of workers"),
        ("fit nothing -o m", 1, "neither a file nor the name of a data set"),
        ("fit wine -o m --base nothing", 2, "must be one of"),
        ("fit wine -o m --reduction one_vs_rst", 2, "Did you mean 'one_vs_rest'"),
        ("fit wine -o m --reduction ovx", 2, "Did you mean 'ovr' or 'ovo' or 'ova'?"),
        ("fit wine -o m --reduction orthogonal", 1, "at least 4 classes"),
        ("predict", 2, "Missing argument"),
        ("predict m wine --reject 2", 2, "Invalid value for '--reject'"),
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


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "explain"])
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


def test_fit_keeps_the_order_of_classes(tmp_path):
    y = np.repeat(np.arange(3), 30)
    frame = pd.DataFrame({"a": y + 0.2 * np.random.default_rng(0).normal(size=90)})
    frame["level"] = np.array(["low", "mid", "high"])[y]
    frame.to_csv(tmp_path / "grades.csv", index=False)
    model = tmp_path / "m.skops"
    options = ("--reduction", "adjacent", "--class-order", "low,mid,high", "--jobs", 1)
    told = json.loads(run("fit", tmp_path / "grades.csv", *options, "-o", model, "--json").stdout)
    assert told["error"] < 0.1
    assert max(told["problem_errors"]) < 0.1
    said = run("explain", model).stdout
    assert "low against the rest" in said or "the rest against low" in said
    assert "mid against" not in said
    assert "against mid" not in said
    assert "Order of the classes: low, mid, high." in said
    drawn = re.findall(r"^(low|mid|high) +([+−·].*)$", run("explain", model, "--all").stdout, re.M)
    assert [name for name, _ in drawn] == ["low", "mid", "high"]
    assert len({signs for _, signs in drawn[::2]}) == 2  # low and high are on different sides
    found = json.loads(run("evaluate", model, tmp_path / "grades.csv", "--json").stdout)
    assert [row["class"] for row in found["classes"]] == ["low", "mid", "high"]
    assert [row["samples"] for row in found["classes"]] == [30, 30, 30]
    assert np.trace(found["confusion"]) == pytest.approx(90 * (1 - found["error"]))
    frame.loc[:2, "level"] = ["high", "none", None]
    frame.to_csv(tmp_path / "grades.csv", index=False)
    found = json.loads(run("evaluate", model, tmp_path / "grades.csv", "--json").stdout)
    assert [row["samples"] for row in found["classes"]] == [27, 30, 31]
    run("fit", tmp_path / "grades.csv", *options[:3], "data", "--jobs", 1, "-o", model)
    assert "Order of the classes: found in the training samples." in run("explain", model).stdout


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    """Notes that tell the class by their words, in Latin-1, with all kinds of columns."""
    rng = np.random.default_rng(0)
    kind = np.arange(90) % 3
    words = np.array(["rot süß", "grün sauer", "gelb weich"])
    frame = pd.DataFrame(
        {
            "id": np.arange(90),
            "zone": [f"{code:02}" for code in rng.integers(0, 3, 90)],
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, 90), "D"),
            "note": [f"{text} {i}" for i, text in enumerate(words[kind])],
            "empty": None,
            "kind": [["a", "b", "01"][i] for i in kind],
        }
    )
    frame.loc[5, "kind"] = None
    path = tmp_path_factory.mktemp("notes") / "notes.csv"
    frame.to_csv(path, index=False, encoding="latin-1")
    return path


@pytest.mark.parametrize("way", ["note", "note:chars"])
def test_a_model_reads_files_as_it_was_told(notes, tmp_path, way):
    out = tmp_path / "m.skops"
    options = ("--drop", "id", "--nominal", "zone", "--text", way, "--encoding", "latin-1")
    said = run("fit", notes, "-o", out, *options, "--reduction", "ovr", "--jobs", 1).stderr
    for remark in ("1 of 90 rows", "all values are missing: 'empty'", "days since 1970: 'day'"):
        assert remark in said
    predicted = [row["predicted"] for row in table(run("predict", out, notes).stdout)]
    assert predicted == ["a", "b", "01"] * 30
    model = polychotomy.load(out)
    assert model.notes_["features"] == ["zone", "day", "note"]
    assert model.notes_["nominal"] == ["zone"]
    text = notes.read_text("latin-1")
    (tmp_path / "utf.csv").write_text(text, "utf-8")
    again = run("predict", out, tmp_path / "utf.csv", "--encoding", "utf-8").stdout
    assert [row["predicted"] for row in table(again)] == predicted


def test_options_of_files_are_those_of_every_command(notes):
    options = ("--drop", "id,day", "--nominal=zone", "--text", "note", "--encoding=latin-1")
    shown = json.loads(run("datasets", "show", notes, *options, "--json").stdout)
    assert (shown["features"], shown["nominal"], shown["samples"]) == (2, ["zone"], 89)
    said = run("compare", notes, *options, "--reductions", "ovr", "--jobs", 1, "--protocol", "cv2")
    assert (
        "--drop id,day --nominal zone --text note:words --encoding latin-1 --base logistic"
        in said.stdout
    )
    assert "{" in run("structure", "design", notes, *options).stdout
    assert (
        "no column 'nothing'"
        in run("compare", notes, *options[2:], "--drop", "nothing", status=1).stderr
    )


def test_a_file_without_a_header(tmp_path):
    path = tmp_path / "flowers.csv"
    X, y = load_iris(return_X_y=True)
    pd.DataFrame(X).assign(kind=y).to_csv(path, index=False, header=False)
    out = tmp_path / "m.skops"
    run("fit", path, "-o", out, "--no-header", "--reduction", "ovr", "--base", "lda", "--jobs", 1)
    labelled = run("predict", out, path).stdout
    pd.DataFrame(X).to_csv(path, index=False, header=False)
    assert run("predict", out, path).stdout == labelled
    assert "say that there is no header" in run("datasets", "show", path, status=1).stderr


@pytest.mark.slow
@pytest.mark.parametrize("base", ["logistic", "svm", "tree", "boosting"])
def test_libsvm_files_stay_sparse_to_the_model(tmp_path, base):
    """Only learners that take no sparse matrices get dense ones."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    rows = [f"{c} {c + 1}:5 {rng.integers(4, 2000)}:1" for c in y]
    (tmp_path / "wide.libsvm").write_text("\n".join(rows) + "\n")
    out = tmp_path / "m.skops"
    arguments = ("--base", base, "--reduction", "one_vs_one::None", "--jobs", 1)
    run("fit", tmp_path / "wide.libsvm", "-o", out, *arguments)
    model = polychotomy.load(out)
    assert model[0].dense == (base == "boosting")
    (tmp_path / "new.libsvm").write_text("0 1:5\n0 2:5 9999:1\n0 3:5\n")
    assert run("predict", out, tmp_path / "new.libsvm").stdout.split()[1:] == ["0", "1", "2"]
    (tmp_path / "new.csv").write_text("x1,x2\n1,2\n")
    assert "must be a LIBSVM file" in run("predict", out, tmp_path / "new.csv", status=1).stderr


def test_any_classifier_of_scikit_learn_survives_its_file(folder, tmp_path):
    out = tmp_path / "m.skops"
    given = ("--target", "kind", "--reduction", "ovr::None", "--jobs", 1)
    for base in (
        "sklearn.gaussian_process.GaussianProcessClassifier",
        "sklearn.naive_bayes.GaussianNB",
    ):
        run("fit", folder / "flowers.csv", "-o", out, *given, "--base", base)
        assert f"with {base}" in run("explain", out).stdout


def test_a_learner_whose_models_cannot_be_opened_is_refused_before_training(
    folder, tmp_path, monkeypatch
):
    (tmp_path / "own_learner.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\nclass Own(GaussianNB): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(_fitted_model, "train_model", None)
    out = tmp_path / "m.skops"
    said = run("fit", "digits", "-o", out, "--base", "own_learner.Own", status=1).stderr
    assert "Models of own_learner.Own cannot be opened again" in said
    assert "contain own_learner.Own." in said
    assert not out.exists()
