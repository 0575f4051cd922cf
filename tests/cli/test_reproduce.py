import csv
import json
import re

import pytest
from typer.testing import CliRunner

from polychotomy.cli import _reproduce
from polychotomy.cli._app import app
from polychotomy.evaluate import Schedule, Store, _bench
from polychotomy.lab import experiments
from tests.lab.experiments.tiny import make_methods, make_tiny

runner = CliRunner()


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """Two experiments that take a second, no data folder, temporary files where they are seen."""
    tiny = {
        "tiny": make_tiny("tiny"),
        "more": make_tiny(
            "more", make_methods=lambda s, seed: make_methods(s, seed)[:1], data_sets=("iris",)
        ),
    }
    monkeypatch.setattr(experiments, "_EXPERIMENTS", tiny)
    monkeypatch.setattr(_reproduce, "EXPERIMENTS", tuple(tiny))
    monkeypatch.delenv("POLYCHOTOMY_DATA", raising=False)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


def run(*arguments, status=0):
    result = runner.invoke(app, ["reproduce", *map(str, arguments)])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result


def test_ours_beside_theirs(tmp_path):
    shown = run("tiny", "--jobs", "1").stdout
    for heading in ("data set", "method", "ours", "theirs", "difference", "folds", "agrees"):
        assert heading in shown
    row = next(line for line in shown.splitlines() if "iris       ALL-PAIRS" in line).split()
    ours, theirs = float(row[2]), float(row[5])
    assert theirs == 24
    assert float(row[6].replace("−", "-")) == pytest.approx(ours - theirs, abs=0.01)
    assert " ".join(row[7:]) == "3 of 3 NO"
    assert "of 4 figures agree." in shown
    assert "The learner is ridge regression." in shown
    assert not list((tmp_path / "temporary").iterdir())


def test_for_programs():
    found = json.loads(run("tiny", "--folds", "2", "--jobs", "1", "--json").stdout)
    table = found["tables"]["sbckernel-2"]
    assert (table["judged"], len(table["figures"])) == (4, 4)
    for f in table["figures"]:
        assert f["n_folds"] == 2
        assert f["agrees"] is (f["low"] - 0.005 <= f["theirs"] <= f["high"] + 0.005)
    assert table["figures"][0]["their_spread"] is None
    assert found["environment"]["options"]["folds"] == 2
    assert found["failures"] == []
    assert found["choices"] == {"tiny": ["The learner is ridge regression."]}


def test_parts():
    found = json.loads(
        run("tiny", "--data", "wine", "--methods", "ALL-PAIRS", "--jobs", "1", "--json").stdout
    )
    (figure,) = found["tables"]["sbckernel-2"]["figures"]
    assert (figure["data_set"], figure["method"], figure["of_folds"]) == ("wine", "ALL-PAIRS", 3)


def test_quick_takes_small_data_sets_and_two_folds():
    found = json.loads(run("tiny", "--quick", "--jobs", "1", "--json").stdout)
    figures = found["tables"]["sbckernel-2"]["figures"]
    assert {(f["data_set"], f["n_folds"], f["of_folds"]) for f in figures} == {("iris", 2, 3)}
    found = json.loads(run("tiny", "--quick", "--folds", "3", "--jobs", "1", "--json").stdout)
    assert found["tables"]["sbckernel-2"]["figures"][0]["n_folds"] == 3


def test_quick_judges_what_it_ran():
    shown = run("tiny", "--quick", "--jobs", "1").stdout
    assert "of 2 figures agree as far as part of the folds can say." in shown
    assert re.search(r"\d+\.\d\d \(\d+\.\d\d to \d+\.\d\d\)", shown)


def test_what_experiments_share_is_computed_once(tmp_path):
    store = tmp_path / "all.sqlite"
    found = json.loads(run("tiny", "more", "--jobs", "1", "--store", store, "--json").stdout)
    assert found["environment"]["cells"] == 12
    with Store(store) as opened:
        assert len(opened) == 12
    figures = found["tables"]["sbckernel-2"]["figures"]
    assert [(f["data_set"], f["method"]) for f in figures] == [
        ("iris", "OVA"),
        ("wine", "OVA"),
        ("iris", "ALL-PAIRS"),
        ("wine", "ALL-PAIRS"),
        ("iris", "OVA"),  # of the second experiment
    ]
    assert figures[0] == figures[4]


def test_a_store_is_used_again(tmp_path, monkeypatch):
    options = ("tiny", "--jobs", "1", "--store", tmp_path / "tiny.sqlite")
    first = run(*options)
    monkeypatch.setattr(_bench.Bench, "measure", None)  # nothing can be computed
    assert run(*options).stdout == first.stdout


def test_figures_and_environment_are_written(tmp_path):
    out = tmp_path / "tiny.csv"
    said = run("tiny", "--jobs", "1", "--seed", "3", "--out", out).stderr
    assert f"4 figures in {out}" in said
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["theirs"] for row in rows] == ["21.33", "5.88", "24", "4.71"]
    environment = json.loads((tmp_path / "tiny.environment.json").read_text())
    assert environment["options"]["seed"] == 3
    assert environment["options"]["experiments"] == ["tiny"]
    assert environment["cells"] == 12
    assert environment["cpu_seconds_without_tuning"] >= 0
    assert {"polychotomy", "numpy", "scikit-learn"} <= set(environment["versions"])
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"tiny.csv", "tiny.environment.json", "temporary"}


def test_a_page_is_written(tmp_path):
    pytest.importorskip("jinja2", reason="needs the extra 'report'")
    said = run("tiny", "--jobs", "1", "--report", tmp_path / "tiny.html").stderr
    assert "Report: " in said
    assert "<title>tiny again</title>" in (tmp_path / "tiny.html").read_text("utf-8")


def test_the_list(monkeypatch, tmp_path):
    shown = run("list").stdout
    assert "Two reductions of ridge" in shown
    assert "0.5" in shown
    more = make_tiny("far", data_sets=("iris", "vehicle"))
    monkeypatch.setitem(experiments._EXPERIMENTS, "far", more)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    assert "iris; ↓vehicle" in run("list").stdout
    found = {each["name"]: each for each in json.loads(run("list", "--json").stdout)}
    assert found["far"]["data_sets"] == [
        {"name": "iris", "source": "here", "quick": True},
        {"name": "vehicle", "source": "OpenML", "quick": False},
    ]
    (tmp_path / "vehicle.csv.gz").write_bytes(b"")
    monkeypatch.setenv("POLYCHOTOMY_DATA", str(tmp_path))
    assert "iris; vehicle" in run("list").stdout


@pytest.mark.parametrize(
    "options",
    ["", "tinny", "list tiny", "tiny --folds 0", "tiny --jobs 0", "tiny --seed -1",
     "tiny --out a.txt"],
)  # fmt: skip
def test_wrong_usage(options):
    run(*options.split(), status=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--data", "glass"), "'data' parameter must be one of 'iris', 'wine'"),
        (("--methods", "OVO"), "Did you mean 'OVA'?"),
        (("--out", "missing/tiny.csv"), "there is no folder"),
        (("--report", "missing/tiny.html"), "there is no folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(options, message):
    said = run("tiny", "--jobs", "1", *options, status=1).stderr.strip().splitlines()
    assert len(said) == 1
    assert message in said[0]


def test_failures_are_told(monkeypatch):
    def fail(*_):
        raise ValueError("no luck")

    monkeypatch.setattr(_bench.Bench, "measure", fail)
    said = run("tiny", "--data", "iris", "--jobs", "1", status=1).stderr
    assert "iris: OVA (ridge) failed in 3 folds: no luck" in said
    assert said.strip().endswith("Nothing could be computed.")


def test_what_fails_does_not_move_other_cells(monkeypatch):
    real = _bench.Bench.measure

    def sometimes(self, task):
        if (task.data_set, task.reduction, task.fold) == ("iris", "OVA", 1):
            raise ValueError("no luck")
        return real(self, task)

    monkeypatch.setattr(_bench.Bench, "measure", sometimes)
    found = json.loads(run("more", "tiny", "--jobs", "1", "--json").stdout)
    folds = [
        (f["data_set"], f["method"], f["n_folds"])
        for f in found["tables"]["sbckernel-2"]["figures"]
    ]
    assert folds == [
        ("iris", "OVA", 2),
        ("iris", "OVA", 2),
        ("wine", "OVA", 3),
        ("iris", "ALL-PAIRS", 3),
        ("wine", "ALL-PAIRS", 3),
    ]
    assert len(found["failures"]) == 1


def test_methods_that_make_no_figure(monkeypatch):
    tiny = make_tiny(quantities={})
    monkeypatch.setitem(experiments._EXPERIMENTS, "tiny", tiny)
    said = run("tiny", "--data", "iris", "--jobs", "1", status=1).stderr
    assert "makes none of the published figures" in said


def test_an_interrupt_is_told_and_nothing_is_lost(tmp_path, monkeypatch):
    def interrupted(plan, store, **_):
        for outcome in plan._outcomes(list(plan.tasks[:2]), 1):
            store.add(outcome)
        raise KeyboardInterrupt

    monkeypatch.setattr(Schedule, "run", interrupted)
    store = tmp_path / "tiny.sqlite"
    said = run("tiny", "--jobs", "1", "--store", store, status=130).stderr
    assert f"Finished cells are in {store}" in said
    assert "finished cells were kept" in run("tiny", "--jobs", "1", status=130).stderr


def test_help_has_examples_and_says_what_the_status_means():
    shown = run("--help").stdout
    assert "polychotomy reproduce sbckernel-2 --quick" in shown
    assert "130 interrupted" in " ".join(shown.split())
