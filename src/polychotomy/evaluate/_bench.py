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
from threadpoolctl import threadpool_limits

from polychotomy.arrays import Array, Indices
from polychotomy.assess import brier_score, log_loss, uncertainty_coefficient
from polychotomy.classifiers import Cost, cost_of, remember_outputs
from polychotomy.evaluate._cell import Cell, Failure
from polychotomy.evaluate._contestant import Contestant, trained_for
from polychotomy.evaluate._naming import current_versions, digest
from polychotomy.evaluate._preparation import make_preparation
from polychotomy.evaluate._samples import Samples
from polychotomy.evaluate._shared_training import shared_rows, shared_training, trains_jointly
from polychotomy.evaluate._task import Task

_LONGEST_REASON = 300


def compute(
    tasks: Sequence[Task], samples: Samples, *, raising: bool = False, sharing: bool = False
) -> Iterator[Cell | Failure]:
    """Compute the cells of one fold, or say why that fails.

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
    bench = Bench(tasks, samples)
    with bench.sharing() if sharing else nullcontext():
        yield from (_outcome(bench, task, raising) for task in tasks)


def _outcome(bench: "Bench", task: Task, raising: bool) -> Cell | Failure:
    named = task.scoring is None  # else it lives in memory, and warnings go to the user
    try:
        with _caught_warnings() if named else nullcontext([]) as caught, threadpool_limits(1):
            if named:
                _warm_up(task.method)
                caught.clear()
            cell = bench.measure(task)
    except Exception as error:
        if raising:
            raise
        reason = " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
        place = task.data_set, task.reduction, task.base, task.fold
        return Failure(*place, reason, task.key, type(error).__name__)
    said = sorted({" ".join(str(w.message).split())[:_LONGEST_REASON] for w in caught})
    return replace(cell, chosen={**cell.chosen, "warnings": said}) if said else cell


def _caught_warnings() -> Any:
    return warnings.catch_warnings(record=True, action="always")


class Bench:
    """What the tasks of a fold have in common: prepared samples, tuned parameters, models."""

    def __init__(self, tasks: Sequence[Task], samples: Samples) -> None:
        self._samples, self._tasks = samples, tasks
        self._made: dict[Any, tuple[Any, Exception | None, list[warnings.WarningMessage]]] = {}

    def measure(self, task: Task) -> Cell:
        """Return the cell of a task."""
        samples = self._samples
        _, X_test = self.parts(task)
        tuned = self._tuned(task)
        classifier, fit_seconds = self._trained(task, tuned)
        start = process_time()
        answers = classifier.predict(X_test)
        predict_seconds = process_time() - start
        truth, predicted = samples.y[task.test], _indices(answers, samples, task)
        cost = _cost(task.method, classifier, X_test)
        probabilities, metrics = self._metrics(task, classifier, X_test, truth, predicted)
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
            metrics=metrics,
            n_problems=1 if cost is None else round(cost.problems),
            fit_seconds=fit_seconds,
            predict_seconds=predict_seconds,
            chosen=_chosen(task, tuned, classifier),
            versions=current_versions(),
            key=task.key,
            cost=cost,
        )

    def sharing(self) -> AbstractContextManager[None]:
        """Let the tasks share problems and kernel rows; tuned tasks share no rows."""
        first = self._tasks[0]
        learners = [getattr(c, "estimator", c) for c in (t.method.classifier for t in self._tasks)]
        alike = len({task.preparation for task in self._tasks}) == 1
        X, y = None, None
        if alike and all(task.tuner is None for task in self._tasks):
            with suppress(Exception):  # each task will fail by it, and say so
                X, y = self.parts(first)[0], self._samples.y[first.train]
        return shared_training(X, y, learners)

    def parts(self, task: Task) -> tuple[Any, Any]:
        """Return the features of the training and of the test part."""
        found: tuple[Any, Any] = self._once(
            ("parts", task.preparation), partial(self._prepare, task)
        )
        return found

    def _metrics(
        self, task: Task, classifier: Any, X_test: Any, truth: Indices, predicted: Indices
    ) -> tuple[Array | None, dict[str, float]]:
        """Return probabilities and metrics; of tasks in memory, the score and the error."""
        if task.scoring is not None:
            y_test = self._samples.targets[task.test]
            everything = self._samples.data
            score = task.scoring.score(classifier, X_test, y_test, everything, task.test)
            return None, {"score": score, "error": float(np.mean(truth != predicted))}
        p = _probabilities(classifier, X_test, len(self._samples.classes))
        measure = task.method.measure
        further = {} if measure is None else measure(classifier, X_test, truth)
        return p, {**_all_metrics(truth, predicted, p), **further}

    def _tuned(self, task: Task) -> dict[str, Any]:
        """Return the parameters that cross-validate best within the training part."""
        if task.tuner is None or not task.method.is_tuned:
            return {}
        place = "tuned", task.preparation, task.method.tuning
        tuned: dict[str, Any] = self._once(place, partial(self._tune, task))
        return tuned

    def _trained(self, task: Task, tuned: Mapping[str, Any]) -> tuple[Any, float]:
        """Return a trained classifier and the CPU seconds that took."""
        training = task.method.training
        alike = [each.method for each in self._tasks if each.method.training == training]
        if len(alike) == 1:
            return self._train(task, task.method.classifier, tuned)
        place = "trained", task.preparation, training
        make = partial(self._train, task, trained_for(alike), tuned)
        model, seconds = self._once(place, make)
        return task.method.read(model), seconds

    def _once(self, name: Any, make: Callable[[], Any]) -> Any:
        """Compute once, and replay warnings and errors for later callers."""
        if name not in self._made:
            made, failed = None, None
            with _caught_warnings() as caught:
                try:
                    made = make()
                except Exception as error:
                    failed = error
            self._made[name] = made, failed, caught
        found, failed, said = self._made[name]
        for warning in said:
            warnings.warn(warning.message, warning.category, stacklevel=2)
        if failed is not None:
            raise failed
        return found

    def _prepare(self, task: Task) -> tuple[Any, Any]:
        from sklearn.utils.metaestimators import _safe_split

        X, y, classifier = self._samples.data, self._samples.y, task.method.classifier
        X_train, _ = _safe_split(classifier, X, y, task.train)
        X_test, _ = _safe_split(classifier, X, y, task.test, task.train)
        prepare = make_preparation(task.preparation)
        if prepare is None:
            return X_train, X_test
        return prepare.fit_transform(X_train), prepare.transform(X_test)

    def _train(self, task: Task, classifier: Any, tuned: Mapping[str, Any]) -> tuple[Any, float]:
        from sklearn.base import clone

        model = clone(classifier).set_params(**tuned)
        X, y, params = self._training(task)
        # Alone or beside others, kernel rows are laid out alike: not a bit may depend on it.
        with shared_rows(X, y) if trains_jointly(model) else nullcontext():
            start = process_time()
            model.fit(X, y, **params)
            seconds = process_time() - start
        if task.scoring is not None:  # all readings of it are scored on the test part
            model = remember_outputs(model, self.parts(task)[1])
        return model, seconds

    def _tune(self, task: Task) -> dict[str, Any]:
        assert task.tuner is not None
        X, y, params = self._training(task)
        search = task.tuner.make_search(task.method, task.seed)
        return dict(search.fit(X, y, **params).best_params_)

    def _training(self, task: Task) -> tuple[Any, NDArray[Any], dict[str, Any]]:
        """Return features, labels and further arguments of the training part."""
        from sklearn.utils.validation import _check_method_params

        X, _ = self.parts(task)
        y = (self._samples.y if task.scoring is None else self._samples.targets)[task.train]
        params = _check_method_params(self._samples.data, task.fit_params, indices=task.train)
        return X, y, params


def _indices(answers: NDArray[Any], samples: Samples, task: Task) -> Indices:
    """Return predictions as indices of classes."""
    if task.scoring is None or samples.labels is None:  # they are indices
        return answers
    found: Indices = np.searchsorted(samples.labels, answers)
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


def _all_metrics(truth: Indices, predicted: Indices, p: Array | None) -> dict[str, float]:
    metrics = {
        "error": float(np.mean(truth != predicted)),
        "uncertainty_coefficient": uncertainty_coefficient(truth, predicted),
    }
    if p is not None:
        metrics |= {"log_loss": log_loss(truth, p), "brier": brier_score(truth, p)}
    return metrics


def _chosen(task: Task, tuned: dict[str, Any], classifier: Any) -> dict[str, Any]:
    """Return what was tuned, and what the classifier chose by itself."""
    if task.scoring is not None:
        return {"tuned": tuned}
    return {**tuned, **_settled(classifier)}


def _settled(classifier: Any) -> dict[str, Any]:
    """Return what the classifier chose by itself, where "auto" left it open."""
    names = ("decoder_", "probability_", "calibration_", "solve_")
    found = {name.rstrip("_"): getattr(classifier, name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


_WARM: set[str] = set()


def _warm_up(method: Contestant) -> None:
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
