"""One finished cell of a comparison, and the key that says whether two would be the same."""

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

import polychotomy
from polychotomy.codes import Code
from polychotomy.structures import Structure, format_structure

_WITHOUT_INFLUENCE = ("n_jobs", "verbose")


@dataclass(frozen=True, eq=False)
class Cell:
    """What one reduction of one data set did in one fold.

    Attributes
    ----------
    data_set : str
        Its name, or the stem of its file.
    reduction : str
        As :class:`~polychotomy.choose.Reduction` writes it, such as ``"bch:hamming"``, or what a
        paper calls it.
    base : str
        The binary learner, one of :func:`~polychotomy.lab.available_bases`, or what a paper calls
        it.
    fold : int
        Number of the fold within the protocol, from 0.
    seed : int
        Drew the folds, random codes and what is random in the learner.
    settings : mapping
        All else that determines the result: ``protocol``, ``n_folds``, ``n_train``, ``tuning``,
        ``preparation``, ``parameters`` of the classifier, the ``search`` of scales that it was told
        to tune, and hashes of the ``data`` and of the fold's ``rows``.
    classes : tuple of str
        Names of the classes.
    rows, truth, predicted : ndarray of shape (n_test,)
        Numbers of the test samples within the data set, the index of the class of each, and of the
        class that was predicted.
    probabilities : ndarray of shape (n_test, n_classes) or None
        In single precision.
    metrics : mapping
        ``error``, ``uncertainty_coefficient`` and, with probabilities, ``log_loss`` and ``brier``;
        beside them what the method measures by itself.
    n_problems : int
        Number of binary problems.
    fit_seconds, predict_seconds : float
        CPU time of training and of predicting the classes of the test part, on one thread. Without
        preprocessing and tuning.
    chosen : mapping
        What was settled on the way: tuned parameters, decoder, method for probabilities.
    versions : mapping
        Of polychotomy, scikit-learn, numpy and python.
    key : str
        :func:`cell_key` of all that determines the result.
    """

    data_set: str
    reduction: str
    base: str
    fold: int
    seed: int
    settings: Mapping[str, Any]
    classes: tuple[str, ...]
    rows: NDArray[np.int_]
    truth: NDArray[np.int_]
    predicted: NDArray[np.int_]
    probabilities: NDArray[np.float32] | None
    metrics: Mapping[str, float]
    n_problems: int
    fit_seconds: float
    predict_seconds: float
    chosen: Mapping[str, Any]
    versions: Mapping[str, str]
    key: str


def cell_key(
    *,
    reduction: str,
    base: str,
    fold: int,
    seed: int,
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
) -> str:
    """Return the SHA-256 of all that determines the result of a cell, as hexadecimal digits.

    The name of the data set is not among it (its content is, in `settings`), nor is the version of
    Python.

    Examples
    --------
    >>> from polychotomy.lab._cells import cell_key
    >>> what = dict(reduction="bch", base="ridge", fold=0, seed=0, versions={"numpy": "2.2"})
    >>> key = cell_key(settings={"protocol": "cv10", "tuning": "none"}, **what)
    >>> key == cell_key(settings={"tuning": "none", "protocol": "cv10"}, **what)
    True
    >>> key == cell_key(settings={"tuning": "greedy", "protocol": "cv10"}, **what)
    False
    """
    deciding = {name: version for name, version in versions.items() if name != "python"}
    return digest(
        {
            "reduction": reduction,
            "base": base,
            "fold": fold,
            "seed": seed,
            "settings": settings,
            "versions": deciding,
        }
    )


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of a value: sorted keys, no blanks."""
    return sha256(canonical(value).encode()).hexdigest()


def canonical(value: Any) -> str:
    """Return the one JSON text of a value, whatever the order of its keys."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def current_versions() -> dict[str, str]:
    """Return the versions that a cell computed now has."""
    import sklearn

    return {
        "polychotomy": polychotomy.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def parameters_of(classifier: Any) -> dict[str, Any]:
    """Return all parameters of an estimator that can change its results, as JSON can hold them.

    Raises ValueError for a function without a name of its own: two of them would look alike.
    """
    return {
        name: _plain(value)
        for name, value in sorted(classifier.get_params(deep=True).items())
        if name.rpartition("__")[2] not in _WITHOUT_INFLUENCE
    }


def function_name(function: Any) -> str:
    """Return the name of a function, or raise ValueError if it has none of its own."""
    name: str = function.__qualname__
    if "<" in name:
        raise ValueError(
            "A function on which results depend must be defined in a module, by name: results are "
            f"kept by it. Got {name}."
        )
    return name


def _plain(value: Any) -> Any:
    """Return a value, or what tells it from all others where JSON cannot hold it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and np.isfinite(value):
        return value
    if hasattr(value, "get_params"):  # its own parameters follow by themselves
        return type(value).__qualname__
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), sha256(value.tobytes()).hexdigest()]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Code):
        return ["Code", _plain(value.matrix)]
    if isinstance(value, Structure):
        return ["Structure", format_structure(value)]
    return function_name(value) if hasattr(value, "__qualname__") else repr(value)
