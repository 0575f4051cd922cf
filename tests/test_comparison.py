"""The comparison of all reductions: benchmarks/comparison.py, and the page of its results."""

import tomllib

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare

from tests.programs import ROOT, load_program

PLAN = pd.DataFrame(
    {
        "base": ["svm"] * 6,
        "data_set": list("abcdef"),
        "wanted": [900] * 6,
        "samples": [900, 900, 900, 450, 0, 900],
    }
)

CURVES = pd.DataFrame(
    [
        ("samples", "svm", "letter", "one_vs_rest", 125, 26, 0, 0.4),
        ("samples", "svm", "letter", "one_vs_rest", 125, 26, 1, 0.5),
        ("samples", "svm", "letter", "one_vs_rest", 250, 26, 0, 0.3),
        ("samples", "svm", "letter", "one_vs_one", 125, 26, 0, 0.3),
        ("samples", "svm", "letter", "one_vs_one", 125, 26, 1, 0.4),
        ("samples", "svm", "letter", "one_vs_one", 250, 26, 0, 0.3),
        ("classes", "svm", "letter", "one_vs_rest", 60, 3, 0, 0.2),
        ("classes", "svm", "letter", "native", 60, 3, 0, 0.25),
    ],
    columns=[
        *("curve", "base", "data_set", "reduction", "n_train", "n_classes", "draw", "error"),
    ],
)


@pytest.fixture
def program(monkeypatch):
    found = load_program("make_comparison")
    monkeypatch.setattr(found, "FEWEST", 4)
    return found


def make_cells(errors, base="svm"):
    """Return cells with the errors of each reduction on data sets a, b, …; None where missing."""
    return pd.DataFrame(
        {
            "data_set": data_set,
            "reduction": reduction,
            "base": base,
            "seed": 0,
            "n_classes": 3 + "abcd".index(data_set),
            "n_train": 100,
            "n_test": 50,
            "error": error,
            "log_loss": 1 - error,
            "brier": error,
            "fit_seconds": 1.0
            if reduction == "one_vs_rest"
            else 4.0 ** (1 + "abcd".index(data_set)),
            "predict_seconds": 1.0,
            **dict.fromkeys(("python", "polychotomy", "numpy", "scikit_learn"), "1.0"),
        }
        for reduction, row in errors.items()
        for data_set, error in zip("abcd", row, strict=True)
        if error is not None
    )


ERRORS = {
    "one_vs_rest": [0.2, 0.3, 0.2, 0.4],
    "bch": [0.1, 0.2, 0.3, 0.3],
    "chain": [0.3, 0.4, 0.4, 0.5],
    "exhaustive": [0.0, None, 0.0, 0.0],
}


def test_the_page_is_what_the_results_make():
    program = load_program("make_comparison")
    told = tomllib.loads((ROOT / "results" / "reasons.toml").read_text("utf-8"))
    folder = ROOT / "results"
    cells, plan = program.read_cells(folder), program.read_plan(folder)
    curves = program.read_curves(folder)
    expected = program.make_page(cells, plan, curves, told["comparison"]["advice"])
    assert (ROOT / "docs" / "comparison.md").read_text("utf-8") == expected, "run make results"


def test_ranks_and_times(program):
    page = program.make_page(make_cells(ERRORS), PLAN, CURVES[:0], "Take this.")
    assert "Take this." in page
    assert "3 methods on 4 data sets." in page
    # Ranks 1, 1, 2, 1 of bch by error; the other way round by log loss. 4 to the mean of 1 … 4.
    bch = next(line for line in page.splitlines() if line.startswith("| bch |"))
    assert " | 1.25 | 2.75 | 1.25 | 22.50 | best | " in bch
    assert bch.endswith(" | 32 | 1 |")
    rows = [page.index(f"| {name} | ") for name in ("bch", "one_vs_rest", "chain")]
    assert rows == sorted(rows)
    chi = friedmanchisquare(*(ERRORS[name] for name in ("one_vs_rest", "bch", "chain"))).statistic
    assert f"F = {3 * chi / (4 * 2 - chi):.3g}" in page
    assert (
        "Not ranked: exhaustive, which was had on 3 data sets only. There its error is lower than "
        "that of bch on 3 and higher on 0, on average by −23.33 points."
    ) in page
    assert "| b | 20.0 | 40.0 |  | 30.0 |" in page


def test_clones_count_once(program):
    cells = make_cells(ERRORS | {"hamming": ERRORS["chain"]})
    same = program.originals(cells)
    assert (same["hamming"] == "chain").all()
    assert (same["bch"] == "bch").all()
    table = program.complete(program.pivot(cells, "error"))
    ranks = program.ranks_of(table, same)
    # Of three different methods on four places: 1, 2.5 and 4.
    assert ranks.loc["a"].to_dict() == {"bch": 1, "chain": 4, "hamming": 4, "one_vs_rest": 2.5}
    assert ranks.loc["c"].to_dict() == {"bch": 2.5, "chain": 4, "hamming": 4, "one_vs_rest": 1}
    page = program.make_page(cells, PLAN, CURVES[:0], "")
    assert "Clones: hamming = chain on 4." in page


def test_methods_that_differ_in_a_metric_are_no_clones(program):
    cells = make_cells(ERRORS | {"hamming": ERRORS["chain"]})
    cells.loc[(cells["reduction"] == "hamming") & (cells["data_set"] == "a"), "brier"] = 0.31
    same = program.originals(cells)["hamming"]
    assert same.to_dict() == {"a": "hamming", "b": "chain", "c": "chain", "d": "chain"}


def test_means_that_differ_by_the_digits_of_their_cells_are_equal(program):
    errors = {"one_vs_rest": [1 / 3, 1 / 3, 1 / 3], "bch": [0.0, 0.0, 1.0]}
    cells = pd.DataFrame(
        {"data_set": "a", "reduction": name, "fold": fold, "error": round(error, 8)}
        for name, row in errors.items()
        for fold, error in enumerate(row)
    )
    table = program.pivot(cells, "error")
    same = pd.DataFrame([list(table)], table.index, table.columns)
    assert program.ranks_of(table, same).loc["a"].to_dict() == {"bch": 1.5, "one_vs_rest": 1.5}


def test_few_data_sets_are_not_compared(program, monkeypatch, tmp_path):
    monkeypatch.setattr(program, "FEWEST", 5)
    page = program.make_page(make_cells(ERRORS), PLAN, CURVES[:0], "")
    assert "too few data sets" in page
    assert "rank" not in page.partition("## RBF SVM")[2]


def test_what_was_cut_is_said(program):
    other = pd.DataFrame([{"base": "logistic", "data_set": "g", "wanted": 900, "samples": 900}])
    plan = pd.concat([PLAN, other])
    page = program.make_page(make_cells(ERRORS), plan, CURVES[:0], "")
    assert "## RBF SVM, tuned\n" in page
    assert "Left out by the plan, for their time: e." in page
    assert "Cut to fewer samples: d 450." in page
    assert "Planned, but not finished: f." in page
    assert "Not planned: g." in page
    assert "at most 150 samples" in page


def test_pvalues_are_wilcoxons_adjusted_by_holm(program):
    rng = np.random.default_rng(0)
    best = rng.uniform(size=12)
    errors = pd.DataFrame({"best": best, "same": best, "worse": best + rng.uniform(0.1, 0.2, 12)})
    found = program._pvalues(errors, "best")
    assert found == pytest.approx({"same": 1.0, "worse": 2 * 2 / 2**12})


def test_pictures_are_drawn(program, tmp_path):
    both = pd.concat([make_cells(ERRORS), make_cells(ERRORS, "logistic")])
    program.draw(both, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "comparison-svm.png",
        "comparison-logistic.png",
        "comparison-advice.png",
    }


def test_curves_are_differences_from_one_vs_rest_of_whole_draws(program):
    page = program.make_page(make_cells(ERRORS), PLAN, CURVES, "")
    assert "means of 2 draws" in page
    assert "| learner | data | training samples | 125 |\n" in page  # one draw of 250 is missing
    assert "| RBF SVM, tuned | letter | one_vs_rest | 45.0 |" in page
    assert "| RBF SVM, tuned | letter | one_vs_one | −10.0 |" in page
    assert "| RBF SVM, tuned | letter | native | +5.0 |" in page


def test_curves_are_drawn(program, tmp_path):
    program.draw_curves(CURVES, program.TITLES, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 5000


@pytest.fixture
def curves(tmp_path, monkeypatch):
    """Return benchmarks/learning_curves.py with little to do."""
    found = load_program("learning_curves", "benchmarks")
    monkeypatch.setattr(found.comparison, "RESULTS", tmp_path)
    monkeypatch.setattr(found, "REDUCTIONS", ("one_vs_rest", "native"))
    monkeypatch.setattr(found, "SIZES", (60, 90))
    monkeypatch.setattr(found, "TUNED_ON", {"samples": 60})
    monkeypatch.setattr(found, "N_TEST", 60)
    monkeypatch.setattr(found, "N_DRAWS", 2)
    monkeypatch.setattr(found, "BY_CLASSES", {"bands": "bands"})
    return found


def test_a_curve_over_samples_goes_on_where_it_was(curves, tmp_path, monkeypatch):
    curves.run("samples", "logistic", ["wine"], "00:00")
    assert (tmp_path / "curves.csv").read_text().count("\n") == 1
    curves.run("samples", "logistic", ["wine"], None)
    rows = pd.read_csv(tmp_path / "curves.csv")
    assert rows.groupby("n_train").size().to_dict() == {60: 4, 90: 4}
    assert (rows["n_test"] == 60).all()
    assert rows.groupby("reduction")["parameters"].nunique().eq(1).all()  # tuned once
    first = (tmp_path / "curves.csv").read_bytes()
    monkeypatch.setattr(curves, "measure", None)  # nothing is measured again
    curves.run("samples", "logistic", ["wine"], None)
    assert (tmp_path / "curves.csv").read_bytes() == first


def test_a_curve_over_classes_has_as_many_samples_of_each(curves):
    samples, parts = curves.parts_of_classes("bands", 1)
    assert list(parts) == [3, 6]
    for train, test in parts.values():
        counts = np.bincount(samples.y[train])
        assert set(counts[counts > 0]) == {20}
        assert set(samples.y[test]) == set(samples.y[train])
        assert not set(train) & set(test)


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Return benchmarks/comparison.py with one small data set and three methods."""
    found = load_program("comparison", "benchmarks")
    monkeypatch.setattr(found, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(found, "all_data", lambda: {"wine": found.known_data()["wine"]})
    monkeypatch.setattr(
        found, "reductions_of", lambda base: ["one_vs_rest", "dense_random", "majority"]
    )
    return found


def test_a_comparison_goes_on_where_it_was(measured, tmp_path, monkeypatch, capsys):
    store, folder = tmp_path / "cells.sqlite", tmp_path / "results"
    measured.run("logistic", 1.0, 60, "00:00", store)
    assert "60 of     60 samples" in capsys.readouterr().out
    with pytest.raises(ValueError, match="complete"):
        measured.export(store)
    measured.run("logistic", 1e-9, 60, None, store)  # the plan is the first one
    measured.export(store)
    cells = pd.read_csv(folder / "cells.csv.gz")
    assert cells.groupby("reduction").size().to_dict() == {
        "dense_random": 10,
        "majority": 10,
        "one_vs_rest": 10,
    }
    assert (cells["n_train"] == 30).all()
    tuned = pd.read_csv(folder / "tuned.csv")
    assert len(tuned) == 3
    first = (folder / "cells.csv.gz").read_bytes()
    monkeypatch.setattr(measured, "compute_cells", None)  # nothing is computed again
    measured.run("logistic", 1.0, 60, None, store)
    measured.export(store)
    assert (folder / "cells.csv.gz").read_bytes() == first


def test_a_plan_can_be_of_some_data_sets(measured, tmp_path, monkeypatch):
    known = measured.known_data()
    monkeypatch.setattr(measured, "all_data", lambda: {n: known[n] for n in ("iris", "wine")})
    measured.run("logistic", 1.0, 60, "00:00", tmp_path / "cells.sqlite", ["wine"])
    assert list(pd.read_csv(tmp_path / "results" / "plan.csv")["data_set"]) == ["wine"]


def test_exported_cells_outlive_their_store(measured, tmp_path, monkeypatch):
    path = tmp_path / "results" / "cells.csv.gz"
    measured.run("logistic", 1.0, 60, None, tmp_path / "cells.sqlite")
    measured.export(tmp_path / "cells.sqlite")
    first = path.read_bytes()
    other = tmp_path / "other.sqlite"
    measured.run("boosting", 1.0, 60, None, other)
    measured.export(other)
    cells = pd.read_csv(path)
    assert cells.groupby("base").size().to_dict() == {"boosting": 30, "logistic": 30}
    monkeypatch.setattr(measured, "compute_cells", None)  # nothing is computed again
    measured.run("logistic", 1.0, 60, None, tmp_path / "none.sqlite")
    (tmp_path / "results" / "cells.csv.gz").write_bytes(first)
    measured.export(tmp_path / "none.sqlite")
    assert path.read_bytes() == first


def test_random_codes_differ_in_every_fold(measured):
    samples = measured.read_samples("wine", 60)
    row = {"parameters": '{"estimator__C": 0.1}'}
    tasks = list(measured.tasks_of(samples, "logistic", "dense_random", row))
    assert len({task.method.classifier.random_state for task in tasks}) == 10
    assert len({(task.seed, task.fold) for task in tasks}) == 10
    assert {task.method.classifier.estimator.C for task in tasks} == {0.1}


def test_the_most_expensive_are_cut_first(measured, monkeypatch):
    monkeypatch.setattr(measured, "read_samples", lambda name, most: SIZES[name].limited(most))
    monkeypatch.setattr(
        measured, "probe", lambda base, name, n: n / 1000 * (10 if name == "dear" else 1)
    )
    plan = measured.make_plan("logistic", ["dear", "cheap"], 8.0, 2000)
    assert [(row["data_set"], row["wanted"], row["samples"]) for row in plan] == [
        ("cheap", 2000, 2000),
        ("dear", 2000, 500),
    ]
    plan = measured.make_plan("logistic", ["dear", "cheap"], 3.0, 2000)
    assert [(row["data_set"], row["samples"]) for row in plan] == [("cheap", 2000), ("dear", 0)]


class Sized:
    """Samples of which only the number counts."""

    def __init__(self, n):
        self.y, self.classes = range(n), ("a", "b")

    def limited(self, most):
        return Sized(min(len(self.y), most))


SIZES = {"dear": Sized(4000), "cheap": Sized(4000)}
