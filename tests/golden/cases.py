"""Small trainings of every kind of classifier, whose outputs are kept in ``answers.npz``.

``python -m tests.golden.record`` writes that file again: only where a change of results is meant.
"""

import warnings
from contextlib import suppress

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import (
    CodeClassifier,
    KernelSBCClassifier,
    SharedKernelSVC,
    SharedLinear,
    SingleBinaryClassifier,
    TreeClassifier,
)
from polychotomy.learners import SingleCall

MIXED = """
"" {
  Left  {"C=10" {0 3} 1}
  Right {2 4}
}
"""
HYBRID = "A 0 / 1 2; B 1 / 2; { C {0 3} 1 D {2 4} }"


class Thresholded(ClassifierMixin, BaseEstimator):
    """A classifier whose ``predict`` does not follow the sign of its margin."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.inner_ = LogisticRegression().fit(X, y, sample_weight)
        return self

    def decision_function(self, X):
        return self.inner_.decision_function(X)

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0.8).astype(int)]


def svm(**options):
    """A shared-kernel SVM that is solved so well that the order of steps does not show."""
    return SharedKernelSVC(C=2.0, gamma=0.05, tol=1e-6, dtype="float64", **options)


def digits():
    X, y = load_digits(return_X_y=True)
    keep = np.flatnonzero(y < 5)[:280]
    X, y = X[keep] / 4, y[keep]
    return X[:240], y[:240], X[240:280]


def answers(classifier, X):
    """Return all that a trained classifier says of samples."""
    said = {"predict": classifier.predict(X)}
    for method in ("binary_outputs", "decision_function", "predict_proba"):
        if hasattr(classifier, method):
            said[method] = np.asarray(getattr(classifier, method)(X), dtype=float)
    if hasattr(classifier, "decision_path"):
        said["decision_path"] = classifier.decision_path(X).toarray()
    if hasattr(classifier, "predict_or_reject"):
        options = [("confidence", 0.1)]
        options += [("probability", 0.5)] if hasattr(classifier, "predict_proba") else []
        options += [] if hasattr(classifier, "decision_path") else [("votes", None)]
        for rule, threshold in options:
            with suppress(ValueError):  # the decoder "probability" had no confidence once
                labels, accepted = classifier.predict_or_reject(X, rule, threshold)
                said[f"{rule}_labels"], said[f"{rule}_accepted"] = labels, accepted
    return said


def _fitted(make, **fit):
    def run():
        X, y, Xt = digits()
        return answers(make().fit(X, y, **fit), Xt)

    return run


def _weights():
    return np.linspace(0.2, 2.0, 240)


def _weighted(make):
    return _fitted(make, sample_weight=_weights())


def _named():
    X, y, Xt = digits()
    names = np.array(["five", "four", "three", "two", "one"])
    return answers(CodeClassifier(LogisticRegression(), "one_vs_rest").fit(X, names[y]), Xt)


def _two_classes(make):
    def run():
        X, y, Xt = digits()
        two = y < 2
        return answers(make().fit(X[two], y[two]), Xt)

    return run


def _precomputed(make):
    def run():
        X, y, Xt = digits()
        return answers(make().fit(rbf_kernel(X, gamma=0.05), y), rbf_kernel(Xt, X, gamma=0.05))

    return run


def _sparse(make):
    def run():
        X, y, Xt = digits()
        return answers(make().fit(csr_array(X), y), csr_array(Xt))

    return run


def _frame():
    import pandas as pd

    X, y = load_iris(return_X_y=True, as_frame=True)
    classifier = CodeClassifier(SVC(), "one_vs_rest").fit(X[::2], y[::2])
    return answers(classifier, pd.DataFrame(X[1::4]))


def _in_batches(make):
    def run():
        X, y, Xt = digits()
        classifier = make()
        for start in range(0, 240, 60):
            some = slice(start, start + 60)
            classifier.partial_fit(X[some], y[some], classes=np.arange(5))
        return answers(classifier, Xt)

    return run


def _frozen():
    X, y, Xt = digits()
    right = y > 2
    models = {
        "Both": FrozenEstimator(SVC().fit(X, right)),
        "Right": FrozenEstimator(GaussianNB().fit(X[right], y[right] == 4)),
    }
    tree = TreeClassifier(SVC(), "Both {Left {0 Rest {1 2}} Right {3 4}}", estimators=models, cv=3)
    return answers(tree.fit(X, y), Xt)


def _sgd():
    return SGDClassifier(loss="log_loss", random_state=0)


CASES = {
    # codes, learners, decoders, ways to probabilities
    "one_vs_one logistic": _fitted(lambda: CodeClassifier(LogisticRegression())),
    "one_vs_rest svc": _fitted(lambda: CodeClassifier(SVC(), "one_vs_rest")),
    "one_vs_one svc": _fitted(lambda: CodeClassifier(SVC())),
    "bch ridge": _fitted(lambda: CodeClassifier(RidgeClassifier(), "bch")),
    "dense_random seeded tree": _fitted(
        lambda: CodeClassifier(DecisionTreeClassifier(max_depth=4), "dense_random", random_state=3)
    ),
    "sparse_random naive bayes": _fitted(
        lambda: CodeClassifier(GaussianNB(), "sparse_random", random_state=1)
    ),
    "adjacent isotonic": _fitted(
        lambda: CodeClassifier(SVC(), "adjacent", calibration="isotonic", cv=3)
    ),
    "exhaustive hamming": _fitted(
        lambda: CodeClassifier(LinearSVC(dual=False, tol=1e-8), "exhaustive", "hamming", cv=None)
    ),
    "one_vs_rest probability decoder": _fitted(
        lambda: CodeClassifier(LogisticRegression(), "one_vs_rest", "probability")
    ),
    "one_vs_one kullback_leibler": _fitted(
        lambda: CodeClassifier(SVC(), probability="kullback_leibler", cv=3)
    ),
    "no probabilities": _fitted(lambda: CodeClassifier(SVC(), "bch", probability=None)),
    "repeated and complementary problems": _fitted(
        lambda: CodeClassifier(
            SVC(),
            [[1, -1, 1, 0], [-1, 1, 1, 1], [-1, 1, -1, 1], [-1, 1, -1, -1], [-1, 1, 1, -1]],
            cv=3,
        )
    ),
    "own threshold": _fitted(
        lambda: CodeClassifier(
            FixedThresholdClassifier(LogisticRegression(), threshold=0.3), "one_vs_rest"
        )
    ),
    "weights": _weighted(lambda: CodeClassifier(SVC(), "one_vs_rest", cv=3)),
    "named classes": _named,
    "data frame": _frame,
    "sparse samples": _sparse(lambda: CodeClassifier(SVC(), "bch", cv=3)),
    "precomputed svc": _precomputed(lambda: CodeClassifier(SVC(kernel="precomputed"), "bch", cv=3)),
    "batches": _in_batches(lambda: CodeClassifier(_sgd(), "one_vs_rest")),
    "two classes svc": _two_classes(lambda: CodeClassifier(SVC())),
    "two classes own threshold": _two_classes(lambda: CodeClassifier(Thresholded())),
    "two classes probability decoder": _two_classes(
        lambda: CodeClassifier(LogisticRegression(), decoder="probability")
    ),
    "class means": _fitted(lambda: CodeClassifier(svm(), "bch", "class_means", cv=3)),
    "class weights": _fitted(
        lambda: CodeClassifier(SVC(), "one_vs_rest", class_weight={0: 3.0, 4: 0.5}, cv=3)
    ),
    "ordered classes": _fitted(
        lambda: CodeClassifier(SVC(), "adjacent", class_order=[3, 1, 0, 4, 2], cv=3)
    ),
    "trellis": _fitted(lambda: CodeClassifier(LogisticRegression(), "trellis")),
    "calibrated batches": _in_batches(
        lambda: CodeClassifier(SGDClassifier(random_state=0), "bch", reservoir=60, random_state=0)
    ),
    # one linear model for all problems
    "shared linear": _fitted(lambda: CodeClassifier(SharedLinear(), "one_vs_rest", cv=3)),
    "shared ridge of sparse samples": _sparse(
        lambda: CodeClassifier(SharedLinear("squared"), "bch", cv=3)
    ),
    "shared logistic weights": _weighted(
        lambda: CodeClassifier(SharedLinear("logistic"), "one_vs_one", cv=3)
    ),
    "shared linear batches": _in_batches(
        lambda: CodeClassifier(SharedLinear("squared"), "one_vs_rest", probability=None)
    ),
    # one kernel for all problems
    "shared kernel one_vs_one": _fitted(lambda: CodeClassifier(svm())),
    "shared kernel bch": _fitted(lambda: CodeClassifier(svm(), "bch")),
    "shared kernel weights": _weighted(lambda: CodeClassifier(svm(), "one_vs_rest", cv=3)),
    "shared kernel precomputed": _precomputed(
        lambda: CodeClassifier(svm(kernel="precomputed"), "one_vs_rest", cv=3)
    ),
    "shared kernel balanced": _fitted(
        lambda: CodeClassifier(svm(class_weight="balanced"), "one_vs_rest", cv=3)
    ),
    "shared kernel two classes": _two_classes(lambda: CodeClassifier(svm())),
    # trees
    "linkage tree": _fitted(lambda: TreeClassifier(SVC())),
    "balanced tree recursive": _fitted(
        lambda: TreeClassifier(LogisticRegression(), "balanced", solve="recursive")
    ),
    "tree least squares": _fitted(
        lambda: TreeClassifier(SVC(), HYBRID, solve="least_squares", cv=3)
    ),
    "hybrid recursive": _fitted(lambda: TreeClassifier(SVC(), HYBRID, solve="recursive", cv=3)),
    "mixed learners": _fitted(
        lambda: TreeClassifier(
            LogisticRegression(), MIXED, estimators={"Right": GaussianNB(), "Left": SVC()}, cv=3
        )
    ),
    "mixed learners without probabilities": _fitted(
        lambda: TreeClassifier(
            LogisticRegression(), MIXED, estimators={"Right": SVC()}, probability=None
        )
    ),
    "tree own threshold": _fitted(
        lambda: TreeClassifier(Thresholded(), "balanced", solve="recursive", probability=None)
    ),
    "frozen learners": _frozen,
    "ddag": _fitted(lambda: TreeClassifier(SVC(), "ddag", cv=3)),
    "chain shared kernel": _fitted(lambda: TreeClassifier(svm(), "chain", cv=3)),
    "tree weights": _weighted(lambda: TreeClassifier(SVC(), "linkage", cv=3)),
    "tree batches": _in_batches(lambda: TreeClassifier(_sgd(), "balanced")),
    "tree two classes": _two_classes(lambda: TreeClassifier(SVC())),
    "tree precomputed": _precomputed(
        lambda: TreeClassifier(SVC(kernel="precomputed"), "balanced", cv=3)
    ),
    # a single binary classifier
    "sbc identity": _fitted(lambda: SingleBinaryClassifier(svm(), "identity", cv=3)),
    "sbc bch": _fitted(lambda: SingleBinaryClassifier(svm(), "bch", cv=3)),
    "sbc own calibration": _fitted(
        lambda: SingleBinaryClassifier(svm(), "identity", shared_calibration=False, cv=3)
    ),
    "sbc poly": _fitted(
        lambda: SingleBinaryClassifier(svm(kernel="poly", coef0=1.0), "hamming", cv=None)
    ),
    "sbc precomputed": _precomputed(
        lambda: SingleBinaryClassifier(svm(kernel="precomputed"), "identity", cv=3)
    ),
    "sbc replicas of svc": _fitted(
        lambda: SingleBinaryClassifier(SVC(gamma=0.05), "identity", cv=3)
    ),
    "sbc weights": _weighted(lambda: SingleBinaryClassifier(svm(), "identity", cv=3)),
    "sbc random negatives": _fitted(
        lambda: SingleBinaryClassifier(svm(), "identity", n_negatives=2, cv=3, random_state=0)
    ),
    "sbc near negatives of a tree": _fitted(
        lambda: SingleBinaryClassifier(
            DecisionTreeClassifier(),
            "identity",
            n_negatives=2,
            negatives="near",
            cv=3,
            random_state=0,
        )
    ),
    "sbc single call": _fitted(
        lambda: SingleBinaryClassifier(svm(), SingleCall("bch", "auto"), cv=3)
    ),
    "sbc single call hamming": _fitted(
        lambda: SingleBinaryClassifier(svm(), SingleCall("bch", "hamming"), cv=3)
    ),
    "sbc kesler": _fitted(lambda: SingleBinaryClassifier(LogisticRegression(), "kesler", cv=3)),
    "sbc two classes": _two_classes(lambda: SingleBinaryClassifier(svm())),
    # a learned kernel
    "sbc kernel": _fitted(
        lambda: KernelSBCClassifier(2.0, 0.05, weights="learned", svm_tol=1e-6, cv=3)
    ),
    "sbc kernel frequencies": _fitted(
        lambda: KernelSBCClassifier(
            2.0, 0.05, weights="class_frequencies", svm_tol=1e-6, cv=3, dtype="float64"
        )
    ),
    "sbc kernel weights": _weighted(
        lambda: KernelSBCClassifier(
            2.0, 0.05, weights="class_frequencies", svm_tol=1e-6, cv=3, dtype="float64"
        )
    ),
}


def compute(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[name]()
