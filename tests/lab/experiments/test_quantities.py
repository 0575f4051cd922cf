from dataclasses import replace

import numpy as np
import pytest

from polychotomy.lab import published
from polychotomy.lab.experiments import FinishedCells
from polychotomy.lab.experiments._quantities import (
    average_rank,
    difference_bound,
    error_percent,
    estimate_draws,
    estimate_error,
)
from tests.lab.experiments.tiny import cells_with


def published_cell(table, **wanted):
    (found,) = [
        cell
        for cell in published.table(table).cells
        if all(getattr(cell, name) == value for name, value in wanted.items())
    ]
    return found


def test_the_error_and_its_deviation():
    found = estimate_error(cells_with("iris", "OVA", [4, 6, 11]))
    assert found.value == pytest.approx(7)
    assert found.spread == pytest.approx(np.sqrt((9 + 1 + 16) / 2))
    assert found.n_folds == 3


def test_folds_count_by_their_samples():
    cells = [*cells_with("iris", "OVA", [10], n=100), *cells_with("iris", "OVA", [10], n=10)]
    assert estimate_error(cells).value == pytest.approx(100 * 20 / 110)
    assert np.isnan(estimate_error(cells[:1]).spread)


def test_the_interval_is_that_of_a_drawn_bootstrap(rng):
    found = estimate_error(cells_with("iris", "OVA", [12, 18], n=100))
    wrong = np.arange(200) < 30
    drawn = rng.choice(wrong, size=(20_000, 200)).mean(axis=1)
    low, high = 100 * np.quantile(drawn, [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.51)  # half a per cent is one sample
    assert found.high == pytest.approx(high, abs=0.51)


@pytest.mark.parametrize(("wrong", "error"), [(0, 0), (50, 100)])
def test_the_interval_is_exact_if_all_are_right_or_wrong(wrong, error):
    found = estimate_error(cells_with("iris", "OVA", wrong, n=50))
    width = 100 * (1 - 0.025 ** (1 / 50))  # Clopper and Pearson
    ends = (0, width) if error == 0 else (100 - width, 100)
    assert found.value == error
    assert (found.low, found.high) == pytest.approx(ends)


def test_the_interval_of_several_draws_is_that_of_one_at_random(rng):
    draws = [cells_with("glass", "Dense", wrong, n=50) for wrong in ([5, 6], [10, 12], [20, 22])]
    found = estimate_draws(draws)
    errors = np.array([11, 22, 42]) / 100
    assert found.value == pytest.approx(25)
    assert found.n_folds == 2
    assert found.spread == pytest.approx(100 * np.std([35 / 150, 40 / 150], ddof=1))
    drawn = rng.binomial(100, errors[rng.integers(3, size=100_000)])
    assert (found.low, found.high) == pytest.approx(
        tuple(np.quantile(drawn, [0.025, 0.975])), abs=1
    )
    # An interval ends at a number of samples, and there are 100.
    assert [found.low, found.high] == pytest.approx([round(found.low), round(found.high)])
    assert estimate_draws(draws[:1]) == estimate_error(draws[0])


def test_what_was_not_run():
    cell = published_cell("sbckernel-2", data_set="iris", method="OVA")
    assert error_percent(FinishedCells([]), cell) is None
    assert error_percent(FinishedCells(cells_with("iris", "OVA", 7)), cell).value == pytest.approx(
        7
    )


@pytest.mark.parametrize("name", ["sbc-2", "sbckernel-2"])
def test_the_papers_errors_give_the_papers_ranks(name):
    printed = [c for c in published.table(name).cells if c.quantity == "error_percent"]
    cells = []
    for each in printed:
        (cell,) = cells_with(each.data_set, each.method, 0)
        cells.append(replace(cell, metrics={"error": each.value / 100}))
    results = FinishedCells(cells)
    ranks = [c for c in published.table(name).cells if c.quantity == "average_rank"]
    assert len(ranks) == 7
    for rank in ranks:
        assert average_rank(results, rank).value == pytest.approx(rank.value, abs=0.0501), rank
    assert average_rank(FinishedCells(cells[1:]), ranks[0]) is None


def test_the_difference_and_whether_it_agrees():
    """100 samples: the first is wrong on 20, the second on 40; 90 % of differences near −20."""
    cell = published_cell(
        "sbckernel-3",
        data_set="iris",
        method="SBC-KERNEL vs. OVA",
        quantity="difference_low_percent",
    )
    cells = [*cells_with("iris", "SBC-KERNEL", 20), *cells_with("iris", "OVA", 40)]
    low, high = (difference_bound(end, FinishedCells(cells), cell) for end in ("low", "high"))
    # The difference of each sample is −1 with probability 0.2, else 0: a deviation of 4 points.
    assert low.value == pytest.approx(-20 - 1.645 * 4, abs=1.6)
    assert high.value == pytest.approx(-20 + 1.645 * 4, abs=1.6)
    # Of 100 samples any difference is a whole number of points.
    assert [low.value, high.value] == pytest.approx([round(low.value), round(high.value)])
    assert low.agrees is False  # −20 is not between −3 and 0
    near = [*cells_with("iris", "SBC-KERNEL", 4), *cells_with("iris", "OVA", 6)]
    assert difference_bound("low", FinishedCells(near), cell).agrees is True
    assert difference_bound("low", FinishedCells(near[:1]), cell) is None
    both = [*cells_with("iris", "SBC-KERNEL", [20, 0]), *cells_with("iris", "OVA", [40, 0])]
    # Whole folds are drawn, with differences of −20 and 0: each of them twice in a quarter.
    low, high = (difference_bound(end, FinishedCells(both), cell) for end in ("low", "high"))
    assert (low.value, high.value, low.n_folds) == pytest.approx((-20, 0, 2))
    # Of one fold of two the interval must touch the printed one, −3 to 0: here it ends at −3.
    half = [
        *cells_with("iris", "SBC-KERNEL", 0, n_folds=2),
        *cells_with("iris", "OVA", 7, n_folds=2),
    ]
    assert difference_bound("high", FinishedCells(half), cell).value == pytest.approx(-3)
    assert difference_bound("high", FinishedCells(half), cell).agrees is True
    other_fold = [near[0], replace(near[1], fold=1)]  # other samples, which cannot be paired
    assert difference_bound("low", FinishedCells(other_fold), cell) is None
