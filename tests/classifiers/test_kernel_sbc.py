from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from polychotomy import KernelSBCClassifier, SharedKernelSVC

LearnedSBC = partial(KernelSBCClassifier, weights="learned")

EXACT = {"svm_tol": 1e-8, "dtype": "float64", "probability": None}


@pytest.fixture(scope="module")
def blobs():
    centres = [[0, 0], [2, 0], [1, 2], [3, 2]]
    return make_blobs([30, 20, 15, 10], centers=centres, cluster_std=0.8, random_state=0)


def by_libsvm(classifier, X, y, T):
    """The outputs for T of LIBSVM trained on the explicit kernel of all replicas."""
    k = len(classifier.classes_)
    labels = np.where(y[:, np.newaxis] == classifier.classes_, 1, -1).ravel()
    gram = np.kron(rbf_kernel(X, gamma=classifier.gamma_), classifier.coupling_)
    svm = SVC(C=classifier.C, kernel="precomputed", tol=1e-8).fit(gram, labels)
    test = np.kron(rbf_kernel(T, X, gamma=classifier.gamma_), classifier.coupling_)
    return svm.decision_function(test).reshape(-1, k)


@pytest.mark.parametrize("svm", [KernelSBCClassifier, SharedKernelSVC])
def test_parameters_of_the_kernel_are_those_of_scikit_learns_svm_by_default(svm):
    names = ("C", "gamma", "degree", "coef0")
    given, expected = svm().get_params(), SVC().get_params()
    assert {name: given[name] for name in names} == {name: expected[name] for name in names}


@pytest.mark.parametrize("weights", ["learned", "class_frequencies", [1, 2, 3, 4]])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_outputs_are_those_of_explicit_replicas(blobs, weights, k, rng):
    X, y = blobs
    X, y = X[y < k], y[y < k]
    weights = weights[:k] if isinstance(weights, list) else weights
    classifier = LearnedSBC(C=5, gamma=0.4, weights=weights, **EXACT).fit(X, y)
    T = rng.normal(1, 2, size=(40, 2))
    outputs = classifier.binary_outputs(T)
    # LIBSVM keeps kernel values in single precision.
    np.testing.assert_allclose(outputs, by_libsvm(classifier, X, y, T), atol=1e-3)
    np.testing.assert_array_equal(classifier.predict(T), outputs.argmax(axis=1))


def test_two_classes_are_a_binary_svm_without_bias(blobs, rng):
    """With kernel R (1 − e^−γ) K: its problem is solved here by the mirror image of each sample."""
    X, y = blobs
    X, y = X[y < 2], y[y < 2]
    classifier = LearnedSBC(C=2, gamma=0.4, radius=3, **EXACT).fit(X, y)
    np.testing.assert_allclose(classifier.weights_, 1.5)
    assert classifier.n_solves_ == 1  # there is nothing to learn
    K = 3 * (1 - np.exp(-0.4)) * rbf_kernel(X, gamma=0.4)
    mirrored = np.kron([[1, -1], [-1, 1]], K)  # φ(x) labelled y and −φ(x) labelled −y: no bias
    sides = np.where(y == 1, 1, -1)
    svm = SVC(C=1, kernel="precomputed", tol=1e-9).fit(mirrored, np.hstack([sides, -sides]))
    T = rng.normal(1, 2, size=(20, 2))
    K_test = 3 * (1 - np.exp(-0.4)) * rbf_kernel(T, X, gamma=0.4)
    expected = svm.decision_function(np.hstack([K_test, -K_test]))
    scores = classifier.decision_function(T)
    assert scores.shape == (20,)
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    np.testing.assert_array_equal(classifier.predict(T), (scores > 0).astype(int))
    assert classifier.intercept_ == pytest.approx(0, abs=1e-6)


def test_class_frequencies_are_one_joint_solve(blobs):
    X, y = blobs
    classifier = LearnedSBC(C=5, gamma=0.4, weights="class_frequencies", **EXACT).fit(X, y)
    R = np.sqrt(75)
    assert classifier.radius_ == pytest.approx(R)
    np.testing.assert_allclose(classifier.weights_, R * np.array([30, 20, 15, 10]) / 75)
    M = np.full((4, 4), R)
    for r, s in np.argwhere(~np.eye(4, dtype=bool)):  # 1 but e^−γ where one of both is the j-th
        M[r, s] -= (1 - np.exp(-0.4)) * (classifier.weights_[r] + classifier.weights_[s])
    np.testing.assert_allclose(classifier.coupling_, M)
    targets = np.where(y[:, np.newaxis] == np.arange(4), 1, -1)
    svc = SharedKernelSVC(5, gamma=0.4, tol=1e-8, dtype="float64")
    joint = svc.fit_joint(X, targets, coupling=M, common_bias=True)
    np.testing.assert_allclose(classifier.binary_outputs(X), joint.outputs(X), atol=1e-6)
    np.testing.assert_allclose(classifier.objectives_, 2 * joint.dual_objective_, rtol=1e-12)
    assert classifier.n_iter_ == classifier.n_solves_ == 1


def test_learned_weights_are_better_than_any_others(blobs, rng):
    X, y = blobs
    learned = LearnedSBC(C=5, gamma=0.4, **EXACT).fit(X, y)
    assert (np.diff(learned.objectives_) < 0).all()
    assert len(learned.objectives_) == learned.n_iter_ <= learned.n_solves_
    assert (learned.weights_ >= 0).all()
    assert learned.weights_.sum() == pytest.approx(learned.radius_)
    lower = learned.objectives_[-1] * (1 - learned.optimality_gap_)
    for weights in ["class_frequencies", *rng.dirichlet(np.ones(4), size=10)]:
        other = LearnedSBC(C=5, gamma=0.4, weights=weights, **EXACT).fit(X, y)
        assert other.objectives_[-1] > learned.objectives_[-1]
        assert other.objectives_[-1] * (1 - other.optimality_gap_) <= learned.objectives_[-1]
        assert other.objectives_[-1] >= lower


def test_only_the_proportions_of_given_weights_count(blobs):
    X, y = blobs
    one, two = (
        LearnedSBC(radius=7, weights=f * np.array([1, 2, 0, 4]), probability=None) for f in (1, 10)
    )
    np.testing.assert_allclose(one.fit(X, y).weights_, [1, 2, 0, 4])
    np.testing.assert_allclose(two.fit(X, y).weights_, one.weights_)


def test_the_radius_scales_the_kernel_and_so_acts_on_c(blobs):
    """W M stays the same if M is multiplied and C divided by the same number."""
    X, y = blobs
    a = LearnedSBC(C=8, radius=1, weights=np.ones(4), **EXACT).fit(X, y)
    b = LearnedSBC(C=2, radius=4, weights=np.ones(4), **EXACT).fit(X, y)
    np.testing.assert_allclose(a.binary_outputs(X), b.binary_outputs(X), atol=1e-6)


def test_own_extensions(blobs, rng):
    X, y = blobs
    extensions = [np.eye(4), rng.normal(size=(4, 2)), [[0], [0], [1], [1]]]
    classifier = LearnedSBC(C=5, gamma=0.4, extensions=extensions, **EXACT).fit(X, y)
    assert classifier.weights_.shape == (3,)
    expected = sum(
        weight * rbf_kernel(np.array(E, dtype=float), gamma=0.4)
        for weight, E in zip(classifier.weights_, extensions, strict=True)
    )
    np.testing.assert_allclose(classifier.coupling_, expected)


def test_sbc_identity_is_a_single_basis(blobs):
    X, y = blobs
    classifier = LearnedSBC(C=5, gamma=0.4, radius=1, extensions=[np.eye(4)], **EXACT).fit(X, y)
    np.testing.assert_allclose(classifier.weights_, 1)
    off = np.exp(-0.8)
    np.testing.assert_allclose(classifier.coupling_, off + (1 - off) * np.eye(4))


def test_relabelling_the_classes_changes_nothing(blobs):
    X, y = blobs
    names = np.array(["delta", "alpha", "charlie", "bravo"])
    a = LearnedSBC(C=5, tol=1e-5, **EXACT).fit(X, y)
    b = LearnedSBC(C=5, tol=1e-5, **EXACT).fit(X, names[y])
    order = np.searchsorted(b.classes_, names)
    np.testing.assert_allclose(a.binary_outputs(X), b.binary_outputs(X)[:, order], atol=1e-3)
    np.testing.assert_array_equal(names[a.predict(X)], b.predict(X))


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_it_classifies(load):
    X, y = load(return_X_y=True)
    for weights in ("learned", "class_frequencies"):
        classifier = LearnedSBC(C=10, weights=weights, probability=None)
        assert cross_val_score(make_pipeline(StandardScaler(), classifier), X, y).mean() > 0.92


def test_samples_come_in_any_form(blobs):
    X, y = blobs
    classifier = LearnedSBC(C=5, **EXACT)
    expected = classifier.fit(X, y).binary_outputs(X)
    for given in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"])):
        np.testing.assert_allclose(classifier.fit(given, y).binary_outputs(given), expected)
        assert list(classifier.feature_names_in_) == ["a", "b"]
    sparse = csr_array(X)
    outputs = classifier.fit(sparse, y).binary_outputs(sparse)
    np.testing.assert_allclose(outputs, expected, atol=1e-6)


def test_progress_is_told(blobs, capsys):
    X, y = blobs
    classifier = LearnedSBC(verbose=1, probability=None).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == classifier.n_solves_
    assert lines[0].startswith("solve 1: objective ")


def test_weights_without_difference_between_classes_are_told(blobs):
    X, y = blobs
    names = np.array(["oak", "elm", "ash", "fir"])
    classifier = LearnedSBC(weights=[0, 1, 0, 1], probability=None)
    with pytest.warns(
        UserWarning, match="between the classes ash and fir: the .* cannot distinguish"
    ):
        classifier.fit(X, names[y])  # sorted: ash, elm, fir, oak
    outputs = classifier.binary_outputs(X)
    np.testing.assert_allclose(outputs[:, 0], outputs[:, 2])


class TestProbabilities:
    def test_they_are_on_the_simplex_and_agree_with_the_prediction(self, blobs):
        X, y = blobs
        classifier = LearnedSBC(C=5).fit(X, y)
        p = classifier.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert (p >= 0).all()
        np.testing.assert_array_equal(classifier.classes_[p.argmax(axis=1)], classifier.predict(X))
        assert classifier.calibration_ == "sigmoid"
        assert classifier.probability_ in ("normalise", "least_squares", "kullback_leibler")
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(classifier.predict_log_proba(X), np.log(p))

    def test_they_are_calibrated_out_of_fold(self):
        """On labels that are half noise, training outputs would promise too much."""
        rng = np.random.default_rng(0)
        X, y = make_blobs(300, centers=3, cluster_std=3, random_state=3)
        T, t = make_blobs(600, centers=3, cluster_std=3, random_state=3)
        y = np.where(rng.uniform(size=300) < 0.4, rng.integers(3, size=300), y)
        t = np.where(rng.uniform(size=600) < 0.4, rng.integers(3, size=600), t)
        losses = [
            log_loss(t, LearnedSBC(C=50, cv=cv).fit(X, y).predict_proba(T)) for cv in (5, None)
        ]
        assert losses[0] < min(losses[1], np.log(3))

    def test_each_class_may_have_its_own_calibration(self, blobs):
        X, y = blobs
        shared, own = (LearnedSBC(C=5, shared_calibration=flag).fit(X, y) for flag in (True, False))
        assert len(set(shared._readout.calibrators)) == 1
        assert len(set(own._readout.calibrators)) == 4

    def test_folds_take_the_learned_weights(self, blobs, monkeypatch):
        X, y = blobs
        seen = []
        fit_joint = SharedKernelSVC.fit_joint

        def spy(self, X, targets, **options):
            n_trained = int(targets.any(axis=1).sum())
            seen.append((n_trained, options["coupling"], options["start"]))
            return fit_joint(self, X, targets, **options)

        monkeypatch.setattr(SharedKernelSVC, "fit_joint", spy)
        classifier = LearnedSBC(C=5, cv=3).fit(X, y)
        assert [n for n, _, _ in seen[-3:]] == [50, 50, 50]
        for _, coupling, start in seen[-3:]:
            np.testing.assert_array_equal(coupling, classifier.coupling_)
            assert start.sum() == pytest.approx(0, abs=1e-9)
            assert start.nnz > 0

    def test_without(self, blobs):
        classifier = LearnedSBC(probability=None).fit(*blobs)
        assert not hasattr(classifier, "predict_proba")
        assert classifier.probability_ is classifier.calibration_ is None
        classifier.probability = "auto"
        with pytest.raises(ValueError, match="no probabilities"):
            classifier.predict_proba(blobs[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "'C' parameter must be a positive number. Got 0"),
        ({"svm_tol": -1}, "'svm_tol' parameter must be a positive number. Got -1"),
        ({"gamma": "big"}, "'gamma' parameter must be one of"),
        ({"radius": 0}, "'radius' parameter must be 'sqrt' or a positive number .* Got 0"),
        ({"radius": -2.5}, "'radius' parameter .* Got -2.5"),
        ({"radius": np.inf}, "'radius' parameter"),
        ({"radius": 1e39}, "a positive number below 1e[+]30. Got 1e[+]39"),
        ({"probability": "normal"}, "'probability' parameter must be one of"),
        ({"radius": "sqrd"}, r"'radius' parameter must be one of 'sqrt'.*Did you mean 'sqrt'\?"),
        ({"weights": "learnt"}, r"'weights' parameter must be one of .*Did you mean 'learned'\?"),
        ({"weights": [1, 2]}, r"for each of 4 extensions.*Got an array of shape \(2,\)"),
        ({"weights": [1, 2, -1, 1]}, "a number that is not negative"),
        ({"weights": [0, 0, 0, 0]}, "not all of them 0"),
        ({"weights": None}, "Got None"),
        ({"extensions": "identity"}, "must be a sequence of matrices.*Got str"),
        ({"extensions": []}, "at least one matrix"),
        ({"extensions": [np.eye(3)]}, r"a row for each of 4 classes.*shape \(3, 3\).*number 0"),
        ({"extensions": [np.eye(4), [1, 2, 3, 4]]}, r"shape \(4,\).*number 1"),
        ({"extensions": [np.full((4, 1), np.nan)]}, "finite numbers"),
        ({"extensions": [["a", "b"]]}, "finite numbers"),
        (
            {"extensions": [[[0], [1], [1], [2]], [[3], [4], [4], [4]]]},
            r"the classes 1 and 2 \(rows 1 and 2\) are equal in all of them",
        ),
        (
            {"extensions": [np.eye(4)], "weights": "class_frequencies"},
            "needs as many extensions or couplings as classes. Got 1 for 4",
        ),
        ({"couplings": [np.eye(3)]}, "finite numbers for all pairs of 4"),
        ({"couplings": np.eye(4)}, "must be a sequence of matrices"),
        ({"couplings": [np.eye(4)], "extensions": [np.eye(4)]}, "not both"),
        ({"n_negatives": 9}, "an int from 1 to 3"),
        ({"kernel": "sigmoid"}, "'kernel' parameter must be one of"),
        ({"tol": 2}, "'tol' parameter must be a number between 0 and 1"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"probability": "couplign"}, "one of|needs"),
        ({"probability": "coupling"}, "one-vs-one"),
        ({"calibration": "platt"}, "'calibration' parameter must be one of"),
        ({"cv": 1}, "'cv' parameter must be an int of at least 2"),
    ],
)
def test_bad_parameters_are_refused(blobs, options, message):
    classifier = LearnedSBC(**options)
    with pytest.raises(ValueError, match=message):
        classifier.fit(*blobs)
    assert not hasattr(classifier, "classes_")
    assert not hasattr(classifier, "n_features_in_")


def test_a_fold_without_a_class_is_refused(blobs):
    X, y = blobs
    splits = list(LeaveOneGroupOut().split(X, y, groups=y))
    with pytest.raises(ValueError, match="Fold 0 has none of class 0; give fewer folds"):
        LearnedSBC(cv=splits).fit(X, y)


def test_it_must_be_fitted(blobs):
    for method in ("predict", "binary_outputs", "decision_function", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(LearnedSBC(), method)(blobs[0])


def test_the_conditions_hold_however_large_the_radius():
    """The kernel is R times larger, and so would be what single precision leaves of it."""
    X, y = make_blobs(120, centers=3, cluster_std=3.0, random_state=2)
    X = X / X.std(axis=0)
    options = {"gamma": 0.3, "weights": "class_frequencies", "probability": None}
    classifier = LearnedSBC(20, radius=1000, **options).fit(X, y)
    T = np.where(y[:, np.newaxis] == np.arange(3), 1, -1)
    W = classifier._trained.model.best.model.coefficients_.toarray()
    alpha = T * W
    below, above = alpha < 20 * (1 - 1e-9), alpha > 1e-12
    G = T - rbf_kernel(X, gamma=0.3) @ W @ classifier.coupling_
    up, down = np.where(T > 0, below, above), np.where(T > 0, above, below)
    assert G[up].max() - G[down].min() < 1.5e-3


def test_weights_of_samples_must_not_be_negative(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        LearnedSBC(probability=None).fit(X, y, sample_weight=np.where(y == 0, -1, 0.5))


def test_weighted_samples_count_as_often(blobs):
    X, y = blobs
    repeats = np.arange(75) % 4
    weighted = LearnedSBC(C=5, gamma=0.5, weights="class_frequencies", **EXACT)
    repeated = LearnedSBC(C=5, gamma=0.5, weights="class_frequencies", **EXACT)
    weighted.fit(X, y, sample_weight=repeats)
    repeated.fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    np.testing.assert_allclose(weighted.weights_, repeated.weights_)
    np.testing.assert_allclose(weighted.binary_outputs(X), repeated.binary_outputs(X), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rejects_by_the_size_of_scores_and_probabilities(iris, n_classes):
    X, y = iris
    X, y = X[y > 2 - n_classes][:, :2], y[y > 2 - n_classes]
    classifier = LearnedSBC(cv=2).fit(X, y)
    with pytest.raises(ValueError, match="share one bias"):
        classifier.predict_or_reject(X, "votes")
    scores = classifier.decision_function(X)
    winning = np.abs(scores) if n_classes == 2 else scores.max(axis=1)
    labels, accepted = classifier.predict_or_reject(X, "confidence", float(np.median(winning)))
    assert np.array_equal(accepted, winning >= np.median(winning))
    assert np.array_equal(labels, classifier.predict(X))
    p = classifier.predict_proba(X)
    labels, accepted = classifier.predict_or_reject(X, "probability", 0.7)
    assert np.array_equal(accepted, p.max(axis=1) >= 0.7)
    assert np.array_equal(labels, classifier.classes_[p.argmax(axis=1)])


def test_given_couplings_are_those_of_the_extensions(blobs):
    X, y = blobs
    extensions = [np.eye(4), np.arange(4.0)[:, np.newaxis]]
    couplings = [rbf_kernel(E, gamma=0.5) for E in extensions]
    options = {"C": 5, "gamma": 0.5, "probability": None, "svm_tol": 1e-7}
    one = LearnedSBC(extensions=extensions, **options).fit(X, y)
    two = LearnedSBC(couplings=couplings, **options).fit(X, y)
    np.testing.assert_allclose(two.weights_, one.weights_, rtol=1e-6)
    np.testing.assert_allclose(two.binary_outputs(X), one.binary_outputs(X), atol=1e-5)


@pytest.mark.parametrize("weights", ["learned", "class_frequencies"])
def test_a_precomputed_kernel_is_that_of_the_features(blobs, weights):
    X, y = blobs
    options = {"C": 5, "gamma": 0.5, "weights": weights, "svm_tol": 1e-7, "dtype": "float64"}
    plain = LearnedSBC(**options).fit(X, y)
    kernel = LearnedSBC(kernel="precomputed", **options)
    K = rbf_kernel(X, gamma=0.5)
    kernel.fit(K, y)
    np.testing.assert_allclose(kernel.binary_outputs(K), plain.binary_outputs(X), atol=1e-4)
    np.testing.assert_allclose(kernel.predict_proba(K), plain.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "poly", rbf_kernel])
def test_other_kernels_of_the_features(iris, kernel):
    X, y = iris
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"C": 10, "gamma": 0.1, "weights": "class_frequencies", "probability": None}
    classifier = LearnedSBC(kernel=kernel, coef0=1.0, degree=2, **options).fit(X, y)
    assert classifier.score(X, y) > 0.85


def test_fewer_negatives_are_trained_on(blobs):
    X, y = blobs
    options = {"C": 5, "weights": "class_frequencies", "cv": 3}
    few = LearnedSBC(n_negatives=1, random_state=0, **options).fit(X, y)
    assert few._trained.counts.samples.sum() == 2 * len(y)
    assert few.score(X, y) > 0.7
    again = LearnedSBC(n_negatives=1, random_state=0, **options).fit(X, y)
    np.testing.assert_array_equal(few.predict_proba(X), again.predict_proba(X))


def test_the_scores_of_two_classes_are_opposite(iris):
    X, y = iris[0][50:], iris[1][50:]
    classifier = KernelSBCClassifier(weights="learned", gamma=0.5, C=10).fit(X, y)
    first, second = classifier.binary_outputs(X).T
    np.testing.assert_allclose(classifier.decision_function(X), (second - first) / 2, rtol=1e-12)
