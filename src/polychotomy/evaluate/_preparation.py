"""Features as classifiers take them: numbers standardised, all else as indicators."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from polychotomy.datasets import make_preprocessor, used_columns

PREPARATIONS = ("standard", "all_standard", "none")


class Preparation(TransformerMixin, BaseEstimator):
    """Standardise numbers, fill their gaps with the mean, and turn other columns into indicators.

    Data frames are prepared by :func:`polychotomy.datasets.make_preprocessor`. Arrays of numbers
    give the same result without pandas; arrays that hold texts become data frames first.

    Parameters
    ----------
    standardise_indicators : bool, default=False
        Whether indicators are standardised, too, as the papers on single binary classifiers do.

    Attributes
    ----------
    columns_ : list
        Names of the columns that are used, or their numbers.
    transformer_ : transformer
        Does the work.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the samples had names.

    Examples
    --------
    >>> from polychotomy.evaluate import Preparation
    >>> Preparation().fit_transform([[1.0, 5.0], [float("nan"), 5.0], [3.0, 5.0]])
    array([[-1.,  0.],
           [ 0.,  0.],
           [ 1.,  0.]])
    """

    def __init__(self, standardise_indicators: bool = False) -> None:
        self.standardise_indicators = standardise_indicators

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn means, deviations and values from the training samples.

        Parameters
        ----------
        X : {data frame, array-like} of shape (n_samples, n_features)
        y : object
            Not used.

        Returns
        -------
        self
        """
        X = self._checked(X, reset=True)
        if isinstance(X, np.ndarray):
            self.columns_ = np.flatnonzero(~np.isnan(X).all(axis=0)).tolist()
            if not self.columns_:
                raise ValueError("No column of X can be used: all values are missing.")
            self.transformer_ = StandardScaler().fit(X[:, self.columns_])
            return self
        preprocessor = make_preprocessor(X)
        self.columns_ = used_columns(X)
        if self.standardise_indicators:
            preprocessor = make_pipeline(preprocessor, StandardScaler())
        self.transformer_ = preprocessor.fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of samples.

        Parameters
        ----------
        X : {data frame, array-like} of shape (n_samples, n_features)

        Returns
        -------
        features : ndarray of shape (n_samples, n_prepared)
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if not isinstance(self.transformer_, StandardScaler):
            return self.transformer_.transform(X)
        features = self.transformer_.transform(X[:, self.columns_])
        return np.ascontiguousarray(np.where(np.isnan(features), 0.0, features))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def _checked(self, X: Any, reset: bool) -> Any:
        """Return a data frame, or an array of numbers without infinite ones."""
        if is_data_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return _as_pandas(X)
        options: dict[str, Any] = {"reset": reset, "ensure_all_finite": "allow-nan", "order": "F"}
        given = validate_data(self, X, dtype=None, **{**options, "ensure_all_finite": False})
        as_frame = not reset and not isinstance(self.transformer_, StandardScaler)
        if not as_frame:
            try:
                numbers = np.asarray(given, dtype=float)
            except ValueError:  # texts; what is neither text nor number raises TypeError
                as_frame = True
        if as_frame:
            return self._framed(given, reset)
        return validate_data(self, numbers, dtype=float, **{**options, "reset": False})

    def _framed(self, X: Any, reset: bool) -> Any:
        import pandas as pd

        names = range(X.shape[1]) if reset else getattr(self, "feature_names_in_", None)
        return pd.DataFrame(X, columns=names).infer_objects()


def make_preparation(how: str) -> Preparation | None:
    """Return the untrained preparation of one of these names, None for "none"."""
    if how == "none":
        return None
    return Preparation(standardise_indicators=how == "all_standard")


def is_data_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas or polars."""
    return type(X).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(X, "columns")


def _as_pandas(X: Any) -> Any:
    """Return a data frame of pandas with the columns of another."""
    if hasattr(X, "iloc"):
        return X
    import pandas as pd

    return pd.DataFrame({name: X[name].to_numpy() for name in X.columns})


def suitable_preparation(preparation: str | None, X: Any, classifier: Any) -> str:
    """Return "standard" or "none": how the samples of X are prepared for a classifier.

    Sparse matrices, kernels and texts are left as they are. So are all samples for pipelines, which
    prepare by themselves, and for learners that need positive features. Of an untrained classifier
    its binary learner counts, too.
    """
    if preparation is None:
        return "none"
    if preparation != "standard":
        raise ValueError(
            f"The 'preparation' parameter must be 'standard' or None. Got {preparation!r}."
        )
    array = isinstance(X, np.ndarray) and X.ndim == 2
    parts = (classifier, getattr(classifier, "estimator", None))
    if not (array or is_data_frame(X)) or any(isinstance(part, Pipeline) for part in parts):
        return "none"
    tags = get_tags(classifier).input_tags
    return "none" if tags.pairwise or tags.positive_only else "standard"
