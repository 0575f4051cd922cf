import numpy as np
import pytest

from polychotomy.learners import BinaryProblems, problem_words


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
    ],
)
def test_a_problem_in_words(column, words):
    assert problem_words(np.array(column, dtype=np.int8), list("abcdefghij")) == words


def test_samples_are_found_by_class_in_their_order(rng):
    columns = np.array([[1, 1, 0], [-1, 0, 1], [-1, -1, -1]], dtype=np.int8)
    y = rng.integers(0, 3, size=50)
    problems = BinaryProblems(columns, y, ["p", "q", "r"])
    for s in range(3):
        samples = problems.samples(s)
        np.testing.assert_array_equal(samples, np.flatnonzero(columns[y, s]))
        np.testing.assert_array_equal(problems.target(s, samples), columns[y, s][samples])
