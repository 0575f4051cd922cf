from dataclasses import asdict
from math import nan

import numpy as np
import pytest

from polychotomy.errors import DataError
from polychotomy.lab import published
from polychotomy.lab.experiments import Estimate, read_figures, write_figures
from polychotomy.lab.experiments._figures import compare
from tests.lab.experiments.tiny import make_figure


def cell(value, spread=nan, decimals=2):
    return published.PublishedCell(
        "p", "1", "iris", "OVA", "error_percent", value, spread, decimals, *7 * ("",)
    )


@pytest.mark.parametrize(
    ("theirs", "spread", "ours", "agrees"),
    [
        (10.0, 2.0, Estimate(12.0), True),  # on the edge of their spread
        (10.0, 2.0, Estimate(12.004), True),  # as printed, still on it
        (10.0, 2.0, Estimate(12.006), False),
        (10.0, 2.0, Estimate(15.0, low=9, high=21), False),  # their spread comes first
        (10.0, nan, Estimate(12.0, low=10.0, high=14.0), True),
        (10.0, nan, Estimate(12.0, low=10.004, high=14.0), True),
        (10.0, nan, Estimate(12.0, low=10.006, high=14.0), False),
        (10.0, nan, Estimate(12.0), None),
        (nan, nan, Estimate(12.0, low=10.0, high=14.0), None),
        (10.0, 2.0, Estimate(10.0, agrees=False), False),
        (10.0, nan, Estimate(99.0, agrees=True), True),
    ],
)
def test_when_figures_agree(theirs, spread, ours, agrees):
    assert compare(cell(theirs, spread), ours, 0).agrees is agrees


def test_rounding_is_that_of_the_paper():
    assert compare(cell(10.0, 2.0, decimals=0), Estimate(12.5), 0).agrees
    assert not compare(cell(10.0, 2.0, decimals=0), Estimate(12.51), 0).agrees


@pytest.mark.parametrize(
    ("theirs", "spread", "ours", "agrees"),
    [
        (10.0, nan, Estimate(12.0, low=10.0, high=14.0, n_folds=2), True),
        (9.0, nan, Estimate(12.0, low=10.0, high=14.0, n_folds=2), False),
        (9.0, 1.0, Estimate(12.0, low=10.0, high=14.0, n_folds=2), True),  # within their spread
        (8.0, 1.0, Estimate(12.0, low=10.0, high=14.0, n_folds=2), False),
        # the mean of two folds with deviation 1 is uncertain by 12.706 / √2 = 8.98
        (10.0, nan, Estimate(18.9, spread=1.0, n_folds=2), True),
        (10.0, nan, Estimate(19.1, spread=1.0, n_folds=2), False),
        (10.0, 2.0, Estimate(10.0, n_folds=1), None),  # a single fold has no interval
        (10.0, nan, Estimate(10.0, low=9.0, high=11.0, n_folds=2, judged=False), None),
    ],
)
def test_parts_are_judged_by_their_wide_intervals(theirs, spread, ours, agrees):
    figure = compare(cell(theirs, spread), ours, 10)
    assert figure.agrees is agrees
    assert not figure.complete


def test_what_is_written_is_read(tmp_path):
    figures = [
        make_figure(method="a, with a comma", agrees=False),
        make_figure(theirs=nan, their_spread=2.5, ours=1 / 3, agrees=None),
        make_figure(quantity="average_rank", n_folds=0, of_folds=0, agrees=True),
    ]
    write_figures(figures, tmp_path / "figures.csv")
    again = read_figures(tmp_path / "figures.csv")
    for one, other in zip(figures, again, strict=True):
        for name, value in asdict(one).items():
            read = getattr(other, name)
            assert type(read) is type(value)
            if isinstance(value, float):
                np.testing.assert_allclose(read, value, rtol=1e-5)
            else:
                assert read == value
    assert [path.name for path in tmp_path.iterdir()] == ["figures.csv"]


@pytest.mark.parametrize("text", ["paper,table\nsbc,2\n", "x\n1\n"])
def test_another_file(tmp_path, text):
    (tmp_path / "other.csv").write_text(text)
    with pytest.raises(DataError, match=r"other\.csv does not hold figures"):
        read_figures(tmp_path / "other.csv")
