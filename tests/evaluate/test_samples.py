import numpy as np
import pandas as pd
import pytest

from polychotomy import datasets
from polychotomy.errors import DataError
from polychotomy.evaluate import Samples

FRAME = pd.DataFrame(
    {"size": [1.0, np.nan, 3.0, -0.0], "skin": pd.Categorical(["red", None, "red", "tan"])}
)
LABELS = ["b", "a", "b", "c"]


def fingerprint(frame=FRAME, labels=LABELS, name="fruit"):
    return Samples.make(name, frame, labels).fingerprint


def test_the_fingerprint_is_that_of_the_values():
    assert fingerprint() == fingerprint(FRAME.copy(), np.array(LABELS), "other name")
    assert fingerprint() == fingerprint(FRAME.set_axis(["a", "b"], axis=1))
    assert fingerprint() == fingerprint(FRAME.set_axis([5, 6, 7, 8], axis=0))
    assert fingerprint() == fingerprint(FRAME.assign(size=[1.0, np.nan, 3.0, 0.0]))
    assert fingerprint() == fingerprint(FRAME.assign(size=FRAME["size"].astype("Float64")))
    assert fingerprint() == fingerprint(FRAME.assign(skin=FRAME["skin"].astype(object)))
    reordered = FRAME["skin"].cat.reorder_categories(["tan", "red"])
    assert fingerprint() == fingerprint(FRAME.assign(skin=reordered))


@pytest.mark.parametrize(
    "frame",
    [
        FRAME.assign(size=[1.0, np.nan, 3.0, 1e-300]),
        FRAME.assign(size=[1.0, 0.0, 3.0, 0.0]),
        FRAME.assign(skin=["red", "tan", "red", "tan"]),
        FRAME.assign(skin=["red", None, "red", "Tan"]),
        FRAME[["skin", "size"]],
        FRAME[["size"]],
        FRAME.assign(more=0),
        FRAME.assign(size=["1", None, "3", "0"]),
    ],
)
def test_the_fingerprint_changes_with_any_value(frame):
    assert fingerprint(frame) != fingerprint()


@pytest.mark.parametrize("labels", [["b", "a", "b", "d"], ["a", "b", "b", "c"]])
def test_the_fingerprint_changes_with_any_label(labels):
    assert fingerprint(labels=labels) != fingerprint()


def test_numbered_classes_keep_their_order():
    samples = Samples.make("numbers", np.eye(3), [10, 9, 10])
    assert samples.classes == ("9", "10")
    assert samples.y.tolist() == [1, 0, 1]


def test_labels_of_several_kinds_go_by_their_texts():
    samples = Samples.make("mixed", np.eye(3), np.array([1, "a", 1], dtype=object))
    assert samples.classes == ("1", "a")


def test_a_loaded_set_brings_its_split():
    waveform = Samples.of(datasets.load("waveform"))
    assert len(waveform.train) == len(waveform.data) - len(waveform.test)
    assert Samples.of(datasets.load("iris")).train is None


def test_what_is_no_classification_is_refused():
    with pytest.raises(DataError, match="one for each of the 3 samples"):
        Samples.make("short", np.eye(3), [0, 1])
    with pytest.raises(DataError, match="two classes or more"):
        Samples.make("one", np.eye(3), [0, 0, 0])


def test_a_limit_keeps_every_class_and_their_proportions():
    y = np.repeat([0, 1, 2], [1, 99, 300])
    few = Samples.make("many", np.arange(400.0)[:, np.newaxis], y).limited(40, 3)
    assert np.bincount(few.y).tolist() == [1, 10, 29]
    assert np.array_equal(y[few.data.iloc[:, 0].astype(int)], few.y)  # rows and labels together
    again = Samples.make("many", np.arange(400.0)[:, np.newaxis], y).limited(40, 4)
    assert few.fingerprint != again.fingerprint
    assert again.limited(40) is again


def test_a_limit_keeps_a_fixed_split():
    y = np.arange(100) % 2
    train, test = np.arange(60, 100), np.arange(60)
    whole = Samples("halves", pd.DataFrame({"row": np.arange(100.0)}), y, ("a", "b"), train, test)
    few = whole.limited(20)
    assert (len(few.train), len(few.test)) == (8, 12)
    row = few.data["row"].to_numpy()
    assert (row[few.train] >= 60).all()
    assert (row[few.test] < 60).all()
    assert np.array_equal(few.y, row.astype(int) % 2)
    assert np.bincount(few.y[few.train]).tolist() == [4, 4]


@pytest.mark.parametrize("limit", [5, 6, 9])
def test_a_limit_leaves_every_class_in_the_training_part(limit):
    y = np.arange(100) % 4
    frame = pd.DataFrame({"row": np.arange(100.0)})
    whole = Samples("y", frame, y, tuple("abcd"), np.arange(50, 100), np.arange(50))
    few = whole.limited(limit)
    assert np.bincount(few.y[few.train]).all()
    assert len(few.test) >= 1
    assert len(few.y) == limit
    with pytest.raises(DataError, match=r"4 classes need .* and one more to test"):
        whole.limited(4)


def test_a_limit_below_the_number_of_classes_is_refused():
    with pytest.raises(DataError, match="3 classes need as many samples at least"):
        Samples.make("three", np.zeros((9, 1)), np.arange(9) % 3).limited(2)


def test_half_a_character_is_named_and_stored_like_any_other(tmp_path, iris):
    from polychotomy.evaluate import Schedule, Store

    X, y = iris
    samples = Samples.make("half", X, np.array(["\ud800", "\udcff", "c"], dtype=object)[y])
    other = Samples.make("half", X, np.array(["\ud801", "\udcff", "c"], dtype=object)[y])
    assert samples.fingerprint != other.fingerprint
    schedule = Schedule(samples, ["one_vs_rest::None"], ["ridge"], protocol="cv2")
    with Store(tmp_path / "store.sqlite") as store:
        cells, failures = schedule.run(store)
        assert not failures
        assert store.get(cells[0].key).classes == samples.classes
