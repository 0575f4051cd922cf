import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from polychotomy import Code
from polychotomy.codes import hamming_distance

from .strategies import codes


@given(codes())
def test_row_distance_is_the_definition(code):
    pairs = [(r, t) for r in range(code.n_classes) for t in range(r)]
    distances = [hamming_distance(code.matrix[r], code.matrix[t]) for r, t in pairs]
    assert code.row_distance == min(distances)


@given(codes(), st.data())
def test_order_and_orientation_change_no_distance(code, data):
    rows = data.draw(st.permutations(range(code.n_classes)))
    columns = data.draw(st.permutations(range(code.n_problems)))
    ell = code.n_problems
    signs = data.draw(arrays(np.int8, ell, elements=st.sampled_from([-1, 1])))
    other = Code((code.matrix * signs)[rows][:, columns])
    assert other.row_distance == code.row_distance
    assert other.column_distance == code.column_distance
    assert other.distinct.columns.shape == code.distinct.columns.shape


@given(codes())
def test_distinct_problems_are_distinct_and_complete(code):
    distinct = code.distinct
    np.testing.assert_array_equal(distinct.columns[:, distinct.index] * distinct.sign, code.matrix)
    seen = {tuple(c) for c in distinct.columns.T} | {tuple(-c) for c in distinct.columns.T}
    assert len(seen) == 2 * distinct.columns.shape[1]


@given(codes())
def test_a_code_describes_and_prints_itself(code):
    assert str(code.n_problems) in code.describe()
    assert len(str(code).splitlines()) == code.n_classes
