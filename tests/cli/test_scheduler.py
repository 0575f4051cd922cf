"""``--scheduler``: the commands on a Dask cluster."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from polychotomy import datasets, load
from polychotomy.cli._app import app
from polychotomy.evaluate import Store
from tests.parallel.dask_processes import started

runner = CliRunner()
COMPARE = ("compare", "wine", "--base", "logistic", "--protocol", "cv5", "--json")


def run(*arguments, status=0):
    result = runner.invoke(app, [str(each) for each in arguments])
    assert result.exit_code == status, result.output
    return result


@pytest.mark.parametrize("command", [("compare", "iris"), ("reproduce", "sbckernel-2", "--quick")])
def test_a_wrong_address_is_one_sentence(command):
    said = run(*command, "--scheduler", "nonsense", status=1).stderr
    assert said.startswith("The address of a Dask scheduler must be such as tcp://HOST:8786")
    assert len(said.splitlines()) == 1


def test_a_scheduler_that_does_not_answer_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr("polychotomy.parallel._client._CONNECT", 0.5)
    out = tmp_path / "iris.skops"
    said = run("fit", "iris", "-o", out, "--scheduler", "tcp://127.0.0.1:9", status=1).stderr
    assert said.startswith("No Dask scheduler answered at tcp://127.0.0.1:9")
    assert not out.exists()


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = run("compare", "iris", "--scheduler", "tcp://127.0.0.1:9", status=1).stderr
    assert "pip install 'polychotomy[dask]'" in said


def test_a_stream_refuses_a_scheduler(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "a.skops"
    data.write_text("x,class\n1,a\n2,b\n")
    said = run("fit", data, "-o", out, "--stream", "--scheduler", "x", status=2).stderr
    assert "--scheduler" in said


@pytest.mark.slow
def test_a_model_that_is_trained_on_a_cluster_is_the_same(tmp_path):
    here, there = tmp_path / "here.skops", tmp_path / "there.skops"
    run("fit", "iris", "-o", here, "--jobs", "1")
    with started(tmp_path, 2) as farm:
        run("fit", "iris", "-o", there, "--scheduler", farm.address)
    X = datasets.load("iris").data
    here, there = load(here), load(there)
    np.testing.assert_array_equal(here.predict_proba(X), there.predict_proba(X))


@pytest.mark.slow
def test_a_comparison_goes_on_here_when_the_cluster_is_lost(tmp_path):
    store = tmp_path / "cells.sqlite"
    command = [sys.executable, "-m", "polychotomy", *COMPARE, "--store", str(store)]
    with started(tmp_path, 2) as farm:
        running = subprocess.Popen(
            [*command, "--scheduler", farm.address], stderr=subprocess.PIPE, text=True
        )
        end = time.monotonic() + 240
        while not store.exists() or _size(store) < 3:
            assert time.monotonic() < end
            assert running.poll() is None
            time.sleep(0.2)
        farm.kill_scheduler()
        said = running.communicate(timeout=240)[1].splitlines()
    assert running.returncode == 1
    assert said[-1].startswith("The Dask scheduler")
    assert said[-1].endswith("Cells that are in a store are not computed again, here or elsewhere.")
    before = _size(store)
    resumed = json.loads(run(*COMPARE, "--store", store, "--jobs", "1").stdout)
    assert _size(store) > before
    whole = json.loads(run(*COMPARE, "--jobs", "1").stdout)
    for each in (resumed, whole):
        for row in each["tables"]["wine"] + each["overall"]:
            del row["fit_seconds"], row["predict_seconds"]
    assert resumed == whole


def _size(path):
    with Store(path) as store:
        return len(store)
