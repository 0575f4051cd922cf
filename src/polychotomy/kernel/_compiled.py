"""The compiled parts of the solver: flat functions of arrays and numbers.

A problem has n samples p and maximises, over coefficients 0 ≤ a ≤ c with Σ y a = 0,

    Σ a − ½ Σ_pq y_p a_p K_pq y_q a_q,

where y = ±1 is the side. Legend: f = Σ_q y_q a_q K_qp is the output without bias and e = y − f. A
coefficient can move its sample's output *up* if y a can grow, and *down* if it can shrink. The
optimum is where no sample that can go up has a larger e than one that can go down; the difference
of the two extremes is the *violation*, and training stops when it is at most `tol` (LIBSVM's rule).

Each round takes a block of the samples that violate most, together with some of the last block,
solves the block's own problem by pairs chosen by second-order gain (Fan, Chen and Lin, 2005), and
adds what changed to all f. ``sample[p]`` is the number of a sample among all, and ``K[slot[i]]``
the kernel row of sample i; ``starts`` and ``stops`` are the runs of consecutive numbers in
``sample``.
"""

import numba
import numpy as np

_compiled = numba.njit(cache=True, nogil=True, error_model="numpy")
_fast = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=True)

DONE, NEEDS_ROWS, INTERRUPTED, TOO_MANY_STEPS = 0, 1, 2, 3

_NEVER = 1e300
_FLAT = 1e-12
_TILE = 1024
_ROW_TILE = 512
_LANES = 16

_LOG2_E = np.float32(1.44269504)
_LN_2_HIGH = np.float32(0.693359375)
_LN_2_LOW = np.float32(-2.12194440e-4)


@_fast
def _exp_tile(products, own, squares, gamma, out, bits):
    """Write exp(−γ max(own + squares − 2 products, 0)) in single precision, to about 2 ulp.

    e^x = 2^k e^r with |r| ≤ ½ log 2; e^r by a polynomial (Cephes), 2^k by its bits.
    """
    powers = bits.view(np.float32)
    for j in range(len(products)):
        distance = own + squares[j] - np.float32(2) * products[j]
        x = max(-gamma * max(distance, np.float32(0)), np.float32(-87))
        k = np.floor(x * _LOG2_E + np.float32(0.5))
        r = x - k * _LN_2_HIGH - k * _LN_2_LOW
        p = np.float32(1.9875691500e-4)
        p = p * r + np.float32(1.3981999507e-3)
        p = p * r + np.float32(8.3334519073e-3)
        p = p * r + np.float32(4.1665795894e-2)
        p = p * r + np.float32(1.6666665459e-1)
        p = p * r + np.float32(5.0000001201e-1)
        out[j] = p * r * r + r + np.float32(1)
        bits[j] = (np.int32(k) + np.int32(127)) << np.int32(23)
    for j in range(len(products)):
        out[j] *= powers[j]


@_fast
def rbf_from_products(products, own, squares, gamma, K, slots):
    """Write Gaussian kernel values from products: of row r into ``K[slots[r]]``."""
    bits = np.empty(_TILE, np.int32)
    n = len(squares)
    for r in range(len(slots)):
        for start in range(0, n, _TILE):
            stop = min(start + _TILE, n)
            _exp_tile(
                products[r, start:stop],
                own[r],
                squares[start:stop],
                gamma,
                K[slots[r], start:stop],
                bits[: stop - start],
            )


@_fast
def _products_tile(x, Y, first, out):
    """Write the products of x with the columns of Y from `first` on, eight features at a time."""
    n, d = len(out), len(x)
    stop = first + n
    for j in range(n):
        out[j] = np.float32(0)
    f = 0
    while f + 8 <= d:
        y0, y1, y2, y3 = (
            Y[f, first:stop],
            Y[f + 1, first:stop],
            Y[f + 2, first:stop],
            Y[f + 3, first:stop],
        )
        y4, y5, y6, y7 = (
            Y[f + 4, first:stop],
            Y[f + 5, first:stop],
            Y[f + 6, first:stop],
            Y[f + 7, first:stop],
        )
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        x4, x5, x6, x7 = x[f + 4], x[f + 5], x[f + 6], x[f + 7]
        for j in range(n):
            out[j] += (x0 * y0[j] + x1 * y1[j] + x2 * y2[j] + x3 * y3[j]) + (
                x4 * y4[j] + x5 * y5[j] + x6 * y6[j] + x7 * y7[j]
            )
        f += 8
    while f < d:
        y0, x0 = Y[f, first:stop], x[f]
        for j in range(n):
            out[j] += x0 * y0[j]
        f += 1


@_fast
def rbf_rows(X, own, Y, squares, gamma, K, slots, starts, stops, wanted):
    """Write Gaussian kernel values of row r of X into ``K[slots[r]]``, in ranges of columns.

    The samples against which are the columns of Y; ``wanted[r, g]`` tells whether row r is to be
    written from ``starts[g]`` to ``stops[g]``. A tile of columns stays in the processor's cache for
    all rows; values do not depend on which rows are computed together.
    """
    products, bits = np.empty(_ROW_TILE, np.float32), np.empty(_ROW_TILE, np.int32)
    for run in range(len(starts)):
        for first in range(starts[run], stops[run], _ROW_TILE):
            stop = min(first + _ROW_TILE, stops[run])
            n = stop - first
            for r in range(len(slots)):
                if not wanted[r, run]:
                    continue
                _products_tile(X[r], Y, first, products[:n])
                _exp_tile(
                    products[:n],
                    own[r],
                    squares[first:stop],
                    gamma,
                    K[slots[r], first:stop],
                    bits[:n],
                )


@_compiled
def _can_go_up(y, a, c):
    return a < c if y > 0 else a > 0


@_compiled
def _can_go_down(y, a, c):
    return a > 0 if y > 0 else a < c


@_compiled
def select(y, a, c, f, up, down):
    """Fill `up` and `down` with the samples that violate most, the worst first.

    Returns how many each has, and the largest e that can go up and the smallest that can go down.
    """
    most = len(up)
    up_e, down_e = np.empty(most), np.empty(most)
    n_up = n_down = 0
    highest, lowest = -np.inf, np.inf
    for p in range(len(y)):
        e = y[p] - f[p]
        if _can_go_up(y[p], a[p], c[p]):
            highest = max(highest, e)
            if n_up < most or e > up_e[most - 1]:
                n_up = min(n_up + 1, most)
                k = n_up - 1
                while k > 0 and up_e[k - 1] < e:
                    up_e[k], up[k] = up_e[k - 1], up[k - 1]
                    k -= 1
                up_e[k], up[k] = e, p
        if _can_go_down(y[p], a[p], c[p]):
            lowest = min(lowest, e)
            if n_down < most or e < down_e[most - 1]:
                n_down = min(n_down + 1, most)
                k = n_down - 1
                while k > 0 and down_e[k - 1] > e:
                    down_e[k], down[k] = down_e[k - 1], down[k - 1]
                    k -= 1
                down_e[k], down[k] = e, p
    return n_up, n_down, highest, lowest


@_compiled
def fill_block(block, n_block, up, n_up, down, n_down, marked):
    """Put the worst of both sides into the block, then as much as fits of what was in it.

    The first block is filled with the worst alone, later ones by half. Returns its new size.
    """
    size = len(block)
    last = block[:n_block].copy()
    new = size // 2 if n_block == 0 else max(size // 4, 1)
    n = 0
    for k in range(new):
        if k < n_up and not marked[up[k]]:
            block[n] = up[k]
            marked[up[k]] = True
            n += 1
        if k < n_down and not marked[down[k]]:
            block[n] = down[k]
            marked[down[k]] = True
            n += 1
    for p in last:
        if n < size and not marked[p]:
            block[n] = p
            marked[p] = True
            n += 1
    for k in range(n):
        marked[block[k]] = False
    return n


@_fast
def _largest(values, n):
    """Return the maximum of the first n; in eight lanes, since one would wait for itself."""
    a = b = c = d = e = f = g = h = -_NEVER * 1e8
    k = 0
    while k + 8 <= n:
        a, b = max(a, values[k]), max(b, values[k + 1])
        c, d = max(c, values[k + 2]), max(d, values[k + 3])
        e, f = max(e, values[k + 4]), max(f, values[k + 5])
        g, h = max(g, values[k + 6]), max(h, values[k + 7])
        k += 8
    while k < n:
        a = max(a, values[k])
        k += 1
    return max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h)))


@_fast
def _gains(row, diagonal, own, down_e, highest, n, gains):
    """Write what the dual objective gains, twice, by moving the chosen sample and each other."""
    for k in range(n):
        slope = max(highest - down_e[k], 0.0)
        gains[k] = slope * slope / max(own + diagonal[k] - 2 * row[k], _FLAT)


@_fast
def _shift(e, up_e, down_e, no_up, no_down, row_i, row_j, by_i, by_j, n):
    for k in range(n):
        moved = e[k] - (by_i * row_i[k] + by_j * row_j[k])
        e[k] = moved
        up_e[k] = moved - no_up[k]
        down_e[k] = moved + no_down[k]


@_compiled
def solve_block(Q, y, a, c, e, n, enough, most_steps):
    """Solve the problem of n samples by pairs, until the violation is at most `enough`.

    Changes `a` and `e`; returns the number of steps.
    """
    up_e, down_e, gains = np.empty(n), np.empty(n), np.empty(n)
    no_up, no_down, diagonal = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        diagonal[k] = Q[k, k]
        no_up[k] = 0.0 if _can_go_up(y[k], a[k], c[k]) else _NEVER
        no_down[k] = 0.0 if _can_go_down(y[k], a[k], c[k]) else _NEVER
        up_e[k], down_e[k] = e[k] - no_up[k], e[k] + no_down[k]
    steps = 0
    while steps < most_steps:
        highest = _largest(up_e, n)
        if highest < -_NEVER / 2:
            break
        i = 0
        while up_e[i] != highest:
            i += 1
        _gains(Q[i], diagonal, diagonal[i], down_e, highest, n, gains)
        best = _largest(gains, n)
        if best <= 0:
            break
        if steps % 8 == 0 and highest - down_e[:n].min() <= enough:
            break
        j = 0
        while gains[j] != best:
            j += 1
        room_i = c[i] - a[i] if y[i] > 0 else a[i]
        room_j = a[j] if y[j] > 0 else c[j] - a[j]
        t = (e[i] - e[j]) / max(diagonal[i] + diagonal[j] - 2 * Q[i, j], _FLAT)
        t = min(t, room_i, room_j)
        before_i, before_j = a[i], a[j]
        a[i] += y[i] * t
        a[j] -= y[j] * t
        if t == room_i:  # exactly at the bound, whatever rounding did
            a[i] = c[i] if y[i] > 0 else 0.0
        if t == room_j:
            a[j] = 0.0 if y[j] > 0 else c[j]
        for k in (i, j):
            no_up[k] = 0.0 if _can_go_up(y[k], a[k], c[k]) else _NEVER
            no_down[k] = 0.0 if _can_go_down(y[k], a[k], c[k]) else _NEVER
        by_i, by_j = y[i] * (a[i] - before_i), y[j] * (a[j] - before_j)
        _shift(e, up_e, down_e, no_up, no_down, Q[i], Q[j], by_i, by_j, n)
        steps += 1
    return steps


@_fast
def add_rows(K, slots, weights, n_rows, f, starts, stops):
    """Add Σ_r weights_r K[slots_r] to f, eight rows and a tile at a time."""
    base = 0
    for run in range(len(starts)):
        for first in range(starts[run], stops[run], _TILE):
            n = min(first + _TILE, stops[run]) - first
            out = f[base : base + n]
            base += n
            r = 0
            while r + 8 <= n_rows:
                k0, k1 = K[slots[r], first : first + n], K[slots[r + 1], first : first + n]
                k2, k3 = K[slots[r + 2], first : first + n], K[slots[r + 3], first : first + n]
                k4, k5 = K[slots[r + 4], first : first + n], K[slots[r + 5], first : first + n]
                k6, k7 = K[slots[r + 6], first : first + n], K[slots[r + 7], first : first + n]
                w0, w1, w2, w3 = weights[r], weights[r + 1], weights[r + 2], weights[r + 3]
                w4, w5, w6, w7 = weights[r + 4], weights[r + 5], weights[r + 6], weights[r + 7]
                for j in range(n):
                    out[j] += (w0 * k0[j] + w1 * k1[j] + w2 * k2[j] + w3 * k3[j]) + (
                        w4 * k4[j] + w5 * k5[j] + w6 * k6[j] + w7 * k7[j]
                    )
                r += 8
            while r < n_rows:
                k0, w0 = K[slots[r], first : first + n], weights[r]
                for j in range(n):
                    out[j] += w0 * k0[j]
                r += 1


@_fast
def sparse_outputs(values, first, rows, weights, bias, out):
    """Write values times sparse weights plus bias: column s has ``rows[first[s]:first[s + 1]]``.

    Sixteen samples at a time stand side by side, so that a weight meets all of them at once.
    """
    n, n_rows = values.shape
    beside = np.zeros((n_rows, _LANES), values.dtype)
    total = np.empty(_LANES)
    for start in range(0, n, _LANES):
        lanes = min(_LANES, n - start)
        for b in range(lanes):
            for j in range(n_rows):
                beside[j, b] = values[start + b, j]
        for s in range(len(bias)):
            for b in range(_LANES):
                total[b] = bias[s]
            for k in range(first[s], first[s + 1]):
                row, weight = beside[rows[k]], weights[k]
                for b in range(_LANES):
                    total[b] += weight * row[b]
            for b in range(lanes):
                out[start + b, s] = total[b]


@_compiled
def gather_block(K, slot, numbers, n, Q):
    """Write the kernel among n samples; a half is read, the other is its mirror image."""
    for u in range(n):
        row = K[slot[numbers[u]]]
        for v in range(u, n):
            Q[u, v] = row[numbers[v]]
            Q[v, u] = Q[u, v]


@_compiled
def advance(
    K, slot, sample, starts, stops, y, a, c, f, block, marked, state, tol, most_steps, most_rounds
):
    """Run rounds until the problem is solved, rows are missing, or `most_rounds` are over.

    `state` has the block's size, whether it is chosen and not yet solved, the steps so far, the
    rounds so far and the violation. Returns one of the four outcomes.
    """
    size = len(block)
    up, down = np.empty(size // 2, np.int64), np.empty(size // 2, np.int64)
    Q = np.empty((size, size), K.dtype)
    own = np.empty(size, np.int64)
    block_y, block_a, block_c = np.empty(size), np.empty(size), np.empty(size)
    block_e, weights, slots = np.empty(size), np.empty(size), np.empty(size, np.int64)
    rounds = 0
    while True:
        if state[1] == 0:
            n_up, n_down, highest, lowest = select(y, a, c, f, up, down)
            state[4] = highest - lowest if n_up > 0 and n_down > 0 else 0.0
            if state[4] <= tol:
                return DONE
            if most_steps >= 0 and state[2] >= most_steps:
                return TOO_MANY_STEPS
            state[0] = fill_block(block, int(state[0]), up, n_up, down, n_down, marked)
            state[1] = 1
        n = int(state[0])
        for k in range(n):
            own[k] = sample[block[k]]
            if slot[own[k]] < 0:
                return NEEDS_ROWS
        gather_block(K, slot, own, n, Q)
        for k in range(n):
            p = block[k]
            block_y[k], block_a[k], block_c[k], block_e[k] = y[p], a[p], c[p], y[p] - f[p]
        left = most_steps - int(state[2]) if most_steps >= 0 else 1_000_000
        enough = max(0.5 * tol, 0.1 * state[4])
        state[2] += solve_block(Q, block_y, block_a, block_c, block_e, n, enough, left)
        changed = 0
        for k in range(n):
            p = block[k]
            weight = y[p] * (block_a[k] - a[p])
            if weight != 0:
                weights[changed], slots[changed] = weight, slot[own[k]]
                a[p] = block_a[k]
                changed += 1
        add_rows(K, slots, weights, changed, f, starts, stops)
        state[1] = 0
        state[3] += 1
        rounds += 1
        if rounds == most_rounds:
            return INTERRUPTED
