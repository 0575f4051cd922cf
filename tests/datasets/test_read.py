import gzip
import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import issparse
from sklearn.datasets import dump_svmlight_file

from polychotomy.datasets import match_labels, read, read_features
from polychotomy.datasets._read import make_categorical
from polychotomy.datasets._reading import Reading
from polychotomy.errors import DataError, MissingExtraError

ARFF = """% fruit
@relation fruit
@attribute 'the weight' real
@attribute skin {'rather rough', glatt, "grün"}
@attribute grade {1,2}
@attribute class {apple,orange}
@data
150, 'rather rough', 1, apple
?, ?, 2, orange
120, "grün", 1, apple
"""

# Without the time, which would be in the name of a test.
CUT_SHORT = gzip.compress(b"x,class\n1,u\n2,v\n" * 99, mtime=0)[:40]


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", ", "])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".CSV", ".csv.gz"])
def test_csv(write, delimiter, ending):
    lines = ["weight,skin,class", "150.5,rough,apple", ",smooth,orange", "120,,apple"]
    text = "\r\n".join(lines).replace(",", delimiter)
    path = write(f"fruit{ending}", gzip.compress(text.encode()) if "gz" in ending else text)
    fruit = read(path)
    assert fruit.name == "fruit"
    assert fruit.source == str(path)
    assert fruit.nominal == ["skin"]
    assert fruit.target.tolist() == ["apple", "orange", "apple"]
    expected = pd.DataFrame({"weight": [150.5, np.nan, 120], "skin": ["rough", "smooth", None]})
    pd.testing.assert_frame_equal(fruit.data, expected.astype({"skin": fruit.data["skin"].dtype}))
    assert fruit.train is None


@pytest.mark.parametrize(
    ("header", "options", "expected"),
    [
        ("a,b,c", {}, "c"),
        ("a,Class,c", {}, "Class"),
        ("label,target,c", {}, "target"),
        ("y,b,c", {}, "y"),
        ("Class,class,c", {}, "class"),
        ("CLASS,class,Class", {}, "class"),
        ("Label,TARGET,y", {}, "TARGET"),
        ("a,b,split", {}, "b"),
        ("a,b,class", {"target": "a"}, "a"),
    ],
)
def test_which_column_is_the_target(write, header, options, expected):
    path = write("data.csv", f"{header}\n1,1,train\n2,2,test\n1,1,test\n2,2,train\n")
    assert expected not in read(path, **options).data


@pytest.mark.parametrize("header", ["Class,x,class", "class,x,Class"])
def test_of_two_class_columns_none_is_taken_in_silence(write, header):
    path = write("data.csv", f"{header}\na,1,u\nb,2,v\na,3,v\nb,4,u\n")
    found = read(path)
    assert found.target_name == "class"
    assert found.remarks[0] == "The classes are those of the column 'class'."
    assert read(path, "class").target_name == "class"
    assert read(path, "Class").target_name == "Class"


def test_marks_of_missing_values_are_labels_in_the_target(write):
    path = write("data.csv", "x,s,class\n?,u,NA\nNaN,?,?\n3,null,None\n4,u,NA\n")
    samples = read(path)
    assert samples.target.tolist() == ["NA", "?", "None", "NA"]
    assert samples.data["x"].isna().tolist() == [True, True, False, False]
    assert samples.data["s"].isna().tolist() == [False, True, True, False]


def test_decimal_commas(write):
    samples = read(write("data.csv", "a;b;class\n1,5;x;u\n-2,25;y;v\n3;x;u\n"))
    assert samples.data["a"].tolist() == [1.5, -2.25, 3]


def test_row_numbers_without_a_name_are_left_out(write):
    samples = read(write("data.csv", ",x,class\n0,5,u\n1,6,v\n2,7,u\n"))
    assert list(samples.data) == ["x"]


def test_a_fixed_split(write):
    path = write("data.csv", "x,split,class\n1,train,u\n2,test,v\n3,train,v\n")
    samples = read(path)
    assert list(samples.data) == ["x"]
    assert samples.train.tolist() == [0, 2]
    assert samples.test.tolist() == [1]
    other = read(write("other.csv", "x,split,class\n1,left,u\n2,right,v\n3,left,v\n"))
    assert other.nominal == ["split"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        (["-3", "0", "0"], [-3, 0, 0]),
        (["01", "1", "001", "1"], None),  # None: as they are written
        (["1e20", "2e20", "inf", "inf"], None),
        (["1.0", "2.0", "1.0"], None),
        (["1", "+1", "1"], None),
        (["-0", "0", "0"], None),
        (["1", "a", "1"], None),
        (["9223372036854775807", "1", "1"], [2**63 - 1, 1, 1]),
        (["9223372036854775808", "1", "1"], None),
        (["1_0", "10", "10"], None),
        (["true", "True", "TRUE", "true"], None),
        (["nan", "1", "1"], None),
    ],
)
def test_labels_are_texts_unless_all_are_plain_integers(write, labels, expected):
    rows = "".join(f"{i},{label}\n" for i, label in enumerate(labels))
    found = read(write("data.csv", f"x,class\n{rows}")).target
    assert found.tolist() == (labels if expected is None else expected)
    assert found.dtype.kind == ("O" if expected is None else "i")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 1.0], [1, 2, 1]),
        ([1e20, 2e20, np.inf, np.inf], ["1e+20", "2e+20", "inf", "inf"]),
        (
            [2.0**53, 2.0**53 + 2, 1.0, 1.0],
            ["9007199254740992.0", "9007199254740994.0", "1.0", "1.0"],
        ),
        ([True, False, True], [True, False, True]),
        (pd.array([1, 2, 1], dtype="Int64"), [1, 2, 1]),
        (pd.Categorical(["1", "02", "1"]), ["1", "02", "1"]),
    ],
)
def test_labels_of_formats_with_types(tmp_path, values, expected):
    pytest.importorskip("pyarrow")
    path = tmp_path / "data.parquet"
    pd.DataFrame({"x": range(len(values)), "class": values}).to_parquet(path)
    assert read(path).target.tolist() == expected


def test_labels_of_libsvm_files_are_numbers(write):
    samples = read(write("data.libsvm", "01 1:5\n2.0 1:6\n1 1:7\n"))
    assert samples.target.tolist() == [1, 2, 1]


def test_rows_without_a_label_are_left_out_and_counted(write):
    samples = read(write("a.csv", "x,class\n1,u\n2,\n3,v\n4,u\n5,\n"))
    assert samples.data["x"].tolist() == [1, 3, 4]
    assert samples.target.tolist() == ["u", "v", "u"]
    assert samples.remarks == ["Left out, since they have no label: 2 of 5 rows."]
    with pytest.raises(DataError, match=r"No row of .* has a label in the column 'class'"):
        read(write("b.csv", "x,class\n1,\n2,\n"))


def test_labels_are_matched_with_classes_by_their_names():
    classes = np.array(["1", "2", "3a"])
    assert match_labels(np.array([1, 2, 1]), classes).tolist() == ["1", "2", "1"]
    assert match_labels(np.array([1, 20]), classes).tolist() == ["1", 20]
    same = match_labels(np.array(["2", "1"], dtype=object), np.array([1, 2]))
    assert same.tolist() == [2, 1]
    assert same.dtype.kind == "i"


def test_names_that_are_numbers(write):
    """As from an array, or wavelengths; a first row of samples is not a header."""
    assert read(write("a.csv", "0,1,2\n5,1,u\n6,1,v\n7,1,v\n")).data.shape == (3, 2)
    assert read(write("b.csv", "7.86,8.04,class\n5,1,u\n6,1,v\n7,1,v\n")).data.shape == (3, 2)
    with pytest.raises(DataError, match="must name the columns"):
        read(write("c.csv", "5.1,3.5,1.4,0.2,setosa\n4.9,3,1.4,0.2,setosa\n"))
    with pytest.raises(DataError, match="must name the columns"):
        read(write("d.csv", "5,a\n6,a"))  # the last line says what the first one is


@pytest.mark.parametrize("ending", [".arff", ".arff.gz"])
def test_arff(write, ending):
    content = ARFF.encode()
    fruit = read(write(f"fruit{ending}", gzip.compress(content) if "gz" in ending else content))
    assert fruit.data["the weight"].fillna(0).tolist() == [150, 0, 120]
    assert fruit.data["skin"].astype(object).fillna("none").tolist() == [
        "rather rough",
        "none",
        "grün",
    ]
    assert fruit.nominal == ["skin", "grade"]  # what is declared nominal stays so
    assert fruit.target.tolist() == ["apple", "orange", "apple"]


@pytest.mark.parametrize("ending", [".libsvm", ".svm", ".svmlight", ".svm.gz"])
def test_libsvm(tmp_path, ending, rng):
    X = rng.random((20, 5)) * (rng.random((20, 5)) > 0.5)
    y = np.arange(20) % 3
    path = tmp_path / f"data{ending}"
    dump_svmlight_file(X, y, str(path).removesuffix(".gz"))
    if ending.endswith(".gz"):
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    samples = read(path)
    assert issparse(samples.data)
    np.testing.assert_allclose(samples.data.toarray(), X)
    assert samples.target.tolist() == y.tolist()
    again = read_features(path, [], **samples.reading)
    np.testing.assert_array_equal(again.toarray(), samples.data.toarray())


def test_libsvm_files_stay_sparse_however_wide_they_are(write):
    samples = read(write("data.libsvm", "1 400000000:1\n2 1:1\n1 2:1\n"))
    assert samples.data.shape == (3, 400000000)
    assert samples.data.nnz == 3
    new = read_features(write("new.libsvm", "0 2:5 7:9\n"), [], sparse=3)
    assert new.toarray().tolist() == [[0, 5, 0]]
    with pytest.raises(DataError, match="must be a LIBSVM file"):
        read_features(write("new.csv", "x1,x2\n1,2\n"), [], sparse=3)
    with pytest.raises(DataError, match="are numbers and all of them used"):
        read(write("data.libsvm", "1 1:1\n2 2:1\n1 1:2\n"), drop=["x1"])


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "fruit.parquet"
    columns = {
        "weight": [150.5, None, 120.0],
        "ripe": [True, False, True],
        "skin": ["rough", "smooth", None],
        "class": ["apple", "orange", "apple"],
    }
    pl.DataFrame(columns).write_parquet(path)
    fruit = read(path)
    assert fruit.nominal == ["ripe", "skin"]
    assert fruit.data["weight"].isna().tolist() == [False, True, False]
    assert fruit.target.tolist() == columns["class"]


def test_columns_of_parquet_that_pandas_has_numbered_have_names(tmp_path):
    path = tmp_path / "numbered.parquet"
    pd.DataFrame([[1.0, 2.0, "u"], [3.0, 4.0, "v"], [5.0, 6.0, "v"]]).to_parquet(path)
    found = read(path, target="2")
    assert list(found.data.columns) == ["0", "1"]
    assert found.target.tolist() == ["u", "v", "v"]


def test_parquet_without_pyarrow_is_told(tmp_path, monkeypatch):
    path = tmp_path / "fruit.parquet"
    pl.DataFrame({"a": [1, 2, 3], "class": ["u", "v", "v"]}).write_parquet(path)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'polychotomy\[parquet\]'"):
        read(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", " \n\n", "is empty"),
        ("a.csv", "x,class\n", "has no rows"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\x00\x00", "is not text in the encoding"),
        ("a.csv", b"\x01\x02\x00abc,\n", "is not a table of text"),
        ("a.csv", "café,class\n1,a\n2,b\n".encode("latin-1"), "Give its encoding, such as"),
        ("a.csv", "x,class\n1,u\n2,v,3\n3,u\n", "Expected 2 fields in line 3, saw 3"),
        ("a.csv", "x,class\n1,u,5\n2,v,6\n3,u,7\n", "is not a table of text"),
        ("a.csv", 'x,class\n1,"u\n2,v\n', "is not a table of text"),
        ("a.csv.gz", "x,class\n1,u\n", "is not a table of text .*[Gg]zip"),
        ("a.csv.gz", CUT_SHORT, "is not a table of text"),
        ("a.csv", "<html>\n<p>404</p>\n</html>", "one column besides the labels"),
        ("a.csv", "x,x,class\n1,2,u\n", "must be unique\\. .* repeats 'x'"),
        ("a.csv", "x,class,\n1,u,\n2,v,\n", "Column 3 of .* has no name"),
        ("a.csv", "x,class\n1,u\n2,u\n", "at least two classes\\. Got one"),
        ("a.csv", "x,class\n1,u\n2,v\n", "as many classes as there are rows, 2"),
        ("a.csv", "x,class\n1,0.5\n2,1.5\n3,0.5\n", "contains fractions, not classes.* regression"),
        ("a.csv", "1.5,2.5,oak\n1,2,elm\n3,4,oak\n5,6,elm\n", "must name the columns"),
        ("a.csv", "z,class\n,u\n,v\n,v\n", "one column besides the labels"),
        ("a.csv", "Y,CLASS,Class\n1,u,u\n2,v,v\n3,u,u\n", "has the columns 'CLASS', 'Class'"),
        ("a.csv", "x,class\n" + "1,u\n2,v\n" * 40000 + "3,u\0w\n", "contains a NUL character"),
        ("a.csv", "x,class\n1,u\n-inf,v\n3,v\n", "must be finite: 'x'"),
        ("a.csv", "class\nu\nv\nv\n", "one column besides the labels"),
        ("a.parquet", "x,class\n1,u\n", "is not a Parquet file"),
        ("a.arff", "x,class\n1,u\n", "is not an ARFF file"),
        ("a.arff", b"PAR1\x00\x01", "is not an ARFF file"),
        ("a.arff", ARFF.replace("'the weight'", "grade"), "'grade' occurs more than once"),
        ("a.arff", ARFF.replace("real", "string"), "is not an ARFF file .*String attributes"),
        ("a.arff", ARFF.replace("120, ", "{0 120, "), "is not an ARFF file"),
        ("a.arff", ARFF.partition("150")[0], "has no rows"),
        ("a.libsvm", "x,class\n1,u\n", "is not a LIBSVM file"),
        ("a.libsvm", "1.5 1:2\n2.5 1:3\n1.5 1:4\n", "contains fractions"),
        ("a.xlsx", b"PK", "is not an Excel file"),
        ("a.npz", b"PK", "is not a NumPy file"),
        ("a.ods", b"PK", "must end in one of .csv"),
        ("noending", "x,class\n1,u\n", "is unknown"),
    ],
)
def test_files_that_cannot_be_used(write, name, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read(write(name, content))
    assert len(str(caught.value)) < 400 + len(str(write(name, b"")))


def test_damaged_parquet_is_told(write):
    pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match="is not a Parquet file, or is damaged"):
        read(write("a.parquet", b"PAR1garbage"))


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nothing\.csv"):
        read(tmp_path / "nothing.csv")


def test_a_missing_target_is_told_with_what_there_is(write):
    path = write("a.csv", "weight,klass\n1,u\n2,v\n3,v\n")
    with pytest.raises(
        DataError, match=r"no column 'class' .* are 'weight', 'klass'\. Did you mean"
    ):
        read(path, target="class")
    many = ",".join(f"x{i}" for i in range(50))
    with pytest.raises(DataError, match="and 38 more"):
        read(write("b.csv", f"{many}\n{many}\n"), target="class")


words = st.text("abcdefgh ,;|\t'é", min_size=1, max_size=6).map(lambda t: "w" + t.strip())


@st.composite
def frames(draw):
    n = draw(st.integers(4, 12))
    columns = {
        f"n{i}": draw(st.lists(st.floats(-1e6, 1e6) | st.none(), min_size=n, max_size=n))
        for i in range(draw(st.integers(0, 2)))
    } | {
        f"t{i}": draw(st.lists(words | st.none(), min_size=n, max_size=n))
        for i in range(draw(st.integers(0, 2)))
    }
    columns = {
        name: values for name, values in columns.items() if any(v is not None for v in values)
    }
    columns["always"] = list(range(n))
    labels = draw(st.lists(words, min_size=2, max_size=2, unique=True))
    target = labels + draw(st.lists(st.sampled_from(labels), min_size=n - 2, max_size=n - 2))
    return pd.DataFrame(columns | {"class": target})


@given(frame=frames(), delimiter=st.sampled_from(",;\t|"))
def test_what_was_written_is_read(tmp_path_factory, frame, delimiter):
    path = tmp_path_factory.mktemp("round") / "frame.csv"
    frame.to_csv(path, sep=delimiter, index=False)
    samples = read(path)
    assert list(samples.data) == [c for c in frame if c != "class"]
    assert samples.target.tolist() == frame["class"].tolist()
    for name in samples.data:
        got, expected = samples.data[name], frame[name]
        assert got.isna().tolist() == expected.isna().tolist()
        if name in samples.nominal:
            assert got.dropna().astype(object).tolist() == expected.dropna().tolist()
        else:
            np.testing.assert_allclose(got.dropna(), expected.dropna().astype(float), rtol=1e-12)


def test_features_are_read_by_name_whatever_else_there_is(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("code;b;a;class\n1;NA;2;x\n;3;4;\n")
    frame = read_features(path, ["a", "b", "code"], nominal=["code"])
    assert list(frame.columns) == ["a", "b", "code"]
    assert frame["a"].tolist() == [2, 4]
    assert np.isnan(frame["b"][0])
    assert frame["code"].astype("string")[0] == "1"  # not 1.0
    assert frame["code"].isna().tolist() == [False, True]
    with pytest.raises(DataError, match=r"must have the columns 'a', 'z'\. It lacks 'z'"):
        read_features(path, ["a", "z"])
    with pytest.raises(DataError, match=r"'class' of .* finite numbers. Got 'x' in row 1"):
        read_features(path, ["class"])


def test_features_without_labels_may_end_with_gaps(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("a,b\n1,?\n2,NA\n")  # in a last column of labels these would be labels
    assert read_features(path, ["a", "b"])["b"].isna().all()


def test_features_that_a_libsvm_file_leaves_out_are_zero(tmp_path):
    path = tmp_path / "new.libsvm"
    path.write_text("0 1:5 2:1\n0 1:3\n")
    frame = read_features(path, ["x1", "x2", "x3"])
    assert frame.to_numpy().tolist() == [[5, 1, 0], [3, 0, 0]]


def test_nominal_values_stay_as_they_are_written(tmp_path):
    """A few rows may hold only those that look like numbers: "01" is not the value 1 then."""
    path = tmp_path / "new.csv"
    path.write_text("zone,wet,size\n01,true,01\n1.50,FALSE,2\n")
    frame = read_features(path, ["zone", "wet", "size"], nominal=["zone", "wet"])
    assert frame["zone"].tolist() == ["01", "1.50"]
    assert frame["wet"].tolist() == [True, False]  # as read() has them
    assert frame["size"].tolist() == [1, 2]


def test_labels_must_be_single_values(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "lists.parquet"
    pd.DataFrame({"x": [1, 2, 3], "class": [[1], [2], [1]]}).to_parquet(path)
    with pytest.raises(DataError, match=r"'class' of .* must contain single values, not lists"):
        read(path)


def test_columns_to_keep_are_texts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,id,kind\n1,007,NA\n2,,oak\n")
    frame = read_features(path, ["x"], keep=["id", "kind", "absent", "x"])
    assert list(frame) == ["x", "id", "kind"]
    assert frame["id"].tolist() == ["007", None]
    assert frame["kind"].tolist() == ["NA", "oak"]
    path = tmp_path / "a.libsvm"
    path.write_text("1 1:0.5\n-2 2:1\n")
    assert read_features(path, ["x1"], keep=["label"])["label"].tolist() == ["1", "-2"]


def test_columns_are_dropped_or_nominal_as_one_says(write):
    path = write("a.csv", "id,zone,x,kind\n1,01,5,u\n2,1,6,v\n3,01,7,u\n")
    samples = read(path, drop=["id"], nominal=["zone"])
    assert list(samples.data) == ["zone", "x"]
    assert samples.nominal == ["zone"]
    assert samples.data["zone"].tolist() == ["01", "1", "01"]
    assert samples.remarks == ["The classes are those of the column 'kind'."]
    again = read_features(path, ["zone", "x"], ["zone"], **samples.reading)
    assert again["zone"].tolist() == ["01", "1", "01"]
    for options, message in (
        ({"drop": ["idd"]}, "no column 'idd' .* Did you mean 'id'"),
        ({"nominal": ["kind"]}, "only one of target, dropped, nominal and text, unlike 'kind'"),
        ({"drop": ["x"], "nominal": ["x"]}, "only one of .* unlike 'x'"),
        ({"text": {"x": "letters"}}, "must count 'words' or 'chars'. Got 'letters'"),
        ({"drop": ["id", "zone", "x"]}, "one column besides the labels"),
    ):
        with pytest.raises(ValueError, match=message):
            read(path, **options)


def test_columns_without_a_value_are_left_out(write):
    samples = read(write("a.csv", "x,z,class\n1,,u\n2,?,v\n3,NA,v\n"))
    assert list(samples.data) == ["x"]
    assert samples.remarks == ["Left out, since all values are missing: 'z'."]


def test_text_is_kept_as_it_is(write):
    path = write("a.csv", "note,x,class\ngood day,1,u\n,2,v\n007,3,v\n")
    samples = read(path, text=["note"])
    assert samples.text == {"note": "words"}
    assert samples.nominal == []
    assert samples.data["note"].fillna("?").tolist() == ["good day", "?", "007"]
    again = read_features(path, ["note", "x"], **samples.reading)
    assert again["note"].fillna("?").tolist() == ["good day", "?", "007"]


@pytest.mark.parametrize(
    ("dates", "days"),
    [
        (["1970-01-02", "", "1969-12-31"], [1, np.nan, -1]),
        (["1970-01-01T12:00", "1970-01-03 00:00:00", "1970-01-02"], [0.5, 2, 1]),
        (["1970-01-01T12:00+12:00", "1970-01-01T00:00Z", "1970-01-02"], [0, 0, 1]),
        (["31.1.1970", "1.2.1970", "01.01.1970"], [30, 31, 0]),
        (["1/31/1970", "2/1/1970", "1/1/1970"], [30, 31, 0]),
        (["31/1/1970", "1/2/1970", "1/1/1970"], [30, 31, 0]),
        (["1970/1/31", "1970/2/1", "1970/1/1"], [30, 31, 0]),
        pytest.param(
            ["0002-04-01", "9999-12-31", "1970-01-01"],
            [-718707, 2932896, 0],
            marks=pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 has nanoseconds only"),
        ),
    ],
)
def test_dates_become_days(write, dates, days):
    rows = "".join(f"{date},{i},{'uv'[i % 2]}\n" for i, date in enumerate(dates))
    path = write("a.csv", f"day,x,class\n{rows}")
    samples = read(path)
    np.testing.assert_allclose(samples.data["day"], days)
    assert samples.remarks == ["Read as dates, in days since 1970: 'day'."]
    again = read_features(path, ["day"], **samples.reading)
    np.testing.assert_allclose(again["day"], days)
    other = write("b.csv", "day\n1970-01-05\nsoon\n")
    with pytest.raises(DataError, match=r"'day' of .* must contain dates"):
        read_features(other, ["day"], **samples.reading)


def test_what_may_be_no_date_stays_nominal(write):
    for first, second in (("1/2/1970", "3/4/1970"), ("1970-01-01", "none"), ("2010-2011", "x")):
        path = write("a.csv", f"day,x,class\n{first},1,u\n{second},2,v\n{first},3,v\n")
        assert read(path).nominal == ["day"]
    path = write("a.csv", "day,class\n1970-01-01,u\n1970-01-02,v\n1970-01-02,v\n")
    assert read(path, nominal=["day"]).nominal == ["day"]


def test_dates_of_formats_with_types(tmp_path):
    pytest.importorskip("pyarrow")
    day = pd.Timestamp("1970-01-02")
    columns = {"at": [day, day, None], "date": [day.date()] * 3, "for": [day - day] * 3}
    path = tmp_path / "a.parquet"
    pd.DataFrame(columns | {"class": ["u", "v", "v"]}).to_parquet(path)
    samples = read(path)
    assert samples.data.fillna(-1).to_numpy().tolist() == [[1, 1, 0], [1, 1, 0], [-1, 1, 0]]
    again = read_features(path, ["for", "at", "date"], **samples.reading)
    pd.testing.assert_frame_equal(again[list(samples.data)], samples.data)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "UTF8"])
def test_encodings(write, encoding):
    path = write("a.csv", "größe,class\n1,süß\n2,v\n3,v\n".encode(encoding))
    samples = read(path, encoding=encoding)
    assert list(samples.data) == ["größe"]
    assert samples.target[0] == "süß"
    assert list(read_features(path, ["größe"], **samples.reading)) == ["größe"]
    with pytest.raises(DataError, match="The encoding 'nothing' is unknown"):
        read(path, encoding="nothing")


def test_files_without_a_header(write):
    path = write("a.csv", "5.1,a,7\n4.9,b,8\n4.7,a,7\n")
    samples = read(path, header=False)
    assert list(samples.data) == ["x1", "x2"]
    assert samples.target.tolist() == [7, 8, 7]
    unlabelled = write("new.csv", "5.1,a\n4.9,b\n")
    for file in (path, unlabelled):
        frame = read_features(file, ["x2", "x1"], ["x2"], **samples.reading)
        assert frame["x1"].tolist()[:2] == [5.1, 4.9]
    other = read(path, "x2", header=False)
    frame = read_features(write("new.csv", "5.1,7\n"), ["x1", "x3"], **other.reading)
    assert frame.to_numpy().tolist() == [[5.1, 7]]
    with pytest.raises(DataError, match=r"must have 3 columns, or 2 without the labels\. Got 1"):
        read_features(write("new.csv", "5\n"), ["x1", "x3"], **other.reading)


def test_excel(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "fruit.xlsx"
    columns = {
        "weight": [150.5, None, 120, "?"],
        "skin": ["rough", "smooth", "NA", "rough"],
        "picked": pd.to_datetime(["1970-01-02"] * 4),
        "class": ["NA", "orange", "NA", None],
    }
    pd.DataFrame(columns).to_excel(path, index=False)
    fruit = read(path)
    assert fruit.target.tolist() == ["NA", "orange", "NA"]
    assert fruit.data["weight"].fillna(0).tolist() == [150.5, 0, 120]
    assert fruit.data["skin"].isna().tolist() == [False, False, True]
    assert fruit.data["picked"].tolist() == [1, 1, 1]
    again = read_features(path, list(fruit.data), fruit.nominal, **fruit.reading)
    assert again["weight"].isna().tolist() == [False, True, False, True]
    pd.DataFrame([[1, 2], [3, 4], [5, 2]]).to_excel(path, index=False, header=False)
    assert read(path, header=False).target.tolist() == [2, 4, 2]


def test_excel_without_openpyxl_is_told(write, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'polychotomy\[excel\]'"):
        read(write("a.xlsx", b"PK"))


def test_npz(tmp_path, rng):
    path = tmp_path / "a.npz"
    X, y = rng.random((6, 2, 2)), np.array([3, 1, 3, 1, 1, 3], dtype=np.uint8)
    np.savez(path, X=X, y=y, split=[0, 0, 0, 1, 1, 1], other=np.arange(9))
    samples = read(path)
    np.testing.assert_array_equal(samples.data, X.reshape(6, 4))
    assert list(samples.data) == ["x1", "x2", "x3", "x4"]
    assert samples.target.tolist() == y.tolist()
    assert samples.test.tolist() == [3, 4, 5]
    np.savez(path, x_train=X[:4], y_train=y[:4], x_test=X[4:], y_test=y[4:])
    assert read(path).train.tolist() == [0, 1, 2, 3]
    np.savez(path, X=X.reshape(6, 4))
    np.testing.assert_array_equal(read_features(path, ["x4"])["x4"], X[:, 1, 1])
    for arrays, message in (
        ({"X": X}, "must contain an array y"),
        ({"y": y}, "must contain an array X with a row"),
        ({"X": X, "y": y[:3]}, "must have a row for each sample"),
        ({"X": X, "y": np.array([{}] * 6)}, "is not a NumPy file .*allow_pickle=False"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(DataError, match=message):
            read(path)


def test_references_of_xml_in_arff_files_are_text(write):
    values = ["&#228;", "a&b", "ä"]
    head = f"@relation r\n@attribute s {{{','.join(values)}}}\n@attribute class {{u,v}}\n@data\n"
    path = write(
        "a.arff", head + "".join(f"{value},{'uvv'[i]}\n" for i, value in enumerate(values))
    )
    assert read(path).data["s"].tolist() == values


def test_a_file_whose_name_is_no_text_has_a_name(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff.csv")
    path.write_text("x,class\n1,u\n2,v\n3,v\n")
    assert read(path).name == "\N{REPLACEMENT CHARACTER}"


class Counted(tuple):
    """Names that count how often they are gone through."""

    passes = 0

    def __iter__(self):
        type(self).passes += 1
        return super().__iter__()

    def __contains__(self, name):
        type(self).passes += 1
        return super().__contains__(name)


def test_thousands_of_nominal_columns_are_gone_through_once(tmp_path, monkeypatch):
    monkeypatch.setattr(Counted, "passes", 0)
    names = Counted(f"c{i}" for i in range(50))
    rows = [",".join([*"xyz"[i % 3 :], *"xy"[: i % 3], *["x"] * 47, "ab"[i % 2]]) for i in range(9)]
    header = ",".join([*names, "class"])
    (tmp_path / "wide.csv").write_text("\n".join([header, *rows]) + "\n")
    frame = read(tmp_path / "wide.csv").data
    passes = Counted.passes
    assert make_categorical(frame, Reading(nominal=names)) == list(frame.columns)
    read_features(tmp_path / "wide.csv", list(frame.columns), names)
    assert Counted.passes - passes < 5
