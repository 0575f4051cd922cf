import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from polychotomy.assess import average_ranks, bootstrap_difference, holm, iman_davenport
from polychotomy.report._findings import adjust, find, same_samples, verdicts
from polychotomy.report._results import gather, in_words, remarks
from polychotomy.report._sentences import p_value, seconds, sureness, why
from tests.report.cells import make_cell, random_cells


def _wrong_on(samples, n_samples=40):
    predicted = np.zeros(n_samples, dtype=int)
    predicted[list(samples)] = 1
    return predicted


def _method(name, samples, seconds=1.0, **options):
    options = {"classes": "ab", "seconds": seconds, **options}
    return make_cell(np.zeros(40, dtype=int), _wrong_on(samples), reduction=name, **options)


def test_cells_are_put_together():
    results = gather(
        [
            make_cell([0, 1, 1, 0], [0, 1, 1, 1], fold=0, fit_seconds=2.0),
            make_cell([0, 1, 1, 0], [1, 1, 0, 0], fold=1, fit_seconds=4.0),
            make_cell([0, 1, 1, 0], [0, 1, 1, 0], data_set="wine", reduction="bch"),
        ]
    )
    assert results.methods == ("one_vs_one", "bch")
    assert results.data_sets == ("iris", "wine")
    np.testing.assert_array_equal(results.means["error"], [[0.375, np.nan], [np.nan, 0]])
    assert results.means["fit_seconds"][0, 0] == 3
    assert [cell.fold for cell in results.of("iris", "one_vs_one")] == [0, 1]
    assert "log_loss" not in results.means


def test_methods_are_named_with_their_learner_only_if_there_are_several():
    cells = [_method("bch", [], base="svm"), _method("bch", [1], base="lda")]
    assert gather(cells).methods == ("bch with svm", "bch with lda")


def test_no_cell_and_cells_that_do_not_belong_together():
    with pytest.raises(ValueError, match="at least one finished cell"):
        gather([])
    tuned = _method("bch", [], settings={"protocol": "cv10", "tuning": "greedy"})
    with pytest.raises(ValueError, match=r"fold 0 and seed 0 .* differ in: tuning\. Make a"):
        gather([_method("bch", [1]), tuned])
    newer = _method("bch", [], versions={"numpy": "3"})
    with pytest.raises(ValueError, match="differ in: versions"):
        gather([_method("bch", [1]), newer])
    other = _method("bch", [1], fold=1, classes="xy")
    with pytest.raises(ValueError, match="'iris' must have the same classes"):
        gather([_method("bch", [1]), other])


def test_what_is_missing_is_left_out_and_told():
    cells = [
        _method("bch", [1]),
        _method("ddag", [1, 2]),
        _method("bch", [1], data_set="wine"),
        _method("bch", [1], data_set="wine", fold=1),
        _method("ddag", [2], data_set="wine"),
        _method("ddag", [2], data_set="glass"),
        _method("chain", [2], data_set="glass"),
    ]
    results = gather(cells)
    assert results.compared() == ([0, 1], [0, 1])
    said = remarks(results)
    assert said[0] == "Left out of the comparison, for want of results: chain."
    assert said[1].endswith("not all methods have results on them: glass.")
    assert "On wine, ddag had another number of folds" in said[2]
    assert len(said) == 3


def test_equal_samples_are_paired_by_their_rows_and_count_once():
    truth = np.array([0, 0, 1, 1])
    cells = [
        make_cell(truth, [0, 1, 1, 1], reduction="a", rows=[3, 5, 7, 9]),
        make_cell(truth[::-1], [1, 0, 0, 0], reduction="b", rows=[9, 7, 5, 3]),
        make_cell(truth, [1, 1, 0, 0], reduction="a", rows=[3, 5, 7, 11], fold=1),
        make_cell(truth, [0, 0, 1, 1], reduction="b", rows=[3, 5, 7, 11], fold=1),
        make_cell(truth, [1, 1, 0, 0], reduction="a", rows=[20, 21, 22, 23], fold=2),
    ]
    pair = same_samples(gather(cells), "iris", "a", "b")
    np.testing.assert_array_equal(pair.first_right, [True, False, True, True, False])
    np.testing.assert_array_equal(pair.second_right, [True, True, False, True, True])
    np.testing.assert_array_equal(pair.folds, [0, 0, 0, 0, 1])


@pytest.mark.parametrize("n", [1, 2, 7])
def test_adjusted_p_values(rng, n):
    p = rng.random(n) ** 4
    np.testing.assert_allclose(adjust(p), multipletests(p, method="holm")[1])


def test_of_those_not_worse_the_fastest_is_chosen():
    cells = [
        _method("best", [0], seconds=9),
        _method("level", [0, 1, 2], seconds=2),
        _method("slow", [0, 3], seconds=5),
        _method("worse", range(1, 13), seconds=1),
    ]
    results = gather(cells)
    findings = find(results)
    assert (findings.best, findings.chosen) == (0, 1)
    rivals = {rival.method: rival for rival in findings.rivals}
    assert list(rivals) == [2, 1, 3]  # by their errors
    assert [rivals[m].worse for m in (1, 2, 3)] == [False, False, True]
    counts = rivals[3].mcnemar
    assert (counts.only_first_wrong, counts.only_second_wrong) == (12, 1)
    assert rivals[3].pvalue == pytest.approx(3 * binomtest(12, 13).pvalue)
    assert verdicts(results, 0) == {0: "best", 1: "level", 2: "level", 3: "worse"}
    assert why(results, findings) == [
        "best has the lowest error, 2.50 %, but level, with 7.50 %, is not significantly worse.",
        "Of the 3 methods of which that can be said it is the fastest: 2.0 s to train and "
        "predict, against 9.0 s.",
    ]
    said = sureness(results, findings)
    assert said[0] == "Significantly worse than best: worse."
    assert said[1].startswith("Not significantly worse than best: slow and level.")


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
    errors = results.means["error"]
    np.testing.assert_allclose(findings.score, average_ranks(errors))
    np.testing.assert_allclose(findings.ranks.ranks, average_ranks(errors))
    assert findings.all_alike == iman_davenport(errors)
    control = int(average_ranks(errors).argmin())
    adjusted = holm(errors, control=control).adjusted
    for rival in findings.rivals:
        assert rival.rank_pvalue == adjusted[rival.method]
        assert rival.interval is None
    assert {r.method: r.worse for r in findings.rivals}[2]
    said = sureness(results, findings)
    assert "Over 8 data sets the methods do not perform alike" in said[0]
    assert "On fewer than ten data sets" in said[0]


def test_on_few_data_sets_samples_tell_what_ranks_cannot():
    cells = [
        cell
        for d in ("iris", "wine")
        for cell in (
            _method("good", [0], data_set=d, seconds=2),
            _method("bad", range(20), data_set=d, seconds=1),
        )
    ]
    findings = find(gather(cells))
    (rival,) = findings.rivals
    assert rival.rank_pvalue > 0.05
    assert rival.worse
    assert findings.chosen == findings.best == 0


def test_a_single_method():
    results = gather([_method("bch", [1])])
    findings = find(results)
    assert findings.chosen == 0
    assert findings.rivals == []
    assert "only method" in why(results, findings)[0]
    assert sureness(results, findings) == ["With a single method no difference can be tested."]


def test_methods_that_share_no_fold_are_not_called_different():
    cells = [_method("a", range(20), fold=0), _method("b", [], fold=1)]
    (rival,) = find(gather(cells)).rivals
    assert rival.interval is None
    assert not rival.worse


def test_words():
    assert in_words(["a"]) == "a"
    assert in_words([]) == ""
    assert seconds(7300) == "2 h 1 min"
    assert seconds(59.9) == "60 s"
    assert p_value(0.04321) == "= 0.043"
    assert p_value(1e-9) == "< 0.0001"
