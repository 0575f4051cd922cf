import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from polychotomy.assess import NemenyiTest, average_ranks, friedman, iman_davenport
from tests.assess.tables import (
    DEMSAR,
    SBC,
    SBC_KERNEL,
    SBC_KERNEL_RANKS,
    SBC_RANKS,
)

few_values = arrays(
    float,
    st.tuples(st.integers(2, 8), st.integers(3, 6)),
    elements=st.integers(0, 4).map(float),
)


def test_the_footnotes_example():
    np.testing.assert_array_equal(average_ranks(SBC.loc[["glass"]]), [4, 4, 6, 4, 7, 1.5, 1.5])


def test_the_average_ranks_of_the_papers():
    np.testing.assert_array_equal(average_ranks(SBC).round(2), SBC_RANKS)
    np.testing.assert_array_equal(average_ranks(SBC_KERNEL).round(1), SBC_KERNEL_RANKS)
    ranks = average_ranks(DEMSAR, higher_is_better=True)
    np.testing.assert_array_equal(ranks.round(3), [3.143, 2.0, 2.893, 1.964])


def test_rounding_errors_break_no_ties():
    third = sum([0.1] * 3) / 3  # 0.10000000000000002
    assert third != 0.1
    np.testing.assert_array_equal(average_ranks([[0.1, third, 0.2]]), [1.5, 1.5, 3])
    np.testing.assert_array_equal(average_ranks([[0.1, 0.1 + 1e-9, 0.2]]), [1, 2, 3])
    np.testing.assert_array_equal(
        average_ranks([[1.0, 0.0, -1.0, 0.0]], higher_is_better=True), [1, 2.5, 4, 2.5]
    )


def test_demsars_example():
    chi_squared = friedman(DEMSAR, higher_is_better=True, correct_ties=False)
    assert round(chi_squared.statistic, 2) == 9.28
    assert chi_squared.degrees_of_freedom == (3,)
    f = iman_davenport(DEMSAR, higher_is_better=True, correct_ties=False)
    assert round(f.statistic, 2) == 3.69
    assert f.degrees_of_freedom == (3, 39)
    assert stats.f.isf(f.pvalue, 3, 39) == pytest.approx(f.statistic)


def test_what_the_sbc_paper_finds():
    """Section 4.3, at 90 %: the seven differ, the five that Holm leaves do not.

    The second statement holds for Demšar's formula. With the correction for ties, of which the
    table has many, F finds that even the five differ.
    """
    five = SBC.drop(columns=["SBC-SINGLE", "SBC-ECOC"])
    assert iman_davenport(SBC, correct_ties=False).pvalue < 0.001
    assert iman_davenport(five, correct_ties=False).pvalue == pytest.approx(0.13, abs=0.005)
    assert iman_davenport(SBC).pvalue < 0.001
    assert iman_davenport(five).pvalue == pytest.approx(0.079, abs=0.0005)


@given(few_values)
def test_friedman_is_scipys(table):
    result = friedman(table)
    if (table == table[:, :1]).all():
        assert (result.statistic, result.pvalue) == (0, 1)
        return
    expected = stats.friedmanchisquare(*table.T)
    assert result.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert result.pvalue == pytest.approx(expected.pvalue)


@given(few_values)
def test_iman_davenport_is_the_analysis_of_variance_of_the_ranks(table):
    n, k = table.shape
    ranks = stats.rankdata(table, axis=1)
    methods = n * ((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum()
    left = ((ranks - ranks.mean(axis=0)) ** 2).sum() - n * np.var(ranks.mean(axis=1))
    result = iman_davenport(table)
    if left > 1e-9:
        expected = (methods / (k - 1)) / (left / ((k - 1) * (n - 1)))
        assert result.statistic == pytest.approx(expected)
    elif methods:
        assert (result.statistic, result.pvalue) == (np.inf, 0)
    else:
        assert (result.statistic, result.pvalue) == (0, 1)


@given(few_values)
def test_without_ties_there_is_nothing_to_correct(table):
    untied = table + np.arange(table.shape[1]) / 10
    given, expected = friedman(untied), friedman(untied, correct_ties=False)
    assert given.statistic == pytest.approx(expected.statistic, abs=1e-9)
    tied = friedman(table, correct_ties=False).statistic
    assert tied <= friedman(table).statistic + 1e-9


@given(few_values)
def test_ranks_add_up_and_turn_around(table):
    n_methods = table.shape[1]
    ranks = average_ranks(table)
    assert ranks.sum() == pytest.approx(n_methods * (n_methods + 1) / 2)
    np.testing.assert_allclose(ranks, average_ranks(-table, higher_is_better=True))
    np.testing.assert_allclose(n_methods + 1 - ranks, average_ranks(table, higher_is_better=True))


def test_two_methods_are_enough():
    result = friedman([[1, 2], [1, 2], [1, 2], [2, 1]])
    assert result.statistic == pytest.approx(1)  # the sign test's z² for 3 of 4
    assert result.degrees_of_freedom == (1,)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1.0, 2.0], r"at least 1 by 2. Got shape \(2,\)"),
        ([[1.0], [2.0]], r"Got shape \(2, 1\)"),
        ([[1.0, np.nan], [np.inf, 2.0]], "Got 2 missing or infinite values"),
        (pd.DataFrame({"a": [1.0, None], "b": [2.0, 3.0]}), "Got 1 missing or infinite"),
    ],
)
def test_bad_tables_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        average_ranks(table)


@pytest.mark.parametrize("test", [friedman, iman_davenport])
def test_one_data_set_is_not_enough_for_a_test(test):
    with pytest.raises(ValueError, match=r"at least 2 by 2. Got shape \(1, 3\)"):
        test([[1.0, 2.0, 3.0]])


def test_ranks_that_are_the_critical_difference_apart_differ():
    """Demšar (2006), section 3.2.2: at least the critical difference."""
    test = NemenyiTest(("a", "b", "c"), np.array([1.0, 1.5, 3.0]), 2.0, np.eye(3), 0.05)
    np.testing.assert_array_equal(test.differs, [[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    assert test.groups == ((0, 1), (1, 2))
