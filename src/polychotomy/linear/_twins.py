"""Plain NumPy twins of the compiled functions, for the tests."""

from typing import Any

import numpy as np

from polychotomy.arrays import Array, Indices, Matrix


def descend_twin(
    X: Any, sides: Matrix, costs: Array, bias: float, order: Indices, alpha: Array, w: Array
) -> float:
    """Maximise the dual over each coefficient in turn; return by how much it grows."""
    rows = np.column_stack([X.toarray(), np.full(X.shape[0], bias)])

    def dual() -> float:
        used = costs > 0
        return float(alpha.sum() - w @ w / 2 - np.sum(alpha[used] ** 2 / costs[used]) / 4)

    before = dual()
    for i in order:
        row = sides[i] * rows[i]
        curvature = row @ row + 0.5 / costs[i]
        new = max(0.0, alpha[i] + (1 - row @ w - 0.5 * alpha[i] / costs[i]) / curvature)
        w += (new - alpha[i]) * row
        alpha[i] = new
    return dual() - before


def survey_twin(
    X: Any, sides: Matrix, costs: Array, alpha: Array, w: Array
) -> tuple[float, float, Indices]:
    """Return the primal objective, the duality gap, and the samples that count."""
    used = np.flatnonzero((sides != 0) & (costs > 0))
    slack = 1 - sides[used] * (X[used] @ w[:-1] + w[-1])
    c, a = costs[used], alpha[used]
    primal = w @ w / 2 + c @ np.maximum(slack, 0) ** 2
    dual = a.sum() - w @ w / 2 - np.sum(a**2 / c) / 4
    return float(primal), float(primal - dual), used[(slack > 0) | (a > 0)]
