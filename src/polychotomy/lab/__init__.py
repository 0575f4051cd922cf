"""The papers: their published tables, and their experiments run again.

:mod:`~polychotomy.lab.published` holds every printed table, :mod:`~polychotomy.lab.experiments` the
experiments, whose cells :mod:`polychotomy.evaluate` computes.
"""

from polychotomy.lab import experiments, published

__all__ = ["experiments", "published"]
