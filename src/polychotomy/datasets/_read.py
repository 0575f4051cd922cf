"""Reading of users' own files into the same form as the known data sets."""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polychotomy.datasets._columns import (
    check_features,
    check_names,
    check_target,
    choose_target,
    listed,
)
from polychotomy.datasets._formats import NO_TARGET, READERS, read_csv, read_libsvm
from polychotomy.errors import DataError, require


def read(path: str | os.PathLike[str], target: str | None = None) -> Any:
    r"""Read a file of labelled samples; the format follows from its name.

    * ``.csv``, ``.tsv``, ``.txt``, ``.data``: UTF-8 text with a header; comma, semicolon, tab or
      bar between the fields. Missing values: an empty field, NA, NaN, N/A, null or "?".
    * ``.parquet``: needs pyarrow.
    * ``.arff``: numeric and nominal attributes.
    * ``.libsvm``, ``.svmlight``, ``.svm``: features x1, x2, …; the target is called label.

    All except Parquet may be compressed, with ``.gz`` at the end. Numbers stay numbers; every other
    column is nominal and becomes categorical. A column "split" with the values train and test is a
    fixed split.

    Parameters
    ----------
    path : str or path
        The file.
    target : str or None
        The column with the classes; by default one called class, target, label or y, else the last.

    Returns
    -------
    Bunch
        ``data`` (frame of features), ``target`` (array of labels), ``train`` and ``test`` (row
        numbers, or None), ``nominal`` (names of columns), ``target_name`` (the column of the
        labels), ``name``, ``DESCR``, ``source``.

    Raises
    ------
    DataError
        If the file has another format than its name says, the target is missing or has no classes,
        columns have equal names or no values, or there are no rows or no features.
    FileNotFoundError
        If the file does not exist.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from polychotomy.datasets import read
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "fruit.csv"
    ...     size = path.write_text("weight;skin;kind\n150;smooth;apple\n120;rough;orange\n"
    ...                            "160;smooth;apple\n")
    ...     fruit = read(path)
    >>> fruit.data.shape, fruit.nominal, fruit.target.tolist()
    ((3, 2), ['skin'], ['apple', 'orange', 'apple'])
    """
    path = Path(path)
    return _bunch(_reader(path)(path, target), target, path)


def read_features(
    path: str | os.PathLike[str], names: Sequence[str], nominal: Collection[str] = ()
) -> Any:
    r"""Read the features of samples to classify; other columns of the file are ignored.

    Parameters
    ----------
    path : str or path
        The file, in a format of :func:`read`, with or without labels.
    names : sequence of str
        The features to return, in this order. In a LIBSVM file, which omits zeros, missing
        features are 0.
    nominal : collection of str
        The nominal features; all others must be numbers.

    Returns
    -------
    DataFrame
        These columns. Values may be missing.

    Raises
    ------
    DataError
        If the file has another format than its name says, has no rows or lacks a column, or if
        numbers are not finite.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from polychotomy.datasets import read_features
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "fruit.csv"
    ...     size = path.write_text("skin;price;weight\nsmooth;3;150\nrough;2;120\n")
    ...     fruit = read_features(path, ["weight", "skin"], nominal=["skin"])
    >>> fruit.to_numpy().tolist()
    [[150, 'smooth'], [120, 'rough']]
    """
    path = Path(path)
    reader = _reader(path)
    known = {"nominal": nominal} if reader is read_csv else {}  # other formats declare it
    frame = reader(path, NO_TARGET, **known)
    check_names(list(frame.columns), path)
    if len(frame) == 0:
        raise DataError(f"{path} has no rows.")
    if reader is read_libsvm:
        frame = frame.assign(**{name: 0.0 for name in names if name not in frame})
    lacking = [name for name in names if name not in frame]
    if lacking:
        raise DataError(
            f"{path} must have the columns {listed(names)}. It lacks {listed(lacking)}."
        )
    return require("pandas", extra="data").DataFrame(
        {
            name: _nominal(frame[name]) if name in nominal else _numbers(frame[name], path)
            for name in names
        }
    )


def _nominal(column: Any) -> Any:
    """Return a column as categories; whole numbers stay whole despite missing values."""
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")
    return column.astype("category")


def _numbers(column: Any, path: Path) -> Any:
    """Return a column as numbers, or raise DataError for the first value that is not one."""
    numbers = require("pandas", extra="data").to_numeric(column, errors="coerce").astype(float)
    wrong = np.flatnonzero((numbers.isna() & column.notna()) | np.isinf(numbers))
    if wrong.size:
        raise DataError(
            f"The column {column.name!r} of {path} must contain finite numbers. "
            f"Got {str(column.iloc[wrong[0]])[:50]!r} in row {wrong[0] + 1}."
        )
    return column if column.dtype.kind in "iuf" else numbers


def _reader(path: Path) -> Callable[..., Any]:
    """Return the reader of a file, by the ending of its name."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    endings = [suffix.lower() for suffix in path.suffixes if suffix != ".gz"]
    if not endings or endings[-1] not in READERS:
        raise DataError(
            f"The format of {path} is unknown: its name must end in one of {', '.join(READERS)}."
        )
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty.")
    return READERS[endings[-1]]


def _bunch(frame: Any, target: str | None, path: Path) -> Any:
    """Split a validated frame into features and labels."""
    from sklearn.utils import Bunch

    check_names(list(frame.columns), path)
    if len(frame) == 0:
        raise DataError(f"{path} has no rows.")
    target = choose_target(list(frame.columns), target, path)
    frame, remarks = _labelled(frame, target, path)
    y = frame.pop(target)
    train, test = _split(frame)
    check_features(frame, path)
    y = check_target(y, target, path)
    nominal = make_categorical(frame)
    return Bunch(
        data=frame,
        target=y,
        target_name=target,
        train=train,
        test=test,
        nominal=nominal,
        remarks=remarks,
        name=path.name.partition(".")[0],
        DESCR="",
        source=str(path),
    )


def _labelled(frame: Any, target: str, path: Path) -> tuple[Any, list[str]]:
    """Return the rows that have a label, and a remark if some have none."""
    has = frame[target].notna()
    missing = len(frame) - int(has.sum())
    if missing == 0:
        return frame, []
    if missing == len(frame):
        raise DataError(f"No row of {path} has a label in the column {target!r}.")
    remark = f"Left out, since they have no label: {missing} of {len(frame)} rows."
    return frame[has].reset_index(drop=True), [remark]


def _split(frame: Any) -> tuple[Any, Any]:
    """Remove the column "split" if there is one, and return the rows of its parts."""
    if "split" not in frame or set(frame["split"]) != {"train", "test"}:
        return None, None
    part = frame.pop("split").to_numpy()
    return np.flatnonzero(part == "train"), np.flatnonzero(part == "test")


def make_categorical(frame: Any) -> list[str]:
    """Make all columns categorical except numbers and dates, and return their names."""
    names = frame.select_dtypes(exclude=["number", "datetime", "datetimetz", "timedelta"]).columns
    try:
        for name in names:
            frame[name] = frame[name].astype("category")
    except TypeError:
        raise DataError(f"Columns must contain single values, unlike {listed([name])}.") from None
    return list(names)
