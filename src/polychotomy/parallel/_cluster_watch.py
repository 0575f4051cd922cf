"""Track the workers of a Dask cluster, their tasks, and when the cluster counts as lost."""

import warnings
from collections import defaultdict
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any

from polychotomy.errors import ClusterError

_PATIENCE = 60.0  # seconds; the Dask setting polychotomy.patience replaces it
_BEAT = 1.0  # seconds from one question to the scheduler to the next
_LONG_AGO = float("-inf")


def patience() -> float:
    """Return how many seconds a cluster may be without workers or not answer."""
    from dask.config import get
    from dask.utils import parse_timedelta

    return float(parse_timedelta(get("polychotomy.patience", _PATIENCE)))


def ask_scheduler(client: Any, question: str, **options: Any) -> Any:
    """Return the scheduler's answer, or None while the client is reconnecting.

    Raises
    ------
    ClusterError
        The scheduler does not answer in time, or the client has given up.
    """
    if client.status in ("closing", "closed"):
        raise ClusterError(f"The Dask scheduler{_at(client)} is gone.")
    if client.status != "running":
        return None
    try:
        ask = getattr(client.scheduler, question)
        return client.sync(ask, callback_timeout=patience(), **options)
    except TimeoutError as error:
        raise ClusterError(
            f"The Dask scheduler{_at(client)} has not answered for {patience():.0f} s."
        ) from error
    except OSError:  # the connection broke
        return None


def _at(client: Any) -> str:
    address = getattr(client.scheduler, "address", None)
    return "" if address is None else f" at {address}"


@dataclass(eq=False, kw_only=True)
class Placed:
    """Something that a worker has to do.

    Attributes
    ----------
    worker : str
        The address of the worker.
    began : bool
        Whether it came first there, or all before it are done: otherwise it only waits.
    """

    worker: str = ""
    began: bool = False


class ClusterWatch:
    """The workers of a cluster, at most a second out of date. Several threads may use it.

    Attributes
    ----------
    known : set of str
        Addresses of all workers.
    ready : list of str
        Of those that take tasks: not paused for lack of memory, and not closing.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.known: set[str] = set()
        self.ready: list[str] = []
        self._placed: defaultdict[str, list[Placed]] = defaultdict(list)
        self._lock = Lock()
        self._asked, self._seen_ready = _LONG_AGO, monotonic()
        self._warned = False

    def look(self, *, again: bool = False) -> None:
        """Ask the scheduler if `again`, or if the last answer is over a second old.

        Raises ClusterError if no worker has been ready for too long.
        """
        if not again and monotonic() - self._asked < _BEAT:
            return
        threads = ask_scheduler(self._client, "ncores", workers=None)
        ready = list(ask_scheduler(self._client, "ncores_running", workers=None) or ())
        if threads is not None:
            self.known = {*threads, *ready}  # a worker may come between the two questions
            self._check_threads(threads)
        self.ready = ready
        self._asked = monotonic()
        if self.ready or self._any_runs():
            self._seen_ready = monotonic()
        elif monotonic() - self._seen_ready > patience():
            raise ClusterError(
                f"The Dask cluster{_at(self._client)} has had no worker ready for "
                f"{patience():.0f} s. Start workers, or raise the Dask setting "
                "polychotomy.patience."
            )

    def free_places(self, n_each: int) -> list[str]:
        """Return the address of a ready worker for each task that may be sent, idle ones first."""
        with self._lock:
            load = {each: len(self._placed[each]) for each in self.ready}
        return [each for place in range(n_each) for each in load if load[each] <= place]

    def place(self, task: Placed, address: str) -> None:
        """Note that a worker has been given a task."""
        with self._lock:
            task.worker, task.began = address, not self._placed[address]
            self._placed[address].append(task)

    def remove(self, task: Placed, *, is_done: bool) -> None:
        """Note that a worker has done a task, or that the task was taken back."""
        with self._lock:
            others = self._placed[task.worker]
            others.remove(task)
            if is_done and others:
                others[0].began = True

    def _check_threads(self, threads: dict[str, int]) -> None:
        if max(threads.values(), default=1) > 1 and not self._warned:
            self._warned = True
            warnings.warn(
                "Some workers of the Dask cluster have several threads, of which one is used: a "
                "process runs one task at a time. Start more workers, with --nthreads 1.",
                UserWarning,
                stacklevel=2,
            )

    def _any_runs(self) -> bool:
        """Whether workers that accept no new tasks still run some."""
        if not self.known:
            return False
        found = ask_scheduler(self._client, "identity", n_workers=-1) or {"workers": {}}
        counts = [each["metrics"]["task_counts"] for each in found["workers"].values()]
        return any(count.get("executing", 0) for count in counts)
