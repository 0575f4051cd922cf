"""Learners that are trained already are used as they are, on the side that their labels say."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from polychotomy import (
    Code,
    CodeClassifier,
    SharedKernelSVC,
    Structure,
    TreeClassifier,
    make_code,
)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "matrix",
    [
        make_code("one_vs_rest", 3).matrix,
        make_code("one_vs_one", 3).matrix,
        np.array([[1, 1], [-1, 0], [-1, -1]]),
    ],
    ids=["one_vs_rest", "one_vs_one", "own"],
)
def test_the_second_label_is_the_plus_side_whatever_the_orientation(iris, matrix, sign):
    X, y = iris
    code = Code(sign * matrix)
    sides = code.matrix[y]
    trained = {
        f"P{s}": FrozenEstimator(SVC().fit(X[side != 0], side[side != 0]))
        for s, side in enumerate(sides.T)
    }
    structure = Structure(code, [0, 1, 2], names=list(trained))
    frozen = TreeClassifier(SVC(), structure, estimators=trained, probability=None).fit(X, y)
    fresh = CodeClassifier(SVC(), code, probability=None).fit(X, y)
    np.testing.assert_allclose(frozen.binary_outputs(X), fresh.binary_outputs(X), atol=1e-2)
    assert frozen.score(X, y) == fresh.score(X, y)


@pytest.mark.parametrize("second", [SVC(), SharedKernelSVC()])
def test_a_tree_of_frozen_models_is_as_good_as_they_are(iris, second):
    X, y = iris
    labels = np.array(["no", "yes"])[y[y > 0] - 1]
    models = {
        "First": FrozenEstimator(SVC().fit(X, y != 0)),
        "Second": FrozenEstimator(second.fit(X[y > 0], labels)),
    }
    tree = TreeClassifier(
        SVC(), "First {0 Second {1 2}}", estimators=models, solve="recursive"
    ).fit(X, y)
    assert tree.score(X, y) > 0.95
    assert tree.estimators_[1].estimator is second
    np.testing.assert_array_equal(second.classes_, ["no", "yes"])  # not trained again


def test_a_frozen_shared_kernel_is_not_trained_by_a_code(iris):
    X, y = iris
    svm = SharedKernelSVC().fit(X, y == 2)
    before = svm.dual_coef_.copy()
    CodeClassifier(FrozenEstimator(svm), [[-1], [1]], probability=None).fit(X, y == 2)
    np.testing.assert_array_equal(svm.dual_coef_, before)
    np.testing.assert_array_equal(svm.classes_, [False, True])


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [False, True], [7, 3]])
@pytest.mark.parametrize("matrix", ["one_vs_one", [[1], [-1]], [[-1], [1]]])
@pytest.mark.parametrize("base", [SVC(), GaussianNB(), SharedKernelSVC()])
def test_labels_that_are_the_classes_say_which_side_is_which(iris, labels, matrix, base):
    X, y = iris[0], np.array(labels)[(iris[1] == 2).astype(int)]
    model = base.fit(X, y)
    found = CodeClassifier(FrozenEstimator(model), matrix).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), model.predict(X))
    right = found.predict_proba(X)[np.arange(len(y)), np.searchsorted(found.classes_, y)]
    assert (right > 0.5).mean() > 0.9
    if hasattr(model, "decision_function"):
        scores = found.decision_function(X)
        np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-6, atol=1e-6)


def test_labels_that_are_the_classes_of_a_node_say_which_side_is_which(iris):
    X, y = iris
    models = {"First": FrozenEstimator(SVC().fit(X, y != 0)), "Second": None}
    models["Second"] = FrozenEstimator(SVC().fit(X[y > 0], y[y > 0]))
    for text in ("First {0 Second {1 2}}", "First {0 Second {2 1}}"):
        tree = TreeClassifier(SVC(), text, estimators=models, solve="recursive").fit(X, y)
        assert tree.score(X, y) > 0.95
