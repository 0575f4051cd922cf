"""Small factorisations of several samples at a time, and pairwise coupling by them.

The last axis of the arrays is a sample, a *lane*: lanes are independent, so that the processor
works on them side by side, which it cannot do within one small factorisation. What a lane computes
depends on its own sample only, and to the last bit on nothing else. The number of lanes is the
length of the last axis: were it a constant, loops over it would be unrolled and not vectorised.
"""

import numpy as np

from polychotomy.probability._compiled._simplex import compiled


@compiled
def factor_lanes(M, m, root):  # pragma: no cover - compiled
    """Overwrite the upper triangles of M (m × m × lanes) by Cholesky factors.

    The diagonal is that of the inverse factors. `root` is work space for each lane. Two rows are
    eliminated at a time, so that the others are read and written half as often. Each difference is
    taken by itself: trivial equations between the others do not change a bit of the result.
    """
    lanes = M.shape[2]
    for j in range(0, m - 1, 2):
        for w in range(lanes):
            root[w] = 1.0 / np.sqrt(M[j, j, w])
        for i in range(j + 1, m):
            for w in range(lanes):
                M[j, i, w] *= root[w]
        for w in range(lanes):
            M[j, j, w] = root[w]
            root[w] = 1.0 / np.sqrt(M[j + 1, j + 1, w] - M[j, j + 1, w] * M[j, j + 1, w])
            M[j + 1, j + 1, w] = root[w]
        for i in range(j + 2, m):
            for w in range(lanes):
                M[j + 1, i, w] = (M[j + 1, i, w] - M[j, j + 1, w] * M[j, i, w]) * root[w]
        for i in range(j + 2, m):
            for t in range(i, m):
                for w in range(lanes):
                    less = M[i, t, w] - M[j, i, w] * M[j, t, w]
                    M[i, t, w] = less - M[j + 1, i, w] * M[j + 1, t, w]
    if m % 2 == 1:
        for w in range(lanes):
            M[m - 1, m - 1, w] = 1.0 / np.sqrt(M[m - 1, m - 1, w])


@compiled
def substitute_lanes(U, m, x):  # pragma: no cover - compiled
    """Solve UᵀU x = b for all lanes, with b in x (m × lanes)."""
    lanes = U.shape[2]
    for i in range(m):
        for t in range(0, i - 1, 2):
            for w in range(lanes):
                x[i, w] = (x[i, w] - U[t, i, w] * x[t, w]) - U[t + 1, i, w] * x[t + 1, w]
        for w in range(lanes):
            if i % 2 == 1:
                x[i, w] -= U[i - 1, i, w] * x[i - 1, w]
            x[i, w] *= U[i, i, w]
    for i in range(m - 1, -1, -1):
        for t in range(i + 1, m - 1, 2):
            for w in range(lanes):
                x[i, w] = (x[i, w] - U[i, t, w] * x[t, w]) - U[i, t + 1, w] * x[t + 1, w]
        for w in range(lanes):
            if (m - i) % 2 == 0:
                x[i, w] -= U[i, m - 1, w] * x[m - 1, w]
            x[i, w] *= U[i, i, w]


@compiled
def _pairwise_matrices(r, classes, shift, H):  # pragma: no cover - compiled
    """Write N + shift 11ᵀ of pairs of classes (k × k × lanes), with r of each (ℓ × lanes)."""
    k, lanes = H.shape[0], H.shape[2]
    for c in range(k):
        for w in range(lanes):
            H[c, c, w] = shift
    for s in range(r.shape[0]):
        c, d = classes[s, 0], classes[s, 1]
        for w in range(lanes):
            first, second = 1.0 - r[s, w], 1.0 + r[s, w]
            H[c, d, w] = shift - first * second
            H[c, c, w] += first * first
            H[d, d, w] += second * second


@compiled
def coupling_lanes(q, classes, signs, lanes, out):  # pragma: no cover - compiled
    """Solve N p = λ1, Σp = 1, the bordered system of Wu, Lin and Weng, by H x = 1, p = x/Σx.

    Parameters: q (n × ℓ); the classes of each pair (ℓ × 2), the smaller one first, and the sign of
    that one (ℓ); how many samples are solved at a time; the result (n × k).
    """
    n, ell = q.shape
    k = out.shape[1]
    H, x = np.empty((k, k, lanes)), np.empty((k, lanes))
    r, root, total = np.empty((ell, lanes)), np.empty(lanes), np.empty(lanes)
    for first in range(0, n, lanes):
        for w in range(lanes):
            i = min(first + w, n - 1)
            for s in range(ell):
                r[s, w] = (2.0 * q[i, s] - 1.0) * signs[s]
        _pairwise_matrices(r, classes, float(k), H)
        x[:] = 1.0
        factor_lanes(H, k, root)
        substitute_lanes(H, k, x)
        total[:] = 0.0
        for c in range(k):
            for w in range(lanes):
                x[c, w] = max(x[c, w], 0.0)  # negative only by rounding
                total[w] += x[c, w]
        for w in range(min(lanes, n - first)):
            for c in range(k):
                out[first + w, c] = x[c, w] / total[w]
