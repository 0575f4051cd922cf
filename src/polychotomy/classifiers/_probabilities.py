"""How a classifier gets from the outputs of its problems to class probabilities."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from polychotomy import calibration as calibrations
from polychotomy.calibration import CALIBRATIONS, Calibrator
from polychotomy.classifiers._checks import rows_of
from polychotomy.codes import Code
from polychotomy.learners import BinaryProblems, SeparateModel
from polychotomy.probability import is_one_vs_rest, solve

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class ProbabilityPlan:
    """What is fixed before training.

    `method` may still be "auto", which the held-out outputs then settle. `splits` are the folds
    of the calibration, None if it goes by the training samples or is not needed.
    """

    method: str
    calibration: str
    output_kind: str
    splits: Sequence[tuple[Indices, Indices]] | None


@dataclass(frozen=True)
class ProbabilityModel:
    """Calibrators of the distinct problems, and the method that solves for the classes."""

    method: str
    calibration: str
    output_kind: str
    calibrators: tuple[Calibrator, ...] | None
    sample_counts: Array

    def binary(self, outputs: Array) -> Array:
        """Return the probability of the + side of each distinct problem."""
        if self.calibrators is None:
            return (outputs + 1) / 2
        columns = zip(self.calibrators, _limited(outputs, self.output_kind).T, strict=True)
        return np.column_stack([calibrate(column) for calibrate, column in columns])

    def classes(self, outputs: Array, code: Code, n_jobs: int | None = None) -> Array:
        """Return the class probabilities."""
        q = code.distinct.expand_probabilities(self.binary(outputs))
        counts = self.sample_counts[code.distinct.index]
        return solve(q, code, self.method, sample_counts=counts, n_jobs=n_jobs)


def fit_probabilities(
    plan: ProbabilityPlan,
    model: SeparateModel,
    train: Callable[[Indices], SeparateModel],
    X: Any,
    problems: BinaryProblems,
    code: Code,
    weight: Array,
    pairwise: bool,
) -> ProbabilityModel:
    """Fit the calibrators, on held-out outputs if there are folds.

    Parameters
    ----------
    plan : ProbabilityPlan
    model : SeparateModel
        The problems, trained on all samples.
    train : callable
        Trains the problems on some of the samples.
    X : array, sparse matrix or data frame
    problems : BinaryProblems
    code : Code
    weight : ndarray of shape (n_samples,)
    pairwise : bool
        Whether X is a kernel.
    """
    n_problems = problems.columns.shape[1]
    counts = np.array([max(problems.samples(s).size, 1) for s in range(n_problems)], dtype=float)
    if plan.calibration == "none":
        method = "least_squares" if plan.method == "auto" else plan.method
        return ProbabilityModel(method, "none", plan.output_kind, None, counts)
    outputs = _outputs_for_calibration(plan, model, train, X, len(problems.y), pairwise)
    outputs = _limited(outputs, plan.output_kind)
    fit = CALIBRATIONS[plan.calibration]
    calibrators = []
    for s in range(n_problems):
        samples = problems.samples(s)
        positive = problems.target(s, samples) > 0
        calibrators.append(fit(outputs[samples, s], positive, weight[samples]))
    found = ProbabilityModel(
        "least_squares" if plan.method == "auto" else plan.method,
        plan.calibration,
        plan.output_kind,
        tuple(calibrators),
        counts,
    )
    if plan.method == "auto" and plan.splits is not None and is_one_vs_rest(code):
        return _better_of_two(found, outputs, problems.y, code, weight)
    return found


def _outputs_for_calibration(
    plan: ProbabilityPlan,
    model: SeparateModel,
    train: Callable[[Indices], SeparateModel],
    X: Any,
    n_samples: int,
    pairwise: bool,
) -> Array:
    """Return outputs by models that did not see the sample, or `model` if it was never held out."""
    if plan.splits is None:
        return model.outputs(X, plan.output_kind)
    outputs = np.full((n_samples, len(model.problems)), np.nan)
    for training, test in plan.splits:
        held_out = rows_of(X, test)
        held_out = held_out[:, training] if pairwise else held_out
        outputs[test] = train(training).outputs(held_out, plan.output_kind)
    seen = np.flatnonzero(np.isnan(outputs).any(axis=1))
    if seen.size:
        outputs[seen] = model.outputs(rows_of(X, seen), plan.output_kind)
    return outputs


def _better_of_two(
    found: ProbabilityModel, outputs: Array, y: Indices, code: Code, weight: Array
) -> ProbabilityModel:
    """Return the model with the method of the lower log loss on held-out outputs."""
    candidates = [
        ProbabilityModel(
            method, found.calibration, found.output_kind, found.calibrators, found.sample_counts
        )
        for method in ("normalise", "least_squares")
    ]
    labels = np.arange(code.n_classes)
    losses = [
        log_loss(y, _inside(c.classes(outputs, code)), labels=labels, sample_weight=weight)
        for c in candidates
    ]
    return candidates[int(np.argmin(losses))]


def _inside(p: Array) -> Array:
    """Keep probabilities off 0, where the log loss of one sample decides everything."""
    p = np.maximum(p, 1e-6)
    return p / p.sum(axis=1, keepdims=True)


def _limited(outputs: Array, kind: str) -> Array:
    return calibrations.limit(outputs) if kind == "log_odds" else outputs
