"""Structures as text in the control language."""

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from polychotomy.errors import StructureError, unknown_name
from polychotomy.structures._structure import BARE_NAME, Label, Structure

_WIDTH = 88
_INDENTED_LEVELS = 30
RESERVED = {"True": True, "False": False}


def format_structure(structure: Structure, *, dialect: str = "polychotomy") -> str:
    """Return a structure as text in the control language, without a line break at the end.

    ``parse_structure(format_structure(s)) == s`` for every structure s within the limits of
    :func:`~polychotomy.parse_structure`.

    Parameters
    ----------
    structure : Structure
    dialect : {"polychotomy", "libagf"}, default="polychotomy"
        ``"libagf"`` writes what the library libAGF reads: labels are integers from 0 on, and
        either all problems have names (a trained model) or none has (options for training, with
        ``""`` for the default).

    Returns
    -------
    text : str
        A node with two children and one problem that puts the first on the −1 side is written
        as ``name {…}``; all others with one line for each problem, ``name 0 1 / 2;``.

    Examples
    --------
    >>> from polychotomy import format_structure
    >>> from polychotomy.codes import one_vs_rest
    >>> from polychotomy.structures import balanced, from_code
    >>> print(format_structure(balanced(["corn", "wheat", "red soil"])))
    "" {
      corn
      "" {wheat "red soil"}
    }
    >>> print(format_structure(from_code(one_vs_rest(3))))
    "" 1 2 / 0;
    "" 0 2 / 1;
    "" 0 1 / 2;
    {0 1 2}
    """
    writer = _WRITERS[check_dialect(dialect)]
    writer.check(structure)
    lines: list[str] = []
    pending: list[tuple[Structure | None, int]] = [(structure, 0)]
    while pending:
        node, level = pending.pop()
        indent = "  " * min(level, _INDENTED_LEVELS)
        if node is None:
            lines.append(f"{indent}}}")
            continue
        if node.is_class:
            lines.append(indent + writer.label(node.classes[0]))
            continue
        *partitions, opening = _header(node, writer)
        if all(child.is_class for child in node.children):
            labels = [writer.label(label) for label in node.classes]
            labels[0], labels[-1] = "{" + labels[0], labels[-1] + "}"
            opening[-1:] = labels
        else:
            pending.append((None, level))
            pending.extend((child, level + 1) for child in reversed(node.children))
        for words in (*partitions, opening):
            lines.extend(_wrap(words, indent))
    return "\n".join(lines)


def check_dialect(dialect: object) -> str:
    """Return the dialect, or raise ValueError if it is unknown."""
    if not isinstance(dialect, str) or dialect not in _WRITERS:
        raise unknown_name("dialect", dialect, _WRITERS)
    return dialect


class _Writer(NamedTuple):
    """How a dialect writes labels and options; `check` raises an error if it cannot."""

    check: Callable[[Structure], None]
    label: Callable[[Label], str]
    options: Callable[[str], str]


def _header(node: Structure, writer: _Writer) -> list[list[str]]:
    """Return the words of each line of a node up to and including its opening brace."""
    assert node.code is not None
    models = [
        name if name is not None else writer.options(options or "")
        for name, options in zip(node.names, node.options, strict=True)
    ]
    if np.array_equal(node.code.matrix, [[-1], [1]]):
        return [[models[0], "{"]]
    partitions = []
    for model, column in zip(models, node.code.matrix.T, strict=True):
        minus, plus = (np.flatnonzero(column == side).astype(str).tolist() for side in (-1, 1))
        plus[-1] += ";"
        partitions.append([model, *minus, "/", *plus])
    return [*partitions, ["{"]]


def _wrap(words: list[str], indent: str) -> Iterator[str]:
    """Yield lines of words; those after the first are indented further."""
    line = indent + words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) > _WIDTH and len(line) > len(indent) + 4:
            yield line
            line = indent + "    " + word
        else:
            line += " " + word
    yield line


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _label(label: Label) -> str:
    if not isinstance(label, str):
        return repr(label)
    return label if BARE_NAME.fullmatch(label) and label not in RESERVED else _quoted(label)


def _raw_quoted(text: str) -> str:
    if '"' in text or not text.isprintable() or text.endswith("\\") or text == ".":
        raise StructureError(
            "libAGF's options cannot contain quotation marks or line breaks, end in a backslash, "
            f"or be a full stop, which repeats other options. Got {text!r}."
        )
    return f'"{text}"'


def _check_libagf(structure: Structure) -> None:
    wrong = [c for c in structure.classes if type(c) is not int or c < 0]
    if wrong:
        raise StructureError(
            "libAGF's labels are integers from 0 on. "
            f"Got the class {wrong[0]!r}; relabel the classes first."
        )
    named = [name is not None for node in structure.nodes() for name in node.names]
    if any(named) and not all(named):
        raise StructureError(
            "libAGF reads files in which all problems have names or none has. Got names for "
            f"{sum(named)} of {len(named)} problems; use structures.name_problems to name all."
        )


_WRITERS = {
    "polychotomy": _Writer(lambda structure: None, _label, _quoted),
    "libagf": _Writer(_check_libagf, str, _raw_quoted),
}
