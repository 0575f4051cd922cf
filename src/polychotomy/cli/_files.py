"""Reading and writing on behalf of the commands, and telling what went wrong."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

_MISSING = ["", "NA", "NaN", "nan", "N/A", "null", "?"]
_MOST_VALUES = 200


@contextmanager
def telling_errors(source: str = "") -> Iterator[None]:
    """Print what is wrong with the input and leave with status 1, instead of a traceback."""
    try:
        yield
    except (ValueError, TypeError, OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "there is not enough memory"
        notes = " ".join(getattr(error, "__notes__", []))
        typer.echo(": ".join(filter(None, (source, reason))) + f" {notes}".rstrip(), err=True)
        raise typer.Exit(1) from None


def read_text(path: str) -> str:
    """Return the text of a file, or of the standard input for "-"."""
    from polychotomy.structures._language import MAX_CHARACTERS

    if path == "-":
        return sys.stdin.read(MAX_CHARACTERS + 1)
    with Path(path).open(encoding="utf-8-sig") as file:
        return file.read(MAX_CHARACTERS + 1)


def write_text(text: str, path: Path | None) -> None:
    """Write to a file, or to the standard output. All is known before anything is opened."""
    if path is None:
        typer.echo(text)
    else:
        with telling_errors(str(path)):
            path.write_text(text + "\n", "utf-8")


def read_samples(path: str, target: str | None) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return features and labels of a CSV file.

    Numbers are standardised, with the mean for missing values; other columns become indicators.
    The labels are in the column `target`, by default the last; any text is a label there.
    """
    import pandas as pd

    columns = list(pd.read_csv(path, nrows=0).columns)
    target = columns[-1] if target is None else target
    if target not in columns:
        raise ValueError(
            f"there is no column {target!r}; the columns are {', '.join(map(repr, columns))}"
        )
    empty = {column: [""] if column == target else _MISSING for column in columns}
    table = pd.read_csv(path, keep_default_na=False, na_values=empty)
    y = table.pop(target)
    if y.isna().any():
        raise ValueError(f"{int(y.isna().sum())} rows have no label in the column {target!r}")
    if table.shape[1] == 0 or len(table) == 0:
        raise ValueError("there must be at least one row, and one column besides the labels")
    return _encoded(table), y.to_numpy()


def _encoded(table: Any) -> NDArray[np.float64]:
    """Return standardised numbers and indicators of everything else."""
    import pandas as pd

    numbers = table.select_dtypes("number").astype(float)
    if np.isinf(numbers.to_numpy()).any():
        name = numbers.columns[np.isinf(numbers.to_numpy()).any(axis=0)][0]
        raise ValueError(f"the column {name!r} must hold finite numbers, and has infinity")
    numbers = numbers.fillna(numbers.mean()).fillna(0.0)
    numbers = (numbers - numbers.mean()) / numbers.std(ddof=0).replace(0, 1)
    texts = table.drop(columns=numbers.columns)
    for name in texts:
        if texts[name].nunique() > _MOST_VALUES:
            raise ValueError(
                f"the column {name!r} has {texts[name].nunique()} different texts and would make "
                "as many features; take it out if it only names the rows"
            )
    if texts.shape[1] == 0:
        return np.asarray(numbers)
    return np.hstack([numbers, pd.get_dummies(texts, dtype=float)])
