"""The inputs of ``fit``: samples, labels, weights and metadata, validated and routed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils import (
    _safe_indexing,
    check_array,
    check_consistent_length,
    column_or_1d,
    compute_class_weight,
    get_tags,
)
from sklearn.utils.metadata_routing import _raise_for_params
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_method_params,
    _check_sample_weight,
    validate_data,
)

from polychotomy import memory
from polychotomy.arrays import Array, Indices
from polychotomy.codes import DistinctProblems, Targets
from polychotomy.kernel import check_samples, is_on_device
from polychotomy.training._problems import Problems

Params = dict[str, Any]
_BLOCK = 1024


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Validated training data.

    Attributes
    ----------
    X : {array, sparse matrix, data frame} of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or None
        Class indices; None for training in batches, of which X is the first.
    classes : ndarray of shape (n_classes,)
        The labels.
    order : list or None
        Order of the classes by the labels, None if they have none.
    weight : ndarray of shape (n_samples,) or None
        Weights of the samples, those of their classes included.
    """

    X: Any
    y: Indices | None
    classes: NDArray[Any]
    order: list[Any] | None = None
    weight: Any = None


def check_data(
    estimator: Any, X: Any, y: Any = None, *, reset: bool = True, numeric: bool = False
) -> Any:
    """Validate X and y, leaving checks of the features to the binary classifier unless `numeric`.

    Arrays and sparse matrices are validated, finite or not. Data frames stay data frames, because
    the binary classifier may be a pipeline that selects columns by name; collections of texts or
    dictionaries stay as they are. Kernels are cut into parts, so they must be arrays.
    """
    pairwise = get_tags(estimator).input_tags.pairwise
    with_y = reset or y is not None
    if with_y and y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: give the labels."
        )
    if is_on_device(X):
        return check_samples(estimator, X, *([y] if with_y else []), reset=reset)
    if numeric:
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": float, "reset": reset}
        return validate_data(estimator, X, **({"y": y} if with_y else {}), **options)
    if _is_collection(X):
        X = np.asarray(X, dtype=object)
    elif pairwise or isinstance(X, np.ndarray) or not hasattr(X, "columns"):
        options = {"accept_sparse": "csr", "dtype": "numeric" if pairwise else None}
        options |= {"ensure_all_finite": pairwise, "reset": reset}
        checked = validate_data(estimator, X, **({"y": y} if with_y else {}), **options)
        if pairwise and with_y and checked[0].shape[0] != checked[0].shape[1]:
            raise ValueError(
                "A precomputed kernel must be a square matrix, n_samples × n_samples. "
                f"Got shape {checked[0].shape}."
            )
        return checked
    else:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    if not with_y:
        return X
    if X.shape[0] == 0:
        raise ValueError("Found array with 0 sample(s), while a minimum of 1 is required.")
    y = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
    check_consistent_length(X, y)
    return X, y


@contextmanager
def unless_fit_fails(estimator: Any) -> Iterator[None]:
    """Restore the feature attributes of an earlier fit if this one fails."""
    features = ("n_features_in_", "feature_names_in_")
    before = {name: getattr(estimator, name) for name in features if hasattr(estimator, name)}
    try:
        yield
    except BaseException:
        for name in features:
            vars(estimator).pop(name, None)
        vars(estimator).update(before)
        raise


def check_labels(
    y: NDArray[Any], classes: NDArray[Any] | None = None
) -> tuple[NDArray[Any], Indices]:
    """Return the sorted classes, by default those of y, and each sample's class index."""
    try:
        check_classification_targets(y)
        found, indices = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"All labels in y must be of one kind: {error}.") from error
    if classes is not None:
        unknown = np.setdiff1d(found, classes).tolist()
        if unknown:
            raise ValueError(f"Every label of y must be one of the classes. Got {unknown[0]!r}.")
        found, indices = classes, np.searchsorted(classes, y)
    if len(found) < 2:
        raise ValueError(
            f"Classification needs at least two classes. Got {len(found)} class "
            f"({', '.join(map(repr, found.tolist()))}) in y."
        )
    return found, indices


def check_params(
    classifier: Any, method: str, X: Any, sample_weight: Any, params: Params
) -> Params:
    """Return the arguments for the binary classifiers, weights among them."""
    _raise_for_params(params, classifier, method)
    n_jobs = classifier.n_jobs
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(
            f"The 'n_jobs' parameter must be None or an int other than 0. Got {n_jobs!r}."
        )
    if sample_weight is None:
        return params
    return {**params, "sample_weight": _check_sample_weight(sample_weight, X)}


def class_weights(
    classifier: Any,
    learners: Mapping[str, Any],
    classes: NDArray[Any],
    y: Indices,
    sample_weight: Any = None,
) -> Array | None:
    """Return the factor of each sample by the 'class_weight' of a classifier, None if it has none.

    Raises ValueError for a wrong one, and for a learner whose own 'class_weight' has other keys
    than the two sides of each problem: it knows no others.
    """
    for learner in learners.values():
        check_own_weights(learner, type(classifier).__name__)
    given = classifier.class_weight
    if given is None:
        return None
    if not isinstance(given, Mapping) and not (isinstance(given, str) and given == "balanced"):
        raise ValueError(
            "The 'class_weight' parameter must be a dictionary of classes and weights, 'balanced' "
            f"or None. Got {given!r}."
        )
    if isinstance(given, Mapping):
        given, names = dict(given), classes.tolist()
        unknown = [key for key in given if key not in names]
        if unknown and any(name not in given for name in names):  # or they are weights of more
            raise ValueError(
                "The keys of 'class_weight' must be classes of y, which are "
                f"{', '.join(map(repr, names[:10]))}{', …' if len(names) > 10 else ''}. "
                f"Got {unknown[0]!r}."
            )
    elif sample_weight is not None:
        totals = np.bincount(y, np.asarray(sample_weight, dtype=float))
        for c in np.flatnonzero(totals <= 0):
            raise ValueError(
                "class_weight='balanced' divides by the total weight of each class, which must be "
                f"positive. That of class {classes[c]!s} is {totals[c]:g}: leave out its samples, "
                "or give them positive weights."
            )
    factors = compute_class_weight(
        given, classes=classes, y=classes[y], sample_weight=sample_weight
    )
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise ValueError("The weights in 'class_weight' must be finite and not negative.")
    return np.asarray(factors[y], dtype=float)


def check_own_weights(learner: Any, owner: str) -> None:
    """Raise ValueError if the 'class_weight' of a binary learner is not that of the two sides.

    `owner` is the classifier whose parameter it is, and which can weigh the classes. A learner that
    is trained already has its own labels.
    """
    if isinstance(learner, FrozenEstimator) or not hasattr(learner, "get_params"):
        return
    for name, own in learner.get_params(deep=True).items():
        if name.endswith("class_weight") and isinstance(own, Mapping) and {*own} - {0, 1}:
            raise ValueError(
                f"The parameter {name!r} of {type(learner).__name__} weighs the two sides of "
                f"each binary problem, 0 and 1. Got the keys {', '.join(map(repr, own))}. To "
                f"weigh the classes, give 'class_weight' to {owner}."
            )


def weigh(params: Params, factor: Array | None) -> Params:
    """Return arguments of ``fit`` whose weights are multiplied by a factor for each sample."""
    if factor is None:
        return params
    weight = params.get("sample_weight")
    return {**params, "sample_weight": factor if weight is None else factor * np.asarray(weight)}


def part_of_batch(
    X: Any, y: Indices, params: Params, factor: Array | None, which: NDArray[np.bool_]
) -> tuple[Any, Indices, Params, Array | None]:
    """Return some samples of a batch with their labels, arguments and factors."""
    if which.all():
        return X, y, params, factor
    rows = np.flatnonzero(which)
    own = _check_method_params(X, params, indices=rows)
    return _safe_indexing(X, rows), y[rows], own, None if factor is None else factor[rows]


def _is_collection(X: Any) -> bool:
    """Whether X is a one-dimensional collection of texts or dictionaries, for a vectoriser."""
    if getattr(X, "ndim", 1) != 1 or isinstance(X, str | dict) or not hasattr(X, "__len__"):
        return False
    return len(X) > 0 and isinstance(next(iter(X)), str | dict)


def check_total_weights(totals: Array, problems: Problems, distinct: DistinctProblems) -> None:
    """Raise ValueError if the samples of a distinct problem all have the weight 0."""
    for s in (totals == 0).nonzero()[0]:
        raise ValueError(
            "The samples of each binary problem must have a positive total weight. Those of "
            f"«{problems.names[distinct.first[s]]}» all have the weight 0: leave out the samples "
            "of these classes, or give them positive weights."
        )


def check_held_out_room(targets: Targets) -> None:
    """Raise NotEnoughMemoryError if the held-out outputs cannot fit in memory.

    There are one for each sample of each problem, and one more while folds are put together.
    """
    most = 2 * 8 * targets.n_samples * targets.n_problems  # if all take part in all
    if most < memory.SMALL:
        return
    taking_part = float(targets.n_samples * targets.n_problems)
    if not targets.is_strict:
        sizes = np.bincount(targets.y, minlength=len(targets.columns)).astype(float)
        blocks = range(0, targets.n_problems, _BLOCK)
        sides = (targets.columns[:, start : start + _BLOCK] for start in blocks)
        taking_part = sum(float(np.sum(sizes @ (some != 0))) for some in sides)
    memory.check_room(
        {"held-out outputs of the problems": int(2 * 8 * taking_part)},
        "Set probability=None, which needs no calibration, or take a code of fewer problems.",
    )
