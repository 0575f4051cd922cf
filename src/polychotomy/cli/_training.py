"""From a file of samples to a trained model."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.cli._model_files import Model
from polychotomy.errors import DataError
from polychotomy.lab import make_base

_FOLDS = 5
_PROBLEM_FOLDS = 3
_NOT_TUNED = ("reduction", "decoder", "probability")


def train_model(
    samples: Any, *, base: str, reduction: str, tune: bool, seed: int, jobs: int, verbose: bool
) -> Model:
    """Return the trained model of a data set, with what there is to know about it.

    Where the data set has a fixed split, the training part alone is used and the error on the test
    part is told. Numbers are standardised and nominal columns made indicators, once for all
    training samples; then the reduction is chosen.
    """
    from sklearn.pipeline import make_pipeline

    from polychotomy.datasets import make_preprocessor

    rows = np.arange(len(samples.target)) if samples.train is None else samples.train
    frame, y = samples.data.iloc[rows], samples.target[rows]
    _check_counts(y)
    preprocessor = make_preprocessor(frame)
    X = np.asarray(preprocessor.fit_transform(frame), dtype=float)
    classifier, facts = _trained(
        X, y, make_base(base), reduction, tune=tune, seed=seed, jobs=jobs, verbose=verbose
    )
    used = {name for _, _, columns in preprocessor.transformers for name in columns}
    features = [name for name in frame.columns if name in used]
    facts |= {
        "data": samples.name,
        "base": base,
        "samples": len(y),
        "features": len(features),
        "classes": [str(label) for label in classifier.classes_],
        "problems": len(classifier.problems_),
        "problem_errors": _problem_errors(classifier, X, y),
    }
    pipeline = make_pipeline(preprocessor, classifier)
    if samples.test is not None:
        held_out = samples.data.iloc[samples.test], samples.target[samples.test]
        facts["test_error"] = 1 - float(pipeline.score(*held_out))
    nominal = [name for name in samples.nominal if name in features]
    return Model(pipeline, features, nominal, facts)


def _check_counts(y: NDArray[Any]) -> None:
    labels, counts = np.unique(y.astype(str), return_counts=True)
    if len(labels) < 2:
        raise DataError("The training part must have two classes or more, and has one.")
    if counts.max() < _FOLDS:
        raise DataError(
            f"At least one class must have {_FOLDS} samples or more; the largest, "
            f"{labels[counts.argmax()]!r}, has {counts.max()}."
        )


def _trained(
    X: Any,
    y: Any,
    base: Any,
    reduction: str,
    *,
    tune: bool,
    seed: int,
    jobs: int,
    verbose: bool,
) -> tuple[Any, dict[str, Any]]:
    """Return the classifier, and how it was chosen."""
    from polychotomy.choose import ReductionSearchCV

    search = ReductionSearchCV(
        base,
        "standard" if reduction == "auto" else [reduction],
        cv=_FOLDS,
        tune="greedy" if tune else None,
        n_jobs=jobs,
        random_state=seed,
        verbose=int(verbose),
    )
    with warnings.catch_warnings():
        # Told by other words, once.
        warnings.filterwarnings("ignore", message="The least populated class")
        warnings.filterwarnings("ignore", message="Calibration by")
        search.fit(X, y)
    table = search.cv_results_
    facts = {
        "reduction": search.best_reduction_,
        "explanation": search.explanation_,
        "error": 1 - search.best_score_,
        "tuned": {k: float(v) for k, v in search.best_params_.items() if k not in _NOT_TUNED},
        "compared": [
            {"reduction": label, "error": 1 - float(score), "cost": float(cost)}
            for label, score, cost in zip(
                table["label"], table["mean_test_score"], table["cost"], strict=True
            )
        ],
        "skipped": search.skipped_,
    }
    return search.best_estimator_, facts


def _problem_errors(classifier: Any, X: Any, y: Any) -> list[float | None]:
    """Return how often each problem is wrong about samples that it has not seen.

    The problems of the trained classifier are trained once more on each of three folds.
    """
    from sklearn.base import clone

    from polychotomy.assess import binary_errors
    from polychotomy.calibration import folds

    again = clone(classifier).set_params(probability=None)
    if getattr(again, "decoder", None) == "probability":
        again.set_params(decoder="auto")
    if hasattr(classifier, "structure_"):
        ddag = classifier.structure == "ddag"
        again.set_params(structure="ddag" if ddag else classifier.structure_, solve="auto")
    elif hasattr(classifier, "code"):
        again.set_params(code=classifier.code_)
    code = classifier._plan.code if hasattr(classifier, "structure_") else classifier.code_
    indices = np.searchsorted(classifier.classes_, y)
    outputs = np.full((len(y), code.n_problems), np.nan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Calibration by")
        for train, test in folds(_PROBLEM_FOLDS, X, indices, classifier.classes_):
            outputs[test] = again.fit(X[train], y[train]).binary_outputs(X[test])
    seen = np.isfinite(outputs).all(axis=1)
    errors = binary_errors(outputs[seen], indices[seen], code, classes=None).problem_errors
    return [None if np.isnan(error) else float(error) for error in errors]
