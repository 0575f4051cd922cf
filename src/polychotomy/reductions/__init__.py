"""Reductions by name: from a name and a binary learner to an untrained classifier.

:class:`Reduction` makes one classifier, :class:`Expansion` finds all that a user asks for, with
every decoder and way to probabilities; :func:`make_base` makes the binary learners.
"""

from typing import TYPE_CHECKING, Any

from polychotomy.reductions._bases import available_bases, make_base
from polychotomy.reductions._registry import (
    Reduction,
    available_reductions,
    class_means_rows,
    is_baseline,
    suitable_reductions,
)
from polychotomy.reductions._scale import Scale

if TYPE_CHECKING:
    from polychotomy.reductions._expansion import Expansion, untrained

__all__ = [
    "Expansion",
    "Reduction",
    "Scale",
    "available_bases",
    "available_reductions",
    "class_means_rows",
    "is_baseline",
    "make_base",
    "suitable_reductions",
    "untrained",
]


def __getattr__(name: str) -> Any:
    if name in ("Expansion", "untrained"):  # they need scikit-learn, names do not
        from polychotomy.reductions import _expansion

        return getattr(_expansion, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
