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

from joblib.parallel import get_active_backend

from polychotomy.errors import ClusterError, require
from polychotomy.kernel import count_threads, in_dask_task, uses_cluster_backend

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://\S+:\d+")
_CONNECT = 10.0  # seconds to wait for a scheduler's first answer


def client_for(n_jobs: int | None) -> Any | None:
    """Return the Dask client whose workers run tasks, or None.

    That is the client of joblib's Dask backend, if this is the configured backend; or the active
    client, if no backend is configured. It is used if `n_jobs`, or joblib's configuration, asks for
    more than one worker.
    """
    if "distributed" not in sys.modules or in_dask_task():
        return None
    backend, configured = get_active_backend()
    on_cluster = uses_cluster_backend()
    usual = backend.default_n_jobs if on_cluster else 1
    if (n_jobs or configured or usual) == 1:
        return None
    if on_cluster:
        return backend.client
    return _active_client() if _no_backend_is_configured() else None


def count_workers(n_jobs: int | None) -> int:
    """Return how many tasks run at once: processes of the cluster, or local workers."""
    client = client_for(n_jobs)
    if client is None:
        return count_threads(n_jobs)
    from polychotomy.parallel._cluster_watch import ask_scheduler

    return max(len(ask_scheduler(client, "ncores_running", workers=None) or ()), 1)


def _no_backend_is_configured() -> bool:
    """Whether no joblib backend is configured, so that hints still have an effect."""
    usual, hinted = (get_active_backend(prefer=hint)[0] for hint in ("processes", "threads"))
    return type(usual) is not type(hinted)


def _active_client() -> Any | None:
    from distributed import Client

    try:
        client = Client.current()  # type: ignore[no-untyped-call]
    except ValueError:
        return None
    return None if client.asynchronous or client.status in ("closing", "closed") else client


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
