"""The tasks of a search in memory, and what becomes of them."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from polychotomy.arrays import Indices
from polychotomy.evaluate._bench import compute
from polychotomy.evaluate._cell import Cell, Failure
from polychotomy.evaluate._contestant import Contestant, scales_within
from polychotomy.evaluate._preparation import Preparation, suitable_preparation
from polychotomy.evaluate._samples import Samples
from polychotomy.evaluate._task import Scoring, Task, Tuner
from polychotomy.reductions import Candidate, Reading, Reduction, is_baseline, scales_of


@dataclass(frozen=True, eq=False)
class SearchTasks:
    """What a search evaluates: candidates × folds.

    Attributes
    ----------
    base : classifier
        The binary learner.
    candidates : sequence of Candidate
    samples : Samples
        With features of any kind.
    folds : sequence of tuple
        Row numbers of training and test parts.
    seed : int
    preparation : "standard" or None
        As the search was asked for.
    tuner : Tuner or None
    scoring : Scoring
    fit_params : mapping
    error_score : "raise" or float
        What stands for the score of what fails.
    """

    base: Any
    candidates: Sequence[Candidate]
    samples: Samples
    folds: Sequence[tuple[Indices, Indices]]
    seed: int
    preparation: str | None
    tuner: Tuner | None
    scoring: Scoring
    fit_params: Mapping[str, Any]
    error_score: Any

    @cached_property
    def methods(self) -> dict[str, tuple[Contestant, dict[str, Any]]]:
        """The rows of the search by name: what is trained, and what it is in words."""
        found: dict[str, tuple[Contestant, dict[str, Any]]] = {}
        for number, candidate in enumerate(self.candidates):
            for reading in candidate.readings:
                label, n = reading.label, 1
                while label in found:
                    n += 1
                    label = f"{reading.label} [{n}]"
                params = {
                    "reduction": candidate.name,
                    "decoder": reading.decoder,
                    "probability": reading.probability,
                }
                found[label] = self._contestant(candidate, reading, label, number), params
        return found

    def units(self) -> list[list[Task]]:
        """Return the tasks, fold by fold; raise at once if the samples cannot be prepared."""
        units = [
            [self.task(label, fold) for label in self.methods] for fold in range(len(self.folds))
        ]
        if any(task.preparation == "standard" for task in units[0]):
            Preparation().fit(self.samples.data)
        return units

    def finished(self, outcomes: Iterable[Cell | Failure]) -> dict[tuple[str, int], Cell]:
        """Return the cells by row and fold, and warn of what has failed.

        What failed is missing or, if it gets a score, a cell without predictions. Raises ValueError
        if nothing but baselines is complete.
        """
        cells, reasons = {}, {}
        for outcome in outcomes:
            place = outcome.reduction, outcome.fold
            if isinstance(outcome, Cell):
                cells[place] = outcome
                continue
            reasons[f"{outcome.kind}: {outcome.reason}"] = outcome
            warnings.warn(
                f"{outcome.reduction!r} failed on a fold, and its score there is "
                f"{self.error_score}. {outcome.kind}: {outcome.reason}",
                FitFailedWarning,
                stacklevel=2,
            )
            if not np.isnan(self.error_score):
                cells[place] = self._failed_cell(outcome)
        complete = (
            label
            for label in self.methods
            if all((label, fold) in cells for fold in range(len(self.folds)))
        )
        if reasons and all(map(is_baseline, complete)):
            raise ValueError(f"Every reduction failed on some fold. {' '.join(reasons)[:1000]}")
        return cells

    def task(self, label: str, fold: int) -> Task:
        """Return the task of a row and a fold."""
        method, _ = self.methods[label]
        train, test = self.folds[fold]
        how = suitable_preparation(self.preparation, self.samples.data, method.classifier)
        settings = {
            "n_folds": len(self.folds),
            "n_train": len(train),
            "preparation": how,
            "tuning": "none" if self.tuner is None else "greedy",
        }
        return Task(
            self.samples.name,
            method,
            fold,
            self.seed,
            settings,
            train,
            test,
            f"{fold} {label}",
            self.tuner,
            self.scoring,
            self.fit_params,
        )

    def _contestant(
        self, candidate: Candidate, reading: Reading, label: str, number: int
    ) -> Contestant:
        named = reading.decoder is not None
        scales = scales_within(Reduction(candidate.name), scales_of(self.base)) if named else None
        return Contestant(
            label,
            type(self.base).__name__,
            candidate.made(reading),
            scales,
            cost=candidate.cost,
            group=number,
        )

    def _failed_cell(self, failure: Failure) -> Cell:
        train, test = self.folds[failure.fold]
        truth = self.samples.y[test]
        return Cell(
            failure.data_set,
            failure.reduction,
            failure.base,
            failure.fold,
            self.seed,
            {"n_train": len(train)},
            self.samples.classes,
            test,
            truth,
            np.full(len(truth), -1),
            None,
            {"score": float(self.error_score), "error": 1.0},
            0,
            0.0,
            0.0,
            {},
            {},
            failure.key,
        )


def compute_fold(tasks: Sequence[Task], shared: tuple[Samples, bool]) -> list[Cell | Failure]:
    """Return the outcomes of a fold; methods share the problems they have in common."""
    samples, raising = shared
    return list(compute(tasks, samples, raising=raising, sharing=True))
