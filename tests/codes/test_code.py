import copy
import math
import pickle

import numpy as np
import pytest

from polychotomy import Code, make_code
from polychotomy.codes import DistinctProblems, hamming_distance, one_vs_one, one_vs_rest

PAIRS = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]


def test_a_code_knows_its_shape():
    code = Code(PAIRS, name="pairs")
    assert (code.n_classes, code.n_problems, code.is_strict) == (3, 3, False)
    assert code.matrix.dtype == np.int8
    assert one_vs_rest(3).is_strict


def test_a_code_is_immutable():
    code = Code(PAIRS)
    with pytest.raises(ValueError, match="read-only"):
        code.matrix[0, 0] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        code.matrix.flags.writeable = True
    with pytest.raises(AttributeError):
        code.name = "other"


def test_a_code_does_not_follow_the_array_it_was_made_from():
    matrix = np.array(PAIRS, dtype=np.int8)
    code = Code(matrix)
    matrix[:] = 0
    assert code == Code(PAIRS)


@pytest.mark.parametrize(
    "twin", [pickle.loads(pickle.dumps(Code(PAIRS))), copy.deepcopy(Code(PAIRS))]
)
def test_copies_are_equal_and_stay_immutable(twin):
    assert twin == Code(PAIRS)
    assert hash(twin) == hash(Code(PAIRS))
    assert not twin.matrix.flags.writeable


def test_equality_goes_by_the_matrix():
    assert Code(PAIRS, name="a") == Code(PAIRS, name="b")
    assert Code(PAIRS) != one_vs_rest(3)
    assert Code(PAIRS) != PAIRS


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1, -1], r"two-dimensional.*shape \(2,\)"),
        ([[]], "not empty"),
        ([[1, -1], [1]], "rectangular"),
        ([["a", "b"]], "must hold numbers"),
        ([[1, 2], [-1, -1]], "Got 2 for class 0 in problem 1"),
        ([[1, 2], [-3, -1]], "Got 2 for class 0 in problem 1"),
        ([[1.0, -1.0], [-1.0, 0.5]], "Got 0.5 for class 1 in problem 1"),
        ([[1.0, -1.0], [-1.0, np.nan]], "Got nan for class 1 in problem 1"),
        ([[1, -1]], "at least two classes"),
        ([[1, 1], [-1, -1], [0, 0]], "Class 2 has only zeros"),
        ([[1, 1], [-1, 1], [-1, 0]], "Problem 1 has no class with −1"),
        ([[-1, 1], [-1, -1]], "Problem 0 has no class with \\+1"),
        ([[1, 1], [-1, -1], [1, 1]], "Classes 0 and 2 have the same row"),
    ],
)
def test_what_is_not_a_code_is_refused_by_name(matrix, message):
    with pytest.raises(ValueError, match=message):
        Code(matrix)


def test_generalised_hamming_distance_of_the_slides():
    # Slide 14: zeros count one half.
    assert hamming_distance([1, -1, 0, 0, -1], [1, 1, 1, 0, -1]) == 2.0
    with pytest.raises(ValueError, match="same length"):
        hamming_distance([1, -1], [1])


def test_row_distance_is_the_smallest_over_all_pairs(rng):
    matrix = rng.integers(-1, 2, size=(20, 40))
    expected = min(hamming_distance(matrix[r], matrix[t]) for r in range(20) for t in range(r))
    assert Code(matrix).row_distance == expected


def test_distances_are_right_across_blocks(monkeypatch, rng):
    matrix = rng.integers(0, 2, size=(23, 31)) * 2 - 1
    whole = Code(matrix)
    expected = whole.row_distance, whole.column_distance
    monkeypatch.setattr("polychotomy.codes._code._BLOCK", 4)
    blocked = Code(matrix)
    assert (blocked.row_distance, blocked.column_distance) == expected


def test_column_distance_takes_complements_for_equal():
    assert Code([[1, 1], [-1, 1], [-1, -1]]).column_distance == 1
    assert Code([[1, -1, 1], [-1, 1, 1], [-1, 1, -1]]).column_distance == 0
    assert one_vs_one(2).column_distance == math.inf


def test_distinct_problems_give_the_code_back():
    code = Code([[1, -1, 1, 1, 0], [-1, 1, 1, -1, 1], [-1, 1, -1, -1, -1]])
    distinct = code.distinct
    assert distinct.columns.shape == (3, 3)
    np.testing.assert_array_equal(distinct.index, [0, 0, 1, 0, 2])
    np.testing.assert_array_equal(distinct.columns[:, distinct.index] * distinct.sign, code.matrix)


def test_distinct_problems_are_oriented_as_in_scikit_learn():
    # The smaller side is positive; of equal sides the one without the first class.
    np.testing.assert_array_equal(one_vs_rest(3).distinct.columns, one_vs_rest(3).matrix)
    np.testing.assert_array_equal(one_vs_one(3).distinct.columns, -one_vs_one(3).matrix)
    np.testing.assert_array_equal(one_vs_rest(2).distinct.columns, [[-1], [1]])


def test_describe_reports_repeated_problems():
    text = Code([[1, -1, 1], [-1, 1, 1], [-1, 1, -1]]).describe()
    assert "1 is the complement of 0" in text
    assert "2 repeats 1" in Code([[-1, 1, 1], [-1, -1, -1], [1, -1, -1]]).describe()
    assert "no problem is repeated" in one_vs_one(5).describe()
    assert "and 5 more" in Code(np.tile([[1], [-1]], 16)).describe()


def test_describe_promises_correction_only_for_strict_codes():
    assert "corrects up to 1 wrong problems" in make_code("hamming", 4).describe()
    assert "corrects" not in one_vs_one(6).describe()


def test_str_and_repr_and_html_are_readable():
    code = Code(PAIRS, name="<b>pairs</b>")
    assert repr(code) == "Code('<b>pairs</b>': 3 classes, 3 problems)"
    assert str(code).splitlines() == ["+ + ·", "− · +", "· − −"]
    assert code.draw() == str(code)
    large = one_vs_one(40).draw().splitlines()
    assert [len(row.split()) for row in large] == [780] * 40
    html = code._repr_html_()
    assert "<b>pairs" not in html
    assert html.count("<tr>") == 3
    long = make_code("one_vs_rest", 100)
    assert str(long).count("\n") == 30
    assert "…" in str(long)
    assert long._repr_html_().count("<tr>") == 30


@pytest.mark.parametrize("k", [2, 3, 5])
def test_one_vs_one_is_known_in_any_order_and_orientation(k, rng):
    matrix = one_vs_one(k).matrix
    assert Code(matrix).is_one_vs_one
    assert Code(matrix[:, ::-1] * rng.choice([-1, 1], size=matrix.shape[1])).is_one_vs_one
    if k > 2:
        assert not one_vs_rest(k).is_one_vs_one
        assert not Code(matrix[:, [*range(matrix.shape[1]), 0]]).is_one_vs_one  # one pair too many
        once = np.delete(matrix, 1, axis=1)
        assert not Code(np.hstack([once, -once[:, :1]])).is_one_vs_one  # one twice, one never
    assert not Code([[1, 1, 1], [-1, 1, -1], [1, -1, -1]]).is_one_vs_one  # three problems of all
    assert Code(matrix).is_one_vs_one is True


def test_problems_that_are_not_merged_stay_as_they_are():
    matrix = np.array([[1, -1, 1], [-1, 1, 0], [0, 0, -1]], dtype=np.int8)
    each = DistinctProblems.each(matrix)
    np.testing.assert_array_equal(each.columns[:, each.index] * each.sign, matrix)
    np.testing.assert_array_equal(each.columns, matrix)


def test_a_code_in_another_order_keeps_its_name():
    code = make_code("dense_random", 5, random_state=0)
    assert code.reordered([4, 3, 2, 1, 0]).name == code.name == "dense_random"


def test_a_description_names_the_classes_that_are_not_identified():
    code = Code([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    assert "those of the classes 0, 1, 2, 3" in code.describe()
    many = Code([[1 if c >> s & 1 else -1 for s in range(4)] for c in range(14)])
    assert "those of the classes 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 4 more" in many.describe()
