"""One binary classifier for all classes, against LIBSVM on replicas and other formulations."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.svm import SVC

from polychotomy import SharedKernelSVC, SingleBinaryClassifier, make_code
from polychotomy.decoding import decode
from polychotomy.learners import SingleCall

KERNELS = [
    {"kernel": "rbf", "gamma": 0.1, "C": 3.0},
    {"kernel": "poly", "gamma": 0.05, "coef0": 1.0, "C": 0.1},
    {"kernel": "sigmoid", "gamma": 0.01, "coef0": -1.0, "C": 0.5},
]
EXTENSIONS = [
    "identity",
    "single",
    "hamming",
    "bch",
    "orthogonal",
    make_code("one_vs_one", 4),
    np.random.RandomState(0).normal(size=(4, 2)),
]


@pytest.fixture(scope="module")
def data():
    return make_classification(
        80, 6, n_informative=5, n_redundant=0, n_classes=4, class_sep=1.2, random_state=0
    )


def replicate(X, y, E, kept):
    """The replicated set of section 3, written down as the paper does."""
    Z, labels = [], []
    for i, x in enumerate(X):
        for r, word in enumerate(E):
            if kept[i, r]:
                Z.append([*x, *word])
                labels.append(1 if y[i] == r else -1)
    return np.array(Z), np.array(labels)


def outputs_of(svc, X, A):
    return np.array([svc.decision_function([[*x, *row] for row in A]) for x in X])


def libsvm(options):
    return SVC(tol=1e-7, **options)


def joint(options, **parameters):
    learner = SharedKernelSVC(tol=1e-7, dtype="float64", **options)
    return SingleBinaryClassifier(learner, probability=None, **parameters)


@pytest.mark.parametrize("options", KERNELS, ids=lambda options: options["kernel"])
@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda e: e if isinstance(e, str) else "own")
def test_replicas_are_those_of_libsvm(data, options, extension):
    X, y = data
    ours = joint(options, extension=extension).fit(X, y)
    E = ours.extension_
    theirs = libsvm(options).fit(*replicate(X, y, E, np.ones((80, 4), dtype=bool)))
    expected = outputs_of(theirs, X, E)
    np.testing.assert_allclose(ours.binary_outputs(X), expected, atol=2e-5)
    np.testing.assert_array_equal(ours.predict(X), ours.binary_outputs(X).argmax(axis=1))
    second, first = np.sort(expected, axis=1)[:, -2:].T  # support vectors are often tied at −1
    clear = first - second > 1e-3
    assert options["kernel"] == "sigmoid" or clear.mean() > 0.5
    np.testing.assert_array_equal(ours.predict(X)[clear], expected[clear].argmax(axis=1))


@pytest.mark.parametrize("options", KERNELS, ids=lambda options: options["kernel"])
@pytest.mark.parametrize("negatives", ["random", "hard", "near"])
@pytest.mark.parametrize("n_negatives", [1, 2])
def test_so_are_some_of_them(data, options, negatives, n_negatives):
    X, y = data
    parameters = {"n_negatives": n_negatives, "negatives": negatives, "random_state": 5}
    ours = joint(options, **parameters).fit(X, y)
    seen = []

    class Spy(SVC):
        def fit(self, Z, labels, sample_weight=None):
            seen.append((Z, labels))
            return super().fit(Z, labels, sample_weight)

    explicit = SingleBinaryClassifier(Spy(tol=1e-7, **options), probability=None, **parameters).fit(
        X, y
    )
    (Z, labels), E = seen[0], ours.extension_
    assert len(Z) == 80 * (1 + n_negatives)
    assert labels.sum() == 80
    # Every replica is one of those of the paper, and the own class's is always there.
    all_Z, all_labels = replicate(X, y, E, np.ones((80, 4), dtype=bool))
    known = {tuple(z): label for z, label in zip(all_Z, all_labels, strict=True)}
    assert all(known[tuple(z)] == 2 * label - 1 for z, label in zip(Z, labels, strict=True))
    assert len({tuple(z) for z in Z}) == len(Z)
    theirs = libsvm(options).fit(Z, labels)
    np.testing.assert_allclose(ours.binary_outputs(X), outputs_of(theirs, X, E), atol=2e-5)
    np.testing.assert_allclose(explicit.binary_outputs(X), ours.binary_outputs(X), atol=2e-5)


@pytest.mark.parametrize("options", KERNELS, ids=lambda options: options["kernel"])
@pytest.mark.parametrize("name", ["bch", "one_vs_one", "exhaustive"])
def test_single_calls_are_those_of_libsvm(data, options, name):
    X, y = data
    ours = joint(options, random_state=0, replication=SingleCall(name)).fit(X, y)
    code = ours.code_
    ell = code.n_problems
    Z, labels = [], []
    for i, x in enumerate(X):
        for s in range(ell):
            if code.matrix[y[i], s]:
                Z.append([*x, *np.eye(ell)[s]])
                labels.append(code.matrix[y[i], s])
    theirs = libsvm(options).fit(Z, labels)
    expected = outputs_of(theirs, X, np.eye(ell))
    np.testing.assert_allclose(ours.binary_outputs(X), expected, atol=3e-5)
    distances = np.array([[np.linalg.norm(f - a) for a in code.matrix] for f in expected])
    np.testing.assert_allclose(ours.decision_function(X), -distances, atol=1e-3)


def test_sbc_identity_is_a_single_call_with_a_nominal_feature(data):
    X, y = data
    one = joint(KERNELS[0], extension="identity").fit(X, y)
    two = joint(KERNELS[0], replication=SingleCall("one_vs_rest")).fit(X, y)
    np.testing.assert_allclose(one.binary_outputs(X), two.binary_outputs(X), atol=1e-9)


def test_explicit_replicas_of_sparse_data_and_of_kernel_functions(data):
    X, y = data
    options = KERNELS[0]
    expected = joint(options).fit(X, y).binary_outputs(X)

    def rbf(A, B):
        squares = ((A[:, np.newaxis] - B[np.newaxis]) ** 2).sum(axis=2)
        return np.exp(-0.1 * squares)

    for learner, kind in (
        (libsvm(options), np.asarray),
        (libsvm(options), csr_array),
        (SharedKernelSVC(tol=1e-7, dtype="float64", **options), csr_array),
        (SharedKernelSVC(tol=1e-7, dtype="float64", kernel=rbf, C=3.0), np.asarray),
    ):
        found = SingleBinaryClassifier(learner, probability=None).fit(kind(X), y)
        np.testing.assert_allclose(found.binary_outputs(kind(X)), expected, atol=1e-5)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 5}])
def test_weights_are_those_of_the_replicated_set(data, class_weight, rng):
    X, y = data
    weight = rng.uniform(0.2, 3, size=80)
    options = {"gamma": 0.1, "class_weight": class_weight, "tol": 1e-7}
    ours = SingleBinaryClassifier(SharedKernelSVC(dtype="float64", **options), probability=None)
    theirs = SingleBinaryClassifier(SVC(**options), probability=None)
    np.testing.assert_allclose(
        ours.fit(X, y, sample_weight=weight).binary_outputs(X),
        theirs.fit(X, y, sample_weight=weight).binary_outputs(X),
        atol=1e-5,
    )


def test_kesler_with_a_perceptron_is_the_multi_vector_perceptron(data):
    X, y = data
    learner = Perceptron(shuffle=False, max_iter=7, tol=None, fit_intercept=True)
    ours = SingleBinaryClassifier(learner, "kesler", probability=None).fit(X, y)
    W = np.zeros((4, 7))
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    for _ in range(7):
        for x, own in zip(np.column_stack([np.ones(80), X]), y, strict=True):
            for a, b in pairs:
                if own in (a, b):
                    other = a + b - own
                    if (W[own] - W[other]) @ x <= 0:
                        W[own] += x
                        W[other] -= x
    np.testing.assert_allclose(ours.estimator_.coef_.reshape(4, 7), W, atol=1e-9)
    scores = np.column_stack([np.ones(80), X]) @ W.T
    np.testing.assert_array_equal(ours.predict(X), scores.argmax(axis=1))
    np.testing.assert_allclose(
        ours.decision_function(X), 4 * scores - scores.sum(axis=1, keepdims=True), atol=1e-9
    )


def test_kesler_with_the_logistic_loss_minimises_its_sum_over_pairs(data):
    """½‖W‖² + C Σ_i Σ_{r≠y_i} log(1 + exp(−(w_y − w_r)·(1, x_i))), minimised directly."""
    X, y = data
    A, C = np.column_stack([np.ones(80), X]), 0.7
    other = np.arange(4) != y[:, np.newaxis]

    def loss(flat):
        scores = A @ flat.reshape(4, 7).T
        lead = scores[np.arange(80), y][:, np.newaxis] - scores
        slope = np.where(other, -1 / (1 + np.exp(lead)), 0)
        by_scores = -slope
        by_scores[np.arange(80), y] += slope.sum(axis=1)
        value = flat @ flat / 2 + C * np.logaddexp(0, -lead)[other].sum()
        return value, flat + C * (by_scores.T @ A).ravel()

    W = minimize(loss, np.zeros(28), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    learner = LogisticRegression(C=C, tol=1e-10, max_iter=10_000)
    ours = SingleBinaryClassifier(learner, "kesler", probability=None).fit(X, y)
    np.testing.assert_allclose(ours.estimator_.coef_.ravel(), W, atol=1e-4)
    scores = A @ W.reshape(4, 7).T
    pairs = scores @ make_code("one_vs_one", 4).matrix
    np.testing.assert_allclose(ours.binary_outputs(X), pairs, atol=1e-3)
    np.testing.assert_allclose(
        ours.decision_function(X), decode(pairs, make_code("one_vs_one", 4), "linear"), atol=1e-2
    )
