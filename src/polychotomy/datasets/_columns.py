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
    """Return the column `wanted`, else one with a usual name, else the last (except "split").

    Of usual names that differ by case, the one in small letters is taken. Raises DataError if
    there is none.
    """
    if wanted is not None:
        check_known([wanted], columns, path)
        return wanted
    for name in _USUAL_NAMES:
        alike = [column for column in columns if column.lower() == name]
        if name in alike or len(alike) == 1:
            return name if name in alike else alike[0]
        if alike:
            raise DataError(
                f"{path} has the columns {listed(alike)}. Name the one that is the target.",
                argument="target",
            )
    return ([c for c in columns if c != "split"] or list(columns))[-1]


def check_known(wanted: Sequence[str], columns: Sequence[str], path: Path) -> None:
    """Raise DataError if one of the columns does not exist."""
    for name in wanted:
        if name not in columns:
            near = get_close_matches(name, columns, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise DataError(
                f"There is no column {name!r} in {path}; the columns are {listed(columns)}.{hint}"
            )


def target_remarks(columns: Sequence[str], target: str) -> list[str]:
    """Return a remark on a target that was found, unless its name is usual and its own."""
    alike = [c for c in columns if c.lower() == target.lower() and c != target]
    if target.lower() in _USUAL_NAMES and not alike:
        return []
    return [f"The classes are those of the column {target!r}."]


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
            "Choose another target.",
            argument="target",
        ) from None
    except ValueError:
        raise DataError(
            f"The column {name!r} of {path} contains fractions, not classes; "
            "predicting numbers is regression. Choose another target.",
            argument="target",
        ) from None
    n_classes = len(set(labels.tolist()))
    if n_classes < 2:
        raise DataError(
            f"The column {name!r} of {path} must contain at least two classes. Got one."
        )
    if n_classes == len(labels):
        raise DataError(
            f"The column {name!r} of {path} has as many classes as there are rows, {n_classes}. "
            "Choose another target.",
            argument="target",
        )
    return labels


def check_features(frame: Any, path: Path) -> None:
    """Raise DataError for tables without features, and for infinite values."""
    if frame.shape[1] == 0:
        raise DataError(f"{path} must have at least one column besides the labels.")
    numbers = frame.select_dtypes("number")
    infinite = numbers.columns[np.isinf(numbers.to_numpy(float, na_value=np.nan)).any(axis=0)]
    if len(infinite):
        raise DataError(f"These columns of {path} must be finite: {listed(infinite)}.")


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return the first names as words, and the number of further ones."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
