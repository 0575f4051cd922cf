"""docs/comparison.md is what docs/make_comparison.py makes of results/comparison.csv."""

import tomllib

import pandas as pd
import pytest
from scipy.stats import friedmanchisquare

from tests.programs import ROOT, load_program


@pytest.fixture(scope="module")
def program():
    return load_program("make_comparison")


def make_cells(errors, base="svm"):
    """Return cells with the errors of each reduction on data sets a, b, …; None where missing."""
    return pd.DataFrame(
        {
            "data_set": data_set,
            "reduction": reduction,
            "base": base,
            "seed": 0,
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


def test_the_page_is_what_the_results_make(program):
    told = tomllib.loads((ROOT / "results" / "reasons.toml").read_text("utf-8"))
    cells = pd.read_csv(ROOT / "results" / "comparison.csv")
    expected = program.make_page(cells, told["comparison"]["advice"])
    assert (ROOT / "docs" / "comparison.md").read_text("utf-8") == expected, "run make results"


def test_ranks_and_times(program):
    page = program.make_page(make_cells(ERRORS), "Take this.")
    assert "Take this." in page
    assert "3 reductions on 4 data sets." in page
    # Ranks 1, 1, 2, 1 of bch by error; the other way round by log loss. 4 to the mean of 1 … 4.
    assert "| bch | 1.0–1.8 | 1.25 | 2.75 | 1.25 | 22.50 | best |" in page
    assert "| one_vs_rest | 1.2–2.0 | 1.75 | 2.25 | 1.75 | 27.50 |" in page
    rows = [page.index(f"| {name} | ") for name in ("bch", "one_vs_rest", "chain")]
    assert rows == sorted(rows)
    chi = friedmanchisquare(*(ERRORS[name] for name in ("one_vs_rest", "bch", "chain"))).statistic
    assert f"F = {3 * chi / (4 * 2 - chi):.3g}" in page
    assert (
        "Not ranked: exhaustive, which was had on 3 data sets only. There its error is lower than "
        "that of bch on 3 and higher on 0, on average by −23.33 points."
    ) in page
    assert "| b | 20.0 | 40.0 |  | 30.0 |" in page


def test_pictures_are_drawn(program, tmp_path):
    both = pd.concat([make_cells(ERRORS), make_cells(ERRORS, "logistic")])
    program.draw(both, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "comparison-svm.png",
        "comparison-logistic.png",
    }
