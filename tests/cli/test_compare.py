import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from polychotomy import datasets, evaluate
from polychotomy.cli import _running
from polychotomy.cli._app import app
from polychotomy.datasets import make_preprocessor
from polychotomy.evaluate import Failure, Progress, Samples, Schedule, Store, _bench
from polychotomy.reductions import Reduction, make_base
from polychotomy.report._page import page_contents

runner = CliRunner()
FAST = ("--base", "ridge", "--reductions", "one_vs_one,one_vs_rest", "--jobs", "1")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """Without data folder, and with temporary files where they can be counted."""
    monkeypatch.delenv("POLYCHOTOMY_DATA", raising=False)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


@pytest.fixture
def land(tmp_path):
    """A file of two numbers and a nominal column, with three classes called by odd names."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    frame = pd.DataFrame({"height": rng.normal(y), "wet": rng.normal(-y), "soil": y > 1})
    frame["cover"] = np.array(["<script>", "elm", "[red]"])[y]
    frame.to_csv(tmp_path / "land.csv", index=False)
    return tmp_path / "land.csv"


def run(*arguments, status=0):
    result = runner.invoke(app, ["compare", *map(str, arguments)])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result


def refused(*arguments, message):
    """Check that there is one clear sentence, beside what is said about columns and classes."""
    said = run(*arguments, status=1).stderr.strip().splitlines()
    assert message in said[-1], said
    assert len(said) <= 3


def test_a_file_gives_a_table_and_a_recommendation(land, tmp_path):
    result = run(land, *FAST, "--protocol", "cv3")
    shown = result.stdout
    assert "land: 90 samples, 3 features, 3 classes; ridge, cv3" in shown
    for heading in ("problems", "error %", "log loss", "Brier", "CPU s", "rank"):
        assert heading in shown
    table = shown.partition("Use ")[0].splitlines()
    assert max(map(len, table)) <= 120
    assert len(table) == 7  # title, heading, rule, two methods, and empty lines: none wraps
    assert "Use one_vs_" in shown
    assert "corrected resampled t-test over 3 folds" in shown
    assert not list((tmp_path / "temporary").iterdir())


def test_what_to_do_next_is_a_command_that_works(land, monkeypatch):
    named = land.rename(land.with_name("my land.csv"))
    monkeypatch.chdir(named.parent)
    shown = run("my land.csv", *FAST, "--protocol", "cv3", "--target", "cover").stdout
    said = shown.splitlines()[-1].removeprefix("Train it with: polychotomy ")
    assert said.startswith("fit 'my land.csv' --target cover --base ridge --reduction one_vs_")
    result = runner.invoke(app, [*shlex.split(said), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert (named.parent / "my land.skops").exists()
    assert "polychotomy predict 'my land.skops' FILE" in result.stdout


def test_which_columns_are_taken_is_told(land):
    said = run(land, *FAST, "--protocol", "cv3").stderr.splitlines()
    plan = ["Trying one_vs_one, one_vs_rest with ridge on 3 folds.", "0 of 6 cells are done"]
    assert said == ["land: The classes are those of the column 'cover'.", *plan]
    said = run(land, *FAST, "--protocol", "cv3", "--target", "cover").stderr.splitlines()
    assert said == plan


def test_off_a_terminal_progress_is_told_in_lines(land, tmp_path, monkeypatch):
    monkeypatch.setattr(_running, "_PAUSE", 0.0)
    monkeypatch.setattr(_running, "_SHARE", 0.0)
    options = (land, *FAST, "--protocol", "cv2", "--target", "cover", "--store", tmp_path / "s")
    result = run(*options, "--json")
    plan, *said = result.stderr.splitlines()
    assert plan == "Trying one_vs_one, one_vs_rest with ridge on 2 folds."
    assert said[0] == "0 of 4 cells are done"
    for i, line in enumerate(said[1:], 1):
        left = r", \d+:\d\d left" if i > 1 else ""  # the first cell also compiles programs
        assert re.fullmatch(rf"{i} of 4 cells are done{left}, land: one_vs_\w+", line)
    assert len(said) == 4
    json.loads(result.stdout)
    assert run(*options).stderr == ""  # all of it is in the store


def test_a_long_run_fills_no_log(monkeypatch, capsys):
    now = 0.0
    monkeypatch.setattr(_running, "monotonic", lambda: now)
    show = _running._lines()
    for done in range(100_000):
        show(
            Progress(done, 100_000, None, None if done == 0 else Failure("a", "b", "c", 0, "", ""))
        )
        now += 1.0
    assert 100 < len(capsys.readouterr().err.splitlines()) < 400


def test_dates_become_numbers_and_that_is_said(land):
    frame = pd.read_csv(land).assign(day=pd.date_range("2020", periods=90))
    path = land.with_suffix(".parquet")
    frame.to_parquet(path)
    said = run(path, *FAST, "--target", "cover", "--protocol", "cv2", "--jobs", "1").stderr
    assert "Read as dates, in days since 1970: 'day'." in said


def test_without_data_it_is_digits():
    shown = run(*FAST[:2], "--reductions", "one_vs_rest", "--protocol", "split", "--jobs", "1")
    assert "digits: 1797 samples, 64 features, 10 classes" in shown.stdout


def test_large_data_can_be_limited(land):
    table = run(land, *FAST, "--samples", "30", "--protocol", "cv3").stdout
    assert "land: 30 samples" in table
    refused(land, *FAST, "--samples", "2", message="3 classes need as many samples")


def test_for_programs(land):
    found = json.loads(run(land, *FAST, "--protocol", "cv3", "--json").stdout)
    assert set(found) == {
        *("tables", "overall", "recommended", "why", "recommendation", "how_sure", "failures"),
        "not_tried",
    }
    assert found["recommendation"]["method"] == found["recommended"]
    (table,) = found["tables"].values()
    assert {row["method"] for row in table} == {"one_vs_one", "one_vs_rest"}
    assert 0 <= table[0]["means"]["error"] < 0.5


def test_a_store_is_used_again(land, tmp_path, monkeypatch):
    store = tmp_path / "land.sqlite"
    first = run(land, *FAST, "--protocol", "cv3", "--store", store, "--json")
    monkeypatch.setattr(_bench.Bench, "measure", None)  # nothing can be computed
    again = run(land, *FAST, "--protocol", "cv3", "--store", store, "--json")
    assert again.stdout == first.stdout
    with Store(store) as opened:
        assert len(opened) == 6


def test_several_files_of_one_name_go_by_their_paths(land, tmp_path):
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "land.csv"
    pd.read_csv(land).iloc[:60].to_csv(other, index=False)
    found = json.loads(run(land, other, *FAST, "--protocol", "cv2", "--json").stdout)
    assert set(found["tables"]) == {str(land), str(other)}
    assert "Iman and Davenport" in found["how_sure"]
    refused(land, land, *FAST, message="given twice")


def test_many_data_sets_are_one_table(land, tmp_path):
    files = [tmp_path / f"land{i}.csv" for i in range(4)]
    for i, file in enumerate(files):
        pd.read_csv(land).iloc[i:].to_csv(file, index=False)
    shown = run(*files, *FAST, "--protocol", "split").stdout
    assert "Error % on each data set" in shown
    assert "4 data sets; ridge, split" in shown
    assert re.search(r"^ +land3 +\d+\.\d\d +\d+\.\d\d *$", shown, re.MULTILINE)


def test_of_data_sets_and_reductions_those_with_more_go_down(land, tmp_path):
    files = [tmp_path / f"land{i}.csv" for i in range(4)]
    for i, file in enumerate(files):
        pd.read_csv(land).iloc[i:].to_csv(file, index=False)
    names = "one_vs_rest,one_vs_one,chain,balanced_tree,adjacent"
    shown = run(
        *files, "--base", "ridge", "--reductions", names, "--protocol", "split", "--jobs", 1
    ).stdout
    assert re.search(r"^ +reduction +land0 +land1 +land2 +land3 *$", shown, re.MULTILINE)
    assert re.search(r"^ +chain( +\d+\.\d\d){4} *$", shown, re.MULTILINE)


def test_what_a_reduction_cannot_do_is_told_and_left_out(land):
    result = run(
        land, *FAST[:2], "--reductions", "orthogonal,bch", "--protocol", "cv2", "--jobs", 1
    )
    assert (
        "land: orthogonal (ridge) failed in 2 folds: There is no orthogonal code" in result.stderr
    )
    assert "Use bch: nothing else was compared in full." in result.stdout


def test_if_nothing_works_that_is_the_end(land):
    result = run(land, "--reductions", "orthogonal", "--protocol", "cv2", "--jobs", 1, status=1)
    assert "Nothing could be computed." in result.stderr


def test_small_classes_are_told(land):
    frame = pd.read_csv(land).iloc[:34]
    pd.concat([frame, frame.iloc[:1].assign(cover="rare")]).to_csv(land, index=False)
    result = run(land, *FAST, "--protocol", "cv3")
    assert "1 of 4 classes have fewer than 3 samples, such as 'rare' with 1" in result.stderr


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"\x89PNG\x00", "", "is not text in the encoding"),
        (b"a,class\n1,x\n2,x\n", "", "must contain at least two classes"),
        (b"a,class\n1,x\n2,y\n", "", "as many classes as there are rows"),
        (b"a,class\n1,x\n2,y\n3,x\n", "--target cover", "There is no column 'cover'"),
        (b"a,class\n1,x\n2,y\n3,x\n", "", "the largest has 2. Take the protocol cv2"),
        (b"b,class\n,x\n,y\n,x\n", "", "one column besides the labels"),
        (b"a,a,class\n1,2,x\n2,3,y\n3,2,x\n", "", "repeats 'a'"),
    ],
)
def test_bad_data_are_told(tmp_path, content, options, message):
    path = tmp_path / "land.csv"
    path.write_bytes(content)
    refused(path, *options.split(), message=message)


def test_what_is_not_there_is_told():
    refused("no such.csv", message="There is no file no such.csv")
    refused("irs", message="Did you mean 'iris'?")


def test_a_bad_store_is_told(land, tmp_path):
    store = tmp_path / "land.sqlite"
    store.write_text("not a database, but long enough to look like something" * 9)
    refused(land, *FAST, "--store", store, message="is not a store of results")
    assert store.read_text().startswith("not a database")
    refused(land, *FAST, "--store", tmp_path / "no" / "s.sqlite", message="cannot be opened")


def test_a_locked_store_is_told(land, tmp_path, monkeypatch):
    store = tmp_path / "land.sqlite"
    Store(store).close()
    monkeypatch.setattr(evaluate, "Store", lambda path: Store(path, timeout=0.1))
    with closing(sqlite3.connect(store, isolation_level=None)) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        refused(land, *FAST, "--store", store, message="is locked by another program")


def test_a_report_that_cannot_be_written_is_told_before_anything_is_computed(land, tmp_path):
    refused(land, "--report", tmp_path / "no" / "r.html", message="there is no folder")
    refused(land, "--report", tmp_path, message="is a folder")


def test_the_report_is_written_of_all_cells(land, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        "polychotomy.report.write_report",
        lambda cells, path, model, title, summary, source: written.append(
            (len(cells), path, title)
        ),
    )
    path = tmp_path / "land.html"
    result = run(land, *FAST, "--protocol", "cv3", "--report", path)
    assert written == [(6, path, "land: 90 samples, 3 features, 3 classes; ridge, cv3")]
    assert result.stderr.rstrip().endswith(str(path))


@pytest.fixture
def reported(monkeypatch):
    """The models that reports are given."""
    models = []
    monkeypatch.setattr(
        "polychotomy.report.write_report",
        lambda cells, path, model, title, summary, source: models.append(model),
    )
    return models


def test_the_report_is_given_the_recommended_method_trained_on_all_samples(
    land, tmp_path, reported
):
    frame = pd.read_csv(land)
    frame["cover"] = np.array([10, 9, 100])[np.arange(90) % 3]  # in this order they are no texts
    frame.to_csv(land, index=False)
    options = ("--protocol", "cv3", "--jobs", "1", "--report", tmp_path / "land.html")
    result = run(land, "--base", "ridge", "--reductions", "linkage_tree", *options)
    assert "Training linkage_tree (ridge) on all 90 samples of land for the report" in result.stderr
    assert "That took " in result.stderr
    (model,) = reported
    assert model.classes_.tolist() == [9, 10, 100]
    alone = Reduction("linkage_tree").make(make_base("ridge"), random_state=0)
    data = frame.drop(columns="cover")
    X = make_preprocessor(data).fit_transform(data)
    alone.fit(X, frame["cover"])
    assert model[-1].structure_ == alone.structure_
    assert np.array_equal(model.predict(data), alone.predict(X))


@pytest.mark.slow
def test_the_model_of_the_report_is_tuned_as_the_cells_were(land, tmp_path, reported):
    options = ("--protocol", "cv3", "--jobs", "1", "--tune")
    run(land, "--base", "ridge", "--reductions", "bch", *options, "--report", tmp_path / "a.html")
    (model,) = reported
    samples = Samples.of(datasets.read(land))
    everything = np.arange(90)
    (task, *_) = Schedule(samples, ["bch"], ["ridge"], protocol="cv3", tuning="greedy").tasks
    (cell,) = _bench.compute([replace(task, train=everything, test=everything)], samples)
    assert model[-1].estimator.alpha == cell.chosen["estimator__alpha"]
    named = np.array(samples.classes)[cell.predicted]
    assert np.array_equal(model.predict(samples.data), named)


def test_of_several_data_sets_and_bases_it_is_the_first_that_has_the_method(
    land, tmp_path, reported
):
    other = tmp_path / "other.csv"
    pd.read_csv(land).iloc[:60].to_csv(other, index=False)
    options = ("--base", "ridge,lda", "--reductions", "one_vs_one", "--protocol", "cv2")
    found = json.loads(
        run(other, land, *options, "--jobs", 1, "--json", "--report", tmp_path / "a.html").stdout
    )
    (model,) = reported
    base = found["recommended"].removeprefix("one_vs_one (").removesuffix(")")
    assert type(model[-1].estimator) is type(make_base(base))
    assert model[-1].estimators_[0].n_features_in_ == 4  # soil is two indicators
    assert len(model.classes_) == 3


def test_a_model_that_cannot_be_trained_does_not_spoil_the_report(land, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise ValueError("Classification needs at least two classes.")

    monkeypatch.setattr(evaluate, "train_task", fail)
    path = tmp_path / "land.html"
    result = run(land, *FAST, "--protocol", "cv3", "--report", path)
    assert "The report shows no trained model: Classification needs at least two" in result.stderr
    assert path.exists()


def test_the_page_shows_the_tree_of_the_model(land, tmp_path):
    path = tmp_path / "land.html"
    options = ("--base", "ridge", "--protocol", "cv3", "--jobs", "1", "--report", path)
    run(land, *options, "--reductions", "linkage_tree")
    text = path.read_text("utf-8")
    assert "elm against " in text or " against elm" in text
    assert "belongs to none of the methods" not in text


def test_reductions_that_a_base_does_not_suit_are_left_out_and_told(land):
    options = ("--protocol", "cv2", "--jobs", "1", "--json")
    result = run(land, "--base", "ridge", "--reductions", "all", *options)
    assert "Skipped with ridge: sbc_identity, sbc_single" in result.stderr
    assert "sbc_kernel, sbc_kernel_frequencies. The 'estimator' parameter must" in result.stderr
    found = json.loads(result.stdout)
    assert {f["method"] for f in found["failures"]} == {"orthogonal"}
    assert not [row for row in found["overall"] if row["method"].startswith("sbc_")]
    result = run(land, *options, "--reductions", "sbc_kernel", "--base", "ridge", status=1)
    assert "must be a SharedKernelSVC" in result.stderr
    result = run(land, *options, "--reductions", "sbc_bch", "--base", "ridge", status=1)
    assert "sbc_bch (ridge) failed in 2 folds: The 'estimator' parameter must" in result.stderr


def test_single_binary_classifiers_by_name(land):
    options = ("--protocol", "cv2", "--jobs", "1", "--json", "--base", "svm")
    names = {"one_vs_one", "sbc_bch", "sbc_ecoc:l1", "sbc_kernel_frequencies"}
    found = json.loads(run(land, *options, "--reductions", ",".join(names)).stdout)
    assert {row["method"] for row in found["overall"]} == names
    assert not found["failures"]


def test_a_report_is_a_page(land, tmp_path):
    path = tmp_path / "land.html"
    run(land, *FAST, "--protocol", "cv3", "--report", path)
    assert "one_vs_rest" in path.read_text("utf-8")


def test_without_its_extra_a_report_is_refused_before_anything_is_computed(land, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    refused(land, "--report", "land.html", message="pip install 'polychotomy[report]'")


def test_if_the_report_fails_the_results_are_kept(land, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError("The disk is full.")

    monkeypatch.setattr("polychotomy.report.write_report", fail)
    result = run(land, *FAST, "--protocol", "cv3", "--report", tmp_path / "a.html", status=1)
    assert "6 finished cells were kept; to resume the run, add --store" in result.stderr
    assert "The disk is full." in result.stderr
    (store,) = (tmp_path / "temporary").glob("*/results.sqlite")
    assert str(store) in result.stderr
    with Store(store) as opened:
        assert len(opened) == 6


@pytest.mark.parametrize(
    "options",
    [
        "--base nonsense",
        "--reductions nonsense",
        "--reductions ddag:hinge",
        "--reductions bch:hamning",
        "--reductions sbc_kernel:hinge",
        "--protocol cv1",
        "--protocol nonsense",
        "--budget soon",
        "--budget 0s",
        "--base tree --tune",
        "--seed -1",
        "--jobs 0",
        "--prefer speed",
        "--nonsense",
    ],
)
def test_wrong_usage(options):
    run(*options.split(), status=2)


def test_help_has_examples_and_says_what_the_status_means():
    shown = run("--help").stdout
    assert "polychotomy compare land.csv --target cover" in shown
    assert "130 interrupted" in shown


def test_an_interrupt_is_told_and_nothing_is_lost(land, tmp_path, monkeypatch):
    monkeypatch.setattr(Schedule, "run", _interrupted)
    result = run(land, *FAST, "--protocol", "cv3", status=130)
    assert "Interrupted." in result.stderr
    assert "finished cells were kept" in result.stderr
    store = tmp_path / "land.sqlite"
    result = run(land, *FAST, "--protocol", "cv3", "--store", store, status=130)
    assert f"Finished cells are in {store}" in result.stderr


def _interrupted(plan, store, **options):
    for outcome in plan._outcomes(list(plan.tasks[:2]), 1):
        store.add(outcome)
    raise KeyboardInterrupt


def test_an_interrupt_that_got_lost_is_raised_again():
    def lose_one():
        with _running.handle_interrupts(None) as check:
            check()
            with suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1)
            check()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        with pytest.raises(typer.Exit) as caught:
            lose_one()
        assert caught.value.exit_code == 130
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal")
def test_what_asks_to_end_is_heard_unless_it_is_ignored():
    def ask_to_end():
        with _running.handle_interrupts(None):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)

    with pytest.raises(typer.Exit) as caught:
        ask_to_end()
    assert caught.value.exit_code == 130
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with _running.handle_interrupts(None):
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.fixture
def long_run(land, tmp_path, signals_heard):
    """A command that runs with two workers and has finished a cell, its store, its folder."""
    store, folder = tmp_path / "land.sqlite", tmp_path / "of the command"
    folder.mkdir()
    options = ["--protocol", "repeat200", "--base", "ridge", "--jobs", "2", "--store", str(store)]
    process = subprocess.Popen(
        [sys.executable, "-m", "polychotomy", "compare", str(land), *options],
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    while process.poll() is None and _count(store) == 0:
        time.sleep(0.1)
    assert process.poll() is None, process.communicate()[1]
    yield process, store, folder
    if process.poll() is None:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_ctrl_c_ends_the_command_and_its_workers(long_run, name):
    process, store, folder = long_run
    os.killpg(process.pid, getattr(signal, name))  # as the terminal does: to the workers, too
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "Finished cells are in" in said
    assert 0 < _count(store) < 1000
    assert not list(folder.glob("polychotomy-*"))


@pytest.mark.slow
def test_workers_end_with_a_command_that_is_killed(long_run):
    process, store, folder = long_run
    assert list(folder.glob("polychotomy-*"))
    process.kill()
    process.communicate(timeout=30)  # ends when no worker has its standard error open
    end = time.monotonic() + 30
    while list(folder.glob("polychotomy-*")) and time.monotonic() < end:
        time.sleep(0.1)
    assert not list(folder.glob("polychotomy-*"))
    with Store(store) as opened:
        assert len(opened) > 0


def _count(store):
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store)) as database:
        try:
            return database.execute("SELECT count(*) FROM cells").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


@pytest.fixture
def grades(tmp_path):
    """Four levels along a line, whose names are not in their order; one has a comma."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 40)
    frame = pd.DataFrame({"a": y + 0.3 * rng.normal(size=160), "b": rng.normal(size=160)})
    frame["level"] = np.array(["low, very", "low", "mid", "high"])[y]
    frame.to_csv(tmp_path / "grades.csv", index=False)
    return tmp_path / "grades.csv"


@pytest.mark.parametrize("order", ['"low, very", low,mid,high', "data"])
def test_the_order_of_classes(grades, order):
    options = ("--reductions", "adjacent,one_vs_rest", "--jobs", 1, "--json")
    plain = run(grades, *options)
    assert "grades: The code 'adjacent' is for ordered classes" in plain.stderr
    ordered = run(grades, *options, "--class-order", order)
    assert "ordered classes" not in ordered.stderr
    before, after = (json.loads(r.stdout)["recommendation"]["methods"] for r in (plain, ordered))
    assert after["adjacent"]["score"] > before["adjacent"]["score"] + 0.1
    assert after["one_vs_rest"]["score"] == pytest.approx(before["one_vs_rest"]["score"], abs=0.02)


def test_an_order_must_have_all_classes(grades):
    refused(grades, *FAST, "--class-order", "low,high", message="each of them once: high, low,")


@pytest.mark.parametrize(
    "options",
    [
        "--base ridge --reductions=adjacent --class-order mid,high,low --drop id --nominal=zone",
        "--base ridge --reductions adjacent --class-order data --samples 60 --seed 3 --text note",
        "--base linear_svm --reductions ovr --tune --protocol split --target note --drop kind,id",
    ],
)
def test_the_program_of_a_report_trains_the_same_model(tmp_path, monkeypatch, options):
    """With all that was said about the file, the order of the classes and the tuning."""
    rng = np.random.default_rng(0)
    kind = np.arange(120) % 3
    frame = pd.DataFrame(
        {
            "id": np.arange(120),
            "zone": rng.integers(3, size=120),
            "x": kind + rng.normal(size=120),
            "note": np.array(["süß", "öd", "grün"])[(kind + (rng.random(120) < 0.3)) % 3],
            "kind": np.array(["low", "mid", "high"])[kind],
        }
    )
    monkeypatch.chdir(tmp_path)
    frame.to_csv("land.csv", index=False, encoding="latin-1")
    reported = []
    monkeypatch.setattr(
        "polychotomy.report.write_report",
        lambda cells, path, **given: reported.append((list(cells), given)),
    )
    arguments = [
        "compare",
        "land.csv",
        "--encoding",
        "latin-1",
        "--jobs",
        "1",
        "--report",
        "a.html",
    ]
    result = runner.invoke(app, [*arguments, *options.split()])
    assert result.exit_code == 0, result.output
    ((cells, given),) = reported
    contents = page_contents(
        cells, given["model"], given["title"], given["summary"], given["source"]
    )
    names = {}
    exec(contents["recipe"], names)
    model, X = given["model"], names["X"]
    parameters = [
        {name: str(value) for name, value in each.get_params().items() if "n_jobs" not in name}
        for each in (names["model"][-1].estimator, model[-1].estimator)
    ]
    assert parameters[0] == parameters[1]
    assert names["model"][-1].problems_ == model[-1].problems_
    assert names["model"][-1].classes_.tolist() == model[-1].classes_.tolist()
    assert np.array_equal(names["model"].decision_function(X), model.decision_function(X))
