"""Loading of known data sets from a folder, scikit-learn, a formula or OpenML."""

import warnings
from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np

from polychotomy.datasets._generate import make_waveform
from polychotomy.datasets._labels import as_labels
from polychotomy.datasets._read import make_categorical, read
from polychotomy.datasets._registry import PAPERS, DataSet, find
from polychotomy.errors import DataError, require, unknown_name

# Data sets with a fixed test part that the paper's table does not have.
_JOINED = {
    "allwein": ("audiology", "segment"),
    "mills": ("letter", "pendigits", "usps", "segment", "satimage", "urban", "shuttle"),
}


def load(name: str, *, paper: str | None = None) -> Any:
    """Load a known data set by name.

    The first available source is used: ``NAME.csv.gz`` in the folder given by the environment
    variable ``POLYCHOTOMY_DATA``; scikit-learn (breast_cancer, digits, iris, wine); a formula
    (waveform); OpenML, downloaded once and cached by scikit-learn. A copy from OpenML has the
    fixed split only if its last rows have the classes of the test part, in order.

    Parameters
    ----------
    name : str
        One of the names in :func:`available`.
    paper : str or None
        Prepare the data as in this paper: allwein, sbc, sbckernel, mills or tax-duin. The fixed
        split is dropped where the paper's table has none. For Mills, letter has 15 features,
        segment lacks its constant feature, and humidity has its last 8600 rows.

    Returns
    -------
    Bunch
        ``data`` (frame of features, nominal ones categorical), ``target`` (array of labels),
        ``train`` and ``test`` (row numbers of the fixed split, or None), ``nominal`` (names of
        columns), ``name``, ``DESCR`` (a description), ``source``.

    Raises
    ------
    DataError
        If no source has the data set, the download fails, or the paper did not use it.

    Warns
    -----
    UserWarning
        If the size of the copy differs from the known size.

    Examples
    --------
    >>> from polychotomy.datasets import load
    >>> wine = load("wine")
    >>> wine.data.shape, len(set(wine.target)), wine.train is None
    ((178, 13), 3, True)
    """
    known = find(name)
    if paper is not None and paper not in PAPERS:
        raise unknown_name("paper", paper, PAPERS)
    if paper is not None and paper not in known.papers:
        raise DataError(f"{PAPERS[paper]} did not use {name!r}.")
    bunch = _SOURCES[known.source](known)
    _check_size(bunch, known)
    bunch.update(name=name, DESCR=describe(known))
    return bunch if paper is None else _as_in(paper, bunch)


def describe(known: DataSet) -> str:
    """Return a description of a data set in a few lines.

    Parameters
    ----------
    known : DataSet
        One of :func:`available`.

    Examples
    --------
    >>> from polychotomy.datasets import available, describe
    >>> iris = next(known for known in available() if known.name == "iris")
    >>> print(describe(iris).splitlines()[1])
    150 samples, 4 features, 3 classes; no fixed split.
    """
    split = f"{known.samples - known.test} for training, {known.test} for testing"
    users = "; ".join(PAPERS[paper] for paper in known.papers)
    lines = [
        f"{known.name}: {known.summary}.",
        f"{known.samples} samples, {known.features} features, {known.classes} classes"
        + (f"; {split}." if known.test else "; no fixed split."),
        known.note,
        f"Used by {users}." if users else "",
    ]
    return "\n".join(filter(None, lines))


def _from_file(known: DataSet) -> Any:
    bunch = read(known.file, "class")  # type: ignore[arg-type]
    return _with_codes(bunch, known)


def _from_sklearn(known: DataSet) -> Any:
    from sklearn import datasets
    from sklearn.utils import Bunch

    require("pandas", extra="data")
    bunch = getattr(datasets, f"load_{known.name}")(as_frame=True)
    return Bunch(
        data=bunch.data,
        target=np.asarray(bunch.target_names)[bunch.target.to_numpy()],
        train=None,
        test=None,
        nominal=[],
        source="scikit-learn",
    )


def _from_formula(known: DataSet) -> Any:
    return make_waveform(known.samples - known.test, known.test, random_state=0)


def _from_openml(known: DataSet) -> Any:
    """Download from OpenML and convert to the form of the files: columns, types and split."""
    from sklearn.datasets import fetch_openml
    from sklearn.utils import Bunch

    pd = require("pandas", extra="data")
    number, title = known.openml  # type: ignore[misc]
    try:
        found = fetch_openml(data_id=number, as_frame=True, parser="auto")
    except OSError as error:
        raise DataError(
            f"{known.name!r} could not be downloaded from OpenML ({error}). "
            "Without a network, set POLYCHOTOMY_DATA to a folder that has it as "
            f"{known.name}.csv.gz."
        ) from error
    if found.details["name"].lower() != title.lower():
        raise DataError(f"OpenML's data set {number} is {found.details['name']!r}, not {title!r}.")
    unwanted = {_plain(name) for name in known.drop}
    frame = found.data.drop(columns=[c for c in found.data if _plain(c) in unwanted])
    for column in frame.select_dtypes(exclude="number"):
        # OpenML declares some numbers nominal, such as grades and pixels.
        numbers = pd.to_numeric(frame[column].astype(object), errors="coerce")
        if (numbers.isna() == frame[column].isna()).all():
            frame[column] = numbers
    nominal = make_categorical(frame)
    y = as_labels(found.target)
    train, test = _split_by_order(y, known)
    bunch = Bunch(
        data=frame, target=y, train=train, test=test, nominal=nominal, source=f"OpenML {number}"
    )
    return _with_codes(bunch, known)


def _from_nowhere(known: DataSet) -> Any:
    raise DataError(
        f"{known.name!r} is neither in scikit-learn nor at OpenML. Set the environment variable "
        f"POLYCHOTOMY_DATA to a folder that has it as {known.name}.csv.gz."
    )


_SOURCES: dict[str, Callable[[DataSet], Any]] = {
    "file": _from_file,
    "scikit-learn": _from_sklearn,
    "formula": _from_formula,
    "OpenML": _from_openml,
    "nowhere": _from_nowhere,
}


def _split_by_order(y: Any, known: DataSet) -> tuple[Any, Any]:
    """Return the fixed split if the last labels are those of the test part, in order."""
    n = len(y)
    if known.test_order is None or n <= known.test:
        return None, None
    if order_of(y[n - known.test :]) != known.test_order:
        return None, None
    return np.arange(n - known.test), np.arange(n - known.test, n)


def order_of(labels: Any) -> int:
    """Return a checksum of the sequence of classes that does not depend on their names."""
    codes = require("pandas", extra="data").factorize(labels)[0]
    return crc32(codes.astype("<i4").tobytes())


def _with_codes(bunch: Any, known: DataSet) -> Any:
    """Make columns nominal whose numbers are only codes."""
    codes = {_plain(name) for name in known.codes}
    for column in bunch.data:
        if _plain(column) in codes and column not in bunch.nominal:
            bunch.data[column] = bunch.data[column].astype("category")
            bunch.nominal.append(column)
    return bunch


def _plain(name: str) -> str:
    """Return a column name in the form that is common to all copies."""
    return name.lower().replace("-", "_").replace(" ", "_")


def _check_size(bunch: Any, known: DataSet) -> None:
    size = (*bunch.data.shape, len(set(bunch.target)))
    expected = (known.samples, known.features, known.classes)
    if size != expected:
        says = " x ".join(map(str, size)), " x ".join(map(str, expected))
        warnings.warn(
            f"{known.name!r} from {bunch.source} has samples x features x classes {says[0]}, not "
            f"{says[1]} as the papers' copy: figures will differ.",
            stacklevel=3,
        )


def _as_in(paper: str, bunch: Any) -> Any:
    """Return the data set as the paper prepared it."""
    if bunch.name in _JOINED.get(paper, ()):
        bunch.update(train=None, test=None)
    if paper == "mills":
        if bunch.name == "letter":
            bunch.data = bunch.data.iloc[:, :15]  # Mills' script drops the last feature
        elif bunch.name == "segment":
            bunch.data = bunch.data.loc[:, bunch.data.nunique() > 1]
        elif bunch.name == "humidity":
            bunch.data = bunch.data.iloc[-8600:].reset_index(drop=True)
            bunch.target = bunch.target[-8600:]
    return bunch
