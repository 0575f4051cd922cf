"""From a file of samples to a trained model."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.cli._model_files import Model
from polychotomy.errors import DataError
from polychotomy.evaluate import (
    DEFAULT_FOLDS,
    Cell,
    Failure,
    Preparation,
    Recommendation,
    Samples,
    Schedule,
    recommend,
    train_task,
)
from polychotomy.reductions import make_base, suitable_reductions

_PROBLEM_FOLDS = 3

Run = Callable[[Schedule], tuple[list[Cell], list[Failure], str]]


def train_model(
    bunch: Any,
    *,
    base: str,
    reduction: str,
    tune: bool,
    prefer: str,
    seed: int,
    jobs: int,
    run: Run,
) -> Model:
    """Return the trained model of a data set, with what there is to know about it.

    The reduction is chosen as ``polychotomy compare`` does it, by cross-validation of all samples.
    Where the data set has a fixed split, the model is trained on the training part alone, and its
    error on the test part is among the facts.

    Parameters
    ----------
    bunch : Bunch
        As :func:`polychotomy.datasets.read` returns it.
    base, reduction : str
        The binary learner; the reduction, or "auto".
    tune : bool
        Whether to tune the learner.
    prefer : str
        What is recommended, see :func:`polychotomy.evaluate.recommend`.
    seed, jobs : int
    run : callable
        Computes the cells of a schedule, and says what it did not try.
    """
    samples = Samples.of(bunch)
    _check_counts(samples)
    names = ["standard"] if reduction == "auto" else [reduction]
    tuning = "greedy" if tune else "none"
    schedule = Schedule(samples, names, [base], tuning=tuning, seed=seed)
    cells, failures, not_tried = run(schedule)
    if not cells:
        raise ValueError(failures[0].reason if failures else "No method was tried in time.")
    advice = recommend(cells, prefer=prefer)
    rows = np.arange(len(samples.y)) if samples.train is None else samples.train
    frame, y = samples.data.iloc[rows], samples.targets[rows]
    frame = frame[Preparation().fit(frame).columns_]
    trained = train_task(schedule.task_of(advice.method), frame, y, n_jobs=jobs)
    pipeline, classifier = trained.estimator, trained.classifier
    facts = _facts(advice, failures) | {
        "tuned": {name: float(value) for name, value in trained.tuned.items()},
        "folds": len({cell.fold for cell in cells}),
        "not_tried": not_tried,
        "skipped": suitable_reductions(names, make_base(base))[1],
        "data": samples.name,
        "base": base,
        "samples": len(y),
        "features": frame.shape[1],
        "classes": [str(label) for label in classifier.classes_],
        "problems": len(getattr(classifier, "problems_", [""])),
        "problem_errors": _problem_errors(classifier, pipeline[:-1].transform(frame), y),
    }
    if samples.test is not None:
        held_out = samples.data.iloc[samples.test][list(frame.columns)]
        facts["test_error"] = 1 - float(pipeline.score(held_out, samples.targets[samples.test]))
    nominal = [name for name in bunch.nominal if name in frame.columns]
    return Model(pipeline, list(frame.columns), nominal, facts)


def _facts(advice: Recommendation, failures: list[Failure]) -> dict[str, Any]:
    """Return how the reduction was chosen."""
    told = advice.as_dict()
    return {
        "reduction": advice.method,
        "explanation": advice.words,
        "error": 1 - advice.scores[advice.method],
        "recommendation": told,
        "compared": [
            {"reduction": name, "error": 1 - row["score"], "problems": row["problems"]}
            for name, row in told["methods"].items()
        ],
        "failures": {failure.reduction: failure.reason for failure in failures},
    }


def _check_counts(samples: Samples) -> None:
    counts = np.bincount(samples.y)
    if counts.max() < DEFAULT_FOLDS:
        raise DataError(
            f"At least one class must have {DEFAULT_FOLDS} samples or more; the largest, "
            f"{samples.classes[counts.argmax()]!r}, has {counts.max()}."
        )
    train = samples.y if samples.train is None else samples.y[samples.train]
    if len(np.unique(train)) < 2:
        raise DataError("The training part must have two classes or more, and has one.")


def _problem_errors(classifier: Any, X: Any, y: NDArray[Any]) -> list[float | None]:
    """Return how often each problem is wrong about samples that it has not seen.

    The problems of the trained classifier are trained once more on each of three folds. What is no
    reduction has no problems.
    """
    from sklearn.base import clone

    from polychotomy.assess import binary_errors
    from polychotomy.calibration import folds

    if not hasattr(classifier, "binary_outputs"):
        return []
    again = clone(classifier).set_params(probability=None)
    if getattr(again, "decoder", None) == "probability":
        again.set_params(decoder="auto")
    if hasattr(classifier, "structure_"):
        ddag = classifier.structure == "ddag"
        again.set_params(structure="ddag" if ddag else classifier.structure_, solve="auto")
    elif hasattr(classifier, "code"):
        again.set_params(code=classifier.code_)
    code = _flat_code(classifier)
    indices = np.searchsorted(classifier.classes_, y)
    outputs = np.full((len(y), code.n_problems), np.nan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Calibration by")
        for train, test in folds(_PROBLEM_FOLDS, X, indices, classifier.classes_):
            outputs[test] = again.fit(X[train], y[train]).binary_outputs(X[test])
    seen = np.isfinite(outputs).all(axis=1)
    errors = binary_errors(outputs[seen], indices[seen], code, classes=None).problem_errors
    return [None if np.isnan(error) else float(error) for error in errors]


def _flat_code(classifier: Any) -> Any:
    """Return the sides of all problems, a row for each class."""
    from polychotomy.codes import Code
    from polychotomy.structures import flatten

    if not hasattr(classifier, "structure_"):
        return classifier.code_
    flat = flatten(classifier.structure_)
    assert flat.code is not None
    places = {label: row for row, label in enumerate(flat.classes)}
    return Code(flat.code.matrix[[places[label] for label in classifier.classes_]])
