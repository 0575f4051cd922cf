import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from sklearn.exceptions import NotFittedError

from polychotomy import CodeClassifier, make_code
from polychotomy.plot import CodeDisplay
from polychotomy.plot._palette import MINUS, NEITHER, PLUS


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def _labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_a_code_with_names():
    display = CodeDisplay(
        make_code("one_vs_one", 3),
        class_names=["oak", "elm", "$ash"],
        problem_names=["first", "second", "x" * 100],
    ).plot()
    assert _labels(display.ax_.yaxis) == ["oak", "elm", r"\$ash"]
    assert _labels(display.ax_.xaxis)[:2] == ["first", "second"]
    assert len(_labels(display.ax_.xaxis)[2]) == 40
    drawn = display.ax_.collections[0].get_array()
    np.testing.assert_array_equal(np.asarray(drawn).reshape(3, 3), display.code.matrix)
    display.figure_.canvas.draw()
    mesh = display.ax_.collections[0]
    of_sign = dict(zip([-1, 0, 1], [MINUS, NEITHER, PLUS], strict=True))
    expected = [to_rgba(of_sign[sign]) for sign in display.code.matrix.ravel()]
    np.testing.assert_allclose(mesh.get_facecolors(), expected)
    np.testing.assert_allclose(display.ax_.get_yticks(), [0.5, 1.5, 2.5])
    np.testing.assert_allclose(display.ax_.get_xticks(), [0.5, 1.5, 2.5])


def test_it_draws_where_it_is_told():
    _, ax = plt.subplots()
    assert CodeDisplay(make_code("bch", 4)).plot(ax=ax).ax_ is ax


def test_a_figure_grows_with_the_code():
    small, large = (CodeDisplay(make_code("one_vs_one", k)).plot().figure_ for k in (4, 8))
    assert (large.get_size_inches() > small.get_size_inches()).all()


def test_long_codes_are_drawn_without_problem_names():
    display = CodeDisplay(make_code("one_vs_one", 12)).plot()
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]  # class 0 on top
    assert len(display.ax_.get_xticks()) < 66


def test_from_estimator(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    display = CodeDisplay.from_estimator(CodeClassifier().fit(X, names[y]))
    assert _labels(display.ax_.yaxis) == list(names)
    assert _labels(display.ax_.xaxis)[0] == "setosa against versicolor"
    with pytest.raises(NotFittedError):
        CodeDisplay.from_estimator(CodeClassifier())


def test_the_number_of_names_must_fit():
    with pytest.raises(ValueError, match="'class_names' parameter must have 3 names"):
        CodeDisplay(make_code("one_vs_one", 3), class_names=["a", "b"])


def test_the_first_part_of_a_large_code_is_drawn():
    display = CodeDisplay(make_code("one_vs_rest", 20_000)).plot()
    assert display.ax_.get_title() == (
        "one_vs_rest: 20000 classes, 20000 problems (the first 200 and 1000)"
    )
    drawn = np.asarray(display.ax_.collections[0].get_array()).reshape(200, 1000)
    np.testing.assert_array_equal(drawn[:, :200], 2 * np.eye(200) - 1)
    assert _labels(display.ax_.yaxis)[-1] == "199"
