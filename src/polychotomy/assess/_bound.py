"""The training-error bound of Allwein, Schapire and Singer (Theorem 1)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.assess._class_indices import class_indices
from polychotomy.codes import Code
from polychotomy.decoding import LOSSES, RULES, decode
from polychotomy.errors import unknown_name


@dataclass(frozen=True)
class TrainingErrorBound:
    """The training error, its bound ℓε / (ρ L(0)), and the terms of the bound.

    Attributes
    ----------
    training_error : float
        Fraction of samples that loss-based decoding misclassifies.
    average_loss : float
        ε, the mean of L(A_ys f_s) over samples and problems.
    row_distance : float
        ρ of the code.
    loss_at_zero : float
        L(0).
    n_problems : int
        ℓ.
    """

    training_error: float
    average_loss: float
    row_distance: float
    loss_at_zero: float
    n_problems: int

    @property
    def bound(self) -> float:
        """The bound ℓε / (ρ L(0)); above 1 it is trivial.

        It is increased by a factor 1 + 10⁻¹², so that rounding errors cannot violate it.
        """
        exactly = self.n_problems * self.average_loss / (self.row_distance * self.loss_at_zero)
        return exactly * (1 + 1e-12)


def training_error_bound(
    outputs: ArrayLike, y: ArrayLike, code: Code | ArrayLike, loss: str, *, classes: Any = None
) -> TrainingErrorBound:
    """Return the training error of loss-based decoding and its bound ℓε / (ρ L(0)).

    The theorem holds for every loss with (L(z) + L(−z)) / 2 ≥ L(0) > 0.

    Parameters
    ----------
    outputs : array-like of shape (n_samples, n_problems)
        Outputs of the binary problems, such as ``classifier.binary_outputs(X)``.
    y : array-like of shape (n_samples,)
        Class indices from 0, or labels if `classes` is given or every class occurs.
    code : Code or array-like of shape (n_classes, n_problems)
    loss : {"hamming", "hinge", "squared", "exponential", "logistic", "l1"}
        Other decoding rules raise an error: the theorem does not apply to them.
    classes : array-like of shape (n_classes,), optional
        The labels in the order of the code's rows, such as ``classifier.classes_``.

    Returns
    -------
    TrainingErrorBound

    References
    ----------
    Allwein, Schapire and Singer (2000), Theorem 1; slides 17 to 19.

    Examples
    --------
    >>> from polychotomy import make_code
    >>> from polychotomy.assess import training_error_bound
    >>> code = make_code("one_vs_rest", 3)
    >>> result = training_error_bound([[2, -2, -2], [-2, 2, -2], [1, -1, 1]], [0, 1, 2], code,
    ...                               loss="hinge")
    >>> result.training_error, round(result.bound, 3)
    (0.3333333333333333, 0.333)
    """
    if not isinstance(loss, str) or loss not in LOSSES:
        if isinstance(loss, str) and loss in RULES:
            raise ValueError(
                "The bound needs a loss with (L(z) + L(−z)) / 2 ≥ L(0) > 0, and "
                f"{loss!r} is not one. Use one of {', '.join(map(repr, LOSSES))}."
            )
        raise unknown_name("loss", loss, LOSSES)
    code = code if isinstance(code, Code) else Code(code)
    rows = class_indices(y, code.n_classes, classes)
    scores = decode(outputs, code, loss)
    if len(scores) != len(rows):
        raise ValueError(f"outputs has {len(scores)} samples and y has {len(rows)}.")
    margins = np.asarray(outputs) * code.matrix[rows].astype(float)
    with np.errstate(over="ignore"):  # a loss too large for a float is infinite
        average_loss = float(np.mean(LOSSES[loss].function(margins)))
    return TrainingErrorBound(
        training_error=float(np.mean(scores.argmax(axis=1) != rows)),
        average_loss=average_loss,
        row_distance=code.row_distance,
        loss_at_zero=LOSSES[loss].at_zero,
        n_problems=code.n_problems,
    )
