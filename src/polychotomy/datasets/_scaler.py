"""A scaler for columns that may lack values (a module of its own: it imports scikit-learn)."""

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler


class GapScaler(StandardScaler):
    """Standardise what is there; in a column without values nothing is, and that is no warning."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "GapScaler":
        """Take the means and deviations of the values that are there."""
        with np.errstate(invalid="ignore"):  # no mean of no values
            return super().fit(X, y, sample_weight)
