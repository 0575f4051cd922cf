import numpy as np
import pytest
from matplotlib import pyplot as plt

from polychotomy import CodeClassifier
from polychotomy.plot import (
    ProbabilityTriangleDisplay,
    RejectCurveDisplay,
    ReliabilityDisplay,
)


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
    for line, curve in zip(display.ax_.lines[1:], display.classes, strict=True):
        np.testing.assert_allclose(line.get_ydata(), curve.observed)
    display.figure_.canvas.draw()


def test_reject_curve(fitted):
    classifier, X, y = fitted
    _, ax = plt.subplots()
    display = RejectCurveDisplay.from_estimator(classifier, X, y, name="pairs", ax=ax)
    assert display.ax_ is ax
    (line,) = ax.lines
    assert line.get_ydata()[-1] == pytest.approx(np.mean(classifier.predict(X) != y), abs=0.02)


def test_the_triangle(fitted):
    classifier, X, y = fitted
    display = ProbabilityTriangleDisplay.from_estimator(classifier, X, y)
    points = display.ax_.collections[0].get_offsets()
    p = classifier.predict_proba(X)
    np.testing.assert_allclose(points[:, 0], p[:, 1] + p[:, 2] / 2)
    np.testing.assert_allclose(points[:, 1], p[:, 2] * np.sqrt(3) / 2)
    display.figure_.canvas.draw()
    with pytest.raises(ValueError, match="three classes"):
        ProbabilityTriangleDisplay([[0.5, 0.5]])
