"""``map_tasks`` on a Dask cluster: workers in threads of this process, which start fast."""

import logging
import os
import pickle
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from types import SimpleNamespace

import dask
import distributed
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression

from polychotomy import CodeClassifier, GreedySearchCV
from polychotomy.errors import ClusterError
from polychotomy.parallel import (
    _cluster,
    _cluster_backend,
    _cluster_watch,
    _remote_task,
    connected,
    count_workers,
    map_tasks,
)
from tests.parallel import tasks


@pytest.fixture(scope="module", autouse=True)
def client():
    """A client of two workers with one thread each."""
    with _local_cluster(2) as cluster, distributed.Client(cluster) as client:
        yield client


def _local_cluster(n_workers, threads=1):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=threads,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture
def coordinators(monkeypatch):
    """The coordinators that are made during a test."""
    made = []

    class Noted(_cluster.Coordinator):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(_cluster, "Coordinator", Noted)
    return made


def test_results_come_in_the_order_of_the_tasks(coordinators):
    found = map_tasks(tasks.wait, [0.3, 0.0, 0.0, 0.1], n_jobs=2)
    assert list(found) == [0.3, 0.0, 0.0, 0.1]
    assert len(coordinators) == 1


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_tasks_stay_here_unless_workers_are_asked_for(n_jobs, coordinators):
    assert list(map_tasks(tasks.add, range(3), shared=1, n_jobs=n_jobs)) == [1, 2, 3]
    assert not coordinators


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_tasks_stay_here_if_another_backend_is_configured(backend, coordinators):
    with parallel_config(backend=backend):
        assert list(map_tasks(tasks.add, range(3), shared=1, n_jobs=2)) == [1, 2, 3]
    assert not coordinators


def test_threads_stay_here(coordinators):
    found = map_tasks(tasks.whereabouts, range(3), n_jobs=2, threads=True)
    assert set(found) == {os.getpid()}
    assert not coordinators


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_client_of_joblibs_dask_backend_is_used(n_jobs, coordinators, client):
    with parallel_config(backend="dask"):
        assert list(map_tasks(tasks.add, range(3), shared=1, n_jobs=n_jobs)) == [1, 2, 3]
        assert count_workers(n_jobs) == 2
        assert list(map_tasks(tasks.add, range(3), shared=1, threads=True)) == [1, 2, 3]
    assert [made._client for made in coordinators] == [client]


def test_tasks_are_taken_when_there_is_room_for_them():
    taken = []
    numbers = (taken.append(i) or i for i in count())
    found = map_tasks(tasks.add, numbers, shared=1, n_jobs=2, ordered=False)
    assert {next(found), next(found)} < {1, 2, 3, 4, 5, 6}
    found.close()
    assert len(taken) <= 2 + 2 * 2


def test_an_exception_is_that_of_the_task():
    with pytest.raises(ValueError, match="0 is wrong") as caught:
        list(map_tasks(tasks.fail, range(3), n_jobs=2))
    assert caught.value.__notes__ == ["as expected"]
    assert "in fail" in str(caught.value.__cause__)


def test_warnings_are_repeated_here():
    with pytest.warns(RuntimeWarning, match="doubtful") as caught:
        assert list(map_tasks(tasks.complain, range(3), n_jobs=2)) == [0, 1, 2]
    assert {str(each.message) for each in caught} == {f"{i} is doubtful" for i in range(3)}
    assert {each.filename for each in caught} == {tasks.__file__}


def test_warnings_that_are_errors_here_are_errors_there():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="0 is doubtful"):
            list(map_tasks(tasks.complain, range(3), n_jobs=2))
        warnings.simplefilter("ignore")
        assert list(map_tasks(tasks.complain, range(3), n_jobs=2)) == [0, 1, 2]


def test_a_call_takes_the_filters_of_warnings_along():
    """Worker processes have their own; those of these tests share the filters of this one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        packed = _remote_task.pack_call(tasks.complain, 0)
        warnings.simplefilter("ignore")
        outcome = pickle.loads(_remote_task.run_call(packed, _remote_task.versions(), None))
    assert isinstance(outcome.error, RuntimeWarning)


def test_large_tasks_are_sent_without_remarks(coordinators):
    large = np.zeros(2**21)
    (found,) = map_tasks(tasks.add, [large], shared=1, n_jobs=2)
    np.testing.assert_array_equal(found, large + 1)
    assert coordinators[0].bytes_sent > large.nbytes


def test_functions_defined_anywhere_are_found():
    assert list(map_tasks(lambda task, shared: task * shared, range(3), shared=2, n_jobs=2)) == [
        0,
        2,
        4,
    ]
    (function,) = map_tasks(tasks.make_function, [1], shared=2, n_jobs=2)
    assert function() == 3


def test_a_result_that_cannot_travel_is_an_exception():
    with pytest.raises(TypeError, match="generator"):
        list(map_tasks(tasks.make_unpicklable, range(2), n_jobs=2))


def test_a_task_has_one_thread_and_no_workers_of_its_own():
    found = list(map_tasks(tasks.nested, [5], shared=0, n_jobs=2))
    assert found == [(1, 1, [5, 6, 7])]


def test_threads_that_are_not_used_are_mentioned():
    with (
        _local_cluster(1, threads=2) as cluster,
        distributed.Client(cluster),
        pytest.warns(UserWarning, match="with --nthreads 1"),
    ):
        assert list(map_tasks(tasks.add, range(3), shared=1, n_jobs=2)) == [1, 2, 3]


def test_a_worker_of_another_version_is_named(monkeypatch):
    wrong = {**_remote_task.versions(), "scikit-learn": "0.1"}
    monkeypatch.setattr(_cluster, "versions", lambda: wrong)
    with pytest.raises(ClusterError, match=r"has scikit-learn .* instead of 0\.1\."):
        list(map_tasks(tasks.add, range(3), shared=1, n_jobs=2))


def test_no_workers_is_one_sentence_after_a_while():
    with (
        dask.config.set({"polychotomy.patience": "2 s"}),
        _local_cluster(0) as empty,
        distributed.Client(empty),
        pytest.raises(ClusterError, match="has had no worker ready for"),
    ):
        list(map_tasks(tasks.add, range(3), shared=1, n_jobs=2))


def test_a_client_that_is_closed_is_not_used(coordinators):
    with _local_cluster(0) as empty:
        distributed.Client(empty).close()
    assert list(map_tasks(tasks.add, range(3), shared=1, n_jobs=2)) == [1, 2, 3]


def test_a_client_that_is_closed_meanwhile_is_one_sentence():
    with _local_cluster(1) as cluster, distributed.Client(cluster) as other:
        running = map_tasks(tasks.wait, [0.02] * 200, n_jobs=2)
        next(running)
        other.close()
        with pytest.raises(ClusterError, match="is gone"):
            list(running)


@pytest.mark.slow
def test_nothing_is_left_on_the_cluster_after_a_worker_was_lost():
    shared = (0.2, np.ones(3))
    with _local_cluster(2) as cluster, distributed.Client(cluster) as other:
        running = map_tasks(tasks.wait_and_add, range(20), shared=shared, n_jobs=2)
        next(running)
        cluster.sync(cluster.workers[0].close)
        assert [each.tolist() for each in running] == [[i + 1.0] * 3 for i in range(1, 20)]
        deadline = time.monotonic() + 30
        while (left := [*cluster.scheduler.tasks, *other.futures]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not left


def test_a_worker_that_comes_between_two_questions_is_known(monkeypatch):
    answers = {"ncores": {"a": 1}, "ncores_running": {"a": 1, "b": 1}}
    monkeypatch.setattr(
        _cluster_watch, "ask_scheduler", lambda _, question, **__: answers[question]
    )
    watch = _cluster_watch.ClusterWatch(None)
    watch.look()
    assert set(watch.ready) <= watch.known


def test_patience_begins_when_the_last_worker_is_gone(monkeypatch):
    ready, now = {"a": 1}, [0.0]
    monkeypatch.setattr(_cluster_watch, "monotonic", lambda: now[0])
    monkeypatch.setattr(
        _cluster_watch,
        "ask_scheduler",
        lambda _, question, **__: None if question == "identity" else dict(ready),
    )
    client = SimpleNamespace(scheduler=SimpleNamespace(address="tcp://x:1"))
    watch = _cluster_watch.ClusterWatch(client)
    with dask.config.set({"polychotomy.patience": "30 s"}):
        for now[0] in (10.0, 100.0):
            watch.look()
        ready.clear()
        now[0] = 125.0
        watch.look()
        assert watch.ready == []
        now[0] = 131.0
        with pytest.raises(ClusterError, match="tcp://x:1 has had no worker ready for 30 s"):
            watch.look()


def test_a_backend_that_is_stopped_does_not_wait_for_its_batches():
    backend = _cluster_backend.ClusterBackend(None, None, None, ())
    backend._threads, release = ThreadPoolExecutor(1), Event()
    running, later = (backend._threads.submit(release.wait, 5) for _ in range(2))
    while not running.running():
        time.sleep(0.01)
    backend.terminate()
    assert not running.done()
    assert later.cancelled()
    release.set()


def test_a_task_that_only_waits_on_a_lost_worker_is_not_blamed():
    watch = _cluster_watch.ClusterWatch(None)
    runs, waits, follows = (_cluster_watch.Placed() for _ in range(3))
    watch.place(runs, "a")
    watch.place(waits, "a")
    assert (runs.began, waits.began) == (True, False)
    watch.remove(runs, is_done=False)  # lost with the worker
    assert not waits.began
    watch.remove(waits, is_done=False)
    for task in (runs, follows):
        watch.place(task, "b")
    watch.remove(runs, is_done=True)
    assert follows.began


@pytest.mark.parametrize("address", ["nonsense://x:1", "localhost", "tcp://localhost"])
def test_an_address_of_another_form_is_refused(address):
    with pytest.raises(ClusterError, match=r"must be such as tcp://HOST:8786"), connected(address):
        pass


def test_an_address_without_a_scheduler_is_one_sentence(monkeypatch):
    monkeypatch.setattr("polychotomy.parallel._client._CONNECT", 0.5)
    with (
        pytest.raises(ClusterError, match="No Dask scheduler answered"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass


def test_a_scheduler_is_used_while_it_is_connected(client, coordinators):
    with connected(client.cluster.scheduler_address):
        assert list(map_tasks(tasks.add, range(3), shared=1, n_jobs=-1)) == [1, 2, 3]
    assert coordinators[0]._client is not client


def test_a_scheduler_that_is_connected_is_that_of_this_thread_only(client):
    with connected(client.cluster.scheduler_address), ThreadPoolExecutor(1) as elsewhere:
        assert distributed.Client.current() is not client
        assert elsewhere.submit(distributed.Client.current).result() is client
    assert distributed.Client.current() is client


def test_a_greedy_search_is_the_same_on_a_cluster(iris, coordinators):
    def search(n_jobs):
        model = CodeClassifier(LogisticRegression(), probability=None)
        return GreedySearchCV(model, cv=3, rounds=1, patience=1, n_jobs=n_jobs).fit(*iris)

    here, there = search(None), search(2)
    assert coordinators
    assert here.best_params_ == there.best_params_
    for name in ("split0_test_score", "split1_test_score", "split2_test_score"):
        np.testing.assert_array_equal(here.cv_results_[name], there.cv_results_[name])
