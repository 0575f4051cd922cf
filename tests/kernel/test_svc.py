import io
import pickle
import tracemalloc
from contextlib import redirect_stderr

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC

from polychotomy import CodeClassifier, SharedKernelSVC, TreeClassifier, make_code
from polychotomy.kernel import free_memory


@pytest.fixture(scope="module")
def pair():
    return make_classification(300, 8, n_informative=5, flip_y=0.1, class_sep=0.7, random_state=0)


def objective_of(svc, X):
    w = np.zeros(X.shape[0])
    w[svc.support_] = svc.dual_coef_[0]
    return np.abs(w).sum() - 0.5 * w @ (svc.decision_function(X) - svc.intercept_[0])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 1e-3},
        {"C": 100.0},
        {"C": 1e4, "gamma": 0.01},
        {"gamma": 1e-6},
        {"gamma": 50.0},
        {"gamma": "auto"},
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
        {"kernel": "sigmoid", "gamma": 0.01, "coef0": -0.5},
        {"kernel": laplacian_kernel},
        {"class_weight": "balanced"},
        {"class_weight": {0: 1, 1: 7}},
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_it_agrees_with_libsvm(pair, options, dtype, kind):
    X, y = pair
    if callable(options.get("kernel")) and kind is csr_array:
        pytest.skip("scikit-learn's SVC takes no functions for sparse data")
    if options.get("C") == 1e4 and dtype == "float32":
        dtype = "auto"  # which is double precision
    ours = SharedKernelSVC(tol=1e-4, dtype=dtype, **options).fit(kind(X), y)
    theirs = SVC(tol=1e-4, **options).fit(X, y)
    expected = theirs.decision_function(X)
    found = ours.decision_function(kind(X))
    assert found.dtype == float
    assert np.mean((found > 0) == (expected > 0)) >= 0.99
    np.testing.assert_allclose(found, expected, atol=5e-3 * max(1, np.abs(expected).max()))
    assert ours.dual_objective_ == pytest.approx(objective_of(theirs, X), rel=1e-4)
    assert ours.duality_gap_ > -1e-4 * abs(ours.dual_objective_)


def test_its_attributes_are_those_of_svc(pair):
    X, y = pair
    ours = SharedKernelSVC(tol=1e-6, dtype="float64").fit(X, np.array(["no", "yes"])[y])
    theirs = SVC(tol=1e-6).fit(X, np.array(["no", "yes"])[y])
    assert set(ours.support_) == set(theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.n_iter_.shape == (1,)


def test_weights_are_libsvms(pair, rng):
    X, y = pair
    weight = rng.uniform(0, 3, size=len(y)) * (rng.uniform(size=len(y)) > 0.2)
    ours = SharedKernelSVC(tol=1e-5).fit(X, y, sample_weight=weight)
    theirs = SVC(tol=1e-5).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)


@pytest.mark.parametrize("C", [1e-3, 0.05])
def test_without_free_support_vectors_the_bias_is_in_the_middle(C, rng):
    """As in LIBSVM: where all coefficients are C, any bias in a range would do."""
    X, y = rng.normal(size=(40, 3)), np.repeat([1, 0], 20)
    X[:20] += 0.5
    theirs = SVC(C=C, gamma=0.5, tol=1e-8).fit(X, y)
    ours = SharedKernelSVC(C=C, gamma=0.5, tol=1e-8, dtype="float64").fit(X, y)
    np.testing.assert_array_equal(np.abs(ours.dual_coef_[0]), np.full(40, C))
    assert ours.intercept_[0] == pytest.approx(theirs.intercept_[0], rel=1e-6)


@pytest.mark.parametrize("C", [0.7, 3.3])
def test_coefficients_at_their_bound_are_exactly_there(C):
    """Or rounding would leave some of them free, to be moved by nothing and to enter the bias."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y, weight = rng.normal(size=(300, 3)), rng.integers(0, 2, 300), rng.uniform(0.1, 1, 300)
        model = SharedKernelSVC(C=C, gamma=0.5, tol=1e-6, dtype="float64")
        model.fit(X, y, sample_weight=weight)
        a, bound = np.abs(model.dual_coef_[0]), C * weight[model.support_]
        at_bound = np.abs(a - bound) < 1e-9 * bound
        assert at_bound.sum() > 200
        np.testing.assert_array_equal(a[at_bound], bound[at_bound])


def test_duplicates_and_constant_features(pair):
    X, y = pair
    X = np.column_stack([np.repeat(X[:100], 3, axis=0), np.ones(300)])
    y = np.repeat(y[:100], 3)
    ours, theirs = SharedKernelSVC(C=50, gamma=1.0).fit(X, y), SVC(C=50, gamma=1.0).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=0.01)


def test_tiny_classes():
    X, y = np.array([[0.0], [1.0], [1.1]]), np.array([0, 1, 1])
    ours, theirs = SharedKernelSVC(C=10).fit(X, y), SVC(C=10).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


def test_precomputed_kernels(pair):
    X, y = pair
    options = {"dtype": "float64", "tol": 1e-7}
    plain = SharedKernelSVC(gamma=0.2, **options).fit(X[:200], y[:200])
    kernel = SharedKernelSVC(kernel="precomputed", **options).fit(
        rbf_kernel(X[:200], gamma=0.2), y[:200]
    )
    np.testing.assert_allclose(
        kernel.decision_function(rbf_kernel(X[200:], X[:200], gamma=0.2)),
        plain.decision_function(X[200:]),
        atol=1e-6,
    )


def test_single_precision_is_as_good_as_the_tolerance(pair):
    X, y = pair
    for C in (1.0, 1e3):
        single, double = (
            SharedKernelSVC(C=C, dtype=dtype).fit(X, y) for dtype in ("float32", "float64")
        )
        assert single.dual_objective_ == pytest.approx(double.dual_objective_, rel=1e-5)
        np.testing.assert_allclose(
            single.decision_function(X), double.decision_function(X), atol=5e-3
        )


def test_a_small_cache_is_enough(pair):
    X, y = np.tile(pair[0], (3, 1)), np.tile(pair[1], 3)
    X = X + 0.01 * np.arange(900)[:, np.newaxis] % 0.1
    small = SharedKernelSVC(C=10, cache_size=0.01).fit(X, y)
    large = SharedKernelSVC(C=10).fit(X, y)
    assert small.dual_objective_ == pytest.approx(large.dual_objective_, rel=1e-4)


@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one", "bch", "sparse_random"])
def test_a_code_of_it_is_a_code_of_svcs(code, digits):
    X, y = digits
    ours = CodeClassifier(SharedKernelSVC(C=10, gamma=0.05, tol=1e-4), code, random_state=0)
    theirs = CodeClassifier(SVC(C=10, gamma=0.05, tol=1e-4), code, random_state=0)
    ours.fit(X[:400], y[:400])
    theirs.fit(X[:400], y[:400])
    np.testing.assert_allclose(ours.binary_outputs(X), theirs.binary_outputs(X), atol=5e-3)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=5e-3)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.995
    assert ours.decoder_ == ("votes" if code == "one_vs_one" else "hinge")
    assert len(ours.estimators_) == len(theirs.estimators_)
    for s, estimator in enumerate(ours.estimators_[:3]):
        column = ours._trained.outputs(X, "margin")[:, s]
        np.testing.assert_allclose(estimator.decision_function(X), column, atol=1e-4)


@pytest.mark.parametrize("structure", ["linkage", "balanced", "ddag"])
def test_a_tree_of_it_is_a_tree_of_svcs(structure, digits):
    X, y = digits
    ours = TreeClassifier(SharedKernelSVC(gamma=0.05, tol=1e-4), structure).fit(X[:400], y[:400])
    theirs = TreeClassifier(SVC(gamma=0.05, tol=1e-4), structure).fit(X[:400], y[:400])
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.995
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=5e-3)
    np.testing.assert_array_equal(
        ours.decision_path(X).toarray(), theirs.decision_path(X).toarray()
    )


def test_gamma_goes_by_all_samples(iris):
    X, y = iris
    classifier = CodeClassifier(SharedKernelSVC()).fit(X, y)
    assert {e._model.kernel.gamma for e in classifier.estimators_} == {1 / (4 * X.var())}


def test_kernels_weights_frames_and_pickles_within_a_code(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=list("abcd"))
    classifier = CodeClassifier(SharedKernelSVC(), n_jobs=2).fit(frame, y)
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict_proba(frame), classifier.predict_proba(frame))
    classifier.estimators_[0].predict(frame)
    K = rbf_kernel(X, gamma=0.5)
    plain = CodeClassifier(SharedKernelSVC(gamma=0.5), "one_vs_rest").fit(X, y)
    kernel = CodeClassifier(SharedKernelSVC(kernel="precomputed"), "one_vs_rest").fit(K, y)
    np.testing.assert_allclose(kernel.predict_proba(K), plain.predict_proba(X), atol=1e-3)
    weight = np.linspace(0.5, 2, 150)
    ours = CodeClassifier(SharedKernelSVC(gamma=0.5)).fit(X, y, sample_weight=weight)
    theirs = CodeClassifier(SVC(gamma=0.5)).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.01)


def test_balanced_classes_within_a_code(digits):
    X, y = digits
    options = {"class_weight": "balanced", "gamma": 0.05, "C": 0.1}
    ours = CodeClassifier(SharedKernelSVC(**options), "one_vs_rest", probability=None)
    theirs = CodeClassifier(SVC(**options), "one_vs_rest", probability=None)
    np.testing.assert_allclose(
        ours.fit(X, y).binary_outputs(X), theirs.fit(X, y).binary_outputs(X), atol=0.01
    )
    options["class_weight"] = {0: 1, 1: 4}
    np.testing.assert_allclose(
        clone(ours).set_params(estimator=SharedKernelSVC(**options)).fit(X, y).binary_outputs(X),
        clone(theirs).set_params(estimator=SVC(**options)).fit(X, y).binary_outputs(X),
        atol=0.01,
    )


def test_joint_training_by_hand(iris):
    X, y = iris
    model = SharedKernelSVC(tol=1e-5).fit_joint(X, make_code("one_vs_one", 3).matrix[y])
    assert model.outputs(X).shape == (150, 3)
    assert model.intercept_.shape == model.n_iter_.shape == model.dual_objective_.shape == (3,)
    union = set().union(*(model.estimator(s).support_ for s in range(3)))
    assert set(model.support_) == union
    part = model.part(range(1, 3))
    np.testing.assert_allclose(part.outputs(X), model.outputs(X)[:, 1:], atol=1e-6)
    coupled = SharedKernelSVC().fit_joint(
        X, np.where(y[:, np.newaxis] == np.arange(3), 1, -1), coupling=np.eye(3) + 0.5
    )
    assert np.ptp(coupled.intercept_) == 0
    assert np.mean(coupled.outputs(X).argmax(axis=1) == y) > 0.9


def test_progress_is_drawn(iris):
    stream = io.StringIO()
    with redirect_stderr(stream):
        CodeClassifier(SharedKernelSVC(), verbose=1).fit(*iris)
    assert "18/18 problems" in stream.getvalue()


def test_too_few_steps_are_told(pair):
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        SharedKernelSVC(max_iter=3).fit(*pair)


def test_three_classes_are_pointed_elsewhere(iris):
    with pytest.raises(ValueError, match=r"Only binary classification .*CodeClassifier"):
        SharedKernelSVC().fit(*iris)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "'C' parameter must be a positive number"),
        ({"C": "large"}, "'C' parameter must be a positive number"),
        ({"tol": -1}, "'tol' parameter"),
        ({"cache_size": 0}, "'cache_size' parameter"),
        ({"kernel": "rfb"}, "'kernel' parameter must be one of .*Did you mean 'rbf'"),
        ({"gamma": -1}, "'gamma' parameter"),
        ({"dtype": "float16"}, "'dtype' parameter must be one of"),
        ({"kernel": "precomputed"}, "must be a square matrix"),
    ],
)
def test_bad_parameters_are_explained(pair, options, message):
    with pytest.raises(ValueError, match=message):
        SharedKernelSVC(**options).fit(*pair)


@pytest.mark.parametrize("targets", [[1, -1], np.full((300, 2), 2), np.ones((3, 2))])
def test_targets_must_fit(pair, targets):
    with pytest.raises(ValueError, match="'targets' parameter must hold"):
        SharedKernelSVC().fit_joint(pair[0], targets)


def coupled_iris():
    X, y = load_iris(return_X_y=True)
    targets = np.where(np.eye(3)[y] > 0, 1, -1)
    coupling = np.exp(-0.6 * (1 - np.eye(3)))
    return SharedKernelSVC(C=2, gamma=0.5, tol=1e-7, dtype="float64"), X, targets, coupling


def test_products_are_the_derivative_by_the_coupling():
    learner, X, targets, coupling = coupled_iris()
    model = learner.fit_joint(X, targets, coupling=coupling)
    step = 1e-4
    for r in range(3):
        by = np.zeros((3, 3))
        by[r, r] = step
        more = learner.fit_joint(X, targets, coupling=coupling + by).dual_objective_[0]
        less = learner.fit_joint(X, targets, coupling=coupling - by).dual_objective_[0]
        slope = (more - less) / (2 * step)
        np.testing.assert_allclose(slope, -model.products_[r, r] / 2, rtol=1e-4)


@pytest.mark.parametrize("coupled", [True, False])
def test_starting_at_the_solution_takes_no_step(coupled):
    learner, X, targets, coupling = coupled_iris()
    coupling = coupling if coupled else None
    model = learner.fit_joint(X, targets, coupling=coupling)
    again = learner.fit_joint(X, targets, coupling=coupling, start=model.coefficients_)
    assert model.n_iter_.min() > 0
    assert again.n_iter_.max() == 0
    np.testing.assert_allclose(again.outputs(X), model.outputs(X), atol=1e-6)


@pytest.mark.parametrize("cache_size", [2, 8])
def test_memory_stays_within_the_cache_and_what_problems_need(cache_size):
    X, y = make_classification(3000, 10, n_informative=8, n_classes=4, random_state=0)
    targets = make_code("one_vs_rest", 4).matrix[y]
    learner = SharedKernelSVC(C=1, cache_size=cache_size)
    learner.fit_joint(X[:400], targets[:400])  # loads and compiles
    free_memory()
    tracemalloc.start()
    learner.fit_joint(X, targets)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    needed = 600 * targets.size / 2**20  # some tens of numbers for each entry
    room = max(cache_size, 512 * 4 * 3008 / 2**20)  # there is always room for 512 rows
    whole = 4 * 3000**2 / 2**20
    assert room < peak < room + needed < whole


@pytest.mark.parametrize(
    ("options", "factor"),
    [
        ({"kernel": "poly", "gamma": 1.0}, 1e7),
        ({"kernel": "linear"}, 1e25),
        ({"kernel": "rbf"}, 1e200),
        ({"kernel": "sigmoid", "gamma": 1.0}, 1e200),
        ({"kernel": lambda X, Y: np.full((len(X), len(Y)), np.inf)}, 1.0),
    ],
    ids=["poly", "linear", "rbf", "sigmoid", "function"],
)
def test_kernel_values_that_are_not_finite_are_refused(iris, options, factor):
    X, y = iris
    with pytest.raises(ValueError, match="must be finite"):
        SharedKernelSVC(**options).fit(X * factor, y > 1)


@pytest.mark.parametrize("factor", [1e-30, 1e-10, 1e10])
def test_the_scale_of_the_features_does_not_matter_with_gamma_scale(iris, factor):
    X, y = iris
    plain = SharedKernelSVC(dtype="float64", tol=1e-8).fit(X, y > 1).decision_function(X)
    scaled = SharedKernelSVC(tol=1e-6).fit(X * factor, y > 1).decision_function(X * factor)
    np.testing.assert_allclose(scaled, plain, atol=1e-4)


def test_far_samples_do_not_disturb_the_others(rng):
    X = rng.normal(size=(200, 3)) * 0.05
    y = X[:, 0] + 0.01 * rng.normal(size=200) > 0
    X[7] = 1e6
    options = {"C": 10.0, "gamma": 1000.0, "tol": 1e-6}
    ours, theirs = SharedKernelSVC(**options).fit(X, y), SVC(**options).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_products_of_features_on_large_scales_lose_no_digits(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 100.0, 1000.0] + 500
    y = (X[:, 1] > 500).astype(int)
    svm = SharedKernelSVC(kernel=kernel, degree=2, gamma=1e-6, C=0.01).fit(X, y)
    values = X @ svm.support_vectors_.T
    values = values if kernel == "linear" else (1e-6 * values) ** 2
    exact = values @ svm.dual_coef_[0] + svm.intercept_[0]
    scale = np.abs(values) @ np.abs(svm.dual_coef_[0])
    assert np.abs((svm.decision_function(X) - exact) / scale).max() < 1e-12
