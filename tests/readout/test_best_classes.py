"""The best classes against all classes sorted."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import (
    CodeClassifier,
    KernelSBCClassifier,
    SharedKernelSVC,
    SharedLinear,
    SingleBinaryClassifier,
    TreeClassifier,
)
from polychotomy.decoding import largest
from polychotomy.structures import kmeans

CLASSIFIERS = {
    "one-vs-one": CodeClassifier(LogisticRegression(), "one_vs_one"),
    "one-vs-rest": CodeClassifier(LogisticRegression(), "one_vs_rest"),
    "trellis": CodeClassifier(LogisticRegression(), "trellis"),
    "ordered trellis": CodeClassifier(
        LogisticRegression(), "trellis", class_order=[3, 1, 4, 5, 9, 2, 6, 8, 7, 0]
    ),
    "trellis by probability": CodeClassifier(LogisticRegression(), "trellis", "probability"),
    "trellis by votes": CodeClassifier(LinearSVC(), "trellis", "votes", probability=None),
    "single": SingleBinaryClassifier(SharedKernelSVC(gamma=0.1)),
    "kernel": KernelSBCClassifier(gamma=0.001),
    "tree": TreeClassifier(LogisticRegression(), structure="balanced"),
    "chain": TreeClassifier(LogisticRegression(), structure="chain"),
    "linkage": TreeClassifier(LogisticRegression(), structure="linkage"),
    "margins": TreeClassifier(LinearSVC(), structure="balanced", probability=None),
    "k-means": TreeClassifier(LogisticRegression(), partial(kmeans, width=4)),
    "k-means margins": TreeClassifier(LinearSVC(), partial(kmeans, width=4), probability=None),
    "most probable": TreeClassifier(LogisticRegression(), "balanced", solve="most_probable"),
    "all at once": TreeClassifier(LogisticRegression(), "balanced", solve="least_squares"),
    "wide": TreeClassifier(
        LogisticRegression(),
        "a 0 / 1 2 3; b 1 / 0 2 3; c 2 / 0 1 3; { d 0 / 1; e 1 / 2; {0 1 2} 3 f {4 5} "
        "g {6 h {7 j {8 9}}} }",
    ),
    "ddag": TreeClassifier(LogisticRegression(), structure="ddag"),
}


@pytest.fixture(scope="module")
def samples(digits):
    X, y = digits
    return X[:400, 20:44], y[:400], X[400:, 20:44]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_best_classes_are_those_with_the_largest_values(name, samples):
    X, y, new = samples
    classifier = CLASSIFIERS[name].fit(X, y)
    scores = classifier.decision_function(new)
    predicted = classifier.predict(new)
    for n in (1, 2, 3, 10):
        labels = classifier.predict_top(new, n)
        assert labels.shape == (200, n)
        np.testing.assert_array_equal(labels[:, 0], predicted)
        assert all(len(set(row)) == n for row in labels.tolist())
        found = np.take_along_axis(scores, labels, axis=1)
        np.testing.assert_allclose(found, -np.sort(-scores, axis=1)[:, :n], rtol=1e-12)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_most_probable_classes(name, samples):
    X, y, new = samples
    if CLASSIFIERS[name].probability is None:
        assert not hasattr(CLASSIFIERS[name], "predict_top_proba")
        return
    classifier = CLASSIFIERS[name].fit(X, y)
    p = classifier.predict_proba(new)
    for n in (1, 4, 10):
        labels, probabilities = classifier.predict_top_proba(new, n)
        np.testing.assert_allclose(probabilities, -np.sort(-p, axis=1)[:, :n], rtol=1e-9)
        np.testing.assert_allclose(np.take_along_axis(p, labels, axis=1), probabilities, rtol=1e-9)


def questions(classifier, monkeypatch):
    """Return a list to which each later call adds how many problems it asks about its samples."""
    asked = []
    outputs = type(classifier._trained).outputs

    def counting(self, X, kind, which=None):
        asked.append(X.shape[0] * len(which))
        return outputs(self, X, kind, which)

    monkeypatch.setattr(type(classifier._trained), "outputs", counting)
    return asked


def test_a_tree_is_not_asked_about_everything(samples, monkeypatch):
    X, y, new = samples
    classifier = TreeClassifier(LogisticRegression(C=100), "balanced").fit(X, y)
    asked = questions(classifier, monkeypatch)
    classifier.predict_top(new, 2)
    assert sum(asked) < 0.9 * 9 * len(new)


def test_samples_that_come_to_a_node_one_after_the_other_keep_their_values():
    """Of two samples the second may be the first to come to a node."""
    X, y = make_blobs(80, 3, centers=6, cluster_std=6, random_state=3)
    classifier = TreeClassifier(LogisticRegression(), "chain").fit(X, y)
    for pair in np.split(X, 40):
        expected = -np.sort(-classifier.predict_proba(pair), axis=1)
        for n in (3, 5):
            _, found = classifier.predict_top_proba(pair, n)
            np.testing.assert_allclose(found, expected[:, :n], rtol=1e-9)


def test_of_equally_probable_classes_the_first_is_the_best():
    """On one branch class 3 has probability 1/2, on the other class 0 has all of the other half."""
    X, y = np.repeat([[0.0], [1.0], [0.0]], 10, axis=0), np.repeat([0, 1, 3], 10)
    tree = '"" {3 "" {0 1}}'
    classifier = TreeClassifier(DecisionTreeClassifier(), tree, calibration="none").fit(X, y)
    labels, p = classifier.predict_top_proba([[0.0]], 1)
    assert (labels.tolist(), p.tolist()) == ([[0]], [[0.5]])
    labels, p = classifier.predict_top_proba([[0.0]], 2)
    assert (labels.tolist(), p.tolist()) == ([[0, 3]], [[0.5, 0.5]])


def test_a_search_holds_the_children_on_its_way_at_a_time():
    X, y = np.arange(24.0)[:, np.newaxis], np.repeat(np.arange(6), 4)

    def held(structure):
        classifier = TreeClassifier(LogisticRegression(), structure, probability=None).fit(X, y)
        return classifier._readout.most_held

    assert held("chain") == 2 * 5  # five nodes above each other
    assert held('"" {"" {0 "" {1 2}} "" {3 "" {4 5}}}') == 2 * 3
    assert held("ddag") == 15  # a flat code: all of its outputs


@pytest.mark.parametrize("by", ["predict_top", "predict_top_proba"])
def test_of_a_certain_sample_only_the_way_to_its_class_is_asked(by, monkeypatch):
    """A balanced tree of 8 classes has 3 problems on each way, and no other way can be better."""
    X, y = np.repeat(np.eye(8), 5, axis=0), np.repeat(np.arange(8), 5)
    classifier = TreeClassifier(LogisticRegression(C=1e4), "balanced").fit(X, y)
    asked = questions(classifier, monkeypatch)
    labels = getattr(classifier, by)(X, 1)
    labels = labels[0] if by == "predict_top_proba" else labels
    np.testing.assert_array_equal(labels[:, 0], y)
    assert sum(asked) == 3 * len(X)


def test_a_tree_is_asked_about_many_samples_at_once(monkeypatch):
    """A node costs the same time for each block of samples, of which there are few."""
    k = 200
    X = np.random.default_rng(0).normal(size=(2 * k, 4))
    classifier = TreeClassifier(SharedLinear(), "kmeans", probability=None)
    classifier.fit(X, np.arange(2 * k) % k)
    outputs, calls = type(classifier._trained).outputs, []
    block = "polychotomy.classifiers._reduction_classifier._BLOCK_OUTPUTS"

    def counting(self, X, kind, which=None):
        calls.append(which)
        return outputs(self, X, kind, which)

    monkeypatch.setattr(type(classifier._trained), "outputs", counting)
    expected = classifier.predict(X), classifier.predict_top(X, 5)
    n_nodes, n_calls = len(list(classifier.structure_.nodes())), len(calls)
    assert n_calls <= 7 * n_nodes
    monkeypatch.setattr(block, 2 * k * 40)  # room for a way's 29 outputs, not for all
    np.testing.assert_array_equal(classifier.predict(X), expected[0])
    np.testing.assert_array_equal(classifier.predict_top(X, 5), expected[1])
    assert len(calls) == 2 * n_calls
    monkeypatch.setattr(block, 100)
    np.testing.assert_array_equal(classifier.predict(X), expected[0])


def test_of_equal_classes_the_first():
    columns, values = largest(np.array([[1.0, 2, 2, 2, 0], [0, 0, 0, 0, 0]]), 2)
    assert columns.tolist() == [[1, 2], [0, 1]]
    assert values.tolist() == [[2, 2], [0, 0]]


@pytest.mark.parametrize(
    ("n", "message"),
    [(0, "at least 1"), (2.5, "an int"), (True, "an int"), ("3", "an int"), (11, "at most the 10")],
)
def test_how_many_classes(n, message, samples):
    X, y, new = samples
    classifier = CLASSIFIERS["one-vs-rest"].fit(X, y)
    with pytest.raises(ValueError, match=message):
        classifier.predict_top(new, n)


def test_two_classes_and_the_last_step_of_a_pipeline(samples):
    X, y, new = samples
    pipeline = make_pipeline(StandardScaler(), CodeClassifier(LinearSVC())).fit(X, y > 4)
    labels = pipeline[-1].predict_top(pipeline[:-1].transform(new), 2)
    np.testing.assert_array_equal(labels[:, 0], pipeline.predict(new))
    np.testing.assert_array_equal(labels[:, 1], ~labels[:, 0])


class Stump(LinearSVC):
    """A learner whose outputs tie: only their signs are left."""

    def decision_function(self, X):
        return np.sign(super().decision_function(X))


@pytest.mark.parametrize(
    "arguments",
    [
        {"code": "one_vs_rest", "class_order": [3, 1, 4, 5, 9, 2, 6, 8, 7, 0]},
        {"code": "one_vs_rest"},
        {"code": "trellis"},
        {"code": "trellis", "class_order": [3, 1, 4, 5, 9, 2, 6, 8, 7, 0]},
        {"code": "trellis", "assignment": "spread"},
    ],
)
@pytest.mark.parametrize("decoder", ["hamming", "logistic", "votes"])
def test_of_equal_scores_the_first_class_wins_everywhere(arguments, decoder, samples):
    X, y, new = samples
    learner = Stump(C=0.01, random_state=0)
    classifier = CodeClassifier(learner, decoder=decoder, probability=None, **arguments).fit(X, y)
    scores = classifier.decision_function(new)
    best = np.sort(scores, axis=1)[:, -2:]
    assert decoder != "hamming" or (best[:, 0] == best[:, 1]).any()
    order = np.argsort(-scores, axis=1, kind="stable")
    np.testing.assert_array_equal(classifier.predict(new), order[:, 0])
    for n in (1, 2, 5, 10):
        np.testing.assert_array_equal(classifier.predict_top(new, n), order[:, :n])
    labels, _ = classifier.predict_or_reject(new, "confidence", 0.0)
    np.testing.assert_array_equal(labels, order[:, 0])
