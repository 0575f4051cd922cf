"""Methods in closed form: normalisation, votes, a projection, a matrix inverse."""

import numpy as np

from polychotomy.arrays import Array, Indices
from polychotomy.codes import Code, RuleMatrix, column_blocks
from polychotomy.decoding import count_votes
from polychotomy.probability import _batches

_BLOCK_ENTRIES = 2**22
_LEAST = 1e-300


def normalise(binary: Array, code: Code) -> Array:
    """Return the one-vs-rest probabilities of the classes, divided by their sum."""
    return _shares(_by_class(binary, code))


def _by_class(binary: Array, code: Code) -> Array:
    """Return the columns of a one-vs-rest code's problems in the order of the classes."""
    positive = [block.argmax(axis=0) for _, block in column_blocks(code.columns)]
    own = np.empty_like(binary)
    own[:, np.concatenate(positive)] = binary
    return own


def project(binary: Array, code: Code) -> Array:
    """Return least squares of one-vs-rest: the projection of q onto the simplex.

    On the simplex row s of Qp − r is 2 (p_s − q_s). So p = max(q − τ, 0), with the τ that makes the
    sum 1: equal probabilities stay equal, to the last bit.
    """
    own = _by_class(binary, code)
    ordered = -np.sort(-own, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, own.shape[1] + 1)
    last = (ordered > excess).sum(axis=1, keepdims=True) - 1
    return _shares(np.maximum(own - np.take_along_axis(excess, last, axis=1), 0))


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
    with the remaining classes, at most k times. With other strict codes the projection of Ar/n is
    what Mills (section 8) suggests as a general method.
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


def product(binary: Array, code: Code) -> Array:
    """Return the products of the problems' probabilities of each class's sides, normalised."""
    scores = _log_products(binary, code)
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return _shares(scores)


def best_products(binary: Array, code: Code, n_best: int) -> tuple[Indices, Array]:
    """Return the classes with the largest :func:`product`, and the products, in O(log k) steps."""
    assert isinstance(code.columns, RuleMatrix)
    sides = _log_sides(binary)
    classes, sums = code.columns.best(*sides, n_best)
    return classes, np.exp(sums - code.columns.log_sum(*sides)[:, np.newaxis])


def _log_products(binary: Array, code: Code) -> Array:
    plus, minus = _log_sides(binary)
    if isinstance(code.columns, RuleMatrix):
        return code.columns.total(plus, minus)
    return plus @ (code.matrix == 1).T + minus @ (code.matrix == -1).T


def _log_sides(binary: Array) -> tuple[Array, Array]:
    """Return the logarithms of the probabilities of both sides, none of them −∞."""
    return np.log(np.maximum(binary, _LEAST)), np.log(np.maximum(1 - binary, _LEAST))


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
