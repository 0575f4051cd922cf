"""NumPy versions of the compiled solvers, slow and obvious, for the tests to compare with."""

import numpy as np
from scipy.optimize import nnls
from scipy.special import xlogy

from polychotomy.arrays import Array
from polychotomy.codes import Code


def normal_matrix(q: Array, code: Code) -> Array:
    """Return N = BᵀB of one sample, B_sc = A_cs − r_s |A_cs|."""
    A = code.matrix.T.astype(float)
    B = A - (2 * q - 1)[:, np.newaxis] * np.abs(A)
    return B.T @ B


def kkt_residual(p: Array, q: Array, code: Code) -> float:
    """Return the KKT residual of p: its violation of the optimality conditions of pᵀNp."""
    gradient = normal_matrix(q, code) @ p
    slack = gradient - p @ gradient
    return float(max(-slack.min(), np.abs(p * slack).max(), abs(p.sum() - 1), -p.min()))


def least_squares(q: Array, code: Code) -> Array:
    """Return the minimiser for one sample, see ``nearest_point``."""
    return _minimise(normal_matrix(q, code))


def nearest_point(points: Array) -> Array:
    """Return the p on the simplex that minimises |Σ_c p_c b_c|, b_c the columns (d × k)."""
    return _minimise(points.T @ points)


def _minimise(N: Array) -> Array:
    """Minimise pᵀNp by Lawson and Hanson's method with Σp = 1.

    Starting from the best single class, the class with the most negative slack joins the support.
    If the solution on the support leaves the simplex, move towards it up to the border and drop
    the class that becomes zero there.
    """
    tolerance = 1e-13 * np.trace(N)
    support = [int(np.argmin(np.diag(N)))]
    p = np.zeros(len(N))
    p[support] = 1.0
    while True:
        slack = N @ p - p @ N @ p
        joins = int(np.argmin(slack))
        if slack[joins] > -tolerance:
            return p
        support.append(joins)
        while True:
            best = np.zeros(len(N))
            best[support] = _on_support(N[np.ix_(support, support)])
            negative = [c for c in support if best[c] < 0]
            if not negative:
                break
            t, stops = min((p[c] / (p[c] - best[c]), c) for c in negative)
            p = p + t * (best - p)
            p[stops] = 0.0
            support.remove(stops)
        p = best


def least_norm(p: Array, points: Array) -> Array:
    """Return the p' ≥ 0 of least norm with Cp' = Cp, C = `points` (d × k), to about 1e-7.

    Lawson and Hanson's method, as in SciPy, with the equations as heavily weighted rows.
    """
    heavy = 1e4
    rows = np.vstack([heavy * points, np.eye(len(p))])
    return np.asarray(nnls(rows, np.append(heavy * points @ p, np.zeros(len(p))), maxiter=10**4)[0])


def divergence_gap(p: Array, q: Array, code: Code, counts: Array) -> float:
    """Return an upper bound of D(p) − min D for a strict code: pᵀg − min g, as D is convex."""
    plus, minus = p @ (code.matrix == 1), p @ (code.matrix == -1)
    up = np.divide(q, plus, out=np.zeros_like(q), where=q > 0)
    down = np.divide(1 - q, minus, out=np.zeros_like(q), where=q < 1)
    weights = counts / counts.sum()
    g = -((code.matrix == 1) @ (weights * up) + (code.matrix == -1) @ (weights * down))
    return float(p @ g - g.min())


def coupling(q: Array, code: Code) -> Array:
    """Return the solution of the bordered system [N 1; 1ᵀ 0] [p; λ] = [0; 1]."""
    return _on_support(normal_matrix(q, code))


def divergence(p: Array, q: Array, code: Code, counts: Array) -> float:
    """Return Σ_s n_s KL(q_s ‖ p(+)/p(±)), the entropy of q left out."""
    plus, minus = p @ (code.matrix == 1), p @ (code.matrix == -1)
    share = plus / (plus + minus)
    return float((counts / counts.sum()) @ -(xlogy(q, share) + xlogy(1 - q, 1 - share)))


def kullback_leibler(q: Array, code: Code, counts: Array, n_steps: int) -> list[Array]:
    """Return the path of Zadrozny's multiplicative steps from the uniform distribution."""
    plus, minus = (code.matrix == 1).astype(float), (code.matrix == -1).astype(float)
    path = [np.full(code.n_classes, 1 / code.n_classes)]
    for _ in range(n_steps):
        p = path[-1]
        up, down = p @ plus, p @ minus
        top = plus @ (counts * q / up) + minus @ (counts * (1 - q) / down)
        bottom = (plus + minus) @ (counts / (up + down))
        step = p * top / bottom
        path.append(step / step.sum())
    return path


def _on_support(N: Array) -> Array:
    k = len(N)
    bordered = np.block([[N, np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
    return np.linalg.lstsq(bordered, np.append(np.zeros(k), 1.0), rcond=None)[0][:k]
