"""Conversions: structures from codes and linkages, and equivalent forms of a structure."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polychotomy.arrays import Indices, Matrix
from polychotomy.codes import Code
from polychotomy.errors import CodeError, StructureError
from polychotomy.structures._structure import BARE_NAME, Structure

_TREE = Code([[-1], [1]], name="tree")


def two_children(first: Any, second: Any) -> Structure:
    """Return a node that separates one structure or class, −1, from another, +1.

    Parameters
    ----------
    first, second : Structure or label
        What is on the −1 and on the +1 side.

    Examples
    --------
    >>> from polychotomy.structures import two_children
    >>> print(two_children("oak", "elm"))
    "" {oak elm}
    """
    return Structure(_TREE, (first, second))


def from_code(code: Any, classes: Sequence[Any] | None = None) -> Structure:
    """Return a flat code as a structure with one node.

    Parameters
    ----------
    code : Code or array-like of shape (n_classes, n_problems)
    classes : sequence of labels, optional
        The labels of the rows; by default 0, 1, ….

    Examples
    --------
    >>> from polychotomy.codes import adjacent
    >>> from polychotomy.structures import from_code
    >>> print(from_code(adjacent(3), ["cold", "warm", "hot"]))
    "" 0 / 1 2;
    "" 0 1 / 2;
    {cold warm hot}
    """
    code = code if isinstance(code, Code) else Code(code)
    return Structure(code, range(code.n_classes) if classes is None else classes)


def from_linkage(linkage: ArrayLike, classes: Sequence[Any] | None = None) -> Structure:
    """Return the tree of a SciPy linkage matrix.

    Of two joined clusters, the one with more classes comes first; of equal ones, the one with the
    higher number in SciPy. This is the order in Mills' figures.

    Parameters
    ----------
    linkage : array-like of shape (n_classes − 1, 4)
        As returned by :func:`scipy.cluster.hierarchy.linkage`.
    classes : sequence of labels, optional
        The labels of the observations; by default 0, 1, ….

    Examples
    --------
    >>> from scipy.cluster.hierarchy import linkage
    >>> from polychotomy.structures import from_linkage
    >>> print(from_linkage(linkage([[0.0], [5.0], [1.0]]), ["a", "b", "c"]))
    "" {
      "" {c a}
      b
    }
    """
    from scipy.cluster.hierarchy import is_valid_linkage

    Z = np.asarray(linkage, dtype=float)
    # SciPy does not check the clusters of a single row.
    if not is_valid_linkage(Z) or not np.array_equal(np.sort(Z[:, :2], None), range(2 * len(Z))):
        raise StructureError(
            "The 'linkage' parameter must be a linkage matrix of SciPy, n−1 rows of four columns. "
            f"Got an array of shape {Z.shape}."
        )
    labels = range(len(Z) + 1) if classes is None else classes
    if len(labels) != len(Z) + 1:
        raise StructureError(
            f"The 'classes' parameter must have {len(Z) + 1} labels, as the linkage does. "
            f"Got {len(labels)} labels."
        )
    made = [Structure.of_class(label) for label in labels]
    for pair in Z[:, :2].astype(int):
        last, first = sorted(pair, key=lambda c: (made[c].n_classes, c))
        made.append(two_children(made[first], made[last]))
    return made[-1]


def flatten(structure: Structure) -> Structure:
    """Return the flat structure with the same problems; its ``code`` is the flat code.

    The problems of a node become problems of all classes below it; other classes take no part.
    The order is that of ``structure.problems`` and ``structure.classes``. Names and options are
    kept.

    Parameters
    ----------
    structure : Structure
        A tree, a hybrid, or a structure that is flat already.

    References
    ----------
    Mills (2023), "Solving for multi-class: a survey and synthesis", sections 5 and 7.

    Examples
    --------
    >>> from polychotomy.structures import balanced, flatten
    >>> print(flatten(balanced("abcd")).code.matrix.T)
    [[-1 -1  1  1]
     [-1  1  0  0]
     [ 0  0 -1  1]]
    """
    if structure.depth <= 1:
        return structure
    row = {label: r for r, label in enumerate(structure.classes)}
    columns: list[Matrix] = []
    names: list[str | None] = []
    options: list[str | None] = []
    for node in structure.nodes():
        assert node.code is not None
        sizes = [child.n_classes for child in node.children]
        block = np.zeros((structure.n_classes, node.code.n_problems), dtype=np.int8)
        first = row[node.classes[0]]  # the classes of a node are consecutive
        block[first : first + node.n_classes] = np.repeat(node.code.matrix, sizes, axis=0)
        columns.append(block)
        names.extend(node.names)
        options.extend(node.options)
    return Structure(np.hstack(columns), structure.classes, names=names, options=options)


def nest(structure: Structure) -> Structure:
    """Return a nested structure with the same problems as a flat one.

    Classes form a group if every problem either puts them all on the same side or involves only
    them; the problems within a group become a node. What cannot be grouped stays flat. Flattening
    the result gives the same problems, possibly in another order.

    Parameters
    ----------
    structure : Structure
        Existing nodes are kept; each of them is nested further where possible.

    Notes
    -----
    Trees cost O(k² ℓ) at most. If no problem involves all classes, all pairs of classes are tried,
    which takes seconds from about a hundred classes on.

    Examples
    --------
    >>> from polychotomy import parse_structure
    >>> from polychotomy.structures import nest
    >>> print(nest(parse_structure("a 0 1 / 2; b 0 / 1; {oak elm field}")))
    a {
      b {oak elm}
      field
    }
    """

    def nested(node: Structure, children: list[Structure]) -> Structure:
        return node if node.code is None else _nest_node(node, children)

    return _rebuild(structure, nested)


def _nest_node(node: Structure, children: list[Structure]) -> Structure:
    """Return the problems of a node, nested."""
    assert node.code is not None
    matrix = node.code.matrix
    # Groups are found from the outside in and assembled from the inside out.
    order, pending = [], [(np.arange(len(matrix)), np.arange(matrix.shape[1]))]
    while pending:
        classes, problems = pending.pop()
        groups, own = _cut(matrix[np.ix_(classes, problems)])
        pending.extend(
            (classes[group], problems[own == g]) for g, group in enumerate(groups) if len(group) > 1
        )
        order.append(([classes[group] for group in groups], problems[own == -1]))
    made = dict(enumerate(children))
    for members, problems in reversed(order):
        first = [group[0] for group in members]
        made[first[0]] = Structure(
            matrix[np.ix_(first, problems)],
            [made[r] for r in first],
            names=[node.names[s] for s in problems],
            options=[node.options[s] for s in problems],
        )
    return made[0]


def _cut(matrix: Matrix) -> tuple[list[Indices], Indices]:
    """Return groups of classes, and for each problem its group, −1 if it separates groups."""
    group = _groups(matrix)
    for first in np.unique(group):
        members = np.flatnonzero(group == first)
        if len(members) > 1 and not _is_code(matrix[np.ix_(members, _parted(matrix[members]))]):
            group[members] = members  # they do not form a valid node
    first = np.sort(np.unique(group, return_index=True)[1])
    groups = [np.flatnonzero(group == group[r]) for r in first]
    own = np.full(matrix.shape[1], -1)
    for g, members in enumerate(groups):
        own[_parted(matrix[members])] = g
    if _is_code(matrix[np.ix_(first, np.flatnonzero(own == -1))]):
        return groups, own
    return [np.array([r]) for r in range(len(matrix))], np.full(matrix.shape[1], -1)


def _is_code(matrix: Matrix) -> bool:
    try:
        Code(matrix)
    except CodeError:
        return False
    return True


def _parted(rows: Matrix) -> Indices:
    """Return the problems in which these rows differ."""
    return np.flatnonzero((rows != rows[0]).any(axis=0))


def _groups(matrix: Matrix) -> Indices:
    """Return the group number of each class, for the largest groups smaller than all classes.

    A group is closed under one rule: a problem in which its members differ has all its classes in
    the group. Problems of all classes separate the groups. A part that is not a group as a whole is
    searched for the smallest group of every two classes.
    """
    k = len(matrix)
    strict = matrix.all(axis=0)
    group = np.arange(k)
    parts = np.unique(matrix[:, strict], axis=0, return_inverse=True)[1].ravel()
    for p in range(parts.max() + 1):
        members = np.flatnonzero(parts == p)
        if strict.any() and len(members) > 1:
            whole = _closure(matrix, members)
            if whole.sum() == len(members):
                group[members] = members[0]
                continue
        for a, b in combinations(members, 2):
            if group[a] != group[b]:
                closed = _closure(matrix, np.array([a, b]))
                if not closed.all():
                    group[np.isin(group, group[closed])] = group[a]
    return group


def _closure(matrix: Matrix, classes: Indices) -> NDArray[np.bool_]:
    """Return the smallest group that contains these classes."""
    members = np.zeros(len(matrix), dtype=bool)
    members[classes] = True
    while True:
        grown = np.asarray(members | matrix[:, _parted(matrix[members])].any(axis=1))
        if (grown == members).all():
            return members
        members = grown


def name_problems(structure: Structure, base: str) -> Structure:
    """Return the structure with problems named by position, as libAGF names its models.

    A single problem of the root is called `base`; several are called ``base-00``, ``base-01``, ….
    All names below child c begin with ``base.0c``. Existing names and options are dropped.

    Examples
    --------
    >>> from polychotomy.structures import balanced, name_problems
    >>> print(name_problems(balanced(range(3)), "shuttle"))
    shuttle {
      0
      shuttle.01 {1 2}
    }
    """
    if not BARE_NAME.fullmatch(base):
        raise StructureError(
            "The 'base' parameter must be letters, digits, '_', '.', '-' and '/' after a first "
            f"letter. Got {base!r}."
        )

    names = {id(structure): base}
    for node in structure.nodes():
        own = names[id(node)]
        names.update({id(child): f"{own}.{c:02d}" for c, child in enumerate(node.children)})

    def named(node: Structure, children: list[Structure]) -> Structure:
        if node.code is None:
            return node
        name, several = names[id(node)], node.code.n_problems > 1
        own = [f"{name}-{s:02d}" if several else name for s in range(node.code.n_problems)]
        return Structure(node.code, children, names=own)

    return _rebuild(structure, named)


def relabel(structure: Structure, labels: Mapping[Any, Any]) -> Structure:
    """Return the structure with new class labels.

    Parameters
    ----------
    structure : Structure
    labels : mapping
        The new label of each class.

    Examples
    --------
    >>> from polychotomy.structures import balanced, relabel
    >>> print(relabel(balanced("ab"), {"a": 0, "b": 1}))
    "" {0 1}
    """
    missing = [label for label in structure.classes if label not in labels]
    if missing:
        raise StructureError(
            "The 'labels' parameter must have a new label for each class. "
            f"It has none for {missing[0]!r}."
        )

    def relabelled(node: Structure, children: list[Structure]) -> Structure:
        if node.code is None:
            return Structure.of_class(labels[node.classes[0]])
        return Structure(node.code, children, names=node.names, options=node.options)

    return _rebuild(structure, relabelled)


def _rebuild(
    structure: Structure, make: Callable[[Structure, list[Structure]], Structure]
) -> Structure:
    """Apply ``make(node, new children)`` to all nodes, from the inside out."""
    order, pending = [], [structure]
    while pending:
        order.append(pending.pop())
        pending.extend(order[-1].children)
    made: list[Structure] = []
    for node in reversed(order):  # children come before their node, the first one first
        n_children = len(node.children)
        children = made[len(made) - n_children :]
        made[len(made) - n_children :] = [make(node, children)]
    return made[0]
