"""The layout of a structure over the classes of a classifier: its nodes and its flat matrix."""

from dataclasses import dataclass

import numpy as np

from polychotomy import memory
from polychotomy.arrays import Indices, Matrix
from polychotomy.codes import Code
from polychotomy.structures._structure import Structure


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a structure, laid out over the classes.

    Attributes
    ----------
    code : Code
        The code over the children.
    problems : slice
        The node's columns in the flat matrix.
    below : tuple of int
        For each child the number of its node, or −1 − r if it is class r.
    leaves : ndarray of shape (n_classes,)
        All classes in the order of the structure's leaves, the same array for all nodes.
    borders : tuple of int
        The leaves of child c are ``leaves[borders[c] : borders[c + 1]]``.
    """

    code: Code
    problems: slice
    below: tuple[int, ...]
    leaves: Indices
    borders: tuple[int, ...]

    @property
    def child(self) -> Indices:
        """The child that contains each class, −1 for classes not below this node.

        It is made when asked for: those of all nodes together would grow as the square of the
        classes.
        """
        child = np.full(len(self.leaves), -1)
        own = self.leaves[self.borders[0] : self.borders[-1]]
        child[own] = np.repeat(np.arange(len(self.below)), np.diff(self.borders))
        return child


def single_node(code: Code, order: Indices | None = None) -> tuple[Node, ...]:
    """Return the layout of a flat code: one node whose children are the classes, in order.

    Parameters
    ----------
    code : Code
        The code of the node.
    order : ndarray of shape (n_classes,), optional
        The class of each row of the code; by default 0, 1, ….

    Examples
    --------
    >>> from polychotomy.codes import one_vs_rest
    >>> from polychotomy.structures import single_node
    >>> single_node(one_vs_rest(3))[0].below
    (-1, -2, -3)
    """
    order = np.arange(code.n_classes) if order is None else order
    below = tuple(-1 - r for r in order.tolist())
    borders = tuple(range(code.n_classes + 1))
    return (Node(code, slice(0, code.n_problems), below, order, borders),)


def lay_out(structure: Structure, row: dict[object, int]) -> tuple[Matrix, tuple[Node, ...]]:
    """Return the flat matrix and the nodes of a structure, parents before children.

    Parameters
    ----------
    structure : Structure
    row : dict
        The class index of each label, its row in the matrix.

    Returns
    -------
    matrix : int8 ndarray of shape (n_classes, n_problems)
    nodes : tuple of Node

    Examples
    --------
    >>> from polychotomy.structures import balanced, lay_out
    >>> matrix, nodes = lay_out(balanced("abc"), {"a": 0, "b": 1, "c": 2})
    >>> matrix
    array([[-1,  0],
           [ 1, -1],
           [ 1,  1]], dtype=int8)
    >>> nodes[0].below  # class 0, and the second node
    (-1, 1)
    """
    inner = list(structure.nodes())
    number = {id(node): i for i, node in enumerate(inner)}
    leaves = np.array([row[label] for label in structure.classes])
    place = {label: p for p, label in enumerate(structure.classes)}
    size = len(row) * structure.n_problems
    if size >= memory.SMALL:
        advice = "Take fewer classes, or a code of fewer problems than a tree has."
        memory.check_room({"the code of all problems": size}, advice)
    matrix = np.zeros((len(row), structure.n_problems), dtype=np.int8)
    nodes, start = [], 0
    for node in inner:
        assert node.code is not None
        sizes = [child.n_classes for child in node.children]
        first = place[node.classes[0]]  # the classes of a node are consecutive leaves
        problems = slice(start, start + node.code.n_problems)
        own = leaves[first : first + node.n_classes]
        matrix[own, problems] = np.repeat(node.code.matrix, sizes, axis=0)
        below = tuple(
            -1 - row[c.classes[0]] if c.is_class else number[id(c)] for c in node.children
        )
        borders = tuple(np.cumsum([first, *sizes]).tolist())
        nodes.append(Node(node.code, problems, below, leaves, borders))
        start = problems.stop
    return matrix, tuple(nodes)
