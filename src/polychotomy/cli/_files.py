"""Reading and writing on behalf of the commands, and telling what went wrong."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray


@contextmanager
def telling_errors(source: str = "") -> Iterator[None]:
    """Print what is wrong with the input and leave with status 1, instead of a traceback."""
    try:
        yield
    except (ValueError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        notes = " ".join(getattr(error, "__notes__", []))
        typer.echo(": ".join(filter(None, (source, reason))) + f" {notes}".rstrip(), err=True)
        raise typer.Exit(1) from None


def read_text(path: str) -> str:
    """Return the text of a file, or of the standard input for "-"."""
    from polychotomy.structures._language import MAX_CHARACTERS

    if path == "-":
        return sys.stdin.read(MAX_CHARACTERS + 1)
    with Path(path).open(encoding="utf-8") as file:
        return file.read(MAX_CHARACTERS + 1)


def write_text(text: str, path: Path | None) -> None:
    """Write to a file, or to the standard output; a file is there as a whole or not at all."""
    if path is None:
        typer.echo(text)
        return
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        try:
            file.write(text + "\n")
            file.close()
            Path(file.name).chmod(0o666 & ~_umask())
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_samples(path: str, target: str | None) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return features and labels of a CSV file.

    Numbers are standardised, with the mean for missing values; other columns become indicators.
    The labels are in the column `target`, by default the last.
    """
    import pandas as pd

    table = pd.read_csv(path)
    target = table.columns[-1] if target is None else target
    if target not in table.columns:
        raise ValueError(
            f"there is no column {target!r}; the columns are {', '.join(map(repr, table.columns))}"
        )
    y = table.pop(target)
    if y.isna().any():
        raise ValueError(f"{int(y.isna().sum())} rows have no label in the column {target!r}")
    if table.shape[1] == 0 or len(table) == 0:
        raise ValueError("there must be at least one row, and one column besides the labels")
    X = pd.get_dummies(table, dtype=float).astype(float)
    X = X.fillna(X.mean()).fillna(0.0)
    spread = X.std(ddof=0).replace(0, 1)
    return ((X - X.mean()) / spread).to_numpy(), y.to_numpy()
