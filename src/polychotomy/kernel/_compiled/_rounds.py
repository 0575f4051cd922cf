"""Rounds of the solver: choose a block, solve it, add what changed to the outputs."""

import numpy as np

from polychotomy.kernel._compiled._blocks import (
    choose_coupled,
    fill_block,
    gather_block,
    gather_coupled,
    place_block,
    select,
    solve_block,
)
from polychotomy.kernel._compiled._jit import compiled
from polychotomy.kernel._compiled._rows import add_coupled, add_rows

DONE, NEEDS_ROWS, INTERRUPTED, TOO_MANY_STEPS = 0, 1, 2, 3


@compiled
def advance(
    K,
    slot,
    sample,
    starts,
    stops,
    y,
    a,
    c,
    f,
    block,
    places,
    fresh,
    Q,
    where,
    marked,
    state,
    tol,
    most_steps,
    most_rounds,
):
    """Run rounds until the problem is solved, rows are missing, or a few are over.

    These end where the number of all rounds is a multiple of `most_rounds`. `state` has the block's
    size, whether it is chosen and not yet solved, the steps so far, the rounds so far and the
    violation. Sample ``block[k]`` is at ``places[k]`` of Q, the kernel among the block, of which a
    round reads what is not `fresh`. Returns one of the four outcomes.
    """
    size = len(block)
    up, down = np.empty(size // 2, np.int64), np.empty(size // 2, np.int64)
    own, last = np.empty(size, np.int64), np.empty(size, np.int64)
    block_y, block_a, block_c = np.empty(size), np.empty(size), np.empty(size)
    block_e, weights, slots = np.empty(size), np.empty(size), np.empty(size, np.int64)
    while True:
        if state[1] == 0:
            n = int(state[0])
            new = size // 2 if n == 0 else max(size // 4, 2)
            n_up, n_down, highest, lowest = select(y, a, c, f, up[:new], down[:new])
            state[4] = highest - lowest if n_up > 0 and n_down > 0 else 0.0
            if state[4] <= tol:
                return DONE
            if most_steps >= 0 and state[2] >= most_steps:
                return TOO_MANY_STEPS
            last[:n] = block[:n]
            state[0] = fill_block(block, n, up, n_up, down, n_down, marked)
            place_block(last, n, block, int(state[0]), places, fresh, where)
            state[1] = 1
        n = int(state[0])
        for k in range(n):
            if slot[sample[block[k]]] < 0:
                return NEEDS_ROWS
        for k in range(n):
            p, q = block[k], places[k]
            own[q], last[q] = sample[p], p
            block_y[q], block_a[q], block_c[q], block_e[q] = y[p], a[p], c[p], y[p] - f[p]
        gather_block(K, slot, own, fresh, n, Q)
        left = most_steps - int(state[2]) if most_steps >= 0 else 1_000_000
        enough = max(0.5 * tol, 0.1 * state[4])
        state[2] += solve_block(Q, block_y, block_a, block_c, block_e, n, enough, left)
        changed = 0
        for q in range(n):
            p = last[q]
            weight = y[p] * (block_a[q] - a[p])
            if weight != 0:
                weights[changed], slots[changed] = weight, slot[own[q]]
                a[p] = block_a[q]
                changed += 1
        add_rows(K, slots, weights, changed, f, starts, stops)
        state[1] = 0
        state[3] += 1
        if state[3] % most_rounds == 0:
            return INTERRUPTED


@compiled
def advance_coupled(
    K, slot, y, a, c, G, F, M, blocks, sizes, marked, state, tol, most_steps, most_rounds
):
    """Run rounds of the coupled problem until it is solved, rows are missing, or a few are over.

    `y`, `a`, `c`, `G` and `F` have a row for each problem; entry ``s m + i`` is sample i of problem
    s. `state` has the group of the block, whether it is chosen and not yet solved, the steps so far
    and the violation. Returns one of the four outcomes.
    """
    m, size = y.shape[1], blocks.shape[1]
    flat_y, flat_a, flat_c, flat_F = y.reshape(-1), a.reshape(-1), c.reshape(-1), F.reshape(-1)
    Q = np.empty((size, size), K.dtype)
    block_y, block_a, block_c = np.empty(size), np.empty(size), np.empty(size)
    block_e, weights = np.empty(size), np.empty(size)
    slots, problems = np.empty(size, np.int64), np.empty(size, np.int64)
    rounds = 0
    while True:
        if state[1] == 0:
            state[3] = choose_coupled(
                flat_y, flat_a, flat_c, flat_F, len(y), blocks, sizes, marked, state
            )
            if state[3] <= tol:
                return DONE
            if most_steps >= 0 and state[2] >= most_steps:
                return TOO_MANY_STEPS
            state[1] = 1
        block, n = blocks[int(state[0])], sizes[int(state[0])]
        for k in range(n):
            if slot[block[k] % m] < 0:
                return NEEDS_ROWS
        gather_coupled(K, slot, M, block, n, m, Q)
        for k in range(n):
            p = block[k]
            block_y[k], block_a[k], block_c[k] = flat_y[p], flat_a[p], flat_c[p]
            block_e[k] = flat_y[p] - flat_F[p]
        left = most_steps - int(state[2]) if most_steps >= 0 else 1_000_000
        enough = max(0.5 * tol, 0.1 * state[3])
        state[2] += solve_block(Q, block_y, block_a, block_c, block_e, n, enough, left)
        changed = 0
        for k in range(n):
            p = block[k]
            weight = flat_y[p] * (block_a[k] - flat_a[p])
            if weight != 0:
                weights[changed], slots[changed] = weight, slot[p % m]
                problems[changed] = p // m
                flat_a[p] = block_a[k]
                changed += 1
        order = np.argsort(problems[:changed], kind="mergesort")
        add_coupled(
            K, slots[:changed][order], problems[:changed][order], weights[:changed][order], M, G, F
        )
        state[1] = 0
        rounds += 1
        if rounds == most_rounds:
            return INTERRUPTED
