"""Codes from coding theory: BCH and Hamming, constructed as in the SBC paper (section 4.2)."""

from functools import lru_cache

import numpy as np

from polychotomy.arrays import Matrix
from polychotomy.codes._code import Code
from polychotomy.codes._parameters import check_int
from polychotomy.errors import CodeError

_DEGREES = range(3, 15)
_LONGEST = 2 ** _DEGREES[-1] - 1


def bch(n_classes: int, *, length: int | None = None, message: int | None = None) -> Code:
    """Return the code made of the first k unit messages, encoded by a BCH code.

    The unit vectors of length k are padded with zeros to the message length and encoded
    systematically over GF(2). Positions that are equal for all classes are dropped, and 0 becomes
    −1.

    Parameters
    ----------
    n_classes : int
        Number of classes, k.
    length : int, optional
        Length n = 2^r − 1 of the BCH code; by default the shortest with that `message`, or with
        a message length of at least k.
    message : int, optional
        Message length; by default the smallest one for that `length` that is at least k. It needs
        the least padding and has the largest distance.

    Notes
    -----
    The default explains why the paper's Table 2 has equal errors for SBC-HAMMING and SBC-BCH on
    optdigits (10 classes, where the (15, 11) code is the Hamming code) and different ones on
    satimage (6 classes, the (15, 7) code). galois is imported on first use, so the first code
    takes a few seconds.

    References
    ----------
    El-Yaniv, Kotek, Pechyony and Yom-Tov, "On multiclass classification via a single binary
    classifier", section 4.2.

    Examples
    --------
    >>> from polychotomy.codes import bch
    >>> bch(4)
    Code('bch': 4 classes, 7 problems)
    >>> bch(4, length=31, message=11).n_problems
    23
    """
    k = check_int("n_classes", n_classes, least=2)
    if message is not None:
        message = check_int("message", message)
    if length is None:
        length = _shortest_length(k if message is None else max(k, message))
        while message is not None and message not in message_lengths(length) and length < _LONGEST:
            length = 2 * length + 1
    elif check_int("length", length) not in {2**r - 1 for r in _DEGREES}:
        raise CodeError(
            f"The 'length' parameter must be 2^r − 1 with r from {_DEGREES[0]} to "
            f"{_DEGREES[-1]}. Got {length} instead."
        )
    known = [m for m in message_lengths(length) if m >= k]
    if message is None and known:
        message = min(known)
    if message not in known:
        near = sorted(sorted(known, key=lambda m: abs(m - (message or k)))[:10], reverse=True)
        words = ", ".join(map(str, near)) + (", …" if len(known) > 10 else "")
        raise CodeError(
            f"A BCH code of length {length} for {k} classes needs one of its message lengths of "
            f"at least {k}: {words or 'it has none'}. Got message={message}; "
            "choose another 'message' or a larger 'length'."
        )
    return _encode_units(k, length, message, name="bch")


def hamming(n_classes: int) -> Code:
    """Return the code made of the first k unit messages, encoded by the shortest Hamming code.

    Built like :func:`bch`, from the code of length 2^r − 1 with r parity bits.

    Parameters
    ----------
    n_classes : int
        Number of classes, k.

    Examples
    --------
    >>> from polychotomy.codes import hamming
    >>> hamming(4)
    Code('hamming': 4 classes, 7 problems)
    >>> hamming(4).row_distance
    3.0
    """
    k = check_int("n_classes", n_classes, least=2)
    length = _shortest_length(k)
    return _encode_units(k, length, message=max(message_lengths(length)), name="hamming")


@lru_cache
def message_lengths(length: int) -> tuple[int, ...]:
    """Return the message lengths of the narrow-sense BCH codes of a length 2^r − 1, descending.

    The generator of the code with designed distance d has the roots α, α², …, α^(d−1) and their
    conjugates, so the message length is n less the size of the union of their cosets.
    """
    roots: set[int] = set()
    messages = []
    for exponent in range(1, length):
        if exponent in roots:
            continue
        while exponent not in roots:
            roots.add(exponent)
            exponent = 2 * exponent % length
        if len(roots) < length:
            messages.append(length - len(roots))
    return tuple(messages)


def _shortest_length(k: int) -> int:
    for r in _DEGREES:
        if 2**r - 1 - r >= k:  # the longest message: the Hamming code's
            return 2**r - 1
    raise CodeError(
        f"Hamming and BCH codes are available for at most {2 ** _DEGREES[-1] - 1 - _DEGREES[-1]} "
        f"classes. Got {k}."
    )


def _encode_units(k: int, length: int, message: int, name: str) -> Code:
    words = _generator(length, message)[:k]
    varies = words.min(axis=0) != words.max(axis=0)
    return Code(2 * words[:, varies] - 1, name=name)


@lru_cache(maxsize=64)
def _generator(length: int, message: int) -> Matrix:
    """Return the systematic generator matrix: row i is the codeword of the i-th unit message."""
    import galois

    field = galois.GF(length + 1)
    mode = field.ufunc_mode
    field.compile("python-calculate")  # seconds faster than compiling for one small polynomial
    try:
        code = galois.BCH(length, message, extension_field=field)
    finally:
        field.compile(mode)
    return np.asarray(code.G, dtype=np.int8)
