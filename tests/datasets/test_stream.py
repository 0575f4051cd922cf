"""Streams of samples: every source gives what reading all of it at once gives."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from polychotomy.datasets import read, stream
from polychotomy.errors import DataError


@pytest.fixture
def table():
    rng = np.random.default_rng(5)
    n = 1000
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(3),
            "count": rng.integers(9, size=n),
            "soil": rng.choice(["clay", "01", "1"], size=n),
            "wet": rng.choice(["true", "false"], size=n),
            "day": pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d"),
            "nothing": [None] * n,
            "cover": rng.choice(["wood", "road", "NA"], size=n, p=[0.6, 0.3, 0.1]),
        }
    )
    frame.loc[::7, "size"] = None
    frame.loc[::11, "soil"] = None
    frame.loc[::13, "cover"] = None
    return frame


def sources(table, folder):
    table.to_csv(folder / "land.csv", index=False)
    table.to_csv(folder / "land.tsv.gz", index=False, sep="\t")
    table.to_parquet(folder / "land.parquet", row_group_size=130)
    arrow = pa.Table.from_pandas(table)
    return {
        "csv": folder / "land.csv",
        "gz": str(folder / "land.tsv.gz"),
        "parquet": folder / "land.parquet",
        "table": arrow,
        "dataset": pyarrow.dataset.dataset(folder / "land.parquet"),
        "batches": lambda: arrow.to_batches(90),
    }


@pytest.mark.parametrize("name", [None, "field"])
@pytest.mark.parametrize("kind", ["parquet", "table", "dataset", "batches"])
def test_an_index_that_pandas_stored_is_no_column(table, tmp_path, kind, name):
    shuffled = table.sample(frac=1, random_state=0).rename_axis(index=name)
    found = stream(sources(shuffled, tmp_path)[kind], "cover", size=64)
    whole = read(tmp_path / "land.parquet", "cover")
    assert found.names == list(whole.data.columns)
    X, y = (list(parts) for parts in zip(*found, strict=True))
    np.testing.assert_array_equal(np.concatenate(y), whole.target)
    np.testing.assert_array_equal(pd.concat(X)["count"], whole.data["count"])


@pytest.mark.parametrize("kind", ["csv", "gz", "parquet", "table", "dataset", "batches", "dask"])
@pytest.mark.parametrize("size", [64, 5000])
def test_a_stream_has_the_samples_of_the_whole_table(table, tmp_path, kind, size):
    if kind == "dask":
        dask = pytest.importorskip("dask.dataframe")
        source = dask.from_pandas(table, npartitions=7, sort=False)
    else:
        source = sources(table, tmp_path)[kind]
    table.to_csv(tmp_path / "whole.csv", index=False)
    whole = read(tmp_path / "whole.csv", "cover")
    found = stream(source, "cover", size=size)
    blocks = list(found)
    assert max(len(y) for _, y in blocks) <= size
    X, y = pd.concat([X.astype(object) for X, _ in blocks]), np.concatenate([y for _, y in blocks])
    np.testing.assert_array_equal(y, whole.target)
    assert found.classes.tolist() == ["NA", "road", "wood"]
    assert found.n_samples == len(y) == found.counts.sum()
    assert found.names == list(whole.data.columns)
    assert found.nominal == whole.nominal
    assert found.reading["dates"] == whole.reading["dates"]
    for name in found.names:
        got, expected = X[name].reset_index(drop=True), whole.data[name].astype(object)
        assert got.isna().tolist() == expected.isna().tolist()
        if name in found.nominal:
            assert got.dropna().astype(str).str.lower().tolist() == [
                str(each).lower() for each in expected.dropna()
            ]
        else:
            np.testing.assert_allclose(got.astype(float), expected.astype(float))
    assert next(iter(found))[1].tolist() == blocks[0][1].tolist()  # it can be read again


def test_dask_arrays_are_computed_block_by_block():
    da = pytest.importorskip("dask.array")
    X, y = np.arange(300.0).reshape(100, 3), np.arange(100) % 4
    found = stream((da.from_array(X, chunks=(30, 2)), da.from_array(y, chunks=45)), size=20)
    blocks = list(found)
    np.testing.assert_array_equal(np.concatenate([part for part, _ in blocks]), X)
    np.testing.assert_array_equal(np.concatenate([part for _, part in blocks]), y)
    assert max(len(part) for _, part in blocks) == 20
    assert (found.classes.tolist(), found.counts.tolist()) == ([0, 1, 2, 3], [25] * 4)
    with pytest.raises(ValueError, match="must be two Dask arrays"):
        stream((X, y))


def test_labels_are_integers_only_if_all_of_them_are(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("x,y\n" + "1,7\n2,8\n" * 200 + "3,8a\n")
    assert stream(path, size=50).classes.tolist() == ["7", "8", "8a"]
    path.write_text("x,y\n" + "1,7\n2,8\n" * 200)
    assert stream(path, size=50).classes.dtype.kind == "i"


def test_the_sample_is_from_all_over_a_text_table(tmp_path, monkeypatch):
    monkeypatch.setattr("polychotomy.datasets._stream._SAMPLE", 100)
    path = tmp_path / "sorted.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(1000)))
    sample = stream(path, size=30).sample
    assert 50 < len(sample) <= 100
    assert np.ptp(np.diff(sample["x"])) == 0
    assert sample["x"].max() > 900


def test_rows_of_the_test_part_are_left_out(tmp_path):
    path = tmp_path / "split.csv"
    path.write_text("x,split,y\n" + "1,train,a\n2,test,b\n3,train,b\n" * 50)
    found = stream(path, size=32)
    assert found.names == ["x"]
    assert found.counts.tolist() == [50, 50]
    assert sum(len(y) for _, y in found) == 100


def test_a_bad_value_is_named_with_its_row_and_block(tmp_path, monkeypatch):
    monkeypatch.setattr("polychotomy.datasets._stream._SAMPLE", 100)
    path = tmp_path / "bad.csv"
    lines = [f"{i},{i % 2}" for i in range(1000)]
    lines[700] = "oops,1"
    path.write_text("x,y\n" + "\n".join(lines))
    with pytest.raises(DataError, match=r"'oops' in row 701. \(In rows 641 to 704"):
        list(stream(path, size=64))


def test_a_line_with_too_many_fields_is_named(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("x,y\n" + "1,0\n2,1\n" * 400 + "1,2,3\n")
    with pytest.raises(DataError, match="line 802"):
        stream(path)


def test_a_damaged_row_group_is_named(table, tmp_path):
    path = sources(table, tmp_path)["parquet"]
    place = pyarrow.parquet.ParquetFile(path).metadata.row_group(3).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[place : place + 40] = bytes(40)
    path.write_bytes(bytes(content))
    found = stream(path, "cover", drop=["size"])  # the sample does not need it
    assert sum(len(y) for _, y in found)
    with pytest.raises(DataError, match="Row group 4"):
        list(stream(path, "cover"))


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("x,y\n1,0.5\n2,1.5\n", {}, "fractions"),
        ("x,y\n1,a\n2,a\n", {}, "at least two classes"),
        ("x,y\n1,a\n2,b\n", {"target": "z"}, "no column 'z'"),
        ("x,y\n1,a\n2,b\n", {"size": 0}, "'size' parameter"),
        ("y\na\nb\n", {}, "at least one column"),
        (7, {}, "'source' parameter must be the path"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_trained(tmp_path, source, options, message):
    if isinstance(source, str):
        path = tmp_path / "data.csv"
        path.write_text(source)
        source = path
    with pytest.raises(ValueError, match=message):
        stream(source, **options)


def test_other_formats_cannot_be_read_block_by_block(tmp_path):
    (tmp_path / "data.npz").write_bytes(b"1234")
    with pytest.raises(DataError, match="cannot be read block by block"):
        stream(tmp_path / "data.npz")


@pytest.mark.parametrize("header", [True, False])
def test_what_a_model_keeps_of_how_its_file_was_read_is_that_of_a_whole_one(
    table, tmp_path, header
):
    path = tmp_path / "land.csv"
    table.to_csv(path, index=False, header=header)
    target = "cover" if header else "x7"
    whole = read(path, target, header=header)
    assert stream(path, target, header=header).reading == whole.reading


def test_texts_of_a_parquet_file_that_are_damaged_are_refused(tmp_path):
    """Arrow leaves texts unchecked, until something asks for one of them."""
    path = tmp_path / "land.parquet"
    good = pa.array(["2021-01-31", "2021-02-28", "wood"] * 20)
    _, places, letters = good.buffers()
    damaged = pa.py_buffer(letters.to_pybytes().replace(b"2021-02", b"\xff021-02"))
    texts = pa.StringArray.from_buffers(len(good), places, damaged)
    pyarrow.parquet.write_table(pa.table({"day": texts, "class": ["a", "b"] * 30}), path)
    with pytest.raises(DataError, match=r"is not a Parquet file, or is damaged: .*UTF8"):
        read(path)
    with pytest.raises(DataError, match=r"Row group 1 .* cannot be read: .*UTF8"):
        stream(path)
