import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import RidgeClassifier

from polychotomy import SharedLinear, make_code
from polychotomy.codes import Targets
from polychotomy.linear import _column_training, _least_squares_fit, _scatter
from polychotomy.structures import balanced, chain, from_code, lay_out


def _samples(n, d, k, offset=0.0):
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    return rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)) + offset, y


def _reference(X, target, C, weight=None, **options):
    own = np.flatnonzero(target)
    weight = None if weight is None else weight[own]
    return RidgeClassifier(alpha=0.5 / C, **options).fit(X[own], target[own], weight)


def _check(model, X, targets, C=1.0, weight=None, **options):
    for s, target in enumerate(targets.T):
        ridge = _reference(X, target, C, weight, **options)
        expected, intercept = ridge.coef_.ravel(), np.ravel(ridge.intercept_)[0]
        atol = 1e-7 * np.abs(expected).max()
        np.testing.assert_allclose(model.weights_[:, s], expected, rtol=0, atol=atol)
        np.testing.assert_allclose(model.intercept_[s], intercept, atol=1e-9)


def _wide(classes):
    """Return a tree of nodes with several children, each of them against the rest."""
    rows = [list(classes)[i : i + 4] for i in range(0, len(classes), 4)]
    nodes = [from_code(make_code("one_vs_rest", 4), row) for row in rows]
    return from_code(make_code("one_vs_rest", len(nodes)), nodes)


def _counted_rows(monkeypatch):
    """Return a list to which the number of samples of each product is appended."""
    rows = []
    plain = _scatter.Scatter.of.__func__

    def counting(cls, X, weight, *, centred):
        rows.append(X.shape[0])
        return plain(cls, X, weight, centred=centred)

    monkeypatch.setattr(_scatter.Scatter, "of", classmethod(counting))
    return rows


@pytest.mark.parametrize(("n", "d"), [(90, 7), (30, 50), (24, 9)])
@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one", "sparse_random"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_problem_is_ridge_regression_on_its_own_samples(n, d, code, sparse):
    X, y = _samples(n, d, 6)
    options = {"random_state": 0} if code == "sparse_random" else {}
    targets = make_code(code, 6, **options).matrix[y]
    weight = np.random.default_rng(1).uniform(0.5, 2, n)
    given = csr_array(X) if sparse else X
    model = SharedLinear(C=0.3).fit_joint(given, targets, sample_weight=weight)
    _check(model, X, targets, 0.3, weight)
    free = SharedLinear(C=0.3, fit_intercept=False).fit_joint(given, targets)
    _check(free, X, targets, 0.3, fit_intercept=False)
    assert not free.intercept_.any()


@pytest.mark.parametrize(("n", "d"), [(90, 7), (30, 50)])
def test_folds_as_columns_are_folds_one_by_one(n, d):
    X, y = _samples(n, d, 5)
    whole = Targets(make_code("one_vs_rest", 5).matrix, y)
    folds = [np.flatnonzero(np.arange(n) // 3 % 5 != f) for f in range(5)]
    parts = [whole, *(whole.restricted(fold) for fold in folds)]
    model = SharedLinear().fit_joint(X, np.hstack([part.block(slice(None)) for part in parts]))
    for f, fold in enumerate(folds):
        alone = SharedLinear().fit(X[fold], y[fold])
        own = model.part(range(5 * f + 5, 5 * f + 10))
        np.testing.assert_allclose(own.weights_, alone.coef_.T, atol=1e-10)
        np.testing.assert_allclose(own.intercept_, alone.intercept_, atol=1e-10)


@pytest.mark.parametrize("weights", [None, "balanced"])
@pytest.mark.parametrize("build", [chain, balanced])
def test_the_problems_of_a_tree_of_many_classes(build, weights):
    """More groups of problems than one block has, some with fewer samples than features."""
    X, y = _samples(200, 11, 50, offset=3.0)
    targets = lay_out(build(range(50)), {c: c for c in range(50)})[0][y]
    model = SharedLinear(C=0.3, class_weight=weights).fit_joint(X, targets)
    _check(model, X, targets, 0.3, class_weight=weights)


@pytest.mark.parametrize("weights", [None, "balanced"])
@pytest.mark.parametrize("build", [chain, balanced, _wide])
def test_folds_of_a_tree_without_room_for_the_scatter_of_each_class(monkeypatch, build, weights):
    monkeypatch.setattr(_least_squares_fit, "_MOST_SCATTER_ENTRIES", 0)
    X, y = _samples(180, 8, 12, offset=3.0)
    whole = Targets(lay_out(build(range(12)), {c: c for c in range(12)})[0], y)
    folds = [np.flatnonzero(np.arange(180) // 12 % 3 != f) for f in range(3)]
    parts = [whole, *(whole.restricted(fold) for fold in folds)]
    targets = np.hstack([part.block(slice(None)) for part in parts])
    weight = np.random.default_rng(1).integers(0, 3, 180).astype(float)
    if weights is None:
        for samples in (X, csr_array(X)):
            model = SharedLinear(C=0.3).fit_joint(samples, targets, sample_weight=weight)
            _check(model, X, targets, 0.3, weight)
    else:
        model = SharedLinear(C=0.3, class_weight=weights).fit_joint(X, targets)
        _check(model, X, targets, 0.3, class_weight=weights)


@pytest.mark.parametrize("build", [chain, balanced, _wide])
def test_a_sample_enters_one_product_however_deep_the_tree_is(monkeypatch, build):
    X, y = _samples(240, 5, 40)
    rows = _counted_rows(monkeypatch)
    targets = lay_out(build(range(40)), {c: c for c in range(40)})[0][y]
    SharedLinear().fit_joint(X, targets)
    assert sum(rows) == 240


def test_folds_and_classes_cost_one_product_of_each_sample(monkeypatch):
    X, y = _samples(90, 7, 5)
    whole = Targets(make_code("one_vs_one", 5).matrix, y)
    folds = [np.flatnonzero(np.arange(90) // 6 % 3 != f) for f in range(3)]
    parts = [whole, *(whole.restricted(fold) for fold in folds)]
    rows = _counted_rows(monkeypatch)
    SharedLinear().fit_joint(X, np.hstack([part.block(slice(None)) for part in parts]))
    assert sum(rows) == 90
    assert len(rows) == 15


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (_least_squares_fit, "_BLOCK_ENTRIES", 20),
        (_scatter, "_BLOCK_ENTRIES", 20),
        (_least_squares_fit, "_MOST_SCATTER_ENTRIES", 0),
    ],
)
@pytest.mark.parametrize(("n", "d"), [(90, 7), (20, 30)])
def test_blocks_and_lack_of_memory_change_nothing(monkeypatch, module, name, value, n, d):
    X, y = _samples(n, d, 5)
    targets = make_code("one_vs_one", 5).matrix[y]
    whole = SharedLinear().fit_joint(X, targets)
    monkeypatch.setattr(module, name, value)
    blocks = SharedLinear().fit_joint(X, targets)
    np.testing.assert_allclose(blocks.weights_, whole.weights_, atol=1e-12)
    np.testing.assert_allclose(blocks.intercept_, whole.intercept_, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_conjugate_gradients_find_the_same(monkeypatch, sparse):
    X, y = _samples(60, 20, 5)
    X[np.abs(X) < 1] = 0
    targets = make_code("one_vs_one", 5).matrix[y]
    exact = SharedLinear().fit_joint(X, targets)
    monkeypatch.setattr(_column_training, "_LARGEST_FACTORED", {False: 0, True: 0})
    found = SharedLinear(tol=1e-16).fit_joint(csr_array(X) if sparse else X, targets)
    np.testing.assert_allclose(found.weights_, exact.weights_, atol=1e-7)
    np.testing.assert_allclose(found.intercept_, exact.intercept_, atol=1e-7)


@pytest.mark.parametrize(("n", "d"), [(90, 7), (30, 50)])
def test_a_large_common_offset_is_no_loss_of_precision(n, d):
    X, y = _samples(n, d, 3)
    targets = make_code("one_vs_one", 3).matrix[y]
    plain, moved = SharedLinear().fit_joint(X, targets), SharedLinear().fit_joint(X + 1e6, targets)
    np.testing.assert_allclose(moved.weights_, plain.weights_, atol=1e-7)


def test_an_outlier_of_one_fold_does_not_disturb_the_model_without_it():
    X, y = _samples(90, 7, 3)
    X[4] = 1e9
    targets = np.where(np.arange(90)[:, np.newaxis] % 5 == 4, [[1, 0]], [[1, 1]])
    targets = (targets * make_code("one_vs_rest", 3).matrix[y, :1]).astype(np.int8)
    _check(SharedLinear().fit_joint(X, targets).part([1]), X, targets[:, 1:])


def test_a_nearly_singular_problem_is_solved():
    X, y = _samples(40, 3, 2)
    X = 1e5 * np.hstack([X, X, X[:, :1] + X[:, 1:2]])
    model = SharedLinear(C=1e12).fit(X, y)
    ridge = RidgeClassifier(alpha=1e-6, solver="svd").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), ridge.decision_function(X), atol=1e-4)
