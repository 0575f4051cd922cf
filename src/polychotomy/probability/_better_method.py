"""The method for probabilities with the lowest log loss on held-out outputs."""

import warnings

import numpy as np

from polychotomy.arrays import Array, Indices
from polychotomy.codes import Code
from polychotomy.probability._solve import METHODS, solve

_MOST_CLASSES = 100  # for Kullback–Leibler, whose steps take long with many classes
_FIRST_SAMPLES = 500
_CLEAR = 4.0  # standard errors


def better_method(q: Array, code: Code, child: Indices, weight: Array, counts: Array) -> str:
    """Return the method with the lowest log loss on held-out binary probabilities.

    Least squares and Kullback–Leibler are tried, the latter for up to 100 classes whose
    probabilities the code determines, normalise where it suits, and the product for strict codes
    that do not determine them. They are compared on a part of the samples, which is doubled until
    all but one have a loss that is four standard errors above the lowest, or all samples are used.
    """
    methods = ["least_squares"]
    if code.n_classes <= _MOST_CLASSES and not code.unidentified:
        methods.append("kullback_leibler")
    if METHODS["normalise"].suits(code):
        methods.append("normalise")
    if METHODS["product"].suits(code) and code.unidentified:
        methods.append("product")
    order = np.random.default_rng(0).permutation(len(q))
    losses = {method: np.empty(len(q)) for method in methods}
    n = 0
    while len(methods) > 1 and n < len(q):
        part = order[n : max(2 * n, _FIRST_SAMPLES)]
        for method in methods:
            losses[method][n : n + len(part)] = _log_losses(
                q[part], code, child[part], counts, method
            )
        n += len(part)
        w = weight[order[:n]]
        sums = {method: float(w @ losses[method][:n]) for method in methods}
        best = min(methods, key=lambda method: sums[method])
        worse = {method: losses[method][:n] - losses[best][:n] for method in methods}
        methods = [m for m in methods if m == best or not _clearly_above_zero(worse[m], w)]
    if len(methods) == 1:
        return methods[0]
    return min(methods, key=lambda method: float(weight[order] @ losses[method]))


def _log_losses(q: Array, code: Code, child: Indices, counts: Array, method: str) -> Array:
    """Return the log loss of each sample.

    Probabilities are kept off 0, where that of one sample would decide.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        p = np.maximum(solve(q, code, method, sample_counts=counts), 1e-6)
    losses: Array = np.log(p.sum(axis=1) / p[np.arange(len(p)), child])
    return losses


def _clearly_above_zero(values: Array, weight: Array) -> bool:
    """Return whether a weighted mean is larger than some of its standard errors."""
    total = float(weight @ values)
    deviations = values - total / max(float(weight.sum()), np.finfo(float).tiny)
    return total > _CLEAR * float(np.sqrt(weight**2 @ deviations**2))
