"""The point of least norm among those with the same image, by its entries that are 0.

Minimise ½|p|² over the p ≥ 0 with Cp = Cp₀. With the projector N = I − C⁺C on the directions that
leave Cp unchanged, the optimality conditions are

    p = p₀ − Np₀ + Ns ≥ 0,    s ≥ 0,    sᵀp = 0,

which are those of ½ sᵀNs + (p₀ − Np₀)ᵀs over s ≥ 0. That is solved as in ``_nearest_point``, with a
support for the entries of p that are 0. An entry that depends on the others, which happens here
only, takes the place of one of them. Stopping rule: no p_c is below −1e-13.
"""

import numpy as np

from polychotomy.probability._compiled._nearest_point import (
    AS_STEEP,
    dot,
    extend,
    leave,
    make_room,
    steepest,
    towards_minimum,
)
from polychotomy.probability._compiled._simplex import compiled

_LEAST = 1e-13
_DEPENDENT = 1e-10
_ROUNDS = 10


@compiled
def _join(N, c, on_plane, m, room):  # pragma: no cover - compiled
    """Extend the support of s by entry c; False if it depends on the others."""
    support, rows, U, y, x, best, _ = room
    for j in range(m):
        best[j] = rows[j, c]
    if not (N[c, c] > _DEPENDENT and extend(best, N[c, c], -on_plane[c], m, U, y)):
        return False
    support[m], x[m] = c, 0.0
    rows[m] = N[c]
    return True


@compiled
def _exchange(N, c, on_plane, m, room):  # pragma: no cover - compiled
    """Let entry c take the place of one of those it depends on; return the support's size.

    With row c of N the sum of α_j times the others, Ns stays where s_c grows by t and each s_j
    falls by α_j t, until one of them is 0. Zero is returned where none falls.
    """
    support, rows, U, y, x, best, _ = room
    for i in range(m - 1, -1, -1):
        best[i] = (U[i, m] - dot(U[i, i + 1 :], best[i + 1 :], m - 1 - i)) / U[i, i]
    t, first = np.inf, -1
    for i in range(m):
        if best[i] > _DEPENDENT and x[i] / best[i] < t:
            t, first = x[i] / best[i], i
    if first < 0:
        return 0
    for i in range(m):
        x[i] = max(x[i] - t * best[i], 0.0)
    leave(first, m, rows, U, y, x, support)
    if not _join(N, c, on_plane, m - 1, room):
        return m - 1
    x[m - 1] = t
    return m


@compiled
def _by_zeros(N, on_plane, p):  # pragma: no cover - compiled
    """Write the point of least norm to p from p₀ − Np₀; False if it fails."""
    f = p.shape[0]
    room = make_room(min(f, round(np.trace(N))) + 2, f)
    support, rows, U, y, x, best, chosen = room
    slopes, m = np.empty(f), np.int64(0)
    for _ in range(_ROUNDS * f):
        m = towards_minimum(m, rows, U, y, x, best, support)
        for c in range(f):
            slopes[c] = on_plane[c]
        for i in range(m):
            for c in range(f):
                slopes[c] += x[i] * rows[i, c]
        if slopes.min() >= -_LEAST:
            for c in range(f):
                p[c] = max(slopes[c], 0.0)
            for i in range(m):
                p[support[i]] = 0.0
            return True
        joined = 0
        for i in range(steepest(slopes, min(AS_STEEP * slopes.min(), -_LEAST), chosen)):
            if m + 1 < support.shape[0] and _join(N, chosen[i], on_plane, m, room):
                m += 1
                joined += 1
        if joined == 0:
            _join(N, chosen[0], on_plane, m, room)
            m = _exchange(N, chosen[0], on_plane, m, room)
            if m == 0:
                break
    return False


@compiled
def least_norms(N, most, out, open_):  # pragma: no cover - compiled
    """Overwrite rows of `out`, some p₀, by the points of least norm.

    Parameters: N (k × k); the most entries below 0 in p₀ − Np₀ to start from; p (n × k); the rows
    that are not unique (n), which becomes those that are left: beyond `most`, or by rounding.
    """
    k = out.shape[1]
    on_plane = np.empty(k)
    for i in range(out.shape[0]):
        if not open_[i]:
            continue
        below = 0
        for c in range(k):
            on_plane[c] = out[i, c] - dot(N[c], out[i], k)
            if on_plane[c] < -_LEAST:
                below += 1
        if below == 0:
            for c in range(k):
                out[i, c] = max(on_plane[c], 0.0)
            open_[i] = False
        elif below <= most:
            open_[i] = not _by_zeros(N, on_plane, out[i])
