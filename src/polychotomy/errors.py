"""The exceptions of the library, and error messages shared by several packages."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from importlib import import_module
from typing import Any

__all__ = [
    "ClusterError",
    "CodeError",
    "DataError",
    "MissingExtraError",
    "NotEnoughMemoryError",
    "PolychotomyError",
    "StoreError",
    "StructureError",
    "require",
    "unknown_name",
]


class PolychotomyError(Exception):
    """Root of the library's own exceptions."""


class CodeError(PolychotomyError, ValueError):
    """A matrix that is not a valid code, or a code that cannot be constructed."""


class StructureError(PolychotomyError, ValueError):
    """Classes, codes or text that do not form a valid structure.

    Attributes
    ----------
    line, column : int or None
        Position of the fault in the text, counted from 1; None if there is no text.
    """

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column


class DataError(PolychotomyError, ValueError):
    """Samples that cannot be used, or a data set that is not available.

    Attributes
    ----------
    argument : str or None
        The argument of :func:`polychotomy.datasets.read` that may help.
    """

    def __init__(self, message: str = "", *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument


class ModelError(PolychotomyError, ValueError):
    """A model that cannot be saved, or a model file that cannot be used."""


class StoreError(PolychotomyError, OSError):
    """A results file that cannot be used: locked, damaged, or of another program or version."""


class ClusterError(PolychotomyError, OSError):
    """A Dask cluster that cannot be reached, is lost, or cannot run the tasks."""


class DeviceError(PolychotomyError, RuntimeError):
    """A GPU that is requested and cannot be used."""


class NotEnoughMemoryError(PolychotomyError, MemoryError):
    """Arrays of a training that cannot fit in memory; raised before it starts."""


class MissingExtraError(PolychotomyError, ImportError):
    """An optional dependency that is needed but not installed."""


def shown(value: object) -> str:
    """Return a label or parameter as messages show it: NumPy's scalars like those of Python.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.errors import shown
    >>> shown(np.str_("oak")), shown(np.int64(3)), shown("elm")
    ("'oak'", '3', "'elm'")
    """
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
    return repr(value.item() if is_scalar else value)  # type: ignore[attr-defined]


def shown_shortly(value: Any) -> str:
    """Return a parameter that may be an array as messages show it: of an array only the shape.

    Examples
    --------
    >>> from polychotomy.errors import shown_shortly
    >>> shown_shortly("large"), shown_shortly([[1, 2]])
    ("'large'", 'an array of shape (1, 2)')
    """
    import numpy as np

    if isinstance(value, str) or np.ndim(value) == 0:
        return repr(value)[:100]
    return f"an array of shape {np.shape(value)}"


def unknown_name(
    parameter: str, given: object, known: Iterable[str], short: Iterable[str] = ()
) -> ValueError:
    """Return the error for a name that is not in a registry, with the nearest known ones.

    `short` are short names, which are not listed.
    """
    known = sorted(known)
    near = _nearest(str(given), [*known, *short])
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return ValueError(
        f"The {parameter!r} parameter must be one of {', '.join(map(repr, known))}. "
        f"Got {shown(given)} instead.{hint}"
    )


def _nearest(given: str, known: list[str]) -> list[str]:
    """Return the name closest to the given one, ignoring case, or all equally close ones."""
    lower = {name.lower(): name for name in known}
    near = get_close_matches(given.lower(), lower, n=3, cutoff=0.5)
    likeness = [SequenceMatcher(None, name, given.lower()).ratio() for name in near]
    return [lower[name] for name, like in zip(near, likeness, strict=True) if like == likeness[0]]


def require(module: str, *, extra: str) -> Any:
    """Import an optional dependency, or raise an error that names the extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{module.partition('.')[0]} is needed for this and is not installed. "
            f"Install it with: pip install 'polychotomy[{extra}]'"
        ) from error
