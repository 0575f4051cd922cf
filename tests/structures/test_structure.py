import copy
import pickle
from enum import Enum, IntEnum

import numpy as np
import pytest

from polychotomy import Code, Structure
from polychotomy.codes import one_vs_one
from polychotomy.errors import StructureError
from polychotomy.structures import balanced, chain, from_code, two_children


@pytest.fixture
def land():
    """Two pairs of classes under a pair, one of them with names and options."""
    forest = Structure([[-1], [1]], ["evergreen", "deciduous"], names=["forest"])
    field = Structure([[-1], [1]], ["corn", "wheat"], options=["C=10"])
    return Structure([[-1], [1]], [forest, field])


def test_it_knows_classes_depth_and_problems(land):
    assert land.classes == ("evergreen", "deciduous", "corn", "wheat")
    assert (land.n_classes, land.n_problems, land.depth) == (4, 3, 2)
    first, second, third = land.problems
    assert first.minus == ("evergreen", "deciduous")
    assert first.plus == ("corn", "wheat")
    assert (first.name, first.options) == (None, None)
    assert (second.name, second.options) == ("forest", None)
    assert (third.minus, third.plus, third.options) == (("corn",), ("wheat",), "C=10")
    assert [node.n_classes for node in land.nodes()] == [4, 2, 2]


def test_a_class_is_a_structure():
    oak = Structure.of_class("oak")
    assert oak.is_class
    assert (oak.classes, oak.depth, oak.n_problems, oak.problems) == (("oak",), 0, 0, ())
    assert list(oak.nodes()) == []
    assert repr(oak) == "Structure('oak')"
    assert str(oak) == "oak"


def test_equality_and_hash_go_by_value(land):
    forest = Structure([[-1], [1]], ["evergreen", "deciduous"], names=["forest"])
    field = Structure([[-1], [1]], ["corn", "wheat"], options=["C=10"])
    same = Structure(Code([[-1], [1]], name="other"), [forest, field])
    assert same == land
    assert hash(same) == hash(land)
    assert land != "land"
    for other in (
        Structure([[1], [-1]], [forest, field]),
        Structure([[-1], [1]], [field, forest]),
        Structure([[-1], [1]], [forest, field], names=["x"]),
        Structure([[-1], [1]], [forest, Structure([[-1], [1]], ["corn", "wheat"])]),
        forest,
    ):
        assert other != land


def test_labels_keep_their_types():
    assert Structure([[-1], [1]], [0, 1]) != Structure([[-1], [1]], ["0", "1"])
    assert Structure([[-1], [1]], [0, 1]) != Structure([[-1], [1]], [0.0, 1.0])
    from_numpy = Structure([[-1], [1]], np.array([3, 4]))
    assert from_numpy == Structure([[-1], [1]], [3, 4])
    assert type(from_numpy.classes[0]) is int
    assert type(Structure.of_class(np.str_("a")).label) is str


def test_labels_of_enumerations_become_plain():
    class Kind(IntEnum):
        oak = 1
        elm = 2

    class Name(str, Enum):  # noqa: UP042
        oak = "oak tree"

    structure = Structure([[-1], [1]], [Kind.oak, Name.oak])
    assert [type(label) for label in structure.classes] == [int, str]
    assert structure.classes == (1, "oak tree")


def test_it_cannot_be_changed(land):
    with pytest.raises(AttributeError):
        land.children = ()
    with pytest.raises(AttributeError):
        land.new = 1


def test_copies_and_pickles_are_equal(land):
    for structure in (land, from_code(one_vs_one(4)), Structure.of_class(1)):
        assert pickle.loads(pickle.dumps(structure)) == structure
        assert copy.deepcopy(structure) == structure
        assert copy.copy(structure) == structure


def test_depth_costs_no_recursion():
    deep, other = chain(range(3000)), chain(range(3000))
    assert deep == other
    assert hash(deep) == hash(other)
    assert deep != chain([*range(2999), "last"])
    assert pickle.loads(pickle.dumps(deep)) == deep
    assert deep.depth == 2999
    assert len(deep.problems[0].plus) == 2999


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[-1], [1]], ["a"]), "as many children as its code has rows. Got 1 children for 2"),
        (([[-1], [1]], ["a", "a"]), "'a' occurs twice"),
        (([[-1], [1]], [1, True]), "True occurs twice"),
        (([[-1], [1]], ["a", two_children("b", "a")]), "'a' occurs twice"),
        (([[-1], [1]], ["a", None]), "a string, a truth value, or a finite number"),
        (([[-1], [1]], ["a", float("nan")]), "finite number"),
        (([[-1], [1]], ["a", 10**400]), r"at most 300 digits\. Got a larger number"),
        (([[-1], [1]], ["a", ("b",)]), r"Got \('b',\)"),
        (([[1], [1]], ["a", "b"]), "at least one class on either side"),
    ],
)
def test_what_is_no_structure_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Structure(*arguments)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"names": ["a", "b"]}, "'names' parameter must have a string or None for each of the 1"),
        ({"options": []}, "'options' parameter must have"),
        ({"names": [3]}, "'names' parameter must have"),
        ({"names": ["two words"]}, "name of a problem must be letters"),
        ({"names": ["a"], "options": ["C=1"]}, "a name or options, not both"),
    ],
)
def test_names_and_options_must_fit(models, message):
    with pytest.raises(StructureError, match=message):
        Structure([[-1], [1]], ["a", "b"], **models)


def test_empty_names_and_options_are_none():
    structure = Structure([[-1], [1]], ["a", "b"], names=[""], options=[""])
    assert structure == two_children("a", "b")


def test_a_thousand_classes():
    structure = balanced(range(1000))
    assert (structure.depth, structure.n_problems) == (10, 999)
    assert structure.classes == tuple(range(1000))
