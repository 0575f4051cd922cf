"""SharedLinear inside the classifiers of the library, in searches, pipelines and files."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import polychotomy
from polychotomy import CodeClassifier, SharedLinear, SingleBinaryClassifier, TreeClassifier, memory
from polychotomy.errors import NotEnoughMemoryError
from polychotomy.learners import Kesler, additive_kind, minimised_loss
from polychotomy.training import _joint_trainer


def test_a_code_classifier_predicts_what_scikit_learn_predicts(digits):
    X, y = digits
    for ours, theirs in (
        (
            CodeClassifier(SharedLinear(), "one_vs_rest", "argmax"),
            OneVsRestClassifier(RidgeClassifier(alpha=0.5)),
        ),
        (CodeClassifier(SharedLinear()), OneVsOneClassifier(RidgeClassifier(alpha=0.5))),
        (
            CodeClassifier(SharedLinear("squared_hinge", 0.1, tol=1e-10), "one_vs_rest", "argmax"),
            OneVsRestClassifier(LinearSVC(C=0.1, tol=1e-8, dual=True, max_iter=10_000)),
        ),
    ):
        ours.fit(X[:400], y[:400])
        theirs.fit(X[:400], y[:400])
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("calibration", ["auto", "sigmoid"])
def test_probabilities_are_those_of_problems_trained_one_by_one(digits, calibration):
    X, y = digits[0][:300], digits[1][:300]
    options = {"code": "one_vs_rest", "calibration": calibration, "cv": 3, "random_state": 0}
    joint = CodeClassifier(SharedLinear("logistic", 0.1, tol=1e-12), **options).fit(X, y)
    separate = CodeClassifier(LogisticRegression(C=0.1, tol=1e-10, max_iter=1000), **options)
    separate.fit(X, y)
    assert joint.calibration_ == separate.calibration_
    assert joint.calibration_ == ("none" if calibration == "auto" else "sigmoid")
    np.testing.assert_allclose(joint.predict_proba(X), separate.predict_proba(X), atol=1e-4)


def test_margins_of_folds_are_calibrated(digits):
    X, y = digits[0][:300], digits[1][:300]
    options = {"code": "one_vs_one", "cv": 3, "random_state": 0}
    joint = CodeClassifier(SharedLinear(), **options).fit(X, y)
    separate = CodeClassifier(RidgeClassifier(alpha=0.5), **options).fit(X, y)
    np.testing.assert_allclose(joint.predict_proba(X), separate.predict_proba(X), atol=1e-6)


def test_targets_in_blocks_are_as_good_as_all_at_once(digits, monkeypatch):
    X, y = digits[0][:300], digits[1][:300]
    whole = CodeClassifier(SharedLinear(), cv=3).fit(X, y)
    monkeypatch.setattr(_joint_trainer, "_MOST_TARGETS", 7 * 300)
    blocks = CodeClassifier(SharedLinear(), cv=3).fit(X, y)
    np.testing.assert_allclose(blocks.predict_proba(X), whole.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_one_vs_rest_of_many_classes_is_ridge_without_targets(rng, sparse, fit_intercept):
    k = 150
    y = np.arange(4 * k) % k
    X, weight = (
        rng.normal(size=(len(y), 6)) + rng.normal(size=(k, 6))[y],
        rng.uniform(0.5, 2, 4 * k),
    )
    learner = SharedLinear(C=2.0, fit_intercept=fit_intercept)
    given = csr_array(X) if sparse else X
    ours = CodeClassifier(learner, "one_vs_rest", probability=None).fit(given, y, weight)
    ridge = Ridge(0.25, fit_intercept=fit_intercept, tol=1e-12)
    expected = ridge.fit(X, np.where(y[:, np.newaxis] == np.arange(k), 1.0, -1.0), weight)
    np.testing.assert_allclose(ours.binary_outputs(given), expected.predict(X), atol=1e-9)


def test_folds_of_one_vs_rest_of_many_classes_without_targets(monkeypatch, rng):
    k = 90
    y = np.arange(4 * k) % k
    X = rng.normal(size=(len(y), 6)) + rng.normal(size=(k, 6))[y]
    by_targets = CodeClassifier(SharedLinear(), "one_vs_rest", cv=3).fit(X, y)
    monkeypatch.setattr(_joint_trainer, "_MOST_TARGETS", 4 * k)
    monkeypatch.setattr(SharedLinear, "fit_joint", None)
    by_sums = CodeClassifier(SharedLinear(), "one_vs_rest", cv=3).fit(X, y)
    np.testing.assert_allclose(by_sums.predict_proba(X), by_targets.predict_proba(X), atol=1e-9)


def test_one_vs_rest_of_ten_thousand_classes_takes_little_memory(rng):
    k = 10_000
    y = np.arange(2 * k) % k
    X = rng.normal(size=(len(y), 4))
    classifier = CodeClassifier(SharedLinear(), "one_vs_rest", probability=None)
    tracemalloc.start()
    try:
        classifier.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5000 * k < k**2  # a sixth of int8 sides of classes, most of it for progress
    assert len(pickle.dumps(classifier.code_)) < 1000


def test_held_out_outputs_of_too_many_classes_are_refused_at_once(monkeypatch, rng):
    k = 20_000
    y = np.arange(2 * k) % k
    monkeypatch.setattr(SharedLinear, "fit_one_vs_rest", None)  # nothing is trained before
    monkeypatch.setattr(memory, "free_bytes", lambda: 2**30)
    with (
        pytest.raises(NotEnoughMemoryError, match="Set probability=None"),
        pytest.warns(UserWarning, match="fewer samples than folds"),
    ):
        CodeClassifier(SharedLinear(), "one_vs_rest").fit(rng.normal(size=(2 * k, 2)), y)


@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "logistic"])
def test_a_tree_of_linear_problems(digits, loss):
    X, y = digits
    tree = TreeClassifier(SharedLinear(loss), "balanced").fit(X[:400], y[:400])
    assert tree.score(X[:400], y[:400]) > 0.9
    sparse = TreeClassifier(SharedLinear(loss), "balanced").fit(csr_array(X[:400]), y[:400])
    assert np.mean(sparse.predict(csr_array(X)) == tree.predict(X)) > 0.98


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_one_sample_of_each_class(digits):
    X, y = digits[0][:40], np.arange(40)
    for loss in ("squared", "squared_hinge", "logistic"):
        code = CodeClassifier(SharedLinear(loss, 100.0), "one_vs_rest", probability=None)
        with np.errstate(all="raise"):
            code.fit(X, y)
        np.testing.assert_array_equal(code.predict(X), y)


def test_features_cannot_be_appended_to_a_linear_learner(iris):
    X, y = iris
    assert additive_kind(SharedLinear()) == "linear"
    with pytest.raises(ValueError, match="must not be linear in its features"):
        SingleBinaryClassifier(SharedLinear()).fit(X, y)
    kesler = SingleBinaryClassifier(
        SharedLinear("squared_hinge", fit_intercept=False), Kesler(), probability=None
    )
    assert kesler.fit(X, y).score(X, y) > 0.9


def test_the_loss_says_how_to_decode():
    found = [
        minimised_loss(SharedLinear(loss)) for loss in ("squared", "squared_hinge", "logistic")
    ]
    assert found == ["squared", "hinge", "logistic"]


def test_batches_through_a_code(digits):
    X, y = digits
    whole = CodeClassifier(SharedLinear(), "one_vs_rest", probability=None).fit(X, y)
    batches = CodeClassifier(SharedLinear(), "one_vs_rest", probability=None)
    for start in range(0, 600, 100):
        part = slice(start, start + 100)
        batches.partial_fit(X[part], y[part], classes=np.arange(10))
    np.testing.assert_allclose(
        batches.decision_function(X), whole.decision_function(X), rtol=1e-6, atol=1e-8
    )


def test_a_search_over_c_with_nystroem_in_front(digits):
    X, y = digits[0][:300], digits[1][:300]
    pipeline = make_pipeline(
        Nystroem(gamma=0.1, n_components=50, random_state=0),
        CodeClassifier(SharedLinear("squared_hinge"), "one_vs_rest", probability=None),
    )
    search = GridSearchCV(pipeline, {"codeclassifier__estimator__C": [1e-4, 1.0]}, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"codeclassifier__estimator__C": 1.0}
    assert search.best_score_ > 0.85


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_models_are_saved_and_loaded(digits, tmp_path, loss):
    X, y = digits[0][:300], digits[1][:300]
    for model in (SharedLinear(loss), CodeClassifier(SharedLinear(loss), "one_vs_rest")):
        model.fit(X, y)
        path = tmp_path / f"{type(model).__name__}.skops"
        polychotomy.save(model, path)
        again = polychotomy.load(path)
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        if loss == "squared" and isinstance(model, SharedLinear):
            np.testing.assert_array_equal(
                again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_
            )


def test_batches_do_not_go_on_from_training_at_once(iris):
    X, y = iris
    classifier = CodeClassifier(SharedLinear(), "one_vs_rest", probability=None)
    assert hasattr(classifier, "partial_fit")
    classifier.fit(X, y)
    with pytest.raises(AttributeError) as caught:
        classifier.partial_fit(X, y)
    assert "train a new classifier by partial_fit alone" in str(caught.value.__cause__)
    in_batches = clone(classifier).partial_fit(X[::2], y[::2], [0, 1, 2])
    in_batches.partial_fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(in_batches.predict(X), classifier.predict(X))
