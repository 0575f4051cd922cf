"""Trees, DDAGs and hybrids of both, with one learner or with several."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import (
    CodeClassifier,
    SharedKernelSVC,
    SharedLinear,
    Structure,
    TreeClassifier,
    make_code,
)
from polychotomy.structures import balanced, chain
from tests.export.onnx_sessions import check_same

X, Y = make_blobs(240, 4, centers=6, cluster_std=3.0, random_state=3)
NEW = np.random.default_rng(3).uniform(-10, 10, (60, 4))

SOLVES = ["auto", "recursive", "most_probable", "least_squares"]
SLOWLY = ["auto", *(pytest.param(each, marks=pytest.mark.slow) for each in SOLVES[1:])]


@pytest.mark.parametrize("solve", SOLVES)
@pytest.mark.parametrize("structure", [balanced(range(6)), chain(range(6))])
def test_a_tree_asks_the_way_it_does_here(structure, solve):
    model = TreeClassifier(LinearSVC(random_state=0), structure, solve=solve, cv=2).fit(X, Y)
    check_same(model, NEW, probabilities=solve != "least_squares")


@pytest.mark.parametrize("learner", [SharedLinear(), SharedKernelSVC()])
def test_a_tree_whose_problems_are_trained_at_once_asks_one_of_them_at_a_time(learner):
    model = TreeClassifier(learner, balanced(range(6)), probability=None).fit(X[:, :1], Y)
    check_same(model, NEW[:, :1], probabilities=False)


def test_a_tree_without_probabilities_gives_labels():
    check_same(TreeClassifier(SVC(), "linkage", probability=None).fit(X, Y), NEW)


@pytest.mark.parametrize("learner", [SVC(), DecisionTreeClassifier(max_depth=3, random_state=0)])
@pytest.mark.parametrize("probability", [None, "votes", "auto"])
def test_a_ddag_eliminates_the_same_classes(learner, probability):
    model = TreeClassifier(learner, "ddag", probability=probability, cv=2).fit(X, Y)
    check_same(model, NEW, probabilities=probability == "votes")


MIXED = """
root {
  scaled {0 1}
  bayes 0 / 1;
  tree 0 / 2;
  tuned 1 / 2;
  {2 3 fixed {4 5}}
}
"""
LEARNERS = {
    "scaled": make_pipeline(StandardScaler(), SVC()),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "tuned": TunedThresholdClassifierCV(LogisticRegression(), cv=2, random_state=0),
    "fixed": FixedThresholdClassifier(LogisticRegression(), threshold=0.8),
}


@pytest.mark.parametrize("solve", SLOWLY)
def test_a_hybrid_of_different_learners(solve):
    model = TreeClassifier(LinearSVC(), MIXED, estimators=LEARNERS, solve=solve, cv=2).fit(X, Y)
    check_same(model, NEW, probabilities=False)


@pytest.mark.parametrize("solve", SLOWLY[:3])
def test_a_hybrid_of_different_learners_has_probabilities_by_a_closed_formula(solve):
    model = TreeClassifier(
        LinearSVC(), MIXED, estimators=LEARNERS, probability="inverse", solve=solve, cv=2
    ).fit(X, Y)
    check_same(model, NEW, probabilities=True)


def test_votes_decide_between_outputs_on_different_scales():
    model = TreeClassifier(
        LinearSVC(), MIXED, estimators=LEARNERS, probability=None, decoder="votes"
    ).fit(X, Y)
    check_same(model, NEW, probabilities=False)


@pytest.mark.parametrize("threshold", [0.2, 0.9])
@pytest.mark.parametrize("label", [None, 0, 1])
def test_two_classes_are_decided_by_the_threshold_of_the_learner(threshold, label):
    two = Y < 2
    learner = FixedThresholdClassifier(LogisticRegression(), threshold=threshold, pos_label=label)
    model = CodeClassifier(learner, "one_vs_rest").fit(X[two], Y[two])
    check_same(model, X[two], probabilities=True)
    plain = CodeClassifier(LogisticRegression(), "one_vs_rest").fit(X[two], Y[two])
    assert (model.predict(X[two]) != plain.predict(X[two])).any()


@pytest.mark.parametrize("labels", [[0, 1], [1, 0], ["no", "yes"], [False, True]])
@pytest.mark.parametrize(
    "learner", [LinearSVC(random_state=0), DecisionTreeClassifier(max_depth=2, random_state=0)]
)
def test_a_frozen_learner_keeps_its_labels_and_their_order(learner, labels):
    two = Y < 2
    named = np.array(labels)[Y[two]]
    frozen = FrozenEstimator(learner.fit(X[two], named))
    model = CodeClassifier(frozen, [[-1], [1]], probability=None).fit(X[two], Y[two])
    check_same(model, X[two], probabilities=False)


structures = st.recursive(
    st.just(None),
    lambda below: st.lists(below, min_size=2, max_size=3),
    max_leaves=6,
)


def _numbered(shape, labels):
    """Return a structure of this shape over the next labels; nodes of three are codes."""
    if shape is None:
        return next(labels)
    children = [_numbered(each, labels) for each in shape]
    return Structure(make_code("one_vs_one", len(children)), children)


@given(structures.filter(lambda shape: shape is not None), st.sampled_from(["votes", "inverse"]))
@settings(max_examples=8)
def test_random_structures_answer_alike(shape, method):
    structure = _numbered(shape, iter(range(6)))
    own = np.isin(Y, structure.classes)
    model = TreeClassifier(LogisticRegression(), structure, probability=method, solve="recursive")
    check_same(model.fit(X[own], Y[own]), NEW, probabilities=True)
