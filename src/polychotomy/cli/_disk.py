"""Reading and writing for the commands, and reporting errors."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from polychotomy.errors import DataError, PolychotomyError
from polychotomy.files import replacing

_UNIQUE = "no value occurs twice"
_ADVICE_ON_TEXT = " If that is text, --text counts its words."


@contextmanager
def report_errors(source: str = "") -> Iterator[None]:
    """Print an error in one line and exit with status 1, without a traceback."""
    try:
        yield
    except BrokenPipeError:  # the reader has closed its end
        raise
    except (PolychotomyError, ValueError, TypeError, OSError, MemoryError) as error:
        reason = reason_of(error, source)
        notes = " ".join(getattr(error, "__notes__", []))
        typer.echo(": ".join(filter(None, (source, reason))) + f" {notes}".rstrip(), err=True)
        raise typer.Exit(1) from None


@contextmanager
def advising(**advice: str) -> Iterator[None]:
    """Add the option that may help to an error about a file."""
    try:
        yield
    except DataError as error:
        if error.argument in advice:
            error.add_note(advice[error.argument])
        raise


def check_exists(path: Path) -> None:
    """Raise FileNotFoundError before libraries are loaded."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")


def reason_of(error: BaseException, source: str = "") -> str:
    """Return the message of an error; for system errors, with the name of the file."""
    reason = getattr(error, "strerror", None)
    if reason is None:
        return str(error) or "there is not enough memory"
    file = getattr(error, "filename", None)
    if file is None and reason == os.strerror(errno.ENOSPC):  # files that we write have names
        return f"The standard output cannot be written: {reason}"
    return str(reason) if file is None or source else f"{file}: {reason}"


def read_text(path: str) -> str:
    """Return the text of a file, or of the standard input for "-"."""
    from polychotomy.structures import MAX_CHARACTERS

    if path == "-":
        return sys.stdin.read(MAX_CHARACTERS + 1)
    with Path(path).open(encoding="utf-8-sig") as file:
        return file.read(MAX_CHARACTERS + 1)


def write_text(text: str, path: Path | None) -> None:
    """Write to a file, or to the standard output."""
    if path is None:
        typer.echo(text)
    else:
        with report_errors(str(path)), replacing(path) as beside:
            beside.write_text(text + "\n", "utf-8")


def check_can_write(path: Path) -> None:
    """Raise OSError if a file cannot be written, before anything is computed."""
    renamed = not path.exists() or path.is_file()  # else it is a device or a pipe
    place = path.resolve() if renamed else path
    folder = place.parent
    if place.is_dir():
        raise OSError(f"{path} is a folder; give the name of a file.")
    if not folder.is_dir():
        raise OSError(f"{path} cannot be written: there is no folder {folder}.")
    needed = [each for each in (place, folder if renamed else place) if each.exists()]
    if not all(os.access(each, os.W_OK) for each in needed):
        raise OSError(f"{path} cannot be written: permission is denied.")


def print_column_remarks(samples: Any) -> None:
    """Print which column holds the classes, and remarks on the features."""
    for remark in column_remarks_of(samples):
        typer.echo(printable(f"{samples.name}: {remark}"), err=True)


def column_remarks_of(samples: Any) -> list[str]:
    """Return remarks on the target and the columns of a file."""
    from polychotomy.datasets import column_remarks

    said: list[str] = samples.get("remarks", [])
    of_columns = column_remarks(samples.data, samples.get("text", ()))
    return [*said, *(f"{each}{_ADVICE_ON_TEXT if _UNIQUE in each else ''}" for each in of_columns)]


def printable(text: str) -> str:
    """Replace control characters, which could confuse a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
