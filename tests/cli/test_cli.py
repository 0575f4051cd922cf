import subprocess
import sys

import pytest
from typer.testing import CliRunner

import polychotomy
from polychotomy.cli import main
from polychotomy.cli._app import app

runner = CliRunner()


def test_version():
    result = runner.invoke(app, ["--version"])
    assert result.stdout.strip() == f"polychotomy {polychotomy.__version__}"


def test_compare_prints_a_table_of_all_reductions(monkeypatch):
    from polychotomy import lab
    from polychotomy.cli import _app

    def few(X, y, **options):
        return lab.compare(X[:300], y[:300], codes=["one_vs_one", "adjacent"], **options)

    monkeypatch.setattr(_app, "compare", few)
    result = runner.invoke(app, ["compare", "--folds", "2", "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert result.stdout.index("one_vs_one") < result.stdout.index("adjacent")  # best first
    for heading in ("problems", "error %", "fit s", "predict s", "decoder"):
        assert heading in result.stdout


def test_bad_options_are_refused_without_a_traceback():
    result = runner.invoke(app, ["compare", "--folds", "1"])
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_the_module_runs_like_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "polychotomy", "--help"], capture_output=True, text=True, check=True
    )
    assert "compare" in result.stdout


def test_without_its_extra_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"pip install 'polychotomy\[cli\]'"):
        main()
