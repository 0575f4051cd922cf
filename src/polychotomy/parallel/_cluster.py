"""Run tasks on a Dask cluster whose workers may be lost at any time.

One loop gives each free worker a task, waits until any task is done, and gives the tasks of lost
workers to others. Tasks are bound to their worker: Dask neither moves them, which would move data,
nor runs them again by itself.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from polychotomy.errors import ClusterError
from polychotomy.parallel._cluster_watch import ClusterWatch, Placed, patience
from polychotomy.parallel._remote_task import Outcome, pack_call, run_call, versions
from polychotomy.parallel._shared_data import SharedData

MOST_LOSSES = 5
"""How often a task is given to another worker after it was lost with the worker that ran it."""

_BEAT = 1.0  # seconds between looks at the cluster
_AHEAD = 2  # tasks for each worker: one that runs and one that waits


def map_on_cluster(
    client: Any,
    function: Callable[[Any, Any], Any],
    tasks: Iterable[Any],
    shared: Any,
    *,
    ordered: bool,
) -> Generator[Any]:
    """Yield the results of all tasks, see ``map_tasks``.

    At most two tasks for each worker are in flight. What has begun on a worker is finished there,
    even if its result is no longer needed.
    """
    watch = ClusterWatch(client)
    with (
        closing(SharedData(client, shared)) as data,
        closing(Coordinator(client, data, watch).run(function, tasks)) as finished,
    ):
        shown: dict[Any, Any] = {}
        for outcome in _in_order(finished) if ordered else (outcome for _, outcome in finished):
            yield outcome.unwrap(shown)


def _in_order(finished: Iterable[tuple[int, Outcome]]) -> Iterator[Outcome]:
    """Yield outcomes in the order of their tasks, buffering those that arrive early."""
    early: dict[int, Outcome] = {}
    following = 0
    for number, outcome in finished:
        early[number] = outcome
        while following in early:
            yield early.pop(following)
            following += 1


@dataclass(eq=False)
class _Sent(Placed):
    """A task, and the worker that has it."""

    number: int
    call: bytes
    future: Any = None
    losses: int = 0


class Coordinator:
    """Runs tasks that need the same data on the workers of a client.

    Attributes
    ----------
    bytes_sent, bytes_received : int
        Of tasks, each as often as it was sent, and of outcomes; without the shared data.
    losses : int
        How often a task was lost with its worker.
    """

    def __init__(self, client: Any, data: SharedData, watch: ClusterWatch) -> None:
        self._client, self._data, self._watch = client, data, watch
        self._in_flight: dict[str, _Sent] = {}
        self._lost: list[_Sent] = []
        self._done: SimpleQueue[Any] = SimpleQueue()
        self.bytes_sent = self.bytes_received = self.losses = 0

    def run(
        self, function: Callable[[Any, Any], Any], tasks: Iterable[Any]
    ) -> Generator[tuple[int, Outcome]]:
        """Yield the number and the outcome of each task as soon as it is done."""
        waiting = (_Sent(n, pack_call(function, task)) for n, task in enumerate(tasks))
        try:
            while True:
                self._watch.look()
                self._take_back_lost()
                all_sent = self._send(waiting)
                if all_sent and not self._in_flight:
                    return
                sent = self._next_done()
                if sent is None:
                    continue
                outcome = self._outcome(sent.future)
                self._take_back(sent, is_done=outcome is not None)
                if outcome is None:
                    self._lose(sent)
                else:
                    yield sent.number, outcome
        finally:
            for sent in list(self._in_flight.values()):
                self._take_back(sent)

    def _send(self, waiting: Iterator[_Sent]) -> bool:
        """Send a task to each free place; return whether no task is left."""
        for address in self._watch.free_places(_AHEAD):
            sent = self._lost.pop() if self._lost else next(waiting, None)
            if sent is None:
                return True
            try:
                self._submit(sent, address)
            except ConnectionError:
                self._lost.append(sent)
                self._watch.look(again=True)
                return False
            except Exception:  # whatever Dask raises when the client has been closed
                self._watch.look(again=True)
                raise
        return False

    def _submit(self, sent: _Sent, address: str) -> None:
        from dask import config

        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            sent.future = self._client.submit(
                run_call,
                sent.call,
                versions(),
                self._data.at(address),
                key=f"polychotomy-{uuid4().hex}",
                workers=[address],
            )
        self._in_flight[sent.future.key] = sent
        self._watch.place(sent, address)
        self.bytes_sent += len(sent.call)
        sent.future.add_done_callback(self._done.put)

    def _next_done(self) -> _Sent | None:
        """Wait briefly for a task that is done or that Dask has given up."""
        try:
            return self._in_flight.get(self._done.get(timeout=_BEAT).key)
        except Empty:
            return None

    def _take_back(self, sent: _Sent, *, is_done: bool = False) -> None:
        """Let the scheduler forget a task.

        Dask's wait for the callback refers to the future until it is done or released.
        """
        del self._in_flight[sent.future.key]
        self._watch.remove(sent, is_done=is_done)
        sent.future.release()

    def _take_back_lost(self) -> None:
        """Take back the tasks of workers that are gone."""
        for sent in list(self._in_flight.values()):
            if sent.worker not in self._watch.known and not sent.future.done():
                self._take_back(sent)
                self._lose(sent)

    def _lose(self, sent: _Sent) -> None:
        if sent.began:
            sent.losses += 1
        if sent.losses > MOST_LOSSES:
            raise ClusterError(
                f"A task has lost its worker {sent.losses} times, as happens when it needs "
                "more memory than workers have."
            )
        self.losses += 1
        self._lost.append(sent)

    def _outcome(self, future: Any) -> Outcome | None:
        """Return the outcome of a finished task, or None if it is lost."""
        from concurrent.futures import CancelledError

        from cloudpickle import loads
        from distributed import KilledWorker

        try:
            packed = self._fetch(future)
        except (KilledWorker, CancelledError, OSError):
            return None
        except Exception as error:
            raise ClusterError(
                f"The workers cannot run the tasks: {type(error).__name__}: {error}. They need the "
                "packages and the versions of this process."
            ) from error
        self.bytes_received += len(packed)
        outcome: Outcome = loads(packed)
        return outcome

    @staticmethod
    def _fetch(future: Any) -> bytes:
        """Return the result of a future, unless its worker is lost before it arrives.

        Dask would wait for that worker. A result that is merely slow to arrive gets more time.
        """
        limit = min(_BEAT, patience())
        while True:
            try:
                found: bytes = future.result(timeout=limit)
            except TimeoutError:
                if future.status != "finished" or limit > patience():
                    raise
                limit *= 2
            else:
                return found
