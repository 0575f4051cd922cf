"""The best classes, found without the scores of all classes if the code allows it."""

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.arrays import Array, Indices
from polychotomy.codes import Code, RuleMatrix
from polychotomy.decoding._rules import TERMS, check_outputs, decode


def best_classes(outputs: ArrayLike, code: Code, rule: str, n_best: int) -> tuple[Indices, Array]:
    """Return the classes with the largest scores, best first, and their scores.

    Parameters
    ----------
    outputs : array-like of shape (n_samples, n_problems)
    code : Code
        In a trellis, whose paths are the classes, it takes O(log k) steps.
    rule : str
        As in :func:`decode`.
    n_best : int
        Number of classes to return.

    Returns
    -------
    classes : ndarray of shape (n_samples, n_best)
        Of classes with equal scores the first.
    scores : ndarray of shape (n_samples, n_best)

    Examples
    --------
    >>> from polychotomy import make_code
    >>> from polychotomy.decoding import best_classes
    >>> best_classes([[0.5, -2.0, 0.7]], make_code("one_vs_rest", 3), "linear", 2)
    (array([[2, 0]]), array([[2.2, 1.8]]))
    """
    if isinstance(code.columns, RuleMatrix) and code.is_searched and rule in TERMS:
        return code.columns.best(*TERMS[rule](check_outputs(outputs, code.columns)), n_best)
    return largest(decode(outputs, code, rule), n_best)


def largest(values: Array, n_best: int) -> tuple[Indices, Array]:
    """Return the columns of the largest values of each row, of equal ones the first, and these."""
    n, k = values.shape
    rows = np.arange(n)[:, np.newaxis]
    if n_best < k:
        least = np.partition(values, k - n_best, axis=1)[:, k - n_best, np.newaxis]
        # Above the least value all are among the best, and of those equal to it the first ones.
        above, equal = values > least, values == least
        room = n_best - above.sum(axis=1, keepdims=True)
        kept = above | (equal & (equal.cumsum(axis=1) <= room))
        columns = np.nonzero(kept)[1].reshape(n, n_best)
    else:
        columns = np.broadcast_to(np.arange(k), (n, k))
    order = np.argsort(-values[rows, columns], axis=1, kind="stable")
    columns = np.take_along_axis(columns, order, axis=1)
    return columns, values[rows, columns]
