import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.svm import SVC

from polychotomy import SharedKernelSVC
from polychotomy.kernel import fit_concatenated
from polychotomy.kernel._concatenated import ConcatenatedKernel, Entries
from polychotomy.kernel._functions import Kernel
from polychotomy.kernel._kernel_rows import KernelRows

A = np.array([[1.0, 0.0, 0.5], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
EXACT = {"tol": 1e-8, "dtype": "float64"}
KERNELS = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 1.0, "C": 0.1},
    {"kernel": "poly", "gamma": 0.3, "degree": 2, "coef0": 0.0, "C": 0.1},
    {"kernel": "sigmoid", "gamma": 0.01, "coef0": -1.0, "C": 0.02},
]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        90, 6, n_informative=5, n_redundant=1, n_classes=3, class_sep=0.8, random_state=1
    )
    targets = np.where(y[:, np.newaxis] == np.arange(3), 1, -1)
    left_out = np.random.RandomState(0).uniform(size=targets.shape) < 0.3
    return X, np.where(left_out & (targets < 0), 0, targets)


def explicit(X, targets):
    sample, row = np.nonzero(targets)
    return np.hstack([X[sample], A[row]]), targets[sample, row], sample


def all_replicas(X):
    return np.hstack([np.repeat(X, 3, axis=0), np.tile(A, (len(X), 1))])


@pytest.mark.parametrize("options", KERNELS, ids=str)
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1, 1: 3}])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_it_is_the_problem_on_replicas(data, options, class_weight, kind, rng):
    if options["kernel"] == "sigmoid" and class_weight:
        pytest.skip("it is not positive semi-definite, and the two solvers find different optima")
    X, targets = data
    weight = rng.uniform(0.5, 2, size=len(X))
    Z, labels, sample = explicit(X, targets)
    theirs = SVC(tol=1e-8, class_weight=None, **options)
    if class_weight == "balanced":
        theirs.set_params(class_weight="balanced")
    elif class_weight:
        theirs.set_params(class_weight={-1: 1, 1: 3})
    theirs.fit(Z, labels, sample_weight=weight[sample])
    learner = SharedKernelSVC(class_weight=class_weight, **EXACT, **options)
    ours = fit_concatenated(learner, kind(X), targets, A, sample_weight=weight)
    expected = theirs.decision_function(all_replicas(X)).reshape(-1, 3)
    np.testing.assert_allclose(ours.outputs(kind(X)), expected, atol=2e-3)  # LIBSVM is single
    assert abs(ours.duality_gap_[0]) < 1e-6 * ours.dual_objective_[0]
    assert learner.class_weight == class_weight


def test_a_precomputed_kernel_is_multiplied_by_that_of_the_rows(data):
    X, targets = data
    plain = fit_concatenated(SharedKernelSVC(gamma=0.3, **EXACT), X, targets, A)
    given = SharedKernelSVC(kernel="precomputed", gamma=0.3, **EXACT)
    ours = fit_concatenated(given, rbf_kernel(X, gamma=0.3), targets, A)
    np.testing.assert_allclose(ours.outputs(rbf_kernel(X, gamma=0.3)), plain.outputs(X), atol=1e-6)
    by_scale = fit_concatenated(
        given.set_params(gamma="scale"), rbf_kernel(X, gamma=0.3), targets, A
    )
    Q = rbf_kernel(A, gamma=1 / (3 * A.var()))
    coupled = given.fit_joint(rbf_kernel(X, gamma=0.3), targets, coupling=Q)
    K = rbf_kernel(X, gamma=0.3)
    np.testing.assert_allclose(by_scale.outputs(K), coupled.outputs(K), atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_gamma_goes_by_the_samples_alone(data, kernel):
    X, targets = data
    for name, value in (("scale", 1 / (6 * X.var())), ("auto", 1 / 6)):
        by_name = fit_concatenated(SharedKernelSVC(kernel=kernel, gamma=name), X, targets, A)
        by_value = fit_concatenated(SharedKernelSVC(kernel=kernel, gamma=value), X, targets, A)
        np.testing.assert_allclose(by_name.outputs(X), by_value.outputs(X), atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["poly", "sigmoid"])
def test_rows_are_the_kernel_of_the_concatenation(data, name, dtype):
    X, targets = data
    kernel = ConcatenatedKernel(Kernel(name, 0.1, 0.5, 3.0, dtype), A @ A.T)
    sample, row = np.nonzero(targets)
    rows = KernelRows(kernel, Entries(X, sample, row), cache_size=10)
    wanted = np.array([0, 5, 3, 100, 4, 1])
    rows.pin(wanted)
    Z = explicit(X, targets)[0]
    if name == "poly":
        expected = polynomial_kernel(Z[wanted], Z, degree=3, gamma=0.1, coef0=0.5)
    else:
        expected = sigmoid_kernel(Z[wanted], Z, gamma=0.1, coef0=0.5)
    found = rows.values[rows.slot[wanted], : len(Z)]
    np.testing.assert_allclose(
        found,
        expected,
        rtol=1e-5 if dtype == "float32" else 1e-12,
        atol=1e-5 if dtype == "float32" else 0,
    )


def test_frames_pickles_and_small_caches(data):
    X, targets = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    learner = SharedKernelSVC(kernel="poly", gamma=0.3, coef0=1.0, cache_size=0.01)
    model = fit_concatenated(learner, frame, targets, A)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.outputs(frame), model.outputs(frame))
    assert model.dual_objective_.shape == model.n_iter_.shape == (1,)
    assert -1e-6 <= model.duality_gap_[0] < 0.1 * model.dual_objective_[0]
    with pytest.raises(ValueError, match="feature names should match"):
        model.outputs(frame[list("fedcba")])


@pytest.mark.parametrize("kernel", ["linear", rbf_kernel])
def test_other_kernels_need_replicas(data, kernel):
    with pytest.raises(ValueError, match="for replicas not to be made"):
        fit_concatenated(SharedKernelSVC(kernel=kernel), *data, A)


@pytest.mark.parametrize("m", [4, 5, 6, 7])
def test_blocks_of_few_samples_contain_the_worst(m):
    """A pair of replicas comes first: alone in the block, it left nothing to do, for ever."""
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(m, 3)) + 3 * np.arange(m)[:, np.newaxis]
        targets = np.where(np.arange(m)[:, np.newaxis] % 3 == np.arange(3), 1, -1)
        extended, y, _ = explicit(X, targets)
        model = fit_concatenated(SharedKernelSVC(gamma=0.3, **EXACT), X, targets, A)
        expected = SVC(gamma=0.3, tol=1e-8).fit(extended, y).decision_function(extended)
        np.testing.assert_allclose(model.outputs(X).ravel(), expected, atol=1e-6)


def test_rows_that_are_the_same_for_the_kernel_are_refused(data):
    X, targets = data
    fit_concatenated(SharedKernelSVC(), X, targets, A)
    with pytest.raises(ValueError, match="takes all codewords for the same"):
        fit_concatenated(SharedKernelSVC(), 1e150 * X, targets, A)
