"""Which replicas of other classes a sample keeps for training."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from polychotomy.arrays import Array, Indices
from polychotomy.errors import unknown_name
from polychotomy.learners._replicas import as_array

NEGATIVES = ("random", "hard", "near")
_MOST = 4
_RELATIVE_ODDS = 2.0


@dataclass(frozen=True)
class Negatives:
    """How many replicas of other classes each sample keeps, and which.

    Parameters
    ----------
    number : int
    how : {"random", "hard", "near"}
    seed : int or None
    """

    number: int
    how: str
    seed: int | None

    @classmethod
    def of(
        cls, n_negatives: Any, negatives: Any, n_classes: int, seed: int | None
    ) -> "Negatives | None":
        """Return what the parameters `n_negatives` and `negatives` ask for, None for all."""
        number = check_negatives(n_negatives, negatives, n_classes)
        return None if number == n_classes - 1 else cls(number, negatives, seed)

    def choose(self, X: Any, y: Indices, n_classes: int, *, pairwise: bool) -> NDArray[np.bool_]:
        """Return which replicas are kept, shape (n_samples, n_classes)."""
        rng = check_random_state(self.seed)
        return choose_negatives(X, y, n_classes, self.number, self.how, rng, pairwise=pairwise)


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


def choose_negatives(
    X: Any, y: Indices, n_classes: int, s: int, how: str, rng: Any, *, pairwise: bool
) -> NDArray[np.bool_]:
    """Return, for each sample, its own class and `s` others.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Or the kernel of the samples, in whose space distances then are.
    y : ndarray of shape (n_samples,)
        Class indices.
    n_classes, s : int
    how : {"random", "hard", "near"}
        Drawn evenly; the nearest ones; drawn with odds of exp(−2 d_r / min d), where d_r is the
        distance from the sample to the nearest one of class r.
    rng : RandomState
    pairwise : bool
        Whether X is a kernel.

    Returns
    -------
    kept : ndarray of bool of shape (n_samples, n_classes)
        s + 1 in each row.
    """
    samples = np.arange(len(y))
    if how == "random":
        keys = rng.random_sample((len(y), n_classes))
    else:
        keys = _distances_to_classes(X, y, n_classes, pairwise)
        keys[samples, y] = np.inf
        if how == "near":  # the largest of log-odds + Gumbel noise are a draw without replacement
            nearest = np.maximum(keys.min(axis=1, keepdims=True), np.finfo(float).tiny)
            with np.errstate(over="ignore"):  # next to a sample of another class, no other has odds
                keys = _RELATIVE_ODDS * keys / nearest - rng.gumbel(size=keys.shape)
    keys[samples, y] = -np.inf
    kept = np.zeros(keys.shape, dtype=bool)
    order = np.argsort(keys, axis=1, kind="stable")
    kept[samples[:, np.newaxis], order[:, : s + 1]] = True
    return kept


def _distances_to_classes(X: Any, y: Indices, n_classes: int, pairwise: bool) -> Array:
    """Return the distance from each sample to the nearest one of each class."""
    from sklearn.neighbors import NearestNeighbors

    X = as_array(X)
    distances = np.empty((len(y), n_classes))
    for r in range(n_classes):
        members = np.flatnonzero(y == r)
        if pairwise:
            distances[:, r] = _kernel_distances(X, members)
        else:
            nearest = NearestNeighbors(n_neighbors=1).fit(X[members]).kneighbors(X)[0]
            distances[:, r] = nearest[:, 0]
    return distances


def _kernel_distances(K: Any, members: Indices) -> Array:
    """Return min_j sqrt(K_ii − 2 K_ij + K_jj) over the members j."""
    own, columns = K.diagonal(), K[:, members]
    columns = columns if isinstance(columns, np.ndarray) else columns.toarray()
    squares = own + (own[members] - 2 * columns).min(axis=1)
    return np.sqrt(np.maximum(squares, 0))
