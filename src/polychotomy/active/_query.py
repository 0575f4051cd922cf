"""``query``: the samples of a pool whose labels a classifier would learn most from."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array, check_random_state

from polychotomy.errors import unknown_name

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Strategy:
    """How samples are ranked.

    Attributes
    ----------
    score : callable
        A function of what the classifier says of the samples; the smallest score is wanted most.
    methods : tuple of str
        The classifier's methods that say it; the first that it has is used.
    """

    score: Callable[[Array], Array]
    methods: tuple[str, ...]


def _lead(outputs: Array) -> Array:
    """Return by how much the best replica leads; of two classes, how far the sample is."""
    return _boundary(outputs) if outputs.shape[1] == 1 else _margin(outputs)


def _boundary(outputs: Array) -> Array:
    """Return how far the replica nearest the boundary is from it."""
    return np.abs(outputs).min(axis=1)


def _least_confident(p: Array) -> Array:
    """Return the probability of the most probable class."""
    return p.max(axis=1)


def _margin(p: Array) -> Array:
    """Return the difference of the two largest values."""
    second, first = np.partition(p, -2, axis=1)[:, -2:].T
    return first - second


def _entropy(p: Array) -> Array:
    """Return minus the entropy of the class probabilities."""
    return np.sum(p * np.log(np.where(p > 0, p, 1)), axis=1)


_OUTPUTS = ("binary_outputs", "decision_function")

STRATEGIES = {
    "lead": Strategy(_lead, _OUTPUTS),
    "boundary": Strategy(_boundary, _OUTPUTS),
    "least_confident": Strategy(_least_confident, ("predict_proba",)),
    "margin": Strategy(_margin, ("predict_proba",)),
    "entropy": Strategy(_entropy, ("predict_proba",)),
}


def query(
    classifier: Any,
    X_pool: Any,
    n_queries: int = 1,
    *,
    strategy: str = "lead",
    diversity: float = 1.0,
    random_state: Any = None,
) -> Indices:
    """Return which samples of a pool to label next.

    A single binary classifier of all classes says by its outputs F_r(x) which samples it is in
    doubt about: those whose two best replicas are nearest to each other, or whose nearest replica
    is nearest to its boundary, min_r |F_r(x)|. The other strategies go by class probabilities, or
    by chance.

    Parameters
    ----------
    classifier : classifier
        Fitted to the samples that have labels. For ``"lead"`` and ``"boundary"`` any with an output
        for each class, by ``binary_outputs`` or ``decision_function``, such as a
        :class:`~polychotomy.KernelSBCClassifier`; for ``"least_confident"``, ``"margin"`` and
        ``"entropy"`` any with ``predict_proba``; for ``"random"`` it is not asked and may be None.
    X_pool : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples without labels.
    n_queries : int, default=1
        How many to return.
    strategy : str, default="lead"
        ``"lead"`` wants the smallest difference of the two largest outputs, ``"boundary"`` the
        smallest |F_r|, ``"least_confident"`` the smallest max_r p_r, ``"margin"`` the smallest
        difference of the two largest p_r, ``"entropy"`` the largest −Σ p_r log p_r, and
        ``"random"`` any.
    diversity : float, default=1.0
        The queries are spread over the `diversity` · `n_queries` samples that are wanted most:
        after the first, each is the one with the largest distance to those chosen before. With 1
        they are just the most wanted.
    random_state : int, RandomState instance or None, default=None
        For ``"random"``.

    Returns
    -------
    indices : ndarray of shape (n_queries,)
        Rows of `X_pool`, the most wanted first. Of samples wanted alike, the first comes first.

    Notes
    -----
    The bias of a single binary classifier is common to all replicas and without effect on its
    predictions, so its boundary F = 0 is not where classes meet. With few labels and a small C
    nearly all outputs are negative, and the replica nearest the boundary is that of the sample it
    is surest of: in trials on digits, satimage and pendigits with C = 10, ``"boundary"`` did worse
    than chance. With C = 100, as in ``examples/active_learning.py``, it did better than chance in
    the end, and ``"lead"`` about as well as ``"margin"``, which needs calibrated probabilities.

    It costs one prediction of the pool and, with `diversity`, n_queries rows of Euclidean
    distances between the candidates, by their features as they are: scale these first.

    References
    ----------
    El-Yaniv, Kotek, Pechyony and Yom-Tov, "On multiclass classification via a single binary
    classifier", name active learning as the major application. Settles (2009), "Active learning
    literature survey", describes the other strategies.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import KernelSBCClassifier
    >>> from polychotomy.active import query
    >>> X, y = load_iris(return_X_y=True)
    >>> known = np.arange(0, 150, 15)
    >>> classifier = KernelSBCClassifier(C=100, probability=None).fit(X[known], y[known])
    >>> pool = np.setdiff1d(np.arange(150), known)
    >>> wanted = pool[query(classifier, X[pool], 3)]
    >>> (y[wanted] != 0).all()
    np.True_
    """
    n = X_pool.shape[0] if hasattr(X_pool, "shape") else len(X_pool)
    _check_numbers(n_queries, n, diversity)
    if not isinstance(strategy, str) or strategy not in {*STRATEGIES, "random"}:
        raise unknown_name("strategy", strategy, [*STRATEGIES, "random"])
    if strategy == "random":
        order = check_random_state(random_state).permutation(n)
    else:
        chosen = STRATEGIES[strategy]
        order = np.argsort(chosen.score(_said(classifier, X_pool, strategy)), kind="stable")
    candidates = order[: min(n, int(np.ceil(diversity * n_queries)))]
    if len(candidates) == n_queries:
        return candidates
    X = check_array(X_pool, accept_sparse="csr", dtype=float)
    return candidates[_spread(X[candidates], n_queries)]


def _said(classifier: Any, X: Any, strategy: str) -> Array:
    """Return what the classifier says of the samples, a column for each class or replica."""
    methods = STRATEGIES[strategy].methods
    method = next((name for name in methods if hasattr(classifier, name)), None)
    if method is None:
        raise ValueError(
            f"strategy={strategy!r} needs a classifier with {' or '.join(methods)}. "
            f"Got {type(classifier).__name__}, which has none."
        )
    said = np.asarray(getattr(classifier, method)(X), dtype=float)
    return said if said.ndim == 2 else said[:, np.newaxis]


def _spread(X: Any, n_queries: int) -> Indices:
    """Return the first sample and then, one by one, the farthest from those chosen before."""
    chosen = np.zeros(n_queries, dtype=np.intp)
    nearest = np.full(X.shape[0], np.inf)
    for i in range(1, n_queries):
        last = chosen[i - 1]
        nearest = np.minimum(nearest, pairwise_distances(X, X[last : last + 1])[:, 0])
        nearest[last] = -np.inf  # not again, even if all others are the same sample
        chosen[i] = nearest.argmax()
    return chosen


def _check_numbers(n_queries: Any, n_samples: int, diversity: Any) -> None:
    if not isinstance(n_queries, Integral) or not 1 <= int(n_queries) <= n_samples:
        raise ValueError(
            "The 'n_queries' parameter must be an int of at least 1 and at most the number of "
            f"samples in the pool, {n_samples}. Got {n_queries!r}."
        )
    if not isinstance(diversity, Real) or not 1 <= float(diversity) < np.inf:
        raise ValueError(
            f"The 'diversity' parameter must be a number of at least 1. Got {diversity!r}."
        )
