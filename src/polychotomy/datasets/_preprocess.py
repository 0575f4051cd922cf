"""Preprocessing: from a data frame with text and missing values to a numeric matrix."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from polychotomy.datasets._columns import listed
from polychotomy.errors import DataError, require

_MOST_INDICATORS = 100
_MOST_TERMS = 50_000
_TERMS: dict[str, dict[str, Any]] = {
    "words": {"token_pattern": r"(?u)\b\w+\b"},
    "chars": {"analyzer": "char_wb", "ngram_range": (1, 4)},
}


def make_preprocessor(
    frame: Any, text: Mapping[str, str] | None = None, *, dense: bool = False
) -> Any:
    """Return a transformer that standardises numbers and one-hot encodes everything else.

    It is not fitted: put it before a classifier in a pipeline, so that it learns from the training
    part only.

    * Numbers are standardised, ignoring missing values, which become the mean (0). Constant columns
      become 0.
    * Text, categories and truth values get an indicator for each value; missing is a value of its
      own. Values that are unknown from training set no indicator. With more than 100 values in a
      column, the rarest share an indicator.
    * Columns of text become frequencies of their words, or of sequences of up to four characters
      within words, weighted by rarity (tf–idf). The 50 000 most frequent are used.
    * Empty columns are dropped, and text columns in which no value occurs twice, since they only
      name the rows.

    The papers on SBC standardise the indicators too: add a ``StandardScaler`` after this, which
    leaves the numbers as they are.

    Parameters
    ----------
    frame : DataFrame
        Features; only the types of columns and the repetition of values are used.
    text : mapping of str to {"words", "chars"}, optional
        Columns of text, and what is counted in them.
    dense : bool, default=False
        Whether the matrix is dense even with columns of text, which have mostly zeros.

    Returns
    -------
    ColumnTransformer
        Returns a matrix of shape (n_samples, numbers + indicators + terms), dense unless there are
        columns of text.

    Raises
    ------
    DataError
        If there are columns of dates or durations, or no usable columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from polychotomy.datasets import make_preprocessor
    >>> frame = pd.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})
    >>> make_preprocessor(frame).fit_transform(frame)
    array([[-1.,  0.,  1.],
           [ 0.,  1.,  0.],
           [ 1.,  0.,  1.]])
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    from polychotomy.datasets.scaling import GapScaler

    text = text or {}
    numbers, nominal = _kinds(frame, text)
    fill = SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True)
    indicators = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=_MOST_INDICATORS, sparse_output=False
    )
    as_texts = FunctionTransformer(_texts, feature_names_out="one-to-one")
    steps = [
        ("numbers", make_pipeline(GapScaler(), fill), numbers),
        ("indicators", make_pipeline(as_texts, indicators), nominal),
    ]
    for name in (name for name in frame.columns if name in text):
        terms = TfidfVectorizer(sublinear_tf=True, max_features=_MOST_TERMS, **_TERMS[text[name]])
        steps.append((f"text {name}", make_pipeline(FunctionTransformer(_lines), terms), name))
    return ColumnTransformer(steps, sparse_threshold=0.0 if dense else 0.3)


def column_remarks(frame: Any, text: Collection[str] = ()) -> list[str]:
    """Return remarks on columns that :func:`make_preprocessor` drops or may misinterpret.

    Raises the same errors as :func:`make_preprocessor`.

    Parameters
    ----------
    frame : DataFrame or sparse array
        Features.
    text : collection of str
        Columns of text.

    Examples
    --------
    >>> import pandas as pd
    >>> from polychotomy.datasets import column_remarks
    >>> frame = pd.DataFrame({"id": [7, 8, 9], "name": ["a", "b", "c"], "size": [2, 5, 1]})
    >>> for remark in column_remarks(frame):
    ...     print(remark)
    Left out, since no value occurs twice: 'name'.
    Used as numbers, although they only count the rows: 'id'.
    """
    if not hasattr(frame, "columns"):
        return []
    numbers, nominal = _kinds(frame, text)
    names = list(frame.columns.difference([*numbers, *nominal, *text], sort=False))
    steps = np.diff(frame[numbers].to_numpy(float, na_value=np.nan), axis=0)
    counting = [name for name, one in zip(numbers, (steps == 1).all(axis=0), strict=True) if one]
    counting = counting if len(frame) > 2 else []
    remarks = {
        "Left out, since no value occurs twice": names,
        "Used as numbers, although they only count the rows": counting,
    }
    return [f"{said}: {listed(which)}." for said, which in remarks.items() if which]


def used_columns(frame: Any, text: Collection[str] = ()) -> list[Any]:
    """Return the columns that :func:`make_preprocessor` uses, in the order of the frame.

    `text` are the columns of text, which are all used.

    Examples
    --------
    >>> import pandas as pd
    >>> from polychotomy.datasets import used_columns
    >>> used_columns(pd.DataFrame({"name": ["a", "b", "c"], "soil": ["clay", "clay", "sand"]}))
    ['soil']
    """
    used = {name for names in _kinds(frame, text) for name in names} | set(text)
    return [name for name in frame.columns if name in used]


def _kinds(frame: Any, text: Collection[str]) -> tuple[list[Any], list[Any]]:
    """Return the numeric and the nominal columns."""
    pd = require("pandas", extra="data")
    if not isinstance(frame, pd.DataFrame):
        raise ValueError(
            "The 'frame' parameter of make_preprocessor must be a pandas.DataFrame. "
            f"Got {type(frame).__name__} instead."
        )
    frame = frame.drop(columns=list(text))
    dates = frame.select_dtypes(["datetime", "datetimetz", "timedelta"]).columns
    if len(dates):
        raise DataError(f"Dates and durations must be turned into numbers first: {listed(dates)}.")
    frame = frame.loc[:, frame.notna().any()]
    numbers = frame.select_dtypes("number").columns
    nominal = [
        name for name in frame.columns.difference(numbers, sort=False) if _occurs_twice(frame[name])
    ]
    if len(numbers) + len(nominal) + len(text) == 0:
        raise DataError("No column can be used: all are empty or only name the rows.")
    return list(numbers), nominal


def _occurs_twice(column: Any) -> bool:
    """Whether a value that is not missing occurs twice."""
    codes = column.astype("category").cat.codes.to_numpy()
    return bool(np.bincount(codes[codes >= 0]).max() > 1)


def _texts(frame: Any) -> Any:
    """Return the values as strings, so that types can be mixed, and NaN for missing values."""
    return frame.astype("string").astype(object).where(frame.notna(), np.nan)


def _lines(column: Any) -> Any:
    """Return a column of text as strings, those that are missing as empty ones."""
    return column.astype("string").fillna("").to_numpy(object)
