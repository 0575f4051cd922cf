"""Codes by name. A new code is one function and one line here."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from polychotomy.codes._algebraic import bch, hamming
from polychotomy.codes._code import Code
from polychotomy.codes._hadamard import orthogonal
from polychotomy.codes._random import dense_random, sparse_random
from polychotomy.codes._standard import adjacent, exhaustive, one_vs_one, one_vs_rest
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
}


def available_codes() -> tuple[str, ...]:
    """Return the names that :func:`make_code` knows.

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
        One of :func:`available_codes`.
    n_classes : int
        Number of classes, at least 2.
    random_state : int, RandomState, Generator or None, default=None
        Draws the random codes; the others do without.
    **options
        What the function of that name in :mod:`polychotomy.codes` takes.

    Examples
    --------
    >>> from polychotomy import make_code
    >>> make_code("bch", 4, length=31, message=11)
    Code('bch': 4 classes, 23 problems)
    """
    if not isinstance(name, str) or name not in _CODES:
        raise unknown_name("name", name, _CODES)
    known = tuple(signature(_CODES[name]).parameters)[1:]
    if "random_state" in known:
        options["random_state"] = random_state
    for option in options:
        if option not in known:
            if not known:
                raise ValueError(f"The code {name!r} takes no options. Got {option!r}.")
            raise unknown_name(f"option of the code {name!r}", option, known)
    return _CODES[name](n_classes, **options)
