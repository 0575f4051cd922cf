"""The store: every finished cell in one SQLite file, written immediately."""

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from shutil import disk_usage
from time import monotonic, sleep
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from polychotomy.classifiers import Cost
from polychotomy.errors import StoreError
from polychotomy.evaluate._cell import Cell
from polychotomy.evaluate._naming import canonical

_APPLICATION = 0x506C7963  # "Plyc": marks the file as ours
_SCHEMA = 2
_FIRST_SCHEMA = 1  # without counts
_BEGINNING = b"SQLite format 3\0"
_ARRAYS = ("rows", "truth", "predicted", "probabilities")
_JSON = ("settings", "classes", "metrics", "chosen", "versions")
_COLUMNS = tuple(name for name in Cell.__dataclass_fields__ if name != "cost")
_COUNTS = {name: f"cost_{name}" for name in Cost.__dataclass_fields__}
_TABLE = """
CREATE TABLE cells (
    key TEXT PRIMARY KEY,
    data_set TEXT NOT NULL, reduction TEXT NOT NULL, base TEXT NOT NULL,
    fold INTEGER NOT NULL, seed INTEGER NOT NULL,
    settings TEXT NOT NULL, classes TEXT NOT NULL,
    rows BLOB NOT NULL, truth BLOB NOT NULL, predicted BLOB NOT NULL, probabilities BLOB,
    metrics TEXT NOT NULL, n_problems INTEGER NOT NULL,
    fit_seconds REAL NOT NULL, predict_seconds REAL NOT NULL,
    chosen TEXT NOT NULL, versions TEXT NOT NULL,
    finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    cost_problems REAL, cost_questions REAL, cost_samples REAL, cost_support REAL
)
"""
_ORDER = "ORDER BY data_set, base, reduction, seed, fold, key"


class Store:
    """A file of finished cells that several processes may share.

    It is an SQLite database with a write-ahead log: what :meth:`add` has returned from survives
    the end of the process at any moment, and a cell is stored once however often it is added.
    Arrays are compressed. While it is in use, SQLite keeps two more files, ``-wal`` and ``-shm``.

    Files of the first schema hold no counts: their cells are read with an unknown cost, and the
    first cell that is added converts the file to the present schema.

    Parameters
    ----------
    path : str or path
        The file; it is made if there is none.
    create : bool, default=True
        Whether it may be made.
    timeout : float, default=30.0
        Seconds to wait for another process that is writing.

    Raises
    ------
    StoreError
        The file is no store, is damaged or locked, comes from another version whose form this one
        does not know, or cannot be opened. It is left as it is.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from polychotomy.evaluate import Store
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "results.sqlite") as store:
    ...     len(store)
    0
    """

    def __init__(
        self, path: str | os.PathLike[str], *, create: bool = True, timeout: float = 30.0
    ) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise StoreError(f"There is no store {self.path}.")
        self._check_beginning()
        with self._explained():
            self._database = sqlite3.connect(self.path, timeout=timeout, isolation_level=None)
            try:
                if self._is_new():
                    self._make(timeout)
                self._check()
            except BaseException:
                self._database.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __len__(self) -> int:
        with self._explained():
            return int(self._value("SELECT count(*) FROM cells"))

    def add(self, cell: Cell) -> None:
        """Write a cell to disk; an existing one with the same key is not changed."""
        values = [_packed(name, getattr(cell, name)) for name in _COLUMNS]
        values += [getattr(cell.cost, name, None) for name in _COUNTS]
        columns = [*_COLUMNS, *_COUNTS.values()]
        places = ", ".join("?" * len(columns))
        with self._explained():
            if self._value("PRAGMA user_version") == _FIRST_SCHEMA:
                self._add_counts()
            self._database.execute(
                f"INSERT OR IGNORE INTO cells ({', '.join(columns)}) VALUES ({places})", values
            )

    def keys(self) -> set[str]:
        """Return the keys of all cells."""
        with self._explained():
            return {key for (key,) in self._database.execute("SELECT key FROM cells")}

    def get(self, key: str) -> Cell:
        """Return the cell with this key, or raise KeyError."""
        for cell in self._select("WHERE key = ?", [key]):
            return cell
        raise KeyError(key)

    def cells(
        self, data_set: str | None = None, reduction: str | None = None, base: str | None = None
    ) -> Iterator[Cell]:
        """Yield the cells, or those of a data set, reduction or base, in alphabetical order."""
        wanted = {"data_set": data_set, "reduction": reduction, "base": base}
        given = {name: value for name, value in wanted.items() if value is not None}
        clause = " AND ".join(f"{name} = ?" for name in given)
        yield from self._select(f"WHERE {clause}" if clause else "", list(given.values()))

    def _select(self, clause: str, values: list[str]) -> Iterator[Cell]:
        with self._explained():
            counted = self._value("PRAGMA user_version") != _FIRST_SCHEMA
            columns = [*_COLUMNS, *(_COUNTS.values() if counted else ())]
            query = f"SELECT {', '.join(columns)} FROM cells {clause} {_ORDER}"
            for row in self._database.execute(query, values):
                counts = row[len(_COLUMNS) :]
                cost = Cost(*counts) if counts and counts[0] is not None else None
                yield Cell(
                    **dict(zip(_COLUMNS, map(_unpacked, _COLUMNS, row), strict=True)), cost=cost
                )

    def _value(self, query: str) -> Any:
        return self._database.execute(query).fetchone()[0]

    def _check_beginning(self) -> None:
        """Refuse other files before SQLite sees them: it takes very short ones for empty."""
        if self.path.exists() and not self.path.is_file():  # a folder or a device
            raise StoreError(f"{self.path} is not a file. Choose another name for the store.")
        if self.path.is_file() and self.path.stat().st_size:
            with self.path.open("rb") as file:
                if file.read(len(_BEGINNING)) != _BEGINNING:
                    raise StoreError(f"{self.path} {_REASONS[sqlite3.SQLITE_NOTADB]}")

    def _is_new(self) -> bool:
        """Whether nothing is in the file: it was made just now, or its maker was killed."""
        marks = self._value("PRAGMA application_id"), self._value("PRAGMA user_version")
        return marks == (0, 0) and self._value("SELECT count(*) FROM sqlite_master") == 0

    def _make(self, timeout: float) -> None:
        """Write the table and its marks in one transaction: all or nothing."""
        self._log_ahead(timeout)
        self._database.execute("BEGIN IMMEDIATE")
        with self._database:
            if self._is_new():  # no other process was faster
                self._database.execute(_TABLE)
                self._database.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._database.execute(f"PRAGMA user_version = {_SCHEMA}")

    def _add_counts(self) -> None:
        """Convert a file of the first schema to the present one, in one transaction."""
        self._database.execute("BEGIN IMMEDIATE")
        with self._database:
            if self._value("PRAGMA user_version") == _FIRST_SCHEMA:  # no other process was faster
                for column in _COUNTS.values():
                    self._database.execute(f"ALTER TABLE cells ADD COLUMN {column} REAL")
                self._database.execute(f"PRAGMA user_version = {_SCHEMA}")

    def _log_ahead(self, timeout: float) -> None:
        """Turn the write-ahead log on; of two that do so at once, SQLite lets one fail."""
        end = monotonic() + timeout
        while True:
            try:
                self._database.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                if monotonic() > end:
                    raise
                sleep(0.05)
            else:
                return

    def _check(self) -> None:
        """Refuse what is not ours, what this version does not know, and what is damaged."""
        if self._value("PRAGMA application_id") != _APPLICATION:
            raise StoreError(
                f"{self.path} is a database of another program. Choose another file for the store."
            )
        version = self._value("PRAGMA user_version")
        if version not in (_FIRST_SCHEMA, _SCHEMA):
            newer = version > _SCHEMA
            raise StoreError(
                f"{self.path} was made by a{' newer' if newer else 'n older'} version of "
                f"polychotomy (its form is {version}, this version's is {_SCHEMA}). "
                + ("Update polychotomy, or c" if newer else "C")
                + "hoose another file for the store."
            )
        if self._value("PRAGMA quick_check(1)") != "ok":
            raise StoreError(f"{self.path} is damaged. {_ASIDE}")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise SQLite's errors as a StoreError that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code <= sqlite3.SQLITE_ERROR and isinstance(error, sqlite3.OperationalError):
                code = sqlite3.SQLITE_CORRUPT  # text that is none, or no table: none of our queries
            if code == sqlite3.SQLITE_IOERR and disk_usage(self.path.parent).free < _LITTLE:
                code = sqlite3.SQLITE_FULL  # on a full disk not even its files for writing fit
            reason = _REASONS.get(code, f"cannot be used: {error}.")
            raise StoreError(f"{self.path} {reason}") from error
        except (zlib.error, ValueError, EOFError) as error:  # from unpacking a cell's fields
            raise StoreError(f"{self.path} is damaged. {_ASIDE}") from error


_LITTLE = 2**20
_ASIDE = "Move it away, and choose another file for the store."
_REASONS = {
    sqlite3.SQLITE_BUSY: "is locked by another program. Try again when that has finished.",
    sqlite3.SQLITE_LOCKED: "is locked by another program. Try again when that has finished.",
    sqlite3.SQLITE_NOTADB: f"is not a store of results. {_ASIDE}",
    sqlite3.SQLITE_CORRUPT: f"is damaged. {_ASIDE}",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Check that its folder exists and can be written.",
    sqlite3.SQLITE_READONLY: "cannot be written. Check the permissions of the file and its folder.",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error.",
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full.",
}


def _packed(name: str, value: Any) -> Any:
    """Return a field of a cell as the table keeps it."""
    if name in _JSON:
        return canonical(value)
    if name in _ARRAYS and value is not None:
        file = BytesIO()
        np.save(file, _compact(np.asarray(value)), allow_pickle=False)
        return zlib.compress(file.getvalue())
    return value


def _compact(array: NDArray[Any]) -> NDArray[Any]:
    """Return row numbers and class indices in as few bytes as hold them."""
    if array.dtype.kind not in "iu":
        return array.astype(np.float32)
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def _unpacked(name: str, value: Any) -> Any:
    if name in _JSON:
        found = json.loads(value)
        if not isinstance(found, list if name == "classes" else dict):
            raise ValueError(name)
        return tuple(found) if name == "classes" else found
    if name in _ARRAYS and value is not None:
        array = np.load(BytesIO(zlib.decompress(value)), allow_pickle=False)
        return array if name == "probabilities" else array.astype(np.intp)
    return value
