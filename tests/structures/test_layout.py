import numpy as np
from hypothesis import given

from polychotomy import memory
from polychotomy.codes import one_vs_one
from polychotomy.structures import chain, flatten, lay_out, parse_structure, single_node
from tests.properties.strategies import structures


def test_a_flat_code_is_one_node_over_all_classes():
    code = one_vs_one(3)
    (node,) = single_node(code)
    assert node.code is code
    assert node.problems == slice(0, 3)
    assert node.below == (-1, -2, -3)
    np.testing.assert_array_equal(node.child, [0, 1, 2])


def test_the_nodes_of_a_tree_come_before_their_children():
    tree = parse_structure("top { left {c a} b }")
    matrix, (top, left) = lay_out(tree, {"a": 0, "b": 1, "c": 2})
    np.testing.assert_array_equal(matrix, [[-1, 1], [1, 0], [-1, -1]])
    assert (top.problems, left.problems) == (slice(0, 1), slice(1, 2))
    assert (top.below, left.below) == ((1, -2), (-3, -1))
    np.testing.assert_array_equal(top.child, [0, 1, 0])
    np.testing.assert_array_equal(left.child, [1, -1, 0])


def test_a_code_that_needs_too_much_memory_is_refused_by_its_size(monkeypatch):
    asked = []
    monkeypatch.setattr(memory, "SMALL", 12)
    monkeypatch.setattr(memory, "check_room", lambda sizes, advice: asked.append(sizes))
    lay_out(chain("abc"), {label: row for row, label in enumerate("abc")})  # 3 × 2 bytes
    assert asked == []
    lay_out(chain("abcd"), {label: row for row, label in enumerate("abcd")})
    assert asked == [{"the code of all problems": 12}]


@given(structures())
def test_the_matrix_is_that_of_the_flat_structure(structure):
    row = {label: r for r, label in enumerate(structure.classes)}
    matrix, nodes = lay_out(structure, row)
    np.testing.assert_array_equal(matrix, flatten(structure).code.matrix)
    assert sum(node.code.n_problems for node in nodes) == matrix.shape[1]
    below = [number for node in nodes for number in node.below]
    assert sorted(-1 - number for number in below if number < 0) == list(range(len(row)))
    assert sorted(number for number in below if number >= 0) == list(range(1, len(nodes)))


def test_nodes_of_many_classes_share_one_array():
    """An array of all classes at every node would grow as their square."""
    _, nodes = lay_out(chain(range(3000)), {c: 2999 - c for c in range(3000)})
    assert {id(node.leaves) for node in nodes} == {id(nodes[0].leaves)}
    assert not any(
        isinstance(v, np.ndarray) for n in nodes for v in vars(n).values() if v is not n.leaves
    )
    np.testing.assert_array_equal(np.flatnonzero(nodes[2990].child >= 0), np.arange(10))
    assert nodes[2990].child[9] == 0
