import os
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import polychotomy
from polychotomy.cli import _compare, _options, _reproduce, main
from polychotomy.cli._app import app
from polychotomy.cli._structure_files import Builder
from polychotomy.evaluate import DEFAULT_FOLDS, Protocol
from polychotomy.lab import experiments
from polychotomy.reductions import available_bases, available_reductions
from polychotomy.structures import BUILDERS

runner = CliRunner()


def test_version():
    result = runner.invoke(app, ["--version"])
    assert result.stdout.strip() == f"polychotomy {polychotomy.__version__}"


def test_the_module_runs_like_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "polychotomy", "--help"], capture_output=True, text=True, check=True
    )
    assert "compare" in result.stdout


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("--help", 0),
        ("--version", 0),
        *((f"{name} --help", 0) for name in ("compare", "fit", "evaluate", "explain", "reproduce")),
        *((f"{name} --help", 0) for name in ("results show", "datasets show", "structure design")),
        ("fit wine", 2),
        ("fit wine -o m --jobs 0", 2),
        ("compare wine --no-such-option", 2),
        ("compare wine --budget 3x", 2),
        ("compare wine --class-order low,,high", 2),
        ("fit wine -o m.skops --class-order low,low", 2),
        ("reproduce no-such-experiment", 2),
        ("results list no.sqlite", 1),
        ("results show no.sqlite", 1),
        ("results export no.sqlite -o cells.csv", 1),
        ("predict no.skops wine", 1),
        ("evaluate no.skops wine", 1),
        ("explain no.skops", 1),
        ("fit wine -o /no/such/folder/m.skops", 1),
        ("fit wine -o m.pkl", 1),
    ],
)
def test_help_and_usage_errors_load_nothing_heavy(command, status):
    heavy = {"numpy", "scipy", "sklearn", "pandas", "joblib", "numba", "skops", "jinja2"}
    program = (
        f"import sys\nsys.argv = ['polychotomy', *{command!r}.split()]\n"
        "from polychotomy.cli import main\n"
        "try: main()\n"
        f"finally: print('loaded', {heavy!r} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == status, result.stderr
    assert result.stdout.splitlines()[-1] == "loaded set()"


@pytest.mark.parametrize(
    "command",
    [
        "compare --reductions nothing",
        "compare --protocol nothing",
        "compare --base nothing",
        "fit wine -o m --reduction nothing",
        "fit nothing.csv -o m",
        "fit nothing -o m",
    ],
)
def test_unknown_names_are_refused_without_loading_scikit_learn(command):
    program = (
        "import sys\nfrom polychotomy.cli._app import app\n"
        f"app({command!r}.split(), standalone_mode=False)"
    )
    checked = f"try:\n    exec({program!r})\nexcept Exception:\n    pass\n"
    checked += "print('sklearn' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", f"import sys\n{checked}"], capture_output=True)
    assert result.stdout.split() == [b"False"], result.stderr


@pytest.mark.parametrize(
    "command",
    ["", "compare", "fit", "predict", "explain", "reproduce", "results", "results export"],
)
def test_help_shows_flags_without_a_value(command):
    said = runner.invoke(app, [*command.split(), "--help"], env={"COLUMNS": "150"}).stdout
    assert "--help" in said
    assert "<bool>" not in said


@pytest.mark.parametrize(
    "command", ["fit", "predict", "reproduce", "results export", "structure design"]
)
def test_output_goes_to_the_same_option_everywhere(command):
    said = runner.invoke(app, [*command.split(), "--help"], env={"COLUMNS": "150"}).stdout
    assert any("--out" in line and "-o" in line.split() for line in said.splitlines())


def test_help_names_all_that_the_library_knows():
    listed, optional, _ = _options.BASES.split("; ")
    installed = [name for name in available_bases() if name not in optional]
    assert listed.split(", ") == installed
    assert _options.DEFAULT_BASE in installed
    assert _options.REDUCTIONS.split(", ") == list(available_reductions())
    assert set(Builder) == set(BUILDERS)
    assert experiments.names() == _reproduce.EXPERIMENTS
    (protocol,) = (p for p in get_command(app).commands["compare"].params if p.name == "protocol")
    assert protocol.default == f"cv{DEFAULT_FOLDS}"


@pytest.mark.parametrize(
    "text",
    ["cv", "cv5", "cv1000", "split", "split_cv", "split_cv3", "repeat", "repeat7", "repeat2:80/20"],
)
def test_every_protocol_is_known_before_the_library_is_loaded(text):
    assert str(Protocol.of(text)) == _compare._check_protocol(text)


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
    path.write_text("x,class\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(20)))
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
