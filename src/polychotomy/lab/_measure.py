"""Cells: prepare, tune, train, predict, measure."""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from polychotomy.assess import brier_score, log_loss, uncertainty_coefficient
from polychotomy.choose import GreedySearchCV
from polychotomy.datasets import make_preprocessor
from polychotomy.lab._cells import Cell, current_versions, digest
from polychotomy.lab._methods import Method
from polychotomy.lab._samples import Rows, Samples

PREPARATIONS = ("standard", "all_standard")
_USUAL_TUNING_FOLDS = 5
_LONGEST_REASON = 300


@dataclass(frozen=True, eq=False)
class Task:
    """A cell that is to be computed: all that determines it, but for the samples."""

    data_set: str
    method: Method = field(repr=False)
    fold: int
    seed: int
    settings: Mapping[str, Any]
    train: Rows = field(repr=False)
    test: Rows = field(repr=False)
    key: str

    @property
    def reduction(self) -> str:
        """Its method's reduction."""
        return self.method.reduction

    @property
    def base(self) -> str:
        """Its method's base."""
        return self.method.base

    @property
    def data(self) -> str:
        """The fingerprint of its samples."""
        fingerprint: str = self.settings["data"]
        return fingerprint

    @property
    def group(self) -> tuple[object, ...]:
        """The same for tasks that one training serves, or one search."""
        tuned = self.settings["tuning"] != "none"
        same = (self.settings[name] for name in ("data", "rows", "preparation", "tuning"))
        return self.seed, *same, self.method.tuning if tuned else self.method.training

    def make_search(self, n_jobs: int | None = None) -> GreedySearchCV:
        """Return the search that tunes its method, not yet run, on folds that its seed draws."""
        from sklearn.model_selection import StratifiedKFold

        folds = self.settings["tuning_folds"]
        tuned = self.method.to_tune
        return GreedySearchCV(
            tuned if n_jobs is None else tuned.set_params(n_jobs=n_jobs),
            self.method.scales,
            cv=StratifiedKFold(folds, shuffle=True, random_state=self.seed),
            refit=False,
            error_score="raise",
        )


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed, and why."""

    data_set: str
    reduction: str
    base: str
    fold: int
    reason: str
    key: str


def tuning_folds(tuning: str) -> int:
    """Return the number of folds of "greedyN", 5 of "greedy", and 0 of "none"."""
    found = re.fullmatch(r"greedy(\d{1,3})?", tuning)
    if tuning != "none" and (found is None or int(found[1] or 5) < 2):
        raise ValueError(
            "The 'tuning' parameter must be none, greedy, or greedyN with N folds, at least 2. "
            f"Got {tuning!r} instead."
        )
    return int(found[1] or _USUAL_TUNING_FOLDS) if found else 0


def compute(tasks: Sequence[Task], samples: Samples) -> Iterator[Cell | Failure]:
    """Compute the cells of a group, or tell why that fails.

    Means, deviations and nominal values are those of the training part; so is what is tuned. The
    same task gives the same cell, times apart: it runs on one thread.

    Parameters
    ----------
    tasks : sequence of Task
        Of one :attr:`~Task.group`: what is tuned or trained for the first serves the others.
    samples : Samples
        Their data set.
    """
    bench = _Bench(tasks, samples)
    for task in tasks:
        try:
            with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
                warnings.simplefilter("always")
                _warm_up(task.method)
                caught.clear()
                cell = _measure(task, samples, bench)
        except Exception as error:
            reason = " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
            yield Failure(task.data_set, task.reduction, task.base, task.fold, reason, task.key)
            continue
        said = sorted({" ".join(str(w.message).split())[:_LONGEST_REASON] for w in caught})
        yield replace(cell, chosen={**cell.chosen, "warnings": said}) if said else cell


class _Bench:
    """What the tasks of a group have in common: prepared samples, tuned parameters, models."""

    def __init__(self, tasks: Sequence[Task], samples: Samples) -> None:
        self._samples, self._tasks = samples, tasks
        self._made: dict[str, tuple[Any, list[warnings.WarningMessage]]] = {}

    def parts(self) -> tuple[Any, Any]:
        """Return the features of the training and of the test part."""
        parts: tuple[Any, Any] = self._once("parts", self._prepare)
        return parts

    def tuned(self, task: Task) -> dict[str, Any]:
        """Return the parameters that cross-validate best within the training part."""
        tuned: dict[str, Any] = self._once("tuned", partial(self._tune, task))
        return tuned

    def trained(self, task: Task, tuned: Mapping[str, Any]) -> tuple[Any, float]:
        """Return a trained classifier and the CPU seconds that took."""
        training = task.method.training
        alike = [each.method for each in self._tasks if each.method.training == training]
        if len(alike) == 1:
            return self._train(task.method.classifier, tuned)
        model, seconds = self._once(training, partial(self._train, _that_serves(alike), tuned))
        return task.method.with_rules(model), seconds

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what is made for the first who asks; all of them hear its warnings."""
        if name not in self._made:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                made = make()
            self._made[name] = made, caught
        found, said = self._made[name]
        for warning in said:
            warnings.warn(warning.message, warning.category, stacklevel=2)
        return found

    def _prepare(self) -> tuple[Any, Any]:
        task, frame = self._tasks[0], self._samples.data
        prepare = _make_preparation(frame.iloc[task.train], task.settings["preparation"])
        X = prepare.fit_transform(frame.iloc[task.train])
        return X, prepare.transform(frame.iloc[task.test])

    def _train(self, classifier: Any, tuned: Mapping[str, Any]) -> tuple[Any, float]:
        from sklearn.base import clone

        model = clone(classifier).set_params(**tuned)
        X, _ = self.parts()
        y = self._samples.y[self._tasks[0].train]
        start = process_time()
        model.fit(X, y)
        return model, process_time() - start

    def _tune(self, task: Task) -> dict[str, Any]:
        X, _ = self.parts()
        search = task.make_search().fit(X, self._samples.y[task.train])
        return dict(search.best_params_)


def _that_serves(methods: Sequence[Method]) -> Any:
    """Return the classifier whose rules can be changed to those of any of the methods.

    Its own are rules that suit every code, so that a method with others fails alone.
    """
    from sklearn.base import clone

    classifier = methods[0].classifier
    ways = {each.rules["method"] for each in methods if each.rules is not None}
    if not ways:
        return classifier
    served = clone(classifier).set_params(decoder="auto")
    return served.set_params(probability="auto") if len(ways) > 1 else served


def _make_preparation(frame: Any, preparation: str) -> Any:
    """Return the preprocessor, or that with the indicators standardised as well."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    prepare = make_preprocessor(frame)
    return prepare if preparation == "standard" else make_pipeline(prepare, StandardScaler())


def _measure(task: Task, samples: Samples, bench: _Bench) -> Cell:
    _, X_test = bench.parts()
    truth = samples.y[task.test]
    tuned = bench.tuned(task) if task.settings["tuning"] != "none" else {}
    classifier, fit_seconds = bench.trained(task, tuned)
    start = process_time()
    predicted = classifier.predict(X_test)
    predict_seconds = process_time() - start
    probabilities = _probabilities(classifier, X_test, len(samples.classes))
    measure = task.method.measure
    further = {} if measure is None else measure(classifier, X_test, truth)
    return Cell(
        data_set=task.data_set,
        reduction=task.reduction,
        base=task.base,
        fold=task.fold,
        seed=task.seed,
        settings=task.settings,
        classes=samples.classes,
        rows=task.test,
        truth=truth,
        predicted=predicted,
        probabilities=None if probabilities is None else probabilities.astype(np.float32),
        metrics={**_metrics(truth, predicted, probabilities), **further},
        n_problems=_n_problems(classifier),
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        chosen={**tuned, **_settled(classifier)},
        versions=current_versions(),
        key=task.key,
    )


def _probabilities(classifier: Any, X: Any, n_classes: int) -> NDArray[np.float64] | None:
    """Return a column for every class; 0 for those that were not in the training part."""
    if not hasattr(classifier, "predict_proba"):
        return None
    found = classifier.predict_proba(X)
    p = np.zeros((len(found), n_classes))
    p[:, classifier.classes_] = found
    return p


def _n_problems(classifier: Any) -> int:
    from polychotomy.classifiers import KernelSBCClassifier, SingleBinaryClassifier

    if isinstance(classifier, SingleBinaryClassifier | KernelSBCClassifier):
        return 1
    return len(getattr(classifier, "problems_", [""]))


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


_WARM: set[str] = set()


def _warm_up(method: Method) -> None:
    """Load, once in every process, what is compiled or imported late, so that it is not timed."""
    from sklearn.base import clone

    name = digest(method.parameters)
    if name in _WARM:
        return
    _WARM.add(name)
    y = np.arange(48) % 4
    X = np.random.default_rng(0).normal(size=(48, 3)) + y[:, np.newaxis]
    with suppress(Exception):  # if it fails there too, the cell will say so
        classifier = clone(method.classifier).fit(X, y)
        classifier.predict(X)
        classifier.predict_proba(X)
