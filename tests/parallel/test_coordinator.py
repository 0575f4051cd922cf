"""What happens when workers are lost, on a cluster that is only simulated."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

pytest.importorskip("distributed", reason="needs the extra 'dask'")

from polychotomy.errors import ClusterError
from polychotomy.parallel import _cluster, _cluster_backend, _cluster_watch, count_workers
from polychotomy.parallel._cluster import Coordinator
from polychotomy.parallel._cluster_watch import ClusterWatch
from polychotomy.parallel._shared_data import SharedData
from tests.parallel import tasks


class Future:
    """A task that its worker never finishes, or finishes at once."""

    def __init__(self, key, result):
        self.key, self.released, self._result = key, False, result
        self.status = "pending" if result is None else "finished"

    def done(self):
        return self._result is not None

    def result(self, timeout):
        return self._result

    def add_done_callback(self, call):
        if self.done():
            call(self)

    def release(self):
        self.released = True


class Farm:
    """A client of one worker, which is lost with every task before the last ones.

    Each time another worker takes its place.
    """

    status = "running"
    scheduler = SimpleNamespace(address="tcp://x:1")

    def __init__(self, n_lost):
        self.n_lost, self.sent, self.futures, self.workers = n_lost, [], [], ["worker 0"]

    def submit(self, function, call, versions, shared, *, key, workers):
        assert len(self.sent) < 30
        assert workers == self.workers
        self.sent.append(call)
        keeps = len(self.sent) > self.n_lost
        self.futures.append(Future(key, function(call, versions, shared) if keeps else None))
        if not keeps:
            self.workers = [f"worker {len(self.sent)}"]
        return self.futures[-1]

    def answer(self, _, question, **__):
        return None if question == "identity" else dict.fromkeys(self.workers, 1)


@pytest.fixture
def coordinator_of(monkeypatch):
    monkeypatch.setattr(_cluster, "_BEAT", 0.01)
    monkeypatch.setattr(_cluster_watch, "_BEAT", 0.0)

    def make(farm):
        monkeypatch.setattr(_cluster_watch, "ask_scheduler", farm.answer)
        return Coordinator(farm, SharedData(farm, None), ClusterWatch(farm))

    return make


def test_a_task_may_lose_five_workers(coordinator_of):
    farm = Farm(n_lost=_cluster.MOST_LOSSES)
    coordinator = coordinator_of(farm)
    ((number, outcome),) = coordinator.run(tasks.add_nothing, [7])
    assert (number, outcome.value) == (0, 7)
    assert coordinator.losses == 5
    assert coordinator.bytes_sent == sum(map(len, farm.sent)) == 6 * len(farm.sent[0])
    assert coordinator.bytes_received > 0
    assert all(future.released for future in farm.futures)


def test_a_task_that_loses_six_workers_is_refused(coordinator_of):
    farm = Farm(n_lost=100)
    coordinator = coordinator_of(farm)
    with pytest.raises(ClusterError, match="A task has lost its worker 6 times"):
        list(coordinator.run(tasks.add_nothing, [7]))
    assert len(farm.sent) == 6
    assert coordinator.losses == 5
    assert all(future.released for future in farm.futures)


class Store:
    """A client that keeps data, and may lose them or not take them."""

    def __init__(self, failures=0):
        self.failures, self.scattered, self.copies, self.timeouts = failures, [], [], []

    def sync(self, function, *, callback_timeout):
        self.timeouts.append(callback_timeout)
        if self.failures:
            self.failures -= 1
            raise OSError
        self.scattered.append(Future("data", "kept"))
        return (self.scattered[-1],)

    def submit(self, function, future, *, key, workers):
        self.copies.append((key, workers, Future(key, function("kept"))))
        return self.copies[-1][2]


def test_each_worker_has_its_own_copy_of_data_that_were_sent_once():
    client = Store()
    data = SharedData(client, [1.0])
    first, second, again = data.at("a"), data.at("b"), data.at("a")
    assert again is first is not second
    assert data.sends == 1
    assert [workers for _, workers, _ in client.copies] == [["a"], ["b"]]
    assert len({key for key, *_ in client.copies}) == 2
    second.status = "pending"
    assert data.at("b") is second
    first.status = "lost"
    assert data.at("a") is not first
    assert data.sends == 1
    client.scattered[0].status = second.status = "lost"
    data.at("b")
    assert data.sends == 2
    data.close()
    kept = [client.scattered[-1], *(future for *_, future in client.copies[-2:])]
    assert all(future.released for future in kept)
    assert SharedData(client, None).at("a") is None


def test_data_may_fail_to_arrive_four_times():
    client = Store(failures=4)
    data = SharedData(client, [1.0])
    for _ in range(4):
        with pytest.raises(ConnectionError):
            data.at("a")
    assert data.at("a").result(0) == "kept"
    client.scattered[0].status, client.failures = "lost", 5  # counted anew
    for _ in range(4):
        with pytest.raises(ConnectionError):
            data.at("b")
    with pytest.raises(ClusterError, match=r"could not be sent to a worker .*, 5 times"):
        data.at("b")
    assert min(client.timeouts) >= _cluster_watch.patience()


def test_the_scheduler_is_asked_once_a_second(monkeypatch):
    now, asked = [0.0], []
    monkeypatch.setattr(_cluster_watch, "monotonic", lambda: now[0])
    monkeypatch.setattr(
        _cluster_watch, "ask_scheduler", lambda _, what, **__: asked.append(what) or {"a": 1}
    )
    watch = ClusterWatch(None)
    for now[0], again, times in [
        (0.0, False, 1),
        (0.9, False, 1),
        (0.9, True, 2),
        (1.8, False, 2),
        (2.0, False, 3),
    ]:
        watch.look(again=again)
        assert asked.count("ncores") == times


def test_while_a_client_reconnects_one_worker_is_counted(monkeypatch):
    monkeypatch.setattr("polychotomy.parallel._client.client_for", lambda n_jobs: object())
    for answer, expected in ((None, 1), ({}, 1), ({"a": 1, "b": 1}, 2)):
        monkeypatch.setattr(_cluster_watch, "ask_scheduler", lambda *_, a=answer, **__: a)
        assert count_workers(4) == expected


def test_a_backend_has_a_worker_for_each_that_is_ready_and_goes_on_after_an_abort():
    watch = SimpleNamespace(look=lambda: None, ready=["a", "b", "c"])
    backend = _cluster_backend.ClusterBackend(None, None, watch, ())
    assert [backend.effective_n_jobs(n) for n in (1, 2, -1, None)] == [1, 3, 3, 3]
    backend.parallel = SimpleNamespace(n_jobs=2)
    backend._threads = before = ThreadPoolExecutor(1)
    backend.abort_everything()
    assert backend._threads is not before
    assert backend._threads.submit(int).result() == 0
    backend.abort_everything(ensure_ready=False)
    with pytest.raises(RuntimeError, match="after shutdown"):
        backend._threads.submit(int)


def test_without_a_cluster_its_package_is_not_imported():
    ask = (
        "import sys; from polychotomy.parallel import count_workers, map_tasks\n"
        "assert list(map_tasks(lambda task, _: task, [1, 2], n_jobs=1)) == [1, 2]\n"
        "assert count_workers(2) == 2\n"
        "sys.exit('distributed' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", ask]).returncode == 0
