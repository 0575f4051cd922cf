"""Errors of the binary problems, and which of them cause wrong classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polychotomy.arrays import Array, Indices
from polychotomy.assess._class_indices import class_indices
from polychotomy.codes import Code
from polychotomy.decoding import decode


@dataclass(frozen=True)
class BinaryErrors:
    """Errors of the binary problems, and their part in wrong classifications.

    Attributes
    ----------
    problem_errors : ndarray of shape (n_problems,)
        Fraction of samples on the wrong side, among samples whose class takes part in the
        problem. An output of 0 is wrong; NaN if there are no such samples.
    wrong_samples : ndarray of shape (n_wrong,)
        Indices of the misclassified samples.
    blamed : ndarray of bool of shape (n_wrong, n_problems)
        For each of these, the problems that put it on the wrong side.
    """

    problem_errors: Array
    wrong_samples: Indices
    blamed: NDArray[np.bool_]


def binary_errors(
    outputs: ArrayLike,
    y: ArrayLike,
    code: Code | ArrayLike,
    *,
    rule: str = "hamming",
    classes: Any = None,
) -> BinaryErrors:
    """Return the error of each problem, and the problems to blame for each misclassified sample.

    Parameters
    ----------
    outputs : array-like of shape (n_samples, n_problems)
        Outputs of the binary problems, such as ``classifier.binary_outputs(X)``.
    y : array-like of shape (n_samples,)
        Class indices from 0, or labels if `classes` is given or every class occurs.
    code : Code or array-like of shape (n_classes, n_problems)
    rule : str, default="hamming"
        Decoding rule, see :func:`~polychotomy.decoding.decode`.
    classes : array-like of shape (n_classes,), optional
        The labels in the order of the code's rows, such as ``classifier.classes_``.

    Returns
    -------
    BinaryErrors

    Examples
    --------
    >>> from polychotomy import make_code
    >>> from polychotomy.assess import binary_errors
    >>> code = make_code("one_vs_rest", 3)
    >>> result = binary_errors([[1, -1, -1], [1, -1, -1], [-1, -1, 1]], [0, 1, 2], code)
    >>> result.problem_errors
    array([0.33333333, 0.33333333, 0.        ])
    >>> result.wrong_samples, result.blamed
    (array([1]), array([[ True,  True, False]]))
    """
    code = code if isinstance(code, Code) else Code(code)
    rows = class_indices(y, code.n_classes, classes)
    scores = decode(outputs, code, rule)
    if len(scores) != len(rows):
        raise ValueError(f"outputs has {len(scores)} samples and y has {len(rows)}.")
    target = code.matrix[rows]
    mistaken = (np.sign(np.asarray(outputs, dtype=float)) != target) & (target != 0)
    taking_part = (target != 0).sum(axis=0)
    wrong = np.flatnonzero(scores.argmax(axis=1) != rows)
    return BinaryErrors(
        problem_errors=np.where(
            taking_part > 0, mistaken.sum(axis=0) / np.maximum(taking_part, 1), np.nan
        ),
        wrong_samples=wrong,
        blamed=mistaken[wrong],
    )
