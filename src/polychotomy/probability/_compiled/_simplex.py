"""Minimisation of quadratic functions on the simplex.

The minimum of ½ pᵀNp over p ≥ 0, Σp = 1 is homogeneous in p, and the term c (Σp)² is constant on
the simplex, so with H = N + c 11ᵀ it is the solution p = x / Σx of the linear complementarity
problem

    x ≥ 0,    Hx − 1 ≥ 0,    xᵀ(Hx − 1) = 0.

H is positive definite if the solution is unique, and block principal pivoting (Kim and Park,
2011) ends after finitely many exchanges: all violating classes enter or leave the support at once
as long as this reduces the number of violations, otherwise only the last of them (Murty's rule).
Each exchange solves H_PP x_P = 1 on the support P by a Cholesky factorisation. Stopping rule: no
x_c is negative and no (Hx − 1)_c is below −1e-11.

If a pivot of the factorisation vanishes, the solution is not unique. Then pᵀNp + ε|p|² is minimised
first; its solution p' has the smallest norm up to O(ε). Proximal steps, which minimise
pᵀNp + ε|p − p'|² from the last solution p', remove the remaining error. They stop when the
optimality conditions hold to 1e-11.
"""

import numpy as np
from numba import njit

# NumPy's error model: checks for division by zero would prevent the vectorisation of loops.
compiled = njit(cache=True, nogil=True, error_model="numpy")
# The same for functions whose sums may be added up in any order, as vectors do.
compiled_sums = njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"}
)

_SMALL_PIVOT = 1e-11
_RIDGE = 1e-8
_PROXIMAL_STEPS = 100
_DUAL_TOLERANCE = 1e-11


@compiled
def factor(H, ridge, support, m, U):  # pragma: no cover - compiled
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


@compiled
def back_substitute(U, m, b, x):  # pragma: no cover - compiled
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


@compiled
def _solve_on_support(H, ridge, support, m, U, ones, x):  # pragma: no cover - compiled
    """Solve (H + ridge I) x = 1 on the support; False if a pivot vanishes."""
    if not factor(H, ridge, support, m, U):
        return False
    if ridge == 0.0:
        for i in range(m):
            if U[i, i] * U[i, i] < _SMALL_PIVOT * H[support[i], support[i]]:
                return False
    back_substitute(U, m, ones, x)
    return True


@compiled
def pivot(H, ridge, inside, p, support, U, ones, x):  # pragma: no cover - compiled
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


@compiled
def minimise(H, inside, p, support, U, ones, x):  # pragma: no cover - compiled
    """Minimise ½ pᵀHp on the simplex, from a first guess of the support."""
    k = H.shape[0]
    if pivot(H, 0.0, inside, p, support, U, ones, x):
        return
    ridge = 0.0
    for c in range(k):
        ridge = max(ridge, _RIDGE * H[c, c])
    for c in range(k):
        inside[c] = True
    while not pivot(H, ridge, inside, p, support, U, ones, x):
        ridge *= 10.0
        for c in range(k):
            inside[c] = True
    before, here = np.zeros(k), np.empty(k)
    for _ in range(_PROXIMAL_STEPS):
        for c in range(k):
            here[c] = p[c]
            for d in range(k):
                H[c, d] -= ridge * (p[c] - before[c] + p[d] - before[d])
        if not pivot(H, ridge, inside, p, support, U, ones, x):
            p[:] = here
            return
        moved = 0.0
        for c in range(k):
            moved = max(moved, abs(p[c] - here[c]))
            before[c] = here[c]
        if ridge * moved < _DUAL_TOLERANCE:
            return
