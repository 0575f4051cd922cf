"""Samples to predict: their features, their labels, and columns to keep."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from polychotomy import datasets
from polychotomy.arrays import Indices
from polychotomy.cli._disk import advising
from polychotomy.cli._model_files import Model
from polychotomy.errors import DataError

_ADVICE = {
    "encoding": "The option is --encoding.",
    "header": "The file of the training had a header, and this one needs the same.",
}

UNKNOWN = -1
"""The index of a label that is no class of the model."""


@dataclass(frozen=True, eq=False)
class NewSamples:
    """Samples of a file, in the form that a model takes.

    Attributes
    ----------
    name : str
        What the file is called in messages.
    features : DataFrame or sparse array
        The columns that the model uses.
    kept : dict of str to list
        Further columns, as texts.
    labelled : ndarray
        Row numbers of the samples with a label.
    truth : ndarray
        The index of the class of each of these, :data:`UNKNOWN` for none of the model's.
    """

    name: str
    features: Any
    kept: dict[str, list[Any]]
    labelled: Indices
    truth: Indices


def read_new_samples(
    model: Model,
    data: str,
    *,
    keep: Sequence[str] = (),
    target: str | None = None,
    encoding: str | None = None,
) -> NewSamples:
    """Return the samples of a file, of the standard input for "-", or of a known data set.

    The labels are those of the column `target`, by default the one that the model was trained with,
    if the file has it. Files are read as that of the training was, in another encoding if one is
    given.
    """
    reading = model.reading | ({} if encoding is None else {"encoding": encoding})
    if data == "-" and "sparse" in reading:
        raise DataError(
            "The samples of this model must be in a LIBSVM file, and - takes CSV only: give the "
            "name of a file."
        )
    with advising(**_ADVICE), _opened(data) as path:
        frame, labels, kept = _read(model, reading, path, data, keep, target)
    texts = np.array(["" if label is None else str(label) for label in labels], dtype=object)
    labelled = np.flatnonzero(texts != "")
    places = {str(label): place for place, label in enumerate(model.pipeline.classes_)}
    return NewSamples(
        "the standard input" if data == "-" else data,
        frame if "sparse" in reading else frame[list(model.features)],
        {name: kept[name].tolist() for name in keep},
        labelled,
        np.array([places.get(text, UNKNOWN) for text in texts[labelled]], dtype=int),
    )


def _read(
    model: Model,
    reading: Mapping[str, Any],
    path: str,
    data: str,
    keep: Sequence[str],
    target: str | None,
) -> tuple[Any, Sequence[Any], Any]:
    """Return a frame of features, the labels, none if there are none, and what is kept."""
    is_known = data in {each.name for each in datasets.available()}
    if is_known:
        bunch = datasets.load(data)
        frame, labels = bunch.data, bunch.target
    elif "sparse" in reading:
        frame = datasets.read_features(path, (), **reading)
        names = datasets.read_features(path, (), keep=["label"])
        labels = names["label"]
        if target not in (None, "label"):
            raise DataError(
                f"{data} is a LIBSVM file, whose labels are called 'label'. Got {target!r}."
            )
        if keep:
            raise DataError(f"{data} is a LIBSVM file: there are no columns to keep.")
        return frame, labels, {}
    else:
        wanted = target or model.facts.get("target")
        extra = [*keep, *([wanted] if wanted else [])]
        frame = datasets.read_features(path, model.features, model.nominal, keep=extra, **reading)
        if target is not None and target not in frame:
            raise DataError(f"{data} has no column {target!r} for the labels.")
        labels = frame.get(wanted, [])
    for name in [*model.features, *keep]:
        if name not in frame:
            what = "columns to keep" if name in keep else "columns of the model"
            raise DataError(f"{data} lacks the {what}, such as {name!r}.")
    if not is_known and not {*keep}.isdisjoint(model.features):  # as they are written
        return frame, labels, datasets.read_features(path, (), keep=keep, **reading)
    return frame, labels, frame


@contextmanager
def _opened(data: str) -> Iterator[str]:
    """Yield the path of a file; what comes by the standard input is written to one as CSV."""
    if data != "-":
        yield data
        return
    with TemporaryDirectory(prefix="polychotomy-") as folder:
        path = Path(folder) / "input.csv"
        path.write_bytes(sys.stdin.buffer.read())
        try:
            yield str(path)
        except DataError as error:
            said = str(error).replace(str(path), "the standard input (CSV)")
            raise DataError(f"{said[:1].upper()}{said[1:]}", argument=error.argument) from None
