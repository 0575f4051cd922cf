"""Compiled batch solvers: flat functions of arrays. Their twins in NumPy are in ``_twins``.

Least squares on the simplex
----------------------------
For one sample with r = 2q − 1, problem s leaves the residual

    (Qp − r)_s = Σ_c B_sc p_c,    B_sc = A_cs − r_s |A_cs|,

as long as Σp = 1. So the problem is to minimise ½ pᵀNp with N = BᵀB over p ≥ 0, Σp = 1. It is
homogeneous in p, and the term c (Σp)² is constant on the simplex, so with H = N + c 11ᵀ it has
the solution p = x / Σx of the linear complementarity problem

    x ≥ 0,    Hx − 1 ≥ 0,    xᵀ(Hx − 1) = 0.

H is positive definite where the solution is unique, and block principal pivoting (Kim and Park,
2011) ends after finitely many exchanges: all violating classes change sides at once as long as
that makes the violations fewer, otherwise only the last of them does (Murty's rule). Each
exchange solves H_PP x_P = 1 on the support P by a Cholesky factorisation. It stops when no x_c is
negative and no (Hx − 1)_c below −1e-11.

Where a pivot of the factorisation vanishes the solution is not unique. Then pᵀNp + ε|p|² is
minimised first, whose solution p' is that of the smallest norm but for O(ε), and after it
pᵀNp + ε|p − p'|², again from its solution and so on, which puts the rest right; it stops when
the conditions for a minimum hold to 1e-11.
"""

import numpy as np
from numba import njit

# NumPy's division: no check for zero inside loops, which would keep them from being vectorised.
_compiled = njit(cache=True, nogil=True, error_model="numpy")

_SMALL_PIVOT = 1e-11
_RIDGE = 1e-8
_PROXIMAL_STEPS = 100
_DUAL_TOLERANCE = 1e-11


@_compiled
def _factor(H, ridge, support, m, U):  # pragma: no cover - compiled
    """Write the Cholesky factor of (H + ridge I) on the support; return whether it exists."""
    for i in range(m):
        row = support[i]
        for j in range(i, m):
            U[i, j] = H[row, support[j]]
        U[i, i] += ridge
    for j in range(m):
        if U[j, j] <= 0.0:
            return False
        d = 1.0 / np.sqrt(U[j, j])
        for i in range(j, m):
            U[j, i] *= d
        for i in range(j + 1, m):
            f = U[j, i]
            for t in range(i, m):
                U[i, t] -= f * U[j, t]
    return True


@_compiled
def _back_substitute(U, m, b, x):  # pragma: no cover - compiled
    """Solve UᵀU x = b."""
    for i in range(m):
        x[i] = b[i]
    for i in range(m):
        x[i] /= U[i, i]
        for t in range(i + 1, m):
            x[t] -= U[i, t] * x[i]
    for i in range(m - 1, -1, -1):
        v = x[i]
        for t in range(i + 1, m):
            v -= U[i, t] * x[t]
        x[i] = v / U[i, i]


@_compiled
def _solve_on_support(H, ridge, support, m, U, ones, x):  # pragma: no cover - compiled
    """Solve (H + ridge I) x = 1 on the support; False if a pivot vanishes."""
    if not _factor(H, ridge, support, m, U):
        return False
    if ridge == 0.0:
        for i in range(m):
            if U[i, i] * U[i, i] < _SMALL_PIVOT * H[support[i], support[i]]:
                return False
    _back_substitute(U, m, ones, x)
    return True


@_compiled
def _pivot(H, ridge, inside, p, support, U, ones, x):  # pragma: no cover - compiled
    """Solve the complementarity problem from the support `inside`; False if a pivot vanishes."""
    k = H.shape[0]
    fewest, patience = k + 1, 3
    violates = np.empty(k, dtype=np.bool_)
    for _ in range(100 * k):
        m = 0
        for c in range(k):
            if inside[c]:
                support[m] = c
                m += 1
        if not _solve_on_support(H, ridge, support, m, U, ones, x):
            return False
        violations, last = 0, -1
        for c in range(k):
            violates[c] = False
        for i in range(m):
            if x[i] < 0.0:
                violates[support[i]] = True
        for c in range(k):
            if not inside[c]:
                y = -1.0
                for i in range(m):
                    y += H[c, support[i]] * x[i]
                violates[c] = y < -_DUAL_TOLERANCE
            if violates[c]:
                violations += 1
                last = c
        if violations == 0:
            total = 0.0
            for i in range(m):
                total += x[i]
            for c in range(k):
                p[c] = 0.0
            for i in range(m):
                p[support[i]] = x[i] / total
            return True
        if violations < fewest:
            fewest, patience = violations, 3
        else:
            patience -= 1
        for c in range(k):
            if violates[c] and (patience >= 0 or c == last):
                inside[c] = not inside[c]
    return False


@_compiled
def _minimise(H, inside, p, support, U, ones, x):  # pragma: no cover - compiled
    """Minimise ½ pᵀHp on the simplex, from a first guess of the support."""
    k = H.shape[0]
    if _pivot(H, 0.0, inside, p, support, U, ones, x):
        return
    ridge = 0.0
    for c in range(k):
        ridge = max(ridge, _RIDGE * H[c, c])
    for c in range(k):
        inside[c] = True
    while not _pivot(H, ridge, inside, p, support, U, ones, x):
        ridge *= 10.0
        for c in range(k):
            inside[c] = True
    before, here = np.zeros(k), np.empty(k)
    for _ in range(_PROXIMAL_STEPS):
        for c in range(k):
            here[c] = p[c]
            for d in range(k):
                H[c, d] -= ridge * (p[c] - before[c] + p[d] - before[d])
        if not _pivot(H, ridge, inside, p, support, U, ones, x):
            p[:] = here
            return
        moved = 0.0
        for c in range(k):
            moved = max(moved, abs(p[c] - here[c]))
            before[c] = here[c]
        if ridge * moved < _DUAL_TOLERANCE:
            return


@_compiled
def least_squares_strict(gram, a, squares, guess, shift, out):  # pragma: no cover - compiled
    """Solve samples of a strict code, where N = AAᵀ − a1ᵀ − 1aᵀ + |r|² 11ᵀ with a = Ar.

    Parameters: AAᵀ (k × k); a (n × k); |r|² (n); the solution without p ≥ 0 (n × k), which is
    final where it has no negative entry; c; the result (n × k).
    """
    n, k = a.shape
    H, U = np.empty((k, k)), np.empty((k, k))
    support, inside = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.bool_)
    ones, x = np.ones(k), np.empty(k)
    for i in range(n):
        feasible = True
        for c in range(k):
            inside[c] = guess[i, c] > 0.0
            feasible = feasible and guess[i, c] >= 0.0
        if feasible:
            out[i] = guess[i]
            continue
        for c in range(k):
            for d in range(k):
                H[c, d] = gram[c, d] - a[i, c] - a[i, d] + squares[i] + shift
        _minimise(H, inside, out[i], support, U, ones, x)


@_compiled
def least_squares(r, starts, classes, signs, shift, out):  # pragma: no cover - compiled
    """Solve samples of any code, N = BᵀB being made anew for each.

    Parameters: r (n × ℓ); for problem s the classes that take part and their signs, at the
    positions starts[s] to starts[s+1]; c; the result (n × k).
    """
    n = r.shape[0]
    k = out.shape[1]
    H, U = np.empty((k, k)), np.empty((k, k))
    support, inside = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.bool_)
    ones, x = np.ones(k), np.empty(k)
    for i in range(n):
        for c in range(k):
            inside[c] = True
        _normal_matrix(r[i], starts, classes, signs, shift, H)
        _minimise(H, inside, out[i], support, U, ones, x)


@_compiled
def _normal_matrix(r, starts, classes, signs, shift, H):  # pragma: no cover - compiled
    k = H.shape[0]
    for c in range(k):
        for d in range(k):
            H[c, d] = shift
    for s in range(r.shape[0]):
        for i in range(starts[s], starts[s + 1]):
            f = signs[i] - r[s]
            for j in range(starts[s], i + 1):
                H[classes[i], classes[j]] += f * (signs[j] - r[s])
    for c in range(k):
        for d in range(c):
            H[d, c] = H[c, d]


@_compiled
def coupling(r, starts, classes, signs, shift, out):  # pragma: no cover - compiled
    """Solve N p = λ1, Σp = 1, the bordered system of Wu, Lin and Weng, by H x = 1, p = x/Σx."""
    n = r.shape[0]
    k = out.shape[1]
    H, U = np.empty((k, k)), np.empty((k, k))
    support, ones, x = np.arange(k), np.ones(k), np.empty(k)
    for i in range(n):
        _normal_matrix(r[i], starts, classes, signs, shift, H)
        _factor(H, 0.0, support, k, U)
        _back_substitute(U, k, ones, x)
        total = 0.0
        for c in range(k):
            x[c] = max(x[c], 0.0)  # never negative but for rounding
            total += x[c]
        for c in range(k):
            out[i, c] = x[c] / total


# Kullback-Leibler
# ----------------
# Minimise D(p) = −Σ_s w_s [q_s log P_s + (1 − q_s) log M_s − log T_s] over the simplex, where P_s
# and M_s are the sums of p over the two sides of problem s, T_s = P_s + M_s, and Σw = 1.
#
# A Newton step minimises the quadratic model gᵀd + ½ dᵀKd with p + d on the simplex, which is a
# problem of the kind above: with b = Kp − g its matrix is K − b1ᵀ − 1bᵀ + c 11ᵀ, positive definite
# on the simplex's plane if K is. K is the Hessian plus a small multiple of the identity, which does
# not move the solution. Where K is not positive definite, two other steps take turns, since each is
# slow where the other is not:
#
# - scoring in u = log p: with π = P/T and a = ∂ logit π / ∂u, the Hessian is replaced by Fisher's
#   information Σ_s w_s π_s (1 − π_s) a_s a_sᵀ, which is the Hessian itself for one-vs-one;
# - Newton's step with less and less of the bend of log T, at last without: a bound of D from above.
#
# A step is halved until D falls enough, so D never rises. It ends when no p_c moves by more than
# `tol` or D falls no more: in one step with the Hessian, or in two in a row.

_PROXIMAL = 1e-9
_LESS_BENT = (63 / 64, 15 / 16, 3 / 4, 0.0)
_LONGEST = 5.0  # of a step in log p
_SUFFICIENT = 1e-4
_NEGLIGIBLE = 1e-15


@_compiled
def _sides(p, s, starts, classes, signs):  # pragma: no cover - compiled
    plus, minus = 0.0, 0.0
    for i in range(starts[s], starts[s + 1]):
        if signs[i] > 0:
            plus += p[classes[i]]
        else:
            minus += p[classes[i]]
    return plus, minus


@_compiled
def divergence(p, q, weights, starts, classes, signs):  # pragma: no cover - compiled
    """Return D(p), infinite where a side that occurs has no probability."""
    value = 0.0
    for s in range(q.shape[0]):
        plus, minus = _sides(p, s, starts, classes, signs)
        if plus + minus <= 0.0 or (q[s] > 0.0 and plus <= 0.0) or (q[s] < 1.0 and minus <= 0.0):
            return np.inf
        total = np.log(plus + minus)
        if q[s] > 0.0:
            value -= weights[s] * q[s] * (np.log(plus) - total)
        if q[s] < 1.0:
            value -= weights[s] * (1.0 - q[s]) * (np.log(minus) - total)
    return value


@_compiled
def _model(p, q, weights, starts, classes, signs, bend, g, K):  # pragma: no cover - compiled
    """Write the gradient and the Hessian of D; log T is bent (1), straight (0) or between."""
    k = p.shape[0]
    for c in range(k):
        g[c] = 0.0
        for d in range(k):
            K[c, d] = 0.0
    for s in range(q.shape[0]):
        plus, minus = _sides(p, s, starts, classes, signs)
        total = plus + minus
        up = weights[s] * q[s] / plus if q[s] > 0.0 else 0.0
        down = weights[s] * (1.0 - q[s]) / minus if q[s] < 1.0 else 0.0
        both = weights[s] / total
        up_bend = up / plus if q[s] > 0.0 else 0.0
        down_bend = down / minus if q[s] < 1.0 else 0.0
        both_bend = bend * both / total
        for i in range(starts[s], starts[s + 1]):
            c = classes[i]
            g[c] += both - (up if signs[i] > 0 else down)
            same = (up_bend if signs[i] > 0 else down_bend) - both_bend
            for j in range(starts[s], i + 1):
                K[c, classes[j]] += same if signs[i] == signs[j] else -both_bend
    for c in range(k):
        K[c, c] += _PROXIMAL
        for d in range(c):
            K[d, c] = K[c, d]


@_compiled
def _newton_point(p, g, K, b, H, inside, far, support, U, ones, x):  # pragma: no cover - compiled
    """Write the minimiser of the quadratic model to `far`; False if K is not definite."""
    k = p.shape[0]
    curvature = 0.0
    for c in range(k):
        v = 0.0
        for d in range(k):
            v += K[c, d] * p[d]
        curvature += v * p[c]
        b[c] = v - g[c]
    shift = 5.0 + 2.0 * abs(curvature)
    for c in range(k):
        inside[c] = True
        for d in range(k):
            H[c, d] = K[c, d] - b[c] - b[d] + shift
    return _pivot(H, 0.0, inside, far, support, U, ones, x)


@_compiled
def _scoring_step(p, q, weights, starts, classes, signs, g, F, support, U, x):  # pragma: no cover
    """Write the step of log p to `x`."""
    k = p.shape[0]
    a, downhill = np.empty(k), np.empty(k)
    for c in range(k):
        downhill[c], support[c] = -p[c] * g[c], c
        for d in range(k):
            F[c, d] = 0.0
    for s in range(q.shape[0]):
        plus, minus = _sides(p, s, starts, classes, signs)
        if plus <= 0.0 or minus <= 0.0:
            continue
        v = weights[s] * (plus / (plus + minus)) * (minus / (plus + minus))
        for i in range(starts[s], starts[s + 1]):
            c = classes[i]
            a[c] = p[c] / plus if signs[i] > 0 else -p[c] / minus
        for i in range(starts[s], starts[s + 1]):
            for j in range(starts[s], i + 1):
                F[classes[i], classes[j]] += v * a[classes[i]] * a[classes[j]]
    largest = 0.0
    for c in range(k):
        largest = max(largest, F[c, c])
        for d in range(c):
            F[d, c] = F[c, d]
    _factor(F, 1e-12 + 1e-10 * largest, support, k, U)
    _back_substitute(U, k, downhill, x)
    longest = np.abs(x).max()
    if longest > _LONGEST:
        for c in range(k):
            x[c] *= _LONGEST / longest


@_compiled
def _along(p, far, x, straight, t, near):  # pragma: no cover - compiled
    """Write the point a part t of the way: straight to `far`, or by `x` in log p."""
    k = p.shape[0]
    total = 0.0
    for c in range(k):
        near[c] = p[c] + t * (far[c] - p[c]) if straight else p[c] * np.exp(t * x[c])
        total += near[c]
    for c in range(k):
        near[c] /= total


@_compiled
def _fall(p, value, slope, far, x, straight, q, weights, starts, classes, signs, near):
    """Go as far as D falls enough, changing p; return how far a whole step is, and D."""
    k = p.shape[0]
    move, t = 0.0, 1.0
    for halving in range(40):
        _along(p, far, x, straight, t, near)
        if halving == 0:
            for c in range(k):
                move = max(move, abs(near[c] - p[c]))
        here = divergence(near, q, weights, starts, classes, signs)
        if here <= value + _SUFFICIENT * t * min(slope, 0.0):
            for c in range(k):
                p[c] = near[c]
            return move, here
        t *= 0.5
    return move, value


@_compiled
def kullback_leibler(
    q, weights, starts, classes, signs, tol, max_iter, out, steps
):  # pragma: no cover - compiled
    """Solve samples of any code; `steps` receives the number of steps, −1 if it never stopped."""
    k = out.shape[1]
    K, H, U = np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    g, b, far, near = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    support, inside = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.bool_)
    ones, x = np.ones(k), np.empty(k)
    for i in range(q.shape[0]):
        p = out[i]
        for c in range(k):
            p[c] = 1.0 / k
        value = divergence(p, q[i], weights, starts, classes, signs)
        steps[i], quiet = -1, 0
        for step in range(max_iter):
            _model(p, q[i], weights, starts, classes, signs, 1.0, g, K)
            exact = _newton_point(p, g, K, b, H, inside, far, support, U, ones, x)
            straight = exact
            if not exact and step % 2 == 1:
                for bend in _LESS_BENT:
                    _model(p, q[i], weights, starts, classes, signs, bend, g, K)
                    straight = _newton_point(p, g, K, b, H, inside, far, support, U, ones, x)
                    if straight:
                        break
            if not straight:
                _scoring_step(p, q[i], weights, starts, classes, signs, g, K, support, U, x)
            slope = 0.0
            for c in range(k):
                slope += g[c] * (far[c] - p[c] if straight else p[c] * x[c])
            before = value
            move, value = _fall(
                p, value, slope, far, x, straight, q[i], weights, starts, classes, signs, near
            )
            quiet = quiet + 1 if move <= tol or before - value <= _NEGLIGIBLE else 0
            if quiet == 2 or (quiet == 1 and exact):
                steps[i] = step + 1
                break
