"""Compiled batch solvers: flat functions of arrays. Their twins in NumPy are in ``_twins``."""

from polychotomy.probability._compiled._divergence import kullback_leibler
from polychotomy.probability._compiled._few_problems import least_squares_few
from polychotomy.probability._compiled._lanes import coupling_lanes
from polychotomy.probability._compiled._least_norm import least_norms
from polychotomy.probability._compiled._least_squares import (
    coupling,
    least_squares,
    normal_matrices,
)
from polychotomy.probability._compiled._least_squares_lanes import least_squares_lanes
from polychotomy.probability._compiled._strict_divergence import kullback_leibler_strict
from polychotomy.probability._compiled._strict_least_squares import least_squares_strict

__all__ = [
    "coupling",
    "coupling_lanes",
    "kullback_leibler",
    "kullback_leibler_strict",
    "least_norms",
    "least_squares",
    "least_squares_few",
    "least_squares_lanes",
    "least_squares_strict",
    "normal_matrices",
]
