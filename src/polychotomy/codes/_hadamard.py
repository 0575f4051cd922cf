"""Orthogonal codes from Hadamard matrices: Sylvester, Paley I and II, Kronecker products."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Matrix
from polychotomy.codes._code import Code
from polychotomy.codes._parameters import check_int
from polychotomy.errors import CodeError

_SIGN_TRIES = 1000


def orthogonal(n_classes: int) -> Code:
    """Return a strict code with orthogonal rows: all classes are equally far from each other.

    The rows come from a Hadamard matrix of order n, the smallest n ≥ k that Sylvester's and
    Paley's constructions and Kronecker products give (k rounded up to a multiple of 4, except
    for 92, 116, 156, 172, 184, 188, …). So there are n problems, and the row distance is n/2.
    Some rows are multiplied by −1, which keeps them orthogonal, so that no problem is one-sided.
    The signs are the best of a thousand draws with a fixed seed: they make the most unbalanced
    problem as balanced as possible.

    With 2 or 3 classes no such code exists: orthogonality forces a problem with all classes on
    the same side.

    Parameters
    ----------
    n_classes : int
        Number of classes, k, at least 4.

    Raises
    ------
    CodeError
        For fewer than 4 classes.

    References
    ----------
    Mills (2023), "Solving for multi-class: a survey and synthesis", section 3.5.

    Examples
    --------
    >>> from polychotomy.codes import orthogonal
    >>> A = orthogonal(6).matrix.astype(int)
    >>> A.shape, bool((A @ A.T == 8 * np.eye(6)).all())
    ((6, 8), True)
    """
    k = check_int("n_classes", n_classes, least=2)
    if k < 4:
        raise CodeError(
            f"There is no orthogonal code of {k} classes without a one-sided problem: orthogonal "
            "rows of ±1 all agree in at least a quarter of the columns. "
            "It needs at least 4 classes; use 'one_vs_rest' or 'exhaustive' instead."
        )
    order = k
    while not _is_order(order):
        order += 1
    rows = hadamard(order)[:k]
    return Code(rows * _flips(rows)[:, np.newaxis], name="orthogonal")


def hadamard(order: int) -> Matrix:
    """Return a matrix H of ±1 with H Hᵀ = n I; `order` must satisfy :func:`_is_order`."""
    if order == 1:
        return np.ones((1, 1), dtype=np.int8)
    if order == 2:
        return np.array([[1, 1], [1, -1]], dtype=np.int8)
    if left := _split(order):
        return np.kron(hadamard(left), hadamard(order // left)).astype(np.int8)
    kind, q = _paley(order)[0]
    return _paley_one(q) if kind == 1 else _paley_two(q)


@cache
def _is_order(order: int) -> bool:
    """Whether :func:`hadamard` can build this order."""
    return order in (1, 2) or bool(_split(order) or _paley(order))


def _split(order: int) -> int:
    """Return the smallest a > 1 such that a and order / a are orders, or 0."""
    for left in range(2, int(order**0.5) + 1):
        if order % left == 0 and _is_order(left) and _is_order(order // left):
            return left
    return 0


def _paley(order: int) -> list[tuple[int, int]]:
    """Return Paley's constructions (I or II) of an order and their q, true primes first."""
    found = []
    if order % 4 == 0:
        if _prime_base(order - 1):
            found.append((1, order - 1))
        if (order // 2 - 1) % 4 == 1 and _prime_base(order // 2 - 1):
            found.append((2, order // 2 - 1))
    return sorted(found, key=lambda kind_q: _prime_base(kind_q[1]) != kind_q[1])


def _prime_base(q: int) -> int:
    """Return the prime p if q is a power of it, else 0."""
    p = next((p for p in range(2, int(q**0.5) + 1) if q % p == 0), q)
    while q % p == 0 and q > 1:
        q //= p
    return p if q == 1 else 0


def _paley_one(q: int) -> Matrix:
    """I + S with S = [[0, 1], [−1, Q]], for a prime power q ≡ 3 (mod 4)."""
    skew = np.zeros((q + 1, q + 1), dtype=np.int8)
    skew[0, 1:], skew[1:, 0] = 1, -1
    skew[1:, 1:] = _jacobsthal(q)
    return skew + np.eye(q + 1, dtype=np.int8)


def _paley_two(q: int) -> Matrix:
    """S ⊗ [[1, 1], [1, −1]] + I ⊗ [[1, −1], [−1, −1]], S = [[0, 1], [1, Q]], for q ≡ 1 (mod 4)."""
    symmetric = np.ones((q + 1, q + 1), dtype=np.int8)
    symmetric[0, 0] = 0
    symmetric[1:, 1:] = _jacobsthal(q)
    ones = np.kron(symmetric, np.array([[1, 1], [1, -1]]))
    return (ones + np.kron(np.eye(q + 1), np.array([[1, -1], [-1, -1]]))).astype(np.int8)


def _jacobsthal(q: int) -> Matrix:
    """Return Q with Q_ab = χ(a − b), χ the quadratic character of the field of q elements."""
    differences, squares = _field(q)
    character = np.full(q, -1, dtype=np.int8)
    character[squares] = 1
    character[0] = 0
    return character[differences]


def _field(q: int) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Return the table of differences a − b of the field's elements, and their squares."""
    elements = np.arange(q)
    if _prime_base(q) == q:  # integers modulo q; saves loading galois
        return (elements[:, np.newaxis] - elements) % q, elements**2 % q
    import galois

    field = galois.GF(q)
    a = field(elements)
    return np.asarray(a[:, np.newaxis] - a, dtype=int), np.asarray(a * a, dtype=int)


def _flips(rows: Matrix) -> Matrix:
    """Return a sign per class that makes the problems as balanced as possible.

    Problem s becomes one-sided if the signs equal its column or its complement. Signs are drawn
    with a fixed seed and the best are kept. From 4 classes on, valid signs always exist: there
    are more ways to flip at most two rows than columns.
    """
    rng = np.random.default_rng(0)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), size=(_SIGN_TRIES, len(rows)))
    imbalance = np.abs(signs.astype(np.float32) @ rows).max(axis=1)
    best: Matrix = signs[imbalance.argmin()]
    return best
