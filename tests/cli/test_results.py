import json
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from polychotomy.cli._app import app
from polychotomy.evaluate import Store
from tests.evaluate.cells import make_cell

runner = CliRunner()


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "results.sqlite"
    p = np.full((4, 3), 1 / 3, dtype=np.float32)
    with Store(path) as opened:
        for data_set in ("land", "sea"):
            for reduction in ("bch", "one_vs_one"):
                for fold in (0, 1):
                    opened.add(make_cell(data_set, reduction, fold=fold, probabilities=p))
        opened.add(make_cell("land", "bch", seed=7))
    return path


def run(*arguments, status=0):
    result = runner.invoke(app, ["results", *map(str, arguments)])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result


def test_list(store):
    lines = run("list", store).stdout.splitlines()
    assert len(lines) == 4
    assert lines[1].split()[:3] == ["land", "ridge", "4"]
    assert "cv2, tuning none, seed 0" in lines[1]
    rows = json.loads(run("list", store, "--json").stdout)
    assert sum(row["cells"] for row in rows) == 9
    assert {row["data_set"] for row in rows} == {"land", "sea"}


def test_show_has_a_table_for_each_comparison(store):
    shown = run("show", store).stdout
    assert "seed 0" in shown
    assert "seed 7" in shown
    assert "Iman and Davenport" in shown
    only = run("show", store, "--data-set", "sea").stdout
    assert "seed 7" not in only
    found = json.loads(run("show", store, "--json").stdout)
    assert [len(summary["tables"]) for summary in found.values()] == [2, 1]


def test_show_writes_a_report_of_one_comparison(store, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        "polychotomy.report.write_report",
        lambda cells, path, title, model, summary, source: written.append(len(cells)),
    )
    path = tmp_path / "r.html"
    assert str(path) in run("show", store, "--data-set", "sea", "--report", path).stderr
    assert written == [4]
    said = run("show", store, "--report", path, status=1).stderr
    assert "A report shows one comparison" in said
    nowhere = tmp_path / "none" / "r.html"
    assert "folder" in run("show", store, "--report", nowhere, status=1).stderr


def test_export_cells(store, tmp_path):
    path = tmp_path / "cells.csv"
    assert "9 rows in" in run("export", store, "-o", path).stderr
    frame = pd.read_csv(path)
    assert len(frame) == 9
    assert frame["error"].tolist() == [0.25] * 9
    assert frame["log_loss"].isna().all()
    assert set(frame["protocol"]) == {"cv2"}
    assert frame["key"].is_unique
    assert json.loads(frame["chosen"][0]) == {"decoder": "squared"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cells.csv", "results.sqlite"]


def test_export_predictions(store, tmp_path):
    path = tmp_path / "predictions.csv"
    run("export", store, "-o", path, "--predictions", "--data-set", "sea")
    frame = pd.read_csv(path)
    assert len(frame) == 16
    assert frame["truth"][:4].tolist() == ["oak", "elm", "<b>", "elm"]
    assert frame["predicted"][3] == "<b>"
    np.testing.assert_allclose(frame["probability_of_truth"], 1 / 3, rtol=1e-6)


def test_export_parquet(store, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path = tmp_path / "cells.parquet"
    run("export", store, "-o", path)
    assert len(pd.read_parquet(path)) == 9


def test_parquet_without_its_library_is_told(store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = run("export", store, "-o", tmp_path / "cells.parquet", status=1).stderr
    assert "pip install 'polychotomy[parquet]'" in said
    assert not (tmp_path / "cells.parquet").exists()


@pytest.mark.parametrize("command", ["list", "show", "export"])
def test_a_store_that_is_not_there_is_not_made(tmp_path, command):
    file = ["-o", tmp_path / "a.csv"] if command == "export" else []
    said = run(command, tmp_path / "no.sqlite", *file, status=1).stderr
    assert "There is no store" in said
    assert len(said.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_what_is_not_in_the_store_is_told(store, tmp_path):
    assert "no such results" in run("show", store, "--data-set", "sky", status=1).stderr
    said = run("export", store, "-o", tmp_path / "a.csv", "--base", "svm", status=1).stderr
    assert "no such results" in said


def test_what_cannot_be_written_is_told(store, tmp_path):
    run("export", store, "-o", tmp_path / "a.txt", status=2)
    assert (
        "there is no folder"
        in run("export", store, "-o", tmp_path / "b" / "a.csv", status=1).stderr
    )


def test_a_damaged_store_is_told(store):
    store.write_bytes(store.read_bytes()[:5000])
    said = run("list", store, status=1).stderr
    assert "is damaged" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("command", ["list", "show", "export"])
def test_help_has_examples(command):
    assert f"polychotomy results {command}" in run(command, "--help").stdout
