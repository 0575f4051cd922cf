import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

from polychotomy.learners import has_trusted_probabilities, minimised_loss


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
