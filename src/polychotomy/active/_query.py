"""``query``: the samples of a pool that are most useful to label next."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array, check_random_state

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.errors import unknown_name
from polychotomy.structures import lay_out


@dataclass(frozen=True)
class Strategy:
    """A way to rank samples.

    Attributes
    ----------
    score : callable
        A function of the classifier's outputs or probabilities; samples with the smallest scores
        are queried first.
    methods : tuple of str
        The classifier's methods that compute them; the first available one is used.
    """

    score: Callable[[Array], Array]
    methods: tuple[str, ...]


def _lead(outputs: Array) -> Array:
    """Return the lead of the best replica; with one output, the distance to the boundary."""
    return _boundary(outputs) if outputs.shape[1] == 1 else _margin(outputs)


def _boundary(outputs: Array) -> Array:
    """Return the distance between the boundary and the replica nearest to it."""
    return np.abs(outputs).min(axis=1)


def _least_confident(p: Array) -> Array:
    """Return the probability of the most probable class."""
    return p.max(axis=1)


def _margin(p: Array) -> Array:
    """Return the difference between the two largest values."""
    second, first = np.partition(p, -2, axis=1)[:, -2:].T
    return first - second


def _entropy(p: Array) -> Array:
    """Return the negative entropy of the class probabilities."""
    return np.sum(p * np.log(np.where(p > 0, p, 1)), axis=1)


_OUTPUTS = ("decision_function",)

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

    The outputs F_r(x) of a single binary classifier for all classes show where it is uncertain:
    the two largest outputs are close to each other, or the replica nearest to the boundary is
    close to it, min_r |F_r(x)|. The other strategies use class probabilities, or chance.

    Parameters
    ----------
    classifier : classifier
        Fitted to the samples that have labels. For ``"lead"`` and ``"boundary"`` any with
        ``decision_function``, whose scores of classes are F_r(x), such as a
        :class:`~polychotomy.KernelSBCClassifier`; for ``"least_confident"``, ``"margin"`` and
        ``"entropy"`` any with ``predict_proba``; for ``"random"`` it is not used and may be None.
    X_pool : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples without labels.
    n_queries : int, default=1
        Number of samples to return.
    strategy : str, default="lead"
        ``"lead"`` prefers the smallest difference of the two largest outputs, ``"boundary"`` the
        smallest |F_r| (of codes and trees, see the notes), ``"least_confident"`` the smallest
        max_r p_r, ``"margin"`` the smallest difference of the two largest p_r, and ``"entropy"``
        the largest −Σ p_r log p_r. ``"random"`` draws at random.
    diversity : float, default=1.0
        The queries are spread over the `diversity` · `n_queries` best samples: after the first,
        each query is the sample farthest from those chosen before. With 1 they are simply the
        best samples.
    random_state : int, RandomState instance or None, default=None
        Seed for ``"random"``.

    Returns
    -------
    indices : ndarray of shape (n_queries,)
        Rows of `X_pool`, the best first. Ties are broken by order.

    Notes
    -----
    The bias of a single binary classifier is common to all replicas and does not affect its
    predictions, so its boundary F = 0 is not the boundary between classes. With few labels and a
    small C nearly all outputs are negative, and the replica nearest to the boundary belongs to the
    most certain sample: in trials on digits, satimage and pendigits with C = 10, ``"boundary"`` was
    worse than chance. With C = 100, as in ``examples/active_learning.py``, it was better than
    chance in the end, and ``"lead"`` about as good as ``"margin"``, which needs calibrated
    probabilities.

    The scores that a code or a tree gives are no distances to a boundary, and those of a DDAG are
    the steps in which classes were eliminated. There ``"boundary"``, and with a DDAG ``"lead"``
    too, take the smallest a_s f_s over the outputs f_s of the problems in which the predicted class
    takes part, a_s being its side: how near one of them is to the other side, or how far on it. In
    five draws of 100 labelled digits (SVC, pool of 1697) 11 % of the pool were predicted wrongly,
    and of the 50 samples asked for with ``"boundary"`` 56 % (one-vs-rest), 42 % (dense random) and
    54 % (DDAG); with ``"lead"`` 53 %, 62 % and 54 %.

    The cost is one prediction of the pool and, with `diversity`, n_queries rows of Euclidean
    distances between the candidates. Features are used as they are: scale them first.

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
        order = np.argsort(_scores(classifier, X_pool, strategy), kind="stable")
    candidates = order[: min(n, int(np.ceil(diversity * n_queries)))]
    if len(candidates) == n_queries:
        return candidates
    X = check_array(X_pool, accept_sparse="csr", dtype=float)
    return candidates[_spread(X[candidates], n_queries)]


def _scores(classifier: Any, X: Any, strategy: str) -> Array:
    """Return the score by which samples are ranked, the smallest first."""
    eliminates = "ddag" in (getattr(classifier, "solve_", ""), getattr(classifier, "decoder_", ""))
    if strategy == "boundary" or (strategy == "lead" and eliminates):
        codewords = _codewords(classifier)
        if codewords is not None:
            winners = np.searchsorted(classifier.classes_, classifier.predict(X))
            outputs = np.asarray(classifier.binary_outputs(X), dtype=float)
            return _agreement(outputs, codewords[winners])
    return STRATEGIES[strategy].score(_said(classifier, X, strategy))


def _codewords(classifier: Any) -> Matrix | None:
    """Return the sides of all problems, a row per class; None without any, or with two classes."""
    if len(getattr(classifier, "classes_", ())) < 3:
        return None
    if hasattr(classifier, "structure_"):
        rows = {label: r for r, label in enumerate(classifier.classes_.tolist())}
        return lay_out(classifier.structure_, rows)[0]
    # With one bias for all replicas, whose largest output wins, outputs have no sign to agree with.
    if not hasattr(classifier, "code_") or classifier.decoder_ == "argmax":
        return None
    matrix: Matrix = classifier.code_.matrix
    return matrix


def _agreement(outputs: Array, codewords: Matrix) -> Array:
    """Return the smallest of a_s f_s over the problems in which the predicted class takes part."""
    smallest: Array = np.where(codewords == 0, np.inf, codewords * outputs).min(axis=1)
    return smallest


def _said(classifier: Any, X: Any, strategy: str) -> Array:
    """Return the classifier's outputs or probabilities, a column for each class or replica."""
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
    """Return the first sample and then, one by one, the sample farthest from those chosen."""
    chosen = np.zeros(n_queries, dtype=np.intp)
    nearest = np.full(X.shape[0], np.inf)
    for i in range(1, n_queries):
        last = chosen[i - 1]
        nearest = np.minimum(nearest, pairwise_distances(X, X[last : last + 1])[:, 0])
        nearest[last] = -np.inf  # never chosen again, even if all other samples are equal to it
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
