"""The choice of the target column, and validation of columns."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from polychotomy.datasets._labels import as_labels
from polychotomy.errors import DataError

_USUAL_NAMES = ("class", "target", "label", "y")


def choose_target(columns: Sequence[str], wanted: str | None, path: Path) -> str:
    """Return the column `wanted`, else one with a usual name, else the last (except "split")."""
    if wanted is None:
        usual = {column.lower(): column for column in reversed(columns)}
        last = [c for c in columns if c != "split"] or columns
        return next((usual[name] for name in _USUAL_NAMES if name in usual), last[-1])
    if wanted not in columns:
        near = get_close_matches(wanted, columns, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise DataError(
            f"There is no column {wanted!r} in {path}; the columns are {listed(columns)}.{hint}"
        )
    return wanted


def is_usual_target(name: str) -> bool:
    """Whether a column with this name is the default target, whatever its position."""
    return name.lower() in _USUAL_NAMES


def check_names(columns: Sequence[str], path: Path) -> None:
    """Raise DataError for columns without a name or with equal names."""
    twice = [name for name, count in Counter(columns).items() if count > 1 and name]
    if twice:
        raise DataError(f"Column names must be unique. {path} repeats {listed(twice)}.")
    if "" in columns:
        raise DataError(f"Column {columns.index('') + 1} of {path} has no name.")


def check_target(y: Any, name: str, path: Path) -> Any:
    """Return the labels as an array, or raise DataError. None of them may be missing."""
    try:
        labels = as_labels(y)
    except TypeError:
        raise DataError(
            f"The column {name!r} of {path} must contain single values, not lists. "
            "Choose another target."
        ) from None
    except ValueError:
        raise DataError(
            f"The column {name!r} of {path} contains fractions, not classes; "
            "predicting numbers is regression. Choose another target."
        ) from None
    n_classes = len(set(labels.tolist()))
    if n_classes < 2:
        raise DataError(
            f"The column {name!r} of {path} must contain at least two classes. Got one."
        )
    if n_classes == len(labels):
        raise DataError(
            f"The column {name!r} of {path} has as many classes as there are rows, {n_classes}. "
            "Choose another target."
        )
    return labels


def check_features(frame: Any, path: Path) -> None:
    """Raise DataError for tables without features, empty columns and infinite values."""
    if frame.shape[1] == 0:
        raise DataError(f"{path} must have at least one column besides the labels.")
    empty = frame.columns[frame.isna().all()]
    if len(empty):
        raise DataError(f"All values are missing in these columns of {path}: {listed(empty)}.")
    numbers = frame.select_dtypes("number")
    infinite = numbers.columns[np.isinf(numbers.to_numpy(float, na_value=np.nan)).any(axis=0)]
    if len(infinite):
        raise DataError(f"These columns of {path} must be finite: {listed(infinite)}.")


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return the first names as words, and the number of further ones."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
