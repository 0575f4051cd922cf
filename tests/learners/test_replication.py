import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from polychotomy import Code, GreedySearchCV, SharedKernelSVC, SingleBinaryClassifier, make_code
from polychotomy.codes import one_vs_rest
from polychotomy.learners import Concatenated, resolve_replication
from polychotomy.learners._replication import as_bits, resolve_extension

CLASSES = np.array(["a", "b", "c", "d"])


def resolve(extension, n_classes=4):
    return resolve_extension(extension, CLASSES[:n_classes], np.random.RandomState(0))


def test_identity_and_single():
    np.testing.assert_array_equal(resolve("identity"), np.eye(4))
    np.testing.assert_array_equal(resolve("single"), [[1], [2], [3], [4]])


@pytest.mark.parametrize("name", ["hamming", "bch", "orthogonal", "one_vs_rest", "dense_random"])
def test_a_name_is_the_code_in_bits(name):
    code = make_code(name, 4, random_state=np.random.RandomState(0))
    expected = np.where(code.matrix > 0, 1, 0)
    np.testing.assert_array_equal(resolve(name), expected)
    np.testing.assert_array_equal(resolve(code), expected)
    np.testing.assert_array_equal(resolve(lambda k: make_code("hamming", k)), resolve("hamming"))


def test_a_zero_of_a_code_stands_between_its_sides():
    code = Code([[1, 0], [-1, 1], [0, -1]])
    np.testing.assert_array_equal(as_bits(code), [[1, 0.5], [0, 1], [0.5, 0]])


def test_matrices_are_taken_as_they_are(rng):
    E = rng.normal(size=(4, 3))
    np.testing.assert_array_equal(resolve(E), E)
    np.testing.assert_array_equal(resolve(E.tolist()), E)
    np.testing.assert_array_equal(resolve(lambda k: -E[:k], 3), -E[:3])
    # A matrix of −1 and 1 is a matrix, only a Code is written in bits.
    np.testing.assert_array_equal(resolve(make_code("bch", 4).matrix).min(), -1)


@pytest.mark.parametrize(
    ("extension", "message"),
    [
        ("identify", "'extension' parameter must be one of .*Did you mean 'identity'"),
        (np.ones(4), r"must be a name, a Code, a matrix .*shape \(4,\)"),
        (np.ones((4, 0)), r"must be a name, a Code, a matrix .*shape \(4, 0\)"),
        ([[1, 2], [3]], "must be a name, a Code, a matrix"),
        (3, "must be a name, a Code, a matrix .*Got 3"),
        (None, "must be a name, a Code, a matrix .*Got None"),
        (lambda k: "bch", "must be a name, a Code, a matrix .*Got 'bch'"),
        (np.where(np.eye(4) > 0, np.nan, 1.0), "finite numbers"),
        (np.eye(3), "3 rows for the 4 classes of y .*does not know"),
        (make_code("bch", 5), "5 rows for the 4 classes of y .*missing from y"),
        (
            [[1, 0], [2, 0], [0, 1], [2, 0]],
            r"different row for each class.* classes b and d \(rows 1 and 3\) are equal",
        ),
    ],
)
def test_what_is_no_extension_is_refused(extension, message):
    with pytest.raises(ValueError, match=message):
        resolve(extension)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, "Concatenated()"),
        ("identity", "Concatenated(extension='identity')"),
        ("single_call", "SingleCall()"),
        ("kesler", "Kesler()"),
        (Concatenated(scale=3.0), "Concatenated(scale=3.0)"),
    ],
)
def test_short_forms(given, expected):
    assert repr(resolve_replication(given)) == expected


def test_the_scale_multiplies_the_extension(iris):
    X, y = iris
    svm = SharedKernelSVC(gamma=0.5, tol=1e-8, dtype="float64")
    scaled = SingleBinaryClassifier(svm, Concatenated("identity", scale=3.0), probability=None)
    matrix = SingleBinaryClassifier(svm, 3.0 * np.eye(3), probability=None)
    np.testing.assert_array_equal(scaled.fit(X, y).extension_, 3.0 * np.eye(3))
    np.testing.assert_array_equal(scaled.binary_outputs(X), matrix.fit(X, y).binary_outputs(X))


def test_a_large_scale_is_one_vs_rest_with_one_bias(iris):
    """The coupling exp(−2γ scale²) of different classes vanishes."""
    X, y = iris
    svm = SharedKernelSVC(gamma=0.5, tol=1e-8, dtype="float64")
    far = SingleBinaryClassifier(svm, Concatenated("identity", scale=50.0), probability=None)
    alone = svm.fit_joint(X, one_vs_rest(3).matrix[y], common_bias=True)
    np.testing.assert_allclose(far.fit(X, y).binary_outputs(X), alone.outputs(X), atol=1e-5)


def test_the_scale_is_searched_as_any_parameter(iris):
    X, y = iris
    classifier = SingleBinaryClassifier(
        SharedKernelSVC(), Concatenated("identity"), probability=None
    )
    search = GridSearchCV(classifier, {"replication__scale": [0.5, 4.0]}, cv=3).fit(X, y)
    assert set(search.best_params_) == {"replication__scale"}
    greedy = GreedySearchCV(classifier, {"replication__scale": 1.0}, cv=3, patience=1).fit(X, y)
    assert greedy.best_estimator_.replication.scale == greedy.best_params_["replication__scale"]
