import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from polychotomy import CodeClassifier, make_code

X = np.arange(24.0).reshape(12, 2) % 7
Y = np.repeat([0, 1, 2], 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": LinearRegression()}, "must be a classifier instance.*LinearRegression"),
        ({"estimator": LinearRegression()}, "predicts numbers, not sides.*take RidgeClassifier"),
        ({"estimator": SVC(), "cv": []}, "'cv' parameter must give at least one fold. Got none"),
        ({"estimator": SVC(), "calibration": "none"}, "predict_proba, and SVC has none"),
        ({"estimator": StandardScaler()}, "must be a classifier instance"),
        ({"estimator": KMeans()}, "must be a classifier instance"),
        ({"estimator": SVC}, "Got the class SVC instead"),
        ({"estimator": "svm"}, "Got 'svm' instead"),
        (
            {"estimator": VotingClassifier([("a", SVC())])},
            "must have decision_function or predict_proba",
        ),
        ({"code": "one_vs_all"}, "'code' parameter must be one of .*Did you mean 'one_vs_"),
        ({"code": make_code("one_vs_rest", 4)}, "4 rows for the 3 classes.*missing from y"),
        ({"code": make_code("one_vs_one", 2)}, "2 rows for the 3 classes.*does not know"),
        ({"code": lambda k: make_code("one_vs_rest", k + 1)}, "4 rows for the 3 classes"),
        ({"code": [[1, 1], [-1, 1], [0, 0]]}, "Class 2 has only zeros"),
        ({"code": 7}, "must be a name, a Code, a matrix.*'one_vs_rest'"),
        ({"code": lambda k: "bch"}, "must be a name, a Code, a matrix"),
        ({"code": "orthogonal"}, "at least 4 classes"),
        ({"decoder": "hamnig"}, r"'decoder' parameter must be one of .*Did you mean 'hamming'\?"),
        ({"decoder": 3}, "'decoder' parameter must be one of"),
        ({"decoder": "ddag", "code": "one_vs_rest"}, "needs a one-vs-one code"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_trained(options, message):
    classifier = CodeClassifier(**options)
    with pytest.raises(ValueError, match=message):
        classifier.fit(X, Y)
    assert not hasattr(classifier, "estimators_")
    assert not hasattr(classifier, "classes_")


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X, np.zeros(12, dtype=int), r"at least two classes. Got 1 class \(0\)"),
        (X, np.linspace(0, 1, 12), "continuous"),
        (X, Y[:5], "inconsistent numbers of samples"),
        (X[:0], Y[:0], "0 sample"),
        (X.ravel(), Y, "2D array"),
        (np.where(X == 3, np.nan, X), Y, "NaN"),
        (np.where(X == 3, np.inf, X), Y, "infinity"),
        (X, np.where(Y == 1, np.nan, Y), "NaN"),
        (X, np.where(Y == 1, None, "a"), "of one kind|Unknown label type|NaN"),
    ],
)
def test_bad_data_are_refused(x, y, message):
    classifier = CodeClassifier(LogisticRegression())
    with pytest.raises(ValueError, match=message):
        classifier.fit(x, y)
    assert not hasattr(classifier, "estimators_")


def test_prediction_needs_training_and_the_same_features():
    classifier = CodeClassifier()
    for method in ("predict", "decision_function", "binary_outputs", "predict_or_reject"):
        with pytest.raises(NotFittedError):
            getattr(classifier, method)(X)
    classifier.fit(X, Y)
    with pytest.raises(ValueError, match="expecting 2 features"):
        classifier.predict(X[:, :1])
