"""Preparation of features: numbers standardised, other columns one-hot encoded."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from polychotomy.datasets import make_preprocessor
from polychotomy.datasets.scaling import GapScaler
from polychotomy.errors import DataError

_DENSE_LIMIT = 4 * 2**30
_FULL = 2 / 3  # beyond this share of entries, a sparse matrix takes more memory than a dense one
PREPARATIONS = ("standard", "all_standard", "none")


class Preparation(TransformerMixin, BaseEstimator):
    """Standardise numbers, replace missing ones by the mean, one-hot encode other columns.

    Data frames are prepared by :func:`polychotomy.datasets.make_preprocessor`. Arrays and frames of
    numbers alone give the same result faster; arrays of texts become data frames first. Sparse
    matrices stay sparse: columns with entries beyond ±1 are divided by the largest of them. Those
    with few zeros, which take more memory than dense ones, are standardised like arrays.

    Parameters
    ----------
    standardise_indicators : bool, default=False
        Whether indicators are standardised, too, as the papers on single binary classifiers do.
    text : mapping of str to {"words", "chars"} or None
        Columns of text, and what is counted in them.
    dense : bool, default=False
        Whether to return a dense matrix even for sparse matrices and columns of text.

    Attributes
    ----------
    columns_ : list
        Names of the columns that are used, or their numbers; not of sparse matrices.
    used_ : ndarray of shape (n_features_in_,)
        Which columns these are.
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

    def __init__(
        self,
        standardise_indicators: bool = False,
        text: Mapping[str, str] | None = None,
        dense: bool = False,
    ) -> None:
        self.standardise_indicators = standardise_indicators
        self.text = text
        self.dense = dense

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn means, deviations and values from the training samples.

        Parameters
        ----------
        X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
        y : object
            Not used.

        Returns
        -------
        self
        """
        X = self._checked(X, reset=True)
        if issparse(X):
            self.transformer_ = MaxAbsScaler().fit(X)
            self.transformer_.scale_ = np.maximum(self.transformer_.scale_, 1.0)
            return self
        if isinstance(X, np.ndarray):
            self.used_ = ~np.isnan(X).all(axis=0)
            if not self.used_.any():
                raise ValueError("No column of X can be used: all values are missing.")
            self.transformer_ = GapScaler().fit(X[:, self.used_])
            return self
        preprocessor = make_preprocessor(X, self.text, dense=self.dense)
        parts = [columns for _, _, columns in preprocessor.transformers]
        used = {name for part in parts for name in (part if isinstance(part, list) else [part])}
        self.used_ = np.array([name in used for name in X.columns])
        if self.standardise_indicators:
            preprocessor = make_pipeline(preprocessor, StandardScaler())
        self.transformer_ = preprocessor.fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of samples.

        Parameters
        ----------
        X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        features : ndarray of shape (n_samples, n_prepared)
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if self._form == "sparse":
            return self._as_dense(self.transformer_.transform(X))
        if self._form == "frame":
            return self.transformer_.transform(X)
        features = self.transformer_.transform(X[:, self.used_])
        return np.ascontiguousarray(np.where(np.isnan(features), 0.0, features))

    @property
    def columns_(self) -> list[Any]:
        """Names of the columns that are used, or their numbers."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        return list(names[self.used_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags

    @property
    def _form(self) -> str:
        """In which form the training samples were prepared, see :func:`_form_of`."""
        if isinstance(self.transformer_, GapScaler):
            return "numbers"
        return "sparse" if isinstance(self.transformer_, MaxAbsScaler) else "frame"

    def _checked(self, X: Any, reset: bool) -> Any:
        """Return a data frame, a sparse matrix, or an array of numbers without infinite ones."""
        if framed := is_data_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            X = _as_pandas(X)
        form = _form_of(X, self.text) if reset else self._form
        if framed and form != "numbers":
            return X
        if framed:
            numbers = X.to_numpy(float, na_value=np.nan)
            return check_array(numbers, ensure_all_finite="allow-nan", order="F")
        if form == "sparse":
            X = X if issparse(X) else csr_array(X)
            return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=float)
        X = X.toarray() if issparse(X) and form == "numbers" else X
        given = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False, order="F")
        if form == "frame":
            return self._framed(given, reset)
        try:
            numbers = np.asarray(given, dtype=float)
        except ValueError:  # texts; what is neither text nor number raises TypeError
            return self._framed(given, reset)
        options: dict[str, Any] = {"ensure_all_finite": "allow-nan", "order": "F"}
        return validate_data(self, numbers, reset=False, dtype=float, **options)

    def _as_dense(self, X: Any) -> Any:
        """Return sparse features, dense if that is wanted."""
        if not self.dense:
            return X
        if 8 * X.shape[0] * X.shape[1] > _DENSE_LIMIT:
            raise DataError(
                f"The samples have {X.shape[0]} x {X.shape[1]} numbers, mostly zeros: too many for "
                "a learner that does not take sparse matrices. Choose another, such as logistic."
            )
        return X.toarray()

    def _framed(self, X: Any, reset: bool) -> Any:
        import pandas as pd

        names = range(X.shape[1]) if reset else getattr(self, "feature_names_in_", None)
        return pd.DataFrame(X, columns=names).infer_objects()


def needs_dense(classifier: Any) -> bool:
    """Whether a classifier takes no sparse matrices."""
    return not get_tags(classifier).input_tags.sparse


def is_data_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas or polars."""
    return type(X).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(X, "columns")


def _form_of(X: Any, text: Mapping[str, str] | None) -> str:
    """Return in which form samples are prepared: "frame", "sparse", or "numbers" if they are."""
    if is_data_frame(X):
        plain = not text and all(kind.kind in "iuf" for kind in X.dtypes)
        return "numbers" if plain else "frame"
    sparse = issparse(X) and X.nnz <= _FULL * X.shape[0] * X.shape[1]
    return "sparse" if sparse else "numbers"


def _as_pandas(X: Any) -> Any:
    """Return a data frame of pandas with the columns of another."""
    if hasattr(X, "iloc"):
        return X
    import pandas as pd

    return pd.DataFrame({name: X[name].to_numpy() for name in X.columns})


def suitable_preparation(preparation: str | None, X: Any, classifier: Any) -> str:
    """Return "standard" or "none": how the samples of X are prepared for a classifier.

    Kernels and texts are left as they are. So are all samples for pipelines, which
    prepare by themselves, and for learners that need positive features. Of an untrained classifier
    its binary learner counts, too.
    """
    if preparation is None:
        return "none"
    if preparation != "standard":
        raise ValueError(
            f"The 'preparation' parameter must be 'standard' or None. Got {preparation!r}."
        )
    array = issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)
    parts = (classifier, getattr(classifier, "estimator", None))
    if not (array or is_data_frame(X)) or any(isinstance(part, Pipeline) for part in parts):
        return "none"
    tags = get_tags(classifier).input_tags
    return "none" if tags.pairwise or tags.positive_only else "standard"
