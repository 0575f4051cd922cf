"""Comparing: protocols that run reductions side by side."""

from polychotomy.lab._compare import Comparison, compare

__all__ = ["Comparison", "compare"]
