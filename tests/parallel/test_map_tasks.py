import errno
import os
import signal
import subprocess
import sys
import time
from itertools import count

import numpy as np
import pytest
from joblib import parallel_config

from polychotomy.parallel import _joblib_workers, map_tasks


def add(task, shared):
    return task + shared


def wait(task, shared):
    time.sleep(task)
    return task


def total(task, shared):
    return float(shared["X"].sum()), isinstance(shared["X"], np.memmap), task


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
@pytest.mark.parametrize("threads", [False, True])
def test_results_come_in_the_order_of_the_tasks(n_jobs, threads):
    found = map_tasks(add, range(5), shared=10, n_jobs=n_jobs, threads=threads)
    assert list(found) == [10, 11, 12, 13, 14]


@pytest.mark.parametrize("backend", ["threading", "sequential"])
def test_the_configured_backend_is_used(backend):
    with parallel_config(backend=backend, n_jobs=2):
        assert list(map_tasks(add, range(3), shared=1)) == [1, 2, 3]


def test_results_may_come_as_soon_as_they_are_there():
    found = list(map_tasks(wait, [1.5, 0.0], n_jobs=2, ordered=False))
    assert sorted(found) == [0.0, 1.5]


def wait_for(task, file):
    """Wait for a file, at most 30 seconds, if that is the task; say whether it is there."""
    end = time.monotonic() + 30
    while task == "wait" and not file.exists() and time.monotonic() < end:
        time.sleep(0.05)
    return task, file.exists()


def test_a_task_that_takes_long_does_not_keep_the_others_back(tmp_path):
    file = tmp_path / "seen"
    found = map_tasks(wait_for, ["wait", "go on"], shared=file, n_jobs=2, ordered=False)
    assert next(found) == ("go on", False)
    file.touch()
    assert list(found) == [("wait", True)]


def test_one_worker_takes_tasks_one_by_one():
    found = map_tasks(add, count(), shared=1)
    assert [next(found), next(found)] == [1, 2]


def is_it(task, shared):
    return task is shared


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_worker_gets_the_data_themselves(n_jobs):
    shared = {"X": np.ones((50, 3))}
    assert list(map_tasks(is_it, [shared], shared=shared, n_jobs=n_jobs, on_disk=True)) == [True]


def test_stopping_early_says_nothing():
    found = map_tasks(wait, [0.0] * 50, n_jobs=2)
    assert next(found) == 0.0
    found.close()  # a warning would be an error


def test_workers_share_data_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shared = {"X": np.ones((50, 3))}
    found = list(map_tasks(total, range(3), shared=shared, n_jobs=2, on_disk=True))
    assert found == [(150.0, True, task) for task in range(3)]
    assert list(tmp_path.iterdir()) == []


def test_a_full_temporary_folder_is_named(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_joblib_workers.joblib, "dump", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(OSError, match="No space left") as caught:
        list(map_tasks(add, range(3), shared=1, n_jobs=2, on_disk=True))
    assert caught.value.filename.startswith(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="there are no signal masks")
def test_workers_start_deaf_to_interrupts():
    ask = "import signal as s; print(*sorted(map(int, s.pthread_sigmask(s.SIG_BLOCK, []))))"
    command = [sys.executable, "-c", ask]
    with _joblib_workers._signals_held_back():
        blocked = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert blocked.split() == [str(int(s)) for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"\n"


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="there are no signal masks")
def test_workers_ignore_interrupts_and_end_with_their_parent(tmp_path):
    """The first task says what its worker ignores, and the second takes long."""
    script = (
        "from polychotomy.parallel import map_tasks\n"
        "from tests.parallel.tasks import deaf\n"
        "options = {'shared': 1, 'n_jobs': 2, 'ordered': False, 'on_disk': True}\n"
        "for each in map_tasks(deaf, [0, 90], **options):\n"
        "    print(each, flush=True)\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout.readline() == "True\n"
        assert [path.name for path in tmp_path.glob("polychotomy-*/*")] == ["shared.joblib"]
        parent.kill()
        end = time.monotonic() + 30
        while list(tmp_path.glob("polychotomy-*")) and time.monotonic() < end:
            time.sleep(0.1)
    assert list(tmp_path.glob("polychotomy-*")) == []  # the workers remove what they used


def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers cannot be killed from within")
def test_a_killed_worker_is_one_sentence():
    with pytest.raises(ChildProcessError, match="A worker process was killed"):
        list(map_tasks(kill, range(3), n_jobs=2))
