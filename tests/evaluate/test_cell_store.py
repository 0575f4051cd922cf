import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from polychotomy.classifiers import Cost
from polychotomy.errors import StoreError
from polychotomy.evaluate import Store, _cell_store
from tests.evaluate.cells import make_cell, same


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def probabilities(n, k=3):
    return np.random.default_rng(0).dirichlet(np.ones(k), n).astype(np.float32)


def test_a_cell_comes_back_as_it_was(path):
    cell = make_cell(probabilities=probabilities(4), truth=[0, 2, 2, 1], rows=[7, 70_000, 3, 0])
    with Store(path) as store:
        store.add(cell)
        assert store.keys() == {cell.key}
        assert same(store.get(cell.key), cell, but=())
        with pytest.raises(KeyError):
            store.get("other")
    with Store(path) as store:
        (again,) = store.cells()
    assert same(again, cell, but=())
    assert again.classes == ("oak", "elm", "<b>")
    assert again.probabilities.dtype == np.float32


def test_a_cell_without_probabilities(path):
    with Store(path) as store:
        store.add(make_cell())
        assert store.get(make_cell().key).probabilities is None


def test_a_key_is_stored_once_and_stays(path):
    with Store(path) as store:
        store.add(make_cell(key="k", seconds=1.0))
        store.add(make_cell(key="k", seconds=2.0))
        assert len(store) == 1
        assert store.get("k").fit_seconds == 1.0


def test_cells_can_be_chosen(path):
    with Store(path) as store:
        for data_set in ("b", "a"):
            for reduction in ("one_vs_one", "bch"):
                for fold in (1, 0):
                    store.add(make_cell(data_set, reduction, fold=fold))
        order = [(c.data_set, c.reduction, c.fold) for c in store.cells()]
        assert order == sorted(order)
        assert len(order) == 8
        assert {c.data_set for c in store.cells("a")} == {"a"}
        assert len(list(store.cells(reduction="bch", data_set="b"))) == 2
        assert not list(store.cells(base="svm"))


def test_what_was_added_is_seen_by_others_at_once(path):
    with Store(path) as one, Store(path) as other:
        one.add(make_cell(fold=0))
        assert len(other) == 1
        other.add(make_cell(fold=1))
        assert len(one) == 2


ADDER = """
import sys
from polychotomy.evaluate import Store
from tests.evaluate.cells import make_cell
with Store(sys.argv[1]) as store:
    for fold in range(int(sys.argv[2]), int(sys.argv[3])):
        store.add(make_cell(fold=fold))
"""


@pytest.mark.slow
def test_processes_share_a_store_from_its_first_moment(path):
    ranges = [("0", "60"), ("30", "90"), ("60", "120")]
    running = [
        subprocess.Popen([sys.executable, "-c", ADDER, str(path), *each], stderr=subprocess.PIPE)
        for each in ranges
    ]
    assert [process.communicate()[1] for process in running] == [b"", b"", b""]
    with Store(path, create=False) as store:
        assert sorted(cell.fold for cell in store.cells()) == list(range(120))


def test_a_store_that_another_process_makes_meanwhile_is_taken(path, monkeypatch):
    look = Store._is_new

    def look_and_be_late(store):
        monkeypatch.setattr(Store, "_is_new", look)
        new = store._is_new()
        with Store(path) as other:
            other.add(make_cell(fold=0))
        return new

    monkeypatch.setattr(Store, "_is_new", look_and_be_late)
    with Store(path) as store:
        store.add(make_cell(fold=1))
        assert sorted(cell.fold for cell in store.cells()) == [0, 1]


class Contended(sqlite3.Connection):
    """As SQLite does, refuse at once to turn the log on while another process does so."""

    def execute(self, query, *rest):
        if "journal_mode" in query and Contended.left:
            Contended.left -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return super().execute(query, *rest)


def test_making_a_store_waits_for_another_process(path, monkeypatch):
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Contended))
    Contended.left = 10**9
    with pytest.raises(StoreError, match="is locked by another program"):
        Store(path, timeout=0.1)
    Contended.left = 2
    with Store(path) as store:
        assert Contended.left == 0
        assert store._value("PRAGMA journal_mode") == "wal"


def refused(path, match, **options):
    """Check that a file is refused, and left as it is."""
    before = path.read_bytes()
    with pytest.raises(StoreError, match=match) as caught:
        Store(path, **options)
    assert path.read_bytes() == before
    assert str(path) in str(caught.value)
    assert sorted(os.listdir(path.parent)) == [path.name]


@pytest.mark.parametrize("content", [b"hello, world\n" * 100, bytes(range(256)) * 32, b"x"])
def test_what_is_no_database_is_refused(path, content):
    path.write_bytes(content)
    refused(path, "is not a store of results")


def test_an_empty_file_is_a_store_to_be(path):
    path.touch()
    with Store(path) as store:
        assert len(store) == 0


def test_a_store_whose_maker_was_killed_is_made(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    with Store(path) as store:
        store.add(make_cell())
        assert len(store) == 1


def test_the_database_of_another_program_is_refused(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE cells (name TEXT)")
        database.commit()
    refused(path, "is a database of another program")


@pytest.mark.parametrize(("version", "word"), [(99, "newer"), (0, "older")])
def test_a_store_of_another_version_is_refused(path, version, word):
    with Store(path) as store:
        store.add(make_cell())
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {version}")
    refused(path, f"{word} version of polychotomy")


def full_store(path):
    with Store(path) as store:
        for fold in range(60):
            store.add(make_cell(fold=fold, probabilities=probabilities(400)))


def test_a_truncated_store_is_refused(path):
    full_store(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    refused(path, "is damaged")


def test_an_overwritten_store_is_refused(path):
    full_store(path)
    content = bytearray(path.read_bytes())
    content[4096:40960] = bytes(range(256)) * 144
    path.write_bytes(content)
    refused(path, "is damaged")


def test_a_damaged_array_is_told(path):
    with Store(path) as store:
        store.add(make_cell())
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE cells SET truth = x'00'")
        database.commit()
    with Store(path) as store, pytest.raises(StoreError, match="is damaged"):
        list(store.cells())


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE cells SET metrics = CAST(x'7b22fffe' AS TEXT)",
        "UPDATE cells SET settings = '3'",
        "ALTER TABLE cells DROP COLUMN chosen",
    ],
)
def test_damaged_text_is_told_and_not_shown(path, damage):
    with Store(path) as store:
        store.add(make_cell())
    with closing(sqlite3.connect(path)) as database:
        database.execute(damage)
        database.commit()
    with Store(path) as store, pytest.raises(StoreError, match=r"is damaged\. Move it away"):
        list(store.cells())


def test_a_locked_store_is_told(path):
    Store(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="is locked by another program"):
            Store(path, timeout=0.1)
    Store(path).close()


def test_waiting_for_another_writer_ends(path):
    with Store(path, timeout=0.1) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="is locked"):
                store.add(make_cell())
        store.add(make_cell())
        assert len(store) == 1


def test_what_is_no_file_is_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="is not a file"):
        Store(tmp_path / "pipe")
    assert os.listdir(tmp_path) == ["pipe"]  # SQLite would leave a journal


def test_what_cannot_be_opened_is_told(tmp_path):
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path / "no folder" / "results.sqlite")
    with pytest.raises(StoreError, match="is not a file"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="There is no store"):
        Store(tmp_path / "results.sqlite", create=False)
    assert not os.listdir(tmp_path)


def first_schema(path, cells):
    """Write a store as the first version did: without counts."""
    with Store(path) as store:
        for cell in cells:
            store.add(cell)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for name in ("problems", "questions", "samples", "support"):
            database.execute(f"ALTER TABLE cells DROP COLUMN cost_{name}")
        database.execute("PRAGMA user_version = 1")


def version_of(path):
    with closing(sqlite3.connect(path)) as database:
        return database.execute("PRAGMA user_version").fetchone()[0]


def test_counts_come_back(path):
    with Store(path) as store:
        store.add(make_cell(key="known", cost=Cost(3.0, 1.5, 2.0, None)))
        store.add(make_cell(key="unknown"))
        assert store.get("known").cost == Cost(3.0, 1.5, 2.0, None)
        assert store.get("unknown").cost is None


def test_a_store_of_the_first_schema_is_read_with_unknown_costs(path):
    old = make_cell(key="old", cost=Cost(3.0, 3.0))
    first_schema(path, [old])
    before = path.read_bytes()
    with Store(path, create=False) as store:
        assert store.keys() == {"old"}
        assert store.get("old").cost is None
        assert same(store.get("old"), old, but=("cost",))
    assert version_of(path) == 1
    assert path.read_bytes() == before
    with Store(path) as store, Store(path) as other:
        store.add(make_cell(key="new", cost=Cost(2.0, 2.0)))
        other.add(make_cell(key="newer", cost=Cost(1.0, 1.0)))
        costs = {cell.key: cell.cost for cell in other.cells()}
    assert costs == {"old": None, "new": Cost(2.0, 2.0), "newer": Cost(1.0, 1.0)}
    assert version_of(path) == 2


def test_a_crash_while_counts_are_added_loses_nothing(path, monkeypatch):
    first_schema(path, [make_cell(key="old")])
    with Store(path) as store:
        monkeypatch.setattr(_cell_store, "_COUNTS", {"problems": "cost_problems", "bad": "0 0"})
        with pytest.raises(StoreError):
            store.add(make_cell(key="new"))
    monkeypatch.undo()
    assert version_of(path) == 1
    with Store(path) as store:
        store.add(make_cell(key="new"))
        assert store.keys() == {"old", "new"}


@pytest.mark.parametrize(
    ("free", "message"), [(0, "the disk is full"), (2**30, "the disk reports an error")]
)
def test_an_error_of_the_disk_says_whether_it_is_full(tmp_path, monkeypatch, free, message):
    """SQLite calls both "disk I/O error"."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
    usage = SimpleNamespace(free=free)
    monkeypatch.setattr(_cell_store, "disk_usage", lambda path: usage)

    class Failing:
        def execute(self, *_):
            raise error

        def close(self):
            pass

    store = Store(tmp_path / "store.sqlite")
    store.close()
    store._database = Failing()
    with pytest.raises(StoreError, match=message):
        store.keys()
