"""Sources of samples that do not fit in memory: tables that are read block by block."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from polychotomy.datasets._formats import (
    CSV,
    TRUTH,
    csv_options,
    expecting,
    not_what_it_says,
    truth_columns,
)
from polychotomy.datasets._reading import Reading
from polychotomy.errors import DataError, require

_SPREAD = 16  # places of a file from which a sample is taken


class Block(NamedTuple):
    """Some rows of a table: where they are found, the number of rows before them, and the rows."""

    place: str
    start: int
    frame: Any


class Blocks(Protocol):
    """A table that is read block by block, as often as needed."""

    @property
    def name(self) -> str:
        """What it is called in messages."""
        ...

    @property
    def columns(self) -> list[str]:
        """Names of its columns."""
        ...

    def blocks(self, size: int, columns: Sequence[str] | None = None) -> Iterator[Block]:
        """Yield blocks of at most `size` rows, of these columns or of all."""
        ...

    def sample(self, most: int, columns: Sequence[str]) -> Any:
        """Return a frame of at most `most` rows from all over the table, with these columns."""
        ...

    def typed(self, frame: Any, nominal: Sequence[str]) -> "Blocks":
        """Return the table with its nominal columns read as in a sample."""
        ...


@dataclass(frozen=True)
class ParquetBlocks:
    """A Parquet file, read one row group after another."""

    path: Path

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, from the schema."""
        return _column_names(self._open().schema_arrow)

    def blocks(self, size: int, columns: Sequence[str] | None = None) -> Iterator[Block]:
        """Yield parts of row groups."""
        file, start = self._open(), 0
        for group in range(file.num_row_groups):
            place = f"row group {group + 1} of {file.num_row_groups}"
            for frame in self._frames(file, group, size, columns, place):
                yield Block(place, start, frame)
                start += len(frame)

    def sample(self, most: int, columns: Sequence[str]) -> Any:
        """Return the first rows of some row groups that are evenly spaced."""
        file = self._open()
        n = min(_SPREAD, file.num_row_groups)
        groups = np.unique(np.linspace(0, file.num_row_groups - 1, n).astype(int))
        rows = -(-most // max(1, len(groups)))
        parts = [
            next(self._frames(file, g, rows, columns, f"row group {g + 1}"), None) for g in groups
        ]
        return _joined([part for part in parts if part is not None])

    def typed(self, frame: Any, nominal: Sequence[str]) -> "ParquetBlocks":
        """Return the table itself, whose columns have types."""
        return self

    def _open(self) -> Any:
        with self.path.open("rb") as file:
            if file.read(4) != b"PAR1":
                raise not_what_it_says(self.path, "a Parquet file")
        require("pyarrow", extra="parquet")
        with expecting(self.path, "a Parquet file"):
            return import_module("pyarrow.parquet").ParquetFile(self.path)

    def _frames(
        self, file: Any, group: int, size: int, columns: Sequence[str] | None, place: str
    ) -> Iterator[Any]:
        options: dict[str, Any] = {"row_groups": [int(group)], "use_threads": False}
        if columns is not None:
            options["columns"] = list(columns)
        try:
            for batch in file.iter_batches(size, **options):
                batch.validate(full=True)
                yield _as_frame(batch)
        except Exception as error:  # a damaged file can make any part of a parser fail
            reason = " ".join(str(error).split())[:200]
            raise DataError(
                f"{place.capitalize()} in {self.path} cannot be read: {reason}"
            ) from error


@dataclass(frozen=True)
class CsvBlocks:
    """A table of text, read in blocks of lines.

    `truths` are nominal columns of truth values.
    """

    path: Path
    reading: Reading
    truths: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, from the first line."""
        with expecting(self.path, CSV):
            names = csv_options(self.path, self.reading, whole=False)["names"]
        return [name for name in names if name]

    def blocks(self, size: int, columns: Sequence[str] | None = None) -> Iterator[Block]:
        """Yield blocks of lines."""
        for start, frame in self._frames(size, columns):
            for name in frame.columns.intersection(list(self.truths)):
                frame[name] = frame[name].map(lambda text: TRUTH.get(text, text))
            yield Block(f"rows {start + 1} to {start + len(frame)}", start, frame)

    def sample(self, most: int, columns: Sequence[str]) -> Any:
        """Return rows at equal distances, read with the types of these rows."""
        kept: list[Any] = []
        step = n = 1
        for start, frame in self._frames(
            most, None, dtype=str, keep_default_na=False, na_values=[]
        ):
            kept.append(frame[(np.arange(start, start + len(frame)) % step) == 0])
            while (n := sum(map(len, kept))) > most:
                step *= 2
                kept = [part[part.index % step == 0] for part in kept]
        if not n or not kept:
            raise DataError(f"{self.path} has no rows.")
        pd = require("pandas", extra="data")
        with expecting(self.path, CSV):
            options = csv_options(self.path, self.reading, whole=False)
            text = pd.concat(kept).to_csv(index=False, header=False, sep=options["sep"])
            options |= {"names": list(kept[0].columns), "header": None, "encoding": None}
            frame = pd.read_csv(StringIO(text), **options)
        return frame.drop(columns=[""], errors="ignore")

    def typed(self, frame: Any, nominal: Sequence[str]) -> "CsvBlocks":
        """Return the table with nominal columns read as text, or as truth values."""
        reading = Reading(**{**vars(self.reading), "nominal": tuple(nominal)})
        return CsvBlocks(self.path, reading, tuple(truth_columns(frame, nominal)))

    def _frames(
        self, size: int, columns: Sequence[str] | None, **further: Any
    ) -> Iterator[tuple[int, Any]]:
        pd = require("pandas", extra="data")
        with expecting(self.path, CSV):
            options = csv_options(self.path, self.reading, whole=False) | further
            if columns is not None:
                options["usecols"] = list(columns)
            start = 0
            with pd.read_csv(self.path, chunksize=size, **options) as reader:
                while (frame := _next_block(reader, pd)) is not None:
                    yield start, frame.drop(columns=[""], errors="ignore")
                    start += len(frame)


def _next_block(reader: Any, pd: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # lines that are too long
        return next(reader, None)


@dataclass(frozen=True)
class ArrowBlocks:
    """A table or data set of Arrow, or a function that returns record batches."""

    source: Any
    name: str = "the record batches"

    @property
    def columns(self) -> list[str]:
        """Names of the columns, from the first batch."""
        schema = getattr(self.source, "schema", None)
        if schema is None:
            first = next(iter(self._batches(None, None)), None)
            schema = None if first is None else first.schema
        return [] if schema is None else _column_names(schema)

    def blocks(self, size: int, columns: Sequence[str] | None = None) -> Iterator[Block]:
        """Yield record batches, large ones in parts."""
        start = 0
        for number, batch in enumerate(self._batches(size, columns), 1):
            for first in range(0, batch.num_rows, size):
                part = batch.slice(first, size)
                chosen = part if columns is None else part.select(list(columns))
                yield Block(f"record batch {number}", start, _as_frame(chosen))
                start += chosen.num_rows

    def sample(self, most: int, columns: Sequence[str]) -> Any:
        """Return the first rows of the first batches."""
        parts: list[Any] = []
        for block in self.blocks(-(-most // _SPREAD), columns):
            parts.append(block.frame)
            if sum(map(len, parts)) >= most:
                break
        return _joined(parts).head(most)

    def typed(self, frame: Any, nominal: Sequence[str]) -> "ArrowBlocks":
        """Return the table itself, whose columns have types."""
        return self

    def _batches(self, size: int | None, columns: Sequence[str] | None) -> Iterator[Any]:
        if isinstance(self.source, Callable):  # type: ignore[arg-type]
            return iter(self.source())
        named = hasattr(self.source, "to_table")  # a Dataset, which reads only what is asked for
        options = {} if not named or columns is None else {"columns": list(columns)}
        if named and size is not None:
            options["batch_size"] = size  # type: ignore[assignment]
        return iter(self.source.to_batches(**options))


@dataclass(frozen=True)
class DaskBlocks:
    """A Dask data frame, computed one partition after another."""

    source: Any
    name: str = "the Dask data frame"

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.source.columns]

    def blocks(self, size: int, columns: Sequence[str] | None = None) -> Iterator[Block]:
        """Yield partitions, large ones in parts."""
        source, start = self.source if columns is None else self.source[list(columns)], 0
        for number in range(source.npartitions):
            frame = source.get_partition(number).compute().reset_index(drop=True)
            for first in range(0, len(frame), size):
                part = frame.iloc[first : first + size].reset_index(drop=True)
                yield Block(f"partition {number + 1} of {source.npartitions}", start, part)
                start += len(part)

    def sample(self, most: int, columns: Sequence[str]) -> Any:
        """Return the first rows of some partitions that are evenly spaced."""
        n = min(_SPREAD, self.source.npartitions)
        chosen = np.unique(np.linspace(0, self.source.npartitions - 1, n).astype(int))
        rows, source = -(-most // len(chosen)), self.source[list(columns)]
        return _joined([source.get_partition(int(i)).compute().head(rows) for i in chosen])

    def typed(self, frame: Any, nominal: Sequence[str]) -> "DaskBlocks":
        """Return the table itself, whose columns have types."""
        return self


def _column_names(schema: Any) -> list[str]:
    """Return the names of a schema's columns, without the index that pandas may have stored."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [str(name) for name in schema.names if name not in index]


def _as_frame(batch: Any) -> Any:
    frame = batch.to_pandas().reset_index(drop=True)
    frame.columns = [str(column) for column in frame.columns]
    return frame


def _joined(frames: Sequence[Any]) -> Any:
    """Return the rows of several frames; those of categories as plain values."""
    if not frames:
        raise DataError("There are no rows to learn from.")
    pd = require("pandas", extra="data")
    plain = [
        frame.astype({c: object for c in frame.columns if frame[c].dtype == "category"})
        for frame in frames
    ]
    return pd.concat(plain, ignore_index=True).infer_objects()
