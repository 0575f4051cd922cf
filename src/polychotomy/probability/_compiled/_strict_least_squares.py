"""Least squares on the simplex for strict codes, whose samples share all matrices.

With G = AAᵀ + c 11ᵀ and a = Ar, p minimises ½ pᵀGp − aᵀp over p ≥ 0, Σp = 1. Without p ≥ 0 the
solution is g = h + Mᵀr, where V = G⁻¹ − G⁻¹11ᵀG⁻¹ / 1ᵀG⁻¹1, M = AᵀV and h = G⁻¹1 / 1ᵀG⁻¹1. With the
multipliers μ of p ≥ 0 it is

    p = g + Vμ,    p ≥ 0,    μ ≥ 0,    pᵀμ = 0.

Block principal pivoting solves this, as in ``_simplex``. For the classes Z outside of the support,
V_ZZ μ = −g_Z; for those inside, P, G_PP p = a_P + λ1 with Σp = 1. Each round solves the smaller of
the two systems, with at most k/2 unknowns, for all lanes at once; a lane whose sample is solved
takes the next one. A few sweeps of projected Gauss–Seidel steps on μ find the first support, which
is then right for most samples. Stopping rule: no p_c is negative and no μ_c is below −1e-11 G_cc.
"""

import numpy as np

from polychotomy.probability._compiled._lanes import factor_lanes, substitute_lanes
from polychotomy.probability._compiled._simplex import compiled

_DUAL_TOLERANCE = 1e-11
_PATIENCE = 3
_BATCHES = 8  # of lanes, whose first supports are found together
_MOST_SWEEPS = 8
_MOST_ROUNDS = 100  # for each class; theory has an end, rounding might not


@compiled
def _list_members(inside, members):  # pragma: no cover - compiled
    """List the classes of the smaller side; return their number and whether it is the support."""
    k, n_inside = len(inside), 0
    for c in range(k):
        n_inside += inside[c]
    by_support, m = 2 * n_inside < k, 0
    for c in range(k):
        if inside[c] == by_support:
            members[m] = c
            m += 1
    return m, by_support


@compiled
def _set_up(w, matrix, right, sign, members, m, rows, U, x, level):  # pragma: no cover - compiled
    """Write the system of lane w with m unknowns, and trivial equations up to `rows`."""
    for i in range(m):
        row = matrix[members[i]]
        for j in range(i, m):
            U[i, j, w] = row[members[j]]
        for j in range(m, rows):
            U[i, j, w] = 0.0
        x[i, w], level[i, w] = sign * right[members[i]], 1.0
    for i in range(m, rows):
        for j in range(i + 1, rows):
            U[i, j, w] = 0.0
        U[i, i, w] = 1.0
        x[i, w], level[i, w] = 0.0, 0.0


@compiled
def _read_outside(w, V, g, members, m, x, p, mu):  # pragma: no cover - compiled
    """Write p and the multipliers x of the m classes outside of the support."""
    for c in range(len(g)):
        p[c], mu[c] = g[c], 0.0
    for i in range(m):
        row, f = V[members[i]], x[i, w]
        for c in range(len(g)):
            p[c] += f * row[c]
    for i in range(m):
        p[members[i]], mu[members[i]] = 0.0, x[i, w]


@compiled
def _read_inside(w, G, a, members, m, x, level, p, mu):  # pragma: no cover - compiled
    """Write p of the m classes of the support, and the multipliers of the others."""
    missing, each = 1.0, 0.0
    for i in range(m):
        missing -= x[i, w]
        each += level[i, w]
    share = missing / each
    for c in range(len(a)):
        p[c], mu[c] = 0.0, -a[c] - share
    for i in range(m):
        row, f = G[members[i]], x[i, w] + share * level[i, w]
        p[members[i]] = f
        for c in range(len(a)):
            mu[c] += f * row[c]
    for i in range(m):
        mu[members[i]] = 0.0


@compiled
def _exchange(G, p, mu, inside, limits):  # pragma: no cover - compiled
    """Exchange violating classes; return whether to go on.

    `limits` holds the fewest violations so far and the rounds that may go on without fewer.
    """
    violations, last = 0, -1
    for c in range(len(p)):
        if p[c] < 0.0 or mu[c] < -_DUAL_TOLERANCE * G[c, c]:
            violations += 1
            last = c
    if violations < limits[0]:
        limits[0], limits[1] = violations, _PATIENCE
    else:
        limits[1] -= 1
    for c in range(len(p)):
        violates = p[c] < 0.0 or mu[c] < -_DUAL_TOLERANCE * G[c, c]
        if violates and (limits[1] >= 0 or c == last):
            inside[c] = not inside[c]
    return violations > 0 and limits[1] > -_MOST_ROUNDS * len(p)


@compiled
def _first_supports(g, V, n_sweeps, mu, p, inside):  # pragma: no cover - compiled
    """Guess the supports of some samples (n × k) by sweeps over μ_c ← max(0, μ_c − p_c / V_cc)."""
    n, k = g.shape
    lanes = mu.shape[1]
    change = np.empty(lanes)
    for first in range(0, n, lanes):
        for w in range(lanes):
            for c in range(k):
                p[c, w] = g[min(first + w, n - 1), c]
                mu[c, w] = 0.0
        for _ in range(n_sweeps):
            for c in range(k):
                scale = 1.0 / V[c, c]
                for w in range(lanes):
                    change[w] = max(-mu[c, w], -p[c, w] * scale)
                    mu[c, w] += change[w]
                for d in range(k):
                    for w in range(lanes):
                        p[d, w] += change[w] * V[c, d]
        for w in range(min(lanes, n - first)):
            for c in range(k):
                inside[first + w, c] = mu[c, w] <= 0.0


@compiled
def _finish(a, g, inside, V, G, work, out):  # pragma: no cover - compiled
    """Solve samples, given a, g and their first supports (n × k)."""
    n, k = out.shape
    U, x, level, root = work
    lanes = len(root)
    mu, members = np.empty(k), np.empty((lanes, k), np.int64)
    sizes, limits = np.zeros(lanes, np.int64), np.empty((lanes, 2), np.int64)
    sample, by_support = np.full(lanes, -1), np.zeros(lanes, np.bool_)
    following, active = 0, True
    while active:
        rows, active = 0, False
        for w in range(lanes):
            sizes[w] = 0
            if sample[w] < 0 and following < n:
                sample[w], limits[w, 0], limits[w, 1] = following, k + 1, _PATIENCE
                following += 1
            if sample[w] >= 0:
                active = True
                sizes[w], by_support[w] = _list_members(inside[sample[w]], members[w])
                rows = max(rows, sizes[w])
        for w in range(lanes):
            if by_support[w]:
                _set_up(w, G, a[sample[w]], 1.0, members[w], sizes[w], rows, U, x, level)
            else:
                _set_up(w, V, g[sample[w]], -1.0, members[w], sizes[w], rows, U, x, level)
        factor_lanes(U, rows, root)
        substitute_lanes(U, rows, x)
        if by_support.any():
            substitute_lanes(U, rows, level)
        for w in range(lanes):
            i, m = sample[w], sizes[w]
            if i < 0:
                continue
            if by_support[w]:
                _read_inside(w, G, a[i], members[w], m, x, level, out[i], mu)
            else:
                _read_outside(w, V, g[i], members[w], m, x, out[i], mu)
            if not _exchange(G, out[i], mu, inside[i], limits[w]):
                sample[w] = -1


@compiled
def least_squares_strict(q, A, M, h, V, G, lanes, out):  # pragma: no cover - compiled
    """Solve samples of a strict code.

    Parameters: q (n × ℓ); Aᵀ and M (ℓ × k); h (k); V and G (k × k); how many samples are solved at
    a time; the result (n × k).
    """
    n, k = out.shape
    most, size = k // 2 + 1, _BATCHES * lanes
    work = (
        np.empty((most, most, lanes)),
        np.empty((most, lanes)),
        np.empty((most, lanes)),
        np.empty(lanes),
    )
    r, a, g = np.empty((size, q.shape[1])), np.empty((size, k)), np.empty((size, k))
    inside, mu, p = np.empty((size, k), np.bool_), np.empty((k, lanes)), np.empty((k, lanes))
    n_sweeps = min(2 + k // 10, _MOST_SWEEPS)
    for first in range(0, n, size):
        m = min(size, n - first)
        for i in range(m):
            for s in range(q.shape[1]):
                r[i, s] = 2.0 * q[first + i, s] - 1.0
        np.dot(r[:m], A, a[:m])
        np.dot(r[:m], M, g[:m])
        for i in range(m):
            for c in range(k):
                g[i, c] += h[c]
        _first_supports(g[:m], V, n_sweeps, mu, p, inside)
        _finish(a[:m], g[:m], inside, V, G, work, out[first : first + m])
