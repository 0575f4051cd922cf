"""Choosing hyper-parameters and reductions."""

from polychotomy.choose._greedy import GreedySearchCV, Scale
from polychotomy.choose._reductions import Reduction, available_reductions
from polychotomy.choose._search import ReductionSearchCV

__all__ = ["GreedySearchCV", "Reduction", "ReductionSearchCV", "Scale", "available_reductions"]
