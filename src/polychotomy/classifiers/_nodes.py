"""A structure laid out over the classes of a classifier: its nodes, and one flat matrix for all."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polychotomy.codes import Code
from polychotomy.codes._code import Matrix
from polychotomy.structures import Structure

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a structure.

    Attributes
    ----------
    code : Code
        Over the children.
    problems : slice
        Its columns in the flat matrix.
    child : ndarray of shape (n_classes,)
        The child that each class is below, −1 for classes elsewhere.
    below : tuple of int
        For each child the number of its node, or −1 − r for class r.
    """

    code: Code
    problems: slice
    child: Indices
    below: tuple[int, ...]


def single_node(code: Code) -> tuple[Node, ...]:
    """Return a flat code as the only node, its children being the classes in order."""
    k = code.n_classes
    return (Node(code, slice(0, code.n_problems), np.arange(k), tuple(-1 - r for r in range(k))),)


def lay_out(structure: Structure, row: dict[object, int]) -> tuple[Matrix, tuple[Node, ...]]:
    """Return the flat matrix and the nodes of a structure, parents before children.

    Parameters
    ----------
    structure : Structure
    row : dict
        The row of each label: its place among the classifier's classes.
    """
    inner = list(structure.nodes())
    number = {id(node): i for i, node in enumerate(inner)}
    matrix = np.zeros((len(row), structure.n_problems), dtype=np.int8)
    nodes, start = [], 0
    for node in inner:
        assert node.code is not None
        child = np.full(len(row), -1)
        for c, part in enumerate(node.children):
            child[[row[label] for label in part.classes]] = c
        problems = slice(start, start + node.code.n_problems)
        members = np.flatnonzero(child >= 0)
        matrix[members, problems] = node.code.matrix[child[members]]
        below = tuple(
            -1 - row[c.classes[0]] if c.is_class else number[id(c)] for c in node.children
        )
        nodes.append(Node(node.code, problems, child, below))
        start = problems.stop
    return matrix, tuple(nodes)
