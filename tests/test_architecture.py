"""An import never points upward."""

import ast
from pathlib import Path

import pytest

import polychotomy

SOURCE = Path(polychotomy.__file__).parent
LAYERS = [
    {"errors", "_files", "arrays", "parallel"},
    {"codes"},
    {"structures", "learners", "kernel", "decoding", "calibration"},
    {"probability"},
    {"classifiers", "assess", "datasets"},
    {"choose", "active"},
    {"lab"},
    {"plot"},
    {"report"},
    {"cli"},
]
LEVEL = {part: level for level, layer in enumerate(LAYERS) for part in layer}


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "polychotomy":
            names = [f"polychotomy.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        yield from (name.split(".")[1] for name in names if name.startswith("polychotomy."))


@pytest.mark.parametrize("part", sorted(LEVEL))
def test_imports_point_downward(part):
    folder = SOURCE / part
    files = folder.rglob("*.py") if folder.is_dir() else [SOURCE / f"{part}.py"]
    for path in files:
        for imported in _imports(path):
            same = imported == part
            assert same or LEVEL[imported] < LEVEL[part], f"{path.name} imports {imported}"


def test_every_part_has_its_level():
    parts = {p.stem for p in SOURCE.iterdir() if p.is_dir() or p.suffix == ".py"}
    assert parts - {"__init__", "__main__", "__pycache__", "py"} == set(LEVEL)
