"""Types of the arrays that all packages exchange."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Real numbers: outputs, scores, probabilities, weights."""

Indices = NDArray[np.intp]
"""Numbers of samples, classes or problems."""

Matrix = NDArray[np.int8]
"""Entries −1, 0 and +1: codes and targets."""
