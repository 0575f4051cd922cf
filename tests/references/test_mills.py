"""The control files printed by Mills (2023), and those that come with his library libAGF."""

import numpy as np
import pytest

from polychotomy import format_structure, make_code, parse_structure
from polychotomy.errors import StructureError
from polychotomy.structures import balanced, flatten, linkage, name_problems, nest, two_children

ONE_VS_ONE = """
model01 0 / 1;
model02 0 / 2;
model03 0 / 3;
model12 1 / 2;
model13 1 / 3;
model23 2 / 3;
{0 1 2 3}
"""

ONE_VS_REST = """
model0 1 2 3 / 0;
model1 0 2 3 / 1;
model2 0 1 3 / 2;
model3 0 1 2 / 3;
{0 1 2 3}
"""

HIERARCHICAL = """
TreeVsField {
  EvergreenVsDeciduous {0 1}
  CornVsWheat {2 3}
}
"""

COMBINED = """
TREESvsFIELD 0 / 1;
TREESvsWATER 0 / 2;
FIELDvsWATER3 1 / 2;
{
  DECIDUOUSvsEVERGREEN 0 / 1;
  DECIDUOUSvsSHRUB 0 / 2;
  EVERGREENvsSHRUB 1 / 2;
  {1 2 3}
  CORNvsWHEAT 0 / 1;
  CORNvsLEGUME 0 / 2;
  WHEATvsLEGUME 1 / 2;
  {4 5 6}
  FRESHvsSALT 0 / 1;
  FRESHvsMARSH 0 / 2;
  SALTvsMARSH 1 / 2;
  {7 8 9}
}
"""

SHUTTLE_BALANCED = """
shuttle_hier {
  shuttle_hier.00 {
    0
    shuttle_hier.00.01 {
      1
      2
    }
  }
  shuttle_hier.01 {
    shuttle_hier.01.00 {
      3
      4
    }
    shuttle_hier.01.01 {
      5
      6
    }
  }
}
"""

# The paper's text breaks off after the innermost pair; its translation to a flat code has the rest.
SHUTTLE_EMPIRICAL = """
shuttle_emp {
  shuttle_emp.00 {
    shuttle_emp.00.00 {
      shuttle_emp.00.00.00 {
        shuttle_emp.00.00.00.00 {
          shuttle_emp.00.00.00.00.00 {
            2
            1
          }
          6
        }
        5
      }
      3
    }
    4
  }
  0
}
"""

SHUTTLE_FLAT = """
shuttle_emp 0 1 2 3 4 5 / 6;
shuttle_emp.00 0 1 2 3 4 / 5;
shuttle_emp.00.00 0 1 2 3 / 4;
shuttle_emp.00.00.00 0 1 2 / 3;
shuttle_emp.00.00.00.00 0 1 / 2;
shuttle_emp.00.00.00.00.00 0 / 1;
{ 2 1 6 5 3 4 0}
"""

SHUTTLE_ADJACENT = """
shuttle_adj-00 0 / 1 2 3 4 5 6;
shuttle_adj-00 0 1 / 2 3 4 5 6;
shuttle_adj-00 0 1 2 / 3 4 5 6;
shuttle_adj-00 0 1 2 3 / 4 5 6;
shuttle_adj-00 0 1 2 3 4 / 5 6;
shuttle_adj-00 0 1 2 3 4 5 / 6;
{0 1 2 3 4 5 6}
"""

SEGMENT_EMPIRICAL = """
segment_emp {
  segment_emp.00 {
    segment_emp.00.00 {
      segment_emp.00.00.00 {
        segment_emp.00.00.00.00 {
          segment_emp.00.00.00.00.00 {
            PATH
            BRICKFACE
          }
          GRASS
        }
        WINDOW
      }
      SKY
    }
    FOLIAGE
  }
  CEMENT
}
"""

# Figure 7, with the quotes that its labels need.
SATELLITE_EMPIRICAL = """
sat_emp {
  sat_emp.00 {
    sat_emp.00.00 {
      sat_emp.00.00.00 {
        sat_emp.00.00.00.00 {
          "VERY DAMP GREY SOIL"
          "DAMP GREY SOIL"
        }
        "RED SOIL"
      }
      "GREY SOIL"
    }
    STUBBLE
  }
  "COTTON CROP"
}
"""

PRINTED = {
    "one-vs-one": (ONE_VS_ONE, 4, 6, 1),
    "one-vs-rest": (ONE_VS_REST, 4, 4, 1),
    "hierarchical": (HIERARCHICAL, 4, 3, 2),
    "combined": (COMBINED, 9, 12, 2),
    "shuttle balanced": (SHUTTLE_BALANCED, 7, 6, 3),
    "shuttle empirical": (SHUTTLE_EMPIRICAL, 7, 6, 6),
    "shuttle flat": (SHUTTLE_FLAT, 7, 6, 1),
    "shuttle adjacent": (SHUTTLE_ADJACENT, 7, 6, 1),
    "segment empirical": (SEGMENT_EMPIRICAL, 7, 6, 6),
    "satellite empirical": (SATELLITE_EMPIRICAL, 6, 5, 5),
}


@pytest.mark.parametrize(("text", "classes", "problems", "depth"), PRINTED.values(), ids=PRINTED)
def test_every_printed_control_file_is_read(text, classes, problems, depth):
    structure = parse_structure(text)
    assert (structure.n_classes, structure.n_problems, structure.depth) == (
        classes,
        problems,
        depth,
    )
    assert parse_structure(format_structure(structure)) == structure


def test_section_3_matrices():
    # Mills' matrices are problems × classes.
    one_vs_one = parse_structure(ONE_VS_ONE).code.matrix.T
    np.testing.assert_array_equal(
        one_vs_one,
        [
            [-1, 1, 0, 0],
            [-1, 0, 1, 0],
            [-1, 0, 0, 1],
            [0, -1, 1, 0],
            [0, -1, 0, 1],
            [0, 0, -1, 1],
        ],
    )
    one_vs_rest = parse_structure(ONE_VS_REST).code
    assert one_vs_rest == make_code("one_vs_rest", 4)


def test_section_5_matrix():
    np.testing.assert_array_equal(
        flatten(balanced(range(8))).code.matrix.T,
        [
            [-1, -1, -1, -1, 1, 1, 1, 1],
            [-1, -1, 1, 1, 0, 0, 0, 0],
            [-1, 1, 0, 0, 0, 0, 0, 0],
            [0, 0, -1, 1, 0, 0, 0, 0],
            [0, 0, 0, 0, -1, -1, 1, 1],
            [0, 0, 0, 0, -1, 1, 0, 0],
            [0, 0, 0, 0, 0, 0, -1, 1],
        ],
    )


def test_the_balanced_tree_of_shuttle():
    assert name_problems(balanced(range(7)), "shuttle_hier") == parse_structure(SHUTTLE_BALANCED)


def test_the_translation_of_shuttles_empirical_tree():
    nested, flat = parse_structure(SHUTTLE_EMPIRICAL), parse_structure(SHUTTLE_FLAT)
    assert flatten(nested) == flat
    assert nest(flat) == nested


def test_the_adjacent_code_of_shuttle():
    structure = parse_structure(SHUTTLE_ADJACENT)
    assert structure.code == make_code("adjacent", 7)


def test_a_land_of_two_pairs():
    expected = two_children(two_children(0, 1), two_children(2, 3))
    nested = parse_structure(HIERARCHICAL)
    assert nested.classes == expected.classes
    assert flatten(nested).code == flatten(expected).code


def test_labels_with_spaces_need_quotes():
    for text in (SATELLITE_EMPIRICAL.replace('"', ""), "sat {COTTON CROP STUBBLE}"):
        with pytest.raises(StructureError, match="labels with spaces need double quotes"):
            parse_structure(text)


# libAGF's own examples: .mbt and .txt are for training, .mbc name trained models.
LIBAGF = {
    "Landsat/control1.mbt": ('"" 0 / 1 2;\n"" 0 2 / 1;\n{0 1 2}\n', 3, 2, 1),
    "Landsat/control2.txt": ('"" {1 "" {0 2}}\n', 3, 2, 2),
    "humidity/control.txt": (
        "".join(
            f'"" {" ".join(map(str, range(c)))} / {" ".join(map(str, range(c, 10)))};\n'
            for c in range(1, 10)
        )
        + "{0 1 2 3 4 5 6 7 8 9 }\n",
        10,
        9,
        1,
    ),
    "humidity/control_special.mbc": (
        "borders3-03 {\n  borders3-00 {\n    borders3-01 {\n      0\n      1\n    }\n"
        "    borders3-02 {\n      2\n      3\n    }\n  }\n  borders3-05 {\n    borders3-04 {\n"
        "      4\n      5\n    }\n    borders3-06 {\n      6\n      7\n    }\n  }\n}\n",
        8,
        7,
        3,
    ),
    "humidity/control_special2.mbc": (
        "borders2.00.00\t0 / 1 2 3 4 5 6 7;\nborders2.00 \t0 1 / 2 3 4 5 6 7;\n"
        "borders2.00.01\t0 1 2 / 3 4 5 6 7;\nborders2\t0 1 2 3 / 4 5 6 7;\n"
        "borders2.01.00\t0 1 2 3 4 / 5 6 7;\nborders2.01\t0 1 2 3 4 5 / 6 7;\n"
        "borders2.01.01\t0 1 2 3 4 5 6 / 7;\n{\n  0\n  1\n  2\n  3\n  4\n  5\n  6\n  7\n}\n",
        8,
        7,
        1,
    ),
    "humidity/sq_control12.mbt": (
        '"-k 200 -W 10" 0 / 1;\n"-k 200 -W 10" 2 / 3;\n"-k 300 -W 20" 0 1 / 2 3;\n'
        '"-k 300 -W 20" 4 / 5;\n"-k 200 -W 10" 6 / 7;\n"-k 200 -W 10" 4 5 / 6 7;\n'
        '"-k 400 -W 40" 0 1 2 3 / 4 5 6 7;\n{0 1 2 3 4 5 6 7}\n',
        8,
        7,
        1,
    ),
    "humidity/sq_control2a.txt": (
        '"" {\n  "" {\n    "" {\n      "" {\n        "" {\n          7\n          6\n        }\n'
        '        5\n      }\n      "" {\n        4\n        3\n      }\n    }\n    "" {\n      2\n'
        "      1\n    }\n  }\n  0\n}\n",
        8,
        7,
        5,
    ),
    "humidity/sq_control7.mbt": (
        '"" 0 1 2 5 6 7 / 3 4;\n"" 1 2 3 5 / 0 4 6 7;\n"" 2 6 / 0 1 3 4 5 7;\n'
        '"" 0 1 / 2 3 4 5 6 7;\n"" 5 7 / 0 1 2 3 4 6;\n"" 0 2 4 5 / 1 3 6 7;\n'
        '"" 1 4 5 6 / 0 2 3 7;\n{ 0 1 2 3 4 5 6 7}\n\n',
        8,
        7,
        1,
    ),
}


@pytest.mark.parametrize(("text", "classes", "problems", "depth"), LIBAGF.values(), ids=LIBAGF)
def test_libagfs_examples_are_read_and_written(text, classes, problems, depth):
    structure = parse_structure(text, dialect="libagf")
    assert (structure.n_classes, structure.n_problems, structure.depth) == (
        classes,
        problems,
        depth,
    )
    written = format_structure(structure, dialect="libagf")
    assert parse_structure(written, dialect="libagf") == structure
    assert "".join(written.split()) == "".join(text.split())


def test_a_flat_tree_of_libagf_is_nested():
    structure = nest(parse_structure(LIBAGF["humidity/sq_control12.mbt"][0], dialect="libagf"))
    assert structure.depth == 3
    assert flatten(structure).code.n_problems == 7
    assert structure.options == ("-k 400 -W 40",)


def test_model_files_in_folders_are_names():
    structure = parse_structure("sat/sat_emp {\n 0\n sat/sat_emp.01 {1 2}\n}", dialect="libagf")
    assert structure.names == ("sat/sat_emp",)


def test_direct_classifiers_cannot_be_read():
    text = '"-W 1.5 -k 200 -s 750" {\n  0\n  "-W 1.5" A {1 2 5 6}\n}\n'
    with pytest.raises(StructureError, match=r"line 3, column 3: .*direct classifiers"):
        parse_structure(text, dialect="libagf")


def test_libagfs_strings_have_no_escapes():
    structure = parse_structure(r'"C:\new" {0 1}', dialect="libagf")
    assert structure.options == (r"C:\new",)


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (two_children("a", "b"), "labels are integers from 0 on. Got the class 'a'"),
        (two_children(-1, 1), "Got the class -1"),
        (parse_structure('m { "C=1" {0 1} 2 }'), "Got names for 1 of 2 problems"),
        (parse_structure('"a\\"b" {0 1}'), "cannot contain quotation marks"),
        (parse_structure('"." {0 1}'), "or be a full stop"),
    ],
)
def test_what_libagf_cannot_read_is_not_written(structure, message):
    with pytest.raises(StructureError, match=message):
        format_structure(structure, dialect="libagf")


@pytest.mark.parametrize("text", ["m {a b}", 'm {"1" 2}', "m {-1 2}", "m {1.5 2}"])
def test_libagfs_labels_are_integers(text):
    with pytest.raises(StructureError, match="classes are integers in libAGF's files"):
        parse_structure(text, dialect="libagf")


def test_the_empirical_tree_of_urban(shared_data):
    """With all samples, standardised, it is the tree that comes with libAGF."""
    X, y = shared_data("urban")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    structure = linkage(X, y)
    expected = parse_structure(
        "a {b {c {d {e {f {g {soil grass} tree} h {shadow asphalt}} car} pool} building} concrete}"
    )
    assert flatten(structure).code == flatten(expected).code
    assert structure.classes == expected.classes
