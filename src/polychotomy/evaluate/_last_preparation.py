"""Prepared samples, kept for the next task of the same fold."""

import warnings
from collections.abc import Callable, Hashable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import issparse

from polychotomy.evaluate._samples import Samples

_MOST_BYTES = 2**28
_LAST: "WeakKeyDictionary[Samples, tuple[Hashable, tuple[Any, ...], list[Any]]]" = (
    WeakKeyDictionary()
)


def prepared_once(
    samples: Samples, how: Hashable, make: Callable[[], tuple[Any, Any]]
) -> tuple[Any, ...]:
    """Return the features that `make` prepares, or copies of the last ones of these samples.

    Those prepared last, if they take up to 256 MiB, serve each following task with the same `how`,
    with the same warnings. Each task has its own copy, since a learner may write into it.
    """
    known = _LAST.get(samples)
    if known is None or known[0] != how:
        _LAST.pop(samples, None)  # before the next ones take memory
        with warnings.catch_warnings(record=True, action="always") as said:
            known = how, make(), said
    _, parts, said = known
    for warning in said:
        warnings.warn(warning.message, warning.category, stacklevel=2)
    if sum(map(_size, parts)) > _MOST_BYTES:
        return parts
    _LAST[samples] = known
    return tuple(map(_copy, parts))


def _size(X: Any) -> int:
    return int(X.data.nbytes if issparse(X) else X.nbytes)


def _copy(X: Any) -> Any:
    return X.copy() if issparse(X) else np.copy(X, order="K")
