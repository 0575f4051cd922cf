import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import same_color, to_rgba
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from polychotomy import CodeClassifier, TreeClassifier
from polychotomy.plot import DecisionRegionDisplay
from polychotomy.plot._palette import CLASSES

NAMES = np.array(["ash", "elm", "oak"])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def plane():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=150)
    X = np.array([[1, 2.2], [2.5, 0.3], [0, 0]])[y] + rng.normal(scale=0.6, size=(150, 2))
    return X, NAMES[y]


def _fitted(plane, code):
    return CodeClassifier(LinearSVC(), code=code, probability=None).fit(*plane)


def test_the_question_marks_of_tax_and_duin(plane):
    """Figure 1, left: a zone that no class claims, and three that two classes claim."""
    classifier = _fitted(plane, "one_vs_rest")
    display = DecisionRegionDisplay.from_estimator(classifier, *plane, rule="votes")
    claims = (classifier.binary_outputs(display.marks) > 0).sum(axis=1)
    assert sorted(claims) == [0, 2, 2, 2]
    assert [text.get_text() for text in display.ax_.texts] == ["?"] * 4
    assert len(display.ax_.collections) == 3 + 3  # the lines of three problems, three classes
    display.figure_.canvas.draw()


def test_regions_are_what_the_classifier_says(plane):
    classifier = _fitted(plane, "one_vs_rest")
    options = {"rule": "votes", "resolution": 30}
    display = DecisionRegionDisplay.from_estimator(classifier, *plane, **options)
    grid = np.array([[x, y] for y in display.y for x in display.x])
    labels, accepted = classifier.predict_or_reject(grid)
    np.testing.assert_array_equal(NAMES[display.winners].ravel(), labels)
    np.testing.assert_array_equal(display.accepted.ravel(), accepted)
    image = display.ax_.images[0].get_array()
    grey = (image[..., 0] == image[..., 1]) & (image[..., 1] == image[..., 2])
    np.testing.assert_array_equal(grey, ~display.accepted)
    low, high = plane[0].min(axis=0), plane[0].max(axis=0)
    ends = np.array([display.x[[0, -1]], display.y[[0, -1]]]).T  # a tenth more on each side
    np.testing.assert_allclose(ends, [low - 0.1 * (high - low), high + 0.1 * (high - low)])
    half = (ends[1] - ends[0]) / 29 / 2  # a point of the grid is the middle of its pixel
    edges = np.array([ends[0] - half, ends[1] + half])
    np.testing.assert_allclose(display.ax_.images[0].get_extent(), edges.T.ravel())
    np.testing.assert_allclose([display.ax_.get_xlim(), display.ax_.get_ylim()], edges.T)
    kept = display.accepted & (display.winners == 1)
    np.testing.assert_allclose(image[kept][0], to_rgba(CLASSES[1], 0.35))
    for c, points in enumerate(display.ax_.collections[-3:]):
        np.testing.assert_allclose(points.get_offsets(), plane[0][plane[1] == NAMES[c]])
        assert same_color(points.get_facecolor(), CLASSES[c])


def test_a_cycle_of_pairs_is_marked():
    """Figure 1, right: a triangle where each pair votes for another class (?-III)."""
    x = y = np.linspace(-1, 1, 101)
    gx, gy = np.meshgrid(x, y)
    angles = 2 * np.pi * np.arange(3) / 3
    outputs = np.stack([gx * np.cos(a) + gy * np.sin(a) + 0.3 for a in angles], axis=2)
    accepted = ~(outputs > 0).all(axis=2)
    winners = outputs.argmin(axis=2)
    display = DecisionRegionDisplay(x, y, winners, accepted=accepted, outputs=outputs).plot()
    np.testing.assert_allclose(display.marks, [[0, 0]], atol=0.03)
    assert len(display.ax_.collections) == 3 + 3  # three lines, three classes in the legend


def test_without_a_rule_nothing_is_rejected(plane):
    _, ax = plt.subplots()
    classifier = _fitted(plane, "one_vs_one")
    display = DecisionRegionDisplay.from_estimator(classifier, plane[0], resolution=20, ax=ax)
    assert display.ax_ is ax
    assert display.accepted.all()
    assert display.marks.shape == (0, 2)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(NAMES)


def test_any_classifier_and_any_frame_can_be_drawn(plane):
    X, y = plane
    for frame in (pd.DataFrame(X, columns=["a", "$b"]), pl.DataFrame(X, schema=["a", "$b"])):
        classifier = LogisticRegression().fit(frame, y)
        display = DecisionRegionDisplay.from_estimator(classifier, frame, y, resolution=20)
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("a", r"\$b")
        display.figure_.canvas.draw()


def test_a_threshold_rejects(plane):
    classifier = TreeClassifier(LogisticRegression()).fit(*plane)
    options = {"rule": "probability", "threshold": 0.8, "resolution": 40}
    display = DecisionRegionDisplay.from_estimator(classifier, *plane, **options)
    assert 0 < display.accepted.mean() < 1


def test_many_classes_have_their_legend_beside_them():
    winners = np.arange(400).reshape(20, 20) // 20
    display = DecisionRegionDisplay(np.arange(20), np.arange(20), winners).plot()
    display.figure_.canvas.draw()
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.x0 >= display.ax_.get_window_extent().x1
    assert len(display.ax_.get_legend().get_texts()) == 20


def test_bad_input_is_refused(plane, iris):
    classifier = LogisticRegression().fit(*plane)
    with pytest.raises(ValueError, match="needs a classifier with predict_or_reject"):
        DecisionRegionDisplay.from_estimator(classifier, *plane, rule="votes")
    with pytest.raises(ValueError, match=r"X must have two features. Got shape \(150, 4\)"):
        DecisionRegionDisplay.from_estimator(CodeClassifier().fit(*iris), iris[0])
    with pytest.raises(ValueError, match="'resolution' parameter must be an int of at least 2"):
        DecisionRegionDisplay.from_estimator(classifier, *plane, resolution=1)
    with pytest.raises(ValueError, match=r"winners must have the grid's shape \(3, 2\)"):
        DecisionRegionDisplay([0, 1], [0, 1, 2], np.zeros((2, 3)))
