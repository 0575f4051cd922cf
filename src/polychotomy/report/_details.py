"""The errors of the chosen method, and the quality of its probabilities."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.assess import reject_curve, reliability
from polychotomy.evaluate import Cell
from polychotomy.report._questions import Counts, Questions, confusion, shorten

_MOST_CLASSES = 40
_MOST_PAIRS = 10
_CURVE_POINTS = 200
_CHOICES = {
    "decoder": "From binary outputs to a class by",
    "probability": "From binary to class probabilities by",
    "calibration": "Calibration of binary outputs",
    "solve": "Reading of the tree",
}


def confused_pairs(
    counts: Counts, classes: Sequence[str], questions: Questions | None
) -> list[dict[str, Any]]:
    """Return the most frequent confusions, and how many problems are to part the two classes."""
    off = counts - np.diag(np.diag(counts))
    order = np.argsort(-off, axis=None, kind="stable")[:_MOST_PAIRS]
    pairs = []
    for i, j in zip(*np.unravel_index(order, off.shape), strict=True):
        if not off[i, j]:
            break
        pair = {
            "truth": classes[i],
            "predicted": classes[j],
            "count": int(off[i, j]),
            "share": off[i, j] / off.sum(),
        }
        if questions is not None:
            parting = np.flatnonzero(questions.sides[i] * questions.sides[j] < 0)
            pair["problems"] = len(parting)
            pair["problem"] = questions.words[parting[0]] if len(parting) == 1 else None
        pairs.append(pair)
    return pairs


def details(cells: Sequence[Cell], questions: Questions | None) -> dict[str, Any]:
    """Return what the page shows about a method on a data set, in a form for JSON."""
    counts, classes = confusion(cells), cells[0].classes
    wrong = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts)
    # With many classes, those that are most often confused, in the order of the classes.
    shown = np.sort(np.argsort(-wrong, kind="stable")[:_MOST_CLASSES])
    return {
        "data_set": cells[0].data_set,
        "n_samples": int(counts.sum()),
        "n_wrong": int(counts.sum() - np.trace(counts)),
        "n_classes": len(classes),
        "classes": [classes[c] for c in shown],
        "totals": counts.sum(axis=1)[shown].tolist(),
        "precision": _shares(np.diag(counts), counts.sum(axis=0))[shown].tolist(),
        "recall": _shares(np.diag(counts), counts.sum(axis=1))[shown].tolist(),
        "confusion": counts[np.ix_(shown, shown)].tolist(),
        "pairs": confused_pairs(counts, classes, questions),
        **_of_probabilities(cells),
    }


def _shares(part: Counts, whole: Counts) -> NDArray[np.object_]:
    """Return part / whole, None where the whole is nothing."""
    shares = [float(p / w) if w else None for p, w in zip(part, whole, strict=True)]
    return np.array(shares, dtype=object)


def _of_probabilities(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the calibration and the reject curve, None if some cell has no probabilities."""
    given = [cell.probabilities for cell in cells]
    if any(p is None for p in given):
        return {"calibration": None, "reject": None}
    p = np.concatenate([np.asarray(each, dtype=float) for each in given])
    p /= p.sum(axis=1, keepdims=True)  # they are stored in single precision
    truth = np.concatenate([cell.truth for cell in cells])
    right, confidence = p.argmax(axis=1) == truth, np.clip(p.max(axis=1), 0, 1)
    curve = reject_curve(truth, p)
    bins = reliability(right.astype(int), np.column_stack([1 - confidence, confidence]))[1]
    # Seen from the side of accepting all, at evenly spaced coverages.
    wanted = np.linspace(1, curve.coverage[0], _CURVE_POINTS)
    points = np.unique(np.searchsorted(curve.coverage, wanted - 1e-12))[::-1]
    return {
        "calibration": {
            "predicted": bins.predicted.tolist(),
            "observed": bins.observed.tolist(),
            "counts": bins.counts.tolist(),
            "error": bins.error,
        },
        "reject": {
            "threshold": curve.threshold[points].tolist(),
            "coverage": curve.coverage[points].tolist(),
            "error": curve.error[points].tolist(),
        },
    }


def chosen_values(cells: Sequence[Cell]) -> Mapping[str, str]:
    """Return what was settled in training, all different values of each in one text."""
    found: dict[str, dict[str, None]] = {}
    for cell in cells:
        for name, value in cell.chosen.items():
            if name == "warnings":
                continue
            said = f"{value:.4g}" if isinstance(value, float) else str(value)
            found.setdefault(str(name), {})[shorten(said.replace("_", " "))] = None
    return {
        _CHOICES.get(name) or f"Tuned: {name.rpartition('__')[2]}": ", ".join(list(v)[:5])
        + (" …" if len(v) > 5 else "")
        for name, v in found.items()
    }


def warning_sentences(cells: Sequence[Cell]) -> list[str]:
    """Return what libraries warned of in training, each sentence once."""
    return list(dict.fromkeys(said for cell in cells for said in cell.chosen.get("warnings", ())))
