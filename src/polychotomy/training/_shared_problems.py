"""Trained problems that are shared by several classifiers."""

import pickle
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from threading import Lock
from typing import Any

import joblib

from polychotomy.arrays import Matrix

_LARGEST = 2**29

active_problems: ContextVar["ProblemStore | None"] = ContextVar("problem_store", default=None)
"""The store that a training may use."""


@contextmanager
def shared_problems(max_bytes: int = _LARGEST) -> Iterator[None]:
    """Train binary problems once that several classifiers within this context have in common.

    Problems are the same if their learners have the same parameters, seeds included, and see the
    same samples on the same sides with the same weights; all are compared by content. Seeds do not
    depend on the code that a problem occurs in, so no result changes. What is trained is shared,
    not copied: do not train it further with ``partial_fit``. Learners that cannot be pickled are
    trained as usual.

    Parameters
    ----------
    max_bytes : int, default=2**29
        Room for trained problems. When it is full, the least recently used ones are dropped.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import CodeClassifier, TreeClassifier
    >>> from polychotomy.training import shared_problems
    >>> X, y = load_iris(return_X_y=True)
    >>> with shared_problems():
    ...     pairs = CodeClassifier(code="one_vs_one").fit(X, y)
    ...     ddag = TreeClassifier(structure="ddag").fit(X, y)
    >>> pairs.estimators_[0] is ddag.estimators_[0]
    True
    """
    token = active_problems.set(ProblemStore(max_bytes))
    try:
        yield
    finally:
        active_problems.reset(token)


class ProblemStore:
    """Results of training by a hash of their inputs; the least recently used are dropped first.

    Threads may use it at once. Two that miss the same problem at the same moment both train it.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._known: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def keys(self, tasks: Iterable[Any], X: Any) -> list[str | None]:
        """Return a key for each task of separate training, None if it cannot be hashed.

        A task has a learner (`estimator`, `params`), `samples` with `sides`, whether the learner is
        `turned`, and the samples that it is `asked` about with the `kind` of the answer.
        """
        data, keys = _hash(X), []
        for task in tasks:
            asked = None if task.asked is None else (task.asked.tobytes(), task.kind)
            which = task.samples.tobytes() + task.sides.tobytes()
            sides = sha256(which + repr((asked, task.turned)).encode())
            learner = _hash((task.estimator, dict(task.params)))
            known = data is not None and learner is not None
            keys.append(f"{data} {learner} {sides.hexdigest()}" if known else None)
        return keys

    def column_keys(
        self, targets: Matrix, X: Any, learner: Any, params: Mapping[str, Any]
    ) -> list[str | None]:
        """Return a key for each column of joint training, None if it cannot be hashed."""
        common = _hash((X, learner, dict(params)))
        if common is None:
            return [None] * targets.shape[1]
        return [f"{common} {sha256(column.tobytes()).hexdigest()}" for column in targets.T]

    def recall(self, key: str | None) -> Any:
        """Return a result that was computed before, or None."""
        with self._lock:
            if key is None or key not in self._known:
                return None
            self._known.move_to_end(key)
            return self._known[key][0]

    def keep(self, key: str | None, result: Any, size: int | None = None) -> None:
        """Keep a result of so many bytes, if there is room for it."""
        if key is None:
            return
        size = size_of(result) if size is None else size
        with self._lock:
            if key in self._known or size > self._max_bytes:
                return
            self._known[key] = result, size
            self._bytes += size
            while self._bytes > self._max_bytes:
                self._bytes -= self._known.popitem(last=False)[1][1]


def _hash(value: Any) -> str | None:
    """Return a hash of the content, None if it has none."""
    try:
        found: str = joblib.hash(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    return found


def size_of(trained: Any) -> int:
    """Return an estimate of the size of a trained object in bytes."""
    return len(pickle.dumps(trained, protocol=pickle.HIGHEST_PROTOCOL))
