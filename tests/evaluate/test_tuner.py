import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from polychotomy.evaluate import Contestant, Samples, Schedule, expected_seconds
from polychotomy.evaluate._task import Tuner
from polychotomy.reductions import Reduction, make_base


def search_of(tuning, n_samples, n_classes=3):
    method = Contestant.of(Reduction("one_vs_rest"), make_base("svm"), "svm")
    y = np.arange(n_samples) % n_classes
    return Tuner.of(tuning).search(method, np.zeros((n_samples, 1)), y, seed=4), y


def test_a_published_search_has_one_round_on_all_samples():
    search, _ = search_of("greedy10", 9000)
    assert (search.rounds, search.start_samples, search.cv.n_splits) == (1, None, 10)


@pytest.mark.parametrize(
    ("n_samples", "n_classes", "start", "n_folds"),
    [
        (1999, 3, None, 5),  # less than four times 500: all at once
        (2000, 3, 500, 3),  # 400 samples in a fold
        (4000, 3, 500, 2),
        (5000, 3, 500, 1),
        (90000, 3, 500, 1),
        (5000, 50, 1250, 1),  # 25 for each class
        (4999, 50, None, 5),
    ],
)
def test_of_many_samples_the_search_starts_on_few(n_samples, n_classes, start, n_folds):
    search, y = search_of("greedy", n_samples, n_classes)
    assert search.rounds == 3
    assert search.start_samples == start
    if start is None:
        assert search.cv.n_splits == n_folds
        return
    assert search.random_state == 4
    folds = StratifiedKFold(5, shuffle=True, random_state=4).split(y, y)
    assert len(search.cv) == n_folds
    for (train, test), (own_train, own_test) in zip(search.cv, folds, strict=False):
        assert np.array_equal(train, own_train)
        assert np.array_equal(test, own_test)


def test_cells_of_the_two_searches_are_kept_under_different_keys():
    samples = Samples.make("some", np.arange(60.0)[:, np.newaxis], np.arange(60) % 3)
    terms = [
        Schedule(samples, ["bch"], ["ridge"], tuning=tuning).tasks[0].settings
        for tuning in ("greedy", "greedy5")
    ]
    assert [each["tuning_folds"] for each in terms] == [5, 5]
    assert ["tuning_samples" in each for each in terms] == [True, False]


def test_the_expected_time_grows_with_what_is_tried():
    rng = np.random.default_rng(0)
    y = np.arange(5200) % 3
    X = rng.normal(size=(5200, 2)) + y[:, np.newaxis]
    samples = Samples.make("some", X, y)

    def expected(methods, **options):
        return expected_seconds(Schedule(samples, methods, ["ridge"], **options), n_jobs=1)

    once = expected(["one_vs_rest"])
    assert 0 < once < 60
    many = ["one_vs_rest", "one_vs_one", "bch", "dense_random", "linkage_tree"]
    assert expected(many, tuning="greedy") > 2 * once
    assert expected(["orthogonal"]) == 0  # which needs four classes, and fails at once
    assert expected(["one_vs_rest"], protocol="split") is None  # 3640 samples to train on
