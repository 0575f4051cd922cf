import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from polychotomy import Structure, parse_structure
from polychotomy.codes import adjacent, one_vs_one, one_vs_rest
from polychotomy.errors import StructureError
from polychotomy.structures import (
    balanced,
    chain,
    flatten,
    from_code,
    from_linkage,
    name_problems,
    nest,
    relabel,
    two_children,
)


def problems_of(structure):
    return {frozenset([frozenset(p.minus), frozenset(p.plus)]) for p in structure.problems}


def test_flattening_keeps_order_names_and_options():
    nested = parse_structure('top { left {c a} "C=1" 1 2 / 0; x 2 / 1; {b e d} }')
    flat = flatten(nested)
    assert flat.depth == 1
    assert flat.classes == nested.classes == ("c", "a", "b", "e", "d")
    assert flat.names == ("top", "left", None, "x")
    assert flat.options == (None, None, "C=1", None)
    np.testing.assert_array_equal(
        flat.code.matrix.T,
        [[-1, -1, 1, 1, 1], [-1, 1, 0, 0, 0], [0, 0, 1, -1, -1], [0, 0, 0, 1, -1]],
    )
    assert flat.problems == nested.problems


@pytest.mark.parametrize("structure", [from_code(adjacent(4)), Structure.of_class("a")])
def test_what_is_flat_stays(structure):
    assert flatten(structure) == structure


@pytest.mark.parametrize(
    "structure",
    [
        balanced(range(9)),
        chain("abcdef"),
        two_children(from_code(one_vs_one(3), "abc"), from_code(one_vs_rest(4), "defg")),
        Structure(one_vs_one(3), [balanced("ab"), "c", from_code(one_vs_one(3), "def")]),
        parse_structure('a { b {0 1} "C=1" { 2 c {3 4} } }'),
        Structure(adjacent(3), [balanced("abcd"), "e", two_children("f", "g")]),
    ],
    ids=repr,
)
def test_nesting_undoes_flattening(structure):
    assert nest(flatten(structure)) == structure
    assert nest(structure) == structure


@pytest.mark.parametrize("code", [adjacent(5), one_vs_rest(4), one_vs_one(4)], ids=repr)
def test_what_cannot_be_parted_stays_flat(code):
    assert nest(from_code(code)) == from_code(code)


def test_idle_classes_keep_a_code_flat():
    # The class 2 takes no part in what 0 and 1 are told apart by, nor 3 and 4.
    flat = from_code([[1, 0, 1], [-1, 0, 1], [0, 0, 1], [0, 1, 1], [0, -1, 1], [0, 0, -1]])
    nested = nest(flat)
    assert problems_of(nested) == problems_of(flat)
    assert set(nested.classes) == set(flat.classes)
    assert nested.depth == 1


def test_idle_classes_of_one_group_leave_the_others_nested():
    # 2 is told apart from 3, and 4 takes no part in it: these three make no node.
    flat = from_code([[1, 0, 1], [1, 0, -1], [-1, 1, 0], [-1, -1, 0], [-1, 0, 0]], range(5))
    nested = nest(flat)
    assert nested.children[0].classes == (0, 1)
    assert nested.depth == 2
    assert nest(nested) == nested


def test_nesting_keeps_what_is_nested():
    # Neither pair of children has a question to the other pair, so no node parts the pairs.
    structure = Structure([[1, 0], [-1, 0], [0, 1], [0, -1]], [balanced("ab"), "c", "d", "e"])
    assert nest(structure) == structure


def test_a_class_nests_to_itself():
    assert nest(Structure.of_class(1)) == Structure.of_class(1)


def test_large_flat_trees_are_nested():
    structure = chain(range(300))
    assert nest(flatten(structure)) == structure


def test_a_linkage_becomes_a_tree():
    points = np.array([[0.0], [10.0], [1.0], [11.5], [100.0]])
    structure = from_linkage(linkage(points), list("abcde"))
    assert structure == two_children(
        two_children(two_children("d", "b"), two_children("c", "a")), "e"
    )
    assert from_linkage(linkage(points[:2])).classes == (1, 0)


@pytest.mark.parametrize(
    ("matrix", "classes", "message"),
    [
        ([[0, 1, 1.0]], None, "must be a linkage matrix"),
        ([[0, 5, 1.0, 2]], None, "must be a linkage matrix"),
        ([[0, 0.5, 1.0, 2]], None, "must be a linkage matrix"),
        ([[0, 1, 1.0, 2], [1, 3, 2.0, 3]], None, "must be a linkage matrix"),  # 1 twice
        ([[0, 5, 1, 2], [1, 2, 2, 3], [3, 4, 3, 4]], None, "must be a linkage matrix"),  # 5 early
        (linkage([[0.0], [1.0]]), "abc", "must name the 2 observations. *Got 3|Got 3 labels"),
    ],
)
def test_what_is_no_linkage_is_refused(matrix, classes, message):
    with pytest.raises(StructureError, match=message):
        from_linkage(matrix, classes)


def test_problems_are_named_like_libagf_names_models():
    structure = Structure(one_vs_one(3), [two_children("a", "b"), "c", balanced("def")])
    names = [p.name for p in name_problems(structure, "base").problems]
    assert names == ["base-00", "base-01", "base-02", "base.00", "base.02", "base.02.01"]


def test_relabelling_keeps_everything_else():
    structure = parse_structure('a { "C=1" {x y} b 0 / 1; c 1 / 2; {z w v} }')
    again = relabel(structure, {label: i for i, label in enumerate("vwxyz")})
    assert again.classes == (2, 3, 4, 1, 0)
    assert [p[2:] for p in again.problems] == [p[2:] for p in structure.problems]
    assert flatten(again).code == flatten(structure).code
    with pytest.raises(StructureError, match="It has none for 'x'"):
        relabel(structure, {})


def test_the_base_of_names_must_be_a_name():
    with pytest.raises(StructureError, match="'base' parameter must be letters"):
        name_problems(balanced("ab"), "two words")


def test_equal_subtrees_are_not_confused():
    # Nodes are told apart by place, not by value: names differ below equal codes.
    structure = name_problems(two_children(two_children(0, 1), two_children(2, 3)), "x")
    assert [p.name for p in structure.problems] == ["x", "x.00", "x.01"]
