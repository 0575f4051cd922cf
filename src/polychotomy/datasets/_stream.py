"""Streams of labelled samples: read block by block, as often as needed, in bounded memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Indices
from polychotomy.datasets._blocks import (
    ArrowBlocks,
    Block,
    Blocks,
    CsvBlocks,
    DaskBlocks,
    ParquetBlocks,
)
from polychotomy.datasets._columns import check_features, check_names, choose_target, listed
from polychotomy.datasets._formats import READERS, read_csv, read_parquet
from polychotomy.datasets._labels import as_labels
from polychotomy.datasets._read import as_features, dates_to_days, file_ending, make_categorical
from polychotomy.datasets._reading import Reading
from polychotomy.errors import DataError, require

_SAMPLE = 2**16
_MOST_CLASSES = 100_000


@dataclass(frozen=True, eq=False)
class Stream:
    """Labelled samples that are read block by block; iterate over it for pairs (X, y).

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        All labels, sorted, found in a first pass over the labels alone.
    counts : ndarray of shape (n_classes,)
        Samples of each class.
    sample : DataFrame
        Features of some samples from the whole stream, to fit the preparation on.
    names, nominal : list of str
        The features, and which of them are nominal.
    target : str
        The column of the labels.
    reading : dict
        Options for :func:`read_features` to read more samples in the same way.
    remarks : list of str
        Remarks on what was left out or converted.
    size : int
        Maximum number of rows of a block.
    """

    source: Blocks
    classes: NDArray[Any]
    counts: Indices
    sample: Any
    names: list[str]
    nominal: list[str]
    target: str
    labels: Mapping[Any, Any]
    reading: dict[str, Any]
    remarks: list[str]
    size: int

    @property
    def n_samples(self) -> int:
        """Number of samples with a label."""
        return int(self.counts.sum())

    @property
    def block_bytes(self) -> int:
        """About how many bytes a block takes in memory."""
        per_row = self.sample.memory_usage(index=False, deep=True).sum() / max(1, len(self.sample))
        return int(self.size * per_row)

    def __iter__(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield the features and the labels of each block.

        Raises DataError, with block and row, for values that do not fit their column.
        """
        for block in self.source.blocks(self.size, [*self.names, *_further(self)]):
            frame = _used(block.frame, self.target)
            if len(frame):
                yield self._features(frame, block), self._labels(frame, block)

    def _features(self, frame: Any, block: Block) -> Any:
        dates = self.reading["dates"]
        try:
            whole = as_features(
                block.frame, self.names, self.nominal, (), dates, self.source.name, block.start
            )
        except DataError as error:
            raise DataError(f"{error} (In {block.place}.)", argument=error.argument) from None
        return whole.loc[frame.index].reset_index(drop=True)

    def _labels(self, frame: Any, block: Block) -> NDArray[Any]:
        found = frame[self.target].map(self.labels)
        if found.isna().any():
            raise DataError(
                f"{self.source.name} has changed while it was read: {block.place} has labels that "
                "the first pass has not seen."
            )
        return found.to_numpy().astype(self.classes.dtype)


def stream(
    source: Any,
    target: str | None = None,
    *,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    encoding: str = "utf-8",
    header: bool = True,
    size: int = 2**16,
) -> Any:
    r"""Return labelled samples that are read block by block, for ``partial_fit``.

    A first pass reads only the labels. A sample of up to 65 536 rows from the whole table decides
    which columns are numbers, dates or nominal.

    Parameters
    ----------
    source : str, path or object
        * The path of a Parquet file, of which a row group at a time is read, or of a text table
          (``.csv``, ``.tsv``, ``.txt``, ``.data``, also with ``.gz``);
        * a ``pyarrow`` Table or Dataset, or a function that returns an iterable of record batches
          and is called for each pass;
        * a Dask data frame, of which a partition at a time is computed;
        * a pair (X, y) of Dask arrays, of which a block of rows at a time is computed. The other
          parameters do not apply, and X and y are yielded as arrays.
    target, drop, nominal, encoding, header
        As in :func:`read`.
    size : int, default=65536
        Maximum number of rows of a block.

    Returns
    -------
    Stream or ArrayStream
        With `classes`, `counts` and `n_samples`. Iterate over it for pairs (X, y), in
        which X is a data frame.

    Raises
    ------
    DataError
        As :func:`read`; while iterating, for values that do not fit their column, with the row
        group (or other block) and the row.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from polychotomy import CodeClassifier, SharedLinear
    >>> from polychotomy.datasets import stream
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "fruit.csv"
    ...     size = path.write_text("weight,kind\n" + "150,apple\n9,cherry\n" * 500)
    ...     fruit = stream(path, size=100)
    ...     classifier = CodeClassifier(SharedLinear(), reservoir=50)
    ...     for X, y in fruit:
    ...         classifier = classifier.partial_fit(X, y, classes=fruit.classes)
    >>> fruit.n_samples, classifier.predict(X[:2]).tolist()
    (1000, ['apple', 'cherry'])
    >>> classifier.predict_proba(X[:2]).shape
    (2, 2)
    """
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise ValueError(f"The 'size' parameter must be a positive int. Got {size!r}.")
    if isinstance(source, tuple) and len(source) == 2:
        return ArrayStream.of(*source, size=int(size))
    reading = Reading(
        target, drop=tuple(drop), nominal=tuple(nominal), encoding=encoding, header=header
    )
    blocks = _blocks_of(source, reading)
    columns = blocks.columns
    place: Any = blocks.name
    check_names(columns, place)
    found = choose_target(columns, target, place)
    reading.check(columns, found, place)
    return _surveyed(blocks, found, columns, reading, int(size))


@dataclass(frozen=True, eq=False)
class ArrayStream:
    """A pair of Dask arrays, computed block by block; iterate over it for pairs (X, y).

    Attributes
    ----------
    X, y : dask.array.Array
    classes : ndarray of shape (n_classes,)
        All labels, sorted, found in a first pass over y alone.
    counts : ndarray of shape (n_classes,)
        Samples of each class.
    size : int
        Maximum number of rows of a block.
    """

    X: Any
    y: Any
    classes: NDArray[Any]
    counts: Indices
    size: int

    @classmethod
    def of(cls, X: Any, y: Any, *, size: int) -> "ArrayStream":
        """Return the stream of two arrays, after a pass over the labels."""
        rows = getattr(X, "chunks", [None])[0]
        if rows is None or getattr(y, "chunks", [None])[0] is None:
            raise ValueError(
                "A pair of 'source' must be two Dask arrays, X and y. "
                f"Got {type(X).__name__} and {type(y).__name__}."
            )
        if X.ndim != 2 or y.ndim != 1 or np.isnan([*rows, *y.chunks[0]]).any() or len(X) != len(y):
            raise ValueError(
                "X must have two dimensions and y one, with the same known number of rows (call "
                f"compute_chunk_sizes). Got shapes {X.shape} and {y.shape}."
            )
        X, y = X.rechunk({1: -1}), y.rechunk({0: rows})
        found: dict[Any, int] = {}
        for block in y.blocks:
            values, numbers = np.unique(block.compute(), return_counts=True)
            _count(found, dict(zip(values.tolist(), numbers.tolist(), strict=True)), "y")
        classes = np.array(sorted(found))
        return cls(X, y, classes, np.array([found[c] for c in classes.tolist()]), size)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.counts.sum())

    def __iter__(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield the samples and the labels of each block."""
        for number in range(len(self.y.chunks[0])):
            X, y = self.X.blocks[number].compute(), self.y.blocks[number].compute()
            for start in range(0, len(y), self.size):
                yield X[start : start + self.size], y[start : start + self.size]


def _blocks_of(source: Any, reading: Reading) -> Blocks:
    """Return a source as a table of blocks."""
    if hasattr(source, "to_batches") or (
        isinstance(source, Callable) and not hasattr(source, "npartitions")  # type: ignore[arg-type]
    ):
        return ArrowBlocks(source)
    if hasattr(source, "npartitions") and hasattr(source, "columns"):
        return DaskBlocks(source)
    if not isinstance(source, str | Path):
        raise ValueError(
            "The 'source' parameter must be the path of a Parquet or CSV file, a table or data set "
            "of Arrow, a function that returns record batches, a Dask data frame, or a pair of "
            f"Dask arrays. Got {type(source).__name__}."
        )
    path = Path(source)
    reader = READERS.get(file_ending(path))
    if reader is read_parquet:
        return ParquetBlocks(path)
    if reader is not read_csv:
        raise DataError(
            f"{path} cannot be read block by block: that needs a Parquet file or a table of text "
            "(CSV)."
        )
    return CsvBlocks(path, reading)


def _surveyed(
    blocks: Blocks, target: str, columns: list[str], reading: Reading, size: int
) -> Stream:
    """Return the stream after a pass over the labels and reading a sample."""
    raw = _label_counts(blocks, target, [c for c in (target, "split") if c in columns])
    labels, classes, counts = _classes(raw, target, blocks.name)
    kept = [name for name in columns if name not in reading.drop]
    sample = _used(blocks.sample(_SAMPLE, kept), target)
    sample = sample.drop(columns=[target, *(["split"] if _is_split(sample) else [])])
    empty = sample.columns[sample.isna().all()]
    sample = sample.drop(columns=empty).reset_index(drop=True)
    dates = dates_to_days(sample, reading.nominal)
    place: Any = blocks.name
    check_features(sample, place)
    nominal = make_categorical(sample, reading)
    said = {
        "Left out, since all values of a sample are missing": list(empty),
        "Read as dates, in days since 1970": [n for n, how in dates.items() if how != "duration"],
    }
    return Stream(
        source=blocks.typed(sample, nominal),
        classes=classes,
        counts=counts,
        sample=sample,
        names=list(sample.columns),
        nominal=nominal,
        target=target,
        labels=labels,
        reading={
            "text": [],
            "dates": dates,
            "target": target,
            "encoding": reading.encoding,
            "header": columns if reading.header is False else True,
        },
        remarks=[f"{words}: {listed(names)}." for words, names in said.items() if names],
        size=size,
    )


def _further(stream: Stream) -> list[str]:
    """Return the columns that are read besides the features."""
    split = "split" in stream.source.columns and "split" not in stream.names
    return [stream.target, *(["split"] if split and stream.target != "split" else [])]


def _is_split(frame: Any) -> bool:
    return "split" in frame and set(frame["split"].dropna()) <= {"train", "test"}


def _used(frame: Any, target: str) -> Any:
    """Return the rows that have a label, without the test part of a fixed split."""
    used = frame[target].notna()
    if target != "split" and _is_split(frame):
        used &= frame["split"] != "test"
    return frame[used]


def _label_counts(blocks: Blocks, target: str, columns: list[str]) -> dict[Any, int]:
    """Return how often each label occurs."""
    found: dict[Any, int] = {}
    for block in blocks.blocks(_SAMPLE, columns):
        try:
            _count(found, _used(block.frame, target)[target].value_counts().to_dict(), target)
        except TypeError:
            raise DataError(
                f"The column {target!r} of {blocks.name} must contain single values, not lists. "
                "Choose another target.",
                argument="target",
            ) from None
    return found


def _count(found: dict[Any, int], counts: Mapping[Any, int], name: str) -> None:
    """Add the labels of a block to those found so far."""
    for label, number in counts.items():
        if number:  # categories may be unused
            found[label] = found.get(label, 0) + number
    if len(found) > _MOST_CLASSES:
        raise DataError(
            f"The column {name!r} has more than {_MOST_CLASSES} classes. Choose another target.",
            argument="target",
        )


def _classes(
    raw: Mapping[Any, int], target: str, name: str
) -> tuple[dict[Any, Any], NDArray[Any], Indices]:
    """Return the label of each value, the sorted labels, and how often each occurs."""
    pd = require("pandas", extra="data")
    if len(raw) < 2:
        what = "one" if raw else "none"
        raise DataError(
            f"The column {target!r} of {name} must contain at least two classes. Got {what}."
        )
    try:
        labels = as_labels(pd.Series(list(raw)))
    except ValueError:
        raise DataError(
            f"The column {target!r} of {name} contains fractions, not classes; predicting numbers "
            "is regression. Choose another target.",
            argument="target",
        ) from None
    of_value = dict(zip(raw, labels.tolist(), strict=True))
    counts: dict[Any, int] = {}
    for value, label in of_value.items():
        counts[label] = counts.get(label, 0) + raw[value]
    classes = np.unique(labels)
    return of_value, classes, np.array([counts[label] for label in classes.tolist()])
