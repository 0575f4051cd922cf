"""Reading of users' own files into the same form as the known data sets."""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polychotomy.datasets._columns import (
    check_features,
    check_names,
    check_target,
    choose_target,
    listed,
    target_remarks,
)
from polychotomy.datasets._dates import as_days, date_format
from polychotomy.datasets._formats import READERS, SPARSE, read_libsvm
from polychotomy.datasets._reading import Reading, ways_of_text
from polychotomy.errors import DataError, require


def read(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    text: Mapping[str, str] | Sequence[str] = (),
    encoding: str = "utf-8",
    header: bool = True,
) -> Any:
    r"""Read a file of labelled samples; the format follows from its name.

    * ``.csv``, ``.tsv``, ``.txt``, ``.data``: text with a header; comma, semicolon, tab or bar
      between the fields. Missing values: an empty field, NA, NaN, N/A, null or "?".
    * ``.parquet``: needs pyarrow.
    * ``.xlsx``: the first sheet; needs openpyxl.
    * ``.arff``: numeric and nominal attributes.
    * ``.npz``: arrays X and y of NumPy; the features are called x1, x2, …, the target y.
    * ``.libsvm``, ``.svmlight``, ``.svm``: sparse rows; features x1, x2, …; the target is called
      label.

    Text files, ARFF and LIBSVM may be compressed, with ``.gz`` at the end. Numbers stay numbers,
    dates become days since 1970; every other column is nominal and becomes categorical. A column
    "split" with the values train and test is a fixed split. Rows without a label and columns
    without a value are left out. Labels are integers if all of them are written as plain integers,
    and texts otherwise.

    Parameters
    ----------
    path : str or path
        The file.
    target : str or None
        The column with the classes; by default one called class, target, label or y, else the last.
    drop, nominal : sequence of str
        Columns to leave out, and columns whose numbers are only names.
    text : mapping of str to {"words", "chars"}, or sequence of str
        Columns of text, which :func:`make_preprocessor` turns into frequencies of their words, or
        of sequences of up to four characters.
    encoding : str, default="utf-8"
        Encoding of text files.
    header : bool, default=True
        Whether the first line of a text or Excel file names the columns. If not, they are called
        x1, x2, …

    Returns
    -------
    Bunch
        ``data`` (frame of features; of LIBSVM files a sparse array), ``target`` (array of labels),
        ``train`` and ``test`` (row numbers, or None), ``nominal`` (names of columns), ``text``
        (columns of text), ``target_name`` (the column of the labels), ``remarks`` (sentences on
        what was left out or converted), ``reading`` (what :func:`read_features` needs to read more
        samples in the same way), ``name``, ``DESCR``, ``source``.

    Raises
    ------
    DataError
        If the file has another format than its name says, a column that is named does not exist,
        the target has no classes, columns have equal names, numbers are infinite, or there are no
        rows or no features.
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
    reading = Reading(
        target,
        drop=tuple(drop),
        nominal=tuple(nominal),
        text=ways_of_text(text),
        encoding=encoding,
        header=header,
    )
    return _sparse_bunch(path, reading) if file_ending(path) in SPARSE else _bunch(path, reading)


def read_features(
    path: str | os.PathLike[str],
    names: Sequence[str],
    nominal: Collection[str] = (),
    *,
    text: Collection[str] = (),
    dates: Mapping[str, str] | None = None,
    target: str | None = None,
    encoding: str = "utf-8",
    header: bool | Sequence[str] = True,
    sparse: int | None = None,
    keep: Sequence[str] = (),
) -> Any:
    r"""Read the features of samples to classify; other columns of the file are ignored.

    The keyword arguments are those in ``reading`` of what :func:`read` returns.

    Parameters
    ----------
    path : str or path
        The file, in a format of :func:`read`, with or without labels.
    names : sequence of str
        The features to return, in this order. In a LIBSVM file, which omits zeros, missing
        features are 0.
    nominal, text : collection of str
        The nominal features, and those of text; all others must be numbers.
    dates : mapping of str to str
        The features that are dates, and how they are written.
    target : str or None
        The column of the labels, which a file without a header may lack.
    encoding : str
        Encoding of text files.
    header : bool or sequence of str
        Whether the first line names the columns; if not, their names may be given.
    sparse : int or None
        Number of features, if LIBSVM files are to be returned as sparse arrays.

    keep : sequence of str
        Further columns to return, where the file has them, such as names of samples or labels.

    Returns
    -------
    DataFrame or sparse array
        These columns, in which values may be missing, then those to keep, as texts.

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
    pd = require("pandas", extra="data")
    if file_ending(path) in SPARSE:
        X, y = read_libsvm(path)
        if sparse is not None:
            return _as_wide(X, sparse)
        known = {f"x{i}": i - 1 for i in range(1, X.shape[1] + 1)}
        columns = {
            name: X[:, [known[name]]].toarray().ravel() if name in known else np.zeros(X.shape[0])
            for name in names
        }
        if "label" in keep:
            columns["label"] = [f"{label:.15g}" for label in y]
        return pd.DataFrame(columns)
    if sparse is not None:
        raise DataError(f"{path} must be a LIBSVM file, as the samples of the training were.")
    keep = [name for name in keep if name not in names]
    frame = _frame(
        path,
        Reading(
            target,
            labelled=False,
            nominal=tuple(nominal),
            text=dict.fromkeys(text, "words"),
            encoding=encoding,
            header=header if isinstance(header, bool) else tuple(header),
            kept=tuple(keep),
        ),
    )
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise DataError(
            f"{path} must have the columns {listed(names)}. It lacks {listed(lacking)}."
        )
    kept = {name: _texts(frame[name]) for name in keep if name in frame}
    return as_features(frame, names, nominal, text, dates or {}, path).assign(**kept)


def as_features(
    frame: Any,
    names: Sequence[str],
    nominal: Collection[str],
    text: Collection[str],
    dates: Mapping[str, str],
    path: Any,
    start: int = 0,
) -> Any:
    """Return these columns of a frame as features; raise DataError for values that are none.

    `start` is the number of rows of the file before those of the frame.
    """
    pd = require("pandas", extra="data")
    frame = frame[list(names)].copy()
    text, nominal = set(text), set(nominal)  # there may be thousands
    for name in names:
        if name in text:
            frame[name] = frame[name].astype(object)
        elif name in nominal:
            frame[name] = _nominal(frame[name])
        elif name in dates:
            days = as_days(frame[name], dates[name])
            frame[name] = _checked(frame[name], days, "dates", path, start)
        elif frame[name].dtype.kind not in "iuf" or np.isinf(frame[name].to_numpy()).any():
            numbers = pd.to_numeric(frame[name], errors="coerce").astype(float)
            frame[name] = _checked(frame[name], numbers, "finite numbers", path, start)
    return frame


def _texts(column: Any) -> Any:
    """Return a column as texts, None where a value is missing."""
    values = _nominal(column).astype(object)
    texts = [
        str(value) if known else None for value, known in zip(values, values.notna(), strict=True)
    ]
    return require("pandas", extra="data").Series(texts, dtype=object)


def _nominal(column: Any) -> Any:
    """Return a column as categories; whole numbers stay whole despite missing values."""
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")
    return column.astype("category")


def _checked(column: Any, numbers: Any, what: str, path: Any, start: int) -> Any:
    """Return the numbers, or raise DataError for the first value of the column that is not one."""
    wrong = np.flatnonzero((numbers.isna() & column.notna()) | np.isinf(numbers))
    if wrong.size:
        raise DataError(
            f"The column {column.name!r} of {path} must contain {what}. "
            f"Got {str(column.iloc[wrong[0]])[:50]!r} in row {start + wrong[0] + 1}."
        )
    return numbers


def file_ending(path: Path) -> str:
    """Return the ending of a file that exists, without .gz, or raise DataError."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    ending = next((s.lower() for s in reversed(path.suffixes) if s != ".gz"), "")
    if ending not in (*READERS, *SPARSE):
        raise DataError(
            f"The format of {path} is unknown: its name must end in one of "
            f"{', '.join((*READERS, *SPARSE))}."
        )
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty.")
    return ending


def _frame(path: Path, reading: Reading) -> Any:
    """Return all columns of a file."""
    frame = READERS[file_ending(path)](path, reading)
    check_names(list(frame.columns), path)
    if len(frame) == 0:
        raise DataError(f"{path} has no rows.")
    return frame.copy()  # in one piece: pandas is slow with thousands of separate columns


def _bunch(path: Path, reading: Reading) -> Any:
    """Split a table into features and labels."""
    frame = _frame(path, reading)
    columns = list(frame.columns)
    target = choose_target(columns, reading.target, path)
    reading.check(columns, target, path)
    remarks = target_remarks(columns, target) if reading.target is None else []
    frame, unlabelled = _labelled(frame, target, path)
    y = frame[target]
    train, test, split = _split(frame)
    frame = frame.drop(columns=[target, *split, *reading.drop])
    empty = frame.columns[frame.isna().all()]
    frame = frame.drop(columns=empty)
    dates = dates_to_days(frame, [*reading.nominal, *reading.text])
    check_features(frame, path)
    for said, names in {
        "Left out, since all values are missing": list(empty),
        "Read as dates, in days since 1970": [n for n, how in dates.items() if how != "duration"],
    }.items():
        remarks += [f"{said}: {listed(names)}."] if names else []
    nominal = make_categorical(frame, reading)
    return _made_bunch(
        path,
        data=frame,
        target=check_target(y, target, path),
        target_name=target,
        train=train,
        test=test,
        nominal=nominal,
        text={name: way for name, way in reading.text.items() if name in frame},
        remarks=remarks + unlabelled,
        reading={
            "text": list(reading.text),
            "dates": dates,
            "target": target,
            "encoding": reading.encoding,
            "header": columns if reading.header is False else True,
        },
    )


def _sparse_bunch(path: Path, reading: Reading) -> Any:
    """Return the samples of a LIBSVM file, which stay sparse."""
    pd = require("pandas", extra="data")
    X, y = read_libsvm(path)
    if reading.drop or reading.as_written:
        raise DataError(f"The features of {path}, a LIBSVM file, are numbers and all of them used.")
    if X.shape[0] == 0:
        raise DataError(f"{path} has no rows.")
    target = choose_target(["label"], reading.target, path)
    return _made_bunch(
        path,
        data=X,
        target=check_target(pd.Series(y), target, path),
        target_name=target,
        train=None,
        test=None,
        nominal=[],
        text={},
        remarks=[],
        reading={"sparse": X.shape[1]},
    )


def _made_bunch(path: Path, **parts: Any) -> Any:
    from sklearn.utils import Bunch

    name = os.fsencode(path.name.partition(".")[0]).decode("utf-8", "replace")
    return Bunch(**parts, name=name, DESCR="", source=str(path))


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


def _split(frame: Any) -> tuple[Any, Any, list[str]]:
    """Return the rows of the parts of a fixed split, and the column that says it."""
    if "split" not in frame or set(frame["split"]) != {"train", "test"}:
        return None, None, []
    part = frame["split"].to_numpy()
    return np.flatnonzero(part == "train"), np.flatnonzero(part == "test"), ["split"]


def dates_to_days(frame: Any, others: Collection[str]) -> dict[str, str]:
    """Turn dates into numbers, and return how they were written."""
    dates = {}
    kinds = frame.dtypes
    for name in kinds.index[[kind.kind not in "iufb" for kind in kinds]].difference(others):
        how = date_format(frame[name])
        if how is not None:
            dates[name] = how
            frame[name] = as_days(frame[name], how)
    return dates


def _as_wide(X: Any, n_features: int) -> Any:
    """Return sparse rows with this number of features: the first, or zeros after them."""
    from scipy.sparse import csr_array

    X = X[:, :n_features]
    return csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))


def make_categorical(frame: Any, reading: Reading | None = None) -> list[str]:
    """Make all columns categorical except numbers, dates and texts, and return their names."""
    reading = reading or Reading()
    others = frame.select_dtypes(exclude=["number", "datetime", "datetimetz", "timedelta"]).columns
    wanted = {*others, *reading.nominal} - {*reading.text}
    names = [name for name in frame.columns if name in wanted]
    try:
        for name in names:
            frame[name] = _nominal(frame[name])
    except TypeError:
        raise DataError(f"Columns must contain single values, unlike {listed([name])}.") from None
    return names
