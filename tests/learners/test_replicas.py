import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

from polychotomy import Code, SingleBinaryClassifier, make_code
from polychotomy.codes import one_vs_one, one_vs_rest
from polychotomy.learners import (
    Concatenation,
    Kesler,
    Placement,
    ReplicatedModel,
    SingleCall,
    TrainedProblem,
    _replicas,
)
from polychotomy.probability import solve


def test_the_worked_example_of_section_3():
    """El-Yaniv et al., section 3; each line's sample is the one that its z names."""
    M = np.array([[1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0]])
    X, y = np.array([[0.1], [0.2], [0.3]]), np.arange(3)
    code = one_vs_rest(3)
    sample, problem = np.nonzero(code.matrix[y])
    Z = Concatenation(code, M.astype(float)).make(X, sample, problem)
    expected = [
        [0.1, 1, 0, 1, 1],
        [0.1, 1, 1, 0, 0],
        [0.1, 0, 1, 1, 0],
        [0.2, 1, 0, 1, 1],
        [0.2, 1, 1, 0, 0],
        [0.2, 0, 1, 1, 0],
        [0.3, 1, 0, 1, 1],
        [0.3, 1, 1, 0, 0],
        [0.3, 0, 1, 1, 0],
    ]
    np.testing.assert_array_equal(Z, expected)
    labels = code.matrix[y][sample, problem]
    np.testing.assert_array_equal(labels, [1, -1, -1, -1, 1, -1, -1, -1, 1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_replicas_are_the_same_and_stay_sparse(dtype, rng):
    X = rng.normal(size=(20, 5)).astype(dtype)
    replication = Concatenation(one_vs_rest(3), rng.normal(size=(3, 2)))
    sample, problem = rng.integers(20, size=30), rng.integers(3, size=30)
    dense = replication.make(X, sample, problem)
    sparse = replication.make(csr_array(X), sample, problem)
    assert issparse(sparse)
    assert dense.dtype == sparse.dtype == dtype
    np.testing.assert_allclose(sparse.toarray(), dense)


def test_kesler_by_hand():
    """Duda and Hart, section 5.12.1, for k = 3: one sample of the second class."""
    X, y = np.array([[2.0, 0.0]]), np.array([1])
    replication = Placement(one_vs_one(3))
    targets = replication.code.matrix[y]
    sample, problem = np.nonzero(targets)
    Z = replication.make(X, sample, problem).toarray() * targets[sample, problem][:, np.newaxis]
    expected = [[-1, -2, 0, 1, 2, 0, 0, 0, 0], [0, 0, 0, 1, 2, 0, -1, -2, 0]]
    np.testing.assert_array_equal(Z, expected)


def test_kesler_says_the_defining_inequality(rng):
    """w·z > 0 for all replicas of x exactly if w_y·(1, x) is the largest."""
    replication = Placement(one_vs_one(4))
    X, W = rng.normal(size=(50, 3)), rng.normal(size=(4, 4))
    y = rng.integers(4, size=50)
    targets = replication.code.matrix[y]
    assert (np.abs(targets).sum(axis=1) == 3).all()
    sample, problem = np.nonzero(targets)
    sides = (replication.make(X, sample, problem) @ W.ravel()) * targets[sample, problem]
    right = np.array([(sides[sample == i] > 0).all() for i in range(50)])
    largest = (np.column_stack([np.ones(50), X]) @ W.T).argmax(axis=1)
    np.testing.assert_array_equal(right, largest == y)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_outputs_come_in_blocks(kind, digits, monkeypatch):
    X, y = digits
    appended = np.eye(10)
    for replication, learner in (
        (Concatenation(one_vs_rest(10), appended), SVC(gamma=0.05)),
        (Placement(one_vs_one(10)), LinearSVC(fit_intercept=False, random_state=0)),
    ):
        sample, problem = np.nonzero(replication.code.matrix[y[:100]])
        Z = replication.make(kind(X), sample, problem)
        learner.fit(Z, replication.code.matrix[y[sample], problem] > 0)
        model = ReplicatedModel(TrainedProblem(learner), replication)
        whole = model.outputs(kind(X))
        monkeypatch.setattr(_replicas, "_BLOCK_VALUES", 50_000)
        np.testing.assert_allclose(model.outputs(kind(X)), whole, atol=1e-9)
        monkeypatch.undo()
        p = len(replication.code.matrix.T)
        every = replication.make(X, np.repeat(np.arange(600), p), np.tile(np.arange(p), 600))
        np.testing.assert_allclose(whole.ravel(), learner.decision_function(every), atol=1e-9)


def test_equal_columns_have_different_replicas():
    code = Code(np.hstack([make_code("one_vs_rest", 3).matrix] * 2))
    Z = Concatenation(code, np.eye(6)).make(np.zeros((1, 1)), np.array([0, 0]), np.array([0, 3]))
    assert (Z[0] != Z[1]).any()


@pytest.mark.parametrize(
    ("replication", "codewords"), [("identity", np.eye(3)), (SingleCall("one_vs_rest"), np.eye(3))]
)
def test_any_learner_is_trained_on_explicit_replicas(iris, replication, codewords):
    """Each sample once per class r, with the codeword of r appended: is it of class r?"""
    X, y = iris[0][::3], iris[1][::3]
    learner = KNeighborsClassifier(3)
    Z = np.hstack([np.repeat(X, 3, axis=0), np.tile(codewords, (len(X), 1))])
    by_hand = clone(learner).fit(Z, (y[:, np.newaxis] == np.arange(3)).ravel())
    p = by_hand.predict_proba(Z)[:, 1].reshape(-1, 3)
    found = SingleBinaryClassifier(learner, replication, probability=None).fit(X, y)
    outputs = found.binary_outputs(X)  # log-odds with "argmax", otherwise 2p − 1
    said = expit(outputs) if isinstance(replication, str) else (1 + outputs) / 2
    np.testing.assert_allclose(said, p, atol=1e-12)
    np.testing.assert_array_equal(found.predict(X), p.argmax(axis=1))
    calibrated = SingleBinaryClassifier(learner, replication, calibration="sigmoid", cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.9
    frame = SingleBinaryClassifier(learner, replication, probability=None)
    frame.fit(pd.DataFrame(X, columns=list("abcd")), y)
    np.testing.assert_array_equal(
        frame.predict(pd.DataFrame(X, columns=list("abcd"))), found.predict(X)
    )


def test_keslers_construction_trained_by_hand(iris):
    X, y = iris[0][::3], iris[1][::3]
    learner = LogisticRegression(C=3.0, tol=1e-8, max_iter=1000)
    ones = np.column_stack([np.ones(len(X)), X])
    rows, labels = [], []
    for x, c in zip(ones, y, strict=True):
        for a, b in ((0, 1), (0, 2), (1, 2)):
            if c in (a, b):
                Z = np.zeros((3, 5))
                Z[a], Z[b] = x, -x
                rows.append(Z.ravel())
                labels.append(c == a)
    by_hand = clone(learner).set_params(fit_intercept=False).fit(np.array(rows), labels)
    W = by_hand.coef_.reshape(3, 5)
    found = SingleBinaryClassifier(learner, Kesler(), probability=None).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), (ones @ W.T).argmax(axis=1))
    q = expit(ones @ W.T @ one_vs_one(3).matrix)  # the learner's own probabilities of the pairs
    found = SingleBinaryClassifier(learner, Kesler(), calibration="none").fit(X, y)
    np.testing.assert_allclose(
        found.predict_proba(X), solve(q, one_vs_one(3), "coupling"), atol=1e-6
    )
    with pytest.raises(ValueError, match="n_negatives"):
        SingleBinaryClassifier(learner, Kesler(), n_negatives=1).fit(X, y)


@pytest.mark.parametrize("replication", [None, SingleCall("one_vs_one")])
def test_values_that_the_learner_takes_may_be_missing(iris, replication):
    X, y = iris
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    classifier = SingleBinaryClassifier(RandomForestClassifier(30, random_state=0), replication)
    assert classifier.fit(X, y).score(X, y) > 0.9


def test_the_room_for_replicas_counts_what_sparse_samples_hold():
    """Two augmented samples of d values, and a number and its column for each of them."""
    sparse = csr_array(([1.0, 2.0, 3.0, 4.0], ([0, 0, 1, 1], [5, 7, 10, 99_999])), (2, 100_000))
    replicas = Placement(one_vs_one(3))
    assert replicas.n_bytes(sparse, 1000) == 1000 * 2 * 2 * 12
    assert replicas.n_bytes(np.ones((4, 3)), 1000) == 1000 * 2 * 3 * 12
