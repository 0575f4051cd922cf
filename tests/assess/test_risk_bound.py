from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import rbf_kernel

from polychotomy import KernelSBCClassifier
from polychotomy.assess import risk_bound
from polychotomy.assess._risk_bound import multiclass_risk_bound

LearnedSBC = partial(KernelSBCClassifier, weights="learned")


def test_by_hand():
    """Equation (26) with m = 10⁶, c = 4, n = 4, R = 2, γ = 1, δ = 0.1, term by term."""
    t = 4e6
    first = 4 * np.log(128 * np.e * t**3 * 2 / 4)
    second = 256 * 2 * np.log(np.e * t / (8 * np.sqrt(2))) * np.log(128 * t * 2)
    expected = 4 * 0.05 + 4 * np.sqrt(8 * (2 + first + second + np.log(10)) / t)
    options = {"n_samples": 10**6, "n_classes": 4, "n_bases": 4, "radius": 2, "delta": 0.1}
    found = multiclass_risk_bound(0.05, margin=1.0, **options)
    assert found == pytest.approx(expected)
    assert found == pytest.approx(2.3655, abs=1e-4)
    corrected = multiclass_risk_bound(0.05, margin=1.0, corrected=True, **options)
    assert corrected == pytest.approx(found)  # at γ = 1 both are the same
    halves = [multiclass_risk_bound(0, margin=0.5, corrected=c, **options) for c in (0, 1)]
    assert halves[0] < halves[1] < np.sqrt(2) * halves[0]


def test_it_falls_with_samples_and_grows_with_the_radius():
    def bound(**changed):
        options = {"n_samples": 10**9, "n_classes": 3, "n_bases": 3, "radius": 1.0}
        return multiclass_risk_bound(0, **{**options, "margin": 0.5, "delta": 0.05, **changed})

    assert bound(n_samples=10**10) < bound() < bound(radius=2.0)
    assert bound(margin=0.9) < bound() < bound(delta=0.01)
    assert bound(n_samples=10**14) < 0.01


def test_where_the_theorem_says_nothing():
    options = {"n_classes": 3, "n_bases": 3, "radius": 4.0, "delta": 0.05}
    assert multiclass_risk_bound(0, n_samples=10, margin=0.01, **options) == np.inf
    assert multiclass_risk_bound(1, n_samples=10, margin=1e6, **options) == np.inf


@pytest.fixture(scope="module")
def trained():
    X, y = make_blobs(75, centers=4, random_state=1)
    options = {"svm_tol": 1e-7, "dtype": "float64", "probability": None}
    return LearnedSBC(C=50, gamma=0.1, **options).fit(X, y), X, y


def test_of_a_classifier(trained):
    classifier, X, y = trained
    outputs = classifier.binary_outputs(X) - classifier.intercept_
    margins = np.where(y[:, np.newaxis] == np.arange(4), 1, -1) * outputs
    options = {"n_bases": 4, "radius": np.sqrt(75)}
    for margin in (0.2, 0.7, float(np.sort(margins, axis=None)[-5])):  # ≤: equality is an error
        expected = multiclass_risk_bound(
            np.mean(margins <= margin),
            margin=margin,
            delta=0.05,
            n_samples=75,
            n_classes=4,
            **options,
        )
        assert risk_bound(outputs, y, margin=margin, **options) == pytest.approx(expected)


def test_with_the_norm_it_is_that_of_the_classifier_of_norm_one(trained):
    classifier, X, y = trained
    W = classifier._trained.model.best.model.coefficients_.toarray()
    K = rbf_kernel(X, gamma=classifier.gamma_)
    norm = np.sqrt(np.sum(W * (K @ W @ classifier.coupling_)))
    assert classifier.norm_ == pytest.approx(norm, rel=1e-6)
    outputs = classifier.binary_outputs(X) - classifier.intercept_
    margins = np.where(y[:, np.newaxis] == np.arange(4), 1, -1) * outputs / norm
    gamma = float(np.quantile(margins, 0.4))
    options = {"n_bases": 4, "radius": np.sqrt(75), "margin": gamma}
    expected = multiclass_risk_bound(
        np.mean(margins <= gamma),
        delta=0.05,
        corrected=True,
        n_samples=75,
        n_classes=4,
        **options,
    )
    found = risk_bound(outputs, y, norm=classifier.norm_, **options)
    assert found == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0}, "'margin' parameter must be a positive number. Got 0"),
        ({"margin": "wide"}, "'margin' parameter"),
        ({"margin": 0.1, "delta": 0}, "'delta' parameter must be a number between 0 and 1. Got 0"),
        ({"margin": 0.1, "delta": 1}, "'delta' parameter"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        risk_bound(np.zeros((3, 2)), [0, 1, 0], n_bases=2, radius=1.0, **options)
