"""AdaBoost with decision stumps, whose output is the margin that loss-based decoding takes."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from polychotomy.arrays import Array
from polychotomy.codes import check_int
from polychotomy.errors import shown

_NO_EDGE = 1e-10


class StumpBoosting(ClassifierMixin, BaseEstimator):
    """AdaBoost of two classes with decision stumps.

    It adds up f(x) = Σ_t α_t h_t(x), h_t(x) = +1 if x_j > θ and −1 otherwise, so that the mean of
    e^{−y f(x)} falls. In every round h_t is the stump whose weighted error ε_t is farthest from ½,
    among all features and thresholds, and α_t = ½ ln((1 − ε_t) / ε_t), below 0 for a stump that
    errs more often than not. Weights are then in proportion to e^{−y f(x)}.

    ``decision_function`` is f itself. That of scikit-learn's ``AdaBoostClassifier`` is divided by
    the sum of the weights, so that a decoder of the exponential loss sees next to nothing of it;
    and its stumps are those of the least Gini impurity.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of stumps; fewer if none is better than chance.
    one_sided : bool, default=False
        Whether stumps can only answer the second class up to their threshold and the first beyond,
        so that α ≤ 0 and f falls with every feature.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels.
    features_, thresholds_, weights_ : ndarray of shape (n_stumps,)
        j, θ and α of each stump. An infinite threshold is that of a constant.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the training data had names.

    Notes
    -----
    A round costs O(m d) operations for m samples and d features. Errors count as 1/(2m) or
    1 − 1/(2m) at the extremes, where α would be infinite; m is then the sum of the weights if that
    is larger than the number of samples.

    References
    ----------
    Freund and Schapire (1997), *A decision-theoretic generalization of on-line learning and an
    application to boosting*; Schapire and Singer (1999), *Improved boosting algorithms using
    confidence-rated predictions*, section 4.2 on extreme errors.

    Examples
    --------
    >>> from polychotomy.reductions import make_base
    >>> stumps = make_base("adaboost").set_params(n_rounds=1)
    >>> stumps.fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1, 0]).thresholds_
    array([1.5])
    >>> stumps.decision_function([[0.0], [2.0]]).round(2)  # half the logarithm of 4
    array([-0.69,  0.69])
    """

    def __init__(self, n_rounds: int = 500, *, one_sided: bool = False) -> None:
        self.n_rounds = n_rounds
        self.one_sided = one_sided

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the first round, not negative: 2 is the same as to have a sample twice, 0
            as not to have it.

        Returns
        -------
        self
        """
        n_rounds = check_int("n_rounds", self.n_rounds)
        X, y = validate_data(self, X, y, dtype=float)
        self.classes_, sides = _two_sides(y)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        counts = weight > 0
        y = np.where(sides[counts] == 1, 1.0, -1.0)
        chosen = _boost(X[counts], y, weight[counts], n_rounds, self.one_sided)
        self.features_ = np.array([j for j, _, _ in chosen], dtype=np.intp)
        self.thresholds_ = np.array([threshold for _, threshold, _ in chosen])
        self.weights_ = np.array([alpha for _, _, alpha in chosen])
        return self

    def decision_function(self, X: Any) -> Array:
        """Return f(x) = Σ α_t h_t(x), which is positive for the second class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        f : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        above = X[:, self.features_] > self.thresholds_
        return np.asarray(np.where(above, 1.0, -1.0) @ self.weights_)

    def predict(self, X: Any) -> Any:
        """Return the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _two_sides(y: Any) -> tuple[Any, NDArray[np.intp]]:
    """Return the two labels, and which of them each sample has."""
    check_classification_targets(y)
    classes, sides = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}."
        )
    if len(classes) < 2:
        raise ValueError(f"Classification needs two classes. Got one class, {shown(classes[0])}.")
    return classes, sides


def _boost(
    X: Array, y: Array, weight: Array, n_rounds: int, one_sided: bool
) -> list[tuple[int, float, float]]:
    """Return feature, threshold and weight of each stump."""
    X = np.asfortranarray(X)
    stumps = _Stumps(X)
    v = y * weight / weight.sum()  # y times the weight of each sample
    most = 1 - 1 / max(len(y), weight.sum())
    chosen = []
    for _ in range(n_rounds):
        j, threshold, edge = stumps.best(v, one_sided)
        if abs(edge) < _NO_EDGE:
            break
        alpha = float(np.arctanh(np.clip(edge, -most, most)))
        chosen.append((j, threshold, alpha))
        v *= np.exp(-alpha * y * np.where(X[:, j] > threshold, 1, -1))
        v /= np.abs(v).sum()
    return chosen


class _Stumps:
    """All stumps on some samples: a constant, and one for each value of each feature.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    """

    def __init__(self, X: Array) -> None:
        n, d = X.shape
        found = [np.unique(column, return_inverse=True) for column in X.T]
        sizes = [len(values) for values, _ in found]
        starts = np.cumsum([1, *sizes])
        cells = np.concatenate(
            [start + place for start, (_, place) in zip(starts[:-1], found, strict=True)]
        )
        self._members = csr_array(
            (np.ones(n * d), (cells, np.tile(np.arange(n), d))), shape=(starts[-1], n)
        )
        self._features = np.append(0, np.repeat(np.arange(d), sizes))
        self._thresholds = np.concatenate([[-np.inf], *(_between(values) for values, _ in found)])

    def best(self, v: Array, one_sided: bool) -> tuple[int, float, float]:
        """Return feature, threshold and edge of the best stump.

        The edge is Σ v_i h(x_i) = 1 − 2ε; the best is the largest in size, or the least.
        """
        total = v.sum()
        below = np.cumsum(self._members @ v) - self._features * total  # Σ v_i where x_ij ≤ θ
        edges = total - 2 * below
        best = int(edges.argmin() if one_sided else np.abs(edges).argmax())
        return int(self._features[best]), float(self._thresholds[best]), float(edges[best])


def _between(values: Array) -> Array:
    """Return thresholds midway to the next value, and ∞ after the last."""
    middle = values[:-1] / 2 + values[1:] / 2
    apart = np.where(middle < values[1:], middle, values[:-1])  # neighbouring floats
    return np.append(apart, np.inf)
