"""``map_tasks`` on a Dask cluster of processes that are killed."""

import logging
import signal
import time
from collections import Counter
from itertools import count

import dask
import numpy as np
import pytest
from distributed import Client
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from polychotomy import CodeClassifier, ReductionSearchCV, SingleBinaryClassifier, datasets
from polychotomy.errors import ClusterError
from polychotomy.evaluate import Samples, Schedule, Store
from polychotomy.parallel import _cluster, map_tasks
from tests.parallel import tasks
from tests.parallel.dask_processes import Killer, started

pytestmark = pytest.mark.slow
LIMIT = 1800  # seconds for a test, on a machine that is busy
PAUSES = 1, 6  # seconds until the next worker is killed


@pytest.fixture(autouse=True)
def few_words():
    """Let the client say nothing of what it loses."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)


@pytest.fixture(autouse=True)
def limited_time():
    """End a test that hangs."""

    def end(*_):
        raise TimeoutError(f"The test has not ended after {LIMIT} s.")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def patient():
    """Give workers time to start on a machine that is busy."""
    with dask.config.set({"polychotomy.patience": "10m"}):
        yield


@pytest.fixture
def farm(tmp_path):
    """Three workers, and the client that is active."""
    with started(tmp_path, 3) as processes, Client(processes.address, timeout=60) as client:
        client.wait_for_workers(3, timeout=120)
        yield processes


def test_each_worker_gets_the_data_once(farm, tmp_path):
    shared = tasks.Counted(np.arange(100.0), str(tmp_path / "unpacked"))
    assert list(map_tasks(tasks.use_counted, range(60), shared=shared, n_jobs=3)) == [*range(60)]
    unpacked = Counter((tmp_path / "unpacked").read_text().split())
    assert set(unpacked) <= {str(worker.pid) for worker in farm.workers}
    assert set(unpacked.values()) == {1}


def test_results_may_come_as_soon_as_they_are_there(farm):
    list(map_tasks(tasks.wait, [0.1] * 20, n_jobs=3))  # all workers have imported what they need
    found = list(map_tasks(tasks.wait, [3.0, 0.0, 0.0], n_jobs=3, ordered=False))
    assert found == [0.0, 0.0, 3.0]


def test_tasks_of_killed_workers_are_run_again(farm):
    with Killer(farm, PAUSES) as killer:
        while killer.kills < 8:
            found = list(map_tasks(tasks.wait_and_add, range(40), shared=(0.2, 1), n_jobs=3))
            assert found == list(range(1, 41))


def test_data_are_sent_again_when_every_copy_is_lost(farm):
    running = map_tasks(tasks.wait_and_add, range(20), shared=(0.3, 1), n_jobs=3)
    assert next(running) == 1
    for _ in range(3):
        farm.kill_worker()
    farm.add_worker()
    assert list(running) == list(range(2, 21))


def test_a_worker_that_comes_later_takes_part(tmp_path):
    with started(tmp_path, 1) as farm, Client(farm.address, timeout=60):
        running = map_tasks(tasks.whereabouts_slowly, count(), shared=0.1, n_jobs=2)
        first = next(running)
        farm.add_worker()
        assert next(pid for pid in running if pid != first) == farm.workers[1].pid
        running.close()


def test_a_task_that_needs_too_much_memory_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(_cluster, "MOST_LOSSES", 0)
    with started(tmp_path, 2, memory_limit="600 MB") as farm, Client(farm.address, timeout=60):
        running = map_tasks(tasks.fill_memory, range(6), shared=4, n_jobs=2, ordered=False)
        with pytest.raises(ClusterError, match="needs more memory than workers have"):
            list(running)


@pytest.mark.parametrize("shared", [None, 1])
def test_a_cluster_without_workers_is_one_sentence(farm, shared):
    with dask.config.set({"polychotomy.patience": "6 s"}):
        running = map_tasks(tasks.wait, [0.5] * 20, shared=shared, n_jobs=3)
        next(running)
        for _ in range(3):
            farm.kill_worker()
        start = time.monotonic()
        with pytest.raises(ClusterError, match="has had no worker ready for 6 s"):
            list(running)
    assert time.monotonic() - start < 180


def test_a_lost_scheduler_is_one_sentence(tmp_path):
    with started(tmp_path, 2) as farm, Client(farm.address, timeout=5):
        running = map_tasks(tasks.wait, [0.5] * 20, n_jobs=2)
        next(running)
        farm.kill_scheduler()
        start = time.monotonic()
        with pytest.raises(ClusterError, match="is gone"):
            list(running)
        assert time.monotonic() - start < 180


def test_a_scheduler_that_does_not_answer_is_one_sentence(farm):
    with dask.config.set({"polychotomy.patience": "6 s"}):
        running = map_tasks(tasks.wait, [0.5] * 20, n_jobs=3)
        next(running)
        farm.scheduler.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(ClusterError, match="has not answered for 6 s"):
                list(running)
        finally:
            farm.scheduler.send_signal(signal.SIGCONT)


def _fit(kind, X, y, n_jobs):
    if kind == "plain":
        base, options = DecisionTreeClassifier(random_state=0), {"probability": None}
    else:
        base, options = LogisticRegression(max_iter=1000), {"probability": "auto"}
    if kind == "replicas":
        base = DecisionTreeClassifier(random_state=0)
        return SingleBinaryClassifier(base, n_jobs=n_jobs, random_state=0).fit(X, y)
    return CodeClassifier(base, "one_vs_one", n_jobs=n_jobs, random_state=0, **options).fit(X, y)


@pytest.mark.parametrize("kind", ["plain", "calibrated", "replicas"])
def test_a_fit_is_the_same_bits_while_workers_are_killed(kind, farm, digits):
    X, y = digits
    here = _fit(kind, X, y, None)
    with parallel_config(backend="loky"):
        beside = _fit(kind, X, y, 2)
    np.testing.assert_array_equal(here.decision_function(X), beside.decision_function(X))
    with Killer(farm, PAUSES) as killer:
        while killer.kills < 4:
            there = _fit(kind, X, y, 2)
            np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))
            if kind != "plain":
                np.testing.assert_array_equal(here.predict_proba(X), there.predict_proba(X))


def _cells(schedule, **options):
    cells, failures = schedule.run(**options)
    assert not failures
    return {cell.key: (cell.predicted.tolist(), cell.metrics, cell.chosen) for cell in cells}


def _schedule():
    iris, wine = (Samples.of(datasets.load(name)) for name in ("iris", "wine"))
    methods = ["one_vs_rest", "one_vs_one", "bch"]
    return Schedule([iris, wine], methods, ["logistic"], protocol="cv5")


def test_a_comparison_is_the_same_while_workers_are_killed(farm, tmp_path):
    expected = _cells(_schedule())
    with parallel_config(backend="loky"):
        assert _cells(_schedule(), n_jobs=2) == expected
    with Killer(farm, PAUSES) as killer:
        n = 0
        while killer.kills < 5:
            with Store(tmp_path / f"{n}.sqlite") as store:
                assert _cells(_schedule(), store=store, n_jobs=2) == expected
            n += 1


def test_a_run_whose_cluster_is_lost_is_resumed_here(tmp_path):
    schedule = _schedule()
    path = tmp_path / "cells.sqlite"
    with started(tmp_path, 2) as farm, Client(farm.address, timeout=5):

        def stop(progress):
            if progress.last is not None and progress.done == 6:
                farm.kill_scheduler()

        with Store(path) as store, pytest.raises(ClusterError, match="is gone") as caught:
            schedule.run(store, n_jobs=2, progress=stop)
    assert caught.value.__notes__ == [
        "Cells that are in a store are not computed again, here or elsewhere."
    ]
    with Store(path) as store:
        kept = len(store)
        assert 6 <= kept < len(schedule.tasks)
        assert _cells(schedule, store=store) == _cells(_schedule())


def test_a_search_is_the_same_on_every_path(farm, iris):
    def search(n_jobs):
        rows = ["one_vs_rest", "one_vs_one"]
        base = LogisticRegression(max_iter=1000)
        return ReductionSearchCV(base, rows, random_state=0, n_jobs=n_jobs).fit(*iris)

    here, there = search(None), search(2)
    with parallel_config(backend="loky"):
        beside = search(2)
    for name in (name for name in here.cv_results_ if "score" in name and "time" not in name):
        np.testing.assert_array_equal(here.cv_results_[name], there.cv_results_[name])
        np.testing.assert_array_equal(here.cv_results_[name], beside.cv_results_[name])
    assert here.best_reduction_ == there.best_reduction_ == beside.best_reduction_
