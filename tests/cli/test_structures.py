import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from polychotomy import parse_structure
from polychotomy.cli._app import app
from polychotomy.structures import chain, flatten, linkage, name_problems

runner = CliRunner()
LAND = 'forest { "C=10" {oak elm} f 0 / 1 2; g 0 1 / 2; {corn wheat "red soil"} }'


@pytest.fixture
def land(tmp_path):
    path = tmp_path / "land.txt"
    path.write_text(LAND)
    return path


@pytest.fixture
def iris_file(tmp_path):
    X, y = load_iris(return_X_y=True)
    table = pd.DataFrame(X, columns=list("abcd"))
    table.insert(2, "kind", np.array(["x", "y", "z"])[y])
    table.to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path / "iris.csv"


def run(*arguments, status=0, **options):
    result = runner.invoke(app, [str(a) for a in arguments], **options)
    assert result.exit_code == status, result.output
    return result


def test_show_draws_the_tree(land):
    shown = run("structure", "show", land).stdout
    lines = shown.splitlines()
    assert lines[0] == "forest"
    assert lines[1] == '├── "C=10"'
    assert lines[2] == "│   ├── oak"
    assert "└── 2 problems: f, g" in shown
    assert "    └── red soil" in shown
    assert lines[-1] == "5 classes, 4 problems, depth 2"


def test_problems_without_names_are_dots():
    lines = run("structure", "show", "-", input='"" {a "" {b c}}').stdout.splitlines()
    assert lines[:5] == ["•", "├── a", "└── •", "    ├── b", "    └── c"]


def test_show_stops_where_it_is_told(tmp_path):
    path = tmp_path / "chain.txt"
    path.write_text(str(chain(range(100))))
    shown = run("structure", "show", path, "--depth", 2).stdout
    assert "… 98 classes" in shown
    assert len(shown.splitlines()) < 10


def test_show_reads_the_standard_input_and_draws_markup_as_it_is():
    shown = run("structure", "show", "-", input='m {"[red]" "[/]"}').stdout
    assert "[red]" in shown
    assert "[/]" in shown


def test_check_tells_what_is_there(land):
    assert "5 classes, 4 problems, depth 2" in run("structure", "check", land).stdout
    run("structure", "check", land, "--classes", "oak, elm,corn,wheat,red soil")


def test_check_points_at_the_fault(land):
    result = run("structure", "check", land, "--classes", "oak,elm", status=1)
    assert "there is no class 'corn'" in result.stderr
    assert result.stderr.rstrip().endswith("^")
    land.write_text("forest {oak")
    result = run("structure", "check", land, status=1)
    assert "line 1, column 8: this brace is never closed" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_files_that_cannot_be_read_are_told(tmp_path, content):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    result = run("structure", "check", path, status=1)
    assert "file" in result.stderr
    assert "Traceback" not in result.output


def test_convert_flattens_and_nests(land, tmp_path):
    flat = run("structure", "convert", land, "--form", "flat").stdout
    assert parse_structure(flat) == flatten(parse_structure(LAND))
    (tmp_path / "flat.txt").write_text(flat)
    nested = run("structure", "convert", tmp_path / "flat.txt", "--form", "nested").stdout
    assert parse_structure(nested) == parse_structure(LAND)


def test_convert_writes_other_dialects(land, tmp_path):
    out = tmp_path / "land.mbc"
    arguments = ("--number", "--name", "land", "--to", "libagf", "--out", out)
    result = run("structure", "convert", land, *arguments)
    assert "0 corn" in result.stderr
    written = parse_structure(out.read_text(), dialect="libagf")
    assert sorted(written.classes) == [0, 1, 2, 3, 4]
    assert written.problems[0].name == "land"
    back = run("structure", "convert", out, "--from", "libagf").stdout
    assert parse_structure(back) == written
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("tmp")] == []


def test_what_cannot_be_converted_is_told_and_nothing_is_written(land, tmp_path):
    out = tmp_path / "out"
    result = run("structure", "convert", land, "--to", "libagf", "-o", out, status=1)
    assert "labels are integers" in result.stderr
    assert not out.exists()


def test_design_from_a_file(iris_file, tmp_path):
    written = run("structure", "design", iris_file, "--target", "kind").stdout
    X, y = load_iris(return_X_y=True)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    assert parse_structure(written) == linkage(standard, np.array(["x", "y", "z"])[y])
    out = tmp_path / "tree.txt"
    for builder in ("balanced", "chain"):
        run(*f"structure design {iris_file} --target kind --builder {builder} -o {out}".split())
        assert set(parse_structure(out.read_text()).classes) == {"x", "y", "z"}
    named = run("structure", "design", iris_file, "--target", "kind", "--name", "iris").stdout
    assert parse_structure(named) == name_problems(parse_structure(written), "iris")


def test_design_takes_text_and_missing_values(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("size,colour,class\n1,red,a\n,blue,b\n3,blue,c\n2,,a\n")
    written = run("structure", "design", path, "--distance", "centroid").stdout
    assert set(parse_structure(written).classes) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--target nothing", "There is no column 'nothing'"),
        ("--target kind --distance far", "'distance' parameter must be one of"),
        ("--target kind --method ward", "'method' parameter must be one of"),
        ("--target kind --quantile 7", "'quantile' parameter must be above 0"),
    ],
)
def test_designs_that_cannot_be_made_are_explained(iris_file, arguments, message):
    result = run("structure", "design", iris_file, *arguments.split(), status=1)
    assert message in result.stderr


def test_rows_without_a_label_are_told(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,class\n1,a\n2,\n3,b\n1,a\n")
    result = run("structure", "design", path)
    assert "they have no label: 1 of 4 rows" in result.stderr
    assert result.stdout.startswith('"" {')
    path.write_text("class\na\n")
    assert "one column besides the labels" in run("structure", "design", path, status=1).stderr
    missing = tmp_path / "missing.csv"
    assert f"There is no file {missing}" in run("structure", "design", missing, status=1).stderr


def test_labels_may_say_none_and_files_keep_what_they_are(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,class\n1,None\n2,NA\n5,b\n6,b\n")
    target = tmp_path / "target.txt"
    target.write_text("old")
    target.chmod(0o600)
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    run("structure", "design", path, "-o", link)
    assert set(parse_structure(target.read_text()).classes) == {"None", "NA", "b"}
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600


def test_infinite_numbers_are_told(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,class\n1,a\ninf,b\n")
    assert "must be finite: 'x'" in run("structure", "design", path, status=1).stderr


def test_what_a_notepad_writes_is_read(tmp_path):
    path = tmp_path / "land.txt"
    path.write_bytes(b"\xef\xbb\xbf" + LAND.encode())
    assert "5 classes" in run("structure", "check", path).stdout


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "land.txt"
    path.write_text('a {"\\u001b[31mX" b}')
    assert "\x1b" not in run("structure", "show", path).stdout


def test_output_that_cannot_be_written_is_named(land, tmp_path):
    out = tmp_path / "missing" / "out"
    assert str(out) in run("structure", "convert", land, "-o", out, status=1).stderr


def test_columns_of_names_are_left_out(tmp_path):
    named, plain = tmp_path / "named.csv", tmp_path / "plain.csv"
    named.write_text("name,x,class\n" + "".join(f"n{i},{i},{i % 3}\n" for i in range(300)))
    plain.write_text("x,class\n" + "".join(f"{i},{i % 3}\n" for i in range(300)))
    designs = [run("structure", "design", path).stdout for path in (named, plain)]
    assert designs[0] == designs[1]


def test_design_knows_data_sets_by_name():
    written = run("structure", "design", "wine").stdout
    assert parse_structure(written).n_classes == 3


def test_code_show_prints_matrix_and_figures():
    shown = run("code", "show", "one_vs_rest", 3).stdout
    assert shown.startswith("+ − −\n− + −\n− − +\n")
    assert "row distance 2" in shown
    longer = run("code", "show", "bch", 4, "--option", "length=31", "--option", "message=11")
    assert "bch: 4 classes, 23 problems" in longer.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nonsense 3", "must be one of"),
        ("orthogonal 3", "at least 4 classes"),
        ("bch 4 --option length=long", "must be KEY=NUMBER"),
        ("bch 4 --option size=3", "must be one of"),
        ("bch 4 --option random_state=3", "not an option of a code"),
        ("adjacent 5 --option order=3", "not iterable"),
    ],
)
def test_codes_that_do_not_exist_are_told(arguments, message):
    result = run("code", "show", *arguments.split(), status=1)
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["show", "check", "convert", "design"])
def test_help_has_an_example(command):
    assert "Example" in run("structure", command, "--help").stdout
