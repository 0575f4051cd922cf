"""``map_tasks``: run independent tasks locally or on a cluster."""

import sys
from collections.abc import Callable, Generator, Iterable
from typing import Any

from polychotomy.kernel import count_threads
from polychotomy.parallel._joblib_workers import map_on_joblib


def map_tasks(
    function: Callable[[Any, Any], Any],
    tasks: Iterable[Any],
    *,
    shared: Any = None,
    n_jobs: int | None = None,
    threads: bool = False,
    ordered: bool = True,
    on_disk: bool = False,
) -> Generator[Any]:
    """Yield ``function(task, shared)`` for each task, in order.

    Tasks run in this process if `n_jobs` is None or 1. Otherwise they run on the workers of the
    active Dask client, if there is one, or else on those of joblib; the results are the same. See
    the page "Running on a cluster" for how to choose.

    Parameters
    ----------
    function : callable
        Must be defined in a module, so that worker processes can import it.
    tasks : iterable
        Consumed one by one, when a worker is free.
    shared : object, optional
        Data that all tasks need, such as the samples; each worker receives large arrays once.
    n_jobs : int, optional
        Number of workers, as in joblib. With one worker, tasks run in this process. On a cluster,
        all of its workers are used.
    threads : bool, default=False
        Prefer threads to processes, for functions that release the interpreter lock. Such tasks
        never leave this machine.
    ordered : bool, default=True
        Whether results come in the order of the tasks, or each as soon as it is available.
    on_disk : bool, default=False
        Write `shared` to a temporary file once, whose pages local worker processes share. For data
        only: classes defined in a script would not be found.

    Raises
    ------
    ChildProcessError
        A local worker was killed, for example because memory ran out.
    ClusterError
        The cluster is lost, or the same task has lost its worker too often.

    Examples
    --------
    >>> from polychotomy.parallel import map_tasks
    >>> list(map_tasks(lambda task, shared: task * shared, [1, 2], shared=10))
    [10, 20]
    """
    client = None if threads else _cluster_client(n_jobs)
    if client is not None:
        from polychotomy.parallel._cluster import map_on_cluster

        yield from map_on_cluster(client, function, tasks, shared, ordered=ordered)
        return
    if count_threads(n_jobs) > 1:
        yield from map_on_joblib(
            function, tasks, shared, n_jobs, threads=threads, ordered=ordered, on_disk=on_disk
        )
        return
    for task in tasks:
        yield function(task, shared)


def uses_cluster(n_jobs: int | None) -> bool:
    """Whether tasks would run on the workers of a Dask cluster."""
    return _cluster_client(n_jobs) is not None


def _cluster_client(n_jobs: int | None) -> Any | None:
    if "distributed" not in sys.modules:  # without it, no client can be active
        return None
    from polychotomy.parallel._client import client_for

    return client_for(n_jobs)
