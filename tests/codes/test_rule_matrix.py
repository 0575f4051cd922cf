"""Codes that are known by a rule against their matrices."""

import pickle

import numpy as np
import pytest

from polychotomy import Code, make_code
from polychotomy.codes import Targets, describe_problems, distinct_problems
from polychotomy.codes._rule_matrix import AdjacentRule, OneVsOneRule, OneVsRestRule
from polychotomy.decoding import RULES, decode
from polychotomy.errors import CodeError

RULE_MATRICES = [OneVsRestRule, OneVsOneRule, AdjacentRule]


@pytest.fixture(params=RULE_MATRICES)
def rule(request):
    return request.param(6)


@pytest.fixture(params=["as it is", "reordered"])
def codes(request, rule):
    """The same code by its rule and by its matrix."""
    by_rule, held = Code(rule), Code(np.asarray(rule))
    if request.param == "reordered":
        rows = np.array([2, 0, 5, 1, 4, 3])
        return by_rule.reordered(rows), held.reordered(rows)
    return by_rule, held


def test_the_matrix_of_a_rule():
    np.testing.assert_array_equal(OneVsRestRule(5), 2 * np.eye(5) - 1)
    np.testing.assert_array_equal(
        OneVsOneRule(4),
        [[1, 1, 1, 0, 0, 0], [-1, 0, 0, 1, 1, 0], [0, -1, 0, -1, 0, 1], [0, 0, -1, 0, -1, -1]],
    )
    np.testing.assert_array_equal(AdjacentRule(3), [[-1, -1], [1, -1], [1, 1]])


@pytest.mark.parametrize(
    "index",
    [
        (slice(None), slice(None)),
        (slice(None), 3),
        (slice(None), [0, 4, 2]),
        (slice(1, 3), slice(0, 4)),
        ([5, 5, 0], 1),
        ([3, 1], [2, 0]),
        ([3, 1], slice(2)),
        (2, slice(None)),
        (4, 1),
    ],
)
def test_indexing_is_that_of_arrays(codes, index):
    by_rule, held = codes
    found = by_rule.columns[index]
    assert found.dtype == np.int8
    np.testing.assert_array_equal(found, held.columns[index])


def test_the_facts_are_those_of_the_matrix(codes):
    by_rule, held = codes
    for name in ("n_classes", "n_problems", "is_strict", "row_distance", "column_distance"):
        assert getattr(by_rule, name) == getattr(held, name), name
    for name in ("is_one_vs_one", "is_one_vs_rest", "unidentified"):
        assert getattr(by_rule, name) == getattr(held, name), name
    assert by_rule == held
    assert hash(by_rule) == hash(held)
    assert by_rule.describe() == held.describe()
    assert str(by_rule) == str(held)
    again = pickle.loads(pickle.dumps(by_rule))
    assert again == by_rule
    np.testing.assert_array_equal(again.matrix, held.matrix)


def test_distinct_problems_names_and_targets(codes):
    by_rule, held = (code.distinct for code in codes)
    np.testing.assert_array_equal(by_rule.columns, held.columns)
    np.testing.assert_array_equal(by_rule.index, held.index)
    np.testing.assert_array_equal(by_rule.sign, held.sign)
    names = [describe_problems(code.columns, "abcdef") for code in codes]
    assert names[0] == names[1]
    y = np.array([3, 0, 5, 5, 1, 2, 4, 0])
    ours, theirs = Targets(by_rule.columns, y), Targets(held.columns, y)
    np.testing.assert_array_equal(ours.block(slice(1, 4)), theirs.block(slice(1, 4)))
    np.testing.assert_array_equal(ours.samples(2), theirs.samples(2))
    np.testing.assert_array_equal(ours.sides(2, np.arange(4)), theirs.sides(2, np.arange(4)))


@pytest.mark.parametrize("decoder", sorted(set(RULES) - {"ddag"}))
def test_decoding_by_a_rule(codes, decoder):
    by_rule, held = codes
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(20, held.n_problems)).round(1)
    outputs[3] *= 1e4
    expected = decode(outputs, held, decoder)
    np.testing.assert_allclose(decode(outputs, by_rule, decoder), expected, rtol=1e-12, atol=1e-12)


def test_large_codes_are_not_held():
    code = make_code("one_vs_rest", 100_000)
    assert code.n_problems == 100_000
    assert code.columns[7, 7] == 1
    with pytest.raises(CodeError, match=r"would take 9\.3 GiB"):
        code.matrix  # noqa: B018
    assert code.distinct.columns.shape == (100_000, 100_000)


def test_a_repeated_pair_is_never_a_rule():
    # Two classes one against the rest are the same problem twice.
    assert distinct_problems(make_code("one_vs_rest", 2).matrix).columns.shape == (2, 1)


INDICES = {
    "last": np.s_[-1, -1],
    "last of a pair": np.s_[-1, 2],
    "last column": np.s_[:, -1],
    "mask of columns": np.s_[:, np.arange(5) > 2],
    "mask of rows": np.s_[np.arange(6) % 2 == 0, 1:3],
    "no columns": np.s_[:, []],
    "steps": np.s_[::-2, ::2],
    "pairs": np.s_[[0, -2], [1, -1]],
    "rows": np.s_[:3],
    "numbered rows": np.array([4, -1]),
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_rules_are_indexed_as_arrays_are(index):
    rule = AdjacentRule(6)
    np.testing.assert_array_equal(rule[index], np.asarray(rule)[index])


def test_indices_that_a_rule_does_not_have(rule):
    for index in (np.s_[6, 0], np.s_[-7, 0], np.s_[:, 10**9]):
        with pytest.raises(IndexError, match="out of bounds"):
            rule[index]
    for index in (np.s_[:, np.array([True, False])], np.s_[:, [0.5]]):
        with pytest.raises(IndexError, match="integers, slices or a mask"):
            rule[index]
