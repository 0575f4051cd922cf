"""A Dask scheduler and workers in processes of their own, which tests may kill."""

import json
import os
import random
import subprocess
import sys
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from threading import Event, Thread

from distributed import Client

ROOT = Path(__file__).parents[2]
LIMIT = 120  # seconds that anything may take to start


class DaskProcesses:
    """A scheduler on the loopback interface and `n_workers` workers of one thread each.

    Workers have no nanny, unless there is a memory limit: what is killed stays dead.
    """

    def __init__(self, folder, n_workers, memory_limit="0"):
        self._folder, self._memory_limit, self.workers = Path(folder), memory_limit, []
        self._numbers = count()
        file = self._folder / "scheduler.json"
        self.scheduler = self._start(
            "dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
        )
        self.address = _wait_for(lambda: file.exists() and json.loads(file.read_text() or "{}"))[
            "address"
        ]
        for _ in range(n_workers):
            self.add_worker()

    def add_worker(self):
        """Start a worker, which imports what tasks need before it takes any; return its name."""
        name = f"number-{next(self._numbers)}"
        nanny = "--no-nanny" if self._memory_limit == "0" else "--nanny"
        options = [
            nanny,
            "--host",
            "127.0.0.1",
            "--name",
            name,
            "--nthreads",
            "1",
            "--no-dashboard",
            "--death-timeout",
            str(LIMIT),
            "--preload",
            "polychotomy.evaluate",
        ]
        memory = ["--memory-limit", self._memory_limit]
        worker = self._start("dask_worker", self.address, *options, *memory)
        self.workers.append(worker)
        return name

    def wait_for(self, name):
        """Wait until a worker is ready."""
        with Client(self.address, timeout=LIMIT, set_as_default=False) as client:
            _wait_for(lambda: name in client.run_on_scheduler(_names))

    def kill_worker(self, number=0):
        """End a worker without a word, and forget it."""
        _kill(self.workers.pop(number))

    def kill_scheduler(self):
        _kill(self.scheduler)

    def close(self):
        for process in [*self.workers, self.scheduler]:
            _kill(process)

    def _start(self, program, *arguments):
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        with (self._folder / f"{program}.log").open("a") as log:
            program = f"distributed.cli.{program}"
            return subprocess.Popen(
                [sys.executable, "-m", program, "--host", "127.0.0.1", *arguments],
                env=os.environ | threads | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
                cwd=self._folder,
                stdout=log,
                stderr=log,
            )


def _names(dask_scheduler):
    return {worker.name for worker in dask_scheduler.workers.values()}


class Killer:
    """A thread that kills a worker and starts another one, again and again at random times.

    The pause to the next kill begins when the new worker is ready, however long that takes: on a
    busy machine, workers would else be killed before they can do anything.
    """

    def __init__(self, processes, pauses, seed=0):
        self.kills, self._end = 0, Event()
        self._processes, self._pauses, self._random = processes, pauses, random.Random(seed)
        self._thread = Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _run(self):
        while not self._end.wait(self._random.uniform(*self._pauses)):
            self._processes.kill_worker(self._random.randrange(len(self._processes.workers)))
            name = self._processes.add_worker()
            self.kills += 1
            self._processes.wait_for(name)


def _kill(process):
    process.kill()
    process.wait()


def _wait_for(condition):
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError("The Dask scheduler or a worker did not start.")
        time.sleep(0.05)
    return found


def started(folder, n_workers, **options):
    """Return a context that ends all processes."""
    return closing(DaskProcesses(folder, n_workers, **options))
