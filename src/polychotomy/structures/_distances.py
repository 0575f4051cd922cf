"""Distances between classes, computed from their samples."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polychotomy import memory
from polychotomy.arrays import Array, Indices
from polychotomy.errors import unknown_name

_TREE_FEATURES = 12
_TREE_SAMPLES = 64
_BLOCK_DISTANCES = 2**22
_FOLDS = 5
_FEW_CLASSES = 100
_ADVICE = "Do without them: take the structure 'kmeans', and no 'assignment' or order by distances."


def class_distances(
    X: Any,
    y: ArrayLike,
    distance: str | Callable[[Any, Indices], ArrayLike] = "auto",
    *,
    quantile: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> Array:
    r"""Return the matrix of distances between classes.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Numbers; NaN is replaced by the mean of the feature. All distances except
        ``"mahalanobis"`` and ``"bhattacharyya"`` depend on the scales of the features.
    y : array-like of shape (n_samples,)
        Labels.
    distance : str or callable, default="auto"
        - ``"auto"``: ``"hausdorff"`` for up to 100 classes, ``"centroid"`` for more;
        - ``"hausdorff"``: max(max_k min_l |x_k−x_l|, max_l min_k |x_k−x_l|), exactly;
        - ``"centroid"``: |μ_i−μ_j|² / √(σ_i σ_j), with σ_i² = Σ|x−μ_i|² / (n_i−1); a class with
          zero variance uses the pooled one;
        - ``"mahalanobis"``: between the means, with the pooled covariance;
        - ``"bhattacharyya"``: between normal distributions with the means and covariances of the
          classes; each covariance is shrunk towards the pooled one with the weight of d + 1
          samples;
        - ``"confusion"``: 1 − (P_ij + P_ji) / 2, with P_ij the fraction of class i that a linear
          discriminant (for sparse X with unit covariance) assigns to class j in five folds;
        - a function of X and the class indices that returns the matrix.
    quantile : float, default=1.0
        For ``"hausdorff"``: the quantile that replaces the outer maxima. Below 1, a few outliers
        no longer decide.
    sample_weight : array-like of shape (n_samples,), optional
        Weights in means, covariances and fractions, equivalent to repetitions; samples with
        weight 0 are left out.

    Returns
    -------
    distances : ndarray of shape (n_classes, n_classes)
        In the order of the sorted labels; symmetric, with a zero diagonal.

    Notes
    -----
    The Hausdorff distance queries a tree of every class for every sample; with more than 12
    features it costs O(n² d), as matrix products in blocks. The other distances are linear in n,
    ``"centroid"`` O(n d + k² d); those with covariances make X dense, and ``"bhattacharyya"``
    stores k covariances.

    References
    ----------
    Mills (2023), "Solving for multi-class: a survey and synthesis", section 5.2, with misprints
    in the formulas of the standard deviation and the Hausdorff distance corrected.

    Examples
    --------
    >>> from polychotomy.structures import class_distances
    >>> class_distances([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    array([[0., 5.],
           [5., 0.]])
    """
    X, indices, weight = check_samples(X, y, sample_weight)
    k = int(indices.max()) + 1
    memory.check_room({f"distances between {k} classes": 16 * k**2}, _ADVICE)
    if isinstance(distance, str) and distance == "auto":
        distance = "hausdorff" if k <= _FEW_CLASSES else "centroid"
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
        if callable(distance):
            D = np.asarray(distance(X, indices), dtype=float)
        elif distance == "hausdorff":
            D = hausdorff(X, indices, _check_quantile(quantile))
        elif isinstance(distance, str) and distance in DISTANCES:
            D = DISTANCES[distance](X, indices, weight)
        else:
            raise unknown_name("distance", distance, ["auto", "hausdorff", *DISTANCES])
    if D.shape != (k, k) or not np.isfinite(D).all():
        if not callable(distance):
            raise ValueError(
                "The distances between classes must be finite, and the features are too large for "
                f"that; the largest is {abs(X).max():.3g}. Scale them, for example by "
                "StandardScaler()."
            )
        raise ValueError(
            f"The 'distance' parameter must return finite numbers for all pairs of {k} classes. "
            f"Got an array of shape {D.shape}."
        )
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    return D


def hausdorff(X: Any, y: Indices, quantile: float) -> Array:
    """Return the Hausdorff distances, with a quantile instead of the outer maxima."""
    k = int(y.max()) + 1
    order = np.argsort(y, kind="stable")
    X, borders = X[order], np.searchsorted(y[order], np.arange(k + 1))
    directed = np.empty((k, k))
    for c in range(k):
        nearest = _nearest(X, X[borders[c] : borders[c + 1]])
        if quantile == 1:
            directed[:, c] = np.maximum.reduceat(nearest, borders[:-1])
        else:
            parts = np.split(nearest, borders[1:-1])
            directed[:, c] = [np.quantile(part, quantile) for part in parts]
    return np.maximum(directed, directed.T)


def _nearest(X: Any, part: Any) -> Array:
    """Return the distance from each sample to the nearest sample of `part`."""
    from scipy.spatial import KDTree

    if _is_sparse(X):
        return _nearest_by_products(X, part, 0.0)
    if X.shape[1] <= _TREE_FEATURES and len(part) >= _TREE_SAMPLES:
        return np.asarray(KDTree(part).query(X)[0])
    return _nearest_by_products(X, part, np.median(part, axis=0))


def _nearest_by_products(X: Any, part: Any, centre: Any) -> Array:
    """Find the nearest samples by matrix products, then compute their distances exactly.

    Where rounding in the products could hide a nearer sample, all distances are computed.
    """
    from scipy.spatial.distance import cdist

    nearest = np.empty(X.shape[0])
    centred = part if _is_sparse(part) else part - centre
    squares = _squares(centred)
    size = max(1, _BLOCK_DISTANCES // part.shape[0])
    for start in range(0, X.shape[0], size):
        block = X[start : start + size]
        moved = block if _is_sparse(block) else block - centre
        products = moved @ centred.T
        products = products.toarray() if _is_sparse(products) else products
        found = (squares - 2 * products).argmin(axis=1)
        exact = _squares(block - part[found])
        error = 1e-14 * (_squares(moved) + squares[found])
        unsure = np.flatnonzero((error > 1e-9 * exact) & (exact > 0))
        if unsure.size and not _is_sparse(X):
            exact[unsure] = cdist(block[unsure], part, "sqeuclidean").min(axis=1)
        nearest[start : start + size] = np.sqrt(exact)
    return nearest


def _is_sparse(X: Any) -> bool:
    from scipy.sparse import issparse

    return bool(issparse(X))


def _squares(rows: Any) -> Array:
    """Return the squared length of each row."""
    if _is_sparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", rows, rows)


def class_means(X: Any, y: Indices, weight: Array) -> tuple[Array, Array]:
    """Return the weight and the mean of each class."""
    from scipy.sparse import csr_array

    total = np.bincount(y, weights=weight).astype(float)
    pick = csr_array((weight, (y, np.arange(len(y)))), shape=(len(total), len(y)))
    sums = pick @ X
    sums = np.asarray(sums.toarray() if hasattr(sums, "toarray") else sums)
    return total, sums / total[:, np.newaxis]


def centroid(X: Any, y: Indices, weight: Array) -> Array:
    """Return squared distances of means divided by geometric means of standard deviations."""
    from scipy.spatial.distance import pdist, squareform

    total, means = class_means(X, y, weight)
    if _is_sparse(X):
        lengths = np.bincount(y, weights=weight * _squares(X))
        scatter = np.maximum(lengths - total * _squares(means), 0)
        scatter[scatter <= 1e-12 * lengths] = 0
    else:
        scatter = np.bincount(y, weights=weight * _squares(X - means[y]))
    common = scatter.sum() / max(total.sum() - len(total), 1) or 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        own = scatter / (total - 1)
    deviation = np.sqrt(np.where((total > 1) & (scatter > 0), own, common))
    D: Array = squareform(pdist(means, "sqeuclidean")) / np.sqrt(np.outer(deviation, deviation))
    return D


def mahalanobis(X: Any, y: Indices, weight: Array) -> Array:
    """Return the Mahalanobis distances of the means, with the pooled covariance."""
    from scipy.spatial.distance import pdist, squareform

    _, means, common, _ = _gaussians(X, y, weight, own=False)
    root = np.linalg.cholesky(common)
    D: Array = squareform(pdist(np.linalg.solve(root, means.T).T))
    return D


def bhattacharyya(X: Any, y: Indices, weight: Array) -> Array:
    """Return Δᵀ S⁻¹ Δ / 8 + ½ log(|S| / √(|S_i| |S_j|)) with S = (S_i + S_j) / 2."""
    _, means, _, covariances = _gaussians(X, y, weight, own=True)
    log_size = np.linalg.slogdet(covariances)[1]
    D = np.zeros((len(means), len(means)))
    for i in range(len(means) - 1):
        middle = (covariances[i] + covariances[i + 1 :]) / 2
        step = (means[i + 1 :] - means[i])[:, :, np.newaxis]
        quadratic = (step * np.linalg.solve(middle, step)).sum(axis=(1, 2))
        sizes = np.linalg.slogdet(middle)[1] - (log_size[i] + log_size[i + 1 :]) / 2
        D[i, i + 1 :] = D[i + 1 :, i] = quadratic / 8 + np.maximum(sizes, 0) / 2
    return D


def _gaussians(
    X: Any, y: Indices, weight: Array, *, own: bool
) -> tuple[Array, Array, Array, Array]:
    """Return weights, means, the pooled covariance and, if `own`, those of the classes, shrunk."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    total, means = class_means(X, y, weight)
    k, d = means.shape
    common = np.zeros((d, d))
    scatters = np.zeros((k if own else 0, d, d))
    for c in range(k):
        members = y == c
        centred = (X[members] - means[c]) * np.sqrt(weight[members])[:, np.newaxis]
        scatter = centred.T @ centred
        common += scatter
        if own:
            scatters[c] = scatter
    common /= max(total.sum() - k, 1)
    own_spread = np.diag(common).copy()  # a small ridge, in the scale of each feature
    common += np.diag(np.where(own_spread > 0, 1e-9 * own_spread, 1.0))
    shrunk = (scatters + (d + 1) * common) / (total[: len(scatters), None, None] + d)
    return total, means, common, shrunk


def confusion(X: Any, y: Indices, weight: Array) -> Array:
    """Return 1 minus the cross-validated confusion of each pair by a linear discriminant."""
    k = int(y.max()) + 1
    shares = np.zeros((k, k))
    fold = _folds(y)
    for number in range(_FOLDS):
        training, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        if test.size:
            said = _classify(X[training], y[training], weight[training], X[test])
            np.add.at(shares, (y[test], said), weight[test])
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return 1 - (shares + shares.T) / 2


def _classify(X: Any, y: Indices, weight: Array, X_test: Any) -> Indices:
    """Return the predictions of a linear discriminant, with unit covariance for sparse X."""
    if _is_sparse(X):
        total, means = class_means(X, y, weight)
        weights: NDArray[Any] = means
    else:
        total, means, common, _ = _gaussians(X, y, weight, own=False)
        weights = np.linalg.solve(common, means.T).T
    offset = np.log(total / total.sum()) - (means * weights).sum(axis=1) / 2
    return (np.asarray(X_test @ weights.T) + offset).argmax(axis=1)


def _folds(y: Indices) -> Indices:
    """Return a fold for each sample, with a fixed seed; every class is in every training part."""
    fold = np.empty(len(y), dtype=np.intp)
    rng = np.random.default_rng(0)
    for c in range(int(y.max()) + 1):
        members = rng.permutation(np.flatnonzero(y == c))
        fold[members] = np.arange(len(members)) % _FOLDS if len(members) > 1 else -1
    return fold


DISTANCES: dict[str, Callable[[Any, Indices, Array], Array]] = {
    "centroid": centroid,
    "mahalanobis": mahalanobis,
    "bhattacharyya": bhattacharyya,
    "confusion": confusion,
}
"""The distances by name, except Hausdorff's, which needs a quantile. A new one is a line here."""


def check_samples(X: Any, y: ArrayLike, sample_weight: Any) -> tuple[Any, Indices, Array]:
    """Return X as numbers, class indices and weights, without samples of weight 0."""
    try:
        X = X.tocsr().astype(float) if _is_sparse(X) else np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"Distances between classes need numbers: {error}. Encode X first, or use a structure "
            "that needs no distances, such as 'balanced'."
        ) from error
    labels = np.asarray(y)
    if X.ndim != 2 or labels.ndim != 1 or X.shape[0] != len(labels) or not len(labels):
        raise ValueError(
            "X must have shape (n_samples, n_features) and y a label for each sample. "
            f"Got shapes {X.shape} and {labels.shape}."
        )
    X = X if _is_sparse(X) else _fill_in(X)
    if not np.isfinite(X.data if _is_sparse(X) else X).all():
        raise ValueError(
            "Distances between classes need finite numbers, and X contains infinity (or is sparse "
            "and contains NaN). Replace them, or use a structure that needs no distances, such as "
            "'balanced'."
        )
    weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, float)
    if weight.shape != labels.shape or not (weight >= 0).all() or np.isinf(weight).any():
        raise ValueError(
            "The 'sample_weight' parameter must have a finite number of at least 0 for each of "
            f"{len(labels)} samples. Got shape {weight.shape}."
        )
    used = np.flatnonzero(weight > 0)
    indices = np.unique(labels, return_inverse=True)[1].ravel()
    if len(np.unique(indices[used])) <= indices.max():
        raise ValueError("Every class needs a sample with positive weight.")
    if len(used) < len(labels):
        X, indices, weight = X[used], indices[used], weight[used]
    return X, indices, weight


def _fill_in(X: Array) -> Array:
    """Return X with each NaN replaced by the mean of its feature."""
    missing = np.isnan(X)
    if not missing.any():
        return X
    known = ~missing
    total = np.where(known, X, 0).sum(axis=0)
    return np.where(known, X, total / np.maximum(known.sum(axis=0), 1))


def _check_quantile(quantile: float) -> float:
    if not 0 < quantile <= 1:
        raise ValueError(
            f"The 'quantile' parameter must be above 0 and at most 1. Got {quantile!r}."
        )
    return float(quantile)
