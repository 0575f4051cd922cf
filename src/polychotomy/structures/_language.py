"""The control language: text to structure, with errors that put a caret under the fault.

The grammar is in ``control.lark``. :class:`Roles` assigns roles to tokens, lark's LALR parser
parses them, and :class:`StructureTransformer` turns the rules it finds into structures, from left
to right and from the inside out. Nothing recurses, so depth is limited by ``MAX_DEPTH`` only.
"""

import json
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from polychotomy.arrays import Matrix
from polychotomy.errors import CodeError, StructureError
from polychotomy.structures._format import RESERVED, check_dialect
from polychotomy.structures._known_labels import KnownLabels
from polychotomy.structures._structure import Label, Structure

if TYPE_CHECKING:
    from lark import Token

MAX_CHARACTERS = 5_000_000
MAX_DEPTH = 10_000
MAX_ENTRIES = 100_000_000
_SHOWN = 72

# What a code calls classes are the children of a node here.
_CHILDREN = re.compile("[Cc]lass(es)?")
_CHILD_WORDS = {"class": "child", "Class": "Child", "classes": "children", "Classes": "Children"}
_INTEGER = re.compile(r"[+-]?[0-9]{1,300}")
_REAL = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{0,300})?([eE][+-]?[0-9]{1,4})?")


def parse_structure(
    text: str, classes: Sequence[Any] | None = None, *, dialect: str = "polychotomy"
) -> Structure:
    """Return the structure that a text in the control language describes.

    A label is a class. ``model {a b}`` is a node that separates its first child, −1, from its
    second, +1. Lines ``model 0 1 / 2;`` before a brace are the problems of a node: numbers count
    its children from 0, and those left of the slash are on the −1 side. A model is a name, or a
    quoted string of options, ``""`` for none. Labels are numbers, bare words, or anything in double
    quotes, with backslash escapes as in JSON. ``#`` begins a comment.

    Parameters
    ----------
    text : str
        At most 5 million characters and 10 000 nested braces. The codes and class lists of all
        nodes together may have 100 million entries.
    classes : sequence of labels, optional
        The known classes. Each must then occur once, and no other may. They are also found by
        their text: ``7`` can denote the class ``"7"``.
    dialect : {"polychotomy", "libagf"}, default="polychotomy"
        With ``"libagf"`` labels are integers, quoted strings have no escapes, and the options
        ``"."`` repeat the last ones at the same depth or else the parent's.

    Returns
    -------
    structure : Structure

    Raises
    ------
    StructureError
        (a ``ValueError``) with the line and a caret under the fault.

    References
    ----------
    Mills (2023), "Solving for multi-class: a survey and synthesis", section 6.

    Examples
    --------
    >>> from polychotomy import parse_structure
    >>> structure = parse_structure('''
    ... TreeVsField {                      # Mills' example
    ...   EvergreenVsDeciduous {0 1}
    ...   "C=10" {2 3}
    ... }''')
    >>> structure.problems[0].minus, structure.problems[2].options
    ((0, 1), 'C=10')
    >>> parse_structure("model 0 / 2; {oak elm}")
    Traceback (most recent call last):
        ...
    polychotomy.errors.StructureError: line 1, column 11: there is no child 2: ...
    model 0 / 2; {oak elm}
              ^
    """
    check_dialect(dialect)
    if not isinstance(text, str):
        raise StructureError(f"The text must be a string. Got {type(text).__name__}.")
    if len(text) > MAX_CHARACTERS:
        raise StructureError(
            f"The text may have at most {MAX_CHARACTERS} characters. Got {len(text)}."
        )
    try:
        return _parse(text, StructureTransformer(_Labels(classes), dialect), Roles(dialect))
    except _FaultError as fault:
        raise _error_at(text, str(fault), fault.position) from None


class _FaultError(Exception):
    """A fault in the text and its position."""

    def __init__(self, message: str, at: "Token | int") -> None:
        super().__init__(message)
        self.position = at if isinstance(at, int) else at.start_pos or 0


def _error_at(text: str, message: str, position: int) -> StructureError:
    """Return the error that shows the line with a caret under the fault."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position) % (len(text) + 1)
    line, column = text.count("\n", 0, position) + 1, position - start + 1
    first = max(start, position - _SHOWN // 2)
    before, after = "…" * (first > start), "…" * (first + _SHOWN < end)
    shown = "".join(
        c if c.isprintable() else " " if c.isspace() else "�"  # tabs would move the caret
        for c in text[first : min(end, first + _SHOWN)]
    )
    caret = " " * (len(before) + position - first) + "^"
    return StructureError(
        f"line {line}, column {column}: {message}\n{before}{shown}{after}\n{caret}",
        line=line,
        column=column,
    )


def _parse(text: str, builder: "StructureTransformer", roles: "Roles") -> Structure:
    from lark import Lark, UnexpectedCharacters, UnexpectedToken

    grammar = files("polychotomy.structures").joinpath("control.lark").read_text("utf-8")
    lark = Lark(
        grammar, start="branch", parser="lalr", lexer="basic", transformer=builder, postlex=roles
    )
    try:
        structure: Any = lark.parse(text)  # the builder's result for the topmost rule
    except UnexpectedCharacters as error:
        raise _wrong_character(text, error.pos_in_stream or 0) from None
    except UnexpectedToken as error:
        raise _wrong_token(text, error.token, set(error.accepts or error.expected)) from None
    builder.labels.check_complete(text)
    assert isinstance(structure, Structure)
    return structure


def _wrong_character(text: str, position: int) -> _FaultError:
    if text[position] == '"':
        return _FaultError("the quotation marks opened here are not closed on this line", position)
    named = repr(text[position]) if text[position].isprintable() else ascii(text[position])
    return _FaultError(
        f"{named} is not allowed here; put labels that need it in double quotes", position
    )


def _wrong_token(text: str, token: "Token", expected: set[str]) -> _FaultError:
    if token.type == "$END":
        if not text.strip():
            return _FaultError("there is no structure: the text is empty", 0)
        return _FaultError("the text ends in the middle of a structure", len(text.rstrip()))
    if "INDEX" in expected and token.type in ("SLASH", "SEMICOLON"):
        return _FaultError("a side of the problem is empty: name children, counted from 0", token)
    if "SEMICOLON" in expected:
        return _FaultError(
            "the problem must continue with children, counted from 0, or end in ';'", token
        )
    if "INDEX" in expected:
        return _FaultError("a problem names children of its node, counted from 0", token)
    if token.type == "RBRACE" and "CLASS" in expected:
        return _FaultError("a node without children: its braces need at least two", token)
    if token.type == "LBRACE":
        return _FaultError(
            "a name, or options in quotation marks, is missing before this brace", token
        )
    if "LBRACE" in expected:
        return _FaultError("a node's problems must be followed by its children in braces", token)
    return _FaultError("this is not allowed here; problems are written  model 0 1 / 2;", token)


class Roles:
    """Assigns roles to names, strings and numbers, by the tokens that follow them.

    A name or string is a model (``TWOCLASS``) if a brace follows, or numbers and then a slash;
    otherwise it is a class. A number is an ``INDEX`` between a model and its semicolon, otherwise
    it is a class. Braces are counted along the way.
    """

    always_accept = ("NAME", "NUMBER", "STRING")

    def __init__(self, dialect: str) -> None:
        self._open: list[Token] = []
        self._last: dict[int, str] = {}  # options at each depth, which "." repeats in libAGF
        self._repeats = dialect == "libagf"

    def process(self, stream: Iterator["Token"]) -> Iterator["Token"]:
        """Yield the tokens of `stream` with their roles, up to the end of one structure."""
        complete = False
        for token in self._with_roles(stream):
            if complete and token.type != "RBRACE":
                raise _FaultError(
                    "the structure is complete before this (labels with spaces need double quotes, "
                    "and problems count children:  model 0 1 / 2;)",
                    token,
                )
            self._count(token)
            yield token
            complete = not self._open and token.type in ("CLASS", "RBRACE")
        if self._open:
            raise _FaultError("this brace is never closed", self._open[-1])

    def _with_roles(self, stream: Iterator["Token"]) -> Iterator["Token"]:
        held: list[Token] = []  # a name or string, and the numbers after it
        sides: list[set[str]] = []  # the numbers after it, left and right of a slash
        for token in stream:
            if token.type == "NUMBER" and sides:
                _add_once(token, sides)
                if len(sides) == 1:
                    held.append(token)
                else:
                    yield token.update(type="INDEX")
                continue
            if held:
                is_problem = token.type == "SLASH"
                is_model = is_problem or (token.type == "LBRACE" and len(held) == 1)
                yield self._model(held[0]) if is_model else held[0].update(type="CLASS")
                role = "INDEX" if is_problem else "CLASS"
                yield from (number.update(type=role) for number in held[1:])
                sides = [*sides, set()] if is_problem else []
                held = []
            elif token.type != "SLASH":
                sides = []
            if token.type in ("NAME", "STRING"):
                held, sides = [token], [set()]
                continue
            yield token.update(type="CLASS") if token.type == "NUMBER" else token
        yield from (token.update(type="CLASS") for token in held)

    def _count(self, token: "Token") -> None:
        if token.type == "LBRACE":
            self._open.append(token)
            if len(self._open) > MAX_DEPTH:
                raise _FaultError(f"braces may be nested at most {MAX_DEPTH} deep", token)
        elif token.type == "RBRACE":
            if not self._open:
                raise _FaultError("there is no open brace for this one to close", token)
            self._open.pop()
            self._last.pop(len(self._open) + 2, None)  # as libAGF does, when a node ends

    def _model(self, token: "Token") -> "Token":
        """Return a model's token, with the options that it repeats, if it does."""
        depth, options = len(self._open), str(token)
        if self._repeats and token.type == "STRING":
            if options == '"."':
                options = self._last.get(depth) or self._last.get(depth - 1) or '""'
            self._last[depth] = options
        return token.update(type="TWOCLASS", value=options)


def _add_once(token: "Token", sides: list[set[str]]) -> None:
    """Record a number of a problem, or of classes in a row, which may occur only once."""
    number = str(token)
    if number in sides[0] or number in sides[-1]:
        where = "on both sides of the problem" if number not in sides[-1] else "twice in a row"
        raise _FaultError(f"{number[:20]} occurs {where}", token)
    sides[-1].add(number)


class _Labels:
    """The classes found so far, and the known classes."""

    def __init__(self, classes: Sequence[Any] | None) -> None:
        self._found: dict[Label, int] = {}
        self._known = None if classes is None else KnownLabels(classes)

    def find(self, label: Label, text: str, token: "Token") -> Label:
        """Return the class, which must be known and new, and record its position."""
        if self._known is not None:
            found = self._known.find(label, text)
            if found is None:
                raise _FaultError(f"there is no class {text!r}; {self._known.words()}", token)
            label = found
        if label in self._found:
            hint = " (labels with spaces need double quotes)" if token.isalpha() else ""
            raise _FaultError(f"the class {label!r} occurs twice{hint}", token)
        self._found[label] = token.start_pos or 0
        return label

    def check_complete(self, text: str) -> None:
        known = () if self._known is None else self._known.labels
        missing = [label for label in known if label not in self._found]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise _FaultError(f"the class {missing[0]!r}{more} is missing", len(text.rstrip()))


class StructureTransformer:
    """Builds structures: a method for each rule of the grammar, called from the inside out."""

    def __init__(self, labels: _Labels, dialect: str) -> None:
        self.labels = labels
        self._libagf = dialect == "libagf"
        self._size = 0

    def branch(self, parts: list[Any]) -> Structure:
        """Return a class, or a node of a model and its children."""
        if len(parts) == 1:
            return Structure.of_class(self._label(parts[0]))
        model, children = parts
        tokens = [partition[0] for partition in model] if isinstance(model, list) else [model]
        self._size += sum(len(tokens) + child.n_classes for child in children)
        if self._size > MAX_ENTRIES:
            raise _FaultError(
                f"the structure is too large: its codes and the class lists of its nodes may have "
                f"{MAX_ENTRIES} entries",
                tokens[0],
            )
        if isinstance(model, list):
            matrix = _matrix(model, len(children))
        else:
            if len(children) != 2:
                raise _FaultError(
                    f"a model separates two children and this has {len(children)}; for other "
                    "numbers write problems,  model 0 1 / 2;  before the brace (labels with spaces "
                    "need double quotes)",
                    model,
                )
            matrix = np.array([[-1], [1]], dtype=np.int8)
        quoted = [token.startswith('"') for token in tokens]
        models = list(zip(tokens, quoted, strict=True))
        names = [None if is_quoted else str(token) for token, is_quoted in models]
        options = [self._unquoted(token) if is_quoted else None for token, is_quoted in models]
        try:
            return Structure(matrix, children, names=names, options=options)
        except CodeError as error:
            reason = _CHILDREN.sub(lambda found: _CHILD_WORDS[found[0]], str(error))
            raise _FaultError(f"these problems are not a code. {reason}", tokens[0]) from None

    branch_list = partition_list = partition = list

    def class_list(self, parts: list[Any]) -> list[tuple[int, "Token"]]:
        """Return the children's numbers with their tokens."""
        if not all(token.isdecimal() and len(token) < 9 for token in parts):
            wrong = next(token for token in parts if not (token.isdecimal() and len(token) < 9))
            raise _FaultError("a problem names children of its node, counted from 0", wrong)
        return [(int(token), token) for token in parts]

    def _label(self, token: "Token") -> Label:
        text = str(token)
        if self._libagf and not (text.isascii() and text.isdecimal()):
            raise _FaultError(
                "classes are integers in libAGF's files (and its direct classifiers, which have no "
                "binary problems, cannot be read)",
                token,
            )
        value: Label = text
        if text.startswith('"'):
            value = text = self._unquoted(token)
        elif text in RESERVED:
            value = RESERVED[text]
        elif text[0] in "+-0123456789":
            if _INTEGER.fullmatch(text):
                value = int(text)
            elif _REAL.fullmatch(text) and np.isfinite(float(text)):
                value = float(text)
            else:
                raise _FaultError(
                    "this is not a number; labels that begin like one need double quotes", token
                )
        return self.labels.find(value, text, token)

    def _unquoted(self, token: "Token") -> str:
        if self._libagf:
            return token[1:-1]
        try:
            return str(json.loads(token, strict=False))
        except json.JSONDecodeError as error:
            at = (token.start_pos or 0) + error.pos
            raise _FaultError("a backslash must begin an escape as in JSON", at) from None


def _matrix(partitions: list[Any], n_children: int) -> Matrix:
    """Return the code's matrix from partitions (token, −1 side, +1 side)."""
    matrix = np.zeros((n_children, len(partitions)), dtype=np.int8)
    for s, (_, minus, plus) in enumerate(partitions):
        for side, members in ((-1, minus), (1, plus)):
            for child, token in members:
                if child >= n_children:
                    raise _FaultError(
                        f"there is no child {child}: the node has {n_children}, counted from 0",
                        token,
                    )
                if matrix[child, s]:
                    raise _FaultError(f"the child {child} occurs twice in the problem", token)
                matrix[child, s] = side
    return matrix
