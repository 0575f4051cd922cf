"""Wide balanced trees for many classes, by balanced k-means of the class means."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.arrays import Array, Indices
from polychotomy.codes import check_int, one_vs_rest
from polychotomy.structures._convert import two_children
from polychotomy.structures._distances import check_samples, class_means
from polychotomy.structures._structure import Structure

_MOST_STEPS = 50


def kmeans(
    X: Any,
    y: ArrayLike,
    *,
    width: int = 16,
    sample_weight: ArrayLike | None = None,
    random_state: Any = 0,
) -> Structure:
    """Return a wide balanced tree that keeps classes with similar means together.

    A node separates each of its children from the others (one-vs-rest). The children have nearly
    the same number of classes: at every node it differs by one at most. The depth is the smallest
    that `width` allows, ⌈log_width k⌉, and nodes have no more children than this depth needs: 100
    classes make ten groups of ten. O(width · log k) problems lie on the way to a class.

    Groups are found by halving: two means, and the classes sorted by the difference of their
    squared distances to them, until nothing changes. For two given means no groups of these sizes
    are better, so that no step increases the sum of squared distances.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Finite numbers, on comparable scales; or the mean of each class.
    y : array-like of shape (n_samples,)
        Labels.
    width : int, default=16
        Maximum number of children, at least 2. With 2 all nodes are binary; with one for each
        class the structure is a flat one-vs-rest code.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples in the means.
    random_state : int, RandomState instance or None, default=0
        Chooses the first two means of each halving.

    Returns
    -------
    structure : Structure

    Notes
    -----
    It costs O(n d + k d log k) time and holds the means, k d numbers: there are no distances
    between all pairs of classes, or of samples.

    References
    ----------
    Balanced 2-means: Prabhu, Kag, Harsola, Agrawal and Varma (2018), "Parabel: partitioned label
    trees for extreme classification with application to dynamic search advertising", WWW. Wide
    nodes: Khandagale, Xiao and Babbar (2020), "Bonsai: diverse and shallow trees for extreme
    multi-label classification", Machine Learning 109.

    Examples
    --------
    >>> from polychotomy.structures import kmeans
    >>> print(kmeans([[0.0], [9.0], [1.0], [8.0]], ["a", "b", "c", "d"], width=2))
    "" {
      "" {a c}
      "" {d b}
    }
    """
    from sklearn.utils import check_random_state

    width = check_int("width", width, least=2)
    X, indices, weight = check_samples(X, y, sample_weight)
    means = class_means(X, indices, weight)[1]
    made = [Structure.of_class(label) for label in np.unique(np.asarray(y)).tolist()]
    rng = check_random_state(random_state)

    def grow(members: Indices) -> Structure:  # recursion depth: at most log₂ of the classes
        if len(members) == 1:
            return made[members[0]]
        groups = _groups(means, members, _n_children(len(members), width), rng)
        children = [grow(group) for group in groups]
        if len(children) == 2:
            return two_children(*children)
        return Structure(one_vs_rest(len(children)), children)

    return grow(np.arange(len(made)))


def _n_children(n_classes: int, width: int) -> int:
    """Return the fewest children of each node in a tree of the smallest depth."""
    depth = 1
    while width**depth < n_classes:
        depth += 1
    return next(n for n in range(2, width + 1) if n**depth >= n_classes)


def _groups(means: Array, members: Indices, n_groups: int, rng: Any) -> list[Indices]:
    """Return n groups of classes; their sizes differ by one at most."""
    if n_groups == 1:
        return [members]
    first = n_groups // 2
    parts = _two_groups(means[members], len(members) * first // n_groups, rng)
    return [
        group
        for part, n in zip(parts, (first, n_groups - first), strict=True)
        for group in _groups(means, members[part], n, rng)
    ]


def _two_groups(points: Array, size: int, rng: Any) -> tuple[Indices, Indices]:
    """Return two groups of points, the first of a given size, by balanced 2-means.

    |x − a|² − |x − b|² = 2 x·(b − a) + const: of two means, a and b, the points along b − a.
    """
    a = points[rng.randint(len(points))]
    distance = np.einsum("ij,ij->i", points - a, points - a)
    total = distance.sum()
    b = points[rng.choice(len(points), p=distance / total)] if total > 0 else a
    order = np.argsort(points @ (b - a), kind="stable")
    for _ in range(_MOST_STEPS):
        before = set(order[:size].tolist())
        way = points[order[size:]].mean(axis=0) - points[order[:size]].mean(axis=0)
        order = np.argsort(points @ way, kind="stable")
        if set(order[:size].tolist()) == before:
            break
    return np.sort(order[:size]), np.sort(order[size:])
