import gzip

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from polychotomy.datasets import available, load
from polychotomy.datasets._load import order_of
from polychotomy.errors import DataError


@pytest.fixture(autouse=True)
def without_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("POLYCHOTOMY_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))


@pytest.fixture
def openml(monkeypatch):
    """A stand-in for OpenML: no test reaches the network."""

    def serve(frame, target, name):
        def fetch(*, data_id, as_frame, parser):
            assert as_frame
            fetch.asked.append(data_id)
            return Bunch(data=frame.copy(), target=target, details={"name": name})

        fetch.asked = []
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        return fetch

    return serve


def facts(name):
    return next(data for data in available() if data.name == name)


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "iris", "wine"])
def test_from_scikit_learn(name):
    samples = load(name)
    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    assert samples.source == "scikit-learn"
    assert (samples.data.to_numpy() == X).all()
    assert pd.factorize(samples.target)[0].tolist() == pd.factorize(y)[0].tolist()
    assert samples.train is None
    assert samples.test is None


def test_the_folder_comes_first(monkeypatch, tmp_path):
    monkeypatch.setenv("POLYCHOTOMY_DATA", str(tmp_path))
    assert load("iris").source == "scikit-learn"
    rows = "".join(f"{i},{i},{i},{i},c{i % 3}\n" for i in range(150))
    (tmp_path / "iris.csv.gz").write_bytes(gzip.compress(b"a,b,c,d,class\n" + rows.encode()))
    samples = load("iris")
    assert samples.source == str(tmp_path / "iris.csv.gz")
    assert set(samples.target) == {"c0", "c1", "c2"}
    assert facts("iris").source == "file"


def test_a_copy_of_another_size_warns(monkeypatch, tmp_path):
    monkeypatch.setenv("POLYCHOTOMY_DATA", str(tmp_path))
    (tmp_path / "wine.csv.gz").write_bytes(gzip.compress(b"a,class\n1,u\n2,v\n3,v\n"))
    with pytest.warns(UserWarning, match="3 x 1 x 2, not 178 x 13 x 3"):
        load("wine")


def test_waveform_is_always_the_same():
    first, again = load("waveform"), load("waveform")
    assert (first.data == again.data).all(axis=None)
    assert (first.target == again.target).all()
    assert len(first.train) == 300
    assert len(first.test) == 500


def vowel(order):
    """Something of vowel's size, as OpenML gives it: two columns more, text labels."""
    rng = np.random.default_rng(0)
    columns = {"Speaker_Number": "Andrew", "Sex": "Male"} | {
        f"Feature_{i}": rng.random(990) for i in range(10)
    }
    return pd.DataFrame(columns).astype({"Sex": "category"}), pd.Series(order, dtype="category")


def test_from_openml(openml, monkeypatch):
    order = np.array([f"h{c}d" for c in "abcdefghijk"])[np.arange(990) % 11]
    frame, target = vowel(order)
    fetch = openml(frame, target, "vowel")
    samples = load("vowel")
    assert fetch.asked == [307]
    assert samples.source == "OpenML 307"
    assert samples.data.shape == (990, 10)  # without speaker and sex
    assert samples.nominal == []
    assert samples.target.tolist() == order.tolist()


def test_openml_has_the_split_only_if_the_order_is_right(openml, monkeypatch):
    order = np.array([f"h{c}d" for c in "abcdefghijk"])[np.arange(990) % 11]
    openml(*vowel(order), "vowel")
    assert order_of(order[-462:]) == facts("vowel").test_order  # the speakers say them in turn
    samples = load("vowel")
    assert (len(samples.train), len(samples.test)) == (528, 462)
    openml(*vowel(np.sort(order)), "vowel")
    assert load("vowel").train is None


def test_openml_s_declared_kinds_are_mended(openml):
    """Grades are declared nominal there; codes look like numbers."""
    n = 366
    frame = pd.DataFrame({f"f{i}": np.arange(n) % 4 for i in range(33)}).astype(str)
    frame = frame.astype("category").assign(Age=np.where(np.arange(n) < 8, np.nan, 30.0))
    openml(frame, pd.Series(np.arange(n) % 6 + 1).astype(str).astype("category"), "dermatology")
    samples = load("dermatology")
    assert samples.nominal == []
    assert samples.data["f1"].tolist() == (np.arange(n) % 4).tolist()
    assert samples.target.dtype == np.int64

    frame = pd.DataFrame({f"f{i}": np.arange(531.0) for i in range(100)})
    frame["ID-type"] = pd.Series(np.arange(531) % 4).astype(str).astype("category")
    frame["LRS-name"] = "x"
    openml(frame, pd.Series(np.arange(531) % 48).astype(str), "spectrometer")
    samples = load("spectrometer")
    assert samples.nominal == ["ID-type"]
    assert samples.data.shape == (531, 101)


def test_nominal_values_from_openml_stay(openml):
    frame = pd.DataFrame({c: ["2", "5more", "3"] * 576 for c in "abcdef"}).astype("category")
    frame.loc[0, "a"] = np.nan
    openml(frame, pd.Series(["acc", "good", "unacc", "vgood"] * 432), "car")
    samples = load("car")
    assert samples.nominal == list("abcdef")
    assert samples.data["a"].isna().sum() == 1


def test_another_data_set_at_openml_is_refused(openml):
    openml(pd.DataFrame({"a": [1]}), pd.Series(["b"]), "adult")
    with pytest.raises(DataError, match="OpenML's data set 6 is 'adult', not 'letter'"):
        load("letter")


def test_no_network_is_told(monkeypatch):
    def fetch(**options):
        raise OSError("Name or service not known")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(DataError, match=r"could not be downloaded .*set POLYCHOTOMY_DATA"):
        load("letter")


@pytest.mark.parametrize("name", ["humidity", "urban", "crabs", "thyroid", "poker"])
def test_what_is_nowhere_is_told(name):
    with pytest.raises(DataError, match=rf"POLYCHOTOMY_DATA to a folder .* {name}\.csv\.gz"):
        load(name)


def test_unknown_names_are_told():
    with pytest.raises(ValueError, match="Did you mean 'satimage'"):
        load("satimag")
    with pytest.raises(ValueError, match=r"'paper' parameter must be one of 'allwein', 'mills'"):
        load("iris", paper="fisher")
    with pytest.raises(DataError, match=r"Mills \(2023\) did not use 'iris'"):
        load("iris", paper="mills")


def test_here_means_without_network(tmp_path):
    assert facts("iris").here
    assert facts("waveform").here
    assert not facts("letter").here
    cached = tmp_path / "cache" / "openml" / "openml.org" / "api" / "v1" / "json" / "data"
    cached.mkdir(parents=True)
    (cached / "6.gz").touch()
    assert facts("letter").here
    assert facts("letter").source == "OpenML"
    assert not facts("segment").here
