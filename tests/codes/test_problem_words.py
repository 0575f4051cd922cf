import numpy as np
import pytest

from polychotomy.codes import describe_problems, make_code, one_vs_rest, problem_words


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([1, -1], "a against b"),
        ([-1, 1], "b against a"),
        ([1, -1, -1], "a against the rest"),
        ([1, 1, -1], "the rest against c"),
        ([1, 0, -1], "a against c"),
        ([1, 1, -1, -1], "a, b against c, d"),
        ([1] + [-1] * 8 + [0], "a against b, c, d, e, f, g and 2 more"),
        ([1] + [-1] * 6 + [0], "a against b, c, d, e, f, g"),
    ],
)
def test_a_problem_in_words(column, words):
    assert problem_words(np.array(column, dtype=np.int8), list("abcdefghij")) == words


def test_all_problems_in_words():
    words = describe_problems(one_vs_rest(3).matrix, list("abc"))
    assert words == ["a against the rest", "b against the rest", "c against the rest"]


@pytest.mark.parametrize("name", ["one_vs_rest", "one_vs_one", "adjacent"])
@pytest.mark.parametrize("k", [2, 3, 9])
def test_codes_known_by_a_rule_are_described_as_their_matrix_is(name, k):
    code, labels = make_code(name, k), np.arange(k) * 10
    assert describe_problems(code.columns, labels) == describe_problems(code.matrix, labels)
