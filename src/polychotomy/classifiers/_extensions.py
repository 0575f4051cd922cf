"""Which features are appended to the replicas of a sample: a row for each class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.classifiers._checks import check_rows
from polychotomy.codes import Code, available_codes, make_code
from polychotomy.errors import unknown_name

Array = NDArray[np.float64]


def resolve_extension(extension: Any, classes: NDArray[Any], rng: Any) -> Array:
    """Return the extension matrix E, row r being what is appended for class r.

    Parameters
    ----------
    extension : str, Code, array-like of shape (n_classes, n_appended) or callable
        ``"identity"``, ``"single"`` (the column 1, …, k), a name of
        :func:`~polychotomy.available_codes`, a code (−1 is written as 0, and 0 as ½), a matrix of
        real numbers, or a function of the number of classes that returns a code or a matrix.
    classes : ndarray of shape (n_classes,)
    rng : RandomState
        Draws random codes.

    Returns
    -------
    extension : ndarray of shape (n_classes, n_appended)

    Raises
    ------
    ValueError
        Unless it is a matrix of finite numbers with a row for each class, no two of them equal.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.classifiers._extensions import resolve_extension
    >>> resolve_extension("single", np.array(["a", "b", "c"]), None)
    array([[1.],
           [2.],
           [3.]])
    """
    k = len(classes)
    if isinstance(extension, str):
        if extension == "identity":
            return np.eye(k)
        if extension == "single":
            return np.arange(1.0, k + 1)[:, np.newaxis]
        if extension not in available_codes():
            raise unknown_name("extension", extension, ["identity", "single", *available_codes()])
        return as_bits(make_code(extension, k, random_state=rng))
    made = extension(k) if callable(extension) else extension
    E = as_bits(made) if isinstance(made, Code) else _as_matrix(made)
    check_rows(E, classes, "extension")
    _check_rows_differ(E, classes)
    return E


def as_bits(code: Code) -> Array:
    """Return the matrix of a code with −1 written as 0 and 0 as ½."""
    return (code.matrix + 1.0) / 2


def _as_matrix(made: Any) -> Array:
    try:
        E = np.asarray(made, dtype=float)
    except (TypeError, ValueError):
        E = np.empty(0)
    if E.ndim != 2 or 0 in E.shape:
        raise ValueError(
            "The 'extension' parameter must be a name, a Code, a matrix of real numbers, classes × "
            "appended features, or a function of the number of classes that returns one. Got "
            f"{_words(made)}."
        )
    if not np.isfinite(E).all():
        raise ValueError("The 'extension' parameter must hold finite numbers only.")
    return E


def _check_rows_differ(E: Array, classes: NDArray[Any]) -> None:
    _, first, inverse = np.unique(E, axis=0, return_index=True, return_inverse=True)
    same = np.flatnonzero(first[inverse.ravel()] != np.arange(len(E)))
    if same.size:
        r = same[0]
        other = first[inverse.ravel()[r]]
        raise ValueError(
            "The 'extension' parameter must have a different row for each class, or the binary "
            f"classifier could not tell them apart. Those of the classes {classes[other]!s} and "
            f"{classes[r]!s} (rows {other} and {r}) are equal."
        )


def _words(made: Any) -> str:
    shape = getattr(made, "shape", None)
    return f"an array of shape {shape}" if shape is not None else repr(made)[:100]
