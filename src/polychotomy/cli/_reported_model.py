"""The model that a report shows: the recommended method, trained on all samples."""

from ast import literal_eval
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.cli._running import tell
from polychotomy.lab import Cell, Plan, Samples, summarise


def recommended_cell(cells: Sequence[Cell]) -> Cell:
    """Return the first cell of the method that the comparison recommends."""
    advised = summarise(cells).recommended
    return next(c for c in cells if advised in (c.reduction, f"{c.reduction} ({c.base})"))


def train_recommended(
    plan: Plan, cells: Sequence[Cell], data_sets: Sequence[Samples], jobs: int
) -> Any:
    """Return the recommended method, trained on all samples of the first data set that has it.

    It is tuned as the cells were, and the user is told what takes so long. None, with the reason
    told, if it cannot be trained: a report can do without.
    """
    cell = recommended_cell(cells)
    task = next(t for t in plan.tasks if t.key == cell.key)
    samples = next(s for s in data_sets if s.name == cell.data_set)
    method, n = f"{cell.reduction} ({cell.base})", len(samples.y)
    tell(f"Training {method} on all {n} samples of {samples.name} for the report …")
    start = perf_counter()
    try:
        model = _trained(task, samples, jobs)
    except Exception as error:  # whatever a learner may raise
        tell(f"The report shows no trained model: {' '.join(str(error).split())}")
        return None
    tell(f"That took {perf_counter() - start:.1f} s.")
    return model


def _trained(task: Any, samples: Samples, jobs: int) -> Any:
    from sklearn.base import clone

    from polychotomy.datasets import make_preprocessor

    X = make_preprocessor(samples.data).fit_transform(samples.data)
    labels = _labels(samples.classes)[samples.y]
    classifier = clone(task.method.classifier).set_params(n_jobs=jobs)
    if task.settings["tuning"] != "none":
        classifier.set_params(**task.make_search(jobs).fit(X, labels).best_params_)
    return classifier.fit(X, labels)


def _labels(classes: Sequence[str]) -> NDArray[Any]:
    """Return the names of classes in a form that is sorted as they are: numbers, as numbers.

    A classifier sorts its labels, and a code gives its rows to them in this order.

    Examples
    --------
    >>> from polychotomy.cli._reported_model import _labels
    >>> _labels(("1", "2", "10"))
    array([ 1,  2, 10])
    """
    names = np.array(classes)
    in_order = bool((names[:-1] < names[1:]).all())
    return names if in_order else np.array([literal_eval(name) for name in classes])
