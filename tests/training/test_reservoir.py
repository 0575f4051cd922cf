"""Samples of a stream that are held out for the calibration."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import kstest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

import polychotomy
from polychotomy import CodeClassifier, SharedLinear, TreeClassifier
from polychotomy.assess import log_loss
from polychotomy.training import Reservoir

SGD = SGDClassifier(random_state=0)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order] / 16, y[order]


def streamed(classifier, X, y, size=300, weight=None):
    classes = np.unique(y)
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        w = None if weight is None else weight[part]
        classifier.partial_fit(X[part], y[part], classes, w)
    return classifier


def held_out(X, y, size, block, seed=0):
    """Return the numbers of the samples in the reservoir, and of those that were ever in it."""
    reservoir, rows = Reservoir.empty(size, y.max() + 1, seed), np.arange(len(y))
    ever = []
    for start in range(0, len(y), block):
        part = rows[start : start + block]
        reservoir, taken = reservoir.hold_out(
            part[:, None].astype(float), y[part], np.ones(len(part))
        )
        ever.append(part[taken])
    return reservoir, np.concatenate(ever)


@pytest.mark.parametrize("block", [1, 7, 100, 5000])
def test_the_reservoir_does_not_depend_on_how_the_stream_is_cut(block):
    y = np.random.default_rng(1).integers(4, size=5000)
    (one, kept_back), (other, the_same) = held_out(None, y, 60, block), held_out(None, y, 60, 64)
    np.testing.assert_array_equal(np.sort(one.X, axis=0), np.sort(other.X, axis=0))
    np.testing.assert_array_equal(kept_back, the_same)
    assert set(one.X.ravel()) <= set(kept_back)
    assert np.bincount(one.y).tolist() == [15, 15, 15, 15]


def test_a_stream_trains_the_same_model_however_it_is_cut(digits):
    X, y = digits
    one, other = (
        streamed(CodeClassifier(SharedLinear(), reservoir=50, random_state=0), X, y, size)
        for size in (150, len(y))
    )
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)


def test_each_class_is_sampled_uniformly_over_the_stream():
    y = (np.arange(3000) % 10 == 0).astype(int)
    places = [held_out(None, y, 40, 250, seed)[0] for seed in range(40)]
    for c in (0, 1):
        assert all(np.bincount(each.y)[c] == 20 for each in places)
        where = np.concatenate([each.X[each.y == c, 0] for each in places]) / 3000
        assert kstest(where, "uniform").pvalue > 0.01


def test_weights_stand_for_the_classes_of_the_stream():
    y = (np.arange(4000) % 8 == 0).astype(int)
    reservoir, _ = held_out(None, y, 100, 500)
    share = reservoir.stream_weight[reservoir.y == 1].sum() / reservoir.stream_weight.sum()
    assert share == pytest.approx(1 / 8)
    assert reservoir.stream_weight.sum() == pytest.approx(100)


def test_samples_that_are_held_out_are_never_trained_on(digits):
    _, y = digits
    numbers = np.arange(len(y), dtype=float)[:, None]
    seen = []

    class Spy(SGDClassifier):
        def partial_fit(self, X, y, classes=None, sample_weight=None):
            seen.append(X[:, 0])
            return super().partial_fit(X / 1e4, y, classes, sample_weight)

    classifier = streamed(CodeClassifier(Spy(), "one_vs_rest", reservoir=80), numbers, y, 200)
    assert len(classifier.held_out_.target) == 80
    held = classifier.held_out_.data[:, 0]
    assert not np.isin(held, np.concatenate(seen)).any()
    np.testing.assert_array_equal(y[held.astype(int)], classifier.held_out_.target)
    assert len(np.unique(np.concatenate(seen))) > len(y) - 200  # few others are lost


@pytest.mark.parametrize(
    "make",
    [
        lambda base, **o: CodeClassifier(base, "one_vs_rest", **o),
        lambda base, **o: CodeClassifier(base, "one_vs_one", **o),
        lambda base, **o: TreeClassifier(base, "balanced", **o),
    ],
)
@pytest.mark.parametrize("base", [SGD, SharedLinear()])
def test_streamed_models_have_calibrated_probabilities(digits, make, base):
    X, y = digits
    classifier = streamed(make(base, reservoir=400), X[:1200], y[:1200], 100)
    p = classifier.predict_proba(X[1200:])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    counts = np.bincount(y[:1200]) / 1200
    assert log_loss(y[1200:], p) < 0.5 * -np.sum(counts * np.log(counts))


def test_probabilities_have_the_class_frequencies_of_the_stream():
    # The keys must not be the numbers that have drawn the samples with the same seed.
    rng = np.random.default_rng(0)
    y = rng.choice(3, size=9000, p=[0.9, 0.07, 0.03])
    X = rng.normal(size=(9000, 2)) + np.eye(3)[y, :2]
    classifier = streamed(CodeClassifier(SharedLinear(), "one_vs_rest", reservoir=300), X, y, 1000)
    mean = classifier.predict_proba(X).mean(axis=0)
    np.testing.assert_allclose(mean, [0.9, 0.07, 0.03], atol=0.03)


def test_streams_are_repeated_bit_for_bit_and_survive_a_file(digits, tmp_path):
    X, y = digits
    classifier = CodeClassifier(SGD, "one_vs_rest", reservoir=200, random_state=3)
    first = streamed(clone(classifier), X[:600], y[:600])
    polychotomy.save(first, tmp_path / "stream.skops")
    again = streamed(polychotomy.load(tmp_path / "stream.skops"), X[600:], y[600:])
    at_once = streamed(clone(classifier), X, y)
    np.testing.assert_array_equal(again.predict_proba(X), at_once.predict_proba(X))
    other = streamed(clone(classifier).set_params(random_state=4), X, y)
    assert np.abs(other.predict_proba(X) - at_once.predict_proba(X)).max() > 1e-6


@pytest.mark.parametrize("kind", [csr_array, pd.DataFrame])
def test_sparse_matrices_and_data_frames_are_held_out_alike(digits, kind):
    X, y = digits
    expected = streamed(CodeClassifier(SharedLinear(), "one_vs_rest", reservoir=100), X, y)
    made = CodeClassifier(SharedLinear(), "one_vs_rest", reservoir=100)
    for start in range(0, len(y), 300):
        part = slice(start, start + 300)
        made.partial_fit(kind(X[part]), y[part], range(10))
    np.testing.assert_allclose(made.predict_proba(kind(X)), expected.predict_proba(X), atol=1e-9)


def test_classes_that_come_late_are_no_obstacle(digits):
    X, y = digits
    order = np.argsort(y, kind="stable")
    classifier = CodeClassifier(SGD, reservoir=100)
    classifier.partial_fit(X[order[:100]], y[order[:100]], classes=range(10))
    np.testing.assert_allclose(classifier.predict_proba(X[:5]).sum(axis=1), 1)
    classifier.partial_fit(X[:1], y[:1])  # a batch of one sample
    streamed(classifier, X[order], y[order])
    assert len(np.unique(classifier.held_out_.target)) == 10


def test_each_problem_of_a_reservoir_is_calibrated_by_its_own_kind_of_output():
    """Margins of one node, probabilities of the other: as if each had been alone in its tree."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order] / 8, y[order]

    hinge = SGDClassifier(random_state=1)
    both, upper = (
        streamed(TreeClassifier(hinge, structure, estimators=others, reservoir=60), X, y, 50)
        for structure, others in (
            ("first {second {0 1} 2}", {"second": GaussianNB()}),
            ("first {second {0 1} 2}", None),
        )
    )
    p = both.predict_proba(X)
    np.testing.assert_allclose(p[:, 2], upper.predict_proba(X)[:, 2], atol=1e-12)
    assert log_loss(y, p) < 0.5


def test_fit_forgets_the_reservoir_and_keeps_its_own_calibration(digits):
    X, y = digits
    classifier = streamed(CodeClassifier(SGD, "one_vs_rest", reservoir=100), X, y).fit(X, y)
    with pytest.raises(AttributeError, match="held out only by partial_fit"):
        classifier.held_out_  # noqa: B018
    before = classifier._readout.calibrators
    assert classifier.partial_fit(X[:50], y[:50])._readout.calibrators is before


def test_learners_with_probabilities_of_their_own_are_calibrated_too(digits):
    X, y = digits
    own = streamed(CodeClassifier(GaussianNB(), "one_vs_rest"), X, y)
    calibrated = streamed(CodeClassifier(GaussianNB(), "one_vs_rest", reservoir=300), X, y)
    assert (own.calibration_, calibrated.calibration_) == ("none", "sigmoid")
    assert log_loss(y, calibrated.predict_proba(X)) < log_loss(y, own.predict_proba(X))


def test_a_reservoir_smaller_than_the_classes_is_refused(digits):
    X, y = digits
    with pytest.raises(ValueError, match="'reservoir' parameter must be an int of at least 10"):
        CodeClassifier(SGD, reservoir=9).partial_fit(X, y, range(10))


@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one", "sparse_random"])
@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares_in_batches_is_least_squares_at_once(digits, code, weighted):
    X, y = digits
    weight = np.random.default_rng(2).random(len(y)) if weighted else None
    classifier = CodeClassifier(SharedLinear(C=0.3), code, random_state=0, probability=None)
    expected = clone(classifier).fit(X, y, weight).binary_outputs(X)
    made = streamed(clone(classifier), X, y, 250, weight)
    np.testing.assert_allclose(made.binary_outputs(X), expected, atol=1e-10)
    assert made._trained.model._moments.matrices.shape[0] == (1 if code == "one_vs_rest" else 10)


def test_least_squares_of_a_tree_in_batches_is_that_at_once(digits):
    X, y = digits
    tree = TreeClassifier(SharedLinear(fit_intercept=False), "balanced", probability=None)
    made = streamed(clone(tree), X, y, 250)
    np.testing.assert_allclose(made.binary_outputs(X), tree.fit(X, y).binary_outputs(X), atol=1e-10)
