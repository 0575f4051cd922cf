"""The code matrix over {−1, 0, +1}, the value that all other packages work with."""

from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polychotomy.arrays import Indices, Matrix
from polychotomy.codes._distinct import DistinctProblems, distinct_problems
from polychotomy.codes._rule_matrix import ChangedRule, RuleFacts, RuleMatrix, column_blocks
from polychotomy.errors import CodeError

_SYMBOLS = {1: "+", 0: "·", -1: "−"}
_SHOWN_CLASSES, _SHOWN_PROBLEMS = 30, 70
_BLOCK = 1024
_MANY_PROBLEMS = 5000
_LARGEST_MATRIX = 2**31
_HASHED = 64
_RANK, _DETERMINED = 1e-9, 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Code:
    """A code matrix: the side of each class in each binary problem.

    Rows are classes and columns are problems. Problem s separates the classes with entry +1 from
    those with entry −1; classes with entry 0 take no part.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_problems)
        Entries −1, 0 and +1. No two rows may be equal, every problem needs a class on either
        side and every class must take part in a problem. Equal or complementary columns are
        legal; :meth:`describe` reports them.
    name : str, default="custom"
        Name of the code. Codes with the same matrix are equal, whatever their names.

    Attributes
    ----------
    columns : ndarray or RuleMatrix of shape (n_classes, n_problems)
        The entries; those of large codes that follow a rule are made on demand.
    n_classes, n_problems : int
        k and ℓ.
    is_searched : bool
        Whether the best classes are found without the scores of all, as in a trellis.

    Raises
    ------
    CodeError
        (a ``ValueError``) if `matrix` is not a code. The message names the class or problem at
        fault, counted from 0.

    References
    ----------
    Allwein, Schapire and Singer (2000), "Reducing multiclass to binary", JMLR 1.

    Examples
    --------
    >>> from polychotomy import Code
    >>> code = Code([[+1, +1, 0], [-1, 0, +1], [0, -1, -1]], name="pairs")
    >>> code
    Code('pairs': 3 classes, 3 problems)
    >>> print(code)
    + + ·
    − · +
    · − −
    >>> code.row_distance
    2.0
    """

    columns: Matrix | RuleMatrix = field()
    name: str = "custom"
    n_classes: int = field(init=False)
    n_problems: int = field(init=False)
    is_searched: bool = field(init=False)
    _facts: RuleFacts | None = field(init=False)

    def __init__(self, matrix: ArrayLike | RuleMatrix, name: str = "custom") -> None:
        own = vars(self)
        own["columns"], own["name"] = matrix, str(name)
        own["_facts"], own["is_searched"] = None, False
        if isinstance(matrix, RuleMatrix):
            own["_facts"], own["is_searched"] = matrix.facts, matrix.searches
        else:
            entries = check_entries(matrix)
            _check_code(entries)
            own["columns"] = own["matrix"] = _frozen(entries)
        own["n_classes"], own["n_problems"] = self.columns.shape

    @cached_property
    def matrix(self) -> Matrix:
        """The entries −1, 0 and +1, shape (n_classes, n_problems).

        Large codes that follow a rule are not held as a matrix: it is made when first asked for.
        """
        size = self.n_classes * self.n_problems
        if size > _LARGEST_MATRIX:
            raise CodeError(
                f"The matrix of {self.n_classes} classes and {self.n_problems} problems would take "
                f"{size / 2**30:.1f} GiB. Use parts of it, code.columns[:, problems]."
            )
        return _frozen(np.asarray(self.columns))

    @cached_property
    def is_strict(self) -> bool:
        """Whether every class takes part in every problem (no zero in the matrix)."""
        return self._facts.is_strict if self._facts else bool(self.matrix.all())

    @cached_property
    def row_distance(self) -> float:
        """Minimum generalised Hamming distance ρ between two classes' codewords."""
        if self._facts:
            return self._facts.row_distance
        return (self.n_problems - _largest_dot(self.matrix)) / 2

    @cached_property
    def column_distance(self) -> float:
        """Minimum generalised Hamming distance between two problems, or one's complement.

        Infinite for a code with a single problem.
        """
        if self.n_problems == 1:
            return inf
        if self._facts:
            return self._facts.column_distance
        return (self.n_classes - _largest_dot(self.matrix.T, absolute=True)) / 2

    @cached_property
    def distinct(self) -> DistinctProblems:
        """The different problems: identical and complementary columns merged, in order."""
        return distinct_problems(self.columns)

    @cached_property
    def is_one_vs_rest(self) -> bool:
        """Whether each problem has one class as +1 against all others, each class once."""
        if self._facts:
            return self._facts.kind == "one_vs_rest"
        k, ell = self.matrix.shape
        if ell != k or not self.is_strict:
            return False
        plus = self.matrix == 1
        return bool((plus.sum(axis=0) == 1).all() and (plus.sum(axis=1) == 1).all())

    @cached_property
    def is_one_vs_one(self) -> bool:
        """Whether the problems are all pairs of classes, each once, in any order."""
        if self._facts:
            return self._facts.kind == "one_vs_one"
        k, ell = self.matrix.shape
        if ell != k * (k - 1) // 2 or not (np.abs(self.matrix).sum(axis=0) == 2).all():
            return False
        return self.distinct.columns.shape[1] == ell

    @cached_property
    def unidentified(self) -> tuple[int, ...]:
        """Classes whose probabilities the binary probabilities do not determine; usually none.

        At an interior point p the exact binary probabilities satisfy Bp = 0, with
        B_sc = A_cs − r_s |A_cs|. The probability of a class is determined if no direction d with
        Bd = 0 and Σd = 0 changes it. This holds either at almost every p or at none.

        Examples
        --------
        >>> from polychotomy import Code
        >>> Code([[1, 1], [1, -1], [-1, 1], [-1, -1]]).unidentified
        (0, 1, 2, 3)
        """
        if self._facts:  # the rules that there are determine all probabilities
            return ()
        A = self.matrix.T.astype(float)
        p = np.random.default_rng(0).dirichlet(np.full(self.n_classes, 5.0))
        r = (A @ p) / (np.abs(A) @ p)
        equations = np.vstack([A - r[:, np.newaxis] * np.abs(A), np.ones(self.n_classes)])
        if self.n_problems > self.n_classes:
            equations = equations.T @ equations
        _, sizes, directions = np.linalg.svd(equations, full_matrices=False)
        known = directions[sizes > _RANK * sizes[0]]
        # What lies in the span of the equations is determined: a unit vector as long as its shadow.
        return tuple(int(c) for c in np.flatnonzero((known**2).sum(axis=0) < 1 - _DETERMINED))

    def reordered(self, rows: Indices) -> "Code":
        """Return the code whose class c has the codeword of class ``rows[c]``.

        Examples
        --------
        >>> from polychotomy.codes import adjacent
        >>> print(adjacent(3).reordered([2, 0, 1]))
        + +
        − −
        + −
        """
        rows = np.asarray(rows)
        if isinstance(self.columns, np.ndarray):
            return Code(self.columns[rows], name=self.name)
        same = np.ones(self.n_problems, dtype=np.int8)
        return Code(ChangedRule(self.columns, rows, same), name=self.name)

    def assigned(self, distances: ArrayLike, *, similar: bool = True) -> "Code":
        """Return the code in which similar classes have similar codewords, or the opposite.

        See :func:`~polychotomy.codes.assigned`.
        """
        from polychotomy.codes._assignment import assigned

        return assigned(self, distances, similar=similar)

    def describe(self) -> str:
        """Return a summary of the code in words: sizes, distances, repeated problems.

        Examples
        --------
        >>> from polychotomy import make_code
        >>> print(make_code("one_vs_rest", 4).describe())
        one_vs_rest: 4 classes, 4 problems, strict (every class in every problem)
        row distance 2 (corrects up to 0 wrong problems)
        column distance 2
        classes per problem: 4; on the smaller side: 1
        no problem is repeated
        """
        parts = [
            (np.abs(block).sum(axis=0, dtype=int), np.abs(block.sum(axis=0, dtype=int)))
            for _, block in column_blocks(self.columns)
        ]
        taking_part, surplus = (np.concatenate(each) for each in zip(*parts, strict=True))
        smaller = (taking_part - surplus) // 2
        strict = "strict (every class in every problem)" if self.is_strict else "with zeros"
        return "\n".join(
            (
                f"{self.name}: {self.n_classes} classes, {self.n_problems} problems, {strict}",
                f"row distance {self.row_distance:g}{self._describe_correction()}",
                self._describe_columns(),
                f"classes per problem: {_span(taking_part)}; on the smaller side: {_span(smaller)}",
                self._describe_repeats(),
                *self._describe_identification(),
            )
        )

    def draw(self) -> str:
        """Return the whole matrix as signs, a line for each class; ``str`` shows only the first.

        Examples
        --------
        >>> from polychotomy.codes import one_vs_one
        >>> print(one_vs_one(3).draw())
        + + ·
        − · +
        · − −
        """
        return "\n".join(_signs(self.matrix))

    def _describe_identification(self) -> list[str]:
        if not self.unidentified:
            return []
        named = ", ".join(map(str, self.unidentified[:10]))
        more = f" and {len(self.unidentified) - 10} more" if len(self.unidentified) > 10 else ""
        return [f"probabilities are not identified: those of the classes {named}{more}"]

    def _describe_columns(self) -> str:
        if self.n_problems > _MANY_PROBLEMS:
            return f"column distance not computed for more than {_MANY_PROBLEMS} problems"
        return f"column distance {self.column_distance:g}"

    def _describe_correction(self) -> str:
        if not self.is_strict:  # the output is arbitrary where a class takes no part
            return ""
        return f" (corrects up to {int(np.ceil(self.row_distance / 2) - 1)} wrong problems)"

    def _describe_repeats(self) -> str:
        index, sign = self.distinct.index, self.distinct.sign
        _, first = np.unique(index, return_index=True)
        original = first[index]
        repeats = np.flatnonzero(original != np.arange(self.n_problems))
        if not repeats.size:
            return "no problem is repeated"
        words = [
            f"{s} {'repeats' if sign[s] == sign[original[s]] else 'is the complement of'} "
            f"{original[s]}"
            for s in repeats[:10]
        ]
        more = f", and {repeats.size - 10} more" if repeats.size > 10 else ""
        return f"repeated problems (trained once): {', '.join(words)}{more}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Code):
            return NotImplemented
        if self.columns.shape != other.columns.shape:
            return False
        return all(
            np.array_equal(block, other.columns[:, columns])
            for columns, block in column_blocks(self.columns)
        )

    def __hash__(self) -> int:
        return hash((self.columns.shape, self.columns[:, :_HASHED].tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        columns = self.columns
        return type(self), (
            np.array(columns) if isinstance(columns, np.ndarray) else columns,
            self.name,
        )

    def __repr__(self) -> str:
        return f"Code({self.name!r}: {self.n_classes} classes, {self.n_problems} problems)"

    def __str__(self) -> str:
        shown = self.columns[:_SHOWN_CLASSES, :_SHOWN_PROBLEMS]
        wide, tall = self.n_problems > _SHOWN_PROBLEMS, self.n_classes > _SHOWN_CLASSES
        lines = [row + (" …" if wide else "") for row in _signs(shown)]
        return "\n".join([*lines, "⋮"] if tall else lines)

    def _repr_html_(self) -> str:
        colours = {1: "#2166ac", 0: "#f0f0f0", -1: "#b2182b"}
        cells = "".join(
            f"<tr><th>{r}</th>"
            + "".join(
                f'<td style="background:{colours[int(a)]};color:{"#666" if a == 0 else "#fff"}">'
                f"{_SYMBOLS[int(a)]}</td>"
                for a in row
            )
            + "</tr>"
            for r, row in enumerate(self.columns[:_SHOWN_CLASSES, :_SHOWN_PROBLEMS])
        )
        figures = escape(self.describe()).replace("\n", "<br>")
        cut = self.n_classes > _SHOWN_CLASSES or self.n_problems > _SHOWN_PROBLEMS
        note = (
            f"<p>first {_SHOWN_CLASSES} classes and {_SHOWN_PROBLEMS} problems</p>" if cut else ""
        )
        return f"<div><p>{figures}</p><table>{cells}</table>{note}</div>"


def _signs(matrix: Matrix) -> list[str]:
    return [" ".join(_SYMBOLS[int(a)] for a in row) for row in matrix]


def hamming_distance(u: ArrayLike, v: ArrayLike) -> float:
    """Return the generalised Hamming distance Δ(u, v) = Σ (1 − u_s v_s) / 2.

    Equal signs count 0, opposite signs 1, and a zero on either side one half.

    Examples
    --------
    >>> from polychotomy.codes import hamming_distance
    >>> hamming_distance([1, -1, 0, 0, -1], [1, 1, 1, 0, -1])
    2.0
    """
    a, b = check_entries([u], what="u")[0], check_entries([v], what="v")[0]
    if a.shape != b.shape:
        raise ValueError(f"u and v must have the same length. Got {a.size} and {b.size}.")
    return float((a.size - a.astype(int) @ b.astype(int)) / 2)


def check_entries(matrix: object, what: str = "a code matrix") -> Matrix:
    """Return `matrix` as a two-dimensional int8 array of −1, 0 and +1, or raise CodeError."""
    if isinstance(matrix, Code):
        return matrix.matrix
    try:
        entries = np.asarray(matrix)
    except ValueError as error:
        raise CodeError(f"{what} must be rectangular: {error}") from error
    if entries.ndim != 2 or 0 in entries.shape:
        raise CodeError(
            f"{what} must be two-dimensional, classes × problems, and not empty. "
            f"Got shape {entries.shape}."
        )
    if entries.dtype.kind not in "iufb":
        raise CodeError(f"{what} must hold numbers −1, 0 and +1. Got dtype {entries.dtype}.")
    wrong = np.argwhere((entries != -1) & (entries != 0) & (entries != 1))
    if wrong.size:
        r, s = wrong[0]
        raise CodeError(
            f"Every entry of {what} must be −1, 0 or +1. "
            f"Got {entries[r, s]} for class {r} in problem {s}."
        )
    return entries.astype(np.int8)


def _check_code(matrix: Matrix) -> None:
    if matrix.shape[0] < 2:
        raise CodeError("A code needs at least two classes (rows). Got 1.")
    idle = np.flatnonzero(~matrix.any(axis=1))
    if idle.size:
        raise CodeError(
            f"Every class must take part in a problem. Class {idle[0]} has only zeros in its row."
        )
    for side, sign in ((matrix == 1, "+1"), (matrix == -1, "−1")):
        empty = np.flatnonzero(~side.any(axis=0))
        if empty.size:
            raise CodeError(
                f"Every problem needs at least one class on either side. "
                f"Problem {empty[0]} has no class with {sign}."
            )
    twins = equal_rows(matrix)
    if twins is not None:
        raise CodeError(
            "No two classes may have the same codeword: decoding could not distinguish them. "
            f"Classes {twins[0]} and {twins[1]} have the same row."
        )


def _frozen(entries: Matrix) -> Matrix:
    """Return entries backed by bytes, so that the array cannot be made writeable again."""
    return np.frombuffer(entries.tobytes(), dtype=np.int8).reshape(entries.shape)


def equal_rows(matrix: Matrix) -> tuple[int, int] | None:
    """Return the first pair of equal rows, or None."""
    _, first, inverse = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
    original = first[inverse.ravel()]
    repeats = np.flatnonzero(original != np.arange(len(matrix)))
    return (int(original[repeats[0]]), int(repeats[0])) if repeats.size else None


def _largest_dot(vectors: Matrix, absolute: bool = False) -> int:
    """Return the largest (absolute) dot product of two different rows, a block at a time."""
    floats = np.ascontiguousarray(vectors, dtype=np.float32)
    largest = -inf
    for start in range(0, len(floats), _BLOCK):
        dots = floats[start : start + _BLOCK] @ floats[start:].T
        if absolute:
            np.abs(dots, out=dots)
        np.fill_diagonal(dots, -inf)
        largest = max(largest, float(dots.max()))
    return int(largest)


def _span(counts: NDArray[np.int_]) -> str:
    low, high = counts.min(), counts.max()
    return f"{low}" if low == high else f"{low} to {high}"
