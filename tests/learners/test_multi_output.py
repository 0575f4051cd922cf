"""Learners of scikit-learn that train all targets at once, against one training for each."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from polychotomy import CodeClassifier, make_code
from polychotomy.learners import MultiOutputLearner, multi_output

X, Y = load_digits(return_X_y=True)
X, Y, NEW = X[:400] / 16, Y[:400], X[400:600] / 16
LEARNERS = [
    RidgeClassifier(alpha=0.3),
    RidgeClassifier(fit_intercept=False, solver="cholesky"),
    KNeighborsClassifier(3),
    KNeighborsClassifier(4, weights="distance"),
]


def outputs(learner, samples):
    if hasattr(learner, "decision_function"):
        return learner.decision_function(samples)
    return learner.predict_proba(samples)[:, 1]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_each_problem_is_what_it_would_be_alone(learner, sparse, rng):
    samples, new = (csr_array(X), csr_array(NEW)) if sparse else (X, NEW)
    targets = make_code("dense_random", 10, random_state=0).matrix[Y][:, :6].copy()
    targets[:100, 2:4] = 0  # as a fold has it
    model = multi_output(learner).fit_joint(samples, targets)
    kind = "margin" if hasattr(learner, "decision_function") else "probability"
    found = model.outputs(new, kind)
    for s in range(6):
        own = np.flatnonzero(targets[:, s])
        alone = clone(learner).fit(samples[own], (targets[own, s] > 0).astype(int))
        np.testing.assert_allclose(found[:, s], outputs(alone, new), atol=1e-9)
        np.testing.assert_allclose(outputs(model.estimator(s), new), found[:, s], atol=1e-9)
        np.testing.assert_array_equal(model.estimator(s).predict(new), alone.predict(new))
    np.testing.assert_array_equal(model.part([4, 1]).outputs(new, kind), found[:, [4, 1]])


@pytest.mark.parametrize("learner", LEARNERS[:3], ids=str)
def test_one_vs_rest_predicts_what_scikit_learn_predicts(learner):
    found = CodeClassifier(learner, "one_vs_rest", probability=None).fit(X, Y)
    expected = OneVsRestClassifier(learner).fit(X, Y)
    if hasattr(learner, "decision_function"):
        np.testing.assert_array_equal(found.predict(NEW), expected.predict(NEW))
    shares = [outputs(each, NEW) for each in expected.estimators_]
    scale = 1 if hasattr(learner, "decision_function") else 2
    np.testing.assert_allclose(
        found.binary_outputs(NEW), scale * np.array(shares).T - (scale - 1), atol=1e-9
    )


def test_weights_count(rng):
    weight = rng.random(400)
    targets = make_code("one_vs_rest", 10).matrix[Y]
    model = multi_output(RidgeClassifier()).fit_joint(X, targets, sample_weight=weight)
    alone = RidgeClassifier().fit(X, Y == 3, sample_weight=weight)
    np.testing.assert_allclose(model.outputs(NEW)[:, 3], alone.decision_function(NEW), atol=1e-9)


def test_only_what_is_the_same_problem_is_trained_at_once():
    assert isinstance(multi_output(RidgeClassifier()), MultiOutputLearner)
    for other in (
        RidgeClassifier(class_weight="balanced"),
        RidgeClassifier(solver="sag"),
        KNeighborsClassifier(metric="precomputed"),
        KNeighborsClassifier(weights=np.ones_like),
        DecisionTreeClassifier(),
        ExtraTreeClassifier(),
    ):
        assert multi_output(other) is None
