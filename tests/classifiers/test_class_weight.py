"""Weights of classes: the same as weights of their samples."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_sample_weight

from polychotomy import (
    CodeClassifier,
    KernelSBCClassifier,
    ReductionSearchCV,
    SharedKernelSVC,
    SingleBinaryClassifier,
    TreeClassifier,
)

X, index = load_iris(return_X_y=True)
X, index = X[20:, :2], index[20:]  # 30, 50 and 50 samples that overlap
Y = np.array(["setosa", "versicolor", "virginica"])[index]
WEIGHTS = {"versicolor": 4.0, "virginica": 0.5}  # the other one has 1
SAMPLE_WEIGHT = np.array([1.0, 4.0, 0.5])[index]

SHARED = SharedKernelSVC(C=10, dtype="float64")
CLASSIFIERS = {
    "code": lambda **o: CodeClassifier(SVC(), "one_vs_rest", **o),
    "joint": lambda **o: CodeClassifier(SHARED, **o),
    "chain": lambda **o: TreeClassifier(LogisticRegression(), "chain", **o),
    "centroid": lambda **o: TreeClassifier(GaussianNB(), distance="centroid", **o),
    "single": lambda **o: SingleBinaryClassifier(SHARED, "identity", **o),
    "kernel": lambda **o: KernelSBCClassifier(C=10, dtype="float64", **o),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_class_weights_are_sample_weights(name):
    made = CLASSIFIERS[name](class_weight=WEIGHTS).fit(X, Y)
    expected = CLASSIFIERS[name]().fit(X, Y, sample_weight=SAMPLE_WEIGHT)
    plain = CLASSIFIERS[name]().fit(X, Y)
    np.testing.assert_array_equal(made.decision_function(X), expected.decision_function(X))
    np.testing.assert_array_equal(made.predict_proba(X), expected.predict_proba(X))
    assert np.abs(made.predict_proba(X) - plain.predict_proba(X)).max() > 0.05
    if name == "chain":  # by weight, the most frequent class is another one
        assert made.structure_ == expected.structure_


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_balanced_classes_and_both_kinds_of_weights(name):
    made = CLASSIFIERS[name](class_weight="balanced").fit(X, Y)
    weight = compute_sample_weight("balanced", Y)
    expected = CLASSIFIERS[name]().fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(made.decision_function(X), expected.decision_function(X))
    both = CLASSIFIERS[name](class_weight=WEIGHTS).fit(X, Y, sample_weight=weight)
    expected = CLASSIFIERS[name]().fit(X, Y, sample_weight=weight * SAMPLE_WEIGHT)
    np.testing.assert_allclose(both.predict_proba(X), expected.predict_proba(X))


def test_balanced_weights_take_weights_for_repetitions():
    repeated = np.repeat(np.arange(len(Y)), 1 + (index == 0))
    learner = LogisticRegression(tol=1e-8)
    options = {"class_weight": "balanced", "probability": None}
    made = CodeClassifier(learner, **options).fit(X, Y, sample_weight=1.0 + (index == 0))
    expected = CodeClassifier(learner, **options).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(made.decision_function(X), expected.decision_function(X), atol=1e-3)


def test_two_classes_are_the_learner_with_class_weights():
    two = index < 2
    weights = {"setosa": 1.0, "versicolor": 7.0}
    made = CodeClassifier(SVC(), class_weight=weights).fit(X[two], Y[two])
    expected = SVC(class_weight=weights).fit(X[two], Y[two])
    np.testing.assert_allclose(
        made.decision_function(X), expected.decision_function(X), rtol=1e-3, atol=1e-3
    )


def test_batches_take_class_weights():
    learner = SGDClassifier(random_state=0)
    made = CodeClassifier(learner, class_weight=WEIGHTS).partial_fit(X, Y, np.unique(Y))
    expected = CodeClassifier(learner).partial_fit(X, Y, np.unique(Y), SAMPLE_WEIGHT)
    np.testing.assert_array_equal(made.decision_function(X), expected.decision_function(X))
    made.set_params(class_weight="balanced")
    assert not hasattr(made, "partial_fit")
    with pytest.raises(AttributeError) as raised:
        made.partial_fit(X, Y)
    assert "'balanced' needs all samples" in str(raised.value.__cause__)


def test_balanced_needs_weight_in_every_class():
    weight = np.where(index == 1, 0.0, 1.0)
    with pytest.raises(ValueError, match="That of class versicolor is 0: leave out its samples"):
        CodeClassifier(class_weight="balanced").fit(X, Y, weight)


@pytest.mark.parametrize("learner", [SVC(), SharedKernelSVC(), GaussianNB()])
@pytest.mark.parametrize("calibration", ["sigmoid", "logistic"])
def test_a_problem_without_weight_is_refused_by_every_trainer(learner, calibration):
    weight = np.where(index < 2, 0.0, 1.0)
    classifier = CodeClassifier(learner, calibration=calibration)
    with pytest.raises(ValueError, match="Those of «setosa against versicolor» all have the weig"):
        classifier.fit(X, Y, weight)


def test_class_weights_with_metadata_routing():
    expected = CodeClassifier(SVC()).fit(X, Y, sample_weight=SAMPLE_WEIGHT)
    with sklearn.config_context(enable_metadata_routing=True):
        # They are the classifier's own: no learner needs to ask for them, but a pipeline's steps.
        made = CodeClassifier(SVC(), class_weight=WEIGHTS).fit(X, Y)
        np.testing.assert_array_equal(made.decision_function(X), expected.decision_function(X))
        steps = (
            StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False),
            SVC().set_fit_request(sample_weight=True),
        )
        piped = CodeClassifier(make_pipeline(*steps), class_weight=WEIGHTS).fit(X, Y)
        np.testing.assert_array_equal(piped.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"versicolor": -1}, "must be finite and not negative"),
        ({"oak": 2}, "must be classes of y, which are 'setosa', 'versicolor', .*Got 'oak'"),
        ("even", "a dictionary of classes and weights, 'balanced' or None. Got 'even'"),
        ([1, 2, 3], "Got \\[1, 2, 3\\]"),
    ],
)
def test_wrong_class_weights_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        CodeClassifier(SVC(), class_weight=given).fit(X, Y)


def test_learners_without_weights_are_refused():
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        CodeClassifier(KNeighborsClassifier(), class_weight="balanced").fit(X, Y)


@pytest.mark.parametrize("make", [CodeClassifier, TreeClassifier, SingleBinaryClassifier])
def test_a_learner_weighted_by_the_users_classes_is_refused(make):
    hint = f"To weigh the classes, give 'class_weight' to {make.__name__}"
    with pytest.raises(ValueError, match=hint):
        make(SVC(class_weight=WEIGHTS)).fit(X, Y)
    with pytest.raises(ValueError, match=hint):
        make(SVC(class_weight={0: 1, 1: 1, 2: 3})).fit(X, index)
    with pytest.raises(ValueError, match="svc__class_weight"):
        make(make_pipeline(SVC(class_weight=WEIGHTS))).fit(X, Y)
    with pytest.raises(ValueError, match=r"0 and 1\. Got the keys -1, 1"):
        make(SVC(class_weight={-1: 1, 1: 3})).fit(X, Y)
    make(SVC(C=10, class_weight={0: 1, 1: 2}), probability=None).fit(X, index)  # the two sides


def test_a_frozen_learner_has_its_own_labels():
    two = index < 2
    frozen = FrozenEstimator(SVC(class_weight={"setosa": 2}).fit(X[two], Y[two]))
    assert CodeClassifier(frozen).fit(X[two], Y[two]).score(X[two], Y[two]) == 1


def test_a_search_of_reductions_passes_class_weights_on():
    folds = StratifiedKFold(3)
    options = {"class_weight": WEIGHTS, "preparation": None, "cv": folds, "error_score": "raise"}
    search = ReductionSearchCV(SVC(), ["one_vs_rest", "native"], random_state=0, **options)
    search.fit(X, Y)
    scores = []
    for train, test in folds.split(X, Y):
        one = CodeClassifier(SVC(), "one_vs_rest", probability=None)
        one.fit(X[train], Y[train], sample_weight=SAMPLE_WEIGHT[train])
        own = SVC(class_weight=WEIGHTS).fit(X[train], Y[train])
        scores.append([accuracy_score(Y[test], each.predict(X[test])) for each in (one, own)])
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], np.mean(scores, axis=0))
    search = ReductionSearchCV(GaussianNB(), ["one_vs_rest", "native"], cv=2, class_weight=WEIGHTS)
    assert "GaussianNB has none" in search.fit(X, Y).skipped_["native"]


def test_a_search_of_reductions_passes_the_order_on():
    order = ["virginica", "setosa", "versicolor"]
    search = ReductionSearchCV(reductions=["adjacent"], cv=2, class_order=order).fit(X, Y)
    assert search.best_estimator_[-1].code_.matrix.sum(axis=1).tolist() == [0, 2, -2]


def test_a_search_says_where_to_weigh_the_classes():
    learner = LogisticRegression(class_weight={"setosa": 2.0})
    search = ReductionSearchCV(learner, ["one_vs_one", "one_vs_rest"], cv=2)
    with pytest.raises(ValueError, match="give 'class_weight' to ReductionSearchCV") as raised:
        search.fit(X, Y)
    assert "Every reduction failed" not in str(raised.value)
