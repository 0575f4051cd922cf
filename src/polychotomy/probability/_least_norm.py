"""The solution of least norm, where class probabilities are not unique.

All minimisers p of a sample have the same image Cp, with 1ᵀp = 1 as a row of C (d × k), and are 0
outside a face of the simplex. The one of least norm has two duals, and the one with fewer variables
is solved: in the entries of p that are 0 (``_compiled``), or in the multipliers λ of Cp = Cp₀.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr

from polychotomy.arrays import Array, Mask

_STEPS = 30
_TOLERANCE = 1e-12
_RIDGE = 1e-13
_SUFFICIENT = 1e-4
_ROUNDING = 1e-15


def projector(C: Array) -> Array:
    """Return I − C⁺C of C (d × k), whatever its rank."""
    basis, R, _ = qr(C.T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(R))
    basis = basis[:, sizes > 1e-10 * sizes[0]]
    N: Array = np.eye(C.shape[1]) - basis @ basis.T
    return N


def take_least_norms(p: Array, C: Array, N: Array, open_: Mask) -> None:
    """Overwrite the rows of p (n × k) that are not unique, with C and its projector N."""
    from polychotomy.probability import _compiled

    left = open_.copy()
    _compiled.least_norms(N, len(C) - 1, p, left)
    for i in np.flatnonzero(left):
        found = by_multipliers(C, p[i], p[i] - N @ p[i] > 0)
        if found is None:  # by rounding; if the other dual fails as well, p stays
            _compiled.least_norms(N, C.shape[1], p[i : i + 1], np.ones(1, dtype=bool))
        else:
            p[i] = found
    p[open_] /= p[open_].sum(axis=1, keepdims=True)


def take_least_norm_on_face(p: Array, points: Array, face: Mask) -> None:
    """Overwrite p (k), of the classes of a face, with points (d × k) of its own."""
    C, some = np.ascontiguousarray(points[:, face]), p[np.newaxis, face]
    take_least_norms(some, C, projector(C), np.ones(1, dtype=bool))
    p[face] = some[0]


def by_multipliers(C: Array, p: Array, inside: Mask) -> Array | None:
    """Return max(0, Cᵀλ), where λ minimises ψ(λ) = ½ |max(0, Cᵀλ)|² − (Cp)ᵀλ; None if it fails.

    As ψ is convex and piecewise quadratic, Newton's method with C_P C_Pᵀ, P the entries above 0,
    ends after finitely many steps (Qi and Sun, 1993); steps are halved until ψ decreases. The first
    P is `inside`. Stopping rule: no entry of C max(0, Cᵀλ) differs from Cp by more than 1e-12
    times the largest.
    """
    w = C @ p
    lam, u, g = np.zeros(len(C)), np.zeros(len(p)), -w
    value = 0.0
    for _ in range(_STEPS):
        J = C[:, inside] @ C[:, inside].T
        J.flat[:: len(C) + 1] += _RIDGE * max(float(np.trace(J)), 1.0)
        step = -cho_solve(cho_factor(J), g)
        along, t, slope = step @ C, 1.0, float(g @ step)
        for _ in range(_STEPS):
            here = 0.5 * float((np.maximum(u + t * along, 0) ** 2).sum())
            here -= float(w @ (lam + t * step))
            if here <= value + _SUFFICIENT * t * slope + _ROUNDING * abs(value):
                break
            t *= 0.5
        lam, u, value = lam + t * step, u + t * along, here
        inside = u > 0
        g = C @ np.maximum(u, 0) - w
        if np.abs(g).max() <= _TOLERANCE * np.abs(w).max():
            return np.maximum(u, 0)
    return None
