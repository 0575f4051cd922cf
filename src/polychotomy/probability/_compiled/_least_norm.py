"""The point of least norm among those with the same image, for solutions that are not unique.

Minimise ½|p|² over the p ≥ 0 with Cp = Cp₀, where the columns of C (d × f) are points. There are
two duals, and the one with fewer variables is solved:

1. With the projector N = I − C⁺C on the directions that leave Cp unchanged, the optimality
   conditions are

       p = p₀ − Np₀ + Ns ≥ 0,    s ≥ 0,    sᵀp = 0,

   which are those of ½ sᵀNs + (p₀ − Np₀)ᵀs over s ≥ 0. That is solved as in ``_nearest_point``,
   with a support for the entries of p that are 0. An entry that depends on the others, which
   happens here only, takes the place of one of them. Stopping rule: no p_c is below −1e-13.
2. p = max(0, Cᵀλ), where λ minimises the convex function ψ(λ) = ½ |max(0, Cᵀλ)|² − (Cp₀)ᵀλ in d
   dimensions. As ψ is piecewise quadratic, Newton's method with C_P C_Pᵀ, P the entries with p_c >
   0, ends after finitely many steps (Qi and Sun, 1993); steps are halved until ψ decreases.
   Stopping rule: no entry of Cp differs from Cp₀ by more than 1e-12 times the largest.
"""

import numpy as np

from polychotomy.probability._compiled._nearest_point import (
    AS_STEEP,
    dot,
    extend,
    leave,
    make_room,
    products,
    steepest,
    towards_minimum,
)
from polychotomy.probability._compiled._simplex import back_substitute, compiled, factor

_LEAST = 1e-13
_DEPENDENT = 1e-10
_ROUNDS = 10
_STEPS = 30
_TOLERANCE = 1e-12
_RIDGE = 1e-13
_SUFFICIENT = 1e-4
_ROUNDING = 1e-15


@compiled
def _independent(S):  # pragma: no cover - compiled
    """Return indices of a largest set of independent rows of a semidefinite matrix S."""
    d = S.shape[0]
    U, kept, n = S.copy(), np.empty(d, dtype=np.int64), 0
    for j in range(d):
        if U[j, j] <= _DEPENDENT * S[j, j]:
            continue
        kept[n] = j
        n += 1
        for i in range(j + 1, d):
            f = U[j, i] / U[j, j]
            for t in range(i, d):
                U[i, t] -= f * U[j, t]
    return kept[:n]


@compiled
def projector(C):  # pragma: no cover - compiled
    """Return I − C⁺C of C (d × f), whatever its rank."""
    f = C.shape[1]
    S = np.dot(C, C.T)
    kept = _independent(S)
    rows, square = np.empty((kept.shape[0], f)), np.empty((kept.shape[0], kept.shape[0]))
    for i in range(kept.shape[0]):
        rows[i] = C[kept[i]]
        for j in range(kept.shape[0]):
            square[i, j] = S[kept[i], kept[j]]
    N = -np.dot(rows.T, np.dot(np.linalg.inv(square), rows))
    for c in range(f):
        N[c, c] += 1.0
    return N


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
    """Write the point of least norm to p by the first dual, from p₀ − Np₀; False if it fails."""
    f = p.shape[0]
    room = make_room(min(f, round(np.trace(N))) + 2, f)
    support, rows, U, y, x, best, chosen = room
    slopes, m = np.empty(f), 0
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
def _half_square(u):  # pragma: no cover - compiled
    total = 0.0
    for c in range(u.shape[0]):
        total += max(u[c], 0.0) ** 2
    return 0.5 * total


@compiled
def _newton_step(C, inside, g, step):  # pragma: no cover - compiled
    """Write −(C_P C_Pᵀ)⁻¹ g for the columns inside."""
    d = C.shape[0]
    members = np.flatnonzero(inside)
    some = np.empty((d, members.shape[0]))
    for s in range(d):
        for i in range(members.shape[0]):
            some[s, i] = C[s, members[i]]
    J, U, order = np.dot(some, some.T), np.empty((d, d)), np.arange(d)
    ridge = _RIDGE * np.trace(J)
    while not factor(J, ridge, order, d, U):
        ridge *= 10.0
    back_substitute(U, d, -g, step)


@compiled
def _by_multipliers(C, on_plane, p):  # pragma: no cover - compiled
    """Write the point of least norm to p by the second dual; False without convergence."""
    d, f = C.shape
    w = np.dot(C, p)
    lam, step, g = np.zeros(d), np.empty(d), -w
    u, along, inside = np.zeros(f), np.empty(f), on_plane > 0.0
    for _ in range(_STEPS):
        _newton_step(C, inside, g, step)
        products(C, step, along)
        t, value, slope = 1.0, _half_square(u) - dot(w, lam, d), dot(g, step, d)
        for _ in range(_STEPS):
            here = _half_square(u + t * along) - dot(w, lam + t * step, d)
            if here <= value + _SUFFICIENT * t * slope + _ROUNDING * abs(value):
                break
            t *= 0.5
        lam += t * step
        u += t * along
        inside = u > 0.0
        g = np.dot(C, np.maximum(u, 0.0)) - w
        if np.abs(g).max() <= _TOLERANCE * np.abs(w).max():
            p[:] = np.maximum(u, 0.0)
            return True
    return False


@compiled
def least_norm(C, N, p):  # pragma: no cover - compiled
    """Overwrite p, some p₀, by the point of least norm, with C (d × f) and its projector N.

    Either dual takes over where the other fails by rounding; if both do, p₀ stays.
    """
    on_plane = p - np.dot(N, p)
    if on_plane.min() >= -_LEAST:
        p[:] = np.maximum(on_plane, 0.0)
    elif (on_plane < 0.0).sum() < C.shape[0]:
        if not _by_zeros(N, on_plane, p):
            _by_multipliers(C, on_plane, p)
    elif not _by_multipliers(C, on_plane, p):
        _by_zeros(N, on_plane, p)


@compiled
def least_norm_on_face(points, face, N, p):  # pragma: no cover - compiled
    """Overwrite p by the point of least norm with the same image, of the classes of the face.

    Parameters: points (d × k); which classes (k); the projector of all classes (k × k), or 0 × 0
    where it is not known; p (k), 0 outside the face.
    """
    f = face.sum()
    if f == face.shape[0] and N.shape[0] == f:
        least_norm(points, N, p)
    elif f > (p > 0.0).sum():
        members = np.flatnonzero(face)
        C, some = np.empty((points.shape[0], f)), p[members]
        for s in range(points.shape[0]):
            for i in range(f):
                C[s, i] = points[s, members[i]]
        least_norm(C, projector(C), some)
        p[members] = some
    p /= p.sum()
