"""Estimate of how long a comparison takes."""

from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from polychotomy.evaluate._bench import warm_up
from polychotomy.evaluate._cell_store import Store
from polychotomy.evaluate._samples import draw_by_class
from polychotomy.evaluate._schedule import Schedule
from polychotomy.evaluate._task import Task
from polychotomy.parallel import count_workers

_PROBES = (500, 1000)
_LEAST = 4  # times the larger probe: smaller data sets are done before it is of use
_LEAST_POWER, _LARGEST_POWER = 1.0, 2.0
_TUNING = ((500, 30), (1000, 7), (2000, 7))  # samples and attempts, as seen
_CALIBRATED = 6  # trainings of a classifier with probabilities, where an attempt is one


def expected_seconds(
    schedule: Schedule, store: Store | None = None, *, n_jobs: int | None = None
) -> float | None:
    """Estimate how long a run of a schedule takes, from trainings on 500 and 1000 samples.

    It may be wrong by a factor of two. None for several data sets, for one with fewer than 4000
    training samples, and if there is nothing to do.

    Parameters
    ----------
    schedule : Schedule
    store : Store, optional
        Where finished cells are kept.
    n_jobs : int, optional
        Number of worker processes; with a Dask client, that of its workers counts.
    """
    known = set() if store is None else store.keys()
    missing = [task for task in schedule.tasks if task.key not in known]
    several = len({task.data_set for task in schedule.tasks}) > 1
    if several or not missing or len(missing[0].train) < _LEAST * _PROBES[-1]:
        return None
    alike: dict[Any, list[Task]] = {}
    for task in missing:
        alike.setdefault((task.base, task.method.training), []).append(task)
    seconds = [len({t.fold for t in ts}) * _cell_seconds(schedule, ts[0]) for ts in alike.values()]
    return sum(seconds) / min(count_workers(n_jobs), len(missing))


def _cell_seconds(schedule: Schedule, task: Task) -> float:
    """Return about how long a method takes in a fold."""
    samples = schedule.samples_of(task)
    warm_up(task.method)
    took = []
    for size in _PROBES:
        rng = np.random.default_rng(task.seed)
        rows = draw_by_class(samples.y, task.train, size, rng)
        X, prepare = _safe_indexing(samples.data, rows), task.make_preparation()
        X = X if prepare is None else prepare.fit_transform(X)
        start = perf_counter()
        try:
            clone(task.method.classifier).fit(X, samples.y[rows])
        except ValueError:  # the cells will say so
            return 0.0
        took.append(perf_counter() - start)
    power = np.clip(np.log2(took[1] / took[0]), _LEAST_POWER, _LARGEST_POWER)
    once = took[1] * (len(task.train) / _PROBES[1]) ** power
    if task.tuner is None or task.method.scales == {}:
        return float(once)
    attempts = sum(n * (size / _PROBES[1]) ** power for size, n in _TUNING)
    return float(once + took[1] / _CALIBRATED * attempts)
