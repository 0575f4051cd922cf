import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from polychotomy import (
    CodeClassifier,
    GreedySearchCV,
    KernelSBCClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
    TreeClassifier,
)
from polychotomy.codes import one_vs_one
from polychotomy.structures import balanced, from_code, two_children

# That weights are repetitions is checked to seven digits, and solutions are known to the tolerance.
EXACT_SVC = SharedKernelSVC(gamma="auto", tol=1e-10, dtype="float64")
# With a small C two replicas of a sample are often both at −1, and rounding decides which wins.
EXACT_SBC = KernelSBCClassifier(C=100, gamma="auto", svm_tol=1e-10, dtype="float64", cv=2)

# A tree with pure leaves does not depend on class weights, which one check asks for. Leaves of two
# classes tie in votes, where another check asks for the most probable class.
WEIGHED_TREE = DecisionTreeClassifier(min_weight_fraction_leaf=0.01, random_state=0)

# Not "confusion": folds of repeated samples are others than those of weighted samples.
DISTANCES = ("centroid", "mahalanobis", "bhattacharyya")


class Hybrid:
    """All pairs of all classes but the last, which is told from them first."""

    def __call__(self, X, y):
        *first, last = np.unique(y).tolist()
        if len(first) < 2:
            return balanced([*first, last])
        return two_children(from_code(one_vs_one(len(first)), first), last)

    def __repr__(self):  # the same in every process
        return "Hybrid()"


def expected_failures(estimator):
    """Return the check that single binary classifiers with one bias for all classes may fail.

    Its samples are so far from each other that the replicas of all classes tie.
    """
    if not isinstance(estimator, SingleBinaryClassifier | KernelSBCClassifier):
        return {}
    svm = getattr(estimator, "estimator", estimator)
    tie = getattr(svm, "kernel", "") == "precomputed" or getattr(svm, "gamma", "") == "auto"
    return {"check_class_weight_classifiers": "one bias for all classes"} if tie else {}


# The codes that exist for the two and three classes of scikit-learn's checks.
CODES = (
    "one_vs_rest",
    "one_vs_one",
    "exhaustive",
    "dense_random",
    "sparse_random",
    "hamming",
    "bch",
    "adjacent",
)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:lbfgs failed to converge",
    "ignore:A column-vector y",
    "ignore:invalid value encountered in cast",  # scikit-learn's folds, of labels with infinity
    "ignore:divide by zero encountered in log",  # naive Bayes on a class without weight
    "ignore:The code 'adjacent' is for ordered classes",
)
@parametrize_with_checks(
    [
        CodeClassifier(),
        # The class with the best score need not be the most probable one, which scikit-learn's
        # checks ask of classifiers that have both: these decode without probabilities …
        *(CodeClassifier(code=code, probability=None, random_state=0) for code in CODES),
        *(
            CodeClassifier(decoder=rule, probability=None)
            for rule in ("votes", "ddag", "exponential", "euclidean")
        ),
        CodeClassifier(RidgeClassifier(), probability=None),
        # … and these by them.
        *(
            CodeClassifier(code=code, decoder="probability", random_state=0)
            for code in ("one_vs_rest", "sparse_random", "bch", "adjacent")
        ),
        CodeClassifier(RidgeClassifier(), decoder="probability"),
        CodeClassifier(GaussianNB(), code="one_vs_rest"),  # has partial_fit
        CodeClassifier(GaussianNB(), reservoir=20, probability=None),
        CodeClassifier(WEIGHED_TREE, decoder="probability"),
        CodeClassifier(SVC(kernel="precomputed"), probability=None),
        GreedySearchCV(LogisticRegression(), cv=2, patience=1, error_score="raise"),
        EXACT_SVC,
        clone(EXACT_SVC).set_params(kernel="linear"),
        clone(EXACT_SVC).set_params(kernel="precomputed"),
        CodeClassifier(EXACT_SVC, probability=None),
        CodeClassifier(SharedKernelSVC(kernel="precomputed"), "one_vs_rest", probability=None),
        TreeClassifier(EXACT_SVC, probability=None),
        SingleBinaryClassifier(clone(EXACT_SVC).set_params(C=100), probability=None),
        SingleBinaryClassifier(EXACT_SVC, "single_call", probability=None),
        SingleBinaryClassifier(
            clone(EXACT_SVC).set_params(
                kernel="poly", degree=2, gamma=0.5, coef0=1.0, C=0.01, tol=1e-8
            ),
            "identity",
            probability=None,
        ),
        SingleBinaryClassifier(SharedKernelSVC(kernel="precomputed"), probability=None),
        SingleBinaryClassifier(WEIGHED_TREE),
        SingleBinaryClassifier(RidgeClassifier(tol=1e-12), "kesler", probability=None),
        clone(EXACT_SBC).set_params(probability=None),
        clone(EXACT_SBC).set_params(weights="class_frequencies"),
        TreeClassifier(),
        *(TreeClassifier(structure=name) for name in ("balanced", "chain", "ddag")),
        TreeClassifier(solve="recursive", probability=None),
        *(TreeClassifier(solve="least_squares", distance=distance) for distance in DISTANCES),
        TreeClassifier(RidgeClassifier(), probability=None),
        TreeClassifier(GaussianNB(), structure="balanced"),  # has partial_fit
        TreeClassifier(WEIGHED_TREE),
        TreeClassifier(structure=Hybrid(), decoder="votes", probability=None),
        TreeClassifier(SVC(kernel="precomputed"), structure="chain", probability=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
