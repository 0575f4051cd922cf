"""Blocks of samples: choosing them and solving their own small problem."""

import numpy as np

from polychotomy.kernel._compiled._jit import compiled, fast

_NEVER = 1e300
_FLAT = 1e-12
_SELECT_TILE = 32


@compiled
def _can_go_up(y, a, c):
    return a < c if y > 0 else a > 0


@compiled
def _can_go_down(y, a, c):
    return a > 0 if y > 0 else a < c


@compiled
def _insert(keys, items, n, key, item):
    """Put an item into a list of falling keys, if it fits; return how many there are."""
    if n == len(keys):
        if n == 0 or key <= keys[n - 1]:
            return n
        n -= 1
    k = n
    while k > 0 and keys[k - 1] < key:
        keys[k], items[k] = keys[k - 1], items[k - 1]
        k -= 1
    keys[k], items[k] = key, item
    return n + 1


@fast
def _keys(y, a, c, f, first, up_e, down_e):
    """Write e of samples from `first` on, negated for down; −∞ where they cannot go there.

    Returns the largest of both.
    """
    highest, lowest = -_NEVER, -_NEVER
    for k in range(len(up_e)):
        p = first + k
        e, rises, falls = y[p] - f[p], a[p] < c[p], a[p] > 0
        up = e if (rises if y[p] > 0 else falls) else -_NEVER
        down = -e if (falls if y[p] > 0 else rises) else -_NEVER
        up_e[k], down_e[k] = up, down
        highest, lowest = max(highest, up), max(lowest, down)
    return highest, lowest


@compiled
def select(y, a, c, f, up, down):
    """Fill `up` and `down` with the samples that violate most, the worst first.

    Returns how many each has, and the largest e that can go up and the smallest that can go down.
    A tile of samples is looked at one by one only if the worst of it is among the worst so far.
    """
    n, most = len(y), len(up)
    up_e, down_e = np.empty(most), np.empty(most)
    up_tile, down_tile = np.empty(_SELECT_TILE), np.empty(_SELECT_TILE)
    n_up = n_down = 0
    for first in range(0, n, _SELECT_TILE):
        size = min(_SELECT_TILE, n - first)
        highest, lowest = _keys(y, a, c, f, first, up_tile[:size], down_tile[:size])
        if highest > -_NEVER and (n_up < most or highest > up_e[most - 1]):
            for k in range(size):
                if up_tile[k] > -_NEVER:
                    n_up = _insert(up_e, up, n_up, up_tile[k], first + k)
        if lowest > -_NEVER and (n_down < most or lowest > down_e[most - 1]):
            for k in range(size):
                if down_tile[k] > -_NEVER:
                    n_down = _insert(down_e, down, n_down, down_tile[k], first + k)
    return (
        n_up,
        n_down,
        up_e[0] if n_up > 0 else -np.inf,
        -down_e[0] if n_down > 0 else np.inf,
    )


@compiled
def select_pairs(y, a, c, F, up, down):
    """Fill `up` and `down` with entries of whatever problems: by turns a pair and the worst.

    The replicas of a sample have nearly equal kernel rows, and both must be in a block for them to
    move. Candidates are one entry of either side for each sample, those that violate most; pairs
    are those with the largest difference. Returns what :func:`select` does.
    """
    n_problems, m = y.shape
    highest, lowest = np.full(m, -np.inf), np.full(m, np.inf)
    up_entry, down_entry = np.zeros(m, np.int64), np.zeros(m, np.int64)
    for s in range(n_problems):
        for p in range(m):
            e = y[s, p] - F[s, p]
            if e > highest[p] and _can_go_up(y[s, p], a[s, p], c[s, p]):
                highest[p], up_entry[p] = e, s * m + p
            if e < lowest[p] and _can_go_down(y[s, p], a[s, p], c[s, p]):
                lowest[p], down_entry[p] = e, s * m + p
    half = len(up) // 2
    keys, samples = np.empty((3, half)), np.empty((3, half), np.int64)
    n_pairs = n_worst_up = n_worst_down = 0
    for p in range(m):
        if highest[p] > -np.inf:
            n_worst_up = _insert(keys[0], samples[0], n_worst_up, highest[p], p)
        if lowest[p] < np.inf:
            n_worst_down = _insert(keys[1], samples[1], n_worst_down, -lowest[p], p)
        if -np.inf < lowest[p] < highest[p] < np.inf:
            n_pairs = _insert(keys[2], samples[2], n_pairs, highest[p] - lowest[p], p)
    n_up = n_down = 0
    for k in range(half):
        if k < n_pairs:
            up[n_up], down[n_down] = up_entry[samples[2, k]], down_entry[samples[2, k]]
            n_up, n_down = n_up + 1, n_down + 1
        if k < n_worst_up:
            up[n_up] = up_entry[samples[0, k]]
            n_up += 1
        if k < n_worst_down:
            down[n_down] = down_entry[samples[1, k]]
            n_down += 1
    return n_up, n_down, highest.max(), lowest.min()


@compiled
def fill_block(block, n_block, up, n_up, down, n_down, marked):
    """Put the worst of both sides into the block, then as much as fits of what was in it.

    The first block is filled with the worst alone, later ones by half, but with two of either side
    at least: of coupled problems, a pair of replicas comes before the worst, and a block without
    the worst may have nothing left to do. Returns its new size.
    """
    size = len(block)
    last = block[:n_block].copy()
    new = size // 2 if n_block == 0 else max(size // 4, 2)
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


@fast
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


@fast
def _gains(row, diagonal, own, down_e, highest, n, gains):
    """Write what the dual objective gains, twice, by moving the chosen sample and each other."""
    for k in range(n):
        slope = max(highest - down_e[k], 0.0)
        gains[k] = slope * slope / max(own + diagonal[k] - 2 * row[k], _FLAT)


@fast
def _shift(e, up_e, down_e, no_up, no_down, row_i, row_j, by_i, by_j, n):
    for k in range(n):
        moved = e[k] - (by_i * row_i[k] + by_j * row_j[k])
        e[k] = moved
        up_e[k] = moved - no_up[k]
        down_e[k] = moved + no_down[k]


@compiled
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


@compiled
def place_block(last, n_last, block, n, places, fresh, where):
    """Let what stays in a block keep its place; the others take places that are free.

    ``places[k]`` is the place of ``block[k]``, until now that of ``last[k]``. What is new at a
    place is not `fresh`. `where` has a 0 for each sample, before and after.
    """
    for k in range(n_last):
        where[last[k]] = places[k] + 1
    taken = np.zeros(n, np.bool_)
    for k in range(n):
        places[k] = where[block[k]] - 1
        if places[k] >= 0:
            taken[places[k]] = True
    for k in range(n_last):
        where[last[k]] = 0
    free = 0
    for k in range(n):
        if places[k] < 0:
            while taken[free]:
                free += 1
            places[k], fresh[free] = free, False
            free += 1


@compiled
def gather_block(K, slot, numbers, fresh, n, Q):
    """Write the kernel among n samples, of which those that are not `fresh` are new in Q.

    A half is read, the other is its mirror image. Almost every value waits for memory, four rows at
    a time for much the same time as one.
    """
    order = np.empty(n, np.int64)
    known, new = 0, n
    for k in range(n):
        if fresh[k]:
            order[known] = k
            known += 1
    new = known
    for k in range(n):
        if not fresh[k]:
            order[new] = k
            new += 1
            fresh[k] = True
    t = known
    while t + 4 <= n:
        a, b, c, d = order[t], order[t + 1], order[t + 2], order[t + 3]
        k0, k1 = K[slot[numbers[a]]], K[slot[numbers[b]]]
        k2, k3 = K[slot[numbers[c]]], K[slot[numbers[d]]]
        for i in range(t + 4):
            v = order[i]
            p = numbers[v]
            q0, q1, q2, q3 = k0[p], k1[p], k2[p], k3[p]
            Q[a, v], Q[b, v], Q[c, v], Q[d, v] = q0, q1, q2, q3
            Q[v, a], Q[v, b], Q[v, c], Q[v, d] = q0, q1, q2, q3
        t += 4
    while t < n:
        a = order[t]
        row = K[slot[numbers[a]]]
        for i in range(t + 1):
            v = order[i]
            Q[a, v] = row[numbers[v]]
            Q[v, a] = Q[a, v]
        t += 1


@compiled
def gather_coupled(K, slot, M, entries, n, m, Q):
    """Write the kernel among n entries, numbered problem after problem of m samples."""
    for u in range(n):
        row, mixed = K[slot[entries[u] % m]], M[entries[u] // m]
        for v in range(u, n):
            Q[u, v] = row[entries[v] % m] * mixed[entries[v] // m]
            Q[v, u] = Q[u, v]


@compiled
def choose_coupled(y, a, c, F, n_problems, blocks, sizes, marked, state):
    """Choose the group that violates most and the block of its entries; return the violation."""
    n_groups, size = blocks.shape
    length = y.size // n_groups
    up, down = np.empty(size // 2, np.int64), np.empty(size // 2, np.int64)
    if n_groups < n_problems:
        shape = n_problems, y.size // n_problems
        parts = y.reshape(shape), a.reshape(shape), c.reshape(shape), F.reshape(shape)
        n_up, n_down, highest, lowest = select_pairs(*parts, up, down)
        if n_up > 0 and n_down > 0 and highest > lowest:
            sizes[0] = fill_block(blocks[0], sizes[0], up, n_up, down, n_down, marked)
        return highest - lowest if n_up > 0 and n_down > 0 else 0.0
    best_up, best_down = np.empty(size // 2, np.int64), np.empty(size // 2, np.int64)
    best_n_up = best_n_down = 0
    worst = 0.0
    for g in range(n_groups):
        part = slice(g * length, (g + 1) * length)
        n_up, n_down, highest, lowest = select(y[part], a[part], c[part], F[part], up, down)
        if n_up > 0 and n_down > 0 and highest - lowest > worst:
            worst = highest - lowest
            state[0] = g
            best_up[:] = up
            best_down[:] = down
            best_n_up, best_n_down = n_up, n_down
    if worst > 0:
        g = int(state[0])
        offset = g * length
        best_up += offset
        best_down += offset
        sizes[g] = fill_block(
            blocks[g], sizes[g], best_up, best_n_up, best_down, best_n_down, marked
        )
    return worst
