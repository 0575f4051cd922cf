"""Assignment of codewords to classes by the distances between classes."""

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.arrays import Array, Indices
from polychotomy.codes._code import Code

_MOST_BY_FAQ, _STEPS = 500, 30  # classes up to which exchanges start from FAQ
_DOUBLE = 1000  # classes up to which distances are held in double precision
_SMALLEST_GAIN = 1e-3  # of a round, as a share of what was gained so far


def assigned(code: Code, distances: ArrayLike, *, similar: bool = True) -> Code:
    """Return a code in which similar classes have similar codewords, or the opposite.

    With similar codewords, classes that are hard to separate are on the same side of most
    problems, which makes these easier to learn; with different ones, the few problems that separate
    such classes are not all there is between them.

    Parameters
    ----------
    code : Code
    distances : array-like of shape (n_classes, n_classes)
        Distances between the classes, such as those of
        :func:`~polychotomy.structures.class_distances`: symmetric, finite.
    similar : bool, default=True
        Whether codewords are the closer, the closer the classes are.

    Returns
    -------
    code : Code
        With the same codewords, in another order.

    Notes
    -----
    Σ_rt D_rt H_rt, with the Hamming distances H of the codewords, is made large, or small, by
    exchanges of pairs of codewords: each round computes what every exchange would gain, in products
    of matrices that cost O(k² ℓ), and makes many of them at once. Up to 500 classes they start from
    the heuristic FAQ of SciPy for quadratic assignment, whose steps cost O(k³). 3755 classes and
    238 problems take about ten seconds. In one-vs-rest and one-vs-one codes all codewords are
    equally far apart, and nothing changes.

    Examples
    --------
    >>> from polychotomy.codes import adjacent, assigned
    >>> print(assigned(adjacent(3), [[0, 9, 5], [9, 0, 4], [5, 4, 0]]))
    − −
    + +
    + −
    """
    D = _check_distances(distances, code.n_classes)
    if code.is_one_vs_one or code.is_one_vs_rest:
        return code
    k = len(D)
    D -= D.sum() / (k * (k - 1))  # a constant changes nothing but rounding errors
    np.fill_diagonal(D, 0)
    precision = float if k <= _DOUBLE else np.float32
    D, A = D.astype(precision, copy=False), code.matrix.astype(precision)
    order = _start(D, A, similar) if k <= _MOST_BY_FAQ else np.arange(k)
    return code.reordered(_exchanged(D if similar else -D, A, order))


def _start(D: Array, A: Array, similar: bool) -> Indices:
    """Return the codeword of each class by FAQ."""
    from scipy.optimize import quadratic_assignment

    # Nothing is drawn, but without a generator SciPy warns where NumPy's global one was seeded.
    options = {"maximize": not similar, "rng": np.random.default_rng(0), "maxiter": _STEPS}
    order: Indices = quadratic_assignment(D, A @ A.T, "faq", options).col_ind
    return order


def _exchanged(D: Array, A: Array, order: Indices) -> Indices:
    """Return an order with a lower Σ D_rt P_rt, P = BBᵀ with the codewords B of the classes."""
    n_pairs, first = len(D) // 2, None
    DB = D @ A[order]
    total = float(np.vdot(A[order], DB))
    while True:
        pairs = _gaining_pairs(D, A[order], DB)[:n_pairs]
        while len(pairs):
            r, s = pairs.T
            tried = order.copy()
            tried[r], tried[s] = order[s], order[r]
            DB = D @ A[tried]
            found = float(np.vdot(A[tried], DB))
            if found < total:
                break
            pairs = pairs[: len(pairs) // 2]
        else:
            return order
        first = total if first is None else first
        last = len(D) > _MOST_BY_FAQ and total - found < _SMALLEST_GAIN * (first - found)
        order, total, n_pairs = tried, found, 2 * len(pairs)
        if last:
            return order


def _gaining_pairs(D: Array, B: Array, DB: Array) -> Indices:
    """Return disjoint pairs of classes, those whose exchange gains most first.

    With C = DP, exchanging the codewords of r and s adds 2 (C_rs + C_sr − C_rr − C_ss −
    D_rs (P_rr + P_ss − 2 P_rs)) to Σ D_rt P_rt.
    """
    P = B @ B.T
    own = np.diagonal(P) / 2
    P -= own
    P -= own[:, np.newaxis]
    P *= D
    P *= 2
    C = DB @ B.T
    own = np.diagonal(C).copy()
    P += C
    P += C.T
    P -= own
    P -= own[:, np.newaxis]
    np.fill_diagonal(P, 0)
    best = P.argmin(axis=1)
    gain = P[np.arange(len(P)), best]
    free, pairs = np.ones(len(P), dtype=bool), []
    for r in np.argsort(gain, kind="stable"):
        if gain[r] < 0 and free[r] and free[best[r]]:
            free[r] = free[best[r]] = False
            pairs.append((r, best[r]))
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def _check_distances(distances: ArrayLike, k: int) -> Array:
    D = np.asarray(distances)
    if D.shape != (k, k) or D.dtype.kind not in "iufb":
        raise ValueError(
            "The 'distances' parameter must be a matrix of numbers with a row and a column for "
            f"each of the {k} classes. Got shape {D.shape} and dtype {D.dtype}."
        )
    D = D.astype(float)
    if not np.isfinite(D).all():
        raise ValueError("The 'distances' parameter must be finite. Got NaN or infinity.")
    if not np.allclose(D, D.T):
        difference = float(np.abs(D - D.T).max())
        raise ValueError(
            "The 'distances' parameter must be symmetric. Got distances between the same two "
            f"classes that differ by up to {difference:.3g}; their mean is (D + D.T) / 2."
        )
    return D / max(float(np.abs(D).max()), np.finfo(float).tiny)
