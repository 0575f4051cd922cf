from types import SimpleNamespace

import pytest

from polychotomy.cli._summary_tables import print_summary
from polychotomy.evaluate import Row


def row(method, error, **values):
    means = {"error": error} | values.pop("means", {})
    usual = {"standard_errors": {}, "rank": None, "pvalue": None, "verdict": ""}
    options = {"n_problems": 3, "fit_seconds": 0.25, "predict_seconds": 0.05}
    return Row(method=method, means=means, **usual | options | values)


def printed(capsys, **tables):
    """Return the words of each line that is printed, but for empty ones."""
    rows = next(iter(tables.values()))
    advice = SimpleNamespace(words="bch: lowest error.", experience="")
    summary = SimpleNamespace(
        tables=tables, overall=rows, recommendation=advice, how_sure="By a test."
    )
    print_summary(summary, "all of it")
    return [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"verdict": "best"}, ["best"]),
        ({"verdict": "baseline"}, ["baseline"]),
        ({"pvalue": 0.123}, ["p", "=", "0.12"]),
        ({"pvalue": 0.001}, ["p", "=", "0.001"]),
        ({"verdict": "worse", "pvalue": 0.01}, ["worse,", "p", "=", "0.01"]),
        ({"verdict": "worse", "pvalue": 9e-4}, ["worse,", "p", "<", "0.001"]),
        (
            {"verdict": "worse", "pvalue": 0.02, "worse_on": 4},
            ["worse", "on", "4,", "p", "=", "0.02"],
        ),
    ],
)
def test_each_row_says_how_it_compares_with_the_best(capsys, values, words):
    title, _, _, found, *_ = printed(capsys, iris=[row("bch", 0.125, **values)])
    assert title == ["all", "of", "it"]
    assert found == ["bch", "3", "12.50", "–", "–", "0.3", *words]


def test_figures_are_rounded_and_missing_ones_are_dashes(capsys):
    means = {"log_loss": -1e-9, "brier": 0.12345}
    rows = [
        row("bch", 0.1, standard_errors={"error": 0.0123}, means=means, n_problems=7.5),
        row("ddag", 0.2, rank=1.25),
    ]
    _, heading, _, first, second, *said = printed(capsys, iris=rows)
    assert " ".join(heading) == "reduction problems error % log loss Brier CPU s rank against best"
    assert first == ["bch", "7.5", "10.00", "±", "1.23", "0.000", "0.123", "0.3"]
    assert second[:6] == ["ddag", "3", "20.00", "–", "–", "0.3"]
    assert float(second[6]) == pytest.approx(1.25, abs=0.05)
    assert [" ".join(words) for words in said] == ["Use bch: lowest error.", "By a test."]


def test_a_few_data_sets_have_a_table_each_and_many_one_of_errors(capsys):
    rows = [row("bch", 0.1), row("ddag", 0.2)]
    few = [" ".join(words) for words in printed(capsys, a=rows, b=rows, c=rows)]
    assert [few[i] for i in (0, 5, 10, 15)] == ["a", "b", "c", "all of it"]
    tables = dict.fromkeys("abc", rows) | {"d": [row("bch", 0.125)]}
    lines = printed(capsys, **tables)
    assert lines[0] == ["Error", "%", "on", "each", "data", "set"]
    assert lines[1] == ["data", "set", "bch", "ddag"]
    assert lines[3:7] == [*([name, "10.00", "20.00"] for name in "abc"), ["d", "12.50", "–"]]
    assert lines[7] == ["all", "of", "it"]
    many = [row(f"m{i}", i / 10) for i in range(5)]
    lines = printed(capsys, **dict.fromkeys("abcd", many))
    assert lines[1] == ["reduction", "a", "b", "c", "d"]
    assert lines[3:8] == [[f"m{i}", *[f"{10 * i}.00"] * 4] for i in range(5)]
