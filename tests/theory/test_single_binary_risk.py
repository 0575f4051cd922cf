"""Section 4 of El-Yaniv, Pechyony and Yom-Tov: from replicas to classes."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import make_blobs

from polychotomy import KernelSBCClassifier
from polychotomy.assess import risk_bound

LearnedSBC = partial(KernelSBCClassifier, weights="learned")


def losses(outputs, y):
    """Return the multi-class loss of each sample, and the binary loss of each replica."""
    sides = np.where(y[:, np.newaxis] == np.arange(outputs.shape[1]), 1, -1)
    return outputs.argmax(axis=1) != y, sides * outputs <= 0


@given(
    st.integers(2, 6).flatmap(
        lambda k: st.tuples(
            arrays(float, (20, k), elements=st.floats(-2, 2) | st.sampled_from([-1.0, 0.0, 1.0])),
            arrays(int, 20, elements=st.integers(0, k - 1)),
        )
    )
)
def test_a_wrong_class_takes_a_wrong_replica(drawn):
    """Inequality (23), for any outputs, ties included."""
    wrong_class, wrong_replica = losses(*drawn)
    assert (wrong_class <= wrong_replica.sum(axis=1)).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_error_is_at_most_c_times_that_of_the_binary_problem(seed):
    """Inequalities (24) and (25), on new samples, with and without the common bias."""
    centres = np.random.default_rng(seed).normal(0, 1.5, size=(4, 2))
    X, y = make_blobs(3000, centers=centres, random_state=seed)
    classifier = LearnedSBC(C=5, probability=None).fit(X[:200], y[:200])
    outputs = classifier.binary_outputs(X[200:])
    for shifted in (outputs, outputs - classifier.intercept_):
        wrong_class, wrong_replica = losses(shifted, y[200:])
        assert 0.05 < wrong_class.mean() <= 4 * wrong_replica.mean()
        np.testing.assert_array_equal(wrong_class, classifier.predict(X[200:]) != y[200:])


@pytest.mark.slow
def test_the_bound_holds_in_simulations():
    """It is far above what happens: what is tried is that no term has the wrong sign."""
    X, y = make_blobs(20_000, centers=3, cluster_std=2, random_state=0)
    for draw in range(10):
        chosen = np.random.default_rng(draw).choice(len(y), 150, replace=False)
        classifier = LearnedSBC(C=1, probability=None).fit(X[chosen], y[chosen])
        error = 1 - classifier.score(X, y)
        outputs = classifier.binary_outputs(X[chosen]) - classifier.intercept_
        options = {"radius": classifier.radius_, "n_bases": 3}
        for margin in (0.01, 0.1, 0.5, 1.0, 5.0):
            for norm in (None, classifier.norm_):
                bound = risk_bound(outputs, y[chosen], margin=margin, norm=norm, **options)
                assert error <= bound
