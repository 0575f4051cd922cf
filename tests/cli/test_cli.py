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


def test_the_module_runs_like_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "polychotomy", "--help"], capture_output=True, text=True, check=True
    )
    assert "compare" in result.stdout


def test_without_its_extra_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"pip install 'polychotomy\[cli\]'"):
        main()


def test_an_interrupt_while_the_command_starts_leaves_no_traceback(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("polychotomy.cli.require", interrupted)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130
