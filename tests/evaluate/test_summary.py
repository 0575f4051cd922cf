from math import sqrt

import numpy as np
import pytest
from scipy import stats

from polychotomy.assess import holm
from polychotomy.classifiers import Cost
from polychotomy.evaluate import comparisons, summarise
from tests.evaluate.cells import make_cell


def cells_of(
    wrong, *, data_set="land", n=100, folds=2, seconds=None, costs=None, offset=0, **options
):
    """Return cells in which the method named has as many of the first samples wrong."""
    cells = []
    for name, number in wrong.items():
        mistakes = np.roll(np.arange(n) < number, offset)
        for fold, rows in enumerate(np.array_split(np.arange(n), folds)):
            cell = make_cell(
                data_set,
                name,
                fold=fold,
                truth=np.zeros(len(rows), int),
                predicted=mistakes[rows].astype(int),
                rows=rows,
                seconds=(seconds or {}).get(name, 1.0),
                cost=Cost((costs or {}).get(name, 3.0), 1.0),
                **options,
            )
            cells.append(cell)
    return cells


def rows_of(summary):
    return {row.method: row for row in summary.overall}


def test_means_standard_errors_and_ranks_by_hand():
    summary = summarise(cells_of({"a": 10, "b": 30, "c": 30}, folds=4))
    assert list(summary.tables) == ["land"]
    assert [row.method for row in summary.overall] == ["a", "b", "c"]
    a, b, c = summary.overall
    assert a.means["error"] == pytest.approx(0.1)
    assert b.standard_errors["error"] == pytest.approx(np.std([1, 0.2, 0, 0], ddof=1) / 2)
    assert (a.rank, b.rank, c.rank) == (1, 2.5, 2.5)
    assert "log_loss" not in a.means


def test_every_fold_counts_alike():
    cells = [
        make_cell(reduction="a", fold=0, truth=[0] * 4, predicted=[1, 0, 0, 0], rows=range(4)),
        make_cell(reduction="a", fold=1, truth=[0], predicted=[0], rows=[4]),
        make_cell(reduction="b", fold=0, truth=[0] * 4, predicted=[0, 0, 0, 0], rows=range(4)),
        make_cell(reduction="b", fold=1, truth=[0], predicted=[1], rows=[4]),
    ]
    rows = rows_of(summarise(cells))
    assert rows["a"].means["error"] == pytest.approx(0.125)
    assert rows["b"].means["error"] == pytest.approx(0.5)


def test_on_one_data_set_every_method_is_tested_against_the_best():
    wrong = {"a": 5, "b": 9, "c": 14, "d": 40}
    rows = rows_of(summarise(cells_of(wrong, folds=1)))
    single = [stats.binomtest(n, n, alternative="greater").pvalue for n in (4, 9, 35)]
    assert [rows[m].pvalue for m in "bcd"] == pytest.approx(single)
    assert [rows[m].verdict for m in "abcd"] == ["best", "", "worse", "worse"]
    assert rows["a"].pvalue is None


def test_folds_are_tested_by_the_corrected_t():
    rng = np.random.default_rng(0)
    errors = {"a": [], "b": []}
    cells = []
    for fold in range(6):
        rows = rng.choice(40, 20, replace=False)
        for name, rate in (("a", 0.2), ("b", 0.4)):
            wrong = (rng.random(20) < rate).astype(int)
            errors[name].append(wrong.mean())
            truth = np.zeros(20, int)
            cells.append(
                make_cell(reduction=name, fold=fold, truth=truth, predicted=wrong, rows=rows)
            )
    summary = summarise(cells)
    d = np.array(errors["b"]) - errors["a"]
    t = d.mean() / sqrt((1 / 6 + 20 / 8) * d.var(ddof=1))  # 8 samples were trained on, so they say
    assert rows_of(summary)["b"].pvalue == pytest.approx(stats.t.sf(t, 5))
    assert "corrected resampled t-test over 6 folds" in summary.how_sure


def test_times_are_medians_over_the_folds():
    cells = [
        make_cell(fold=fold, rows=range(4), seconds=seconds)
        for fold, seconds in enumerate([9.0, 1.0, 1.5])
    ]
    (row,) = summarise(cells).overall
    assert row.fit_seconds == 1.5


@pytest.mark.parametrize(("shift", "pvalue"), [(0, 1.0), (1, 0.0)])
def test_differences_that_are_always_the_same(shift, pvalue):
    cells = [
        make_cell(reduction=name, fold=fold, predicted=[2 * wrong, 1, 2, 1], rows=[0, 1, 2, 3])
        for fold in range(3)
        for name, wrong in (("a", 0), ("b", shift))
    ]
    assert rows_of(summarise(cells))["b"].pvalue == pvalue


def test_over_several_data_sets_ranks_decide():
    errors = np.random.default_rng(0).integers(10, 14, (12, 3)) + np.array([0, 4, 20])
    cells = []
    for i, row in enumerate(errors):
        cells += cells_of(dict(zip("abc", row, strict=True)), data_set=f"set{i}", n=60, offset=i)
    summary = summarise(cells)
    found = holm(errors / 60, names="abc")
    rows = rows_of(summary)
    assert [rows[m].rank for m in "abc"] == pytest.approx(found.ranks)
    assert [rows[m].pvalue for m in "bc"] == pytest.approx(found.adjusted[1:])
    assert rows["c"].verdict == "worse"
    assert "12 data sets the test of Iman and Davenport finds a difference" in summary.how_sure
    assert len(summary.tables) == 12


def test_without_a_difference_over_data_sets_nothing_is_worse():
    wrong = [{"a": 10, "b": 12}, {"a": 12, "b": 10}, {"a": 9, "b": 10}]
    cells = [c for i, w in enumerate(wrong) for c in cells_of(w, data_set=f"set{i}")]
    summary = summarise(cells)
    assert "finds no difference" in summary.how_sure
    assert [row.verdict for row in summary.overall] == ["best", ""]


def test_a_method_that_is_much_worse_on_one_of_few_data_sets_is_not_recommended():
    wrong = [{"a": 10, "b": 11}, {"a": 10, "b": 11}, {"a": 10, "b": 60}]
    options = {"costs": {"a": 10.0, "b": 1.0}, "folds": 1}

    def found():
        pairs = enumerate(wrong)
        cells = [c for i, w in pairs for c in cells_of(w, data_set=f"set{i}", **options)]
        return summarise(cells, prefer="cost")

    summary = found()
    assert rows_of(summary)["b"].worse_on == 1
    assert summary.recommendation.method == "a"
    wrong[1] = {"a": 60, "b": 10}  # better where that is worse: nothing speaks against it
    assert found().recommendation.method == "b"


def test_times_decide_nothing():
    wrong = {"best": 5, "as_good": 5, "cheap": 5}
    costs = {"best": 9.0, "as_good": 9.0, "cheap": 3.0}
    for seconds in ({"best": 9.0, "cheap": 0.1}, {"best": 0.1, "cheap": 9.0}):
        summary = summarise(cells_of(wrong, seconds=seconds, costs=costs))
        assert summary.recommendation.method == "cheap"


def test_a_baseline_is_shown_but_not_ranked():
    rows = rows_of(summarise(cells_of({"bch": 5, "majority": 60})))
    assert (rows["majority"].rank, rows["majority"].verdict) == (None, "baseline")
    assert (rows["bch"].rank, rows["bch"].verdict) == (1, "best")


def test_a_single_method_is_all_there_is():
    summary = summarise(cells_of({"a": 5}))
    assert summary.recommendation.words == "a: nothing else was compared in full."
    assert summary.how_sure == ""
    twice = cells_of({"a": 5}, data_set="one") + cells_of({"a": 5}, data_set="two")
    assert summarise(twice).recommendation.method == "a"


def test_a_method_that_lacks_a_fold_is_shown_but_not_ranked():
    cells = [c for c in cells_of({"a": 5, "b": 7, "c": 1}) if (c.reduction, c.fold) != ("c", 1)]
    rows = rows_of(summarise(cells))
    assert (rows["c"].rank, rows["c"].verdict) == (None, "incomplete")
    assert rows["a"].verdict == "best"


def test_a_method_that_lacks_a_data_set_is_shown_but_not_ranked():
    cells = cells_of({"a": 5, "b": 7, "c": 1}, data_set="one")
    cells += cells_of({"a": 5, "b": 7}, data_set="two")
    rows = rows_of(summarise(cells))
    assert rows["c"].verdict == "incomplete"
    assert rows["a"].rank == 1


def test_several_bases_are_named():
    cells = cells_of({"a": 5}, base="ridge") + cells_of({"a": 9}, base="lda")
    assert [row.method for row in summarise(cells).overall] == ["a (ridge)", "a (lda)"]


def test_cells_of_different_comparisons_are_told_apart():
    cells = (
        cells_of({"a": 5, "b": 6}) + cells_of({"a": 7}, seed=1) + cells_of({"a": 8}, protocol="cv9")
    )
    with pytest.raises(ValueError, match="several comparisons"):
        summarise(cells)
    groups = comparisons(cells)
    assert [len(group) for group in groups.values()] == [4, 2, 2]
    assert next(iter(groups)) == "cv2, tuning none, seed 0, polychotomy 1, scikit-learn 2, numpy 3"


def test_different_data_of_one_name_are_told_apart():
    cells = cells_of({"a": 5}) + cells_of({"a": 6}, data="beef00")
    (group,) = comparisons(cells).values()
    assert {cell.data_set for cell in group} == {"land [f00d]", "land [beef]"}


def test_nothing_cannot_be_summarised():
    with pytest.raises(ValueError, match="at least one finished cell"):
        summarise([])


def test_a_single_test_part_has_the_binomial_standard_error():
    (row,) = summarise(cells_of({"a": 20}, folds=1)).overall
    assert row.standard_errors == {"error": pytest.approx(0.04)}


def test_ranks_are_shared_despite_rounding():
    truth, right = np.zeros(10, dtype=int), {"bch": (1, 2, 3), "one_vs_one": (3, 2, 1)}
    cells = [
        make_cell("land", name, fold=fold, truth=truth, predicted=np.arange(10) >= n)
        for name, numbers in right.items()
        for fold, n in enumerate(numbers)
    ]
    scores = [np.mean([cell.score for cell in cells[i : i + 3]]) for i in (0, 3)]
    assert scores[0] != scores[1]  # by the last bit
    assert [row.rank for row in summarise(cells).overall] == [1.5, 1.5]
