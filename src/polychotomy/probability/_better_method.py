"""Which method for probabilities has the lowest log loss on outputs that were held out."""

import warnings

import numpy as np

from polychotomy.arrays import Array, Indices
from polychotomy.codes import Code
from polychotomy.probability._solve import METHODS, solve

_MOST_CLASSES = 100  # for Kullback–Leibler, whose steps take long with many classes


def better_method(q: Array, code: Code, child: Indices, weight: Array, counts: Array) -> str:
    """Return the method with the lowest log loss on held-out binary probabilities.

    Least squares and Kullback–Leibler are tried, the latter for up to 100 classes whose
    probabilities the code determines, and normalise where it suits. Probabilities are kept off 0,
    where the log loss of one sample would decide.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import log_loss

    methods, losses = ["least_squares"], {}
    if code.n_classes <= _MOST_CLASSES and not code.unidentified:
        methods.append("kullback_leibler")
    if METHODS["normalise"].suits(code):
        methods.append("normalise")
    for method in methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            p = np.maximum(solve(q, code, method, sample_counts=counts), 1e-6)
        p /= p.sum(axis=1, keepdims=True)
        labels = np.arange(code.n_classes)
        losses[method] = log_loss(child, p, labels=labels, sample_weight=weight)
    return min(losses, key=lambda method: losses[method])
