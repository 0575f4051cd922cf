"""Compiled batch solvers: flat functions of arrays. Their twins in NumPy are in ``_twins``."""

from polychotomy.probability._compiled._divergence import kullback_leibler
from polychotomy.probability._compiled._least_squares import (
    coupling,
    least_squares,
    least_squares_strict,
)

__all__ = ["coupling", "kullback_leibler", "least_squares", "least_squares_strict"]
