"""``polychotomy fit --stream``: a model from one pass over a file."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import polychotomy
from polychotomy.cli._app import app


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def land(tmp_path):
    rng = np.random.default_rng(3)
    cover = rng.choice(["wood", "road", "lake"], size=3000, p=[0.5, 0.3, 0.2])
    place = {"wood": (0, 0), "road": (4, 0), "lake": (0, 4)}
    X = rng.normal(size=(3000, 2)) + [place[each] for each in cover]
    soil = np.where(rng.random(3000) < 0.5, "clay", "sand")
    frame = pd.DataFrame({"red": X[:, 0], "green": X[:, 1], "soil": soil, "cover": cover})
    frame[:2500].to_csv(tmp_path / "land.csv", index=False)
    frame[:2500].to_parquet(tmp_path / "land.parquet", row_group_size=400)
    frame[2500:].to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("name", ["land.csv", "land.parquet"])
@pytest.mark.parametrize("base", ["ridge", "logistic", "sklearn.naive_bayes.GaussianNB"])
def test_a_streamed_model_is_an_ordinary_model(land, name, base):
    model = land / "land.skops"
    done = run("fit", land / name, "--stream", "--base", base, "-o", model, "--json")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["samples"] == 2500
    assert 100 < facts["tested"] < 400
    assert (facts["features"], facts["prepared_features"]) == (3, 4)  # soil has two values
    labels = pd.read_csv(land / "land.csv")["cover"]
    assert facts["majority_error"] == pytest.approx(1 - labels.value_counts().max() / 2500)
    assert facts["error"] < 0.1
    assert "about" in done.stderr
    assert "MB of memory" in done.stderr
    judged = run("evaluate", model, land / "new.csv", "--json")
    assert json.loads(judged.stdout)["error"] < 0.1
    said = run("explain", model).stdout
    assert "Wrong of what was held out of the stream" in said
    predicted = run("predict", model, land / "new.csv", "--proba").stdout.splitlines()
    assert predicted[0] == "predicted,p(lake),p(road),p(wood)"
    assert len(predicted) == 501


def test_the_same_seed_gives_the_same_bits(land):
    for name in ("a", "b"):
        assert (
            run("fit", land / "land.csv", "--stream", "-o", land / f"{name}.skops").exit_code == 0
        )
    X = pd.read_csv(land / "new.csv").drop(columns="cover")
    p, q = (polychotomy.load(land / f"{name}.skops").predict_proba(X) for name in "ab")
    np.testing.assert_array_equal(p, q)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tune"], "--tune needs all samples in memory"),
        (["--base", "svm"], "a learner that learns block by block: logistic"),
        (["--base", "ridge,logistic"], "several --base needs all samples"),
        (["--reduction", "linkage_tree"], "a code, a balanced tree or a DDAG"),
        (["--reduction", "native"], "a code, a balanced tree or a DDAG"),
        (["--class-order", "data"], "--class-order data needs all samples"),
    ],
)
def test_what_needs_all_samples_is_refused(land, options, message):
    done = run("fit", land / "land.csv", "--stream", "-o", land / "m.skops", *options)
    assert done.exit_code > 0
    words = " ".join(done.stderr.replace("│", " ").split())
    assert message in words
    assert not (land / "m.skops").exists()


def test_a_bad_block_is_named_and_nothing_is_written(land, monkeypatch):
    monkeypatch.setattr("polychotomy.datasets._stream._SAMPLE", 100)  # which does not see it
    text = (land / "land.csv").read_text() + "dark,1,clay,wood\n"
    (land / "bad.csv").write_text(text)
    done = run("fit", land / "bad.csv", "--stream", "-o", land / "m.skops")
    assert done.exit_code == 1
    assert "'dark' in row 2501. (In rows 1 to 2501.)" in done.stderr
    assert not (land / "m.skops").exists()


@pytest.mark.slow
def test_an_interrupt_leaves_nothing_half_written(land, signals_heard):
    many = pd.concat([pd.read_csv(land / "land.csv")] * 400, ignore_index=True)
    many.to_csv(land / "many.csv", index=False)
    command = [sys.executable, "-m", "polychotomy", "fit", "many.csv", "--stream", "-o", "m.skops"]
    process = subprocess.Popen(command, cwd=land, stderr=subprocess.PIPE, text=True)
    assert "MB of memory" in process.stderr.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted." in said
    assert sorted(os.listdir(land)) == ["land.csv", "land.parquet", "many.csv", "new.csv"]
