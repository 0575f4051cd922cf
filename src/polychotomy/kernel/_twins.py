"""Plain twins of the compiled functions, for the tests: slow and obvious."""

import numpy as np

from polychotomy.arrays import Array


def rbf_from_products(products: Array, own: Array, squares: Array, gamma: float) -> Array:
    """Return Gaussian kernel values from products."""
    distances = own[:, np.newaxis] + squares - 2 * products
    return np.exp(-gamma * np.maximum(distances, 0))


def rbf_rows(X: Array, Y: Array, gamma: float) -> Array:
    """Return Gaussian kernel values of the rows of X with the columns of Y."""
    return rbf_from_products(X @ Y, (X**2).sum(axis=1), (Y**2).sum(axis=0), gamma)


def solve_problem(K: Array, y: Array, c: Array, tol: float) -> Array:
    """Return the coefficients by pairs of second-order gain over all samples."""
    a, e = np.zeros(len(y)), y.astype(float)
    while True:
        up = np.where(y > 0, a < c, a > 0)
        down = np.where(y > 0, a > 0, a < c)
        if not up.any() or not down.any():
            return a
        i = int(np.where(up, e, -np.inf).argmax())
        if e[i] - np.where(down, e, np.inf).min() <= tol:
            return a
        slope = np.where(down, np.maximum(e[i] - e, 0), 0)
        curve = np.maximum(K[i, i] + np.diag(K) - 2 * K[i], 1e-12)
        j = int((slope**2 / curve).argmax())
        t = min(
            (e[i] - e[j]) / curve[j],
            c[i] - a[i] if y[i] > 0 else a[i],
            a[j] if y[j] > 0 else c[j] - a[j],
        )
        a[i] += y[i] * t
        a[j] -= y[j] * t
        a[[i, j]] = np.clip(a[[i, j]], 0, c[[i, j]])
        e = y - (y * a) @ K


def add_coupled(K: Array, W: Array, M: Array) -> tuple[Array, Array]:
    """Return G = W K and F = M G of coefficients with a row for each problem."""
    G = W @ K
    return G, M @ G
