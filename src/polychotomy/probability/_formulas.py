"""Methods in closed form: normalisation, votes, a projection, a matrix inverse."""

import numpy as np

from polychotomy.arrays import Array
from polychotomy.codes import Code
from polychotomy.decoding import count_votes
from polychotomy.probability import _batches

_BLOCK_ENTRIES = 2**22


def normalise(binary: Array, code: Code) -> Array:
    """Return the one-vs-rest probabilities of the classes, divided by their sum."""
    positive = code.matrix.argmax(axis=0)
    own = np.empty_like(binary)
    own[:, positive] = binary
    return _shares(own)


def votes(binary: Array, code: Code) -> Array:
    """Return each class's share of the votes."""
    return _shares(count_votes(2 * binary - 1, code))


def maximum(binary: Array, code: Code) -> Array:
    """Return the largest probability that any problem gives each class, divided by their sum.

    This is Tax and Duin's maximum rule. A sample's most confident problem may be one in which
    its class takes no part.
    """
    best = np.zeros((len(binary), code.n_classes))
    for q, column in zip(binary.T, code.matrix.T, strict=True):
        for sign, side in ((1, q), (-1, 1 - q)):
            members = column == sign
            best[:, members] = np.maximum(best[:, members], side[:, np.newaxis])
    return _shares(best)


def orthogonal(binary: Array, code: Code) -> Array:
    """Return Mills' iteration for strict orthogonal codes.

    Here |Aᵀp − r|² = n |p − Ar/n|² + const, so p is the projection of Ar/n onto the simplex:
    subtract the mean excess from all classes, set those that become negative to 0, and repeat
    with the remaining classes, at most k times.
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
    """Return least squares subject to Σp = 1 only, clipped at 0 and normalised.

    Mills, section 2.1. Where the solution is not unique, it is the one of least norm. As
    |Qp − r|² = pᵀNp on the plane Σp = 1 (see ``_compiled``), it is proportional to (N + 11ᵀ)⁺1. For
    strict codes that is p = 1/k + Z⁺(r − m) for all samples, where m is the mean of A's rows and Z
    has the columns A_c − m.
    """
    if code.is_strict:
        A = code.matrix.astype(float)
        mean = A.mean(axis=0)
        deviations = (2 * binary - 1 - mean) @ np.linalg.pinv((A - mean).T, rcond=1e-10).T
        return _shares(np.maximum(1 / code.n_classes + deviations, 0))
    result = np.empty((len(binary), code.n_classes))
    size = max(1, _BLOCK_ENTRIES // code.n_classes**2)
    for start in range(0, len(binary), size):
        normal = _batches.normal_matrices(binary[start : start + size], code)
        result[start : start + size] = np.linalg.pinv(normal + 1, hermitian=True).sum(axis=2)
    return _shares(np.maximum(result, 0))


def _shares(scores: Array) -> Array:
    """Divide each row by its sum; rows that sum to 0 become uniform."""
    total = scores.sum(axis=1, keepdims=True)
    shares = np.divide(scores, total, out=np.full_like(scores, 1.0), where=total > 0)
    return shares / shares.sum(axis=1, keepdims=True)
