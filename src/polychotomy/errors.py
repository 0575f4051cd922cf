"""The exceptions of the library, and the sentences that several places must say alike."""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any


class PolychotomyError(Exception):
    """Root of the library's own exceptions."""


class CodeError(PolychotomyError, ValueError):
    """A matrix that is not a code, or a code that cannot be built as asked."""


class StructureError(PolychotomyError, ValueError):
    """Classes, codes or text that do not make a structure.

    Attributes
    ----------
    line, column : int or None
        Where in the text the fault lies, both counted from 1; None if there is no text.
    """

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column


class DataError(PolychotomyError, ValueError):
    """Samples that cannot be used, or a data set that is not to be had."""


class StoreError(PolychotomyError, OSError):
    """A file of results that cannot be used: locked, damaged, not ours, of another version."""


class MissingExtraError(PolychotomyError, ImportError):
    """An optional dependency is needed and is not installed."""


def unknown_name(parameter: str, given: object, known: Iterable[str]) -> ValueError:
    """Return the error for a name that is not in a registry, with the nearest known one."""
    known = sorted(known)
    near = get_close_matches(str(given), known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ValueError(
        f"The {parameter!r} parameter must be one of {', '.join(map(repr, known))}. "
        f"Got {given!r} instead.{hint}"
    )


def require(module: str, *, extra: str) -> Any:
    """Import an optional dependency, or say which extra brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{module.partition('.')[0]} is needed for this and is not installed. "
            f"Install it with: pip install 'polychotomy[{extra}]'"
        ) from error
