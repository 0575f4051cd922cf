"""Least squares on the simplex for codes with zeros, several samples at a time.

Each sample has a matrix H of its own, see ``_simplex``, whose block principal pivoting this is. The
last axis of the arrays is a sample, a *lane*, as in ``_lanes``. The first support is found by a few
sweeps of projected Gauss–Seidel steps with N and a small part of the constant c 11ᵀ: all of it
would tie the classes together, and many more sweeps be needed. Lanes whose solution may not be
unique are left to ``minimise``: a pivot vanishes, or the slack of a class outside of the support.
"""

import numpy as np

from polychotomy.probability._compiled._lanes import factor_lanes, substitute_lanes
from polychotomy.probability._compiled._simplex import compiled, minimise

_SMALL_PIVOT = 1e-11
_DUAL_TOLERANCE = 1e-11
_FLAT = 1e-9
_PATIENCE = 3
_SWEEPS = 6
_TAKEN = 0.97  # share of the constant that the sweeps leave out
_OPEN, _SOLVED, _FAILED = 0, 1, 2


@compiled
def _normal_lanes(r, starts, classes, signs, shift, H):  # pragma: no cover - compiled
    """Write the upper triangles of N + shift 11ᵀ (k × k × lanes), with r of each (ℓ × lanes)."""
    k, lanes = H.shape[0], H.shape[2]
    product = np.empty((3, lanes))  # of two classes on the − side, on different sides, on the +
    for c in range(k):
        for d in range(c, k):
            for w in range(lanes):
                H[c, d, w] = shift
    for s in range(r.shape[0]):
        for w in range(lanes):
            plus, minus = 1.0 - r[s, w], -1.0 - r[s, w]
            product[0, w], product[1, w], product[2, w] = minus * minus, minus * plus, plus * plus
        for i in range(starts[s], starts[s + 1]):
            for j in range(i, starts[s + 1]):
                sides = int(1.0 + 0.5 * (signs[i] + signs[j]))
                c, d = classes[i], classes[j]
                for w in range(lanes):
                    H[c, d, w] += product[sides, w]


@compiled
def _guess_supports(H, left_out, x, slack, inside):  # pragma: no cover - compiled
    """Guess supports by sweeps over x_c ← max(0, x_c − (Hx − 1)_c / H_cc), less a constant in H."""
    k, lanes = x.shape
    change = np.empty(lanes)
    x[:], slack[:] = 0.0, -1.0
    for _ in range(_SWEEPS):
        for c in range(k):
            for w in range(lanes):
                change[w] = max(-x[c, w], -slack[c, w] / (H[c, c, w] - left_out))
                x[c, w] += change[w]
            for d in range(k):
                first, second = min(c, d), max(c, d)
                for w in range(lanes):
                    slack[d, w] += change[w] * (H[first, second, w] - left_out)
    for c in range(k):
        for w in range(lanes):
            inside[c, w] = x[c, w] > 0.0


@compiled
def _set_up(H, inside, state, members, sizes, U, x):  # pragma: no cover - compiled
    """Write H_PP and 1 of open lanes, and trivial equations up to the most rows; return these."""
    k, lanes = inside.shape
    rows = 0
    for w in range(lanes):
        sizes[w] = 0
        for c in range(k):
            if state[w] == _OPEN and inside[c, w]:
                members[sizes[w], w] = c
                sizes[w] += 1
        rows = max(rows, sizes[w])
    for w in range(lanes):
        m = sizes[w]
        for i in range(m):
            c = members[i, w]
            for j in range(i, m):
                U[i, j, w] = H[c, members[j, w], w]
            for j in range(m, rows):
                U[i, j, w] = 0.0
            x[i, w] = 1.0
        for i in range(m, rows):
            for j in range(i + 1, rows):
                U[i, j, w] = 0.0
            U[i, i, w], x[i, w] = 1.0, 0.0
    return rows


@compiled
def _read(H, U, solution, members, sizes, state, x, slack):  # pragma: no cover - compiled
    """Write x of all classes and Hx − 1; lanes with a vanishing pivot fail."""
    k, lanes = x.shape
    x[:], slack[:] = 0.0, -1.0
    for w in range(lanes):
        for i in range(sizes[w]):
            c = members[i, w]
            x[c, w] = solution[i, w]
            # The diagonal of U is inverse; what is not a number is no solution either.
            if not U[i, i, w] ** 2 * (_SMALL_PIVOT * H[c, c, w]) <= 1.0:
                state[w] = _FAILED
    for c in range(k):
        for w in range(lanes):
            slack[c, w] += H[c, c, w] * x[c, w]
        for d in range(c + 1, k):
            for w in range(lanes):
                slack[c, w] += H[c, d, w] * x[d, w]
                slack[d, w] += H[c, d, w] * x[c, w]


@compiled
def _exchange(w, x, slack, inside, limits):  # pragma: no cover - compiled
    """Exchange the violating classes of lane w; return its state.

    `limits` holds the fewest violations so far and the rounds that may go on without fewer.
    """
    k, violations, last, flat = x.shape[0], 0, -1, False
    for c in range(k):
        flat = flat or (not inside[c, w] and slack[c, w] < _FLAT)
        if x[c, w] < 0.0 if inside[c, w] else slack[c, w] < -_DUAL_TOLERANCE:
            violations += 1
            last = c
    if violations < limits[w, 0]:
        limits[w, 0], limits[w, 1] = violations, _PATIENCE
    else:
        limits[w, 1] -= 1
    for c in range(k):
        violates = x[c, w] < 0.0 if inside[c, w] else slack[c, w] < -_DUAL_TOLERANCE
        if violates and (limits[w, 1] >= 0 or c == last):
            inside[c, w] = not inside[c, w]
    if violations > 0:
        return _OPEN
    return _FAILED if flat else _SOLVED


@compiled
def _write(H, state, x, out):  # pragma: no cover - compiled
    """Write x / Σx of the solved lanes, and solve the others one by one."""
    k = x.shape[0]
    for w in range(len(out)):
        if state[w] == _SOLVED:
            total = 0.0
            for c in range(k):
                total += x[c, w]
            for c in range(k):
                out[w, c] = x[c, w] / total
            continue
        own, U, free = np.empty((k, k)), np.empty((k, k)), np.empty(k)
        for c in range(k):
            for d in range(c, k):
                own[c, d] = own[d, c] = H[c, d, w]
        support, inside = np.empty(k, dtype=np.int64), np.ones(k, dtype=np.bool_)
        minimise(own, inside, out[w], support, U, np.ones(k), free)


@compiled
def least_squares_lanes(
    r, starts, classes, signs, shift, lanes, out
):  # pragma: no cover - compiled
    """Solve samples of any code, see ``least_squares``; `lanes` of them at a time."""
    n, k = out.shape
    H, U = np.empty((k, k, lanes)), np.empty((k, k, lanes))
    x, slack, solution = np.empty((k, lanes)), np.empty((k, lanes)), np.empty((k, lanes))
    found, own, root = np.empty((k, lanes)), np.empty((r.shape[1], lanes)), np.empty(lanes)
    inside, members = np.empty((k, lanes), np.bool_), np.empty((k, lanes), np.int64)
    state, sizes = np.empty(lanes, np.int64), np.empty(lanes, np.int64)
    limits = np.empty((lanes, 2), np.int64)
    for first in range(0, n, lanes):
        for w in range(lanes):
            for s in range(r.shape[1]):
                own[s, w] = r[min(first + w, n - 1), s]
            state[w] = _OPEN if first + w < n else _SOLVED
            limits[w, 0], limits[w, 1] = k + 1, _PATIENCE
        _normal_lanes(own, starts, classes, signs, shift, H)
        _guess_supports(H, _TAKEN * shift, x, slack, inside)
        for _ in range(100 * k):
            rows = _set_up(H, inside, state, members, sizes, U, solution)
            if rows == 0:
                break
            factor_lanes(U, rows, root)
            substitute_lanes(U, rows, solution)
            _read(H, U, solution, members, sizes, state, x, slack)
            for w in range(lanes):
                if sizes[w] > 0 and state[w] == _OPEN:
                    state[w] = _exchange(w, x, slack, inside, limits)
                    for c in range(k):
                        found[c, w] = x[c, w]
        _write(H, state, found, out[first : min(first + lanes, n)])
