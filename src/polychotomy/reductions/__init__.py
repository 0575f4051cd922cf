"""Reductions by name: from a name and a binary learner to an untrained classifier.

:class:`Reduction` makes one classifier, :class:`Expansion` all that a user asks for, with every
decoder and way to probabilities they can be read by; :func:`make_base` makes the binary learners.
"""

from polychotomy.reductions._bases import available_bases, base_scales, make_base, scales_of
from polychotomy.reductions._expansion import Candidate, Expansion, Reading, untrained
from polychotomy.reductions._registry import (
    KEYWORDS,
    Reduction,
    available_reductions,
    is_baseline,
    suitable_reductions,
)
from polychotomy.reductions._scale import Scale

__all__ = [
    "KEYWORDS",
    "Candidate",
    "Expansion",
    "Reading",
    "Reduction",
    "Scale",
    "available_bases",
    "available_reductions",
    "base_scales",
    "is_baseline",
    "make_base",
    "scales_of",
    "suitable_reductions",
    "untrained",
]
