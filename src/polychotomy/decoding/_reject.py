"""Rejection: the rules of Tax and Duin, section 2.1, for answering "don't know"."""

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.arrays import Mask
from polychotomy.codes import Code
from polychotomy.decoding._rules import count_votes


def accepted_by_votes(outputs: ArrayLike, code: Code | ArrayLike) -> Mask:
    """Return which samples have a unique class with the most votes.

    For one-vs-one this rejects ties. For one-vs-rest it rejects samples that no class or several
    classes claim, because those classes then have the same number of votes.

    Examples
    --------
    >>> from polychotomy import make_code
    >>> from polychotomy.decoding import accepted_by_votes
    >>> outputs = [[1.0, -1.0, -1.0], [-1.0, -1.0, -1.0], [1.0, 1.0, -1.0]]
    >>> accepted_by_votes(outputs, make_code("one_vs_rest", 3))
    array([ True, False, False])
    """
    votes = count_votes(outputs, code)
    first: Mask = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
    return first


def accepted_by_confidence(scores: ArrayLike, threshold: float) -> Mask:
    """Return which samples have a winning score of at least `threshold`.

    Examples
    --------
    >>> from polychotomy.decoding import accepted_by_confidence
    >>> accepted_by_confidence([[0.2, 0.7], [0.45, 0.55]], threshold=0.6)
    array([ True, False])
    """
    winning: Mask = np.asarray(scores).max(axis=1) >= threshold
    return winning
