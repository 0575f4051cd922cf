import numpy as np
import pytest
from scipy.stats import binomtest

from polychotomy.assess import average_ranks, bootstrap_difference
from polychotomy.classifiers import Cost
from polychotomy.evaluate import summarise
from polychotomy.report._findings import find, same_samples, sureness
from polychotomy.report._gathered import gather, in_words, measured, remarks
from tests.report.cells import make_cell, random_cells


def _wrong_on(samples, n_samples=40):
    predicted = np.zeros(n_samples, dtype=int)
    predicted[list(samples)] = 1
    return predicted


def _method(name, samples, seconds=1.0, **options):
    options = {"classes": "ab", "seconds": seconds, **options}
    return make_cell(np.zeros(40, dtype=int), _wrong_on(samples), reduction=name, **options)


def test_cells_are_put_together():
    cells = [
        make_cell([0, 1, 1, 0], [1, 1, 0, 0], fold=1, fit_seconds=4.0),
        make_cell([0, 1, 1, 0], [0, 1, 1, 1], fold=0, fit_seconds=2.0),
        make_cell([0, 1, 1, 0], [0, 1, 1, 0], data_set="wine", reduction="bch"),
    ]
    results = gather(cells)
    assert set(results.methods) == {"one_vs_one", "bch"}
    assert set(results.data_sets) == {"iris", "wine"}
    assert [cell.fold for cell in results.cells["iris", "one_vs_one"]] == [0, 1]
    (row,) = results.summary.tables["iris"]
    assert measured(row, "error") == 37.5
    assert measured(row, "fit_seconds") == 3
    assert measured(row, "log_loss") is None
    assert measured(cells[0], "error") == 50
    assert results.measures == ["error", "fit_seconds", "predict_seconds", "n_problems"]
    with pytest.raises(ValueError, match="at least one finished cell"):
        gather([])


@pytest.mark.parametrize("bases", [["svm"], ["svm", "lda"]])
def test_methods_are_named_as_in_the_summary(bases):
    cells = [_method(name, [], base=base) for base in bases for name in ("bch", "ddag")]
    results = gather(cells)
    assert set(results.methods) == {row.method for row in summarise(cells).overall}
    assert results.reductions == ("bch", "ddag") * len(bases)


def test_cells_that_do_not_belong_together():
    with pytest.raises(ValueError, match="several comparisons"):
        gather([_method("bch", [1]), _method("bch", [2])])
    other = _method("bch", [1], fold=1, classes="xy")
    with pytest.raises(ValueError, match="'iris' must have the same classes"):
        gather([_method("bch", [1]), other])


def test_what_is_missing_is_left_out_and_told():
    cells = [_method(name, [1], fold=fold) for name in ("bch", "ddag") for fold in (0, 1)]
    results = gather(cells[:3])
    assert [row.method for row in results.ranked] == ["bch"]
    assert find(results).rivals == []
    assert remarks(results) == [
        "Shown, but left out of the comparison because they lack folds: ddag."
    ]
    assert remarks(gather(cells)) == []


def test_a_sample_counts_the_first_time():
    truth = np.array([0, 0, 1, 1])
    first = [
        make_cell(truth, [0, 1, 1, 1], rows=[3, 5, 7, 9]),
        make_cell(truth, [1, 1, 0, 0], rows=[3, 5, 7, 11], fold=1),
    ]
    second = [
        make_cell(truth, [0, 0, 0, 1], rows=[3, 5, 7, 9]),
        make_cell(truth, [0, 0, 1, 1], rows=[3, 5, 7, 11], fold=1),
    ]
    one, other, folds = same_samples(first, second)
    np.testing.assert_array_equal(one, [True, False, True, True, False])
    np.testing.assert_array_equal(other, [True, True, False, True, True])
    np.testing.assert_array_equal(folds, [0, 0, 0, 0, 1])


def test_one_data_set():
    cells = [
        _method("best", [0], cost=Cost(9, 9)),
        _method("level", [0, 1, 2], cost=Cost(2, 2)),
        _method("slow", [0, 3], cost=Cost(5, 5)),
        _method("worse", range(1, 13), cost=Cost(1, 1)),
    ]
    results = gather(cells, summarise(cells, prefer="cost"))
    findings = find(results)
    assert (findings.best.method, findings.chosen.method) == ("best", "level")
    assert [rival.row.method for rival in findings.rivals] == ["slow", "level", "worse"]
    worse = findings.rivals[-1]
    assert (worse.mcnemar.only_first_wrong, worse.mcnemar.only_second_wrong) == (12, 1)
    assert worse.row.pvalue == pytest.approx(binomtest(12, 13, alternative="greater").pvalue)
    said = sureness(results, findings)
    assert "Significantly worse than best: worse." in said
    assert any(s.startswith("Not significantly worse than best: slow and level.") for s in said)
    assert results.summary.how_sure == said[0]


def test_the_interval_is_that_of_a_test_set_or_of_folds():
    truth = np.zeros(40, dtype=int)
    one, other = _wrong_on(range(10)), _wrong_on(range(3))
    (rival,) = find(gather([_method("a", range(10)), _method("b", range(3))])).rivals
    whole = bootstrap_difference(truth, one, other, random_state=0)
    assert (rival.interval.low, rival.interval.high) == (whole.low, whole.high)
    halves = [
        make_cell(truth[rows], wrong[rows], reduction=name, fold=fold, rows=rows, classes="xy")
        for fold, rows in enumerate([np.arange(0, 40, 2), np.arange(1, 40, 2)])
        for name, wrong in (("a", one), ("b", other))
    ]
    (rival,) = find(gather(halves)).rivals
    folds = np.arange(40) % 2
    by_folds = bootstrap_difference(truth, one, other, folds=folds, random_state=0)
    assert (rival.interval.low, rival.interval.high) == (by_folds.low, by_folds.high)


def test_several_data_sets_are_compared_by_ranks(rng):
    chances = {"good": 0.05, "fair": 0.1, "bad": 0.4}
    cells = [cell for d in range(8) for cell in random_cells(rng, chances, data_set=f"data {d}")]
    results = gather(cells)
    findings = find(results)
    errors = [[np.mean(c.truth != c.predicted) for c in cells[3 * d : 3 * d + 3]] for d in range(8)]
    expected = dict(zip(chances, average_ranks(errors), strict=True))
    assert dict(zip(findings.ranks.names, findings.ranks.ranks, strict=True)) == expected
    assert findings.best.method == min(expected, key=expected.get)
    assert all(rival.interval is None for rival in findings.rivals)
    said = sureness(results, findings)
    assert any("On fewer than ten data sets" in sentence for sentence in said)


def test_a_single_method():
    results = gather([_method("bch", [1])])
    findings = find(results)
    assert findings.chosen is findings.best
    assert findings.rivals == []
    assert sureness(results, findings) == ["With a single method no difference can be tested."]
    assert find(gather([_method("bch", [1], data_set=d) for d in "ab"])).ranks is None


def test_words():
    assert in_words(["a"]) == "a"
    assert in_words([]) == ""
