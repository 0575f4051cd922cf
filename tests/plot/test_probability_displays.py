from functools import partial

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex, to_rgba

from polychotomy import CodeClassifier
from polychotomy.assess import reliability
from polychotomy.plot import (
    ProbabilityTriangleDisplay,
    RejectCurveDisplay,
    ReliabilityDisplay,
)
from polychotomy.plot._palette import CLASSES


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=300)
    X = np.eye(3)[y] + rng.normal(scale=0.7, size=(300, 3))
    names = np.array(["oak", "elm$", "ash"])[y]
    return CodeClassifier().fit(X, names), X, names


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_reliability(fitted):
    classifier, X, y = fitted
    display = ReliabilityDisplay.from_estimator(classifier, X, y)
    assert len(display.ax_.lines) == 4  # three classes and the diagonal
    bins = reliability(y, classifier.predict_proba(X), n_bins=10, classes=classifier.classes_)
    labels = []
    for line, curve, expected in zip(display.ax_.lines[1:], display.classes, bins, strict=True):
        np.testing.assert_allclose(line.get_ydata(), curve.observed)
        np.testing.assert_allclose(line.get_xdata(), expected.predicted)
        labels.append(f"({expected.error:.3f})")
    assert display.ax_.lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]
    legend = display.ax_.get_legend()
    names = ["ash", r"elm\$", "oak"]
    assert [text.get_text() for text in legend.get_texts()] == [
        " ".join(each) for each in zip(names, labels, strict=True)
    ]
    assert legend.get_title().get_text() == "class (mean gap)"
    assert len({to_hex(line.get_color()) for line in display.ax_.lines}) == 4
    display.figure_.canvas.draw()


def test_reliability_of_predictions_numbers_the_classes(fitted):
    classifier, X, y = fitted
    p, indices = classifier.predict_proba(X), np.searchsorted(classifier.classes_, y)
    display = ReliabilityDisplay.from_predictions(indices, p, n_bins=4)
    assert [len(curve.observed) for curve in display.classes] == [4, 4, 4]
    names = [text.get_text().split()[0] for text in display.ax_.get_legend().get_texts()]
    assert names == ["0", "1", "2"]


def test_displays_draw_where_they_are_told(fitted):
    classifier, X, y = fitted
    p = classifier.predict_proba(X)
    for draw in (
        partial(ReliabilityDisplay.from_estimator, classifier, X, y),
        partial(ReliabilityDisplay.from_predictions, y, p, classes=classifier.classes_),
        partial(RejectCurveDisplay.from_estimator, classifier, X, y),
        partial(ProbabilityTriangleDisplay.from_estimator, classifier, X, y),
    ):
        _, ax = plt.subplots()
        assert draw(ax=ax).ax_ is ax
        assert draw().ax_ is not ax


def test_reject_curve(fitted):
    classifier, X, y = fitted
    _, ax = plt.subplots()
    display = RejectCurveDisplay.from_estimator(classifier, X, y, name="pairs", ax=ax)
    assert display.ax_ is ax
    (line,) = ax.lines
    assert line.get_ydata()[-1] == pytest.approx(np.mean(classifier.predict(X) != y), abs=0.02)
    np.testing.assert_allclose(line.get_xdata(), 1 - display.curve.coverage)
    np.testing.assert_allclose(line.get_ydata(), display.curve.error)
    assert (ax.get_xlim(), ax.get_ylim()[0]) == ((0, 1), 0)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["pairs"]
    unnamed = RejectCurveDisplay.from_estimator(classifier, X, y)
    assert unnamed.ax_.get_legend() is None


def test_the_triangle(fitted):
    classifier, X, y = fitted
    display = ProbabilityTriangleDisplay.from_estimator(classifier, X, y)
    points = display.ax_.collections[0].get_offsets()
    p = classifier.predict_proba(X)
    np.testing.assert_allclose(points[:, 0], p[:, 1] + p[:, 2] / 2)
    np.testing.assert_allclose(points[:, 1], p[:, 2] * np.sqrt(3) / 2)
    colours = [to_rgba(CLASSES[c], 0.7) for c in np.searchsorted(classifier.classes_, y)]
    np.testing.assert_allclose(display.ax_.collections[0].get_facecolors(), colours)
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    np.testing.assert_allclose([text.xy for text in display.ax_.texts], corners)
    assert [text.get_text() for text in display.ax_.texts] == ["ash", r"elm\$", "oak"]
    assert [np.sign(text.xyann[1]) for text in display.ax_.texts] == [-1, -1, 1]  # outside
    outline, *equal = display.ax_.lines
    np.testing.assert_allclose(outline.get_xydata(), corners[[0, 1, 2, 0]])
    for line, edge in zip(equal, [[0, 1], [1, 2], [2, 0]], strict=True):
        ends = [corners.mean(axis=0), corners[edge].mean(axis=0)]
        np.testing.assert_allclose(line.get_xydata(), ends)
    plain = ProbabilityTriangleDisplay(p).plot()
    assert len(np.unique(plain.ax_.collections[0].get_facecolors(), axis=0)) == 1
    display.figure_.canvas.draw()
    with pytest.raises(ValueError, match="three classes"):
        ProbabilityTriangleDisplay([[0.5, 0.5]])
