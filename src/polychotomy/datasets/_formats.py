"""Readers of CSV, Parquet, ARFF and LIBSVM files, which return data frames."""

import csv
import re
import warnings
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from gzip import open as open_gzip
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

from polychotomy.datasets._columns import check_names, choose_target
from polychotomy.errors import DataError, require

Frame = Any  # a pandas.DataFrame; pandas is imported when it is needed

NO_TARGET = ""  # for files that need no labels

_MISSING = ["", "NA", "NaN", "nan", "N/A", "null", "?"]
_TRUTH = {
    text: text.lower() == "true" for text in ("True", "TRUE", "true", "False", "FALSE", "false")
}
_SAMPLE = 2**18
_DENSE_LIMIT = 4 * 2**30
_DECIMAL = {mark: re.compile(rf"[-+]?\d*{re.escape(mark)}\d+") for mark in ".,"}


def read_csv(path: Path, target: str | None, nominal: Collection[str] = ()) -> Frame:
    """Read a text table with a header; the delimiter is a comma, semicolon, tab or bar.

    The target is needed because "NA" or "?" is a label there, but a missing value elsewhere, and
    because labels keep their text. A first column without a name contains row numbers and is
    dropped. Columns in `nominal` keep their text, such as "01", except for truth values.
    """
    with _expecting(path, "a table of text (CSV)"):
        rows, delimiter = _first_rows(path)
        header = _header(path, rows)
        missing: dict[str, list[str]] = dict.fromkeys(header, _MISSING)
        texts = set(nominal)
        if target != NO_TARGET:
            labels = choose_target(header, target, path)
            missing[labels] = [""]
            texts.add(labels)
        pd = require("pandas", extra="data")
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # lines that are too long
            frame = pd.read_csv(
                path,
                sep=delimiter,
                decimal=_decimal(rows, delimiter),
                names=header,
                header=0,
                index_col=False,
                skipinitialspace=True,
                keep_default_na=False,
                na_values=missing,
                encoding="utf-8-sig",
                low_memory=False,
                dtype={name: str for name in header if name in texts},
            )
    for name in frame.columns.intersection(list(nominal)):
        if frame[name].dropna().isin(_TRUTH).all():  # as pandas does when it infers types
            frame[name] = frame[name].map(_TRUTH)
    return frame.drop(columns=[""]) if "" in header else frame


def read_parquet(path: Path, target: str | None) -> Frame:
    """Read a Parquet file, with pyarrow."""
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            raise _not_what_it_says(path, "a Parquet file")
    require("pyarrow", extra="parquet")
    with _expecting(path, "a Parquet file"):
        frame = require("pandas", extra="data").read_parquet(path, engine="pyarrow")
    frame.columns = [str(column) for column in frame.columns]
    return frame.reset_index(drop=True)


def read_arff(path: Path, target: str | None) -> Frame:
    """Read an ARFF file with numeric and nominal attributes, through SciPy."""
    from scipy.io import arff

    pd = require("pandas", extra="data")
    with _expecting(path, "an ARFF file of numeric and nominal attributes"), _text(path) as file:
        # SciPy stores nominal values as ASCII, so other letters are written as numbers.
        text = file.read().encode("ascii", "xmlcharrefreplace").decode("ascii")
        records, meta = arff.loadarff(StringIO(text))
        columns = {}
        for name, kind in zip(meta.names(), meta.types(), strict=True):
            values = pd.Series(records[name])
            if kind == "nominal":
                values = values.str.decode("ascii").map(_arff_value).astype("category")
                values = values.cat.remove_categories(
                    [c for c in values.cat.categories if c == "?"]
                )
            columns[_arff_value(name)] = values
    return pd.DataFrame(columns)


def read_libsvm(path: Path, target: str | None) -> Frame:
    """Read a LIBSVM file: features x1, x2, … and, last, a column "label"."""
    from sklearn.datasets import load_svmlight_file

    with _expecting(path, "a LIBSVM file"):
        X, y = load_svmlight_file(str(path))
    if 8 * X.shape[0] * X.shape[1] > _DENSE_LIMIT:
        raise DataError(
            f"{path} has {X.shape[0]} x {X.shape[1]} numbers, mostly zeros: too many when dense. "
            "Read it with sklearn.datasets.load_svmlight_file and fit the sparse matrix."
        )
    columns = [f"x{i}" for i in range(1, X.shape[1] + 1)]
    frame = require("pandas", extra="data").DataFrame(X.toarray(), columns=columns)
    return frame.assign(label=y)


def _arff_value(text: str) -> str:
    """Return a value or name without quotes, with its non-ASCII letters restored."""
    text = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
    return re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), text)


READERS: dict[str, Callable[..., Frame]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".txt": read_csv,
    ".data": read_csv,
    ".parquet": read_parquet,
    ".arff": read_arff,
    ".libsvm": read_libsvm,
    ".svmlight": read_libsvm,
    ".svm": read_libsvm,
}


def _first_rows(path: Path) -> tuple[list[list[str]], str]:
    """Return the fields of the first lines, and their delimiter."""
    with _text(path) as file:
        sample = file.read(_SAMPLE)
    if not sample.strip():
        raise DataError(f"{path} is empty.")
    if any(ord(c) < 32 and c not in "\t\n\r\f" for c in sample):
        raise _not_what_it_says(path, "a table of text (CSV)")
    cut = len(sample) == _SAMPLE
    tables = {d: _fields(sample, d, cut=cut) for d in ",;\t|"}

    def suits(delimiter: str) -> tuple[bool, float, int]:
        rows = tables[delimiter]
        width = len(rows[0])
        return width > 1, sum(len(row) == width for row in rows) / len(rows), width

    best = max(tables, key=suits)
    return tables[best], best


def _fields(sample: str, delimiter: str, *, cut: bool) -> list[list[str]]:
    rows = [
        row
        for row in csv.reader(
            StringIO(sample, newline=""), delimiter=delimiter, skipinitialspace=True
        )
        if row
    ]
    return rows[:-1] if cut and len(rows) > 1 else rows


def _header(path: Path, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the column names from the first line, or raise DataError if it is a sample.

    Ascending numbers, such as wavelengths, may be names, unless the other fields of the line occur
    as values in their columns.
    """
    names = [name.strip() for name in rows[0]]
    number = re.compile(r"[-+]?\d*\.?\d+(e[-+]?\d+)?")
    numbers = [float(name) for name in names if number.fullmatch(name)]
    others = [(j, name) for j, name in enumerate(names) if name and not number.fullmatch(name)]
    is_sample = bool(numbers and others) and all(
        any(row[j].strip() == name for row in rows[1:] if len(row) > j) for j, name in others
    )
    if is_sample or any(b <= a for a, b in pairwise(numbers)):
        raise DataError(f"The first line of {path} must name the columns. Got numbers.")
    check_names(names[1:] if names[0] == "" else names, path)
    return names


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    """Return the decimal mark: "," if the table writes 1,5 for one and a half."""
    cells = [cell for row in rows[1:] for cell in row]
    commas, points = (any(_DECIMAL[m].fullmatch(cell) for cell in cells) for m in ",.")
    return "," if delimiter != "," and commas and not points else "."


def _text(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return open_gzip(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


@contextmanager
def _expecting(path: Path, kind: str) -> Iterator[None]:
    """Turn a parser's exception into a DataError with a message for the user."""
    from scipy.io.arff import ArffError

    try:
        yield
    except (DataError, FileNotFoundError, IsADirectoryError, PermissionError, ImportError):
        raise
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not UTF-8 text. If it is text in another encoding, such as Latin-1 or "
            "UTF-16, save it as UTF-8 (in spreadsheets: CSV UTF-8)."
        ) from error
    except (
        ArffError,
        csv.Error,
        OSError,
        EOFError,
        zlib.error,
        ValueError,
        LookupError,
        NotImplementedError,
        StopIteration,
        Warning,
    ) as error:
        raise _not_what_it_says(path, kind, str(error)) from error


def _not_what_it_says(path: Path, kind: str, reason: str = "") -> DataError:
    lines = " ".join(reason.split())
    return DataError(
        f"{path} is not {kind}, or is damaged" + (f": {lines[:200]}" if lines else ".")
    )
