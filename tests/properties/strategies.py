"""What the property tests draw from."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from polychotomy import Code
from polychotomy.codes import adjacent
from polychotomy.errors import CodeError


@st.composite
def codes(draw, strict=False):
    """Any valid code of two to six classes; short ones get the adjacent code's columns as well."""
    k = draw(st.integers(2, 6))
    symbols = st.sampled_from([-1, 1] if strict else [-1, 0, 1])
    columns = []
    for _ in range(draw(st.integers(1, 8))):
        column = draw(arrays(np.int8, k, elements=symbols))
        plus, minus = draw(st.permutations(range(k)))[:2]
        column[plus], column[minus] = 1, -1
        columns.append(column)
    matrix = np.column_stack(columns)
    try:
        return Code(matrix)
    except CodeError:
        return Code(np.hstack([matrix, adjacent(k).matrix]))


@st.composite
def outputs_for(draw, code, max_size=1e6):
    """Outputs of up to five samples, zeros and repeated values among them."""
    n = draw(st.integers(1, 5))
    sizes = st.floats(-max_size, max_size, width=32) | st.sampled_from([0.0, 1.0, -1.0, 0.5])
    return draw(arrays(np.float64, (n, code.n_problems), elements=sizes))
