import numpy as np
import pytest

from polychotomy.codes import adjacent, exhaustive, one_vs_one, one_vs_rest


def test_one_vs_rest_is_the_matrix_of_slide_12():
    expected = [[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]]
    np.testing.assert_array_equal(one_vs_rest(4).matrix, expected)


def test_one_vs_one_is_the_matrix_of_slide_12():
    expected = [
        [1, 1, 1, 0, 0, 0],
        [-1, 0, 0, 1, 1, 0],
        [0, -1, 0, -1, 0, 1],
        [0, 0, -1, 0, -1, -1],
    ]
    np.testing.assert_array_equal(one_vs_one(4).matrix, expected)


def test_exhaustive_is_the_matrix_of_mills_section_3_3():
    expected = [
        [-1, 1, 1, 1],
        [1, -1, 1, 1],
        [-1, -1, 1, 1],
        [1, 1, -1, 1],
        [-1, 1, -1, 1],
        [1, -1, -1, 1],
        [-1, -1, -1, 1],
    ]
    np.testing.assert_array_equal(exhaustive(4).matrix.T, expected)


def test_adjacent_is_equation_15_of_mills():
    expected = [
        [-1, 1, 1, 1, 1, 1, 1],
        [-1, -1, 1, 1, 1, 1, 1],
        [-1, -1, -1, 1, 1, 1, 1],
        [-1, -1, -1, -1, 1, 1, 1],
        [-1, -1, -1, -1, -1, 1, 1],
        [-1, -1, -1, -1, -1, -1, 1],
    ]
    np.testing.assert_array_equal(adjacent(7).matrix.T, expected)


def test_adjacent_follows_a_given_order():
    code = adjacent(3, order=[2, 0, 1])
    np.testing.assert_array_equal(code.matrix[[2, 0, 1]], adjacent(3).matrix)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], [0, 1, 2, 3]])
def test_an_order_that_is_no_permutation_is_refused(order):
    with pytest.raises(ValueError, match="each class index from 0 to 2 once"):
        adjacent(3, order=order)


@pytest.mark.parametrize("k", [2, 3, 5, 8, 12])
def test_row_distances_of_the_theory(k):
    pairs = k * (k - 1) // 2
    assert one_vs_rest(k).row_distance == 2
    assert one_vs_one(k).row_distance == 1 + (pairs - 1) / 2
    assert exhaustive(k).row_distance == 2 ** (k - 2)
    assert exhaustive(k).n_problems == 2 ** (k - 1) - 1
    assert adjacent(k).row_distance == 1


def test_exhaustive_says_how_many_problems_it_would_need():
    assert exhaustive(16).n_problems == 32767
    with pytest.raises(ValueError, match=r"2\^16 − 1 = 65535 problems"):
        exhaustive(17)
    with pytest.raises(ValueError, match=r"2\^999 − 1 problems"):
        exhaustive(1000)


@pytest.mark.parametrize("bad", [1, 0, -3, 2.0, "4", None, True])
def test_the_number_of_classes_must_be_an_int_of_at_least_two(bad):
    with pytest.raises(ValueError, match="'n_classes' parameter must be an int of at least 2"):
        one_vs_rest(bad)
