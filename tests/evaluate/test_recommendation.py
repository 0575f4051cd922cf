import numpy as np
import pytest
from scipy import stats

from polychotomy.classifiers import Cost
from polychotomy.evaluate import Reason, recommend
from tests.evaluate.cells import make_cell

N = 1000
FOLDS = 5


def cells_of(errors, costs, *, data_set="land", n_folds=FOLDS, n=N):
    """Return cells in which each method has so many errors in each fold."""
    cells = []
    for name, wrong in errors.items():
        for fold in range(n_folds):
            number = wrong[fold] if np.ndim(wrong) else wrong
            cost = costs.get(name)
            cells.append(
                make_cell(
                    data_set,
                    name,
                    fold=fold,
                    truth=np.zeros(n, int),
                    predicted=(np.arange(n) < number).astype(int),
                    rows=np.arange(n) + fold * n,
                    cost=None if cost is None else Cost(*cost),
                )
            )
    return cells


BEST = [40, 42, 44, 41, 43]
CLOSE = [44, 40, 47, 44, 40]  # 0.1 points more, not significantly
MORE = [40, 60, 44, 55, 43]  # 0.64 points more, not significantly
WORSE = [80, 81, 85, 79, 83]


@pytest.mark.parametrize(
    ("prefer", "chosen", "reason"),
    [
        ("balanced", "close", Reason.CHEAPER),
        ("accuracy", "best", Reason.BEST),
        ("cost", "more", Reason.CHEAPER),
    ],
)
def test_what_is_preferred_decides(prefer, chosen, reason):
    errors = {"best": BEST, "close": CLOSE, "more": MORE, "worse": WORSE}
    costs = {"best": (10, 10), "close": (5, 5), "more": (3, 3), "worse": (1, 1)}
    found = recommend(cells_of(errors, costs), prefer=prefer)
    assert (found.method, found.best, found.reason) == (chosen, "best", reason)
    assert found.worse == {"worse"}


def test_the_p_values_are_those_of_the_one_sided_corrected_t_test():
    found = recommend(cells_of({"best": BEST, "close": CLOSE}, {}))
    d = (np.array(CLOSE) - BEST) / N
    # 1000 samples were tested in each fold, and 8 were trained on, so the cells say
    t = d.mean() / np.sqrt((1 / FOLDS + N / 8) * d.var(ddof=1))
    assert found.pvalues == {"best": 1.0, "close": pytest.approx(stats.t.sf(t, FOLDS - 1))}


def test_a_single_test_part_is_tested_by_mcnemar():
    found = recommend(cells_of({"a": 5, "b": 9, "c": 14}, {}, n_folds=1))
    assert found.pvalues["b"] == pytest.approx(stats.binomtest(4, 4, alternative="greater").pvalue)
    assert found.pvalues["c"] == pytest.approx(0.5**9)
    assert found.worse == {"c"}


def test_cost_is_problems_first_and_then_questions():
    same = dict.fromkeys(("a", "b", "c", "d"), BEST)
    costs = {"a": (5, 5), "b": (4, 4), "c": (4, 2), "d": None}
    assert recommend(cells_of(same, costs)).method == "c"
    assert recommend(cells_of(same, {"a": (5, 5)})).method == "a"  # unknown is the highest
    assert recommend(cells_of(same, {})).method == "a"


def test_of_equally_cheap_methods_the_better_is_taken():
    errors = {"a": CLOSE, "b": BEST}
    assert recommend(cells_of(errors, {"a": (3, 3), "b": (3, 3)})).method == "b"


def test_ties_do_not_depend_on_the_order_of_the_cells():
    cells = cells_of({"one_vs_one": BEST, "bch": BEST, "one_vs_rest": BEST}, {})
    assert recommend(cells).method == recommend(cells[::-1]).method == "one_vs_rest"


def test_a_baseline_is_never_recommended():
    errors = {"majority": 0, "one_vs_rest": 100}
    costs = {"majority": (0, 0), "one_vs_rest": (3, 3)}
    for prefer in ("balanced", "accuracy", "cost"):
        found = recommend(cells_of(errors, costs), prefer=prefer)
        assert found.method == "one_vs_rest"
        assert "majority" not in found.scores
    with pytest.raises(ValueError, match="Nothing but a baseline was computed"):
        recommend(cells_of({"majority": 0}, costs))


def words(errors, costs, **options):
    return recommend(cells_of(errors, costs), **options).words


def test_the_reason_in_words():
    costs = {"one_vs_rest": (10, 10), "one_vs_one": (3, 3)}
    assert words({"one_vs_rest": BEST, "one_vs_one": BEST}, costs) == (
        "one_vs_one: as accurate as one_vs_rest (4.20 %), with 3 problems instead of 10."
    )
    said = words({"one_vs_rest": BEST, "one_vs_one": CLOSE}, costs)
    assert said.startswith("one_vs_one: 0.1 points less accurate than one_vs_rest (p = 0.")
    assert said.endswith("), with 3 problems instead of 10.")
    assert words({"one_vs_rest": BEST, "one_vs_one": WORSE}, costs) == (
        "one_vs_rest: lowest error, 4.20 %, and every cheaper method is significantly worse."
    )
    assert words({"one_vs_rest": BEST, "one_vs_one": MORE}, costs) == (
        "one_vs_rest: lowest error, 4.20 %, and no cheaper method comes within 0.5 points of it."
    )
    assert words({"one_vs_rest": WORSE, "one_vs_one": BEST}, costs) == (
        "one_vs_one: lowest error, 4.20 %, and no other method costs less."
    )
    assert words({"one_vs_rest": BEST, "one_vs_one": MORE}, costs, prefer="accuracy") == (
        "one_vs_rest: lowest error, 4.20 %."
    )
    assert words({"bch": BEST}, {}) == "bch: nothing else was compared in full."
    assert words({"a": BEST, "b": BEST}, {"a": (3, 3), "b": (3, 1.5)}) == (
        "b: as accurate as a (4.20 %), with 1.5 questions per sample instead of 3."
    )
    assert words({"a": BEST, "b": BEST}, {"b": (1, 1)}) == (
        "b: as accurate as a (4.20 %), with 1 problem, where the cost of the best is unknown."
    )


def test_over_several_data_sets_ranks_and_mean_scores_decide():
    costs = {"a": (9, 9), "b": (3, 3)}
    cells = [
        cell
        for i, (a, b) in enumerate([(10, 11), (10, 12), (12, 10)])
        for cell in cells_of({"a": a, "b": b}, costs, data_set=f"set{i}", n_folds=2)
    ]
    found = recommend(cells)
    assert (found.method, found.best, found.reason) == ("b", "a", Reason.CHEAPER)
    assert found.words == (
        "b: 0.033 points less accurate on average than a, which has rank 1.33 and not 1.67 (p = 1),"
        " with 3 problems instead of 9."
    )


def test_it_is_a_value_that_json_can_hold():
    found = recommend(cells_of({"a": BEST, "b": CLOSE}, {"a": (9, 9)})).as_dict()
    assert found["methods"]["b"]["problems"] is None
    assert found["methods"]["a"] == {
        "score": pytest.approx(0.958),
        "p_value": 1.0,
        "worse": False,
        "problems": 9,
        "questions": 9,
    }
    assert found["reason"] == "best"


def test_unknown_preferences_are_explained():
    with pytest.raises(ValueError, match="'prefer' parameter must be one of"):
        recommend(cells_of({"a": BEST}, {}), prefer="speed")
