"""Least squares on the simplex, and pairwise coupling.

For one sample with r = 2q − 1, problem s leaves the residual

    (Qp − r)_s = Σ_c B_sc p_c,    B_sc = A_cs − r_s |A_cs|,

as long as Σp = 1. So the problem is to minimise ½ pᵀNp with N = BᵀB over p ≥ 0, Σp = 1.
"""

import numpy as np

from polychotomy.probability._compiled._simplex import back_substitute, compiled, factor, minimise


@compiled
def least_squares(r, starts, classes, signs, shift, out):  # pragma: no cover - compiled
    """Solve samples of any code, with a new N = BᵀB for each.

    Parameters: r (n × ℓ); for problem s the classes that take part and their signs, at the
    positions starts[s] to starts[s+1]; c; the result (n × k).
    """
    n = r.shape[0]
    k = out.shape[1]
    H, U = np.empty((k, k)), np.empty((k, k))
    support, inside = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.bool_)
    ones, x = np.ones(k), np.empty(k)
    for i in range(n):
        for c in range(k):
            inside[c] = True
        _normal_matrix(r[i], starts, classes, signs, shift, H)
        minimise(H, inside, out[i], support, U, ones, x)


@compiled
def _normal_matrix(r, starts, classes, signs, shift, H):  # pragma: no cover - compiled
    k = H.shape[0]
    for c in range(k):
        for d in range(k):
            H[c, d] = shift
    for s in range(r.shape[0]):
        for i in range(starts[s], starts[s + 1]):
            f = signs[i] - r[s]
            for j in range(starts[s], i + 1):
                H[classes[i], classes[j]] += f * (signs[j] - r[s])
    for c in range(k):
        for d in range(c):
            H[d, c] = H[c, d]


@compiled
def normal_matrices(r, starts, classes, signs, out):  # pragma: no cover - compiled
    """Write N of each sample (n × k × k)."""
    for i in range(r.shape[0]):
        _normal_matrix(r[i], starts, classes, signs, 0.0, out[i])


@compiled
def coupling(r, starts, classes, signs, shift, out):  # pragma: no cover - compiled
    """Solve N p = λ1, Σp = 1, the bordered system of Wu, Lin and Weng, by H x = 1, p = x/Σx."""
    n = r.shape[0]
    k = out.shape[1]
    H, U = np.empty((k, k)), np.empty((k, k))
    support, ones, x = np.arange(k), np.ones(k), np.empty(k)
    for i in range(n):
        _normal_matrix(r[i], starts, classes, signs, shift, H)
        factor(H, 0.0, support, k, U)
        back_substitute(U, k, ones, x)
        total = 0.0
        for c in range(k):
            x[c] = max(x[c], 0.0)  # negative only by rounding
            total += x[c]
        for c in range(k):
            out[i, c] = x[c] / total
