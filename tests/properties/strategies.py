"""What the property tests draw from."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from polychotomy import Code, Structure
from polychotomy.codes import adjacent
from polychotomy.errors import CodeError
from polychotomy.structures._structure import BARE_NAME


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


def _labels():
    return (
        st.integers(-1000, 10**12)
        | st.text(max_size=8)
        | st.from_regex(r"[A-Za-z][A-Za-z0-9_.\-]{0,8}", fullmatch=True)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.booleans()
    )


_MODELS = (
    st.none() | st.from_regex(r"[A-Za-z][a-z0-9.\-]{0,5}", fullmatch=True) | st.text(max_size=9)
)


@st.composite
def structures(draw, labels=None, models=_MODELS):
    """Any structure of two to twelve classes: nested codes, labels, names and options."""
    classes = draw(
        st.lists(_labels() if labels is None else labels, min_size=2, max_size=12, unique=True)
    )
    parts = [Structure.of_class(label) for label in classes]
    while len(parts) > 1:
        code = draw(codes())
        if code.n_classes > len(parts):
            code = adjacent(len(parts))
        start = draw(st.integers(0, len(parts) - code.n_classes))
        said = [draw(models) for _ in range(code.n_problems)]
        names = [word if word and BARE_NAME.fullmatch(word) else None for word in said]
        options = [word if name is None else None for word, name in zip(said, names, strict=True)]
        node = Structure(code, parts[start : start + code.n_classes], names=names, options=options)
        parts[start : start + code.n_classes] = [node]
    return parts[0]
