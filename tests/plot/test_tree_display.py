from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from polychotomy import CodeClassifier, TreeClassifier, make_code, parse_structure
from polychotomy.plot import TreeDisplay
from polychotomy.structures import balanced, chain, from_code, two_children


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def _labels(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def _lines(display):
    return [line.tolist() for line in display.ax_.collections[0].get_segments()]


def test_a_tree_with_counts_and_errors():
    structure = parse_structure('forest {oak "C=1" {elm "$ash"}}')
    display = TreeDisplay(structure, class_counts=[3, 2, 1], node_errors=[0.25, 0.5]).plot()
    assert _labels(display) == ["oak (3)", "elm (2)", r"\$ash (1)"]
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == ["forest 25.0%", "C=1 50.0%"]
    circles = display.ax_.collections[1]
    np.testing.assert_allclose(circles.get_offsets(), [[0, 0.75], [1, 1.5]])
    np.testing.assert_allclose(circles.get_array(), [0.25, 0.5])
    display.figure_.canvas.draw()


def test_lines_lead_from_nodes_to_children_and_classes():
    display = TreeDisplay(two_children("a", two_children("b", "c"))).plot()
    lines = _lines(display)
    for line in (
        [[0, 0], [0, 1.5]],  # the root, from its first to its last child
        [[0, 0], [2, 0]],  # to the class a, at the right edge
        [[0, 1.5], [1, 1.5]],  # to the node of b and c
        [[1, 1], [2, 1]],
        [[1, 2], [2, 2]],
    ):
        assert line in lines
    assert len(lines) == 6


def test_nodes_of_several_problems_are_squares():
    structure = two_children(from_code(make_code("one_vs_one", 3), "abc"), "d")
    display = TreeDisplay(structure).plot()
    _, circles, squares = display.ax_.collections
    assert len(circles.get_offsets()) == len(squares.get_offsets()) == 1
    assert [text.get_text() for text in display.ax_.texts] == ["3 problems"]


def test_from_an_estimator(digits):
    X, y = digits
    classifier = TreeClassifier(SVC(), probability=None).fit(X[:400], y[:400].astype(str))
    display = TreeDisplay.from_estimator(classifier, X[400:], y[400:].astype(str))
    np.testing.assert_array_equal(
        display.node_errors, classifier.node_errors(X[400:], y[400:].astype(str))
    )
    assert f"0 ({np.sum(y[:400] == 0)})" in _labels(display)
    assert TreeDisplay.from_estimator(classifier).node_errors is None
    display.figure_.canvas.draw()


def test_it_draws_where_it_is_told():
    _, ax = plt.subplots()
    assert TreeDisplay(balanced("abc")).plot(ax=ax).ax_ is ax


@pytest.mark.parametrize("structure", [balanced(range(300)), chain(range(150))], ids=repr)
def test_names_of_large_trees_do_not_touch(structure):
    display = TreeDisplay(structure, node_errors=np.full(structure.n_problems, 0.1)).plot()
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    for above, below in pairwise(boxes):
        assert above.y0 > below.y0
        assert above.y0 > below.y1 - 0.1 * below.height  # the boxes have some space inside
    assert not display.ax_.texts


def test_unknown_errors_are_left_out():
    display = TreeDisplay(balanced("ab"), node_errors=[np.nan]).plot()
    assert not display.ax_.texts
    display.figure_.canvas.draw()


def test_a_single_class_can_be_drawn():
    display = TreeDisplay(balanced("a")).plot()
    assert _labels(display) == ["a"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_counts": [1]}, "'class_counts' parameter must have 2 values. Got 1"),
        ({"node_errors": [0.1, 0.2]}, "'node_errors' parameter must have 1 values. Got 2"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TreeDisplay(balanced("ab"), **options)


def test_it_draws_in_a_figure_within_a_figure():
    _, right = plt.figure().subfigures(1, 2)
    display = TreeDisplay(balanced("abc")).plot(ax=right.subplots())
    assert display.figure_ is right


def test_estimators_must_be_fitted_and_data_complete(iris):
    with pytest.raises(ValueError, match="must be a fitted TreeClassifier"):
        TreeDisplay.from_estimator(CodeClassifier().fit(*iris))
    with pytest.raises(NotFittedError):
        TreeDisplay.from_estimator(TreeClassifier())
    with pytest.raises(ValueError, match="together"):
        TreeDisplay.from_estimator(TreeClassifier().fit(*iris), iris[0])
