import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegressionCV, SGDClassifier
from sklearn.svm import SVC, NuSVC

from polychotomy.learners import minimised_loss


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
