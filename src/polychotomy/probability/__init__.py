"""Class probabilities from the probabilities of the binary problems."""

from polychotomy.probability._solve import (
    METHODS,
    Method,
    check_method,
    choose_method,
    is_one_vs_rest,
    solve,
)

__all__ = ["METHODS", "Method", "check_method", "choose_method", "is_one_vs_rest", "solve"]
