import numpy as np
import polars as pl
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from statsmodels.stats.multitest import multipletests

from polychotomy.assess import average_ranks, holm, nemenyi
from tests.assess.tables import DEMSAR, SBC, SBC_KERNEL

few_values = arrays(
    float,
    st.tuples(st.integers(2, 8), st.integers(2, 6)),
    elements=st.integers(0, 9).map(float),
)


def test_what_the_sbc_paper_finds_by_holm():
    result = holm(SBC, alpha=0.1)
    assert result.names[result.control] == "OVA"
    assert set(SBC.columns[result.differs]) == {"SBC-SINGLE", "SBC-ECOC"}


def test_what_the_sbc_paper_finds_on_six_data_sets():
    """Section 4.3: "OVA, SBC-BCH and SBC-HAMMING were significantly better" than the other four.

    With two-sided p-values, which Demšar takes, ECOC is not among the four; with one-sided it is.
    """
    result = holm(SBC.drop(["abalone", "yeast", "page-blocks"]), alpha=0.1)
    worse = {"SBC-SINGLE", "SBC-ECOC", "SBC-IDENTITY"}
    assert set(SBC.columns[result.differs]) == worse
    others = np.arange(7) != result.control
    one_sided = multipletests(result.pvalues[others] / 2, alpha=0.1, method="holm")[0]
    assert set(SBC.columns[others][one_sided]) == worse | {"ECOC"}


def test_demsars_example_of_holm():
    """Section 3.2.2: the first method as control, two of the others differ from it."""
    result = holm(DEMSAR, control=0, higher_is_better=True)
    np.testing.assert_array_equal(result.pvalues.round(3), [1, 0.019, 0.608, 0.016])
    assert result.differs.tolist() == [False, True, False, True]


def test_demsars_example_of_nemenyi():
    result = nemenyi(DEMSAR, higher_is_better=True)
    assert round(result.critical_difference, 2) == 1.25
    assert not result.differs.any()
    assert result.groups == ((3, 1, 2, 0),)
    result = nemenyi(DEMSAR, alpha=0.1, higher_is_better=True)
    assert round(result.critical_difference, 2) == 1.12
    assert np.argwhere(np.triu(result.differs)).tolist() == [[0, 1], [0, 3]]
    assert result.groups == ((3, 1, 2), (2, 0))


@settings(max_examples=20)  # statsmodels takes a tenth of a second
@given(few_values, st.floats(0.01, 0.5))
def test_holm_is_statsmodels(table, alpha):
    result = holm(table, alpha=alpha)
    others = np.arange(table.shape[1]) != result.control
    rejected, adjusted, *_ = multipletests(result.pvalues[others], alpha=alpha, method="holm")
    np.testing.assert_allclose(result.adjusted[others], adjusted)
    np.testing.assert_array_equal(result.differs[others], rejected)
    assert not result.differs[result.control]
    z = stats.norm.isf(result.pvalues / 2)
    n, k = table.shape
    gaps = average_ranks(table) - average_ranks(table).min()
    np.testing.assert_allclose(z * np.sqrt(k * (k + 1) / (6 * n)), gaps, atol=1e-9)


@pytest.mark.parametrize("table", [SBC, SBC_KERNEL, -DEMSAR], ids=["sbc", "kernel", "demsar"])
def test_nemenyi_is_scikit_posthocs(table):
    values = np.asarray(table)
    result = nemenyi(table)
    expected = scikit_posthocs.posthoc_nemenyi_friedman(values).to_numpy()
    np.testing.assert_allclose(result.pvalues, expected, atol=1e-8)
    np.testing.assert_array_equal(result.differs, expected <= 0.05)


def test_a_pair_differs_from_its_pvalue_on():
    p = nemenyi(SBC).pvalues[0, 2]
    assert nemenyi(SBC, alpha=1.001 * p).differs[0, 2]
    assert not nemenyi(SBC, alpha=0.999 * p).differs[0, 2]


@given(few_values, st.sampled_from([0.05, 0.1, 0.5]))
def test_groups_are_the_largest_without_a_difference(table, alpha):
    result = nemenyi(table, alpha=alpha)
    alike = ~result.differs
    groups = [set(group) for group in result.groups]
    for group in groups:
        assert alike[np.ix_(list(group), list(group))].all()
        for stranger in set(range(len(alike))) - group:
            assert not alike[stranger, list(group)].all()
    for i, j in np.argwhere(np.triu(alike, 1)).tolist():
        assert any({i, j} <= group for group in groups)


def test_names_come_from_frames_and_from_the_caller():
    assert holm(SBC).names == tuple(SBC.columns)
    assert nemenyi(pl.DataFrame(SBC.to_dict("list"))).names == tuple(SBC.columns)
    assert holm(SBC.to_numpy()).names == tuple("0123456")
    assert holm(DEMSAR, names=["a", "b", "c", "d"], control="c").control == 2
    assert nemenyi(SBC).names[np.argmin(nemenyi(SBC).ranks)] == "OVA"


def test_they_can_be_read():
    shown = repr(holm(SBC, alpha=0.1)).splitlines()
    assert shown[0] == "Holm's procedure against OVA, alpha=0.1"
    assert shown[-1].split() == ["SBC-SINGLE", "rank", "6.17", "adjusted", "p", "0.0035", "differs"]
    assert "control" in shown[1]
    shown = repr(nemenyi(SBC, alpha=0.1)).splitlines()
    assert shown[-1].endswith("differs from OVA, SBC-HAMMING, SBC-BCH")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"control": "OVO"}, "'control' parameter must be one of .* Did you mean 'OVA'?"),
        ({"control": 7}, "a name or an index from 0 to 6. Got 7"),
        ({"control": True}, "Got True"),
        ({"alpha": 1.5}, "'alpha' parameter must be a number between 0 and 1. Got 1.5"),
        ({"names": ["a", "b"]}, "7 different names. Got 2, 2 of them different"),
        ({"names": ["a"] * 7}, "7 different names. Got 7, 1 of them different"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        holm(SBC, **options)
