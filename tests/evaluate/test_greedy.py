import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from polychotomy import CodeClassifier, GreedySearchCV, SharedKernelSVC
from polychotomy.plot import SearchPathDisplay
from polychotomy.reductions import Scale


class Hill(ClassifierMixin, BaseEstimator):
    """Its score is a function of its parameters alone."""

    def __init__(self, a=1.0, b=1.0, top=(8.0, 0.25), flat=0.0):
        self.a = a
        self.b = b
        self.top = top
        self.flat = flat

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def score(self, X, y=None, sample_weight=None):
        far = abs(np.log2(self.a / self.top[0])) + abs(np.log2(self.b / self.top[1]))
        return -max(far, self.flat)


X, Y = np.zeros((20, 1)), np.arange(20) % 2


def test_it_climbs_one_parameter_after_the_other():
    search = GreedySearchCV(Hill(), {"a": 1.0, "b": 1.0}, cv=2, rounds=1).fit(X, Y)
    assert search.best_params_ == {"a": 8.0, "b": 0.25}
    assert search.best_score_ == 0
    a = [position for name, position, _ in search.path_ if name == "a"]
    # up to the top and three more, then down three from the start
    assert a == [1, 2, 4, 8, 16, 32, 64, 0.5, 0.25, 0.125]
    b = [position for name, position, _ in search.path_ if name == "b"]
    assert b == [1, 2, 4, 8, 0.5, 0.25, 0.125, 0.0625, 0.03125]
    # the start of b was tried with the best a already
    assert len(search.cv_results_["params"]) == len(search.path_) - 1
    assert search.best_estimator_.a == 8


@pytest.mark.parametrize(("simpler", "best"), [("smaller", 1 / 16), ("larger", 16.0)])
def test_ties_go_to_the_simpler_model(simpler, best):
    hill = Hill(top=(1.0, 1.0), flat=4.0)  # flat four steps to either side
    search = GreedySearchCV(hill, {"a": Scale(1.0, simpler)}, cv=2, patience=5).fit(X, Y)
    assert search.best_params_["a"] == best
    assert search.best_score_ == -4


def test_patience_and_factor():
    search = GreedySearchCV(Hill(), {"a": 1.0}, cv=2, factor=4, patience=1, rounds=1).fit(X, Y)
    assert [p for _, p, _ in search.path_] == [1, 4, 16, 0.25]


class Ridge(Hill):
    """The top is at a = b = 16, and the best a depends on b."""

    def score(self, X, y=None, sample_weight=None):
        a, b = np.log2(self.a), np.log2(self.b)
        return -0.5 * (a - b) ** 2 - 0.2 * (a + b - 8) ** 2


def test_further_rounds_go_on_from_the_best():
    def search(rounds):
        return GreedySearchCV(Ridge(), {"a": 1.0, "b": 1.0}, cv=2, rounds=rounds).fit(X, Y)

    assert search(1).best_params_ == {"a": 4.0, "b": 8.0}
    assert search(2).best_params_ == {"a": 16.0, "b": 16.0}
    assert search(9).best_params_ == {"a": 16.0, "b": 16.0}
    assert search(9).path_ == search(3).path_  # the third changes nothing


class MovingHill(Hill):
    """The top of a doubles with the samples of a class that it is trained on."""

    def fit(self, X, y):
        self.counts_ = np.bincount(y)
        return super().fit(X, y)

    def score(self, X, y=None, sample_weight=None):
        SEEN.append((*self.counts_, len(X)))
        return -abs(np.log2(self.a / self.counts_[0]))


SEEN = []


def test_a_search_goes_on_with_twice_and_four_times_the_samples():
    labels = np.repeat([0, 1], [800, 240])
    features = np.zeros((len(labels), 1))
    folds = StratifiedKFold(2, shuffle=True, random_state=3)
    options = {"cv": folds, "start_samples": 130, "random_state": 7}
    SEEN.clear()
    search = GreedySearchCV(MovingHill(), {"a": 25.0}, **options).fit(features, labels)
    # every fold has about half of 130, 260 and 520 samples, and its own whole test part
    for fold in (SEEN[::2], SEEN[1::2]):
        sizes = dict.fromkeys(fold)
        for (zeros, ones, tested), n in zip(sizes, [130, 260, 520], strict=True):
            assert abs(zeros - n * 10 / 26) < n / 13
            assert abs(ones - n * 3 / 26) < n / 13
            assert tested == 520
    assert search.best_params_ == {"a": 200.0}  # the top with 520 samples, beyond those before it
    assert search.best_index_ > len(search.cv_results_["params"]) - 5
    again = GreedySearchCV(MovingHill(), {"a": 25.0}, **options).fit(features, labels)
    assert again.path_ == search.path_
    np.testing.assert_array_equal(
        again.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
    )


def test_few_samples_are_searched_at_once():
    options = {"parameters": {"a": 1.0, "b": 1.0}, "cv": 2}
    whole = GreedySearchCV(Hill(), **options).fit(X, Y)
    assert GreedySearchCV(Hill(), **options, start_samples=20).fit(X, Y).path_ == whole.path_


def test_sigma_becomes_gamma():
    search = GreedySearchCV(SVC(), cv=2).fit(*_two_classes())
    assert list(search.scales_) == ["gamma", "C"]
    first = search.cv_results_["params"][0]
    assert first == {"gamma": 0.5, "C": 1.0}
    second = search.cv_results_["params"][1]
    assert second["gamma"] == pytest.approx(1 / 8)


def _two_classes():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    return rng.normal(size=(80, 3)) + y[:, np.newaxis], y


def test_scores_are_those_of_cross_validation(iris):
    features, labels = iris
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    model = CodeClassifier(SharedKernelSVC(), "one_vs_rest", probability=None)
    search = GreedySearchCV(model, cv=folds).fit(features, labels)
    assert list(search.scales_) == ["estimator__gamma", "estimator__C"]
    expected = cross_val_score(
        model.set_params(**search.best_params_), features, labels, cv=folds
    ).mean()
    assert search.best_score_ == pytest.approx(expected)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.score(features, labels) > 0.95


@pytest.mark.slow
def test_pipelines_and_any_parameters(iris):
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    search = GreedySearchCV(model, cv=3).fit(*iris)
    assert list(search.best_params_) == ["logisticregression__C"]
    again = GreedySearchCV(model, {"logisticregression__C": 0.5}, cv=3).fit(*iris)
    assert again.cv_results_["params"][0] == {"logisticregression__C": 0.5}


def test_the_path_can_be_drawn():
    search = GreedySearchCV(Hill(), {"a": 1.0, "b": 1.0}, cv=2).fit(X, Y)
    display = SearchPathDisplay.from_estimator(search)
    assert [ax.get_xlabel() for ax in display.axes_] == ["scale of a", "scale of b"]
    assert display.best == {"a": 8.0, "b": 0.25}
    display.figure_.canvas.draw()
    plt.close("all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parameters": {"z": 1.0}}, "'z' is none of them"),
        ({"parameters": {}}, "at least one parameter"),
        ({"parameters": {"a": 0}}, "start at a positive number"),
        ({"factor": 1}, "'factor' parameter must be above 1"),
        ({"patience": 0}, "'patience' parameter must be an int"),
        ({"rounds": 0}, "'rounds' parameter must be an int"),
        ({"rounds": 1.5}, "'rounds' parameter must be an int"),
        ({"start_samples": 0}, "'start_samples' parameter must be an int"),
        ({"parameters": None}, "no parameter gamma or C"),
    ],
)
def test_bad_parameters_are_explained(options, message):
    with pytest.raises(ValueError, match=message):
        GreedySearchCV(Hill(), **{"parameters": {"a": 1.0}, "cv": 2, **options}).fit(X, Y)


def test_scales_say_what_is_simpler():
    with pytest.raises(ValueError, match="'simpler' must be"):
        Scale(simpler="nicer")
