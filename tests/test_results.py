"""docs/results.md is what docs/make_results.py makes of the files in results/."""

import json
import tomllib

import pytest

from polychotomy.lab import experiments, published
from polychotomy.lab.experiments import write_figures
from tests.lab.experiments.tiny import make_figure, make_tiny
from tests.programs import ROOT, load_program

ENVIRONMENT = {
    "date": "2020-02-02",
    "options": {"seed": 3},
    "cells": 6,
    "failures": 1,
    "cpu_seconds_without_tuning": 7200,
    "machine": "abacus",
    "cores": 2,
    "python": "3.11",
    "versions": {"numpy": "2.2"},
}
REASONS = """
[[disagreement]]
experiment = "sbckernel-*"
method = "ALL*"
reason = "Other votes."

[[conclusion]]
experiment = "sbckernel-2"
claim = "OVA is better"
first = "OVA"
second = "ALL-PAIRS"
verdict = "It is."

[[conclusion]]
experiment = "sbckernel-2"
claim = "The order is as it is"
ranks = ["OVA", "ALL-PAIRS"]

[[conclusion]]
experiment = "sbckernel-2"
claim = "The order is so on wine"
without = ["iris"]
ranks = ["OVA", "ALL-PAIRS"]

[[conclusion]]
experiment = "sbckernel-2"
claim = "Errors are above rejects"
first = "OVA"
second = "OVA"
second_quantity = "reject_percent"

[[conclusion]]
experiment = "sbckernel-2"
claim = "It is fast"
quantity = "fit_seconds"
value = "OVA"
"""


@pytest.fixture(scope="module")
def program():
    return load_program("make_results")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "_EXPERIMENTS", {"sbckernel-2": make_tiny()})
    figures = [
        make_figure("iris", "OVA", 21.33, 20.0),
        make_figure("iris", "ALL-PAIRS", 24.0, 30.0, agrees=False),
        make_figure("wine", "OVA", 5.88, 9.0, agrees=False),
        make_figure("wine", "ALL-PAIRS", 4.71, 10.0, agrees=False),
        make_figure("car", "OVA", 1.1, 9.0, None, n_folds=2),
        make_figure("iris", "OVA", 20.0, 4.0, None, quantity="reject_percent"),
    ]
    write_figures(figures, tmp_path / "sbckernel-2.csv")
    (tmp_path / "sbckernel-2.environment.json").write_text(json.dumps(ENVIRONMENT))
    (tmp_path / "reasons.toml").write_text(REASONS)
    return tmp_path


def test_the_page_is_what_the_results_make(program):
    expected = program.make_page(ROOT / "results")
    assert (ROOT / "docs" / "results.md").read_text("utf-8") == expected, "run make results"


def test_conclusions_name_published_methods():
    told = tomllib.loads((ROOT / "results" / "reasons.toml").read_text("utf-8"))
    for each in told["conclusion"]:
        tables = experiments.get(each["experiment"]).tables
        known = {cell.method for name in tables for cell in published.table(name).cells}
        given = [each[key] for key in ("first", "second", "ranks", "value") if key in each]
        names = {name for some in given for name in ([some] if isinstance(some, str) else some)}
        assert names or "program" in each
        assert names <= known, each["claim"]


def test_every_reason_has_a_program_with_its_output_or_was_not_found():
    told = tomllib.loads((ROOT / "results" / "reasons.toml").read_text("utf-8"))
    tested = [each for each in told["conclusion"] if "program" in each]
    assert tested
    for each in [*told["disagreement"], *tested]:
        reason = each.get("reason", each.get("verdict")).strip()
        if "program" not in each:
            assert reason.startswith("Not found."), reason
        else:
            program = ROOT / "benchmarks" / "reasons" / each["program"]
            output = ROOT / "results" / "reasons" / f"{program.stem}.txt"
            assert program.is_file(), reason
            assert output.read_text("utf-8").strip(), reason


def test_tables_reasons_and_what_is_missing(program, folder):
    page = program.make_page(folder)
    assert "| sbckernel-2 | Two reductions of ridge | 6 of 14 | 1 of 4 (25%) | " in page
    assert "| Error (%) | OVA | ALL-PAIRS |" in page
    assert "| iris | 20.00 (21.33) | 30.00 (24.00) ✗ |" in page
    assert "| car | 9.00 (1.10) \\* |  |" in page
    assert "- iris (ALL-PAIRS); wine (ALL-PAIRS): Other votes." in page
    assert "- wine (OVA): **unexplained.**" in page
    assert page.index("Other votes.") < page.index("unexplained")
    assert "Not run: 10 of 14 figures (" in page
    assert "about 0.5 hours" in page
    assert "Run on 2020-02-02 with seed 3: 6 cells, 1 failed, 2 CPU hours" in page


def test_conclusions_are_computed(program, folder):
    page = program.make_page(folder)
    assert (
        "- OVA is better (sbckernel-2).\n"
        "  - Ours: lower in 2, higher in 0 of 2 cases, on average by −5.50; lower on 2, "
        "higher on 0 of 2 data sets (sign test p = 0.5).\n"
        "  - Theirs: lower in 1, higher in 1 of 2 cases, on average by −0.75; lower on 1, "
        "higher on 1 of 2 data sets (sign test p = 1).\n"
        "  - Verdict: It is."
    ) in page
    ranks = "average ranks over 2 data sets: "
    test = "(Iman and Davenport, p = "
    assert f"  - Ours: {ranks}OVA 1.00, ALL-PAIRS 2.00 {test}0).\n" in page
    assert f"  - Theirs: {ranks}OVA 1.50, ALL-PAIRS 1.50 {test}1).\n" in page
    # Without iris a single data set is left, which has no test.
    assert "  - Ours: ranks on wine: OVA 1.00, ALL-PAIRS 2.00.\n" in page
    assert (
        "- Errors are above rejects (sbckernel-2).\n"
        "  - Ours: lower in 0, higher in 1 of 1 cases, on average by +16.00; lower on 0, "
        "higher on 1 of 1 data sets (sign test p = 1).\n"
        "  - Theirs: lower in 0, higher in 1 of 1 cases, on average by +1.33; lower on 0, "
        "higher on 1 of 1 data sets (sign test p = 1).\n"
        "  - Verdict: **not judged.**"
    ) in page
    assert "- It is fast (sbckernel-2).\n  - Verdict: **not run.**" in page


def test_a_slip_in_the_reasons_is_found(program, folder):
    (folder / "reasons.toml").write_text(REASONS.replace('"sbckernel-2"', '"sbckernel-22"'))
    with pytest.raises(ValueError, match="Did you mean 'sbckernel-2'"):
        program.make_page(folder)
