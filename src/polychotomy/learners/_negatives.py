"""The choice of replicas of other classes to train on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from polychotomy.arrays import Array, Indices
from polychotomy.learners._replicas import as_array

NEGATIVES = ("random", "hard", "near")
_MOST = 4
_RELATIVE_ODDS = 2.0


@dataclass(frozen=True)
class Negatives:
    """How many replicas of other classes each sample keeps, and how they are chosen.

    Parameters
    ----------
    number : int
        How many, s.
    how : {"random", "hard", "near"}
        Drawn evenly; the nearest ones; drawn with odds of exp(−2 d_r / min d), where d_r is the
        distance from the sample to the nearest one of class r.
    seed : int or None
    """

    number: int
    how: str
    seed: int | None

    @classmethod
    def of(cls, n_negatives: Any, how: str, n_classes: int, seed: int | None) -> "Negatives | None":
        """Return what the parameter `n_negatives` asks for, None for all other classes."""
        number = n_negatives
        if isinstance(n_negatives, str) and n_negatives == "auto":
            number = min(_MOST, n_classes - 1)
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not whole or not 1 <= number < n_classes:
            raise ValueError(
                "The 'n_negatives' parameter must be None, 'auto' or an int from 1 to "
                f"{n_classes - 1}, one less than there are classes. Got {n_negatives!r}."
            )
        return None if number == n_classes - 1 else cls(int(number), how, seed)

    def choose(self, X: Any, y: Indices, n_classes: int, *, pairwise: bool) -> NDArray[np.bool_]:
        """Return which replicas each sample keeps: that of its own class, and s others.

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
        kept : ndarray of bool of shape (n_samples, n_classes)
            s + 1 in each row.
        """
        rng, samples = check_random_state(self.seed), np.arange(len(y))
        if self.how == "random":
            keys = rng.random_sample((len(y), n_classes))
        else:
            keys = _distances_to_classes(X, y, n_classes, pairwise)
            keys[samples, y] = np.inf
        if self.how == "near":
            # The largest of log-odds + Gumbel noise are a draw without replacement.
            nearest = np.maximum(keys.min(axis=1, keepdims=True), np.finfo(float).tiny)
            with np.errstate(over="ignore"):  # next to a sample of another class, no other has odds
                keys = _RELATIVE_ODDS * keys / nearest - rng.gumbel(size=keys.shape)
        keys[samples, y] = -np.inf
        kept = np.zeros(keys.shape, dtype=bool)
        order = np.argsort(keys, axis=1, kind="stable")
        kept[samples[:, np.newaxis], order[:, : self.number + 1]] = True
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
