"""Find the Dask client that runs tasks, if any, and count its workers.

A client can only be active if ``distributed`` has been imported: nothing here imports it, except
connecting to a scheduler.
"""

import logging
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from joblib import effective_n_jobs, parallel_config

from polychotomy.errors import ClusterError, require

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://\S+:\d+")
_CONNECT = 10.0  # seconds to wait for a scheduler's first answer


def client_for(n_jobs: int | None) -> Any | None:
    """Return the Dask client whose workers run tasks, or None.

    That is the client of joblib's Dask backend, if this is the configured backend; or the active
    client, if no backend is configured. It is used if `n_jobs`, or joblib's configuration, asks for
    more than one worker.
    """
    if "distributed" not in sys.modules or _in_dask_task():
        return None
    from joblib.parallel import get_active_backend

    backend, configured = get_active_backend()
    on_cluster = uses_cluster_backend()
    usual = backend.default_n_jobs if on_cluster else 1
    if (n_jobs or configured or usual) == 1:
        return None
    if on_cluster:
        return backend.client
    return _active_client() if _no_backend_is_configured() else None


def uses_cluster(n_jobs: int | None) -> bool:
    """Whether tasks would run on the workers of a Dask cluster."""
    return client_for(n_jobs) is not None


def uses_cluster_backend() -> bool:
    """Whether the configured joblib backend is that of Dask, or ours."""
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ in ("DaskDistributedBackend", "ClusterBackend")


def count_workers(n_jobs: int | None) -> int:
    """Return how many tasks run at once: processes of the cluster, or local workers."""
    client = client_for(n_jobs)
    if client is None:
        return count_threads(n_jobs)
    from polychotomy.parallel._cluster_watch import ask_scheduler

    return max(len(ask_scheduler(client, "ncores_running", workers=None) or ()), 1)


def count_threads(n_jobs: int | None) -> int:
    """Return how many workers `n_jobs` means on this machine, as joblib counts them."""
    if not uses_cluster_backend():
        return int(effective_n_jobs(n_jobs))
    if _in_dask_task():
        return 1
    with parallel_config(backend="threading", n_jobs=1):
        return int(effective_n_jobs(n_jobs))


def _no_backend_is_configured() -> bool:
    """Whether no joblib backend is configured, so that hints still have an effect."""
    from joblib.parallel import get_active_backend

    usual, hinted = (get_active_backend(prefer=hint)[0] for hint in ("processes", "threads"))
    return type(usual) is not type(hinted)


def _active_client() -> Any | None:
    from distributed import Client

    try:
        client = Client.current()  # type: ignore[no-untyped-call]
    except ValueError:
        return None
    return None if client.asynchronous or client.status in ("closing", "closed") else client


def _in_dask_task() -> bool:
    """Whether this code runs within a Dask task, which must not wait for further tasks."""
    if "distributed" not in sys.modules:
        return False
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Make the workers of a Dask scheduler run tasks; None changes nothing.

    Parameters
    ----------
    address : str or None
        Such as ``"tcp://10.0.0.1:8786"``.

    Raises
    ------
    ClusterError
        There is no scheduler, or it does not answer within ten seconds.
    MissingExtraError
        The package ``distributed`` is not installed.
    """
    if address is None:
        yield
        return
    distributed = require("distributed", extra="dask")
    if not _ADDRESS.fullmatch(address):
        raise ClusterError(
            "The address of a Dask scheduler must be such as tcp://HOST:8786, as `dask scheduler` "
            f"prints it. Got {address!r}."
        )
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # what is lost is said by exceptions
    try:
        with _connect(distributed, address) as client, client.as_current():
            yield
    finally:
        logger.setLevel(level)


def _connect(distributed: Any, address: str) -> Any:
    with warnings.catch_warnings():  # tasks compare versions
        warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
        try:
            return distributed.Client(address, timeout=_CONNECT, set_as_default=False)
        except OSError as error:
            raise ClusterError(
                f"No Dask scheduler answered at {address} within {_CONNECT:.0f} s."
            ) from error
