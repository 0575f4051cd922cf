"""A joblib backend that runs on a Dask cluster as ``map_tasks`` does.

For code that calls joblib itself, such as scikit-learn's searches.
"""

import io
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

from joblib import parallel_config
from joblib.parallel import ParallelBackendBase

from polychotomy.kernel import uses_cluster_backend
from polychotomy.parallel._client import client_for


@contextmanager
def joblib_on_cluster(n_jobs: int | None, *shared: Any) -> Iterator[None]:
    """Let joblib use the cluster that ``map_tasks`` would use, if any.

    Parameters
    ----------
    n_jobs : int or None
        As in ``map_tasks``.
    *shared : object
        Objects that the arguments of many calls refer to; each worker receives them once.
    """
    client = client_for(n_jobs)
    if client is None:
        yield
        return
    from polychotomy.parallel._cluster_watch import ClusterWatch
    from polychotomy.parallel._shared_data import SharedData

    watch = ClusterWatch(client)
    with closing(SharedData(client, shared)) as data:
        backend = ClusterBackend(client, data, watch, shared)
        if uses_cluster_backend():  # it uses all workers unless told otherwise
            backend.default_n_jobs = -1
        with parallel_config(backend=backend):
            yield


class ClusterBackend(ParallelBackendBase):
    """Runs each batch of calls as one task, supervised by its own thread."""

    supports_retrieve_callback = True

    def __init__(
        self, client: Any, data: Any, watch: Any, shared: tuple[Any, ...], **options: Any
    ) -> None:
        super().__init__(**options)
        self.client, self._data, self._watch, self._shared = client, data, watch, shared
        self._threads: ThreadPoolExecutor | None = None
        self._shown: dict[Any, Any] = {}  # warnings

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """Return the number of workers, whatever `n_jobs` is."""
        self._watch.look()
        return 1 if n_jobs == 1 else max(len(self._watch.ready), 1)

    def configure(self, n_jobs: int = 1, parallel: Any = None, **options: Any) -> int:
        """Start the threads for one call of joblib."""
        n_workers = super().configure(n_jobs, parallel, **options)
        self._threads = ThreadPoolExecutor(2 * n_workers)  # as many as joblib sends ahead
        return int(n_workers)

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Future[Any]:
        """Run a batch, and call back when it is finished."""
        assert self._threads is not None
        future = self._threads.submit(self._run, func)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """Return the results of a batch, or raise its exception."""
        return out.result()

    def terminate(self) -> None:
        """End the threads."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Drop the batches that have not started."""
        self.terminate()
        if ensure_ready:
            self.configure(self.parallel.n_jobs, self.parallel)

    def _run(self, batch: Any) -> Any:
        from polychotomy.parallel._cluster import Coordinator

        packed = _pack(batch.items, self._shared)
        coordinator = Coordinator(self.client, self._data, self._watch)
        with closing(coordinator.run(_run_batch, [packed])) as finished:
            return next(finished)[1].unwrap(self._shown)


def _run_batch(packed: bytes, shared: tuple[Any, ...]) -> list[Any]:
    return [f(*args, **options) for f, args, options in _unpack(packed, shared)]


def _pack(calls: Any, shared: tuple[Any, ...]) -> bytes:
    """Return calls as bytes, with a number in place of each shared object."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):
        def persistent_id(self, value: Any) -> int | None:
            return next((i for i, each in enumerate(shared) if each is value), None)

    file = io.BytesIO()
    Pickler(file).dump(calls)
    return file.getvalue()


def _unpack(packed: bytes, shared: tuple[Any, ...]) -> Any:
    class Unpickler(pickle.Unpickler):
        def persistent_load(self, number: Any) -> Any:
            return shared[number]

    return Unpickler(io.BytesIO(packed)).load()
