"""How training grows beyond one process and one memory.

    POLYCHOTOMY_DATA=… python benchmarks/scaling.py workers [--workers 1 2 4] [--rounds 3]
    python benchmarks/scaling.py streams [--largest 7]

``workers``: a calibrated one-vs-rest of random forests, in this process and on the workers of a
Dask cluster that are processes of this machine. Seconds on the clock (the best of some rounds), CPU
seconds of this process and of all workers, bytes of tasks, outcomes and shared data, and seconds
lost if a worker is killed in the middle. Beyond the workers that are started, seconds are predicted
by a model of CPU seconds, which is printed. Seconds on the clock mean little on a busy machine: its
load is stored with them.

``streams``: training block by block against the number of samples, see ``benchmarks/streams.py``.
"""

import argparse
import json
import logging
import os
import signal
from math import ceil, log2
from pathlib import Path
from threading import Thread
from time import perf_counter, process_time, sleep
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from environment import environment
from polychotomy import CodeClassifier
from polychotomy.datasets import load
from polychotomy.parallel import _cluster, _shared_data
from streams import measure_streams

RESULTS = Path(__file__).parent / "results"
FOLDS = 5
BANDWIDTH = 1.25e8  # bytes per second: one gigabit
MODEL = (
    "seconds(w) = log2(w + 1) × data / bandwidth "
    "+ max(tasks × overhead, ceil(tasks / w) × task_seconds)"
)


def fit(X, y, n_trees, n_jobs):
    """Train 26 problems on all samples and on five folds."""
    forest = RandomForestClassifier(n_trees, random_state=0)
    options = {"probability": "auto", "calibration": "sigmoid", "n_jobs": n_jobs}
    return CodeClassifier(forest, "one_vs_rest", random_state=0, cv=FOLDS, **options).fit(X, y)


def timed(*arguments):
    """Return the seconds of a training on the clock, and CPU seconds of this process."""
    begin, begin_cpu = perf_counter(), process_time()
    fit(*arguments)
    return perf_counter() - begin, process_time() - begin_cpu


def used(client):
    """Return the CPU seconds that all workers have used so far."""
    return sum(client.run(process_time).values())


def noted(cls, made):
    """Return a class that puts what is made of it into a list."""

    class Noted(cls):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    return Noted


def kill_halfway(victim, coordinators, total):
    """Kill a process as soon as half of the bytes of all outcomes have arrived."""
    while not coordinators or coordinators[-1].bytes_received < total / 2:
        sleep(0.01)
    os.kill(victim, signal.SIGKILL)


def on_cluster(data, n_workers, rounds):
    """Return what a training on so many worker processes takes, with and without a kill."""
    import dask
    from cloudpickle import dumps
    from distributed import Client, LocalCluster

    coordinators, shared = [], []
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
        patch.object(_cluster, "Coordinator", noted(_cluster.Coordinator, coordinators)),
        patch.object(_cluster, "SharedData", noted(_shared_data.SharedData, shared)),
        dask.config.set({"polychotomy.patience": "10m"}),  # a busy machine starts workers slowly
    ):
        first = timed(*data, -1)[0]  # workers import what they need
        before = used(client)
        seconds, cpu = min(timed(*data, -1) for _ in range(rounds))
        of_workers = (used(client) - before) / rounds
        work = coordinators[-1]
        size = len(dumps(shared[-1]._value))
        victim = next(iter(client.run(os.getpid).values()))
        coordinators.clear(), shared.clear()
        Thread(target=kill_halfway, args=(victim, coordinators, work.bytes_received)).start()
        killed = timed(*data, -1)[0]
    return {
        "workers": n_workers,
        "load_of_the_machine": os.getloadavg()[0],
        "seconds": seconds,
        "cpu_seconds_here": cpu,
        "cpu_seconds_of_workers": of_workers,
        "first_seconds": first,
        "bytes_of_tasks": work.bytes_sent,
        "bytes_of_outcomes": work.bytes_received,
        "bytes_of_data_per_worker": size,
        "seconds_lost_to_a_kill": killed - seconds,
        "tasks_submitted_again": sum(each.losses for each in coordinators),
        "data_sent_again": sum(each.sends - 1 for each in shared),
    }


def predict(w, *, data, bandwidth, tasks, overhead, task_seconds):
    """Return the seconds that the model predicts for w workers."""
    sending = log2(w + 1) * data / bandwidth
    return sending + max(tasks * overhead, ceil(tasks / w) * task_seconds)


def measure_workers(args):
    """Yield a row for each number of workers, measured or predicted."""
    found = load("letter")
    X, y = found.data.to_numpy(float)[: args.samples], np.asarray(found.target)[: args.samples]
    n_tasks = 26 * (1 + FOLDS)
    data = X, y, args.trees
    timed(*data, None)
    here = min(timed(*data, None) for _ in range(args.rounds))
    yield {
        "workers": 0,
        "load_of_the_machine": os.getloadavg()[0],
        "seconds": here[0],
        "cpu_seconds_here": here[1],
        "tasks": n_tasks,
        "samples": len(X),
        "trees": args.trees,
    }
    rows = []
    for n_workers in args.workers:
        rows.append(on_cluster(data, n_workers, args.rounds))
        yield rows[-1]
    known = {
        "data": rows[0]["bytes_of_data_per_worker"],
        "bandwidth": BANDWIDTH,
        "tasks": n_tasks,
        "overhead": min(row["cpu_seconds_here"] for row in rows) / n_tasks,
        "task_seconds": here[1] / n_tasks,
    }
    yield {"model": MODEL, **known}
    for n_workers in args.predicted:
        yield {"workers": n_workers, "predicted_seconds": predict(n_workers, **known)}


PARTS = {"workers": measure_workers, "streams": measure_streams}


def main():
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--predicted", nargs="+", type=int, default=[1, 2, 4, 8, 16, 64, 256])
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--trees", type=int, default=30, help="of a forest, one for each task")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--largest", type=int, default=7, help="streams: 10 to this many rows")
    args = parser.parse_args()
    rows, out = [], RESULTS / f"scaling-{args.part}.json"
    for row in PARTS[args.part](args):
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
        rows.append(row)
        out.write_text(json.dumps({"environment": environment(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
