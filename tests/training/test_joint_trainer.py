from weakref import ref

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from polychotomy import (
    CodeClassifier,
    KernelSBCClassifier,
    SharedKernelSVC,
    SharedLinear,
    SingleBinaryClassifier,
    TreeClassifier,
)
from polychotomy.training import _joint_trainer


class Separate(ClassifierMixin, BaseEstimator):
    """A learner that has nothing but probabilities."""

    def fit(self, X, y, sample_weight=None):
        self.inner_ = LogisticRegression().fit(X, y, sample_weight)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


class JointLogistic(Separate):
    """The same learner, trained on all problems at once."""

    def fit_joint(self, X, targets, *, sample_weight=None, done=None):
        fitted = []
        for s, target in enumerate(targets.T):
            own = np.flatnonzero(target)
            weight = None if sample_weight is None else sample_weight[own]
            fitted.append(JointLogistic().fit(X[own], (target[own] > 0).astype(int), weight))
            done(s)
        return Fitted(fitted)


class Fitted:
    def __init__(self, fitted):
        self.fitted = fitted

    def outputs(self, X, kind="margin"):
        assert kind == "probability"
        return np.column_stack([each.predict_proba(X)[:, 1] for each in self.fitted])

    def part(self, problems):
        return Fitted([self.fitted[s] for s in problems])

    def estimator(self, s):
        return self.fitted[s]


@pytest.mark.parametrize("calibration", ["none", "sigmoid", "isotonic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_joint_learner_with_probabilities_only_is_calibrated_by_them(iris, calibration, weighted):
    X, y = iris
    weight = np.linspace(0.5, 1.5, 150) if weighted else None

    joint = CodeClassifier(JointLogistic(), "one_vs_rest", calibration=calibration, cv=3)
    joint.fit(X, y, sample_weight=weight)
    separate = CodeClassifier(Separate(), "one_vs_rest", calibration=calibration, cv=3)
    separate.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(joint.predict_proba(X), separate.predict_proba(X), atol=1e-6)


def test_a_tree_asks_a_joint_learner_about_a_few_problems(digits):
    X, y = digits
    joint = TreeClassifier(JointLogistic(), "balanced").fit(X[:300], y[:300])
    separate = TreeClassifier(Separate(), "balanced").fit(X[:300], y[:300])
    np.testing.assert_array_equal(joint.predict(X), separate.predict(X))


def test_targets_are_made_in_blocks_where_they_would_be_large(iris, monkeypatch):
    X, y = iris
    whole = CodeClassifier(JointLogistic(), "one_vs_one", calibration="sigmoid", cv=3).fit(X, y)
    monkeypatch.setattr(_joint_trainer, "_MOST_TARGETS", 2 * 150)
    blocks = CodeClassifier(JointLogistic(), "one_vs_one", calibration="sigmoid", cv=3).fit(X, y)
    np.testing.assert_array_equal(blocks.predict_proba(X), whole.predict_proba(X))
    assert blocks.estimators_[2].classes_.tolist() == [0, 1]


def test_a_problem_whose_samples_all_have_no_weight_is_refused(iris):
    X, y = iris
    weight = (y == 2).astype(float)
    for learner in (JointLogistic(), SharedKernelSVC()):
        with pytest.raises(ValueError, match=r"weight\. Those of «0 against 1» all"):
            CodeClassifier(learner, "one_vs_one").fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("how", ["hard", "near"])
def test_negatives_of_a_kernel_matrix_are_those_of_its_samples(digits, how):
    """Distances are in the kernel's space: those of a linear kernel are those of the samples."""
    X, y = digits[0][:200], digits[1][:200]
    settings = {"n_negatives": 3, "negatives": how, "random_state": 0, "gamma": 0.5}
    settings |= {"probability": None, "svm_tol": 1e-6}
    by_samples = KernelSBCClassifier(kernel="linear", **settings).fit(X, y)
    by_kernel = KernelSBCClassifier(kernel="precomputed", **settings).fit(X @ X.T, y)
    np.testing.assert_allclose(
        by_kernel.decision_function(X @ X.T), by_samples.decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize(
    "model",
    [
        CodeClassifier(JointLogistic(), "one_vs_one", calibration="sigmoid", cv=3),
        SingleBinaryClassifier(LinearSVC(), replication="kesler", calibration="sigmoid", cv=3),
        CodeClassifier(SVC(), "one_vs_one", cv=3),
    ],
    ids=["joint", "replicas", "separate"],
)
def test_the_bar_of_a_training_ends_full(iris, model, capsys):
    clone(model).set_params(verbose=1).fit(*iris)
    done, total = capsys.readouterr().err.split("]")[-1].split()[0].split("/")
    assert done == total


def test_outputs_of_one_fold_are_held_at_a_time(digits, monkeypatch):
    """Those of all samples on all problems of a tree of thousands of classes would fill memory."""
    X, y = digits
    outputs, alive = _joint_trainer._outputs, []

    def watched(*given):
        assert [each for each in alive if each() is not None] == []
        said = outputs(*given)
        alive.append(ref(said))
        return said

    monkeypatch.setattr(_joint_trainer, "_outputs", watched)
    TreeClassifier(SharedLinear(), "balanced", cv=4).fit(X, y)
    assert len(alive) == 4
