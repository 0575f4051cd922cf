"""Active learning: choose which samples to label next."""

from polychotomy.active._query import STRATEGIES, query

__all__ = ["STRATEGIES", "query"]
