import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from polychotomy.learners import (
    Learner,
    TrainedProblem,
    check_learner,
    has_trusted_probabilities,
    minimised_loss,
)


class MySVC(SVC):
    pass


@pytest.mark.parametrize(
    ("estimator", "loss"),
    [
        (MySVC(), "hinge"),
        (NuSVC(), "hinge"),
        (LogisticRegressionCV(), "logistic"),
        (SGDClassifier(loss="squared_error"), "squared"),
        (SGDClassifier(loss="huber"), None),
        (GradientBoostingClassifier(loss="exponential"), "exponential"),
        (CalibratedClassifierCV(SVC()), None),  # has probabilities only
    ],
)
def test_known_losses(estimator, loss):
    assert minimised_loss(estimator) == loss


def boosting(package, name, **parameters):
    """Return an instance of a class of that name and package, which need not be installed."""
    made = type(name, (), {"__module__": f"{package}.sklearn"})()
    vars(made).update(parameters)
    return made


class MyLogistic(LogisticRegression):
    pass


@pytest.mark.parametrize(
    ("estimator", "trusted"),
    [
        (MyLogistic(), True),
        (make_pipeline(StandardScaler(), MLPClassifier()), True),
        (GridSearchCV(LogisticRegression(), {"C": [1]}), True),
        (FixedThresholdClassifier(LogisticRegression()), True),
        (FixedThresholdClassifier(GaussianNB()), False),
        (TunedThresholdClassifierCV(LogisticRegression()), True),
        (TunedThresholdClassifierCV(GaussianNB()), False),
        (GradientBoostingClassifier(), True),
        (GradientBoostingClassifier(loss="exponential"), False),
        (SGDClassifier(loss="log_loss"), True),
        (SGDClassifier(loss="modified_huber"), False),
        (CalibratedClassifierCV(SVC()), True),
        (SVC(probability=True), False),
        (GaussianNB(), False),
        (boosting("lightgbm", "LGBMClassifier", objective=None), True),
        (boosting("lightgbm", "LGBMClassifier", objective="l2"), False),
        (boosting("xgboost", "XGBClassifier", objective="binary:logistic"), True),
        (boosting("xgboost", "XGBClassifier", objective="binary:hinge"), False),
        (boosting("catboost", "CatBoostClassifier", loss_function="Logloss"), True),
        (boosting("elsewhere", "LGBMClassifier", objective=None), False),
    ],
)
def test_known_probabilities(estimator, trusted):
    assert has_trusted_probabilities(estimator) is trusted


def test_probabilities_of_a_fitted_search_are_those_of_what_it_found(iris):
    X, y = iris
    search = GridSearchCV(
        Pipeline([("last", GaussianNB())]), {"last": [LogisticRegression(max_iter=1000)]}
    )
    assert not has_trusted_probabilities(search)
    assert has_trusted_probabilities(search.fit(X, y))


def test_seeds_fill_in_what_is_unset():
    learner = Learner(BaggingClassifier(DecisionTreeClassifier(), random_state=7))
    one, again, other = (learner.fresh(seed) for seed in (1, 1, 2))
    assert one.random_state == 7
    assert one.estimator.random_state == again.estimator.random_state is not None
    assert one.estimator.random_state != other.estimator.random_state
    assert learner.fresh().estimator.random_state is None


def test_a_trained_problem_answers_in_three_ways(rng):
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, size=50)
    model = SVC(kernel="precomputed").fit((X @ X.T)[:20, :20], y[:20])
    problem = TrainedProblem(model, np.arange(20))
    margin = problem.outputs(X @ X.T, "margin")
    np.testing.assert_allclose(margin, model.decision_function((X @ X.T)[:, :20]))
    np.testing.assert_array_equal(problem.outputs(X @ X.T, "side"), np.where(margin > 0, 1, -1))
    forest = ExtraTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    problem = TrainedProblem(forest)
    np.testing.assert_allclose(problem.outputs(X, "probability"), forest.predict_proba(X)[:, 1])
    for kind, said in (("margin", 0), ("probability", 0.5), ("side", -1)):
        np.testing.assert_array_equal(TrainedProblem(None).outputs(X, kind), np.full(50, said))


class Odd:
    """Fits, but does not say what it is."""

    def fit(self, X, y):
        return self


@pytest.mark.parametrize("learner", [SVC, object(), "svm", StandardScaler(), Odd()])
def test_learners_are_classifiers(learner):
    with pytest.raises(ValueError, match="'estimator' parameter must be a classifier"):
        check_learner(learner)
