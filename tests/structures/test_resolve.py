import numpy as np
import pytest

from polychotomy.codes import one_vs_one
from polychotomy.errors import StructureError
from polychotomy.structures import (
    balanced,
    chain,
    from_code,
    linkage,
    needs_samples,
    parse_structure,
    resolve_structure,
)

CLASSES = np.array(["ash", "elm", "oak"])
TEXT = "top { ash low {elm oak} }"


def resolve(structure, X=None, y=None, **options):
    usual = {"distance": "hausdorff", "sample_weight": None, "pairwise": False}
    return resolve_structure(structure, CLASSES, X, y, **{**usual, **options})


@pytest.mark.parametrize(
    ("structure", "needed"),
    [
        ("balanced", False),
        ("chain", True),
        ("linkage", True),
        ("kmeans", True),
        ("ddag", False),
        (TEXT, False),
        (balanced("ab"), False),
        (linkage, True),
    ],
)
def test_what_needs_samples(structure, needed):
    assert needs_samples(structure) is needed


def test_builders_by_name():
    X, y = np.array([[0.0], [5.0], [6.0], [6.5]]), np.array([0, 1, 2, 2])
    assert resolve("balanced") == balanced(CLASSES)
    assert resolve("ddag") == from_code(one_vs_one(3), CLASSES.tolist())
    assert resolve("linkage", X, y) == linkage(X, CLASSES[y])
    assert resolve("chain", X, y) == chain(CLASSES, [1, 1, 2])
    assert resolve("chain", X, y, sample_weight=[5, 1, 1, 1]) == chain(CLASSES, [5, 1, 2])


def test_text_a_file_a_structure_and_a_function_give_the_same(tmp_path):
    path = tmp_path / "trees.txt"
    path.write_text(TEXT, encoding="utf-8")
    expected = parse_structure(TEXT)
    given = [TEXT, path, str(path), expected, lambda X, y: expected, lambda X, y: TEXT]
    for structure in given:
        assert resolve(structure) == expected


def test_a_function_gets_the_samples_and_their_labels():
    X, y = np.array([[0.0], [5.0], [6.0]]), np.array([2, 0, 1])
    assert resolve(linkage, X, y) == linkage(X, CLASSES[y])


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        ("balnced", "Did you mean 'balanced'"),
        (7, "must be a builder's name .*Got int"),
        (balanced(["ash", "elm"]), "It lacks 1, first 'oak'"),
        (balanced(["ash", "elm", "fir"]), "has the class 'fir'"),
    ],
)
def test_what_is_no_structure_of_the_classes_is_refused(structure, message):
    with pytest.raises(ValueError, match=message):
        resolve(structure)


def test_distances_need_features():
    with pytest.raises(ValueError, match="precomputed kernel is not enough"):
        resolve("linkage", np.eye(3), np.arange(3), pairwise=True)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StructureError, match="must be a text file in UTF-8"):
        resolve(path)


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(10**8)
    with pytest.raises(StructureError, match=r"5000000 characters\. Got 10{8} bytes"):
        resolve(path)
