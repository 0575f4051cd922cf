"""The decoding rules as graphs: from the outputs of problems to class scores."""

from collections.abc import Callable

import numpy as np

from polychotomy.arrays import Matrix
from polychotomy.decoding import LOSSES
from polychotomy.export._graph import Graph, Name

Rule = Callable[[Graph, Name, Matrix], Name]


def decoded(g: Graph, outputs: Name, matrix: Matrix, rule: str) -> Name:
    """Return the score of each class (n × k) from outputs (n × ℓ), larger being better.

    See :func:`polychotomy.decoding.decode`.
    """
    if rule in _LOSS_GRAPHS:
        return _negative_loss(g, outputs, matrix, rule)
    return _RULE_GRAPHS[rule](g, outputs, matrix)


def _negative_loss(g: Graph, f: Name, matrix: Matrix, name: str) -> Name:
    """Return −Σ L(a_s f_s) by one product: L(f) with the +1s and L(−f) with the −1s."""
    loss = _LOSS_GRAPHS[name]
    both = g.beside([loss(g, f), loss(g, g("Neg", f))])
    sides = np.hstack([matrix == 1, matrix == -1])
    at_zero = LOSSES[name].at_zero * (matrix == 0).sum(axis=1)
    return g("Neg", g("Add", g.product(both, sides.T), at_zero[np.newaxis].astype(float)))


def _hinge(g: Graph, z: Name) -> Name:
    return g("Max", g.one_minus(z), 0.0)


def _squared(g: Graph, z: Name) -> Name:
    left = g.one_minus(z)
    return g("Mul", left, left)


def _logistic(g: Graph, z: Name) -> Name:
    """Return log(1 + e^{−z}) without overflow."""
    tail = g("Log", g("Add", 1.0, g("Exp", g("Neg", g("Abs", z)))))
    return g("Add", g("Max", g("Neg", z), 0.0), tail)


def _l1(g: Graph, z: Name) -> Name:
    return g("Mul", g.one_minus(g("Tanh", z)), 0.5)


def _hamming(g: Graph, z: Name) -> Name:
    return g("Mul", g.one_minus(g("Sign", z)), 0.5)


def _exponential(g: Graph, f: Name, matrix: Matrix) -> Name:
    """Return −log Σ e^{−a_s f_s}, which ranks classes as −Σ does and never overflows."""
    columns = []
    for row in np.asarray(matrix, dtype=float):
        z = g("Mul", f, -row[np.newaxis])
        largest = g.reduce("ReduceMax", z)
        total = g.reduce("ReduceSum", g("Exp", g("Sub", z, largest)))
        columns.append(g("Add", g("Log", total), largest))
    return g("Neg", g.beside(columns))


def _linear(g: Graph, f: Name, matrix: Matrix) -> Name:
    if matrix.shape[0] == matrix.shape[1] and np.array_equal(matrix, 2 * np.eye(len(matrix)) - 1):
        return g("Sub", g("Mul", f, 2.0), g.reduce("ReduceSum", f))
    return g.product(f, matrix.T)


def _euclidean(g: Graph, f: Name, matrix: Matrix) -> Name:
    """Return −‖f − a‖² + ‖f‖², which ranks classes as −‖f − a‖ does."""
    ones = np.abs(matrix).sum(axis=1, dtype=float)[np.newaxis]
    return g("Sub", g("Mul", g.product(f, matrix.T), 2.0), ones)


def votes(g: Graph, f: Name, matrix: Matrix) -> Name:
    """Return how many problems each class wins, half of one for an output of 0."""
    part = np.abs(matrix).sum(axis=1, dtype=float)[np.newaxis]
    return g("Mul", g("Add", g.product(g("Sign", f), matrix.T), part), 0.5)


def _votes(g: Graph, f: Name, matrix: Matrix) -> Name:
    """Return votes plus a fifth of each class's share of the confidence."""
    size = g.reduce("ReduceMax", g("Abs", f))
    scaled = g("Div", f, g("Max", size, 1.0))
    total = g.reduce("ReduceSum", g("Abs", scaled))
    share = g("Div", g.product(scaled, matrix.T), g("Max", total, 1e-300))
    return g("Add", votes(g, f, matrix), g("Mul", share, 0.2))


def _ddag(g: Graph, f: Name, matrix: Matrix) -> Name:
    """Return 1 for the class that is left by elimination, 0 for the others."""
    last = eliminated(g, f, matrix)
    return g.double(g("Equal", last, np.arange(len(matrix))[np.newaxis]))


def eliminated(g: Graph, f: Name, matrix: Matrix) -> Name:
    """Return the class that is left by elimination (n × 1): k − 1 steps of first against last."""
    k = len(matrix)
    problem, sign = np.zeros(k * k, dtype=np.int64), np.zeros(k * k)
    for s, column in enumerate(matrix.T):
        r, t = np.flatnonzero(column)
        problem[r * k + t], sign[r * k + t] = s, column[r]
    problem_of, sign_of = g.constant(problem), g.constant(sign)
    nothing = g("Mul", g.best(f), np.array(0))
    first, last = nothing, g("Add", nothing, np.array(k - 1))
    for _ in range(k - 1):
        pair = g("Add", g("Mul", first, np.array(k)), last)
        output = g("GatherElements", f, g("Gather", problem_of, pair), axis=1)
        won = g("Mul", output, g("Gather", sign_of, pair))
        loses = g.integer(g("Less", won, 0.0))  # the first class
        first = g("Add", first, loses)
        last = g("Sub", g("Add", last, loses), np.array(1))
    return first


_LOSS_GRAPHS: dict[str, Callable[[Graph, Name], Name]] = {
    "hamming": _hamming,
    "hinge": _hinge,
    "squared": _squared,
    "logistic": _logistic,
    "l1": _l1,
}

_RULE_GRAPHS: dict[str, Rule] = {
    "exponential": _exponential,
    "votes": _votes,
    "euclidean": _euclidean,
    "linear": _linear,
    "ddag": _ddag,
}
