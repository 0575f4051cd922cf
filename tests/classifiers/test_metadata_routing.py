"""Weights through scikit-learn's pipelines and searches, with metadata routing enabled."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polychotomy import (
    CodeClassifier,
    GreedySearchCV,
    KernelSBCClassifier,
    ReductionSearchCV,
    SharedKernelSVC,
    SingleBinaryClassifier,
    TreeClassifier,
)

X, y = load_iris(return_X_y=True)
WEIGHT = np.where(y == 1, 5.0, 0.2) * np.linspace(0.5, 1.5, len(y))
FOLDS = StratifiedKFold(3)


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def make(name):
    """Return a classifier whose learner asks for weights."""
    linear = LogisticRegression(max_iter=1000).set_fit_request(sample_weight=True)
    kernel = SharedKernelSVC(dtype="float64").set_fit_request(sample_weight=True)
    if name == "code":
        return CodeClassifier(linear, probability=None)
    if name == "tree":
        return TreeClassifier(linear, "balanced", probability=None)
    if name == "single":
        return SingleBinaryClassifier(kernel, probability=None)
    kernel = KernelSBCClassifier(probability=None, dtype="float64")
    return kernel.set_fit_request(sample_weight=True)


def expected(classifier):
    """Return the weighted accuracy of each fold, computed by hand."""
    scores = []
    for train, test in FOLDS.split(X, y):
        made = sklearn.base.clone(classifier).fit(X[train], y[train], sample_weight=WEIGHT[train])
        said = made.predict(X[test])
        scores.append(accuracy_score(y[test], said, sample_weight=WEIGHT[test]))
    return scores


NAMES = ("code", "tree", "single", "kernel")


@pytest.mark.parametrize("name", NAMES)
def test_pipelines_pass_weights_to_training_and_score(name):
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    classifier = make(name).set_score_request(sample_weight=True)
    made = make_pipeline(scaler, classifier).fit(X, y, sample_weight=WEIGHT)
    weighted = accuracy_score(y, made.predict(X), sample_weight=WEIGHT)
    assert made.score(X, y, sample_weight=WEIGHT) == pytest.approx(weighted)
    assert made.score(X, y) == pytest.approx(np.mean(made.predict(X) == y))
    parameter = f"{type(classifier).__name__.lower()}__probability"
    search = GridSearchCV(made, {parameter: [None]}, cv=FOLDS, error_score="raise")
    search.fit(X, y, sample_weight=WEIGHT)
    assert search.score(X, y, sample_weight=WEIGHT) == pytest.approx(weighted)


@pytest.mark.parametrize("name", NAMES)
def test_searches_pass_weights_to_training_and_score(name):
    classifier = make(name).set_score_request(sample_weight=True)
    weights = {"sample_weight": WEIGHT}
    by_hand = expected(classifier)
    found = cross_validate(classifier, X, y, cv=FOLDS, params=weights, error_score="raise")
    np.testing.assert_allclose(found["test_score"], by_hand)
    search = GridSearchCV(classifier, {"probability": [None]}, cv=FOLDS, error_score="raise")
    assert search.fit(X, y, **weights).best_score_ == pytest.approx(np.mean(by_hand))


@pytest.mark.parametrize("name", NAMES)
def test_scores_without_weights_where_they_are_not_asked_for(name):
    classifier = make(name).set_score_request(sample_weight=False)
    search = GridSearchCV(classifier, {"probability": [None]}, cv=FOLDS, error_score="raise")
    search.fit(X, y, sample_weight=WEIGHT)
    assert search.score(X, y) == pytest.approx(np.mean(search.predict(X) == y))
    with pytest.raises(UnsetMetadataPassedError, match="set_score_request"):
        cross_validate(make(name), X, y, params={"sample_weight": WEIGHT})


def test_the_greedy_search_passes_weights():
    classifier = make("single").set_score_request(sample_weight=True)
    search = GreedySearchCV(classifier, {"estimator__C": 1.0}, cv=FOLDS, patience=1)
    search.fit(X, y, sample_weight=WEIGHT)
    first = [search.cv_results_[f"split{f}_test_score"][0] for f in range(3)]
    np.testing.assert_allclose(first, expected(make("single")))


@pytest.mark.parametrize("preparation", [None, "standard"])
def test_the_search_of_reductions_weights_its_own_score(preparation):
    base = LogisticRegression(max_iter=1000).set_fit_request(sample_weight=True)
    search = ReductionSearchCV(
        base,
        ["one_vs_one", "native"],
        cv=FOLDS,
        preparation=preparation,
        tune={"C": [1.0]},
        error_score="raise",
    )
    search.fit(X, y, sample_weight=WEIGHT)
    if preparation is None:
        by_hand = expected(make("code"))
        assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(by_hand))
    weighted = accuracy_score(y, search.predict(X), sample_weight=WEIGHT)
    assert search.score(X, y, sample_weight=WEIGHT) == pytest.approx(weighted)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    made = make_pipeline(scaler, search).fit(X, y, sample_weight=WEIGHT)
    assert 0.8 < made.score(X, y, sample_weight=WEIGHT) <= 1
