"""Pairwise coupling of eight samples at a time.

The last axis of the arrays is a sample, a *lane*: the eight are independent, so that the processor
works on them side by side, which it cannot do within one small factorisation. What a lane computes
depends on its own sample only, and to the last bit on nothing else.
"""

import numpy as np

from polychotomy.probability._compiled._simplex import compiled

_LANES = 8


@compiled
def _factor(M):  # pragma: no cover - compiled
    """Overwrite the upper triangles M (k × k × 8) by Cholesky factors."""
    k = M.shape[0]
    root = np.empty(_LANES)
    for j in range(k):
        for w in range(_LANES):
            root[w] = 1.0 / np.sqrt(M[j, j, w])
        for i in range(j, k):
            for w in range(_LANES):
                M[j, i, w] *= root[w]
        for i in range(j + 1, k):
            for t in range(i, k):
                for w in range(_LANES):
                    M[i, t, w] -= M[j, i, w] * M[j, t, w]


@compiled
def _substitute(U, x):  # pragma: no cover - compiled
    """Solve UᵀU x = b for all lanes, with b in x (k × 8)."""
    k = U.shape[0]
    for i in range(k):
        for w in range(_LANES):
            x[i, w] /= U[i, i, w]
        for t in range(i + 1, k):
            for w in range(_LANES):
                x[t, w] -= U[i, t, w] * x[i, w]
    for i in range(k - 1, -1, -1):
        for t in range(i + 1, k):
            for w in range(_LANES):
                x[i, w] -= U[i, t, w] * x[t, w]
        for w in range(_LANES):
            x[i, w] /= U[i, i, w]


@compiled
def coupling_lanes(r, starts, classes, signs, shift, out):  # pragma: no cover - compiled
    """Solve Wu, Lin and Weng's system; the parameters are those of ``coupling``."""
    n, ell = r.shape
    k = out.shape[1]
    H, x, lane_r = np.empty((k, k, _LANES)), np.empty((k, _LANES)), np.empty((ell, _LANES))
    for first in range(0, n, _LANES):
        for w in range(_LANES):
            i = min(first + w, n - 1)
            for s in range(ell):
                lane_r[s, w] = r[i, s]
        for c in range(k):
            for d in range(c, k):
                for w in range(_LANES):
                    H[c, d, w] = shift
            for w in range(_LANES):
                x[c, w] = 1.0
        for s in range(ell):
            for i in range(starts[s], starts[s + 1]):
                for j in range(i, starts[s + 1]):
                    for w in range(_LANES):
                        H[classes[i], classes[j], w] += (signs[i] - lane_r[s, w]) * (
                            signs[j] - lane_r[s, w]
                        )
        _factor(H)
        _substitute(H, x)
        for w in range(min(_LANES, n - first)):
            total = 0.0
            for c in range(k):
                total += max(x[c, w], 0.0)  # negative only by rounding
            for c in range(k):
                out[first + w, c] = max(x[c, w], 0.0) / total
