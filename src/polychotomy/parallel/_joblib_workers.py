"""Run tasks on joblib's workers: processes, threads, or whatever backend is configured.

Worker processes ignore Ctrl-C, which this process handles for them. They end when this process is
killed. If one of them is killed, a short error says so.
"""

import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from threading import Thread
from time import sleep
from typing import Any

import joblib

from polychotomy.kernel import uses_cluster_backend


def map_on_joblib(
    function: Callable[[Any, Any], Any],
    tasks: Iterable[Any],
    shared: Any,
    n_jobs: int | None,
    *,
    threads: bool,
    ordered: bool,
    on_disk: bool,
) -> Iterator[Any]:
    """Yield the results of all tasks, see ``map_tasks``."""
    if threads or not _uses_processes():
        yield from _running(function, tasks, shared, n_jobs, threads, ordered)
        return
    with _placed(shared) if on_disk else _kept(shared) as place, _told_lost_workers():
        call = partial(_call_remotely, function, os.getpid())
        yield from _running(call, tasks, place, n_jobs, threads, ordered)


def _running(
    function: Any,
    tasks: Iterable[Any],
    shared: Any,
    n_jobs: int | None,
    threads: bool,
    ordered: Any,
) -> Iterator[Any]:
    from joblib.parallel import get_active_backend
    from sklearn.utils.parallel import Parallel, delayed

    # Not every backend can hand results over one by one; then they come at the end.
    one_by_one = get_active_backend()[0].supports_return_generator
    form = "generator" if ordered else "generator_unordered"
    workers = Parallel(
        n_jobs=n_jobs,
        backend="threading" if threads and uses_cluster_backend() else None,
        prefer="threads" if threads else None,
        return_as=form if one_by_one else "list",
        **({} if ordered else {"batch_size": 1}),
    )
    # The workers start here. Forked ones are ended by a signal, which must reach them.
    with _signals_held_back() if one_by_one else nullcontext():
        results = workers(delayed(function)(task, shared) for task in tasks)
    if isinstance(results, list):
        yield from results
        return
    try:
        for result in results:  # noqa: UP028 - "yield from" would close it outside of the filter
            yield result
    finally:
        with warnings.catch_warnings():  # without joblib's advice to those who stop early
            warnings.filterwarnings("ignore", ".*tasks.*have been", UserWarning)
            results.close()


def _uses_processes() -> bool:
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ == "LokyBackend"


def _call_remotely(function: Callable[[Any, Any], Any], parent: int, task: Any, shared: Any) -> Any:
    """Call a function in a worker process that ends with its parent."""
    _end_with(parent)
    if isinstance(shared, _Place):
        _FOLDERS.add(shared.folder)
        shared = _loaded(shared.file)
    return function(task, shared)


class _Place:
    """Where shared data are stored."""

    def __init__(self, folder: str) -> None:
        self.folder, self.file = folder, str(Path(folder) / "shared.joblib")


@contextmanager
def _placed(shared: Any) -> Iterator[Any]:
    """Write the data that all tasks need to a temporary folder."""
    with TemporaryDirectory(prefix="polychotomy-", ignore_cleanup_errors=True) as folder:
        place = _Place(folder)
        try:
            joblib.dump(shared, place.file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, folder) from error
        yield place


@contextmanager
def _kept(shared: Any) -> Iterator[Any]:
    yield shared


@lru_cache(maxsize=1)
def _loaded(file: str) -> Any:
    return joblib.load(file, mmap_mode="r")


_FOLDERS: set[str] = set()


@cache
def _end_with(parent: int) -> None:
    """End this worker and remove its data when its parent process is killed.

    Otherwise it would finish its tasks and then stay idle for minutes.
    """

    def watch() -> None:
        while os.getppid() == parent:
            sleep(0.5)
        for folder in _FOLDERS:
            rmtree(folder, ignore_errors=True)
        os._exit(1)

    if os.getppid() == parent:
        Thread(target=watch, daemon=True).start()
        with suppress(
            ValueError, AttributeError
        ):  # a worker that was started later gets Ctrl-C, too
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Delay signals that end a process; processes started meanwhile never get them.

    Ctrl-C and the like reach all processes at once. Each worker would print a traceback, or be
    missed, whereas this process ends them in order.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    )
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _told_lost_workers() -> Iterator[None]:
    """Raise a short error if a worker was killed."""
    try:
        yield
    except BrokenExecutor as error:
        raise ChildProcessError(
            "A worker process was killed, as systems do when memory runs out. Run it again with "
            "fewer workers."
        ) from error
