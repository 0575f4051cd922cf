"""Properties of targets: blocks, samples and sides agree with the matrix they stand for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from polychotomy.codes import Targets

from .strategies import codes


@st.composite
def targets(draw):
    """Targets of up to twelve samples, and the matrix they stand for."""
    code = draw(codes())
    m = draw(st.integers(1, 12))
    y = draw(arrays(np.intp, m, elements=st.integers(0, code.n_classes - 1)))
    kept = draw(st.none() | arrays(bool, (m, code.n_problems)))
    within = draw(st.none() | arrays(bool, m))
    matrix = code.matrix[y]
    matrix = matrix if kept is None else matrix * kept
    matrix = matrix if within is None else matrix * within[:, np.newaxis]
    return Targets(code.matrix, y, kept, within), matrix


@given(targets())
def test_all_columns_are_the_masked_rows_of_the_code(drawn):
    made, matrix = drawn
    block = made.block(slice(None))
    assert block.dtype == np.int8
    np.testing.assert_array_equal(block, matrix)


@given(targets(), st.data())
def test_any_block_is_a_part_of_all_columns(drawn, data):
    made, matrix = drawn
    problems = data.draw(st.lists(st.integers(0, made.n_problems - 1), max_size=5))
    samples = data.draw(st.lists(st.integers(0, made.n_samples - 1), max_size=5))
    rows = np.isin(np.arange(made.n_samples), samples)[:, np.newaxis]
    np.testing.assert_array_equal(made.block(problems), matrix[:, problems])
    np.testing.assert_array_equal(
        made.restricted(samples).block(problems), matrix[:, problems] * rows
    )
    np.testing.assert_array_equal(made.restricted(samples).block(slice(None)), matrix * rows)


@given(targets())
def test_the_samples_of_a_problem_are_those_with_a_side(drawn):
    made, matrix = drawn
    for s in range(made.n_problems):
        samples = made.samples(s)
        np.testing.assert_array_equal(samples, np.flatnonzero(matrix[:, s]))
        np.testing.assert_array_equal(made.sides(s, samples), matrix[samples, s])
        np.testing.assert_array_equal(made.sides(s, np.arange(made.n_samples)), matrix[:, s])
