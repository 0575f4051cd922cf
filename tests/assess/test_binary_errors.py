import numpy as np
import pytest

from polychotomy import Code, make_code
from polychotomy.assess import binary_errors


def test_only_samples_whose_class_takes_part_count():
    code = make_code("one_vs_one", 3)
    outputs = np.array([[1.0, -1.0, 9.0], [1.0, 0.0, -1.0], [5.0, -1.0, -1.0]])
    result = binary_errors(outputs, [0, 1, 2], code)
    # 0/1: sample 1 wrong; 0/2: sample 0 wrong; 1/2: sample 1 wrong.
    np.testing.assert_allclose(result.problem_errors, [1 / 2, 1 / 2, 1 / 2])


def test_wrong_samples_and_the_problems_to_blame():
    code = make_code("one_vs_rest", 3)
    outputs = np.array([[1, -1, -1], [1, -1, -1], [-1, 1, 1]])
    result = binary_errors(outputs, ["x", "y", "z"], code)
    np.testing.assert_array_equal(result.wrong_samples, [1, 2])
    np.testing.assert_array_equal(result.blamed, [[True, True, False], [False, True, False]])


def test_the_rule_decides_what_is_wrong():
    code = make_code("one_vs_rest", 3)
    outputs = np.array([[-1.0, -2.0, -3.0], [-9.0, -2.0, -3.0], [1.0, -5.0, 9.0]])
    assert binary_errors(outputs, [0, 1, 2], code, rule="hinge").wrong_samples.size == 0
    np.testing.assert_array_equal(binary_errors(outputs, [0, 1, 2], code).wrong_samples, [1, 2])


def test_a_problem_without_samples_has_no_error():
    code = Code([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    result = binary_errors([[1.0, 1.0, 1.0]], [0], code)
    np.testing.assert_array_equal(result.problem_errors, [0, 0, np.nan])


def test_lengths_must_fit():
    with pytest.raises(ValueError, match="1 samples and y has 2"):
        binary_errors([[1.0]], [0, 1], make_code("one_vs_one", 2))
