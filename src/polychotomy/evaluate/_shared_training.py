"""What tasks may share without changing each other's results."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from polychotomy.kernel import active_store, rows_kept, shared_kernel


def trains_jointly(classifier: Any) -> bool:
    """Whether the binary learner of a classifier, or it itself, trains all problems at once."""
    return hasattr(getattr(classifier, "estimator", classifier), "fit_joint")


def shared_rows(X: Any, y: Any) -> AbstractContextManager[None]:
    """Share kernel rows between SVMs on the same samples, but no solutions."""
    store = active_store()
    if not is_numbers(X, y) or (store is not None and store.place(X) is not None):
        return nullcontext()
    return shared_kernel(X, y, starts=False)


def kernels_shared(X: Any, y: Any) -> AbstractContextManager[None]:
    """Share kernel rows and solutions between folds and parameters of a search.

    Within a search of more samples it is that one's rows which are shared.
    """
    return rows_kept(X, y) if is_numbers(X, y) else nullcontext()


def is_numbers(X: Any, y: Any) -> bool:
    """Whether X is a plain array of finite numbers with a label for each row."""
    numbers = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iufb"
    return bool(numbers and y is not None and np.shape(y) == X.shape[:1] and np.isfinite(X).all())
