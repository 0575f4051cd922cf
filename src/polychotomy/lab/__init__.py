"""Comparing: protocols that run reductions side by side, and what the papers published.

A :class:`Plan` holds all cells of a comparison (data set × fold × reduction × base); its ``run``
computes those that a :class:`Store` does not have; :func:`summarise` makes a table and a
recommendation of them.
"""

from polychotomy.lab import published
from polychotomy.lab._bases import available_bases, base_scales, make_base
from polychotomy.lab._cells import Cell
from polychotomy.lab._measure import Failure
from polychotomy.lab._methods import Method
from polychotomy.lab._protocols import Protocol
from polychotomy.lab._runner import Plan, Progress
from polychotomy.lab._samples import Samples
from polychotomy.lab._store import Store
from polychotomy.lab._summary import Row, Summary, comparisons, summarise

__all__ = [
    "Cell",
    "Failure",
    "Method",
    "Plan",
    "Progress",
    "Protocol",
    "Row",
    "Samples",
    "Store",
    "Summary",
    "available_bases",
    "base_scales",
    "comparisons",
    "make_base",
    "published",
    "summarise",
]
