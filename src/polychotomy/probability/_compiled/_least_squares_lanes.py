"""Least squares on the simplex for codes with zeros or few classes, many samples at a time.

Each sample has a matrix H of its own, see ``_simplex``, whose block principal pivoting this is. The
last axis of the arrays is a sample, a *lane*, as in ``_lanes``. The steps:

- H is a sum over problems of three products for each: (1 + r)², r² − 1 and (1 − r)². Which of them
  belong to a pair of classes depends on the code only and is listed once. The upper triangle of H
  is kept row after row, a *pair* of classes in each row. For strict codes it is that of AAᵀ, less
  Ar of both classes, plus constants.
- The first support is found by a few sweeps of over-relaxed, projected Gauss–Seidel steps with N
  and a small part of the constant c 11ᵀ: all of it would tie the classes together, and many more
  sweeps be needed. It is right for most samples.
- A round factors H on the supports of all lanes. Where most classes are inside, the others have
  the equation x_c = 0, so that all lanes have k equations.
- Samples whose first support is not right wait until there is one for each lane, and are solved
  together by further rounds.

Lanes whose solution may not be unique are left to ``minimise``: a pivot vanishes, or, for codes
with zeros, the slack of a class outside of the support.
"""

import numpy as np

from polychotomy.probability._compiled._lanes import factor_lanes, substitute_lanes
from polychotomy.probability._compiled._simplex import compiled, minimise

_SMALL_PIVOT = 1e-11
_DUAL_TOLERANCE = 1e-11
_FLAT = 1e-9
_PATIENCE = 3
_LEAST_SWEEPS, _MOST_SWEEPS = 4, 10
_TAKEN = 0.975  # share of the constant that the sweeps leave out
_RELAXATION = 1.1
_OPEN, _SOLVED, _FAILED, _IDLE = 0, 1, 2, 3


@compiled
def _list_products(starts, classes, signs, k):  # pragma: no cover - compiled
    """List the rows of products that add up to each pair of classes, see ``_write_products``.

    The list of a pair is filled up with a row of zeros, to a multiple of four.
    """
    ell, pair = len(starts) - 1, np.empty((k, k), np.int64)
    for c in range(k):
        for d in range(c, k):
            pair[c, d] = c * (2 * k - c - 1) // 2 + d
    begins = np.zeros(k * (k + 1) // 2 + 1, np.int64)
    for s in range(ell):
        for i in range(starts[s], starts[s + 1]):
            for j in range(i, starts[s + 1]):
                begins[pair[classes[i], classes[j]] + 1] += 1
    for e in range(len(begins) - 1):
        begins[e + 1] = begins[e] + -(-begins[e + 1] // 4) * 4
    following, listed = begins.copy(), np.full(begins[-1], 3 * ell)
    for s in range(ell):
        for i in range(starts[s], starts[s + 1]):
            for j in range(i, starts[s + 1]):
                e = pair[classes[i], classes[j]]
                listed[following[e]] = 3 * s + int(1.0 + 0.5 * (signs[i] + signs[j]))
                following[e] += 1
    return begins, listed


@compiled
def _write_products(q, products):  # pragma: no cover - compiled
    """Write for each problem the products of two classes on the − side, on both, on the + side."""
    for s in range(q.shape[1]):
        for w in range(q.shape[0]):
            r = 2.0 * q[w, s] - 1.0
            products[3 * s, w] = (1.0 + r) * (1.0 + r)
            products[3 * s + 1, w] = (r + 1.0) * (r - 1.0)
            products[3 * s + 2, w] = (1.0 - r) * (1.0 - r)


@compiled
def _normal_lanes(P, begins, listed, shift, H):  # pragma: no cover - compiled
    """Write N + shift 11ᵀ (pairs × lanes), with the products P."""
    lanes = H.shape[1]
    for e in range(H.shape[0]):
        for w in range(lanes):
            H[e, w] = shift
        half = begins[e] + (begins[e + 1] - begins[e]) // 8 * 8
        for t in range(begins[e], half, 8):
            a, b, c, d = listed[t], listed[t + 1], listed[t + 2], listed[t + 3]
            f, g, h, i = listed[t + 4], listed[t + 5], listed[t + 6], listed[t + 7]
            for w in range(lanes):
                first = (P[a, w] + P[b, w]) + (P[c, w] + P[d, w])
                H[e, w] += first + ((P[f, w] + P[g, w]) + (P[h, w] + P[i, w]))
        for t in range(half, begins[e + 1], 4):
            a, b, c, d = listed[t], listed[t + 1], listed[t + 2], listed[t + 3]
            for w in range(lanes):
                H[e, w] += (P[a, w] + P[b, w]) + (P[c, w] + P[d, w])


@compiled
def _write_sums(q, entries, r, sums):  # pragma: no cover - compiled
    """Write Ar of a strict code and, in the last row, |r|²; see ``least_squares_lanes``."""
    k, lanes = entries.shape[1], r.shape[1]
    sums[:] = 0.0
    for s in range(q.shape[1]):
        for w in range(lanes):
            r[s, w] = 2.0 * q[w, s] - 1.0
            sums[k, w] += r[s, w] * r[s, w]
    for c in range(k):
        for s in range(0, len(entries), 4):
            a, b, d, e = entries[s, c], entries[s + 1, c], entries[s + 2, c], entries[s + 3, c]
            for w in range(lanes):
                sums[c, w] += (a * r[s, w] + b * r[s + 1, w]) + (d * r[s + 2, w] + e * r[s + 3, w])


@compiled
def _strict_lanes(sums, gram, shift, H):  # pragma: no cover - compiled
    """Write N + shift 11ᵀ of a strict code, with AAᵀ of each pair."""
    k, lanes = len(sums) - 1, H.shape[1]
    e = 0
    for c in range(k):
        for d in range(c, k):
            for w in range(lanes):
                H[e, w] = (gram[e] + shift) + ((sums[k, w] - sums[c, w]) - sums[d, w])
            e += 1


@compiled
def _guess_supports(H, left_out, single, inside):  # pragma: no cover - compiled
    """Guess supports by sweeps over x_c ← max(0, x_c − ω (Hx − 1)_c / H_cc), less a constant in H.

    A support is a row of ones and zeros (k × lanes). A guess does with single precision.
    """
    K, scale, x, slack, change = single
    k, lanes = x.shape
    for e in range(len(H)):
        for w in range(lanes):
            K[e, w] = H[e, w] - left_out
    for c in range(k):
        own = c * (2 * k - c - 1) // 2
        for w in range(lanes):
            scale[c, w] = _RELAXATION / K[own + c, w]
    x[:], slack[:] = 0.0, -1.0
    n_sweeps = min(_LEAST_SWEEPS + k // 8, _MOST_SWEEPS)
    for sweep in range(n_sweeps):
        for c in range(k):
            own = c * (2 * k - c - 1) // 2
            for w in range(lanes):
                change[w] = max(-x[c, w], -slack[c, w] * scale[c, w])
                x[c, w] += change[w]
            if sweep < n_sweeps - 1:
                for d in range(c):
                    e = d * (2 * k - d - 1) // 2 + c
                    for w in range(lanes):
                        slack[d, w] += change[w] * K[e, w]
            for d in range(c, k):
                for w in range(lanes):
                    slack[d, w] += change[w] * K[own + d, w]
    for c in range(k):
        for w in range(lanes):
            inside[c, w] = 1.0 if x[c, w] > 0.0 else 0.0


@compiled
def _set_up_all(H, inside, U, x):  # pragma: no cover - compiled
    """Write H_PP and 1 of supports P, and the equations x_c = 0 of the classes outside of P."""
    k, lanes = inside.shape
    e = 0
    for c in range(k):
        for w in range(lanes):
            x[c, w] = inside[c, w]
            U[c, c, w] = H[e, w] if inside[c, w] > 0.0 else 1.0
        for d in range(c + 1, k):
            for w in range(lanes):
                U[c, d, w] = H[e + d - c, w] * (inside[c, w] * inside[d, w])
        e += k - c


@compiled
def _set_up_some(H, members, n_members, rows, U, x):  # pragma: no cover - compiled
    """Write H_PP and 1 of the members of supports P, and trivial equations up to `rows`."""
    k, lanes = members.shape
    for i in range(rows):
        for w in range(lanes):
            x[i, w] = 1.0 if i < n_members[w] else 0.0
        for j in range(i, rows):
            for w in range(lanes):
                c, d = members[i, w], members[j, w]
                each = H[c * (2 * k - c - 1) // 2 + d, w]
                U[i, j, w] = each if j < n_members[w] else (1.0 if i == j else 0.0)


@compiled
def _list_inside(inside, members, n_members):  # pragma: no cover - compiled
    """List the classes of each support."""
    k, lanes = inside.shape
    n_members[:], members[:] = 0, k - 1
    for c in range(k):
        for w in range(lanes):
            if inside[c, w] > 0.0:
                members[n_members[w], w] = c
                n_members[w] += 1


@compiled
def _count_most(inside, counts):  # pragma: no cover - compiled
    """Return how many classes the largest support has."""
    counts[:], most = 0.0, 0.0
    for c in range(len(inside)):
        for w in range(len(counts)):
            counts[w] += inside[c, w]
    for w in range(len(counts)):
        most = max(most, counts[w])
    return int(most)


@compiled
def _read(H, U, rows, solution, members, n_members, x, sound):  # pragma: no cover - compiled
    """Write x of all classes; `sound` is 0 for lanes with a vanishing pivot."""
    k, lanes = x.shape
    x[:], sound[:] = 0.0, 1.0
    for i in range(rows):
        for w in range(lanes):
            if i < n_members[w]:
                c = members[i, w]
                x[c, w] = solution[i, w]
                # The diagonal of U is inverse; what is not a number is no solution either.
                small = U[i, i, w] * U[i, i, w] * (_SMALL_PIVOT * H[c * (2 * k - c + 1) // 2, w])
                sound[w] = sound[w] if small <= 1.0 else 0.0


@compiled
def _solve_on_supports(H, inside, x, sound, work):  # pragma: no cover - compiled
    """Solve H_PP x_P = 1 in all lanes, see ``_read``.

    Where no support has many classes, there are only as many equations as the largest has.
    """
    U, solution, members, n_members = work
    k = len(x)
    rows = _count_most(inside, sound)
    if 4 * rows <= 3 * k:
        _list_inside(inside, members, n_members)
        _set_up_some(H, members, n_members, rows, U, solution)
        factor_lanes(U, rows, sound)
        substitute_lanes(U, rows, solution)
        _read(H, U, rows, solution, members, n_members, x, sound)
        return
    _set_up_all(H, inside, U, x)
    factor_lanes(U, k, sound)
    substitute_lanes(U, k, x)
    sound[:] = 1.0
    for c in range(k):
        for w in range(len(sound)):
            small = U[c, c, w] * U[c, c, w] * (_SMALL_PIVOT * H[c * (2 * k - c + 1) // 2, w])
            sound[w] = sound[w] if small <= 1.0 else 0.0


@compiled
def _write_slack(H, x, slack):  # pragma: no cover - compiled
    """Write Hx − 1."""
    k, lanes = x.shape
    slack[:] = -1.0
    e = 0
    for c in range(k):
        for w in range(lanes):
            slack[c, w] += H[e, w] * x[c, w]
        for d in range(c + 1, k):
            for w in range(lanes):
                slack[c, w] += H[e + d - c, w] * x[d, w]
                slack[d, w] += H[e + d - c, w] * x[c, w]
        e += k - c


@compiled
def _exchange(x, slack, sound, inside, limits, tally, flat, state):  # pragma: no cover - compiled
    """Exchange the violating classes of open lanes, and write what has become of these lanes.

    `limits` holds the fewest violations so far and the rounds that may go on without fewer; `tally`
    the violations, the last class of them, and the smallest slack outside of the support, which
    must not be below `flat`.
    """
    k, lanes = x.shape
    for w in range(lanes):
        tally[0, w], tally[1, w], tally[2, w] = 0.0, -1.0, np.inf
    for c in range(k):
        for w in range(lanes):
            margin = x[c, w] if inside[c, w] > 0.0 else slack[c, w] + _DUAL_TOLERANCE
            tally[0, w] += 1.0 if margin < 0.0 else 0.0
            tally[1, w] = c if margin < 0.0 else tally[1, w]
            tally[2, w] = min(tally[2, w], np.inf if inside[c, w] > 0.0 else slack[c, w])
    for w in range(lanes):
        if state[w] == _OPEN:
            if sound[w] == 0.0:
                state[w] = _FAILED
            elif tally[0, w] == 0.0:
                state[w] = _FAILED if tally[2, w] < flat else _SOLVED
        fewer = tally[0, w] < limits[0, w]
        limits[1, w] = _PATIENCE if fewer else limits[1, w] - 1.0
        limits[0, w] = min(limits[0, w], tally[0, w])
    for c in range(k):
        for w in range(lanes):
            margin = x[c, w] if inside[c, w] > 0.0 else slack[c, w] + _DUAL_TOLERANCE
            joins = margin < 0.0 and (limits[1, w] >= 0.0 or c == tally[1, w])
            inside[c, w] = 1.0 - inside[c, w] if joins else inside[c, w]


@compiled
def _round(H, inside, limits, state, found, work):  # pragma: no cover - compiled
    """Solve on the supports of all lanes, then exchange."""
    x, slack, sound, tally, flat = found
    _solve_on_supports(H, inside, x, sound, work)
    _write_slack(H, x, slack)
    _exchange(x, slack, sound, inside, limits, tally, flat, state)


@compiled
def _write(H, state, x, samples, total, out):  # pragma: no cover - compiled
    """Write x / Σx of solved lanes, solve those that failed one by one, and count open ones."""
    k, lanes = x.shape
    n_open = 0
    total[:] = 0.0
    for c in range(k):
        for w in range(lanes):
            total[w] += x[c, w]
    for c in range(k):
        for w in range(lanes):
            x[c, w] /= total[w]
    for w in range(lanes):
        if state[w] == _SOLVED:
            for c in range(k):
                out[samples[w], c] = x[c, w]
        elif state[w] == _FAILED:
            own, e = np.empty((k, k)), 0
            for c in range(k):
                for d in range(c, k):
                    own[c, d] = own[d, c] = H[e, w]
                    e += 1
            support, inside = np.empty(k, dtype=np.int64), np.ones(k, dtype=np.bool_)
            U, free = np.empty((k, k)), np.empty(k)
            minimise(own, inside, out[samples[w]], support, U, np.ones(k), free)
        if state[w] == _OPEN:
            n_open += 1
        else:
            state[w] = _IDLE
    return n_open


@compiled
def _finish_waiting(waiting, n_waiting, found, work, out):  # pragma: no cover - compiled
    """Solve the samples that wait."""
    H, inside, limits, state, samples = waiting
    for w in range(len(state)):
        state[w] = _OPEN if w < n_waiting else _IDLE
    left, n_open = 100 * len(inside), n_waiting
    while n_open > 0:
        _round(H, inside, limits, state, found, work)
        for w in range(len(state)):
            if left == 0 and state[w] == _OPEN:  # theory has an end, rounding might not
                state[w] = _FAILED
        left -= 1
        n_open = _write(H, state, found[0], samples, found[2], out)


@compiled
def _copy_lane(w, lanes, v, others):  # pragma: no cover - compiled
    """Copy H, support, limits and sample of lane w to lane v of others."""
    for e in range(len(lanes[0])):
        others[0][e, v] = lanes[0][e, w]
    for c in range(len(lanes[1])):
        others[1][c, v] = lanes[1][c, w]
    for t in range(len(lanes[2])):
        others[2][t, v] = lanes[2][t, w]
    others[4][v] = lanes[4][w]


@compiled
def _make_room(k, lanes):  # pragma: no cover - compiled
    """Return H, the supports, the limits of exchanges, the states and samples of lanes."""
    pairs = k * (k + 1) // 2
    state, samples = np.empty(lanes, np.int64), np.empty(lanes, np.int64)
    return np.zeros((pairs, lanes)), np.zeros((k, lanes)), np.zeros((2, lanes)), state, samples


@compiled
def _make_work(k, lanes, flat):  # pragma: no cover - compiled
    """Return what a round finds, the work space for it, and that in single precision."""
    x, slack, sound = np.empty((k, lanes)), np.empty((k, lanes)), np.empty(lanes)
    members, n_members = np.empty((k, lanes), np.int64), np.empty(lanes, np.int64)
    single = (
        np.empty((k * (k + 1) // 2, lanes), np.float32),
        np.empty((k, lanes), np.float32),
        np.empty((k, lanes), np.float32),
        np.empty((k, lanes), np.float32),
        np.empty(lanes, np.float32),
    )
    work = np.empty((k, k, lanes)), np.empty((k, lanes)), members, n_members
    return (x, slack, sound, np.empty((3, lanes)), flat), work, single


@compiled
def least_squares_lanes(
    q, starts, classes, signs, entries, gram, shift, lanes, out
):  # pragma: no cover - compiled
    """Solve samples (n × ℓ) of any code, see ``least_squares``; `lanes` of them at a time.

    For a strict code, `entries` are its columns as rows, to a multiple of 4, and `gram` is AAᵀ of
    each pair. Otherwise they are empty.
    """
    n, k = out.shape
    lanes, ell, strict = max(1, min(lanes, n)), q.shape[1], len(gram) > 0
    begins, listed = _list_products(starts, classes, signs, k)
    parts, sums = np.zeros((3 * ell + 4, lanes)), np.empty((k + 1, lanes))
    H, inside, limits, state, samples = _make_room(k, lanes)
    waiting, n_waiting = _make_room(k, lanes), 0
    found, work, single = _make_work(k, lanes, -np.inf if strict else _FLAT)
    for start in range(0, n, lanes):
        first = min(start, n - lanes)  # the last samples may be solved twice
        for w in range(lanes):
            samples[w], state[w] = first + w, _OPEN
            limits[0, w], limits[1, w] = k + 1, _PATIENCE
        if strict:
            _write_sums(q[first : first + lanes], entries, parts, sums)
            _strict_lanes(sums, gram, shift, H)
        else:
            _write_products(q[first : first + lanes], parts)
            _normal_lanes(parts, begins, listed, shift, H)
        _guess_supports(H, _TAKEN * shift, single, inside)
        _round(H, inside, limits, state, found, work)
        _write(H, state, found[0], samples, found[2], out)
        for w in range(lanes):
            if state[w] == _OPEN:
                if n_waiting == lanes:
                    _finish_waiting(waiting, n_waiting, found, work, out)
                    n_waiting = 0
                _copy_lane(w, (H, inside, limits, state, samples), n_waiting, waiting)
                n_waiting += 1
    if n_waiting > 0:
        _finish_waiting(waiting, n_waiting, found, work, out)
