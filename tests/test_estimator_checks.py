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
    SingleBinaryClassifier,
    TreeClassifier,
)


@pytest.mark.filterwarnings(
    "ignore:lbfgs failed to converge",
    "ignore:A column-vector y",
    "ignore:invalid value encountered in cast",  # scikit-learn's folds, of labels with infinity
    "ignore:divide by zero encountered in log",  # naive Bayes on a class without weight
    "ignore:The least populated class",
)
@parametrize_with_checks(
    [
        CodeClassifier(GaussianNB(), code="one_vs_rest"),
        TreeClassifier(GaussianNB(), structure="balanced"),
        SingleBinaryClassifier(DecisionTreeClassifier(random_state=0)),
        KernelSBCClassifier(
            C=100,
            gamma="auto",
            svm_tol=1e-10,
            dtype="float64",
            weights="class_frequencies",
            probability=None,
        ),
        SharedKernelSVC(gamma="auto", tol=1e-10, dtype="float64"),
        GreedySearchCV(LogisticRegression(), cv=2, patience=1, error_score="raise"),
        ReductionSearchCV(
            GaussianNB(),
            reductions=["one_vs_rest:auto:None", "adjacent:votes:None"],
            cv=2,
            random_state=0,
            error_score="raise",
        ),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
