"""Least squares for codes that leave probabilities open, as those with fewer problems than classes.

Problem s leaves the residual Σ_c B_sc p_c (see ``_least_squares``), so Σ_c p_c b_c is the point of
the hull of B's columns nearest to the origin. It is unique, and found in the ℓ dimensions of the
problems. Where several p have it as their image, ``_least_norm`` chooses among them: the classes
that can take part are those that see the nearest point at the same height, whose slope is 0.

``_nearest_point`` ends early where a point with a negative slope is nearly a combination of others,
as those of two classes that only a probability of 1e-7 tells apart. Then the classes whose slopes
are almost 0 or below are solved for as in ``_simplex``, in k dimensions.
"""

import numpy as np

from polychotomy.probability._compiled._nearest_point import (
    SLOPE_TOLERANCE,
    make_room,
    nearest_point,
    products,
    start,
)
from polychotomy.probability._compiled._simplex import compiled, minimise

_FLAT = 1e-10
_ALMOST_FLAT = 1e-4
_MOST = 200  # classes that are solved for in k dimensions


@compiled
def least_squares_few(r, entries, out, faces):  # pragma: no cover - compiled
    """Find a minimiser for samples of a code whose probabilities are not unique.

    Parameters: r (n × ℓ); the code's entries (ℓ × k); the result (n × k); the classes that can take
    part in a minimiser (n × k).
    """
    n, ell = r.shape
    k = out.shape[1]
    points, z, slopes = np.empty((ell + 1, k)), np.empty(ell + 1), np.empty(k)
    room = make_room(min(k, ell + 1), ell + 1)
    for c in range(k):
        points[ell, c] = np.sqrt(ell)
    for i in range(n):
        for s in range(ell):
            for c in range(k):
                points[s, c] = entries[s, c] - r[i, s] * abs(entries[s, c])
        m = nearest_point(points, start(points, room, slopes), room, z, slopes)
        write_shares(m, room, out[i])
        if slopes.min() < -SLOPE_TOLERANCE:
            _solve_again(points, out[i], z, slopes)
        for c in range(k):
            faces[i, c] = slopes[c] < _FLAT


@compiled
def _solve_again(points, p, z, slopes):  # pragma: no cover - compiled
    """Overwrite p and the slopes by those of a solution among the classes that are almost flat."""
    d, k = points.shape
    some = np.flatnonzero((slopes < _ALMOST_FLAT) | (p > 0.0))
    f = len(some)
    if f > _MOST:
        return
    own = np.ascontiguousarray(points[:, some])
    H, U, found = own.T @ own, np.empty((f, f)), np.empty(f)
    inside, support = p[some] > 0.0, np.empty(f, dtype=np.int64)
    minimise(H, inside, found, support, U, np.ones(f), np.empty(f))
    p[:], z[:] = 0.0, 0.0
    square = 0.0
    for i in range(f):
        p[some[i]] = found[i]
    for s in range(d):
        for c in range(k):
            z[s] += p[c] * points[s, c]
        square += z[s] * z[s]
    products(points, z, slopes)
    for c in range(k):
        slopes[c] = slopes[c] / square - 1.0


@compiled
def write_shares(m, room, p):  # pragma: no cover - compiled
    """Write x of a support, divided by its sum, to p."""
    support, x = room[0], room[4]
    total = 0.0
    for c in range(p.shape[0]):
        p[c] = 0.0
    for j in range(m):
        total += x[j]
    for j in range(m):
        p[support[j]] = x[j] / total
