"""scikit-learn's checks of a cheap instance of each estimator; the slow tests check many more."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from polychotomy import (
    CodeClassifier,
    GreedySearchCV,
    KernelSBCClassifier,
    ReductionSearchCV,
    SharedKernelSVC,
    SharedLinear,
    SingleBinaryClassifier,
    TreeClassifier,
)


def expected_failures(estimator):
    """Return the check that single binary classifiers with one bias for all classes may fail.

    Its samples are so far from each other that the replicas of all classes tie.
    """
    if not isinstance(estimator, SingleBinaryClassifier | KernelSBCClassifier):
        return {}
    svm = getattr(estimator, "estimator", estimator)
    tie = getattr(svm, "kernel", "") == "precomputed" or getattr(svm, "gamma", "") == "auto"
    return {"check_class_weight_classifiers": "one bias for all classes"} if tie else {}


@pytest.mark.filterwarnings(
    "ignore:lbfgs failed to converge",
    "ignore:A column-vector y",
    "ignore:invalid value encountered in cast",  # scikit-learn's folds, of labels with infinity
    "ignore:divide by zero encountered in log",  # naive Bayes on a class without weight
    "ignore:The least populated class",
    "ignore:The code 'adjacent' is for ordered classes",
)
@parametrize_with_checks(
    [
        CodeClassifier(GaussianNB(), code="one_vs_rest"),
        TreeClassifier(GaussianNB(), structure="balanced"),
        # A tree with pure leaves does not depend on class weights, which one check asks for.
        SingleBinaryClassifier(
            DecisionTreeClassifier(min_weight_fraction_leaf=0.01, random_state=0)
        ),
        KernelSBCClassifier(
            C=100,
            gamma="auto",
            svm_tol=1e-10,
            dtype="float64",
            weights="class_frequencies",
            probability=None,
        ),
        SharedKernelSVC(gamma="auto", tol=1e-10, dtype="float64"),
        SharedLinear(),
        SharedLinear("squared_hinge", tol=1e-20),
        SharedLinear("logistic", tol=1e-20),
        CodeClassifier(SharedLinear("logistic", tol=1e-20), code="one_vs_rest"),
        CodeClassifier(SharedLinear(), code="trellis", probability=None),
        GreedySearchCV(LogisticRegression(), cv=2, patience=1, error_score="raise"),
        ReductionSearchCV(
            GaussianNB(),
            reductions=["one_vs_rest:auto:None", "adjacent:votes:None"],
            cv=2,
            random_state=0,
            error_score="raise",
        ),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
