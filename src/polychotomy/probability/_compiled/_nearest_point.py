"""The point of a convex hull that is nearest to the origin, for more points than dimensions.

Points b_c are the columns of an array, and Σp = 1 has become a last coordinate κ of all of them. So
the minimum of |Σ_c p_c b_c|² over the simplex is p = x / Σx, where x solves

    minimise ½ |Σ_c x_c b_c|² − Σx    over x ≥ 0.

This is Lawson and Hanson's method (1974, chapter 23) in the order of Wolfe (1976): the support
holds linearly independent points only, at most as many as there are dimensions, however many points
there are. The points whose slope y_c = b_c · Σx b − 1 is the most negative join the support,
several at once; then x moves to the minimum on the support, and points that reach 0 on the way
leave it. The factor UᵀU of the support's Gram matrix follows by one column for a point that joins
and by Givens rotations for one that leaves, so that a change costs m² operations, and the slopes of
all k points in d dimensions k·d. Each round decreases the objective, so the method ends. Stopping
rule: no y_c is below −1e-11, except for points within 3e-6 of the span of the support, which
do not join it: their slopes may be as small as −1e-5.
"""

import numpy as np

from polychotomy.probability._compiled._simplex import compiled, compiled_sums

SLOPE_TOLERANCE = 1e-11
_SMALL_PIVOT = 1e-11
_JOIN_AT_MOST = 8
AS_STEEP = 0.5  # what joins has at least this share of the steepest slope


@compiled_sums
def dot(a, b, n):  # pragma: no cover - compiled
    """Return the scalar product of the first n entries."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@compiled
def products(points, z, out):  # pragma: no cover - compiled
    """Write b_c · z for all points, the columns."""
    d, k = points.shape
    for c in range(k):
        out[c] = 0.0
    s = 0
    while s + 4 <= d:
        z0, z1, z2, z3 = z[s], z[s + 1], z[s + 2], z[s + 3]
        for c in range(k):
            out[c] += (z0 * points[s, c] + z1 * points[s + 1, c]) + (
                z2 * points[s + 2, c] + z3 * points[s + 3, c]
            )
        s += 4
    while s < d:
        for c in range(k):
            out[c] += z[s] * points[s, c]
        s += 1


@compiled
def extend(h, size, right, m, U, y):  # pragma: no cover - compiled
    """Extend the factor by a column of the Gram matrix; False if it depends on the others.

    Parameters: the column (which is overwritten), its diagonal entry, the right side's entry.
    """
    rest = size
    for i in range(m):
        u = h[i] / U[i, i]
        for t in range(i + 1, m):
            h[t] -= U[i, t] * u
        U[i, m] = u
        rest -= u * u
        right -= u * y[i]
    if not rest > _SMALL_PIVOT * size:
        return False
    U[m, m] = np.sqrt(rest)
    y[m] = right / U[m, m]
    return True


@compiled
def join(points, c, m, rows, U, y, h):  # pragma: no cover - compiled
    """Extend the support by point c; False if it depends on the others."""
    d = points.shape[0]
    for s in range(d):
        rows[m, s] = points[s, c]
    for j in range(m):
        h[j] = dot(rows[j], rows[m], d)
    return extend(h, dot(rows[m], rows[m], d), 1.0, m, U, y)


@compiled
def leave(j, m, rows, U, y, x, support):  # pragma: no cover - compiled
    """Remove the support's point j of m."""
    d = rows.shape[1]
    for i in range(j, m - 1):
        support[i], x[i] = support[i + 1], x[i + 1]
        for s in range(d):
            rows[i, s] = rows[i + 1, s]
    for i in range(m):
        for t in range(max(i - 1, j), m - 1):
            U[i, t] = U[i, t + 1]
    for i in range(j, m - 1):
        a, b = U[i, i], U[i + 1, i]
        size = np.sqrt(a * a + b * b)
        cos, sin = a / size, b / size
        U[i, i], U[i + 1, i] = size, 0.0
        for t in range(i + 1, m - 1):
            a, b = U[i, t], U[i + 1, t]
            U[i, t] = cos * a + sin * b
            U[i + 1, t] = cos * b - sin * a
        a, b = y[i], y[i + 1]
        y[i], y[i + 1] = cos * a + sin * b, cos * b - sin * a


@compiled
def towards_minimum(m, rows, U, y, x, best, support):  # pragma: no cover - compiled
    """Move x to the minimum on the support, dropping points at 0; return the support's size."""
    while True:
        for i in range(m - 1, -1, -1):
            best[i] = (y[i] - dot(U[i, i + 1 :], best[i + 1 :], m - 1 - i)) / U[i, i]
        t, first = 1.0, -1
        for i in range(m):
            if best[i] <= 0.0:
                share = x[i] / (x[i] - best[i]) if x[i] > 0.0 else 0.0
                if first < 0 or share < t:
                    t, first = share, i
        if first < 0:
            for i in range(m):
                x[i] = best[i]
            return m
        left = m
        for i in range(m - 1, -1, -1):
            # By rounding, the first may miss 0, and then approach it for ever.
            stops = i == first or (best[i] <= 0.0 and x[i] <= t * (x[i] - best[i]))
            x[i] += t * (best[i] - x[i])
            if stops:
                leave(i, left, rows, U, y, x, support)
                left -= 1
        m = left


@compiled
def steepest(slopes, limit, chosen):  # pragma: no cover - compiled
    """Write the points of steepest slope to `chosen`, the steepest first; return their number."""
    n = 0
    for c in range(slopes.shape[0]):
        if slopes[c] < limit and (n < chosen.shape[0] or slopes[c] < slopes[chosen[n - 1]]):
            i = min(n, chosen.shape[0] - 1)
            while i > 0 and slopes[chosen[i - 1]] > slopes[c]:
                chosen[i] = chosen[i - 1]
                i -= 1
            chosen[i] = c
            n = min(n + 1, chosen.shape[0])
    return n


@compiled
def slopes_at(points, m, rows, x, z, slopes):  # pragma: no cover - compiled
    """Write z = Σx b and the slopes b_c · z − 1; return the least of them."""
    d, k = points.shape
    for s in range(d):
        z[s] = 0.0
    for i in range(m):
        for s in range(d):
            z[s] += x[i] * rows[i, s]
    products(points, z, slopes)
    least = 0.0
    for c in range(k):
        slopes[c] -= 1.0
        least = min(least, slopes[c])
    return least


@compiled
def nearest_point(points, m, room, z, slopes):  # pragma: no cover - compiled
    """Find the nearest point from a support of m points; return the size of the final one.

    Parameters: points (d × k), the last row κ; m; the support as ``make_room`` lays it out, with
    its factor and positive x; room (d); y (k), which is written.
    """
    support, rows, U, y, x, best, chosen = room
    k = points.shape[1]
    for _ in range(100 * k):
        m = towards_minimum(m, rows, U, y, x, best, support)
        least = slopes_at(points, m, rows, x, z, slopes)
        joined = 0
        for i in range(steepest(slopes, min(AS_STEEP * least, -SLOPE_TOLERANCE), chosen)):
            if m < support.shape[0] and join(points, chosen[i], m, rows, U, y, best):
                support[m], x[m] = chosen[i], 0.0
                m += 1
                joined += 1
        if joined == 0:
            break
    return m


@compiled
def start(points, room, slopes):  # pragma: no cover - compiled
    """Start the support with the shortest point; return its size, 1."""
    support, rows, U, y, x, best, _ = room
    d, k = points.shape
    for c in range(k):
        slopes[c] = 0.0
    for s in range(d):
        for c in range(k):
            slopes[c] += points[s, c] * points[s, c]
    support[0] = np.argmin(slopes)
    join(points, support[0], 0, rows, U, y, best)
    x[0] = 1.0 / slopes[support[0]]
    return np.int64(1)


@compiled
def make_room(most, d):  # pragma: no cover - compiled
    """Return arrays for a support of up to `most` entries with rows of d numbers.

    They are the indices, the rows, the factor U, U⁻ᵀ times the right side, x, the minimum on the
    support, and the indices that join.
    """
    return (
        np.empty(most, dtype=np.int64),
        np.empty((most, d)),
        np.empty((most, most)),
        np.empty(most),
        np.empty(most),
        np.empty(most),
        np.empty(_JOIN_AT_MOST, dtype=np.int64),
    )
