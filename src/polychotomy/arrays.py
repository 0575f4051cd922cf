"""Types of the arrays that all packages exchange."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Real numbers: outputs, scores, probabilities, weights."""

Indices = NDArray[np.intp]
"""Numbers of samples, classes or problems."""

Matrix = NDArray[np.int8]
"""Entries −1, 0 and +1: codes and targets."""

Mask = NDArray[np.bool_]
"""Which samples, classes or problems."""

Folds = Sequence[tuple[Indices, Indices]]
"""The samples to train on and those to test on, for each fold."""
