"""Track the workers of a Dask cluster, their load, and when the cluster counts as lost."""

import warnings
from collections import Counter
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


class ClusterWatch:
    """The workers of a cluster, at most a second out of date.

    Attributes
    ----------
    known : set of str
        Addresses of all workers.
    ready : list of str
        Of those that take tasks: not paused for lack of memory, and not closing.
    load : Counter
        How many of our tasks each of them has.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.known: set[str] = set()
        self.ready: list[str] = []
        self.load: Counter[str] = Counter()
        self._asked, self._seen_ready = _LONG_AGO, monotonic()
        self._warned = False

    def look(self, *, again: bool = False) -> None:
        """Ask the scheduler if `again`, or if the last answer is over a second old.

        Raises ClusterError if no worker has been ready for too long.
        """
        if not again and monotonic() - self._asked < _BEAT:
            return
        threads = ask_scheduler(self._client, "ncores", workers=None)
        if threads is not None:
            self.known = set(threads)
            self._check_threads(threads)
        self.ready = list(ask_scheduler(self._client, "ncores_running", workers=None) or ())
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
        load = dict(self.load)
        places = range(n_each)
        return [each for place in places for each in self.ready if load.get(each, 0) <= place]

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
