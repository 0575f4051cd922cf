"""Which replicas of other classes a sample keeps for training."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.classifiers._replicas import as_array
from polychotomy.errors import unknown_name

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

NEGATIVES = ("random", "hard")
_MOST = 4


def check_negatives(n_negatives: Any, negatives: Any, n_classes: int) -> int:
    """Return how many other classes' replicas each sample keeps, or raise ValueError."""
    if not isinstance(negatives, str) or negatives not in NEGATIVES:
        raise unknown_name("negatives", negatives, NEGATIVES)
    if n_negatives is None:
        return n_classes - 1
    if isinstance(n_negatives, str) and n_negatives == "auto":
        return min(_MOST, n_classes - 1)
    whole = isinstance(n_negatives, int | np.integer) and not isinstance(n_negatives, bool)
    if not whole or not 1 <= n_negatives < n_classes:
        raise ValueError(
            "The 'n_negatives' parameter must be None, 'auto' or an int from 1 to "
            f"{n_classes - 1}, one less than there are classes. Got {n_negatives!r}."
        )
    return int(n_negatives)


def kept_classes(scores: Array, y: Indices, s: int) -> NDArray[np.bool_]:
    """Return, for each sample, its own class and the `s` others with the largest scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
    y : ndarray of shape (n_samples,)
        Class indices.
    s : int

    Returns
    -------
    kept : ndarray of bool of shape (n_samples, n_classes)
        s + 1 in each row; of equal scores the first classes are kept.
    """
    samples = np.arange(len(y))
    ranked = -scores
    ranked[samples, y] = -np.inf
    order = np.argsort(ranked, axis=1, kind="stable")[:, : s + 1]
    kept = np.zeros(scores.shape, dtype=bool)
    kept[samples[:, np.newaxis], order] = True
    return kept


def confusion_scores(X: Any, y: Indices, n_classes: int, *, pairwise: bool) -> Array:
    """Return how near each sample is to each class: minus the squared distance to its mean.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Or the kernel of the samples, in whose space distances then are.
    y : ndarray of shape (n_samples,)
        Class indices.
    n_classes : int
    pairwise : bool
        Whether X is a kernel.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_classes)
        Up to a constant for each sample.
    """
    members = np.eye(n_classes)[y]
    members /= members.sum(axis=0)
    X = as_array(X)
    if pairwise:
        products = np.asarray(X @ members)
        return 2 * products - np.einsum("ir,ir->r", members, products)
    means = np.asarray(X.T @ members).T
    products = np.asarray(X @ means.T)
    return 2 * products - (means**2).sum(axis=1)
