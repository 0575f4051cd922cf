"""The minimum of the Kullback–Leibler divergence on the simplex.

Minimise D(p) = −Σ_s w_s [q_s log P_s + (1 − q_s) log M_s − log T_s] over the simplex, where P_s
and M_s are the sums of p over the two sides of problem s, T_s = P_s + M_s, and Σw = 1.

A Newton step minimises the quadratic model gᵀd + ½ dᵀKd with p + d on the simplex, by ``_simplex``:
with b = Kp − g the matrix is K − b1ᵀ − 1bᵀ + c 11ᵀ, positive definite on the simplex's plane if K
is. K is the Hessian plus a small multiple of the identity, which does not change the solution.
Where K is not positive definite, two other kinds of step alternate, since each is slow where the
other is fast:

- scoring in u = log p: with π = P/T and a = ∂ logit π / ∂u, the Hessian is replaced by Fisher's
  information Σ_s w_s π_s (1 − π_s) a_s a_sᵀ, which is the Hessian itself for one-vs-one;
- Newton's step with less and less of the curvature of log T; without it, the model bounds D from
  above.

A step is halved until D decreases sufficiently, so D never increases. Stopping rule: no p_c changes
by more than `tol`, or D stops decreasing, in one step with the Hessian or in two successive steps.
"""

import numpy as np

from polychotomy.probability._compiled._simplex import back_substitute, compiled, factor, pivot

_PROXIMAL = 1e-9
_LESS_BENT = (63 / 64, 15 / 16, 3 / 4, 0.0)
_LONGEST = 5.0  # largest change of log p in a step
_SUFFICIENT = 1e-4
_NEGLIGIBLE = 1e-15


@compiled
def _sides(p, s, starts, classes, signs):  # pragma: no cover - compiled
    plus, minus = 0.0, 0.0
    for i in range(starts[s], starts[s + 1]):
        if signs[i] > 0:
            plus += p[classes[i]]
        else:
            minus += p[classes[i]]
    return plus, minus


@compiled
def _divergence(p, q, weights, starts, classes, signs):  # pragma: no cover - compiled
    """Return D(p); infinite if a side with q > 0 has probability 0."""
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


@compiled
def _model(p, q, weights, starts, classes, signs, bend, g, K):  # pragma: no cover - compiled
    """Write the gradient and the Hessian of D, with `bend` times the curvature of log T."""
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


@compiled
def _newton_point(p, g, K, b, H, inside, far, support, U, ones, x):  # pragma: no cover - compiled
    """Write the minimiser of the quadratic model to `far`; False if K is not positive definite."""
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
    return pivot(H, 0.0, inside, far, support, U, ones, x)


@compiled
def _scoring_step(p, q, weights, starts, classes, signs, g, F, support, U, x):  # pragma: no cover
    """Write the scoring step in log p to `x`."""
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
    factor(F, 1e-12 + 1e-10 * largest, support, k, U)
    back_substitute(U, k, downhill, x)
    longest = np.abs(x).max()
    if longest > _LONGEST:
        for c in range(k):
            x[c] *= _LONGEST / longest


@compiled
def _along(p, far, x, straight, t, near):  # pragma: no cover - compiled
    """Write the point at step size t: on the line to `far`, or along `x` in log p."""
    k = p.shape[0]
    total = 0.0
    for c in range(k):
        near[c] = p[c] + t * (far[c] - p[c]) if straight else p[c] * np.exp(t * x[c])
        total += near[c]
    for c in range(k):
        near[c] /= total


@compiled
def _fall(p, value, slope, far, x, straight, q, weights, starts, classes, signs, near):
    """Backtrack until D decreases sufficiently and update p; return the full step's size and D."""
    k = p.shape[0]
    move, t = 0.0, 1.0
    for halving in range(40):
        _along(p, far, x, straight, t, near)
        if halving == 0:
            for c in range(k):
                move = max(move, abs(near[c] - p[c]))
        here = _divergence(near, q, weights, starts, classes, signs)
        if here <= value + _SUFFICIENT * t * min(slope, 0.0):
            for c in range(k):
                p[c] = near[c]
            return move, here
        t *= 0.5
    return move, value


@compiled
def kullback_leibler(
    q, weights, starts, classes, signs, tol, max_iter, out, steps
):  # pragma: no cover - compiled
    """Solve samples of any code; `steps` receives the number of steps, −1 without convergence."""
    k = out.shape[1]
    K, H, U = np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    g, b, far, near = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    support, inside = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.bool_)
    ones, x = np.ones(k), np.empty(k)
    for i in range(q.shape[0]):
        p = out[i]
        for c in range(k):
            p[c] = 1.0 / k
        value = _divergence(p, q[i], weights, starts, classes, signs)
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
