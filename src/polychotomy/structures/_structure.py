"""The structure, a recursive value: a class, or a code over structures."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from polychotomy.codes import Code
from polychotomy.errors import StructureError

Label = str | int | float | bool

BARE_NAME = re.compile(r"[^\W\d][\w.\-]*(?:/[\w.\-]+)*")
"""The pattern of problem names, which need no quotes in a text."""


_LARGEST = 10**300


class Problem(NamedTuple):
    """A binary problem: the classes on its two sides, and the name or options of its learner.

    At most one of `name` and `options` is set, because they share a place in the text.
    """

    minus: tuple[Label, ...]
    plus: tuple[Label, ...]
    name: str | None
    options: str | None


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Structure:
    """A way to split classes: a class, or a node with a code over its children.

    A flat code is one node whose children are classes; a decision tree is nested nodes with two
    children; hybrids are everything in between (Mills, section 6). Structures are immutable and
    hashable, and equal if their classes, codes, names and options are equal.

    Parameters
    ----------
    code : Code or array-like of shape (n_children, n_problems)
        The side of each child in each of the node's own problems.
    children : sequence of Structure or labels
        One for each row of the code. Labels are strings or numbers and denote classes; each may
        occur once.
    names : sequence of str or None, optional
        Names of the problems: letters, digits, ``_``, ``.``, ``-`` and ``/``, starting with a
        letter. :class:`~polychotomy.TreeClassifier` looks names up in its ``estimators``.
    options : sequence of str or None, optional
        Parameters of the problems' learners, such as ``"C=10 gamma=0.1"``. A problem has a name
        or options, not both.

    Attributes
    ----------
    label : str, int, float or bool
        The class, if the structure is one; otherwise None.
    code : Code
        The node's code; None if the structure is a class.
    children : tuple of Structure
        Empty if the structure is a class.
    names, options : tuple of str or None
        One for each of the node's own problems.
    classes : tuple
        The labels of all classes from left to right: the leaves in order.
    depth : int
        Largest number of nodes from here to a class: 0 for a class, 1 for a flat code.
    is_class : bool
        Whether the structure is a class, not a node.
    n_classes, n_problems : int
        Number of classes, and of binary problems of all nodes together.

    Raises
    ------
    StructureError
        (a ``ValueError``) if a class occurs twice, or children, names or options do not fit the
        code.

    References
    ----------
    Mills (2023), "Solving for multi-class: a survey and synthesis", sections 5 and 6.

    Examples
    --------
    >>> from polychotomy import Structure
    >>> forest = Structure([[-1], [1]], ["evergreen", "deciduous"])
    >>> land = Structure([[-1], [1]], [forest, "field"], names=["ForestVsField"])
    >>> land
    Structure(3 classes, 2 problems, depth 2)
    >>> print(land)
    ForestVsField {
      "" {evergreen deciduous}
      field
    }
    >>> land.classes
    ('evergreen', 'deciduous', 'field')
    """

    label: Label | None
    code: Code | None
    children: tuple["Structure", ...]
    names: tuple[str | None, ...]
    options: tuple[str | None, ...]
    classes: tuple[Label, ...]
    depth: int
    is_class: bool
    n_classes: int
    n_problems: int
    _hash: int

    def __init__(
        self,
        code: Any,
        children: Sequence[Any],
        *,
        names: Iterable[str | None] | None = None,
        options: Iterable[str | None] | None = None,
    ) -> None:
        code = code if isinstance(code, Code) else Code(code)
        nodes = tuple(c if isinstance(c, Structure) else Structure.of_class(c) for c in children)
        if len(nodes) != code.n_classes:
            raise StructureError(
                "A node needs as many children as its code has rows. "
                f"Got {len(nodes)} children for {code.n_classes} rows."
            )
        classes = tuple(label for node in nodes for label in node.classes)
        if len(set(classes)) < len(classes):
            last = {label: i for i, label in enumerate(classes)}
            twice = next(classes[last[c]] for i, c in enumerate(classes) if last[c] > i)
            raise StructureError(f"Every class may occur only once. {twice!r} occurs twice.")
        checked_names, checked_options = _check_models(code, names, options)
        self._set(
            label=None,
            code=code,
            children=nodes,
            names=checked_names,
            options=checked_options,
            classes=classes,
            depth=1 + max(node.depth for node in nodes),
        )

    @classmethod
    def of_class(cls, label: Any) -> "Structure":
        """Return the structure that is a single class.

        Examples
        --------
        >>> from polychotomy import Structure
        >>> Structure.of_class("oak")
        Structure('oak')
        """
        leaf = object.__new__(cls)
        name = _check_label(label)
        leaf._set(
            label=name, code=None, children=(), names=(), options=(), classes=(name,), depth=0
        )
        return leaf

    def _set(self, **values: Any) -> None:
        vars(self).update(values, is_class=values["code"] is None)
        own = 0 if self.code is None else self.code.n_problems
        n_problems = own + sum(child.n_problems for child in self.children)
        # The children's hashes are known, so deep structures need no recursion.
        value = hash((self.label, self.code, self.children, self.names, self.options))
        vars(self).update(n_classes=len(self.classes), n_problems=n_problems, _hash=value)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All binary problems, a node's before those of its children, from left to right."""
        found = []
        for node in self.nodes():
            assert node.code is not None
            models = zip(node.code.matrix.T, node.names, node.options, strict=True)
            for column, name, options in models:
                minus, plus = (
                    tuple(
                        c for i in np.flatnonzero(column == sign) for c in node.children[i].classes
                    )
                    for sign in (-1, 1)
                )
                found.append(Problem(minus, plus, name, options))
        return tuple(found)

    def nodes(self) -> Iterator["Structure"]:
        """Yield the nodes, parents before children, from left to right, without the classes."""
        pending = [self]
        while pending:
            node = pending.pop()
            if not node.is_class:
                yield node
            pending.extend(reversed(node.children))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure):
            return NotImplemented
        pending = [(self, other)]
        while pending:
            a, b = pending.pop()
            if a is b:
                continue
            same = a._own() == b._own() and type(a.label) is type(b.label)
            if not same or len(a.children) != len(b.children):
                return False
            pending.extend(zip(a.children, b.children, strict=True))
        return True

    def __hash__(self) -> int:
        return self._hash

    def _own(self) -> tuple[Any, ...]:
        return self.label, self.code, self.names, self.options

    def __reduce__(self) -> tuple[Any, ...]:
        pending, flat = [self], []
        while pending:
            node = pending.pop()
            flat.append(node._own())
            pending.extend(node.children)
        return _from_flat, (flat,)

    def __deepcopy__(self, memo: Any) -> "Structure":
        return self

    def __repr__(self) -> str:
        if self.is_class:
            return f"Structure({self.label!r})"
        return (
            f"Structure({self.n_classes} classes, {self.n_problems} problems, depth {self.depth})"
        )

    def __str__(self) -> str:
        from polychotomy.structures._format import format_structure

        return format_structure(self)


def _from_flat(flat: list[tuple[Any, ...]]) -> Structure:
    """Return the structure from a list of its nodes: parents first, last children first."""
    built: list[Structure] = []
    for label, code, names, options in reversed(flat):
        if code is None:
            built.append(Structure.of_class(label))
            continue
        children, built[-code.n_classes :] = built[-code.n_classes :], []
        built.append(Structure(code, children, names=names, options=options))
    return built[0]


def _check_label(label: Any) -> Label:
    if hasattr(label, "item") and getattr(label, "ndim", None) == 0:  # a NumPy scalar
        label = label.item()
    # Subclasses, such as enumerations, become plain strings and numbers.
    if isinstance(label, str):
        return str.__str__(label)
    if isinstance(label, int) and abs(label) < _LARGEST:
        return label if isinstance(label, bool) else int(label)
    if isinstance(label, float) and isfinite(label):
        return float(label)
    given = "a larger number" if isinstance(label, int) else repr(label)
    raise StructureError(
        "A child must be a Structure or a class: a string, a truth value, or a finite number of at "
        f"most 300 digits. Got {given}."
    )


def _check_models(
    code: Code, names: Iterable[str | None] | None, options: Iterable[str | None] | None
) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    """Return the name and options of each problem, None where not given."""
    checked = []
    for what, given in (("names", names), ("options", options)):
        values = (None,) * code.n_problems if given is None else tuple(given)
        values = tuple(None if value is None or value == "" else value for value in values)
        if len(values) != code.n_problems or not all(isinstance(v, str | None) for v in values):
            raise StructureError(
                f"The {what!r} parameter must have a string or None for each of the "
                f"{code.n_problems} problems. Got {len(values)} values."
            )
        checked.append(values)
    for name, option in zip(*checked, strict=True):
        if name is not None and not BARE_NAME.fullmatch(name):
            raise StructureError(
                "The name of a problem must be letters, digits, '_', '.', '-' and '/' after a "
                f"first letter. Got {name!r}; use 'options' for anything else."
            )
        if name is not None and option is not None:
            raise StructureError(
                "A problem has a name or options, not both: they share a place in the text. "
                f"Got the name {name!r} and the options {option!r}."
            )
    return checked[0], checked[1]
