"""What must hold before anything is trained."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_array, check_consistent_length, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from polychotomy.codes import Code, available_codes, make_code
from polychotomy.errors import unknown_name


def check_base(estimator: Any, lenient: bool = False, name: str = "estimator") -> Any:
    """Return the binary classifier, a logistic regression for None.

    Raises ValueError if it is not a classifier with margins or probabilities, unless `lenient`.
    """
    if estimator is None:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression()
    if lenient:
        return estimator
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not _classifies(estimator):
        raise ValueError(
            f"The {name!r} parameter must be a classifier instance such as SVC(). "
            f"Got {_name(estimator)} instead."
        )
    if not (hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")):
        raise ValueError(
            f"The {name!r} parameter must have decision_function or predict_proba: decoding "
            f"needs margins or probabilities. {_name(estimator)} has neither; wrap it in "
            "sklearn.calibration.CalibratedClassifierCV or take another classifier."
        )
    return estimator


def check_data(estimator: Any, X: Any, y: Any = None, *, reset: bool = True) -> Any:
    """Return X, or X and y, checked but for what only the binary classifier can tell.

    Arrays and sparse matrices are validated, finite or not; data frames stay data frames, since
    the binary classifier may be a pipeline that goes by their columns, and collections of texts
    or dictionaries stay what they are. Kernels are cut into parts, so they must be arrays.
    """
    pairwise = get_tags(estimator).input_tags.pairwise
    with_y = reset or y is not None
    if with_y and y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: give the labels."
        )
    if _is_collection(X):
        X = np.asarray(X, dtype=object)
    elif pairwise or not _is_frame(X):
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": "numeric" if pairwise else None}
        options |= {"ensure_all_finite": pairwise, "reset": reset}
        checked = validate_data(estimator, X, **({"y": y} if with_y else {}), **options)
        if pairwise and with_y:
            _check_square(checked[0])
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
    """Give the features of an earlier fit back if the present one fails."""
    features = ("n_features_in_", "feature_names_in_")
    before = {name: getattr(estimator, name) for name in features if hasattr(estimator, name)}
    try:
        yield
    except BaseException:
        for name in features:
            vars(estimator).pop(name, None)
        vars(estimator).update(before)
        raise


def check_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes and each sample's class index."""
    try:
        check_classification_targets(y)
        classes, indices = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"All labels in y must be of one kind: {error}.") from error
    _check_two(classes)
    return classes, indices


def check_batch_labels(
    y: NDArray[Any], given: Any, known: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes of all batches, and each sample's class index in this one."""
    check_classification_targets(y)
    if known is None and given is None:
        raise ValueError(
            "The 'classes' parameter must hold all labels in the first call to partial_fit."
        )
    classes = np.unique(given) if known is None else known
    if known is not None and given is not None and not np.array_equal(np.unique(given), known):
        raise ValueError(
            "The 'classes' parameter must hold the same labels in every call to partial_fit, or "
            "be left out after the first."
        )
    _check_two(classes)
    new = np.setdiff1d(y, classes)
    if new.size:
        raise ValueError(
            "Every label of a batch must be among the classes of the first call. "
            f"Got {new.tolist()[0]!r}."
        )
    return classes, np.searchsorted(classes, y)


def resolve_code(code: Any, classes: NDArray[Any], rng: Any, name: str = "code") -> Code:
    """Return the code for these classes from a name, a code, a matrix or a function of k.

    `name` is the parameter that it comes from.
    """
    k = len(classes)
    if isinstance(code, str):
        if code not in available_codes():
            raise unknown_name(name, code, available_codes())
        return make_code(code, k, random_state=rng)
    made = code(k) if callable(code) else code
    if not isinstance(made, Code):
        if np.ndim(made) != 2:
            raise ValueError(
                f"The {name!r} parameter must be a name, a Code, a matrix of classes × problems or "
                f"a function of the number of classes that returns one. Got {made!r}; the names "
                f"are {', '.join(map(repr, available_codes()))}."
            )
        made = Code(made)
    check_rows(made.matrix, classes, name)
    return made


def check_rows(matrix: NDArray[Any], classes: NDArray[Any], name: str) -> None:
    """Raise ValueError unless there is a row for each class."""
    n_rows, k = len(matrix), len(classes)
    if n_rows != k:
        seen = ", ".join(repr(label) for label in classes[:5].tolist()) + (", …" if k > 5 else "")
        advice = (
            f"a class that the {name} expects is missing from y"
            if n_rows > k
            else f"y has a class that the {name} does not know"
        )
        raise ValueError(
            f"The {name!r} parameter must have a row for each class. Got {n_rows} rows for "
            f"the {k} classes of y ({seen}): {advice}."
        )


def _check_square(X: Any) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            "A precomputed kernel must be a square matrix, n_samples × n_samples. "
            f"Got shape {X.shape}."
        )


def _check_two(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"Classification needs at least two classes. Got {len(classes)} class "
            f"({', '.join(map(repr, classes.tolist()))}) in y."
        )


def _is_collection(X: Any) -> bool:
    """Whether X is a one-dimensional collection of texts or dictionaries, for a vectoriser."""
    if getattr(X, "ndim", 1) != 1 or isinstance(X, str | dict) or not hasattr(X, "__len__"):
        return False
    return len(X) > 0 and isinstance(next(iter(X)), str | dict)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, np.ndarray)


def _classifies(estimator: Any) -> bool:
    try:
        return bool(is_classifier(estimator))
    except (AttributeError, TypeError):
        return False


def _name(estimator: Any) -> str:
    return f"the class {estimator.__name__}" if isinstance(estimator, type) else repr(estimator)
