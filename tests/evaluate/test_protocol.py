import numpy as np
import pytest

from polychotomy.errors import DataError
from polychotomy.evaluate import Protocol, Samples

rng = np.random.default_rng(0)


def samples(counts, **split):
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    return Samples.make("land", np.zeros((len(y), 1)), y, **split)


@pytest.mark.parametrize(
    ("text", "kind", "n_folds"),
    [("cv10", "cv", 10), ("cv", "cv", 10), ("cv2", "cv", 2), ("split", "split", 1),
     ("repeat", "repeat", 10), ("repeat3", "repeat", 3), ("repeat1", "repeat", 1),
     ("repeat3:80/120", "repeat", 3)],
)  # fmt: skip
def test_names(text, kind, n_folds):
    protocol = Protocol.of(text)
    assert (protocol.kind, protocol.n_folds) == (kind, n_folds)
    assert Protocol.of(str(protocol)) == protocol


@pytest.mark.parametrize("text", ["", "cv1", "cv0", "cv1001", "cv-3", "split2", "repeat0", "CV10",
                                  "cv3:8/9", "repeat3:8", "repeat:8/9", "repeat0:8/9"])  # fmt: skip
def test_bad_names_are_refused(text):
    with pytest.raises(ValueError, match="'protocol' parameter"):
        Protocol.of(text)


@pytest.mark.parametrize("text", ["cv3", "split", "repeat4"])
def test_the_parts_are_stratified_and_drawn_by_the_seed(text):
    data = samples([30, 60, 90])
    protocol = Protocol.of(text)
    folds = protocol.divide(data, 0)
    assert len(folds) == protocol.n_folds
    for train, test in folds:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(180))
        counts = np.bincount(data.y[test])
        assert counts.tolist() == ([10, 20, 30] if text == "cv3" else [9, 18, 27])
    again, other = protocol.divide(data, 0), protocol.divide(data, 1)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(folds, again, strict=True))
    assert not any(np.array_equal(a[1], b[1]) for a, b in zip(folds, other, strict=True))


def test_cross_validation_tests_every_sample_once():
    folds = Protocol.of("cv7").divide(samples([10, 20]), 0)
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(30))


def test_a_fixed_split_is_kept_whatever_the_seed():
    data = samples([5, 5], train=np.array([3, 1, 2]), test=np.array([0, 4]))
    for seed in (0, 1):
        ((train, test),) = Protocol.of("split").divide(data, seed)
        assert (train.tolist(), test.tolist()) == ([1, 2, 3], [0, 4])
        ((again, _),) = Protocol.of("split_cv3").divide(data, seed)
        assert again.tolist() == [1, 2, 3]
    assert len(Protocol.of("cv2").divide(data, 0)[0][0]) == 5  # all samples take part


def test_folds_take_the_place_of_a_split_that_is_missing():
    data = samples([20, 30])
    for split, folds in zip(
        Protocol.of("split_cv5").divide(data, 2), Protocol.of("cv5").divide(data, 2), strict=True
    ):
        assert all(np.array_equal(a, b) for a, b in zip(split, folds, strict=True))


def test_small_classes_are_divided_as_well_as_can_be_and_told():
    data = samples([30, 3, 1])
    folds = Protocol.of("cv10").divide(data, 0)
    tested = [np.bincount(data.y[test], minlength=3) for _, test in folds]
    assert np.sum(tested, axis=0).tolist() == [30, 3, 1]
    (remark,) = Protocol.of("cv10").remarks(data)
    assert "2 of 3 classes have fewer than 10 samples, such as '2' with 1" in remark
    for train, test in Protocol.of("repeat5").divide(data, 0):
        assert 2 in data.y[train]
        assert 2 not in data.y[test]
    assert "never tested" in Protocol.of("repeat5").remarks(data)[0]
    assert Protocol.of("cv3").remarks(samples([3, 3])) == []


def test_what_cannot_be_divided_is_explained():
    with pytest.raises(DataError, match=r"land: .* the largest has 4. Take the protocol cv4"):
        Protocol.of("cv5").divide(samples([4, 4, 2]), 0)
    with pytest.raises(DataError, match="too few for a test part of 30%"):
        Protocol.of("split").divide(samples([2] * 10), 0)


def test_draws_of_given_sizes_are_stratified():
    folds = Protocol.of("repeat3:60/90").divide(samples([60, 60, 120]), 0)
    assert len(folds) == 3
    for train, test in folds:
        assert (len(train), len(test)) == (60, 90)
        assert not set(train) & set(test)


def test_more_samples_than_there_are_cannot_be_drawn():
    for sizes in ("15/6", "15/1", "0/5"):
        with pytest.raises(
            DataError, match=r"both have one for each of 2 .* more than the 20 that"
        ):
            Protocol.of(f"repeat3:{sizes}").divide(samples([10, 10]), 0)
