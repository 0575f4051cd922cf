"""Functions that the tests run on workers, in a module that workers can import."""

import os
import signal
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_info

from polychotomy.kernel import count_threads
from polychotomy.parallel import map_tasks


def add(task, shared):
    return task + shared


def add_nothing(task, shared):
    return task


def whereabouts(task, shared):
    return os.getpid()


def whereabouts_slowly(task, shared):
    time.sleep(shared)
    return os.getpid()


def wait(task, shared):
    time.sleep(task)
    return task


def deaf(task, shared):
    """Say whether this process was started deaf to SIGHUP and ignores Ctrl-C."""
    time.sleep(task)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return signal.SIGHUP in blocked and signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def wait_and_add(task, shared):
    time.sleep(shared[0])
    return task + shared[1]


def fail(task, shared):
    error = ValueError(f"{task} is wrong")
    error.add_note("as expected")
    raise error


def complain(task, shared):
    warnings.warn(f"{task} is doubtful", RuntimeWarning, stacklevel=1)
    return task


def make_function(task, shared):
    return lambda: task + shared


def make_unpicklable(task, shared):
    return (i for i in range(3))


def nested(task, shared):
    """Return the number of workers and BLAS threads in a task, and whether inner tasks run."""
    blas = max((pool["num_threads"] for pool in threadpool_info()), default=1)
    inner = list(map_tasks(add, range(3), shared=task, n_jobs=2))
    return count_threads(4), blas, inner


def total(task, shared):
    return float(shared.sum()) + task


def fill_memory(task, shared):
    """Take the memory that worker `task` does not have; other tasks are modest."""
    if task == shared:
        kept = np.ones(2**29)  # 4 GB
        time.sleep(10)
        return float(kept[-1])
    return task


class Counted:
    """Data that count in a file how often they are unpacked, by which process."""

    def __init__(self, values, file):
        self.values, self.file = values, file

    def __setstate__(self, state):
        self.__dict__.update(state)
        with open(self.file, "a") as log:
            log.write(f"{os.getpid()}\n")


def use_counted(task, shared):
    time.sleep(0.05)
    return float(shared.values[task])
