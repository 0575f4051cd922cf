"""Compiled parts of linear learners: flat functions of arrays and numbers.

A problem with the squared hinge loss has the dual

    maximise  Σ α − ½ ‖w‖² − ¼ Σ α² / c   over α ≥ 0,   w = Σ t α x̃,

where x̃ is a sample with a 1 appended if there is an intercept. A pass maximises over one
coefficient after the other, in random order (Hsieh and others, 2008). Only samples that have a
coefficient or a slack take part; all others are looked at when passes gain little. It starts with
the smaller side and some of the larger one: most samples of a one-vs-rest problem never matter.
Training stops when the duality gap is at most tol times the primal objective.
"""

from polychotomy.linear._compiled._coordinate import descend, first_samples, solve_column, survey

__all__ = ["descend", "first_samples", "solve_column", "survey"]
