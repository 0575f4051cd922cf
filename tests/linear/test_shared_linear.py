import warnings
from types import MappingProxyType

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from polychotomy import SharedLinear, make_code
from polychotomy.codes import Targets
from polychotomy.linear import _column_training

LOSSES = ["squared", "squared_hinge", "logistic"]


def _reference(loss, C, **options):
    """Return scikit-learn's classifier that minimises the same objective."""
    if loss == "squared":
        return RidgeClassifier(alpha=0.5 / C, **options)
    if loss == "squared_hinge":
        return LinearSVC(C=C, tol=1e-10, dual=True, max_iter=100_000, random_state=0, **options)
    return LogisticRegression(C=C, tol=1e-9, solver="newton-cholesky", **options)


def _check_against(reference, weights, intercept, atol=2e-5):
    expected = np.append(np.ravel(reference.coef_), reference.intercept_)
    np.testing.assert_allclose(np.append(weights, intercept), expected, atol=atol)


def _objective(loss, w, b, X, t, costs):
    f = t * (X @ w + b)
    errors = {
        "squared": (1 - f) ** 2,
        "squared_hinge": np.maximum(0, 1 - f) ** 2,
        "logistic": np.logaddexp(0, -f),
    }[loss]
    penalty = b**2 if loss == "squared_hinge" else 0
    return (w @ w + penalty) / 2 + costs @ errors


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_two_classes_are_those_of_scikit_learn(iris, loss, sparse, fit_intercept):
    X, y = iris
    X, y = X[50:] - 3, y[50:]
    weight = np.random.default_rng(0).uniform(0.5, 2, 100)
    reference = _reference(loss, 0.3, fit_intercept=fit_intercept).fit(X, y, weight)
    model = SharedLinear(loss, 0.3, fit_intercept=fit_intercept, tol=1e-14, max_iter=100_000)
    model.fit(csr_matrix(X) if sparse else X, y, weight)
    intercept = model.intercept_ if fit_intercept else 0.0
    _check_against(reference, model.coef_, intercept)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))
    np.testing.assert_allclose(
        model.decision_function(X), reference.decision_function(X), atol=1e-4
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
def test_more_classes_are_each_against_the_rest(digits, loss, sparse):
    X, y = digits[0][:200], digits[1][:200]
    model = SharedLinear(loss, 0.1, tol=1e-14).fit(csr_array(X) if sparse else X, y)
    assert model.coef_.shape == (10, 64)
    for r in (0, 8):
        reference = _reference(loss, 0.1).fit(X, y == r)
        _check_against(reference, model.coef_[r], model.intercept_[r])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("code", ["one_vs_one", "sparse_random"])
def test_problems_have_their_own_samples(digits, loss, sparse, code):
    X, y = digits[0][:200], digits[1][:200]
    targets = make_code(code, 10, **({"random_state": 0} if "random" in code else {})).matrix[y]
    learner = SharedLinear(loss, 0.1, tol=1e-14)
    weight = np.random.default_rng(0).uniform(0.5, 2, 200)
    model = learner.fit_joint(csr_array(X) if sparse else X, targets, sample_weight=weight)
    for s in (0, 7):
        own = np.flatnonzero(targets[:, s])
        reference = _reference(loss, 0.1).fit(X[own], targets[own, s], weight[own])
        _check_against(reference, model.weights_[:, s], model.intercept_[s])
        one = model.estimator(s)
        np.testing.assert_allclose(one.decision_function(X), model.outputs(X)[:, s])
        assert one.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("loss", LOSSES)
def test_folds_as_columns_are_folds_one_by_one(digits, loss):
    X, y = digits[0][:200], digits[1][:200]
    whole = Targets(make_code("one_vs_rest", 10).matrix, y)
    fold = np.flatnonzero(np.arange(200) % 5)
    T = np.hstack([whole.block(slice(None)), whole.restricted(fold).block(slice(None))])
    learner = SharedLinear(loss, 0.1, tol=1e-12)
    model = learner.fit_joint(X, T)
    alone = SharedLinear(loss, 0.1, tol=1e-12).fit(X[fold], y[fold])
    np.testing.assert_allclose(model.part(range(10, 20)).weights_, alone.coef_.T, atol=1e-5)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_of_columns_and_threads_change_nothing(digits, loss, sparse, monkeypatch):
    X, y = digits[0][:200], digits[1][:200]
    X = csr_array(X) if sparse else X
    targets = make_code("one_vs_one", 10).matrix[y]
    whole = SharedLinear(loss, tol=1e-12).fit_joint(X, targets)
    monkeypatch.setattr(_column_training, "_BLOCK_ENTRIES", 2000)
    done = []
    blocks = SharedLinear(loss, tol=1e-12).fit_joint(X, targets, done=done.append)
    np.testing.assert_allclose(blocks.weights_, whole.weights_, atol=1e-6)
    assert sorted(done) == list(range(45))
    threads = SharedLinear(loss, tol=1e-12, n_jobs=2).fit_joint(X, targets)
    np.testing.assert_array_equal(threads.weights_, blocks.weights_)
    np.testing.assert_array_equal(threads.intercept_, blocks.intercept_)


@pytest.mark.parametrize("kind", [dict, MappingProxyType])
def test_class_weights_may_be_any_mapping(iris, kind):
    X, y = iris
    weights = np.array([1.0, 2.0, 0.5])
    model = SharedLinear(class_weight=kind({0: 1.0, 1: 2.0, 2: 0.5}), tol=1e-12).fit(X, y)
    expected = SharedLinear(tol=1e-12).fit(X, y, sample_weight=weights[y])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.5, 1: 3.0}])
def test_class_weights_are_factors_of_the_sides(iris, loss, class_weight):
    X, y = iris
    targets = make_code("one_vs_rest", 3).matrix[y]
    targets[::7] = 0
    model = SharedLinear(loss, 0.1, class_weight=class_weight, tol=1e-14).fit_joint(X, targets)
    for s in range(3):
        own = np.flatnonzero(targets[:, s])
        reference = _reference(loss, 0.1, class_weight=class_weight)
        reference.fit(X[own], targets[own, s] > 0)
        _check_against(reference, model.weights_[:, s], model.intercept_[s])


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_class_weights_of_more_classes_are_those_of_their_samples(iris, loss):
    X, y = iris
    factors = {0: 1.0, 1: 0.5, 2: 4.0}
    model = SharedLinear(loss, class_weight=factors, tol=1e-12).fit(X, y)
    weight = np.array([1.0, 0.5, 4.0])[y]
    _check_against(
        _reference(loss, 1.0).fit(X, y == 1, weight), model.coef_[1], model.intercept_[1]
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_objective_is_within_the_tolerance_of_its_minimum(digits, loss, sparse):
    X, y = digits
    t = np.where(y == 3, 1, -1)
    costs = np.full(600, 2.0)
    best = SharedLinear(loss, 2.0, tol=1e-12, max_iter=100_000).fit(X, t)
    least = _objective(loss, best.coef_[0], best.intercept_[0], X, t, costs)
    for tol in (1e-1, 1e-3):
        rough = SharedLinear(loss, 2.0, tol=tol).fit(csr_array(X) if sparse else X, t)
        found = _objective(loss, rough.coef_[0], rough.intercept_[0], X, t, costs)
        assert least * (1 - 1e-9) <= found <= least * (1 + tol)


def test_many_small_gains_are_not_left_out_where_errors_cost_much():
    """Steps gain little there, one by one, and much together."""
    rng = np.random.default_rng(5)
    y = np.arange(600) % 12
    X, t = 2 * rng.normal(size=(12, 40))[y] + rng.normal(size=(600, 40)), np.where(y == 3, 1, -1)
    reference = LinearSVC(C=100, dual=False, tol=1e-10, max_iter=100_000).fit(X, t)
    costs = np.full(600, 100.0)
    least = _objective("squared_hinge", reference.coef_[0], reference.intercept_[0], X, t, costs)
    for samples in (X, csr_array(X)):
        model = SharedLinear("squared_hinge", 100).fit(samples, t)
        found = _objective("squared_hinge", model.coef_[0], model.intercept_[0], X, t, costs)
        assert found <= least * 1.001


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
def test_single_precision_stays_single_precision(digits, loss, sparse):
    X, y = digits
    double = SharedLinear(loss, 0.1, tol=1e-8).fit(X, y)
    single = X.astype(np.float32)
    model = SharedLinear(loss, 0.1).fit(csr_array(single) if sparse else single, y)
    assert model.coef_.dtype == model.decision_function(single).dtype == np.float32
    np.testing.assert_allclose(
        model.decision_function(single), double.decision_function(X), atol=0.1
    )
    assert np.mean(model.predict(single) == double.predict(X)) > 0.99


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_problems_with_one_side_or_none_are_solved(iris, loss, sparse, intercept):
    X, y = iris
    targets = np.zeros((150, 4), np.int8)
    targets[:, 0], targets[y > 0, 1] = 1, -1
    targets[:, 3] = np.where(y == 1, 1, -1)
    learner = SharedLinear(loss, fit_intercept=intercept)
    model = learner.fit_joint(csr_array(X) if sparse else X, targets)
    outputs = model.outputs(X)
    assert (outputs[:, 0] > 0).all()
    assert (outputs[y > 0, 1] < 0).all()
    assert (outputs[:, 2] == 0).all()
    if loss == "logistic" and intercept:
        assert not model.weights_[:, :3].any()
        np.testing.assert_allclose(model.intercept_[:2], [np.log(151), -np.log(101)])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_a_class_for_each_sample(digits, loss, sparse):
    X = digits[0][:40]
    model = SharedLinear(loss, 100.0).fit(csr_array(X) if sparse else X, np.arange(40))
    np.testing.assert_array_equal(model.predict(X), np.arange(40))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
def test_constant_features_do_no_harm(iris, loss, sparse):
    X, y = iris
    plain = SharedLinear(loss, tol=1e-12).fit(X, y)
    more = np.column_stack([X, np.zeros(150)])
    model = SharedLinear(loss, tol=1e-12, max_iter=100_000)
    model.fit(csr_array(more) if sparse else more, y)
    np.testing.assert_allclose(model.coef_[:, :4], plain.coef_, atol=1e-4)
    assert not model.coef_[:, 4].any()


def test_entries_of_a_sparse_matrix_that_occur_twice_are_added(iris):
    X, y = iris
    twice = csr_array(X)
    half = csr_array(
        (
            np.repeat(twice.data / 2, 2),
            np.repeat(twice.indices, 2),
            2 * twice.indptr,
        ),
        shape=X.shape,
    )
    for loss in LOSSES:
        expected = SharedLinear(loss, tol=1e-10, max_iter=100_000).fit(X, y)
        found = SharedLinear(loss, tol=1e-10, max_iter=100_000).fit(half, y)
        np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-3)
    assert half.nnz == 1200


def test_newton_steps_solve_what_passes_do_not(iris):
    X, y = iris
    dense = SharedLinear("squared_hinge", 1e4, tol=1e-10).fit(X, y)
    assert dense.n_iter_.max() < 50
    found = SharedLinear("squared_hinge", 1e4, tol=1e-10).fit(csr_array(X), y)
    np.testing.assert_allclose(found.coef_, dense.coef_, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_the_logistic_loss(iris, classes):
    X, y = iris
    X, y = X[y < classes], y[y < classes]
    model = SharedLinear("logistic").fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    each = expit(model.decision_function(X))
    expected = each if classes == 2 else each[:, 1] / each.sum(axis=1)
    np.testing.assert_allclose(p[:, 1], expected)
    assert not hasattr(SharedLinear("squared_hinge"), "predict_proba")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_batches_add_up_to_all_samples(digits, sparse, fit_intercept):
    X, y = digits
    X = X + 100 * fit_intercept
    weight = np.random.default_rng(0).uniform(0.5, 2, 600)
    options = {"fit_intercept": fit_intercept, "class_weight": {3: 2.0}}
    whole = SharedLinear(**options).fit(X, y, weight)
    batches = SharedLinear(**options)
    given = csr_array(X) if sparse else X
    for start in range(0, 600, 70):
        part = slice(start, start + 70)
        batches.partial_fit(given[part], y[part], np.arange(10), weight[part])
    np.testing.assert_allclose(batches.coef_, whole.coef_, atol=1e-9)
    np.testing.assert_allclose(batches.intercept_, whole.intercept_, atol=1e-7)
    follows = SharedLinear(**options).fit(X[:300], y[:300], weight[:300])
    follows.partial_fit(X[300:], y[300:], sample_weight=weight[300:])
    np.testing.assert_allclose(follows.coef_, whole.coef_, atol=1e-9)


def test_batches_that_cannot_be_learnt_are_refused(iris):
    X, y = iris
    assert not hasattr(SharedLinear("logistic"), "partial_fit")
    with pytest.raises(ValueError, match="must hold all labels in the first call"):
        SharedLinear().partial_fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        SharedLinear().partial_fit(X, y, classes=[1])
    with pytest.raises(ValueError, match="'balanced' needs all samples"):
        SharedLinear(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])
    model = SharedLinear().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="the same labels in every call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="among the 'classes'"):
        model.partial_fit(X, y + 1)
    one = SharedLinear().fit_joint(X, np.where(y == 0, 1, -1)[:, np.newaxis]).estimator(0)
    with pytest.raises(ValueError, match="keeps sums over its samples"):
        one.partial_fit(X, y > 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, "'loss' parameter must be one of"),
        ({"C": 0}, "'C' parameter must be a positive number"),
        ({"tol": -1.0}, "'tol' parameter must be a positive number"),
        ({"max_iter": 0}, "'max_iter' parameter must be an int of at least 1"),
    ],
)
def test_bad_parameters_are_named(iris, options, message):
    with pytest.raises(ValueError, match=message):
        SharedLinear(**options).fit(*iris)


def test_bad_samples_and_targets_are_refused(iris):
    X, y = iris
    wrong = X.copy()
    wrong[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        SharedLinear().fit(wrong, y)
    with pytest.raises(ValueError, match="needs two classes"):
        SharedLinear().fit(X, np.zeros(150))
    for targets in (np.full((150, 2), 2), np.ones((149, 1)), np.ones(150)):
        with pytest.raises(ValueError, match=r"must hold −1, 0 and \+1 in shape \(150"):
            SharedLinear().fit_joint(X, targets)
    with pytest.raises(ValueError, match="Negative values"):
        SharedLinear().fit(X, y, -np.ones(150))


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("sparse", [False, True])
def test_too_few_steps_are_a_warning(digits, loss, sparse):
    X, y = digits
    X = csr_array(X) if sparse else X
    with pytest.warns(ConvergenceWarning, match="10 of 10 problems did not converge in 2 steps"):
        SharedLinear(loss, 100.0, tol=1e-8, max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SharedLinear(loss, 0.1).fit(X, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("class_weight", [{0: -1}, {1: np.inf}, {0: np.nan}])
def test_weights_of_classes_are_finite_and_not_negative(iris, loss, class_weight):
    X, y = iris
    model = SharedLinear(loss, class_weight=class_weight)
    for fit in (lambda: model.fit(X, y), lambda: model.fit_joint(X, np.sign(y - 0.5)[:, None])):
        with pytest.raises(ValueError, match="'class_weight' must be finite and not negative"):
            fit()


@pytest.mark.parametrize("class_weight", ["equal", 3])
def test_what_is_no_class_weight(iris, class_weight):
    X, y = iris
    with pytest.raises(ValueError, match="'class_weight' parameter must be a dictionary"):
        SharedLinear(class_weight=class_weight).fit(X, y)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("side", [0, 1])
def test_a_side_without_weight_leaves_the_intercept_of_the_other(iris, sparse, side):
    X, y = iris
    model = SharedLinear("logistic", class_weight={side: 0}).fit_joint(
        csr_matrix(X) if sparse else X, np.where(y == 0, 1, -1)[:, np.newaxis]
    )
    other = 50 if side == 0 else -100
    np.testing.assert_array_equal(model.weights_, 0)
    np.testing.assert_allclose(model.intercept_, np.sign(other) * np.log1p(abs(other)))


def test_labels_of_several_kinds_are_refused():
    with pytest.raises(ValueError, match="All labels in y must be of one kind"):
        SharedLinear().fit(np.eye(3), np.array(["a", 1, None], dtype=object))


def test_there_is_a_problem():
    with pytest.raises(ValueError, match="with a problem or more"):
        SharedLinear().fit_joint(np.eye(3), np.zeros((3, 0)))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("dtype", "scale"), [(float, 1e9), (float, 1e30), (np.float32, 1e10)])
def test_logistic_problems_of_large_features_that_separate_the_classes(dtype, scale, sparse):
    # Margins beyond 37, in single precision beyond 16, have p = 1, but not the curvature 0.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = (rng.normal(size=(60, 2)) + 9 * np.array([[0, 0], [1, 0], [0, 1]])[y]) * scale
    X = csr_matrix(X.astype(dtype)) if sparse else X.astype(dtype)
    model = SharedLinear("logistic").fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, y) == 1


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("scale", "weight"), [(1e160, 1.0), (1.0, 1e300)])
def test_features_and_weights_whose_sums_are_beyond_floats_are_refused(
    iris, loss, sparse, scale, weight
):
    X, y = iris
    X = csr_matrix(X * scale) if sparse else X * scale
    weights = np.full(150, weight)
    model = SharedLinear(loss)
    with pytest.raises(ValueError, match="scale the features"):
        model.fit(X, y, weights)
    with pytest.raises(ValueError, match="scale the features"):
        model.fit_joint(X, np.sign(y - 0.5)[:, np.newaxis], sample_weight=weights)
