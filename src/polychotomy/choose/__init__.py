"""Choosing hyper-parameters."""

from polychotomy.choose._greedy import GreedySearchCV, Scale

__all__ = ["GreedySearchCV", "Scale"]
