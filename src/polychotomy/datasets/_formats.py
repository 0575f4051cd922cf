"""Readers of files: CSV, Parquet, ARFF, Excel and NumPy as data frames, LIBSVM as sparse rows."""

import csv
import re
import warnings
from codecs import lookup
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from gzip import open as open_gzip
from importlib import import_module
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from polychotomy.arrays import Array
from polychotomy.datasets._columns import check_names, choose_target
from polychotomy.datasets._reading import Reading
from polychotomy.errors import DataError, require

Frame = Any  # a pandas.DataFrame; pandas is imported when it is needed

_MISSING = ["", "NA", "NaN", "nan", "N/A", "null", "?"]
TRUTH = {
    text: text.lower() == "true" for text in ("True", "TRUE", "true", "False", "FALSE", "false")
}
_SAMPLE = 2**18
CSV = "a table of text (CSV)"
_DECIMAL = {mark: re.compile(rf"[-+]?\d*{re.escape(mark)}\d+") for mark in ".,"}


def read_csv(path: Path, reading: Reading) -> Frame:
    """Read a text table; the delimiter is a comma, semicolon, tab or bar.

    The target is needed because "NA" or "?" is a label there, but a missing value elsewhere, and
    because labels keep their text. So do nominal columns, except for truth values, columns of text,
    and those to keep, in which only empty fields are missing. A first column without a name
    contains row numbers and is dropped.
    """
    with expecting(path, CSV):
        options = csv_options(path, reading)
        pd = require("pandas", extra="data")
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # lines that are too long
            frame = pd.read_csv(path, **options)
    for name in truth_columns(frame, reading.nominal):
        frame[name] = frame[name].map(TRUTH)
    return frame.drop(columns=[""]) if "" in frame.columns else frame


def csv_options(path: Path, reading: Reading, *, whole: bool = True) -> dict[str, Any]:
    """Return the arguments of pandas' reader for a text table, found in its first lines.

    With `whole`, the rest of it is searched for characters that no text has.
    """
    rows, delimiter = _first_rows(path, reading.encoding, whole=whole)
    named = reading.header is True
    header = _header(path, rows) if named else reading.names(len(rows[0]), path)
    missing: dict[str, list[str]] = dict.fromkeys(header, _MISSING)
    missing |= {name: [""] for name in reading.kept}
    texts = reading.as_written
    if reading.labelled:
        labels = choose_target(header, reading.target, path)
        missing[labels] = [""]
        texts.add(labels)
    return {
        "sep": delimiter,
        "decimal": _decimal(rows, delimiter),
        "names": header,
        "header": 0 if named else None,
        "index_col": False,
        "skipinitialspace": True,
        "keep_default_na": False,
        "na_values": missing,
        "encoding": _codec(reading.encoding),
        "low_memory": False,
        "dtype": {name: str for name in header if name in texts},
    }


def truth_columns(frame: Frame, nominal: Collection[str]) -> list[str]:
    """Return the nominal columns that hold truth values, which pandas would infer."""
    known = frame.columns.intersection(list(nominal))
    return [name for name in known if frame[name].dropna().isin(TRUTH).all()]


def read_parquet(path: Path, reading: Reading) -> Frame:
    """Read a Parquet file, with pyarrow."""
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            raise not_what_it_says(path, "a Parquet file")
    require("pyarrow", extra="parquet")
    with expecting(path, "a Parquet file"):
        table = import_module("pyarrow.parquet").read_table(path)
        table.validate(full=True)  # texts that are no UTF-8 would fail later
        frame = table.to_pandas()
    frame.columns = [str(column) for column in frame.columns]
    return frame.reset_index(drop=True)


def read_excel(path: Path, reading: Reading) -> Frame:
    """Read the first sheet of an Excel file, with openpyxl."""
    pd = require("pandas", extra="data")
    require("openpyxl", extra="excel")
    with expecting(path, "an Excel file"):
        frame = pd.read_excel(
            path,
            header=0 if reading.header is True else None,
            engine="openpyxl",
            keep_default_na=False,
            na_values=[""],
        )
        if reading.header is True:
            frame.columns = ["" if f"{c}".startswith("Unnamed: ") else f"{c}" for c in frame]
        else:
            frame.columns = reading.names(frame.shape[1], path)
        target = choose_target(list(frame), reading.target, path) if reading.labelled else None
        for name in frame.select_dtypes(["object", "string"]):
            if name != target:
                values = frame[name].astype(object)
                frame[name] = values.mask(values.isin(_MISSING), None).infer_objects()
    return frame


def read_npz(path: Path, reading: Reading) -> Frame:
    """Read arrays of NumPy: X and y, and split if there is one; or parts called train and test.

    The features are called x1, x2, …; of arrays with more dimensions each sample is flattened.
    """
    with expecting(path, "a NumPy file (.npz)"), np.load(path, allow_pickle=False) as file:
        arrays = {name.lower(): file[name] for name in file.files}
    parts = [name for name in ("train", "test") if f"x_{name}" in arrays]
    names = [f"x_{part}" for part in parts] or ["x"]
    if any(name not in arrays or arrays[name].ndim < 2 for name in names):
        raise DataError(f"{path} must contain an array X with a row for each sample.")
    X = np.concatenate([arrays[name].reshape(len(arrays[name]), -1) for name in names])
    columns: dict[str, Any] = {f"x{i}": values for i, values in enumerate(X.T, start=1)}
    if parts:
        columns["split"] = np.repeat(parts, [len(arrays[name]) for name in names])
    elif "split" in arrays:
        split = arrays["split"]
        numbers = split.dtype.kind in "iub"
        columns["split"] = np.where(split == 0, "train", "test") if numbers else split
    labels = [name.replace("x", "y", 1) for name in names]
    has_labels = all(name in arrays for name in labels)
    if reading.labelled and not has_labels:
        raise DataError(f"{path} must contain an array y with a label for each sample.")
    if has_labels and (reading.labelled or "y" in reading.kept):
        columns["y"] = np.concatenate([arrays[name].ravel() for name in labels])
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"The arrays of {path} must have a row for each sample. Got {lengths}.")
    return require("pandas", extra="data").DataFrame(columns)


def read_arff(path: Path, reading: Reading) -> Frame:
    """Read an ARFF file with numeric and nominal attributes, through SciPy."""
    from scipy.io import arff

    pd = require("pandas", extra="data")
    with (
        expecting(path, "an ARFF file of numeric and nominal attributes"),
        _text(path, reading.encoding) as file,
    ):
        # SciPy stores nominal values as ASCII, so other letters are written as numbers.
        text = (
            file.read().replace("&", "&#38;").encode("ascii", "xmlcharrefreplace").decode("ascii")
        )
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


def read_libsvm(path: Path) -> tuple[Any, Array]:
    """Read a LIBSVM file: the features as a sparse array, and the labels."""
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    with expecting(path, "a LIBSVM file"):
        X, y = load_svmlight_file(str(path))
    small = max(X.nnz, *X.shape) < 2**31
    kind = np.int32 if small else np.int64  # many learners take no others than 32 bits
    return csr_array((X.data, X.indices.astype(kind), X.indptr.astype(kind)), shape=X.shape), y


def _arff_value(text: str) -> str:
    """Return a value or name without quotes, with its non-ASCII letters restored."""
    text = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
    return re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), text)


READERS: dict[str, Callable[[Path, Reading], Frame]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".txt": read_csv,
    ".data": read_csv,
    ".parquet": read_parquet,
    ".arff": read_arff,
    ".xlsx": read_excel,
    ".npz": read_npz,
}
SPARSE = (".libsvm", ".svmlight", ".svm")


def _first_rows(path: Path, encoding: str, *, whole: bool) -> tuple[list[list[str]], str]:
    """Return the fields of the first lines, and their delimiter."""
    with _text(path, encoding) as file:
        sample = file.read(_SAMPLE)
        while whole and (part := file.read(_SAMPLE)):
            if "\0" in part:
                raise not_what_it_says(path, CSV, "it contains a NUL character")
    if not sample.strip():
        raise DataError(f"{path} is empty.")
    if any(ord(c) < 32 and c not in "\t\n\r\f" for c in sample):
        raise not_what_it_says(path, CSV)
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
        raise DataError(
            f"The first line of {path} must name the columns. Got numbers. If it is a sample, say "
            "that there is no header.",
            argument="header",
        )
    check_names(names[1:] if names[0] == "" else names, path)
    return names


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    """Return the decimal mark: "," if the table writes 1,5 for one and a half."""
    cells = [cell for row in rows[1:] for cell in row]
    commas, points = (any(_DECIMAL[m].fullmatch(cell) for cell in cells) for m in ",.")
    return "," if delimiter != "," and commas and not points else "."


def _text(path: Path, encoding: str) -> TextIO:
    opener = open_gzip if path.suffix == ".gz" else open
    return opener(path, "rt", encoding=_codec(encoding), newline="")


def _codec(encoding: str) -> str:
    """Return the encoding, of UTF-8 the one that skips a mark at the start; or raise DataError."""
    try:
        name = lookup(encoding).name
    except LookupError:
        raise DataError(
            f"The encoding {encoding!r} is unknown. Some that are known: utf-8, latin-1, utf-16.",
            argument="encoding",
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


@contextmanager
def expecting(path: Path, kind: str) -> Iterator[None]:
    """Turn a parser's exception into a DataError with a message for the user."""
    try:
        yield
    except (DataError, ImportError, MemoryError):
        raise
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except UnicodeError as error:
        raise DataError(
            f"{path} is not text in the encoding that was expected, UTF-8 unless another is given. "
            "Give its encoding, such as latin-1 or utf-16, or save it as UTF-8.",
            argument="encoding",
        ) from error
    except Exception as error:  # a damaged file can make any part of a parser fail
        raise not_what_it_says(path, kind, str(error)) from error


def not_what_it_says(path: Path, kind: str, reason: str = "") -> DataError:
    lines = " ".join(reason.split())
    return DataError(
        f"{path} is not {kind}, or is damaged" + (f": {lines[:200]}" if lines else ".")
    )
