"""Kernel rows: their values, adding them to outputs, and outputs from weights."""

import numpy as np

from polychotomy.kernel._compiled._jit import compiled, fast

_TILE = 1024
_ADD_TILE = 8192
_ROW_TILE = 512
_MIX_TILE = 512
_LANES = 16

_LOG2_E = np.float32(1.44269504)
_LN_2_HIGH = np.float32(0.693359375)
_LN_2_LOW = np.float32(-2.12194440e-4)


@fast
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


@fast
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


@fast
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


@fast
def rbf_rows(X, own, numbers, Y, squares, gamma, K, slots, starts, stops, wanted):
    """Write Gaussian kernel values of row ``numbers[r]`` of X into ``K[slots[r]]``, in ranges.

    The samples against which are the columns of Y; ``wanted[r, g]`` says whether row r is to be
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
                _products_tile(X[numbers[r]], Y, first, products[:n])
                _exp_tile(
                    products[:n],
                    own[numbers[r]],
                    squares[first:stop],
                    gamma,
                    K[slots[r], first:stop],
                    bits[:n],
                )


@fast
def _add_tile(K, slots, weights, first, out):
    """Add Σ_r weights_r K[slots_r] to `out`, from the column `first` on, eight rows at a time."""
    n, r = len(out), 0
    while r + 8 <= len(slots):
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
    while r < len(slots):
        k0, w0 = K[slots[r], first : first + n], weights[r]
        for j in range(n):
            out[j] += w0 * k0[j]
        r += 1


@fast
def add_rows(K, slots, weights, n_rows, f, starts, stops):
    """Add Σ_r weights_r K[slots_r] to f, a tile at a time."""
    base = 0
    for run in range(len(starts)):
        for first in range(starts[run], stops[run], _ADD_TILE):
            n = min(first + _ADD_TILE, stops[run]) - first
            _add_tile(K, slots[:n_rows], weights[:n_rows], first, f[base : base + n])
            base += n


@fast
def add_coupled(K, slots, problems, weights, M, G, F):
    """Add changed entries to the outputs: entry k has the weight of sample k in a problem.

    ``D_s = Σ weights_k K[slots_k]`` over the entries of problem s is added to row s of G, and
    ``M_ts D_s`` to row t of F. The entries of a problem are contiguous.
    """
    n_problems, m = F.shape
    D = np.empty((n_problems, _MIX_TILE))
    changed = np.empty(n_problems, np.int64)
    for first in range(0, m, _MIX_TILE):
        n = min(first + _MIX_TILE, m) - first
        n_changed, k = 0, 0
        while k < len(problems):
            s, begin = problems[k], k
            while k < len(problems) and problems[k] == s:
                k += 1
            out = D[n_changed, :n]
            out[:] = 0.0
            _add_tile(K, slots[begin:k], weights[begin:k], first, out)
            row = G[s, first : first + n]
            for j in range(n):
                row[j] += out[j]
            changed[n_changed] = s
            n_changed += 1
        for t in range(n_problems):
            row = F[t, first : first + n]
            for d in range(n_changed):
                factor, out = M[t, changed[d]], D[d, :n]
                if factor != 0:
                    for j in range(n):
                        row[j] += factor * out[j]


@fast
def sparse_outputs(values, first, rows, weights, bias, out):
    """Write values times sparse weights plus bias: column s has ``rows[first[s]:first[s + 1]]``.

    Sixteen samples at a time are side by side, so that a weight meets all of them at once.
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


@compiled
def hash_rows(bits, factors):
    """Return a number for each row by its bits."""
    hashes = np.zeros(len(bits), np.uint64)
    for i in range(len(bits)):
        for j in range(len(factors)):
            word = np.uint64(bits[i, j])
            hashes[i] += (word ^ (word >> np.uint64(29))) * factors[j]
    return hashes


@compiled
def are_rows(X, numbers, Y):
    """Return whether Y has the rows of X with these numbers."""
    for i in range(len(numbers)):
        for j in range(X.shape[1]):
            if X[numbers[i], j] != Y[i, j]:
                return False
    return True
