"""Codes by name. A new code is one function and one line here."""

from collections.abc import Callable, Sized
from inspect import signature
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from polychotomy.codes._algebraic import bch, hamming
from polychotomy.codes._code import Code
from polychotomy.codes._hadamard import orthogonal
from polychotomy.codes._random import dense_random, sparse_random
from polychotomy.codes._standard import adjacent, exhaustive, one_vs_one, one_vs_rest
from polychotomy.codes._trellis import trellis
from polychotomy.errors import unknown_name

_CODES: dict[str, Callable[..., Code]] = {
    "one_vs_rest": one_vs_rest,
    "one_vs_one": one_vs_one,
    "exhaustive": exhaustive,
    "dense_random": dense_random,
    "sparse_random": sparse_random,
    "hamming": hamming,
    "bch": bch,
    "orthogonal": orthogonal,
    "adjacent": adjacent,
    "trellis": trellis,
}
ALIASES = {
    "ovr": "one_vs_rest",
    "ova": "one_vs_rest",
    "ovo": "one_vs_one",
    "all_pairs": "one_vs_one",
}
"""Short names of codes, here and of the reductions by them."""

_ORDERED = ("adjacent",)


def available_codes() -> tuple[str, ...]:
    """Return the names that :func:`make_code` accepts.

    Examples
    --------
    >>> from polychotomy import available_codes
    >>> "bch" in available_codes()
    True
    """
    return tuple(_CODES)


def make_code(name: str, n_classes: int, *, random_state: Any = None, **options: Any) -> Code:
    """Return a code by name.

    Parameters
    ----------
    name : str
        One of :func:`available_codes`; "ovr" and "ova" are short for one_vs_rest, "ovo" and
        "all_pairs" for one_vs_one.
    n_classes : int
        Number of classes, at least 2.
    random_state : int, RandomState, Generator or None, default=None
        Used by random codes, ignored by the others.
    **options
        Passed to the function of that name in :mod:`polychotomy.codes`.

    Examples
    --------
    >>> from polychotomy import make_code
    >>> make_code("bch", 4, length=31, message=11)
    Code('bch': 4 classes, 23 problems)
    """
    name = ALIASES.get(name, name) if isinstance(name, str) else name
    if not isinstance(name, str) or name not in _CODES:
        raise unknown_name("name", name, _CODES, ALIASES)
    known = tuple(signature(_CODES[name]).parameters)[1:]
    if "random_state" in known:
        options["random_state"] = random_state
    for option in options:
        if option not in known:
            if not known:
                raise ValueError(f"The code {name!r} takes no options. Got {option!r}.")
            raise unknown_name(f"option of the code {name!r}", option, known)
    return _CODES[name](n_classes, **options)


def resolve_code(code: Any, classes: NDArray[Any], rng: Any) -> Code:
    """Return the code for these classes from a name, a code, a matrix or a function of k."""
    k = len(classes)
    if isinstance(code, str):
        if ALIASES.get(code, code) not in _CODES:
            raise unknown_name("code", code, _CODES, ALIASES)
        return make_code(code, k, random_state=rng)
    made = code(k) if callable(code) else code
    if not isinstance(made, Code):
        if np.ndim(made) != 2:
            raise ValueError(
                "The 'code' parameter must be a name, a Code, a matrix of classes × problems or a "
                f"function of the number of classes that returns one. Got {made!r}; the names are "
                f"{', '.join(map(repr, available_codes()))}."
            )
        made = Code(made)
    check_rows(made.columns, classes, "code")
    return made


def order_remark(code: Any, classes: NDArray[Any]) -> str:
    """Return a remark if a code for ordered classes has only alphabetical order, else "".

    That is a code by its name, or as it is made without an order of its own.
    """
    labels = [label for label in classes.tolist() if isinstance(label, str)]
    name = code.name if isinstance(code, Code) else code
    if not isinstance(name, str) or name not in _ORDERED or len(labels) < 3:
        return ""
    if isinstance(code, Code) and code != make_code(name, code.n_classes):
        return ""
    return (
        f"The code {name!r} is for ordered classes, and these are in alphabetical order: "
        f"{', '.join(labels[:3])}{', …' if len(labels) > 3 else ''}. Give their order by "
        "class_order (--class-order), a list or 'data', or by an ordered categorical y."
    )


def check_ordered(code: Any, classes: NDArray[Any]) -> None:
    """Warn if a code is for ordered classes and their order is only alphabetical."""
    if remark := order_remark(code, classes):
        warn(remark, UserWarning, stacklevel=2)


def check_rows(matrix: Sized, classes: NDArray[Any], name: str) -> None:
    """Raise ValueError unless there is a row for each class."""
    n_rows, k = len(matrix), len(classes)
    if n_rows != k:
        seen = ", ".join(repr(label) for label in classes[:5].tolist()) + (", …" if k > 5 else "")
        advice = (
            f"a class that the {name} expects is missing from y"
            if n_rows > k
            else f"y has a class that the {name} does not know"
        )
        raise ValueError(
            f"The {name!r} parameter must have a row for each class. Got {n_rows} rows for "
            f"the {k} classes of y ({seen}): {advice}."
        )
