"""Comparing: protocols that run reductions side by side, and what the papers published."""

from polychotomy.lab import published
from polychotomy.lab._compare import Comparison, compare

__all__ = ["Comparison", "compare", "published"]
