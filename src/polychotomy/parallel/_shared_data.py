"""Data that all tasks need, on the workers of a Dask cluster."""

from threading import RLock
from typing import Any
from uuid import uuid4

from polychotomy.errors import ClusterError
from polychotomy.parallel._cluster_watch import patience

_MOST_FAILURES = 5
_NO_WORKER = 1.0  # seconds to wait for a worker that can take the data
_SLOWEST = 1e6  # bytes per second that a connection must manage


class SharedData:
    """Data that are sent to the cluster once, and again if every copy is lost.

    One worker receives them from this process, through the scheduler. Each other worker copies them
    once, from a worker that has them, when it gets its first task. Several threads may use it.

    Attributes
    ----------
    sends : int
        How often this process has sent them.
    """

    def __init__(self, client: Any, value: Any) -> None:
        self._client, self._value = client, value
        self._original: Any = None
        self._copies: dict[str, Any] = {}
        self._lock = RLock()
        self.sends = self._failures = 0

    def at(self, address: str) -> Any:
        """Return the future of a worker's own copy, or None if there are no data.

        Each copy has its own name: Dask drops unused copies of data with the same name to save
        memory, and would send them again.

        Raises
        ------
        ConnectionError
            The worker to which the data were to be sent is lost.
        ClusterError
            That has happened too often.
        """
        if self._value is None:
            return None
        with self._lock:
            copy = self._copies.get(address)
            if copy is None or copy.status not in ("pending", "finished"):
                copy = self._client.submit(
                    _copy,
                    self._anywhere(),
                    key=f"polychotomy_data-{uuid4().hex}",
                    workers=[address],
                )
                self._copies[address] = copy
            return copy

    def close(self) -> None:
        """Release the data on the workers."""
        with self._lock:
            for future in (self._original, *self._copies.values()):
                if future is not None:
                    future.release()
            self._copies.clear()
            self._original = None

    def _anywhere(self) -> Any:
        """Return the future of the data on any worker; send them if no worker has them."""
        if self._original is None or self._original.status != "finished":
            self._original = self._send()
            self.sends += 1
        return self._original

    def _send(self) -> Any:
        from dask.sizeof import sizeof

        limit = patience() + sizeof(self._value) / _SLOWEST
        try:
            (future,) = self._client.sync(self._scatter, callback_timeout=limit)
        except OSError as error:
            self._failures += 1
            if self._failures < _MOST_FAILURES:
                raise ConnectionError from error
            raise ClusterError(
                "The data that the tasks need could not be sent to a worker of the Dask cluster, "
                f"{_MOST_FAILURES} times."
            ) from error
        self._failures = 0
        return future

    def _scatter(self) -> Any:
        data = [self._value]
        return self._client.scatter(data, hash=False, timeout=_NO_WORKER, asynchronous=True)


def _copy(value: Any) -> Any:
    """Return the data, as the worker's own copy."""
    return value
