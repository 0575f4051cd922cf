"""Trained problems that outlive one classifier: for all reductions that ask the same."""

import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from threading import Lock
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from polychotomy.learners._problems import BinaryProblems

_LARGEST = 2**29

_active: ContextVar["ProblemStore | None"] = ContextVar("problem_store", default=None)


@contextmanager
def shared_problems(max_bytes: int = _LARGEST) -> Iterator[None]:
    """Let all classifiers trained within it train a binary problem once that they have in common.

    Problems are the same if their learners have the same parameters, seeds among them, and see the
    same samples on the same sides with the same weights; all are compared by content. Seeds do not
    depend on the code that a problem stands in, so no result changes by a bit. What is trained is
    shared, not copied: do not train it further with ``partial_fit``. Learners that cannot be
    pickled go on as usual. Of learners that train all problems at once the solutions may depend on
    which problems these are, within their tolerance.

    Parameters
    ----------
    max_bytes : int, default=2**29
        Room for trained problems; beyond, those not asked for longest are given up, and trained
        again when asked for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import CodeClassifier, TreeClassifier
    >>> from polychotomy.learners import shared_problems
    >>> X, y = load_iris(return_X_y=True)
    >>> with shared_problems():
    ...     pairs = CodeClassifier(code="one_vs_one").fit(X, y)
    ...     ddag = TreeClassifier(structure="ddag").fit(X, y)
    >>> pairs.estimators_[0] is ddag.estimators_[0]
    True
    """
    token = _active.set(ProblemStore(max_bytes))
    try:
        yield
    finally:
        _active.reset(token)


def active_problems() -> "ProblemStore | None":
    """Return the store that this training may use."""
    return _active.get()


class ProblemStore:
    """Trained problems by what determined them; those not asked for longest go first.

    Threads may use it at once. Two that miss the same problem at the same moment both train it.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._known: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def keys(
        self,
        problems: BinaryProblems,
        X: Any,
        fresh: Callable[[int], Any],
        fit_params: Callable[[int], Mapping[str, Any]],
    ) -> list[str | None]:
        """Return what tells each problem from all others, None where that cannot be told."""
        try:
            data = joblib.hash(X)
            digests: dict[int, tuple[Any, str]] = {}  # a few mappings serve all problems

            def digest(params: Mapping[str, Any]) -> str:
                if id(params) not in digests:
                    digests[id(params)] = params, joblib.hash(dict(params))
                return digests[id(params)][1]

            keys: list[str | None] = []
            for s in range(problems.columns.shape[1]):
                samples = problems.samples(s)
                sides = sha256(samples.tobytes() + problems.target(s, samples).tobytes())
                learner = joblib.hash(fresh(s))
                keys.append(f"{data} {digest(fit_params(s))} {learner} {sides.hexdigest()}")
        except (pickle.PicklingError, AttributeError, TypeError):
            return [None] * problems.columns.shape[1]
        return keys

    def column_keys(
        self, targets: NDArray[np.int8], X: Any, learner: Any, params: Mapping[str, Any]
    ) -> list[str | None]:
        """Return what tells problems from all others that one learner trains at once."""
        try:
            common = joblib.hash((X, learner, dict(params)))
        except (pickle.PicklingError, AttributeError, TypeError):
            return [None] * targets.shape[1]
        return [f"{common} {sha256(column.tobytes()).hexdigest()}" for column in targets.T]

    def recall(self, key: str | None) -> Any:
        """Return a problem that was trained before, or None."""
        with self._lock:
            if key is None or key not in self._known:
                return None
            self._known.move_to_end(key)
            return self._known[key][0]

    def keep(self, key: str | None, problem: Any, size: int | None = None) -> None:
        """Keep a trained problem of so many bytes, if there is room for it."""
        if key is None:
            return
        size = size_of(problem) if size is None else size
        with self._lock:
            if key in self._known or size > self._max_bytes:
                return
            self._known[key] = problem, size
            self._bytes += size
            while self._bytes > self._max_bytes:
                self._bytes -= self._known.popitem(last=False)[1][1]


def size_of(trained: Any) -> int:
    """Return how many bytes something trained has, about."""
    return len(pickle.dumps(trained, protocol=pickle.HIGHEST_PROTOCOL))
