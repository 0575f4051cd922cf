"""From a file that does not fit in memory to a trained model: one pass, block by block."""

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from polychotomy.assess import binary_errors
from polychotomy.cli._fitted_model import confusions, flat_code
from polychotomy.cli._model_files import Model
from polychotomy.datasets import used_columns
from polychotomy.evaluate import Preparation
from polychotomy.linear import SharedLinear
from polychotomy.reductions import Reduction, make_base

_MOST_PAIRED = 50  # classes up to which all pairs are trained
_HELD_OUT, _MOST_HELD_OUT = 200, 20_000  # of each class, and in all
_COPIES = 4  # of a block: as it is read, as features, prepared, and a part of it


def _stochastic(loss: str) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss=loss, average=True)


STREAMED: dict[str, Callable[[], Any]] = {
    "logistic": partial(_stochastic, "log_loss"),
    "linear_svm": partial(_stochastic, "hinge"),
    "ridge": SharedLinear,
}
"""Learners by name that learn block by block, as others of these names learn at once."""


def streamed_classifier(
    base: str, reduction: str, n_classes: int, *, class_order: list[str] | None, seed: int
) -> tuple[Any, str]:
    """Return an untrained classifier that learns block by block, and the name of its reduction.

    Raises ValueError if the learner or the reduction needs all samples at once.
    """
    learner = STREAMED[base]() if base in STREAMED else make_base(base)
    names = ", ".join(STREAMED)
    if not hasattr(learner, "partial_fit"):
        raise ValueError(
            f"--stream needs a learner that learns block by block: {names}, or any class with "
            f"partial_fit as package.Class. Got {base}."
        )
    if reduction == "auto":
        reduction = "one_vs_one" if n_classes <= _MOST_PAIRED else "one_vs_rest"
    method = Reduction.of(reduction)
    try:
        made = method.make(learner, random_state=seed, class_order=class_order)
        made.set_params(reservoir=max(n_classes, min(_HELD_OUT * n_classes, _MOST_HELD_OUT)))
    except ValueError:
        made = None
    if not hasattr(made, "partial_fit"):
        raise ValueError(
            "--stream needs a code, a balanced tree or a DDAG as --reduction: others need all "
            f"samples at once. Got {reduction}."
        )
    return made, str(method)


def expected_bytes(stream: Any, classifier: Any, n_prepared: int) -> int:
    """Return about how much memory the training takes, besides the libraries."""
    k = len(stream.classes)
    block = _COPIES * max(stream.block_bytes, 8 * stream.size * n_prepared)
    held_out = 2 * 8 * classifier.reservoir * (n_prepared + k * (k - 1) // 2)
    moments = 0
    if isinstance(classifier.estimator, SharedLinear):
        moments = 3 * 8 * k * n_prepared**2
    return int(block + held_out + moments)


def train_stream(
    stream: Any,
    data: str,
    *,
    base: str,
    reduction: str,
    class_order: list[str] | None,
    seed: int,
    say: Callable[[str], None],
    show: Callable[[int], None],
) -> Model:
    """Return the model of a stream, trained in one pass.

    The preparation is learnt from the stream's sample. Some samples of each class are held out:
    the probabilities are calibrated on them, and the error is measured on them.

    Parameters
    ----------
    stream : Stream
        As :func:`polychotomy.datasets.stream` returns it.
    data : str
        The name of the file.
    base, reduction, class_order, seed
        As the options of ``polychotomy fit``.
    say : callable
        Prints a line.
    show : callable
        Called with the number of rows that were learnt, after each block.
    """
    started = process_time()
    classifier, method = streamed_classifier(
        base, reduction, len(stream.classes), class_order=class_order, seed=seed
    )
    columns = used_columns(stream.sample)
    preparation = Preparation().fit(stream.sample[columns])
    n_prepared = preparation.transform(stream.sample[columns].head(1)).shape[1]
    say(
        f"{stream.n_samples} samples of {len(stream.classes)} classes, {len(columns)} features "
        f"(prepared: {n_prepared}), in blocks of up to {stream.size}; about "
        f"{expected_bytes(stream, classifier, n_prepared) / 1e6:.0f} MB of memory."
    )
    done = 0
    for X, y in stream:
        classifier.partial_fit(preparation.transform(X[columns]), y, classes=stream.classes)
        done += len(y)
        show(done)
    return _model(stream, data, base, method, preparation, classifier, columns, started)


def _model(
    stream: Any,
    data: str,
    base: str,
    method: str,
    preparation: Any,
    classifier: Any,
    columns: list[str],
    started: float,
) -> Model:
    """Return the trained model with what the held-out samples say of it."""
    from sklearn.pipeline import Pipeline

    trained = process_time()
    held_out = classifier.held_out_
    if not len(held_out.target):
        raise ValueError(
            "--stream holds out a tenth of the samples, and there are too few: train without it."
        )
    truth = np.searchsorted(classifier.classes_, held_out.target)
    predicted = np.searchsorted(classifier.classes_, classifier.predict(held_out.data))
    wrong = truth != predicted
    names = [str(label) for label in classifier.classes_]
    outputs = classifier.binary_outputs(held_out.data)
    errors = binary_errors(outputs, truth, flat_code(classifier)).problem_errors
    facts = {
        "explanation": f"{method} ({base}): trained in one pass, without a comparison.",
        "error": float(np.average(wrong, weights=held_out.weight)),
        "compared": [],
        "failures": {},
        "reduction": method,
        "base": base,
        "tested": len(truth),
        "wrong": int(wrong.sum()),
        "confused": confusions(truth, predicted, names),
        "fit_seconds": trained - started,
        "predict_seconds": process_time() - trained,
        "questions": None,
        "tuned": {},
        "folds": 0,
        "not_tried": "",
        "skipped": {},
        "data": data,
        "target": stream.target,
        "class_order": None,
        "majority_error": 1 - float(stream.counts.max() / stream.counts.sum()),
        "samples": stream.n_samples,
        "features": len(columns),
        "prepared_features": int(held_out.data.shape[1]),
        "classes": names,
        "problems": len(classifier.problems_),
        "problem_errors": [None if np.isnan(error) else float(error) for error in errors],
    }
    pipeline = Pipeline([("preparation", preparation), ("classifier", classifier)])
    nominal = [name for name in stream.nominal if name in columns]
    return Model(pipeline, columns, nominal, facts, stream.reading)
