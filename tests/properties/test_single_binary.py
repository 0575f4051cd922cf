import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from polychotomy import SharedKernelSVC, SingleBinaryClassifier
from polychotomy.learners import SingleCall

ROWS = st.tuples(st.integers(-3, 3), st.integers(-3, 3))
LEARNER = SharedKernelSVC(gamma=0.2, tol=1e-7, dtype="float64")


@st.composite
def samples(draw, n_classes):
    seed = draw(st.integers(0, 2**16))
    X, y = make_blobs(12 * n_classes, 3, centers=n_classes, cluster_std=3, random_state=seed)
    return X, y


@settings(max_examples=15)
@given(st.data())
def test_relabelling_permutes_the_outputs_and_nothing_else(data):
    k = data.draw(st.integers(3, 5))
    X, y = data.draw(samples(k))
    E = np.array(data.draw(st.lists(ROWS, min_size=k, max_size=k, unique=True)))
    order = np.array(data.draw(st.permutations(range(k))))
    one = SingleBinaryClassifier(LEARNER, E, probability=None).fit(X, y)
    # Class r is now called order[r], and takes its row of E along.
    two = SingleBinaryClassifier(LEARNER, E[np.argsort(order)], probability=None)
    two.fit(X, order[y])
    np.testing.assert_allclose(two.binary_outputs(X)[:, order], one.binary_outputs(X), atol=1e-4)


@settings(max_examples=10)
@given(st.data())
def test_probabilities_are_on_the_simplex(data):
    k = data.draw(st.integers(2, 5))
    X, y = data.draw(samples(k))
    replication = data.draw(st.sampled_from(["identity", SingleCall("one_vs_rest")]))
    classifier = SingleBinaryClassifier(
        SharedKernelSVC(gamma=0.2),
        replication,
        shared_calibration=data.draw(st.booleans()),
        cv=data.draw(st.sampled_from([None, 2])),
    )
    p = classifier.fit(X, y).predict_proba(10 * X)
    assert p.shape == (len(X), k)
    assert p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1)
