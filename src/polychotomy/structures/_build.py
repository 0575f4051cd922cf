"""Structures built by a rule, or designed from data."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.arrays import Array, Indices
from polychotomy.errors import StructureError, unknown_name
from polychotomy.structures._convert import from_linkage, two_children
from polychotomy.structures._distances import class_distances
from polychotomy.structures._kmeans import kmeans
from polychotomy.structures._structure import Structure

_METHODS = ("single", "complete", "average", "weighted")
_EXACT_CLASSES = 12


def balanced(classes: Iterable[Any]) -> Structure:
    """Return a balanced binary tree over the classes, in their order.

    Each node splits its classes in half; of an odd number, the second half is larger (Mills'
    arbitrary tree, section 7).

    Parameters
    ----------
    classes : iterable of labels
        The labels, from left to right.

    Examples
    --------
    >>> from polychotomy.structures import balanced
    >>> print(balanced(range(5)))
    "" {
      "" {0 1}
      "" {
        2
        "" {3 4}
      }
    }
    """
    made = [Structure.of_class(label) for label in classes]
    _check_any(made)

    def halve(part: Sequence[Structure]) -> Structure:  # recursion depth: log₂ of the classes
        if len(part) == 1:
            return part[0]
        middle = len(part) // 2
        return two_children(halve(part[:middle]), halve(part[middle:]))

    return halve(made)


def chain(classes: Iterable[Any], frequencies: ArrayLike | None = None) -> Structure:
    """Return a chain: a tree that separates one class after another from the rest.

    Parameters
    ----------
    classes : iterable of labels
    frequencies : array-like of shape (n_classes,), optional
        Class frequencies. If given, the most frequent class is separated first, of equally
        frequent ones the first, which suits very unbalanced classes (Ramanan's unbalanced tree);
        otherwise the first class is.

    Examples
    --------
    >>> from polychotomy.structures import chain
    >>> print(chain(["rare", "often", "seldom"], [1, 100, 10]))
    "" {
      often
      "" {seldom rare}
    }
    """
    made = [Structure.of_class(label) for label in classes]
    _check_any(made)
    if frequencies is not None:
        counts = np.asarray(frequencies, dtype=float)
        if counts.shape != (len(made),):
            raise StructureError(
                f"The 'frequencies' parameter must have a number for each of {len(made)} classes. "
                f"Got shape {counts.shape}."
            )
        made = [made[c] for c in np.argsort(-counts, kind="stable")]
    tree = made[-1]
    for node in reversed(made[:-1]):
        tree = two_children(node, tree)
    return tree


def linkage(
    X: Any,
    y: ArrayLike,
    *,
    distance: Any = "auto",
    method: str = "single",
    quantile: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> Structure:
    """Return the tree of an agglomerative clustering of the classes, the nearest joined first.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Finite numbers, on comparable scales.
    y : array-like of shape (n_samples,)
        Labels.
    distance : str or callable, default="auto"
        Distance between classes, see :func:`class_distances`.
    method : {"single", "complete", "average", "weighted"}, default="single"
        Linkage method, the distance between groups of classes; see
        :func:`scipy.cluster.hierarchy.linkage`. The default gives the trees of Mills' figures.
    quantile : float, default=1.0
        Reduces the influence of outliers, see :func:`class_distances`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights, see :func:`class_distances`.

    Returns
    -------
    structure : Structure

    References
    ----------
    Mills (2023), "Solving for multi-class: a survey and synthesis", section 5.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy.structures import linkage
    >>> X, y = load_iris(return_X_y=True)
    >>> print(linkage(X, y))
    "" {
      "" {2 1}
      0
    }
    """
    if method not in _METHODS:
        raise unknown_name("method", method, _METHODS)
    classes = np.unique(np.asarray(y)).tolist()
    if len(classes) == 1:
        return Structure.of_class(classes[0])
    D = class_distances(X, y, distance, quantile=quantile, sample_weight=sample_weight)
    return from_linkage(_linkage(D, method), classes)


def order_classes(
    X: Any,
    y: ArrayLike,
    *,
    distance: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> Indices:
    """Return an order of the classes with close neighbours, for ``adjacent`` codes.

    The order minimises the sum of the distances between neighbours: exactly for up to 12 classes,
    otherwise among the orders of an average-linkage tree (SciPy's optimal leaf ordering).

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels.
    distance : str or callable, default="auto"
        Distance between classes, see :func:`class_distances`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights, see :func:`class_distances`.

    Returns
    -------
    order : ndarray of shape (n_classes,)
        Indices of the sorted labels. The direction is the one that starts with the smaller index.

    References
    ----------
    Mills (2023), "Solving for multi-class: a survey and synthesis", section 8.

    Examples
    --------
    >>> from polychotomy import make_code
    >>> from polychotomy.structures import order_classes
    >>> order = order_classes([[0.0], [5.0], [2.0]], ["a", "b", "c"])
    >>> order
    array([0, 2, 1])
    >>> make_code("adjacent", 3, order=order)
    Code('adjacent': 3 classes, 2 problems)
    """
    from scipy.cluster.hierarchy import leaves_list, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    D = class_distances(X, y, distance, sample_weight=sample_weight)
    if len(D) <= 2:
        return np.arange(len(D))
    if len(D) <= _EXACT_CLASSES:
        order = _shortest_path(D)
    else:
        tree = optimal_leaf_ordering(_linkage(D, "average"), squareform(D, checks=False))
        order = leaves_list(tree).astype(np.intp)
    return order if order[0] < order[-1] else order[::-1]


def _linkage(D: Array, method: Any) -> Array:
    from scipy.cluster.hierarchy import linkage as join
    from scipy.spatial.distance import squareform

    return np.asarray(join(squareform(D, checks=False), method))


def _shortest_path(D: Array) -> Indices:
    """Return the shortest path through all classes, by Held and Karp's recursion over subsets.

    ``best[subset][c]`` is the length of the shortest path through a subset that ends in c.
    """
    k = len(D)
    best = {1 << c: np.where(np.arange(k) == c, 0.0, np.inf) for c in range(k)}
    before: dict[int, Indices] = {}
    for size in range(2, k + 1):
        for members in combinations(range(k), size):
            subset = sum(1 << c for c in members)
            lengths = np.full(k, np.inf)
            origin = np.zeros(k, dtype=np.intp)
            for c in members:
                through = best[subset ^ (1 << c)] + D[:, c]
                origin[c] = through.argmin()
                lengths[c] = through[origin[c]]
            best[subset], before[subset] = lengths, origin
    subset = (1 << k) - 1
    path = [int(best[subset].argmin())]
    while subset in before:
        last = path[-1]
        path.append(int(before[subset][last]))
        subset ^= 1 << last
    return np.array(path)


def _check_any(made: Sequence[Structure]) -> None:
    if not made:
        raise StructureError("A structure needs at least one class. Got none.")


class TreeBuilder(NamedTuple):
    """A named way to build a tree.

    `make` is a function of X, y, a distance and weights. Without `needs_samples` it uses only the
    labels in y; with `needs_distances` X must contain features, not a kernel.
    """

    make: Callable[[Any, ArrayLike, Any, Any], Structure]
    needs_samples: bool = True
    needs_distances: bool = False


def _design_balanced(X: Any, y: ArrayLike, distance: Any, sample_weight: Any) -> Structure:
    return balanced(np.unique(np.asarray(y)).tolist())


def _design_chain(X: Any, y: ArrayLike, distance: Any, sample_weight: Any) -> Structure:
    classes, indices = np.unique(np.asarray(y), return_inverse=True)
    return chain(classes.tolist(), np.bincount(indices.ravel(), weights=sample_weight))


def _design_linkage(X: Any, y: ArrayLike, distance: Any, sample_weight: Any) -> Structure:
    return linkage(X, y, distance=distance, sample_weight=sample_weight)


def _design_kmeans(X: Any, y: ArrayLike, distance: Any, sample_weight: Any) -> Structure:
    return kmeans(X, y, sample_weight=sample_weight)


BUILDERS = {
    "balanced": TreeBuilder(_design_balanced, needs_samples=False),
    "chain": TreeBuilder(_design_chain),
    "linkage": TreeBuilder(_design_linkage, needs_distances=True),
    "kmeans": TreeBuilder(_design_kmeans, needs_distances=True),
}
"""The builders by name. A new one is one function and one line here."""
