"""One cell: prepare, tune, train, predict, measure."""

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from polychotomy.assess import brier_score, log_loss, uncertainty_coefficient
from polychotomy.choose import GreedySearchCV, Reduction
from polychotomy.datasets import make_preprocessor
from polychotomy.lab._bases import base_scales, make_base
from polychotomy.lab._cells import Cell, current_versions
from polychotomy.lab._samples import Rows, Samples

TUNINGS = ("none", "greedy")
TUNING_FOLDS = 5
_LONGEST_REASON = 300


@dataclass(frozen=True, eq=False)
class Task:
    """A cell that is to be computed: all that determines it, but for the samples."""

    data_set: str
    reduction: str
    base: str
    fold: int
    seed: int
    settings: Mapping[str, Any]
    train: Rows = field(repr=False)
    test: Rows = field(repr=False)
    key: str


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed, and why."""

    data_set: str
    reduction: str
    base: str
    fold: int
    reason: str
    key: str


def compute(task: Task, samples: Samples) -> Cell | Failure:
    """Compute a cell, or tell why that fails.

    Means, deviations and nominal values are those of the training part; so is what is tuned. The
    same task gives the same cell, times apart: it runs on one thread.
    """
    try:
        with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
            warnings.simplefilter("always")
            _warm_up(task.reduction, task.base)
            caught.clear()
            cell = _measure(task, samples)
    except Exception as error:
        reason = " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
        return Failure(task.data_set, task.reduction, task.base, task.fold, reason, task.key)
    said = sorted({" ".join(str(warning.message).split())[:_LONGEST_REASON] for warning in caught})
    return replace(cell, chosen={**cell.chosen, "warnings": said}) if said else cell


def make_classifier(reduction: Reduction, base: str, seed: int) -> Any:
    """Return the untrained classifier of a cell."""
    return reduction.make(make_base(base), random_state=seed)


def _measure(task: Task, samples: Samples) -> Cell:
    frame, y = samples.data, samples.y
    prepare = make_preprocessor(frame.iloc[task.train])
    X = prepare.fit_transform(frame.iloc[task.train])
    X_test = prepare.transform(frame.iloc[task.test])
    reduction = Reduction.of(task.reduction)
    classifier = make_classifier(reduction, task.base, task.seed)
    tuned = _tune(reduction, task, X, y[task.train]) if task.settings["tuning"] == "greedy" else {}
    classifier.set_params(**tuned)
    start = process_time()
    classifier.fit(X, y[task.train])
    fit_seconds, start = process_time() - start, process_time()
    predicted = classifier.predict(X_test)
    predict_seconds = process_time() - start
    probabilities = _probabilities(classifier, X_test, len(samples.classes))
    return Cell(
        data_set=task.data_set,
        reduction=task.reduction,
        base=task.base,
        fold=task.fold,
        seed=task.seed,
        settings=task.settings,
        classes=samples.classes,
        rows=task.test,
        truth=y[task.test],
        predicted=predicted,
        probabilities=None if probabilities is None else probabilities.astype(np.float32),
        metrics=_metrics(y[task.test], predicted, probabilities),
        n_problems=len(getattr(classifier, "problems_", [""])),
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        chosen={**tuned, **_settled(classifier)},
        versions=current_versions(),
        key=task.key,
    )


def _tune(reduction: Reduction, task: Task, X: Any, y: Rows) -> dict[str, Any]:
    """Return the parameters that cross-validate best within the training part.

    Nothing is spent on probabilities during the search, unless the decoder goes by them.
    """
    from sklearn.model_selection import StratifiedKFold

    if reduction.decoder != "probability":
        reduction = replace(reduction, probability=None)
    search = GreedySearchCV(
        make_classifier(reduction, task.base, task.seed),
        base_scales(task.base),
        cv=StratifiedKFold(TUNING_FOLDS, shuffle=True, random_state=task.seed),
        refit=False,
        error_score="raise",
    )
    return dict(search.fit(X, y).best_params_)


def _probabilities(classifier: Any, X: Any, n_classes: int) -> NDArray[np.float64] | None:
    """Return a column for every class; 0 for those that were not in the training part."""
    if not hasattr(classifier, "predict_proba"):
        return None
    found = classifier.predict_proba(X)
    p = np.zeros((len(found), n_classes))
    p[:, classifier.classes_] = found
    return p


def _metrics(truth: Rows, predicted: Rows, p: NDArray[np.float64] | None) -> dict[str, float]:
    metrics = {
        "error": float(np.mean(truth != predicted)),
        "uncertainty_coefficient": uncertainty_coefficient(truth, predicted),
    }
    if p is not None:
        metrics |= {"log_loss": log_loss(truth, p), "brier": brier_score(truth, p)}
    return metrics


def _settled(classifier: Any) -> dict[str, Any]:
    """Return what the classifier chose by itself, where "auto" left it open."""
    names = ("decoder_", "probability_", "calibration_", "solve_")
    found = {name.rstrip("_"): getattr(classifier, name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


@cache
def _warm_up(reduction: str, base: str) -> None:
    """Load, once in every process, what is compiled or imported late, so that it is not timed."""
    y = np.arange(48) % 4
    X = np.random.default_rng(0).normal(size=(48, 3)) + y[:, np.newaxis]
    with suppress(Exception):  # if it fails there too, the cell will say so
        classifier = make_classifier(Reduction.of(reduction), base, 0).fit(X, y)
        classifier.predict(X)
        classifier.predict_proba(X)
