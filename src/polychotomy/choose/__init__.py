"""Choosing hyper-parameters and reductions."""

from polychotomy.choose._greedy import GreedySearchCV, Scale
from polychotomy.choose._reductions import Reduction, available_reductions

__all__ = ["GreedySearchCV", "Reduction", "Scale", "available_reductions"]
