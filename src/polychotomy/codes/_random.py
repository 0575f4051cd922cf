"""Random codes: the largest row distance of many draws (Allwein et al., section 6).

A draw is abandoned as soon as two of its codewords are no farther apart than those of the best
draw so far. Codewords are therefore drawn in blocks: with many classes most draws end after a
few blocks, and time is spent only on draws that can still win.
"""

from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Matrix
from polychotomy.codes._code import Code, _largest_dot, equal_rows
from polychotomy.codes._distinct import distinct_problems
from polychotomy.codes._parameters import check_int
from polychotomy.errors import CodeError
from polychotomy.memory import check_room

# With fewer classes than this a column may be one-sided by chance; it is then drawn again.
_FEW_CLASSES = 64
_BATCH_ENTRIES = 2**21
_ENUMERABLE = 2**20
_FEW_PROBLEMS = 2**8
_FEW_TERNARY = 5  # classes, of which there are 90 sparse problems
_FEW_TRIES = 100
_TRIES = 10_000
_WORTHWHILE_ENTRIES = 2**28


@dataclass(frozen=True)
class _Alphabet:
    """The entries to draw from, uniformly; the sparse code lists 0 twice."""

    symbols: tuple[int, ...]

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Matrix:
        picks = rng.integers(0, len(self.symbols), size=shape, dtype=np.int8)
        return np.array(self.symbols, dtype=np.int8)[picks]

    def codewords(self, n_problems: int) -> Matrix:
        """Return all possible codewords, for codes so short that random ones would repeat."""
        letters = np.unique(self.symbols)
        grid = np.meshgrid(*[letters] * n_problems, indexing="ij")
        return np.stack(grid, axis=-1).reshape(-1, n_problems).astype(np.int8)


def dense_random(
    n_classes: int,
    *,
    n_problems: int | None = None,
    n_tries: int | None = None,
    random_state: Any = None,
) -> Code:
    """Return the best of many random codes over {−1, +1}.

    No problem comes twice, nor its complement, while there are others: there are 2^(k−1) − 1, fewer
    than the default number of problems for up to five classes, where they come again in turn.

    Parameters
    ----------
    n_classes : int
        Number of classes, k.
    n_problems : int, optional
        Number of problems; by default ⌈10 log₂ k⌉.
    n_tries : int, optional
        How many codes to draw; the one with the largest row distance is kept. By default 10 000,
        and fewer from about 300 classes on, where further draws hardly gain anything.
    random_state : int, RandomState, Generator or None, default=None
        Pass an int for the same code every time.

    Raises
    ------
    CodeError
        If so few problems cannot give `n_classes` different codewords.

    Examples
    --------
    >>> from polychotomy.codes import dense_random
    >>> code = dense_random(8, random_state=0)
    >>> code.n_problems, code.is_strict, code.row_distance >= 10
    (30, True, True)
    """
    return _best_draw(
        "dense_random", _Alphabet((-1, 1)), 10, n_classes, n_problems, n_tries, random_state
    )


def sparse_random(
    n_classes: int,
    *,
    n_problems: int | None = None,
    n_tries: int | None = None,
    random_state: Any = None,
) -> Code:
    """Return the best of many random codes over {−1, 0, +1}.

    Entries are drawn with 0 as likely as the two sides together. As every problem must have two
    sides, the share of zeros is ½ (1 − 2·¾^(k−1) + ½^(k−1)) / (1 − 2·¾^k + ½^k), 48 % for ten
    classes, and half of the entries for many; the choice of the best draw changes it by a few
    points. No problem comes twice, nor its complement, while there are others: there are
    (3^k − 2^(k+1) + 1) / 2, fewer than the default number of problems for up to four classes, where
    they come again in turn. With few classes there are therefore fewer zeros.

    Parameters
    ----------
    n_classes : int
        Number of classes, k.
    n_problems : int, optional
        Number of problems; by default ⌈15 log₂ k⌉.
    n_tries : int, optional
        How many codes to draw; the one with the largest row distance is kept. By default 10 000,
        and fewer from about 300 classes on, where further draws hardly gain anything.
    random_state : int, RandomState, Generator or None, default=None
        Pass an int for the same code every time.

    Raises
    ------
    CodeError
        If so few problems cannot give `n_classes` different codewords.

    Examples
    --------
    >>> from polychotomy.codes import sparse_random
    >>> code = sparse_random(8, random_state=0)
    >>> code.n_problems, code.is_strict, code.row_distance >= 18
    (45, False, True)
    """
    return _best_draw(
        "sparse_random", _Alphabet((-1, 0, 0, 1)), 15, n_classes, n_problems, n_tries, random_state
    )


def _best_draw(
    name: str,
    alphabet: _Alphabet,
    factor: int,
    n_classes: int,
    n_problems: int | None,
    n_tries: int | None,
    random_state: Any,
) -> Code:
    k = check_int("n_classes", n_classes, least=2)
    usual = ceil(factor * log2(k))
    ell = usual if n_problems is None else check_int("n_problems", n_problems)
    # A draw, and its copy in single precision that is multiplied.
    advice = f"Take fewer problems: {name} has {usual} for so many classes by default."
    check_room({f"a code of {k} classes and {ell} problems": 5 * k * ell}, advice)
    if n_tries is None:
        n_tries = min(_TRIES, max(1, _WORTHWHILE_ENTRIES // (k * ell)))
    n_tries = check_int("n_tries", n_tries)
    rng = np.random.default_rng(random_state)
    n_words = len(set(alphabet.symbols)) ** ell
    crowded = n_words <= min(k * k, _ENUMERABLE)  # independent draws would probably repeat
    draw = _draw_different if crowded else _screen
    best = draw(alphabet, k, ell, n_tries, rng)
    if best is None:
        raise CodeError(
            f"None of {n_tries} draws with n_problems={ell} gave {k} classes different codewords "
            f"and every problem two sides. Give more problems (at least {ceil(log2(k))}; "
            f"{name} uses {usual} by default) or a larger 'n_tries'."
        )
    return Code(best, name=name)


def _screen(
    alphabet: _Alphabet, k: int, ell: int, n_tries: int, rng: np.random.Generator
) -> Matrix | None:
    """Return the valid draw whose largest dot product between codewords is the smallest."""
    best, limit = None, float(ell + 1)
    batch = max(1, min(n_tries, _BATCH_ENTRIES // (k * ell)))
    for start in range(0, n_tries, batch):
        draws, dots = _draw_below(alphabet, (min(batch, n_tries - start), k, ell), limit, rng)
        for i in np.argsort(dots, kind="stable"):
            if dots[i] >= limit:
                break
            if _is_code(draws[i]):
                best, limit = draws[i], dots[i]
                break
    return best


def _draw_below(
    alphabet: _Alphabet, shape: tuple[int, int, int], limit: float, rng: np.random.Generator
) -> tuple[Matrix, NDArray[np.float32]]:
    """Draw codes row block by row block and return those whose dot products stay below `limit`.

    Returns the surviving codes and the largest dot product between two codewords of each.
    """
    n, k, ell = shape
    draws = np.empty((n, 0, ell), dtype=np.int8)
    largest = np.full(n, -np.inf, dtype=np.float32)
    for start in range(0, k, _FEW_CLASSES):
        n_rows = min(_FEW_CLASSES, k - start)
        rows = (
            _draw_two_sided(alphabet, (len(draws), n_rows, ell), rng)
            if k <= _FEW_CLASSES
            else alphabet.draw((len(draws), n_rows, ell), rng)
        )
        draws = np.concatenate([draws, rows], axis=1)
        floats = draws.astype(np.float32)
        dots = floats[:, start:] @ floats.transpose(0, 2, 1)
        itself = np.arange(n_rows)
        dots[:, itself, start + itself] = -np.inf
        largest = np.maximum(largest, dots.max(axis=(1, 2)))
        alive = largest < limit
        draws, largest = draws[alive], largest[alive]
        if not len(draws):
            break
    return draws, largest


def _draw_two_sided(
    alphabet: _Alphabet, shape: tuple[int, int, int], rng: np.random.Generator
) -> Matrix:
    """Draw codes whose columns have a class on either side, none again before all of them."""
    n, k, ell = shape
    if 0 not in alphabet.symbols:
        return _draw_distinct(shape, rng)
    if k <= _FEW_TERNARY or (3**k - 2 ** (k + 1) + 1) // 2 < 2 * ell:
        return _draw_in_turn(_ternary_problems(k), shape, rng)
    columns = np.empty((k, n * ell), dtype=np.int8)
    factors = rng.integers(1, 2**63, size=(k, 1), dtype=np.int64)
    missing = np.arange(n * ell)
    while missing.size:
        fresh = alphabet.draw((k, missing.size), rng)
        columns[:, missing] = fresh
        missing = missing[(fresh.max(axis=0) < 1) | (fresh.min(axis=0) > -1)]
        if not missing.size:
            missing = _repeated(columns, factors, n)
    return columns.reshape(k, n, ell).transpose(1, 0, 2)


def _repeated(columns: Matrix, factors: NDArray[np.int64], n: int) -> NDArray[np.intp]:
    """Return which columns equal another one of their code, or its complement, except the first.

    Columns are compared by a product with random factors, the same up to the sign.
    """
    keys = np.abs((columns * factors).sum(axis=0)).reshape(n, -1)
    order = keys.argsort(axis=1, kind="stable")
    ordered = np.take_along_axis(keys, order, axis=1)
    draw, place = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
    return np.asarray(draw * keys.shape[1] + order[draw, place + 1])


def _ternary_problems(k: int) -> Matrix:
    """Return all problems of k classes as columns, of complementary ones the first."""
    grid = np.meshgrid(*[np.array([-1, 0, 1], dtype=np.int8)] * k, indexing="ij")
    columns = np.stack(grid).reshape(k, -1)
    columns = columns[:, : columns.shape[1] // 2]  # the other half are their complements
    return columns[:, (columns.max(axis=0) == 1) & (columns.min(axis=0) == -1)]


def _draw_in_turn(
    problems: Matrix, shape: tuple[int, int, int], rng: np.random.Generator
) -> Matrix:
    """Draw codes of these problems without replacement, and again when all of them are drawn.

    A problem is as likely as its entries, 0 being twice as likely as either side: the largest
    weights with Gumbel noise are a sample without replacement.
    """
    n, _, ell = shape
    weight = np.log(2.0) * (problems == 0).sum(axis=0)
    rounds = [
        (-weight - rng.gumbel(size=(n, len(weight)))).argsort(axis=1)
        for _ in range(ceil(ell / len(weight)))
    ]
    drawn = problems[:, np.concatenate(rounds, axis=1)[:, :ell]].transpose(1, 0, 2)
    return drawn * rng.choice(np.array([-1, 1], dtype=np.int8), size=(n, 1, ell))


def _draw_distinct(shape: tuple[int, int, int], rng: np.random.Generator) -> Matrix:
    """Draw dense codes that have no problem again before they have all of them.

    The problems of k classes are numbered from 1 to 2^(k−1) − 1, as in the exhaustive code.
    """
    n, k, ell = shape
    end = 2 ** (k - 1)
    if end <= max(_FEW_PROBLEMS, 2 * ell):
        rounds = [rng.random((n, end - 1)).argsort(axis=1) for _ in range(ceil(ell / (end - 1)))]
        numbers = np.concatenate(rounds, axis=1)[:, :ell].astype(np.uint64) + np.uint64(1)
    else:
        numbers = rng.integers(1, end, size=(n, ell), dtype=np.uint64)
        again: tuple[Any, ...] = (np.arange(n),)
        while again[0].size:
            order = numbers.argsort(axis=1)
            ordered = np.take_along_axis(numbers, order, axis=1)
            draw, place = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
            again = draw, order[draw, place + 1]
            numbers[again] = rng.integers(1, end, size=len(draw), dtype=np.uint64)
    shift = np.arange(k, dtype=np.uint64)[:, np.newaxis]
    minus = (numbers[:, np.newaxis] >> shift) & np.uint64(1)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), size=(n, 1, ell))
    return np.where(minus, -signs, signs)


def _draw_different(
    alphabet: _Alphabet, k: int, ell: int, n_tries: int, rng: np.random.Generator
) -> Matrix | None:
    """Return the best of a few draws without replacement, which suffice for short codes.

    The best has the most distinct problems and, of those, the largest row distance.
    """
    words = alphabet.codewords(ell)
    words = words[words.any(axis=1)]
    best, limit = None, (1, float(ell + 1))
    for _ in range(min(n_tries, _FEW_TRIES) if len(words) >= k else 0):
        draw = words[rng.choice(len(words), size=k, replace=False)]
        if _is_code(draw):
            found = -distinct_problems(draw).columns.shape[1], _largest_dot(draw)
            best, limit = (draw, found) if found < limit else (best, limit)
    return best


def _is_code(matrix: Matrix) -> bool:
    two_sided = (matrix.max(axis=0) == 1) & (matrix.min(axis=0) == -1)
    return bool(two_sided.all() and matrix.any(axis=1).all() and equal_rows(matrix) is None)
