"""A scaler for columns with missing values, in its own module because it imports scikit-learn."""

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler


class GapScaler(StandardScaler):
    """A StandardScaler that ignores missing values and does not warn about empty columns."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "GapScaler":
        """Compute means and standard deviations of the values that are not missing."""
        with np.errstate(invalid="ignore"):  # the mean of an empty column
            return super().fit(X, y, sample_weight)
