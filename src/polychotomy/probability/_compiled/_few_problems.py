"""Least squares for codes that leave probabilities open, as those with fewer problems than classes.

Problem s leaves the residual Σ_c B_sc p_c (see ``_least_squares``), so Σ_c p_c b_c is the point of
the hull of B's columns nearest to the origin. It is unique, and found in the ℓ dimensions of the
problems. Where several p have it as their image, the one of least norm is returned: the classes
that can take part are those that see the nearest point at the same height, whose slope is 0.
"""

import numpy as np

from polychotomy.probability._compiled._least_norm import least_norm_on_face
from polychotomy.probability._compiled._nearest_point import make_room, nearest_point, start
from polychotomy.probability._compiled._simplex import compiled

_FLAT = 1e-10


@compiled
def least_squares_few(r, entries, N, out):  # pragma: no cover - compiled
    """Solve samples of a code whose probabilities are not unique.

    Parameters: r (n × ℓ); the code's entries (ℓ × k); the projector of all classes (k × k) for
    strict codes, else 0 × 0; the result (n × k).
    """
    n, ell = r.shape
    k = out.shape[1]
    points, z, slopes = np.empty((ell + 1, k)), np.empty(ell + 1), np.empty(k)
    room = make_room(min(k, ell + 1), ell + 1)
    support, x = room[0], room[4]
    points[ell] = np.sqrt(ell)
    for i in range(n):
        for s in range(ell):
            for c in range(k):
                points[s, c] = entries[s, c] - r[i, s] * abs(entries[s, c])
        m = nearest_point(points, start(points, room, slopes), room, z, slopes)
        write_shares(m, support, x, out[i])
        least_norm_on_face(points, slopes < _FLAT, N, out[i])


@compiled
def write_shares(m, support, x, p):  # pragma: no cover - compiled
    """Write x of a support, divided by its sum, to p."""
    p[:] = 0.0
    total = 0.0
    for j in range(m):
        total += x[j]
    for j in range(m):
        p[support[j]] = x[j] / total
