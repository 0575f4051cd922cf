"""Task → Cell: prepare, tune, train, predict, measure."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params
from threadpoolctl import threadpool_limits

from polychotomy.arrays import Array, Indices
from polychotomy.assess import brier_score, log_loss, uncertainty_coefficient
from polychotomy.classifiers import Cost, cost_of, remember_outputs
from polychotomy.evaluate._cell import Cell, Failure
from polychotomy.evaluate._contestant import Contestant, trained_for
from polychotomy.evaluate._last_preparation import prepared_once
from polychotomy.evaluate._naming import current_versions, digest
from polychotomy.evaluate._preparation import needs_dense
from polychotomy.evaluate._samples import Samples
from polychotomy.evaluate._shared_training import shared_rows, trains_jointly
from polychotomy.evaluate._task import Task
from polychotomy.training import shared_problems

_LONGEST_REASON = 300


def compute(
    tasks: Sequence[Task], samples: Samples, *, raising: bool = False, sharing: bool = False
) -> Iterator[Cell | Failure]:
    """Compute the cells of one fold, or the reason why that fails.

    Preparation and tuning see the training part only. The same task gives the same cell, except
    times, whatever was computed before: it runs on one thread, and no solver begins with a solution
    of another task.

    Parameters
    ----------
    tasks : sequence of Task
        Of one fold: what is prepared, tuned or trained for the first serves the others.
    samples : Samples
        Their data set.
    raising : bool, default=False
        Whether to raise what goes wrong instead of yielding a :class:`Failure`.
    sharing : bool, default=False
        Whether different methods share the binary problems and kernel rows that they have in
        common. That changes no result, but the times: they do not count what was there already.
    """
    folds = sorted({(task.seed, task.fold) for task in tasks})
    if len(folds) > 1:
        said = ", ".join(f"{fold} (seed {seed})" for seed, fold in folds)
        raise ValueError(f"The 'tasks' parameter must hold tasks of one fold. Got folds {said}.")
    bench = Bench(tasks, samples)
    with bench.sharing() if sharing else nullcontext():
        yield from (_outcome(bench, task, raising) for task in tasks)


def _outcome(bench: "Bench", task: Task, raising: bool) -> Cell | Failure:
    named = task.scorer is None  # else it lives in memory, and warnings go to the user
    try:
        with _caught_warnings() if named else nullcontext([]) as caught, threadpool_limits(1):
            if named:
                warm_up(task.method)
                caught.clear()
            cell = bench.measure(task)
    except Exception as error:
        if raising:
            raise
        place = task.data_set, task.reduction, task.base, task.fold
        kind = type(error).__name__
        return Failure(*place, _one_line(error) or kind, task.key, kind)
    said = sorted({_one_line(warning.message) for warning in caught})
    return replace(cell, chosen={**cell.chosen, "warnings": said}) if said else cell


def _one_line(message: object) -> str:
    return " ".join(str(message).split())[:_LONGEST_REASON]


def _caught_warnings() -> Any:
    return warnings.catch_warnings(record=True, action="always")


class Bench:
    """What the tasks of a fold share: prepared samples, tuned parameters, models."""

    def __init__(self, tasks: Sequence[Task], samples: Samples) -> None:
        self._samples, self._tasks = samples, tasks
        self._made: dict[Any, tuple[Any, Exception | None, list[warnings.WarningMessage]]] = {}

    def measure(self, task: Task) -> Cell:
        """Return the cell of a task."""
        samples = self._samples
        _, X_test = self._parts(task)
        tuned = self._once(("tuned", task.method.tuning), task, self._tune) if task.tuner else {}
        classifier, fit_seconds = self._trained(task, tuned)
        start = process_time()
        answers = classifier.predict(X_test)
        predict_seconds = process_time() - start
        truth, cost = samples.y[task.test], _cost(task.method, classifier, X_test)
        if task.scorer is None:
            predicted, chosen = answers, {**tuned, **_settled(classifier)}
            p = _probabilities(classifier, X_test, len(samples.classes))
            metrics = _metrics(truth, predicted, p)
            if task.method.measure is not None:
                metrics |= task.method.measure(classifier, X_test, truth)
        else:
            assert samples.labels is not None
            predicted, chosen = np.searchsorted(samples.labels, answers), {"tuned": tuned}
            p, score = None, self._score(task, classifier, X_test)
            metrics = {"score": score, "error": float(np.mean(truth != predicted))}
        return task.cell(
            samples,
            predicted=predicted,
            probabilities=None if p is None else p.astype(np.float32),
            metrics=metrics,
            n_problems=1 if cost is None else round(cost.problems),
            fit_seconds=fit_seconds,
            predict_seconds=predict_seconds,
            chosen=chosen,
            versions=current_versions(),
            cost=cost,
        )

    def sharing(self) -> AbstractContextManager[None]:
        """Share problems or kernel rows between tasks; tuned tasks share no rows.

        Learners that train all problems at once give solutions that depend, within their
        tolerance, on which problems these are: they share kernel rows only.
        """
        first = self._tasks[0]
        if not any(trains_jointly(task.method.classifier) for task in self._tasks):
            return shared_problems()
        if {(task.tuner, task.preparation) for task in self._tasks} == {(None, first.preparation)}:
            with suppress(Exception):  # each task will fail by it, and say so
                return shared_rows(self._parts(first)[0], self._samples.y[first.train])
        return nullcontext()

    def _parts(self, task: Task) -> tuple[Any, Any]:
        """Return the features of the training and of the test part."""
        found: tuple[Any, Any] = self._once(("parts",), task, self._prepare)
        return found

    def _trained(self, task: Task, tuned: Mapping[str, Any]) -> tuple[Any, float]:
        """Return a trained classifier and the CPU seconds that took."""
        training = task.method.training
        alike = [each.method for each in self._tasks if each.method.training == training]
        if len(alike) == 1:
            return self._train(tuned, alike, task)
        make = partial(self._train, tuned, alike)
        model, seconds = self._once(("trained", training), task, make)
        return task.method.read(model), seconds

    def _once(self, what: tuple[Any, ...], task: Task, make: Callable[[Task], Any]) -> Any:
        """Compute once for tasks prepared alike, and replay warnings and errors for later ones."""
        name = *what, task.preparation, needs_dense(task.method.classifier)
        if name not in self._made:
            made, failed = None, None
            with _caught_warnings() as caught:
                try:
                    made = make(task)
                except Exception as error:
                    failed = error
            self._made[name] = made, failed, caught
        found, failed, said = self._made[name]
        for warning in said:
            warnings.warn(warning.message, warning.category, stacklevel=2)
        if failed is not None:
            raise failed
        return found

    def _prepare(self, task: Task) -> tuple[Any, ...]:
        prepare, rows = task.make_preparation(), task.settings.get("rows")
        if prepare is None:
            return self._split(task)

        def make() -> tuple[Any, Any]:
            X_train, X_test = self._split(task)
            return prepare.fit_transform(X_train), prepare.transform(X_test)

        if rows is None:  # a task in memory, which the others of its fold are computed with
            return make()
        return prepared_once(self._samples, (rows, task.preparation, prepare.dense), make)

    def _split(self, task: Task) -> tuple[Any, Any]:
        """Return the samples of the training and of the test part."""
        X, y, classifier = self._samples.data, self._samples.y, task.method.classifier
        X_train, _ = _safe_split(classifier, X, y, task.train)
        X_test, _ = _safe_split(classifier, X, y, task.test, task.train)
        return X_train, X_test

    def _tune(self, task: Task) -> Mapping[str, Any]:
        found: Mapping[str, Any] = task.tune(*self._training(task))
        return found

    def _train(
        self, tuned: Mapping[str, Any], alike: Sequence[Contestant], task: Task
    ) -> tuple[Any, float]:
        model = trained_for(alike).set_params(**tuned)
        X, y, params = self._training(task)
        # With or without other tasks, kernel rows have one layout, so that no bit depends on it.
        # Tuned methods share none, and train faster on rows laid out for their own problems.
        own = task.tuner is not None and not task.tuner.as_published
        with shared_rows(X, y) if trains_jointly(model) and not own else nullcontext():
            start = process_time()
            model.fit(X, y, **params)
            seconds = process_time() - start
        if task.scorer is not None:  # all readings of it are scored on the test part
            model = remember_outputs(model, self._parts(task)[1])
        return model, seconds

    def _training(self, task: Task) -> tuple[Any, NDArray[Any], dict[str, Any]]:
        """Return features, labels and further arguments of the training part."""
        y = self._samples.y if task.scorer is None else self._samples.targets
        return self._parts(task)[0], y[task.train], self._params(task.fit_params, task.train)

    def _score(self, task: Task, classifier: Any, X_test: Any) -> float:
        assert task.scorer is not None
        params = self._params(task.score_params, task.test)
        return float(task.scorer(classifier, X_test, self._samples.targets[task.test], **params))

    def _params(self, params: Mapping[str, Any], rows: Indices) -> dict[str, Any]:
        """Return arguments, those with a value for each sample for these rows only."""
        found: dict[str, Any] = _check_method_params(self._samples.data, params, indices=rows)
        return found


def _cost(method: Contestant, classifier: Any, X: Any) -> Cost | None:
    """Return what a trained classifier costs, None if that is unknown."""
    cost = method.cost or cost_of(classifier, X)
    return None if np.isnan([cost.problems, cost.questions]).any() else cost


def _probabilities(classifier: Any, X: Any, n_classes: int) -> Array | None:
    """Return a column for every class; 0 for those that were not in the training part."""
    if not hasattr(classifier, "predict_proba"):
        return None
    found = classifier.predict_proba(X)
    p = np.zeros((len(found), n_classes))
    p[:, classifier.classes_] = found
    return p


def _metrics(truth: Indices, predicted: Indices, p: Array | None) -> dict[str, float]:
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


def warm_up(method: Contestant) -> None:
    """Load, once in every process, what is compiled or imported late, so that it is not timed.

    That does not depend on numbers: a draw or a tuned value more needs no further training.
    """
    name = digest(_without_numbers(method.parameters))
    if name in _WARM:
        return
    _WARM.add(name)
    y = np.arange(48) % 4
    X = np.random.default_rng(0).normal(size=(48, 3)) + y[:, np.newaxis]
    with suppress(Exception):  # if it fails there too, the cell will say so
        classifier = clone(method.classifier).fit(X, y)
        classifier.predict(X)
        classifier.predict_proba(X)


def _without_numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_numbers(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_numbers(each) for each in value]
    return "number" if type(value) in (int, float) else value
