"""From a file of samples to a trained model."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from polychotomy.cli._model_files import Model
from polychotomy.cli._options import parse_class_order, put_in_order
from polychotomy.datasets import used_columns
from polychotomy.errors import DataError
from polychotomy.evaluate import (
    DEFAULT_FOLDS,
    Cell,
    Contestant,
    Failure,
    Recommendation,
    Samples,
    Schedule,
    Task,
    recommend,
    train_task,
)
from polychotomy.reductions import Reduction, make_base, suitable_reductions

_PROBLEM_FOLDS = 3
_MOST_CONFUSIONS = 50

Run = Callable[[Schedule], tuple[list[Cell], list[Failure], str]]


def train_model(
    bunch: Any,
    *,
    bases: Sequence[str],
    reduction: str,
    tune: bool,
    class_order: str | None,
    prefer: str,
    seed: int,
    jobs: int,
    run: Run,
) -> Model:
    """Return the model trained on a data set, with notes about it.

    The reduction is chosen as ``polychotomy compare`` does it, by cross-validation of all samples.
    One that is given is compared with the learner's own multi-class form.
    Where the data set has a fixed split, the model is trained on the training part alone, and its
    error on the test part is among the facts.

    Parameters
    ----------
    bunch : Bunch
        As :func:`polychotomy.datasets.read` returns it.
    bases : sequence of str
        The binary learners to choose from.
    reduction : str
        The reduction, or "auto".
    tune : bool
        Whether to tune the learner.
    class_order : str or None
        As --class-order.
    prefer : str
        What is recommended, see :func:`polychotomy.evaluate.recommend`.
    seed, jobs : int
    run : callable
        Computes the cells of a schedule, and says what it did not try.
    """
    samples = put_in_order(Samples.of(bunch), class_order)
    _check_counts(samples)
    chosen = None if reduction == "auto" else str(Reduction.of(reduction))
    names = [chosen or "standard"]
    tuning = "greedy" if tune else "none"
    by_data = "data" if class_order == "data" else None
    methods: list[str | Contestant] = [*names]
    if chosen not in (None, "native"):
        methods += _by_themselves(bases, seed)
    schedule = Schedule(samples, methods, bases, tuning=tuning, seed=seed, class_order=by_data)
    cells, failures, not_tried = run(schedule)
    own = [cell for cell in cells if chosen in (None, cell.reduction)]
    if not own:
        reasons = [each.reason for each in failures if chosen in (None, each.reduction)]
        raise ValueError(reasons[0] if reasons else "No method was tried in time.")
    advice = recommend(own, prefer=prefer)
    rows = np.arange(len(samples.y)) if samples.train is None else samples.train
    data, y = _used_columns(samples, rows), samples.targets[rows]
    frame = _safe_indexing(data, rows)
    task = schedule.task_of(advice.method)
    trained = train_task(task, frame, y, n_jobs=jobs)
    pipeline, classifier = trained.estimator, trained.classifier
    prepared = pipeline[:-1].transform(frame)
    facts = (
        _facts(advice, recommend(cells, prefer=prefer), failures, chosen)
        | _held_out(task, cells)
        | {
            "tuned": {name: float(value) for name, value in trained.tuned.items()},
            "folds": len({cell.fold for cell in cells}),
            "not_tried": not_tried,
            "skipped": _skipped(names, bases),
            "data": samples.name,
            "target": bunch.get("target_name"),
            "class_order": parse_class_order(class_order),
            "majority_error": 1 - float(np.bincount(samples.y).max() / len(samples.y)),
            "samples": len(y),
            "features": frame.shape[1],
            "prepared_features": prepared.shape[1],
            "classes": [str(label) for label in classifier.classes_],
            "problems": len(getattr(classifier, "problems_", [""])),
            "problem_errors": _problem_errors(classifier, prepared, y),
        }
    )
    if samples.test is not None:
        held_out = _safe_indexing(data, samples.test)
        facts["test_error"] = 1 - float(pipeline.score(held_out, samples.targets[samples.test]))
    features = list(getattr(frame, "columns", []))
    nominal = [name for name in bunch.nominal if name in features]
    return Model(pipeline, features, nominal, facts, bunch.get("reading", {}))


def _used_columns(samples: Samples, rows: NDArray[Any]) -> Any:
    """Return the samples without columns that are useless in the training part."""
    if issparse(samples.data):
        return samples.data
    return samples.data[used_columns(samples.data.iloc[rows], samples.text)]


def _by_themselves(bases: Sequence[str], seed: int) -> list[Contestant]:
    """Return the learners' own multi-class forms, of those that have one."""
    native, learners = Reduction("native"), {base: make_base(base) for base in bases}
    return [
        Contestant.of(native, learner, base, random_state=seed)
        for base, learner in learners.items()
        if not native.unsuited(learner)
    ]


def _facts(
    advice: Recommendation, of_all: Recommendation, failures: list[Failure], chosen: str | None
) -> dict[str, Any]:
    """Return how the method was chosen, and what it was compared with."""
    asked_for = chosen is not None and len(advice.scores) == 1
    return {
        "explanation": f"{advice.method}: chosen by --reduction." if asked_for else advice.words,
        "error": 1 - advice.scores[advice.method],
        "recommendation": advice.as_dict(),
        "compared": [
            {"reduction": name, "error": 1 - row["score"], "problems": row["problems"]}
            for name, row in of_all.as_dict()["methods"].items()
        ],
        "failures": {failure.reduction: failure.reason for failure in failures},
    }


def _held_out(task: Task, cells: Sequence[Cell]) -> dict[str, Any]:
    """Return what the cross-validation says of the chosen method: cost, and confusions."""
    own = [each for each in cells if (each.reduction, each.base) == (task.reduction, task.base)]
    truth, predicted = (
        np.concatenate([getattr(each, name) for each in own]) for name in ("truth", "predicted")
    )
    return {
        "reduction": task.reduction,
        "base": task.base,
        "tested": len(truth),
        "wrong": int((truth != predicted).sum()),
        "confused": confusions(truth, predicted, own[0].classes),
        "fit_seconds": float(np.median([each.fit_seconds for each in own])),
        "predict_seconds": float(np.median([each.predict_seconds for each in own])),
        "questions": None if own[0].cost is None else own[0].cost.questions,
    }


def confusions(
    truth: NDArray[Any], predicted: NDArray[Any], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return which classes are taken for which and how often, the most frequent first."""
    pairs = np.column_stack([truth, predicted])[truth != predicted]
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MOST_CONFUSIONS]
    return [
        {"truth": names[i], "predicted": names[j], "samples": int(n)}
        for (i, j), n in zip(distinct[order], counts[order], strict=True)
    ]


def _skipped(names: Sequence[str], bases: Sequence[str]) -> dict[str, str]:
    """Return the reductions that no learner suits, with the reason."""
    left_out = [suitable_reductions(names, make_base(base))[1] for base in bases]
    return {name: left_out[0][name] for name in left_out[0] if all(name in e for e in left_out)}


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
        again.set_params(code=classifier.code_, class_order=classifier.classes_.tolist())
    code = flat_code(classifier)
    indices = np.searchsorted(classifier.classes_, np.asarray(y))
    outputs = np.full((len(y), code.n_problems), np.nan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Calibration by")
        for train, test in folds(_PROBLEM_FOLDS, X, indices, classifier.classes_):
            outputs[test] = again.fit(X[train], y[train]).binary_outputs(X[test])
    seen = np.isfinite(outputs).all(axis=1)
    errors = binary_errors(outputs[seen], indices[seen], code, classes=None).problem_errors
    return [None if np.isnan(error) else float(error) for error in errors]


def flat_code(classifier: Any) -> Any:
    """Return the sides of all problems, a row for each class."""
    from polychotomy.codes import Code
    from polychotomy.structures import flatten

    if not hasattr(classifier, "structure_"):
        return classifier.code_
    flat = flatten(classifier.structure_)
    assert flat.code is not None
    places = {label: row for row, label in enumerate(flat.classes)}
    return Code(flat.code.matrix[[places[label] for label in classifier.classes_]])
