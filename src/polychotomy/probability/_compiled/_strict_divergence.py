"""The minimum of the Kullback–Leibler divergence on the simplex for strict codes.

Where every class takes part in every problem, P_s + M_s = 1 for the sums of p over the two sides,
and

    D(p) = −Σ_s w_s [q_s log P_s + (1 − q_s) log M_s]

is a convex function of v = Aᵀp = P − M with a diagonal Hessian h. So Newton's model is, up to a
constant,

    ½ Σ_s h_s (Σ_c p_c A_cs − a_s)²,    a_s = v_s − g_s / h_s,

whose minimum on the simplex is that of ``_nearest_point`` for the points √h_s (A_cs − a_s), in ℓ
dimensions. Its support is kept from step to step. Where the whole step does not decrease D
sufficiently, or leads to the border of D's domain, D is minimised along it. The first model has
h = w and a = r = 2q − 1, weighted least squares; where a p fits all of r, that is the solution.

Stopping rule: with ρ the largest relative change of a P_s with q_s > 0, or an M_s with q_s < 1, the
error of Newton's model is of the order ρ, and the next step shorter by that factor. The last step
is a whole one with ρ² ≤ `tol`, or one that does not decrease D.

The minimum determines v. ``_least_norm`` chooses among the p with Aᵀp = v.
"""

import numpy as np

from polychotomy.probability._compiled._few_problems import write_shares
from polychotomy.probability._compiled._nearest_point import join, make_room, nearest_point, start
from polychotomy.probability._compiled._simplex import compiled, compiled_sums

_SUFFICIENT = 1e-4
_NEGLIGIBLE = 1e-16
_FLAT = 1e-7
_FITS = 1e-11
_HALVINGS = 200
_CERTAIN = 1e-30  # probabilities below count as 0
_BORDER = 0.01  # the least share of P_s or q_s, the smaller one, that is left by a whole step


@compiled
def _value(P, M, q, weights):  # pragma: no cover - compiled
    """Return D; infinite if a side with q > 0 has probability 0."""
    value = 0.0
    for s in range(q.shape[0]):
        if q[s] > 0.0:
            value -= weights[s] * q[s] * np.log(P[s])
        if q[s] < 1.0:
            value -= weights[s] * (1.0 - q[s]) * np.log(M[s])
    return value


@compiled
def _slope(P, M, q, weight):  # pragma: no cover - compiled
    """Return the derivative of a term of D by v."""
    up = q / P if q > 0.0 else 0.0
    down = (1.0 - q) / M if q < 1.0 else 0.0
    return 0.5 * weight * (down - up)


@compiled
def _bend(P, M, q, weight):  # pragma: no cover - compiled
    """Return the second derivative of a term of D by v."""
    up = q / P / P if q > 0.0 else 0.0
    down = (1.0 - q) / M / M if q < 1.0 else 0.0
    return 0.25 * weight * (up + down)


@compiled
def _write_least_squares(q, weights, entries, points):  # pragma: no cover - compiled
    """Write the points of weighted least squares, √w_s (A_cs − r_s)."""
    ell, k = entries.shape
    for s in range(ell):
        root = np.sqrt(weights[s])
        for c in range(k):
            points[s, c] = root * (entries[s, c] - 2.0 * q[s] + 1.0)
    points[ell] = 1.0


@compiled
def _write_model(P, M, q, weights, entries, points):  # pragma: no cover - compiled
    """Write the points of Newton's model, and their root mean square below."""
    ell, k = entries.shape
    height = 0.0
    for s in range(ell):
        h = _bend(P[s], M[s], q[s], weights[s])
        root, down = np.sqrt(h), _slope(P[s], M[s], q[s], weights[s]) / h
        height += h * (4.0 * P[s] * M[s] + down * down)
        positive, negative = root * (2.0 * M[s] + down), root * (down - 2.0 * P[s])
        for c in range(k):
            points[s, c] = positive if entries[s, c] > 0.0 else negative
    points[ell] = np.sqrt(height)


@compiled
def _refactor(points, m, room):  # pragma: no cover - compiled
    """Factor the support of the last step for new points; return its size."""
    support, rows, U, y, x, best, _ = room
    kept = 0
    for j in range(m):
        if join(points, support[j], kept, rows, U, y, best):
            support[kept], x[kept] = support[j], x[j]
            kept += 1
    return kept


@compiled_sums
def _sums(p, entries, P, M):  # pragma: no cover - compiled
    """Write the sums of p over the sides."""
    for s in range(P.shape[0]):
        plus, minus = 0.0, 0.0
        for c in range(p.shape[0]):
            plus += p[c] * max(entries[s, c], 0.0)
            minus += p[c] * max(-entries[s, c], 0.0)
        P[s], M[s] = plus, minus


@compiled
def _lowest(P, M, far_P, far_M, q, weights):  # pragma: no cover - compiled
    """Return the step size with the least D on the way, by bisection of its slope."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        t = 0.5 * (low + high)
        slope = 0.0
        for s in range(q.shape[0]):
            here_P, here_M = P[s] + t * (far_P[s] - P[s]), M[s] + t * (far_M[s] - M[s])
            slope += _slope(here_P, here_M, q[s], weights[s]) * (far_P[s] - P[s])
        if slope < 0.0:
            low = t
        else:
            high = t
        if high - low <= 1e-3 * min(low, 1.0 - high):
            break
    return low


@compiled
def _is_inside(P, M, far_P, far_M, q):  # pragma: no cover - compiled
    """Return whether no side with q > 0 falls to the border."""
    for s in range(q.shape[0]):
        if far_P[s] < _BORDER * min(P[s], q[s]) or far_M[s] < _BORDER * min(M[s], 1.0 - q[s]):
            return False
    return True


@compiled
def _step(p, P, M, value, q, weights, far, far_P, far_M, tol):  # pragma: no cover - compiled
    """Move p, P, M towards the model's minimum; return D, and whether that was the last step."""
    slope, rho, t, here = 0.0, 0.0, 1.0, np.inf
    for s in range(q.shape[0]):
        change = far_P[s] - P[s]
        slope += 2.0 * _slope(P[s], M[s], q[s], weights[s]) * change
        if q[s] > 0.0:
            rho = max(rho, abs(change) / P[s])
        if q[s] < 1.0:
            rho = max(rho, abs(change) / M[s])
    if _is_inside(P, M, far_P, far_M, q):
        here = _value(far_P, far_M, q, weights)
    if not here <= value + _SUFFICIENT * min(slope, 0.0):
        t = _lowest(P, M, far_P, far_M, q, weights)
        for s in range(q.shape[0]):
            far_P[s] = P[s] + t * (far_P[s] - P[s])
            far_M[s] = M[s] + t * (far_M[s] - M[s])
        here = _value(far_P, far_M, q, weights)
    ends = (t == 1.0 and rho * rho <= tol) or not value - here > _NEGLIGIBLE
    if here <= value:
        for s in range(q.shape[0]):
            P[s], M[s] = far_P[s], far_M[s]
        for c in range(p.shape[0]):
            p[c] += t * (far[c] - p[c])
        value = here
    return value, ends


@compiled
def _write_face(p, P, M, q, weights, entries, slopes, face):  # pragma: no cover - compiled
    """Write which classes can have a share in the minimum, and make p sum to 1."""
    k = p.shape[0]
    mean, total = 0.0, 0.0
    for c in range(k):
        slopes[c] = 0.0
        total += p[c]
    for s in range(q.shape[0]):
        slope = _slope(P[s], M[s], q[s], weights[s])
        mean += slope * (P[s] - M[s])
        for c in range(k):
            slopes[c] += slope * entries[s, c]
    for c in range(k):
        p[c] /= total
        face[c] = slopes[c] - mean < _FLAT or p[c] > 0.0


@compiled
def _newton(p, q, weights, entries, m, room, points, slopes, far, sums, tol, max_iter):
    """Minimise D from least squares `far`; return the number of steps, −1 without convergence."""
    k = p.shape[0]
    P, M, far_P, far_M = sums
    z = np.empty(points.shape[0])
    weight = 1.0
    for s in range(q.shape[0]):
        if far_P[s] < 0.1 * q[s] or far_M[s] < 0.1 * (1.0 - q[s]):
            weight = 0.9
    for c in range(k):
        p[c] = (1.0 - weight) / k + weight * far[c]
    _sums(p, entries, P, M)
    value = _value(P, M, q, weights)
    for step in range(max_iter):
        _write_model(P, M, q, weights, entries, points)
        m = nearest_point(points, _refactor(points, m, room), room, z, slopes)
        write_shares(m, room, far)
        _sums(far, entries, far_P, far_M)
        value, ends = _step(p, P, M, value, q, weights, far, far_P, far_M, tol)
        if ends:
            return step + 1
    return -1


@compiled
def kullback_leibler_strict(
    q, weights, entries, tol, max_iter, out, faces, steps
):  # pragma: no cover - compiled
    """Solve samples of a strict code; `steps` receives the number of steps, −1 without convergence.

    Parameters: q (n × ℓ); w (ℓ); A's transpose (ℓ × k); `tol`; the most steps; the result (n × k);
    the classes that can take part in a minimiser (n × k); the numbers of steps (n).
    """
    ell, k = entries.shape
    points, z, slopes = np.empty((ell + 1, k)), np.empty(ell + 1), np.empty(k)
    room, far = make_room(min(k, ell + 1), ell + 1), np.empty(k)
    sums = (np.empty(ell), np.empty(ell), np.empty(ell), np.empty(ell))
    known = np.empty(ell)
    for i in range(q.shape[0]):
        for s in range(ell):
            known[s] = q[i, s] if q[i, s] >= _CERTAIN else 0.0
        _write_least_squares(known, weights, entries, points)
        m = nearest_point(points, start(points, room, slopes), room, z, slopes)
        write_shares(m, room, far)
        _sums(far, entries, sums[2], sums[3])
        misfit = 0.0
        for s in range(ell):
            misfit = max(misfit, abs(sums[2][s] - known[s]))
        if misfit <= _FITS:  # D is flat there
            steps[i] = 1
            for c in range(k):
                out[i, c], faces[i, c] = far[c], True
        else:
            steps[i] = _newton(
                out[i], known, weights, entries, m, room, points, slopes, far, sums, tol, max_iter
            )
            _write_face(out[i], sums[0], sums[1], known, weights, entries, slopes, faces[i])
