"""Solutions in closed form: sums, shares, a projection, a matrix inverse."""

import numpy as np
from numpy.typing import NDArray

from polychotomy.codes import Code
from polychotomy.decoding import count_votes

Array = NDArray[np.float64]

_BLOCK_ENTRIES = 2**22


def normalise(binary: Array, code: Code) -> Array:
    """Return each class's own probability of one-vs-rest, divided by their sum."""
    positive = code.matrix.argmax(axis=0)
    own = np.empty_like(binary)
    own[:, positive] = binary
    return _shares(own)


def votes(binary: Array, code: Code) -> Array:
    """Return each class's share of the votes."""
    return _shares(count_votes(2 * binary - 1, code))


def maximum(binary: Array, code: Code) -> Array:
    """Return the largest probability that any of its problems gives a class, as shares.

    Tax and Duin's maximum rule: all problems compete, also those that know nothing of the class.
    """
    best = np.zeros((len(binary), code.n_classes))
    for q, column in zip(binary.T, code.matrix.T, strict=True):
        for sign, side in ((1, q), (-1, 1 - q)):
            members = column == sign
            best[:, members] = np.maximum(best[:, members], side[:, np.newaxis])
    return _shares(best)


def orthogonal(binary: Array, code: Code) -> Array:
    """Return Mills' iteration for strict orthogonal codes.

    There |Aᵀp − r|² = n |p − Ar/n|² + const, so p is the point of the simplex nearest to Ar/n:
    take the mean excess off all classes, drop those that become negative, and again with those
    that are left. At most k rounds.
    """
    p = (2 * binary - 1) @ code.matrix.T.astype(float) / code.n_problems
    left = np.ones(p.shape, dtype=bool)
    while True:
        excess = (np.where(left, p, 0).sum(axis=1, keepdims=True) - 1) / left.sum(
            axis=1, keepdims=True
        )
        nearest = np.where(left, p - excess, 0.0)
        if not (nearest < 0).any():
            return _shares(nearest)
        left &= nearest >= 0


def inverse(binary: Array, code: Code) -> Array:
    """Return least squares with Σp = 1 only, negative entries set to 0, as shares.

    Mills, section 2.1. As |Qp − r|² = pᵀNp on the plane Σp = 1 (see ``_compiled``), the solution is
    proportional to (N + 11ᵀ)⁻¹1. N is a polynomial of second degree in r, made for a block of
    samples by two matrix products.
    """
    A = code.matrix.astype(float)
    B = np.abs(A)
    k = code.n_classes
    linear = (np.einsum("cs,ds->scd", A, B) + np.einsum("cs,ds->scd", B, A)).reshape(-1, k * k)
    square = np.einsum("cs,ds->scd", B, B).reshape(-1, k * k)
    result = np.empty((len(binary), k))
    size = max(1, _BLOCK_ENTRIES // (k * k))
    for start in range(0, len(binary), size):
        r = 2 * binary[start : start + size] - 1
        normal = A @ A.T + (r**2 @ square - r @ linear).reshape(-1, k, k)
        result[start : start + size] = np.linalg.pinv(normal + 1, hermitian=True).sum(axis=2)
    return _shares(np.maximum(result, 0))


def _shares(scores: Array) -> Array:
    """Divide by the sum; where it is 0, nothing is known and all classes share alike."""
    total = scores.sum(axis=1, keepdims=True)
    shares = np.divide(scores, total, out=np.full_like(scores, 1.0), where=total > 0)
    return shares / shares.sum(axis=1, keepdims=True)
