"""Class probabilities from the probabilities of the binary problems."""

from polychotomy.probability._better_method import better_method
from polychotomy.probability._formulas import best_products
from polychotomy.probability._solve import (
    METHODS,
    Method,
    check_method,
    choose_method,
    solve,
)

__all__ = [
    "METHODS",
    "Method",
    "best_products",
    "better_method",
    "check_method",
    "choose_method",
    "solve",
]
