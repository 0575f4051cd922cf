"""Dual coordinate descent for the squared hinge loss on sparse samples."""

import numba
import numpy as np

compiled = numba.njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "ninf", "nsz", "contract"}
)

_PRECISION = 1e-25  # of the dual; weights then change by less than 1e-12


@compiled
def output(indptr, indices, values, w, i):
    """Return x_i · w."""
    total = 0.0
    for j in range(indptr[i], indptr[i + 1]):
        total += values[j] * w[indices[j]]
    return total


@compiled
def shuffle(order, n, state):
    """Put the first n entries in random order, and return the next state of the generator."""
    for p in range(n - 1, 0, -1):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        q = np.int64((state >> np.uint64(33)) % np.uint64(p + 1))
        order[p], order[q] = order[q], order[p]
    return state


@compiled
def descend(indptr, indices, values, sides, costs, norms, bias, order, n, alpha, w):
    """Maximise the dual over each of n coefficients in turn; return by how much it grows.

    The last entry of w is the intercept, and `bias` is 1, or 0 without one.
    """
    gain = 0.0
    last = len(w) - 1
    for p in range(n):
        i = order[p]
        y = sides[i]
        extra = 0.5 / costs[i]
        g = 1.0 - y * (output(indptr, indices, values, w, i) + w[last]) - extra * alpha[i]
        h = norms[i] + bias + extra
        step = max(g / h, -alpha[i])
        if step != 0.0:
            alpha[i] += step
            gain += step * (g - 0.5 * step * h)
            for j in range(indptr[i], indptr[i + 1]):
                w[indices[j]] += y * step * values[j]
            w[last] += bias * y * step
    return gain


@compiled
def survey(indptr, indices, values, sides, costs, alpha, w, order):
    """Return the primal objective, the duality gap, and how many samples count.

    These are the samples with a coefficient or a slack; their numbers are written to `order`. The
    gap is a sum of what each sample violates, (√c slack − α / (2√c))² or, where there is no slack,
    α (t f − 1) + α² / (4c): nothing cancels.
    """
    primal = gap = 0.0
    for j in range(len(w)):
        primal += 0.5 * w[j] * w[j]
    n, last = 0, len(w) - 1
    for i in range(len(sides)):
        if sides[i] == 0 or costs[i] <= 0.0:
            continue
        slack = 1.0 - sides[i] * (output(indptr, indices, values, w, i) + w[last])
        if slack > 0.0:
            primal += costs[i] * slack * slack
            gap += costs[i] * (slack - 0.5 * alpha[i] / costs[i]) ** 2
        else:
            gap += alpha[i] * (0.25 * alpha[i] / costs[i] - slack)
        if slack > 0.0 or alpha[i] > 0.0:
            order[n] = i
            n += 1
    return primal, gap, n


@compiled
def first_samples(sides, costs, order):
    """Write the smaller side and some of the larger one to `order`, and return how many."""
    plus = minus = 0
    for i in range(len(sides)):
        if costs[i] > 0.0:
            plus += sides[i] > 0
            minus += sides[i] < 0
    few, many = min(plus, minus), max(plus, minus)
    side = 1 if plus <= minus else -1
    stride = max(1, many // max(1, 4 * few, (plus + minus) // 16))
    n = seen = 0
    for i in range(len(sides)):
        if sides[i] == 0 or costs[i] <= 0.0:
            continue
        if sides[i] != side:
            seen += 1
            if seen % stride != 0:
                continue
        order[n] = i
        n += 1
    return n


@compiled
def solve_column(indptr, indices, values, sides, costs, norms, bias, tol, max_iter, w):
    """Solve one problem, and return the number of passes, the objective and the duality gap."""
    n_samples = len(sides)
    alpha = np.zeros(n_samples)
    order = np.empty(n_samples, np.int64)
    primal, gap, n_all = survey(indptr, indices, values, sides, costs, alpha, w, order)
    if n_all == 0:
        return 0, primal, 0.0
    n = first_samples(sides, costs, order)
    state, passes, gain = np.uint64(12345), 0, 0.0
    while True:
        enough = 0.03 * gap
        while passes < max_iter:
            state = shuffle(order, n, state)
            gain = descend(indptr, indices, values, sides, costs, norms, bias, order, n, alpha, w)
            passes += 1
            if gain <= enough:
                break
        primal, gap, n = survey(indptr, indices, values, sides, costs, alpha, w, order)
        if gap <= tol * primal or passes >= max_iter:
            return passes, primal, gap
        if gain <= _PRECISION * primal:  # all that double precision allows
            return passes, primal, 0.0
