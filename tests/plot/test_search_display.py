import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from sklearn.linear_model import LogisticRegression

from polychotomy import CodeClassifier, GreedySearchCV
from polychotomy.plot import SearchPathDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_each_parameter_has_a_panel_with_its_attempts_in_order():
    parameters, positions = ["C", "C", "gamma", "C", "gamma"], [4, 1, 2, 2, 0.5]
    scores, best = [0.7, 0.8, 0.85, 0.9, 0.95], {"C": 2, "gamma": 0.5}
    display = SearchPathDisplay(parameters, positions, scores, best).plot()
    first, second = display.axes_
    assert [ax.get_xlabel() for ax in display.axes_] == ["scale of C", "scale of gamma"]
    assert [ax.get_ylabel() for ax in display.axes_] == ["mean score", ""]
    assert [ax.get_xscale() for ax in display.axes_] == ["log", "log"]
    path, chosen = first.lines
    np.testing.assert_array_equal(path.get_xydata(), [[1, 0.8], [2, 0.9], [4, 0.7]])
    np.testing.assert_array_equal(chosen.get_xydata(), [[2, 0.9]])
    assert not same_color(path.get_color(), chosen.get_color())
    path, chosen = second.lines
    np.testing.assert_array_equal(path.get_xydata(), [[0.5, 0.95], [2, 0.85]])
    np.testing.assert_array_equal(chosen.get_xydata(), [[0.5, 0.95]])
    assert first.get_shared_y_axes().joined(first, second)
    display.figure_.canvas.draw()


def test_the_path_of_a_search(iris):
    model = CodeClassifier(LogisticRegression(), "one_vs_one", probability=None)
    search = GreedySearchCV(model, cv=3, rounds=1).fit(*iris)
    display = SearchPathDisplay.from_estimator(search)
    ((ax,), (name,)) = display.axes_, display.best
    path, chosen = ax.lines
    assert len(path.get_xdata()) == len(search.path_)
    assert path.get_ydata().max() == pytest.approx(search.best_score_)
    assert chosen.get_ydata()[0] == pytest.approx(search.best_score_)
    assert search.scales_[name].given(chosen.get_xdata()[0]) == search.best_params_[name]
