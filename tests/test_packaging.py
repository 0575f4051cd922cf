"""What the package says of itself agrees with what it is."""

import re
import tomllib
from pathlib import Path

import polychotomy

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def floors(requirements):
    """Return the lowest version of each package, without the project itself."""
    found = (re.match(r"([\w-]+)>=([\d.]+)$", requirement) for requirement in requirements)
    return {match[1].lower(): match[2] for match in found if match}


def test_the_oldest_versions_that_are_tried_are_the_oldest_that_are_admitted():
    lines = (ROOT / ".ci" / "oldest.txt").read_text().splitlines()
    tried = dict(line.split("==") for line in lines if "==" in line)
    extras = PROJECT["optional-dependencies"]
    admitted = floors(PROJECT["dependencies"])
    for extra in ("data", "parquet", "excel", "models", "cli", "plot", "report", "dask", "onnx"):
        admitted |= floors(extras[extra])
    assert admitted.keys() == tried.keys()
    for package, version in admitted.items():
        assert f"{tried[package]}.0".startswith(f"{version}."), package


def test_the_version_is_written_once():
    assert "version" in PROJECT["dynamic"]
    assert "version:" not in (ROOT / "CITATION.cff").read_text().replace("cff-version:", "")


def test_the_changes_have_a_section_for_the_version():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGES.md").read_text(), flags=re.MULTILINE)
    assert headings[0].startswith(polychotomy.__version__.partition(".dev")[0])


def test_every_python_that_is_tested_is_a_classifier():
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    tested = re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", workflow)[1])
    named = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r"3\.\d+$", c)]
    assert tested == named
    assert PROJECT["requires-python"] == f">={tested[0]}"
