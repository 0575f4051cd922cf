"""What tasks may share without changing a bit of each other's results."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from polychotomy.kernel import active_store, rows_kept, shared_kernel
from polychotomy.training import shared_problems


@contextmanager
def shared_training(X: Any, y: Any, estimators: Any) -> Iterator[None]:
    """Let several classifiers that are trained on one fold share problems and kernel rows.

    Learners that train all problems at once give solutions that depend, within their tolerance, on
    which problems these are: they share kernel rows only.

    Parameters
    ----------
    X, y : ndarray
        The training part, as the classifiers see it.
    estimators : iterable of classifier
        The binary learners.
    """
    with shared_rows(X, y) if any(map(trains_jointly, estimators)) else shared_problems():
        yield


def trains_jointly(classifier: Any) -> bool:
    """Whether the binary learner of a classifier, or it itself, trains all problems at once."""
    return hasattr(getattr(classifier, "estimator", classifier), "fit_joint")


def shared_rows(X: Any, y: Any) -> AbstractContextManager[None]:
    """Let kernel SVMs on the same samples share kernel rows, but no solutions to start from."""
    store = active_store()
    if not _is_numbers(X, y) or (store is not None and store.place(X) is not None):
        return nullcontext()
    return shared_kernel(X, y, starts=False)


def kernels_shared(X: Any, y: Any) -> AbstractContextManager[None]:
    """Let kernel SVMs share rows and solutions over folds and parameters of one search.

    Within a search of more samples it is that one's rows which are shared.
    """
    return rows_kept(X, y) if _is_numbers(X, y) else nullcontext()


def _is_numbers(X: Any, y: Any) -> bool:
    """Whether X is a plain array of finite numbers with a label for each row."""
    numbers = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iufb"
    return bool(numbers and y is not None and np.shape(y) == X.shape[:1] and np.isfinite(X).all())
