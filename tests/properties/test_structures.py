import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polychotomy import format_structure, parse_structure
from polychotomy.errors import StructureError
from polychotomy.structures import flatten, name_problems, nest
from polychotomy.structures._structure import BARE_NAME
from tests.properties.strategies import structures


@given(structures())
def test_parsing_undoes_formatting(structure):
    """``parse_structure(format_structure(s)) == s`` for every structure s."""
    text = format_structure(structure)
    assert parse_structure(text) == structure
    assert parse_structure(text, structure.classes) == structure
    assert format_structure(parse_structure(text)) == text


LIBAGF_OPTIONS = st.none() | st.text(alphabet="ab -.=1\\", max_size=6).filter(
    lambda text: text != "." and text[-1:] != "\\" and not BARE_NAME.fullmatch(text)
)


@given(structures(labels=st.integers(0, 10**6), models=LIBAGF_OPTIONS))
def test_libagfs_dialect_comes_back_too(structure):
    for written in (structure, name_problems(structure, "base")):
        text = format_structure(written, dialect="libagf")
        assert parse_structure(text, dialect="libagf") == written


@given(structures())
def test_flattening_asks_the_same_questions(structure):
    flat = flatten(structure)
    assert flat.depth <= 1
    assert flat.classes == structure.classes
    assert flat.problems == structure.problems
    assert flatten(flat) == flat


@given(structures())
def test_nesting_asks_the_same_questions(structure):
    nested = nest(structure)
    assert sorted(map(str, nested.classes)) == sorted(map(str, structure.classes))

    def asked(s):
        return sorted(
            (sorted(map(repr, p.minus)), sorted(map(repr, p.plus)), p.name or "", p.options or "")
            for p in s.problems
        )

    assert asked(nested) == asked(structure)
    assert nested.depth >= structure.depth
    assert nest(nested) == nested


@given(structures())
def test_a_problem_parts_classes_of_one_node(structure):
    sizes = [node.code.n_problems for node in structure.nodes()]
    assert len(structure.problems) == sum(sizes) == structure.n_problems
    for problem in structure.problems:
        assert problem.minus
        assert problem.plus
        assert not set(problem.minus) & set(problem.plus)


def parsed(text, dialect="polychotomy"):
    """Return the structure, or None if the text is refused as it should be."""
    try:
        return parse_structure(text, dialect=dialect)
    except StructureError as error:
        where = (error.line, error.column)
        heading, _, caret = str(error).split("\n")
    assert heading.startswith("line {}, column {}: ".format(*where))
    assert caret.strip() == "^"
    return None


TOKENS = ["{", "}", "/", ";", "0", "1", "2", "a", "b", '"', '"x"', "#", "\n", " ", ".", "-", "\\"]


@given(
    st.lists(st.sampled_from(TOKENS), max_size=40).map("".join)
    | st.lists(st.sampled_from(TOKENS), max_size=40).map(" ".join)
    | st.text(max_size=60)
    | st.text(alphabet=string.printable, max_size=60)
)
@pytest.mark.parametrize("dialect", ["polychotomy", "libagf"])
def test_any_text_is_a_structure_or_a_structure_error(dialect, text):
    structure = parsed(text, dialect)
    assert structure is None or parse_structure(format_structure(structure)) == structure


@given(structures(), st.data())
def test_one_wrong_character_never_hangs_or_crashes(structure, data):
    text = format_structure(structure)
    place = data.draw(st.integers(0, len(text)))
    wrong = text[:place] + data.draw(st.sampled_from(TOKENS)) + text[place + 1 :]
    again = parsed(wrong)
    assert again is None or again.n_classes >= 1


@given(structures())
def test_hashes_follow_equality(structure):
    again = parse_structure(format_structure(structure))
    assert hash(again) == hash(structure)
    assert np.array_equal(again.code.matrix, structure.code.matrix)
