"""How good the predictions of a model are, by the labels of new samples."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from polychotomy.arrays import Array, Indices
from polychotomy.assess import brier_score, log_loss, reject_curve
from polychotomy.cli._model_files import Model
from polychotomy.cli._new_samples import UNKNOWN, read_new_samples
from polychotomy.errors import DataError
from polychotomy.evaluate import Cell

_COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The predictions of a model, and the true classes.

    Attributes
    ----------
    name : str
        What the file is called.
    classes : tuple of str
    rows, truth, predicted : ndarray of shape (n_samples,)
        Row number, true class and predicted class of the labelled samples; the true class is
        :data:`~polychotomy.cli._new_samples.UNKNOWN` if the model does not know it.
    probabilities : ndarray of shape (n_samples, n_classes) or None
    n_unlabelled : int
        Samples that have no label, and are left out.
    """

    name: str
    classes: tuple[str, ...]
    rows: Indices
    truth: Indices
    predicted: Indices
    probabilities: Array | None
    n_unlabelled: int

    @property
    def error(self) -> float:
        """The share of wrong predictions."""
        return float(np.mean(self.truth != self.predicted))

    @property
    def majority_error(self) -> float:
        """The error of always predicting the class that is the largest here."""
        return 1 - float(self.confusion.sum(axis=1).max()) / len(self.truth)

    @property
    def words(self) -> str:
        """The error in words, with its standard error."""
        n, spread = len(self.truth), sqrt(self.error * (1 - self.error) / len(self.truth))
        wrong = int(np.sum(self.truth != self.predicted))
        return (
            f"{wrong} of {n} predictions are wrong, an error of {100 * self.error:.2f} % "
            f"(± {100 * spread:.2f}). Always the largest class: {100 * self.majority_error:.2f} %."
        )

    @property
    def remarks(self) -> list[str]:
        """What to know about labels that are missing or unknown."""
        said = []
        if self.n_unlabelled:
            said.append(f"Samples without a label were left out: {self.n_unlabelled}.")
        if n_unknown := int(np.sum(~self._known)):
            have = "samples have" if n_unknown > 1 else "sample has"
            said.append(
                f"{n_unknown} {have} a class that the model does not know: wrong, and left out of "
                "the other figures."
            )
        return said

    @property
    def scores(self) -> dict[str, float]:
        """Log loss and Brier score, if there are probabilities."""
        if self.probabilities is None:
            return {}
        truth, p = self.truth[self._known], self.probabilities[self._known]
        return {"log_loss": log_loss(truth, p), "brier": brier_score(truth, p)}

    @property
    def confusion(self) -> Indices:
        """How many samples of each class (row) were given each class (column)."""
        from sklearn.metrics import confusion_matrix

        known, k = self._known, len(self.classes)
        return np.asarray(
            confusion_matrix(self.truth[known], self.predicted[known], labels=np.arange(k))
        )

    @property
    def confused_pairs(self) -> list[tuple[str, str, int]]:
        """True class, predicted class and number of samples, the most frequent first."""
        off = self.confusion - np.diag(np.diag(self.confusion))
        order = np.argsort(-off, axis=None, kind="stable")[: np.count_nonzero(off)]
        places = zip(*np.unravel_index(order, off.shape), strict=True)
        return [(self.classes[i], self.classes[j], int(off[i, j])) for i, j in places]

    @property
    def per_class(self) -> list[dict[str, Any]]:
        """Samples, predictions, precision and recall of each class; None where undefined."""
        counts = self.confusion
        right, samples, predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
        return [
            {
                "class": name,
                "samples": int(samples[i]),
                "predicted": int(predicted[i]),
                "precision": float(right[i] / predicted[i]) if predicted[i] else None,
                "recall": float(right[i] / samples[i]) if samples[i] else None,
            }
            for i, name in enumerate(self.classes)
        ]

    @property
    def reject(self) -> list[dict[str, float]]:
        """The error among accepted samples, and the threshold, at a few coverages."""
        if self.probabilities is None:
            return []
        curve = reject_curve(self.truth[self._known], self.probabilities[self._known])
        places = np.unique(np.searchsorted(curve.coverage, np.array(_COVERAGES) - 1e-12))[::-1]
        return [
            {name: float(getattr(curve, name)[i]) for name in ("threshold", "coverage", "error")}
            for i in places
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "data": self.name,
            "samples": len(self.truth),
            "unlabelled": self.n_unlabelled,
            "unknown_class": int(np.sum(~self._known)),
            "error": self.error,
            "majority_error": self.majority_error,
            **self.scores,
            "classes": self.per_class,
            "confusion": self.confusion.tolist(),
            "reject": self.reject,
        }

    @property
    def _known(self) -> Any:
        return self.truth != UNKNOWN


def _first_class(model: Model) -> str:
    return str(model.pipeline.classes_[model.order[0]])


def evaluate_model(
    model: Model, data: str, target: str | None, encoding: str | None = None
) -> Evaluation:
    """Return how a model does on the labelled samples of a file."""
    new = read_new_samples(model, data, target=target, encoding=encoding)
    if not np.any(new.truth != UNKNOWN):
        wanted = target or model.facts.get("target")
        where = f"in the column {wanted!r}" if wanted else "that the model knows"
        which = f" that are classes of the model, such as {_first_class(model)!r}"
        raise DataError(
            f"{new.name} must have labels {where}{which if wanted and len(new.labelled) else ''}. "
            "Name another column with --target."
        )
    pipeline, frame = model.pipeline, _safe_indexing(new.features, new.labelled)
    order = model.order
    classes = pipeline.classes_[order]
    places = {label: place for place, label in enumerate(classes.tolist())}
    has_probabilities = hasattr(pipeline, "predict_proba")
    return Evaluation(
        new.name,
        tuple(str(label) for label in classes),
        new.labelled,
        np.where(new.truth == UNKNOWN, UNKNOWN, np.argsort(order)[new.truth]),
        np.array([places[label] for label in pipeline.predict(frame).tolist()]),
        pipeline.predict_proba(frame)[:, order] if has_probabilities else None,
        new.features.shape[0] - len(new.labelled),
    )


def evaluation_cell(model: Model, found: Evaluation) -> Cell:
    """Return the samples of known classes in the form that a report shows."""
    known, facts = found.truth != UNKNOWN, model.facts
    p = found.probabilities
    return Cell(
        data_set=found.name,
        reduction=facts["reduction"],
        base=facts["base"],
        fold=0,
        seed=0,
        settings={},
        classes=found.classes,
        rows=found.rows[known],
        truth=found.truth[known],
        predicted=found.predicted[known],
        probabilities=None if p is None else np.asarray(p[known], dtype=np.float32),
        metrics={"error": float(np.mean((found.truth != found.predicted)[known])), **found.scores},
        n_problems=facts["problems"],
        fit_seconds=0.0,
        predict_seconds=0.0,
        key="",
    )
