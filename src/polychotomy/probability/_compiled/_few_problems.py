"""Least squares for codes that leave probabilities open, as those with fewer problems than classes.

Problem s leaves the residual Σ_c B_sc p_c (see ``_least_squares``), so Σ_c p_c b_c is the point of
the hull of B's columns nearest to the origin. It is unique, and found in the ℓ dimensions of the
problems. Where several p have it as their image, ``_least_norm`` chooses among them: the classes
that can take part are those that see the nearest point at the same height, whose slope is 0.
"""

import numpy as np

from polychotomy.probability._compiled._nearest_point import make_room, nearest_point, start
from polychotomy.probability._compiled._simplex import compiled

_FLAT = 1e-10


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
        for c in range(k):
            faces[i, c] = slopes[c] < _FLAT


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
