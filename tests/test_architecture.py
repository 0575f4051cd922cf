"""Imports point downward and to public names; a name belongs to one file and one class."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import polychotomy
from tests.programs import load_program

SOURCE = Path(polychotomy.__file__).parent
LAYERS = [
    {"errors", "files", "arrays"},
    {"memory"},
    {"codes"},
    {"structures", "kernel", "decoding", "calibration"},
    {"learners", "parallel"},
    {"probability", "linear"},
    {"readout", "training"},
    {"classifiers", "assess", "datasets"},
    {"reductions", "active"},
    {"evaluate"},
    {"lab", "saving", "export"},
    {"plot"},
    {"report"},
    {"cli"},
]
MOST_LINES = 450
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


def test_the_picture_of_the_architecture_shows_what_uses_what():
    layers = load_program("make_images").LAYERS
    row = {part: i for i, (_, parts, _) in enumerate(layers) for part in parts}
    assert set(row) == set(LEVEL) - {"arrays", "errors", "files", "memory"}  # used everywhere
    for part in row:
        folder = SOURCE / part
        for path in folder.rglob("*.py") if folder.is_dir() else [SOURCE / f"{part}.py"]:
            for imported in _imports(path):
                assert row.get(imported, -1) <= row[part], f"{path.name} imports {imported}"


def test_every_part_has_its_level():
    parts = {p.stem for p in SOURCE.iterdir() if p.is_dir() or p.suffix == ".py"}
    assert parts - {"__init__", "__main__", "__pycache__", "py"} == set(LEVEL)


def _modules():
    """Yield the parts of each module's path, and its tree."""
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).parts, ast.parse(path.read_text())


def _private_imports():
    """Yield the module and the private module of another package that it imports."""
    for parts, tree in _modules():
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom | ast.Import):
                continue
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                root, *imported = f"{start}{alias.name}".split(".")
                if root != "polychotomy" or not imported or imported[0] == parts[0]:
                    continue
                private = [i for i, part in enumerate(imported) if part.startswith("_")]
                if private:
                    yield "/".join(parts), ".".join(imported[: private[0] + 1])


def _recurring(names):
    return {name for name, count in Counter(names).items() if count > 1}


def test_no_module_imports_a_private_module_of_another_package():
    assert set(_private_imports()) == set()


def test_no_class_name_occurs_twice():
    names = [
        node.name
        for _, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    assert _recurring(names) == set()


def test_no_file_name_occurs_twice():
    exempt = {"__init__.py", "_twins.py", "_registry.py"}
    names = [parts[-1] for parts, _ in _modules() if "_compiled" not in parts]
    assert _recurring(name for name in names if name not in exempt) == set()


def test_no_module_is_too_long():
    for path in SOURCE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= MOST_LINES, path
