import os
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


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
@pytest.mark.parametrize("command", ["datasets list", "reproduce list --json"])
def test_output_that_cannot_be_written_is_told_in_a_sentence(command):
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "polychotomy", *command.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert result.returncode == 1
    assert result.stderr == "The standard output cannot be written: No space left on device\n"


def test_a_reader_that_has_read_enough_is_no_error(tmp_path):
    path = tmp_path / "n.csv"
    path.write_text("x,class\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [sys.executable, "-m", "polychotomy", "structure", "design", str(path)],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert result.returncode == 1
    assert result.stderr == ""
