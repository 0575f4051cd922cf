"""One way to run independent tasks: in this process, or on joblib's workers."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib import effective_n_jobs


def map_tasks(
    function: Callable[[Any, Any], Any],
    tasks: Iterable[Any],
    *,
    shared: Any = None,
    n_jobs: int | None = None,
    threads: bool = False,
) -> Iterator[Any]:
    """Yield ``function(task, shared)`` for each task, in order.

    Parameters
    ----------
    function : callable
        Defined in a module, so that worker processes find it.
    tasks : iterable
        Taken one by one, when a worker is free.
    shared : object, optional
        What all tasks need, such as the samples; large arrays are sent to workers once.
    n_jobs : int, optional
        Number of workers, as in joblib. With one worker, tasks run in this process.
    threads : bool, default=False
        Prefer threads to processes, for functions that release the interpreter lock.

    Examples
    --------
    >>> from polychotomy.parallel import map_tasks
    >>> list(map_tasks(lambda task, shared: task * shared, [1, 2], shared=10))
    [10, 20]
    """
    if effective_n_jobs(n_jobs) == 1:
        for task in tasks:
            yield function(task, shared)
        return
    from joblib.parallel import get_active_backend
    from sklearn.utils.parallel import Parallel, delayed

    # Not every backend can hand results over one by one; then they come at the end.
    one_by_one = get_active_backend()[0].supports_return_generator
    workers = Parallel(
        n_jobs=n_jobs,
        prefer="threads" if threads else None,
        return_as="generator" if one_by_one else "list",
    )
    yield from workers(delayed(function)(task, shared) for task in tasks)
