import numpy as np
import pytest

from polychotomy import Structure, format_structure, parse_structure
from polychotomy.codes import one_vs_one, one_vs_rest
from polychotomy.errors import StructureError
from polychotomy.structures import balanced, chain, from_code, name_problems, two_children
from polychotomy.structures._language import MAX_CHARACTERS, MAX_DEPTH


def test_left_of_the_slash_is_minus_one():
    structure = parse_structure("m 0 2 / 1; n 0 / 2; {a b c}")
    np.testing.assert_array_equal(structure.code.matrix.T, [[-1, 1, -1], [-1, 0, 1]])
    assert structure.names == ("m", "n")


def test_a_model_parts_the_first_child_from_the_second():
    structure = parse_structure("m {a b}")
    np.testing.assert_array_equal(structure.code.matrix, [[-1], [1]])


def test_spaces_lines_and_comments_do_not_matter():
    plain = parse_structure("m 0 / 1; n {x y} k {z w}".replace("n {", "{ n {") + "}")
    spread = parse_structure(
        """
        # what the classes are
        m 0
          / 1 # a slash may stand anywhere
          ;{n{x y}k{
        z      # "quotes" and { braces } in comments do not count
        w}}
        """
    )
    assert spread == plain


def test_labels():
    structure = parse_structure(
        "a 0 / 1 2 3 4 5 6 7; b 0 1 2 3 / 4 5 6 7; c 0 2 4 6 / 1 3 5 7; d 0 1 4 5 / 2 3 6 7;"
        '{3 -4 1.5 1e3 True x.y-z/w "a \\"b\\"" "7"}'
    )
    assert structure.classes == (3, -4, 1.5, 1000.0, True, "x.y-z/w", 'a "b"', "7")
    assert [type(label) for label in structure.classes[:5]] == [int, int, float, float, bool]


def test_names_and_numbers_may_stand_together():
    structure = parse_structure("m 0 1 / 2; n 0 / 1; {oak 1 p 0 / 1; {2 elm}}")
    assert structure.classes == ("oak", 1, 2, "elm")
    assert structure.problems[2].name == "p"


def test_options_are_quoted_and_empty_ones_are_none():
    structure = parse_structure('"C=10 gamma=0.1" { "" {a b} c }')
    assert [p.options for p in structure.problems] == ["C=10 gamma=0.1", None]


def test_given_classes_are_found_by_value_or_by_how_they_are_written():
    assert parse_structure("m {1 2}", [1, 2]).classes == (1, 2)
    assert parse_structure("m {1 2}", ["1", "2"]).classes == ("1", "2")
    assert parse_structure("m {1 2}", np.array([1.0, 2.0])).classes == (1.0, 2.0)
    assert parse_structure('m {"1" yes}', ["1", "yes"]).classes == ("1", "yes")
    assert parse_structure("m {0 1}", [False, True]).classes == (False, True)


FAULTS = [
    ("", 1, 1, "there is no structure"),
    ("   # nothing", 1, 13, "the text ends in the middle"),
    ("a 0 / 1;", 1, 9, "the text ends in the middle"),
    ("0 / 1; {0 1}", 1, 3, "complete before this"),
    ("a {0 1", 1, 3, "this brace is never closed"),
    ("a {0 1}}", 1, 8, "there is no open brace"),
    ("a {0 b {1 2}", 1, 3, "this brace is never closed"),
    ("a {0 0}", 1, 6, "the class 0 occurs twice"),
    ("a {\n  x\n  b {y x}\n}", 3, 8, "the class 'x' occurs twice"),
    ("a 0 / 2; {x y}", 1, 7, "there is no child 2: the node has 2"),
    ("a / 1; {x y}", 1, 3, "a side of the problem is empty"),
    ("a 0 / ; {x y}", 1, 7, "a side of the problem is empty"),
    ("a 0 1 / 1; {x y}", 1, 9, "1 occurs on both sides"),
    ("a 0 00 / 1; {x y}", 1, 5, "the child 0 occurs twice"),
    ("a 0 0 / 1; {x y}", 1, 5, "0 occurs twice"),
    ("a 0 / 1 1; {x y}", 1, 9, "1 occurs twice"),
    ("a {0}", 1, 1, "separates two children and this has 1"),
    ("a {0 1 2}", 1, 1, "separates two children and this has 3"),
    ("a {}", 1, 4, "a node without children"),
    ("{0 1}", 1, 1, "is missing before this brace"),
    ("a 0 / 1 {x y}", 1, 9, "or end in ';'"),
    ("a 0 / x; {x y}", 1, 7, "names children of its node"),
    ("a 0 / -1; {x y}", 1, 7, "names children of its node"),
    ("a 0 / 1; x y", 1, 10, "followed by its children in braces"),
    ("a 0 / 1; b 0 / 1; {x y z}", 1, 1, "Child 2 has only zeros"),
    ("a 0 / 1 2; {x y z}", 1, 1, "Children 1 and 2 have the same row"),
    ("a {0 1};", 1, 8, "complete before this"),
    ("a {0 1} b {2 3}", 1, 9, "complete before this"),
    ("a {RED SOIL COTTON}", 1, 1, "labels with spaces need double quotes"),
    ('a {"x y}', 1, 4, "quotation marks opened here are not closed"),
    ('a {"\\q" y}', 1, 5, "a backslash must begin an escape"),
    ("a {1x y}", 1, 4, "this is not a number"),
    ("a {1e999 y}", 1, 4, "this is not a number"),
    ("a {x @}", 1, 6, "'@' is not allowed here"),
    ("a {x\t\x00}", 1, 6, r"'\\x00' is not allowed here"),
    ("a {٣ x}", 1, 4, "is not allowed here"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), FAULTS)
def test_faults_are_pointed_at(text, line, column, message):
    with pytest.raises(StructureError, match=message) as caught:
        parse_structure(text)
    error = caught.value
    assert (error.line, error.column) == (line, column)
    heading, shown, caret = str(error).split("\n")
    assert heading.startswith(f"line {line}, column {column}: ")
    assert caret == " " * (column - 1) + "^"
    assert len(shown) >= column - 1
    assert "\x00" not in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("m {a c}", r"column 6: there is no class 'c'; the classes are 'a', 'b'"),
        ("a", r"column 2: the class 'b' is missing"),
        ("m {a a}", "the class 'a' occurs twice"),
    ],
)
def test_classes_must_be_those_there_are(text, message):
    with pytest.raises(StructureError, match=message):
        parse_structure(text, ["a", "b"])


def test_labels_that_begin_with_zeros_differ():
    structure = parse_structure("m {a n {1 01}}", ["a", "1", "01"])
    assert structure.classes == ("a", "1", "01")


def test_missing_classes_are_counted():
    with pytest.raises(StructureError, match="the class 2 and 7 more is missing"):
        parse_structure("m {0 1}", range(10))


def test_long_lines_are_cut_around_the_fault():
    with pytest.raises(StructureError) as caught:
        parse_structure("m {" + "x" * 500 + " @ " + "y" * 500 + "}")
    _, shown, caret = str(caught.value).split("\n")
    assert len(shown) < 80
    assert shown[0] == shown[-1] == "…"
    assert shown[len(caret) - 1] == "@"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{" * 10**6, "is missing before this brace"),
        ("a{" * 10**6, f"at most {MAX_DEPTH} deep"),
        ("}" * 10**6, "no open brace"),
        ("7" * 10**7, f"at most {MAX_CHARACTERS} characters. Got 10000000"),
        ("7" * 4 * 10**6, "this is not a number"),
        ("a {" + "7" * 400 + " 1}", "this is not a number"),
        ("a " + "1 " * 2 * 10**6, "occurs twice"),
        ("a 0 / " + "1 " * 2 * 10**6, "occurs twice"),
        ("a {" + "1 " * 2 * 10**6, "occurs twice"),
        ('"' * (10**6 + 1), "at two places|not closed|complete before"),
        ("\x1b[31m" * 10**5, "is not allowed here"),
        ("# \n" * 10**6, "ends in the middle"),
        ("a 0 / " + "1" * 10**6 + "; {x y}", "names children of its node"),
        ("\\" * 10**6, "is not allowed here"),
        ("\ud800", "is not allowed here"),
        ("a {" + "/" * 10**6, "is not allowed here"),
        ("a 0/1;" * 20000 + "{" + " ".join(map(str, range(20000))) + "}", "too large"),
        (
            "".join(f"a{{{i} " for i in range(9000))
            + "b 0 / 1; {"
            + " ".join(map(str, range(9000, 40000)))
            + "}" * 9001,
            "too large|not a code",
        ),
    ],
    ids=lambda value: repr(value[:12]),
)
def test_hostile_text_is_refused(text, message):
    with pytest.raises(StructureError, match=message):
        parse_structure(text)


def test_what_is_not_text_is_refused():
    with pytest.raises(StructureError, match=r"must be a string\. Got bytes"):
        parse_structure(b"m {0 1}")
    with pytest.raises(ValueError, match="'dialect' parameter must be one of"):
        parse_structure("m {0 1}", dialect="latin")


def test_formatting_is_pleasant():
    tree = two_children(from_code(one_vs_rest(3), ["corn", "wheat", "red soil"]), "water")
    assert format_structure(name_problems(tree, "land")) == (
        "land {\n"
        "  land.00-00 1 2 / 0;\n"
        "  land.00-01 0 2 / 1;\n"
        "  land.00-02 0 1 / 2;\n"
        '  {corn wheat "red soil"}\n'
        "  water\n"
        "}"
    )


def test_a_reversed_pair_is_written_as_a_problem():
    structure = Structure([[1], [-1]], ["a", "b"])
    assert format_structure(structure) == '"" 1 / 0;\n{a b}'
    assert parse_structure(format_structure(structure)) == structure


def test_long_lines_are_wrapped():
    structure = from_code(one_vs_rest(100))
    text = format_structure(structure)
    assert max(map(len, text.splitlines())) <= 88
    assert parse_structure(text) == structure


@pytest.mark.parametrize(
    "label",
    [
        "",
        " ",
        "True",
        "7",
        "7a",
        "-",
        "a b",
        'a"b',
        "a\\b",
        "a\nb",
        "\x00",
        "#",
        "é",
        "a/b",
        "/",
        "{",
    ],
)
def test_every_string_can_be_a_label(label):
    structure = two_children(two_children(label, 1), two_children("other", -2))
    assert parse_structure(format_structure(structure)) == structure


@pytest.mark.parametrize(
    "structure", [chain(range(1000)), balanced(range(1000)), from_code(one_vs_one(60))], ids=repr
)
def test_large_structures_come_back(structure):
    assert parse_structure(format_structure(structure)) == structure


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('"a" { "b" {0 1} "." {2 3} }', ["a", "b", "b"]),  # the last one at the same depth
        ('"a" { "." {0 1} 2 }', ["a", "a"]),  # or else the parent's
        ('"." {0 1}', [None]),  # or else the default
        ('"a" 0 / 1; "." 0 / 2; {0 1 2}', ["a", "a"]),
        ('"a" { "" {0 1} "." {2 3} }', ["a", None, None]),  # the default is the last one as well
        ('"a" { "b" { "c" {0 1} 2 } "d" { "." {3 4} 5 } }', ["a", "b", "c", "d", "c"]),
        ('"a" { "b" { "c" {0 1} 2 } "." {3 4} }', ["a", "b", "c", "b"]),  # after a node closes
        (
            '"a" { "b" { "c" { "e" {0 1} 2 } 3 } "d" { "f" { "." {4 5} 6 } 7 } }',
            ["a", "b", "c", "e", "d", "f", "f"],  # libAGF forgets what lies two levels below a node
        ),
    ],
)
def test_a_full_stop_repeats_options(text, options):
    structure = parse_structure(text, dialect="libagf")
    assert [p.options for p in structure.problems] == options
