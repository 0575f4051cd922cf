"""A scaler for columns with missing values; separate because it imports scikit-learn."""

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

_SAFE = 2.0**300  # squares of larger numbers overflow, those of their inverses vanish


class GapScaler(StandardScaler):
    """A StandardScaler that ignores missing values and does not warn about empty columns.

    Columns of very large or very small numbers are standardised like any others: they are first
    divided by a power of two, which changes no digit.

    Attributes
    ----------
    powers_ : ndarray of shape (n_features,)
        The powers of two; 1 for all usual columns.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "GapScaler":
        """Compute means and standard deviations of the values that are not missing."""
        values = np.asarray(X, dtype=float)
        largest = np.fmax.reduce(np.abs(values), axis=0, initial=0.0)
        unusual = (largest > _SAFE) | ((largest > 0) & (largest < 1 / _SAFE))
        powers = np.where(unusual, np.frexp(largest)[1], 0)
        self.powers_ = np.ldexp(1.0, np.clip(powers, -1000, 1000))
        with np.errstate(invalid="ignore"):  # the mean of an empty column
            return super().fit(self._usual(X), y, sample_weight)

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Standardise samples by the means and deviations of the training part."""
        return super().transform(self._usual(X), copy)

    def _usual(self, X: Any) -> Any:
        """Return X itself, or its columns divided by the powers of two."""
        return X if (self.powers_ == 1).all() else X / self.powers_
