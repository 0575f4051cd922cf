import io
import pickle
from contextlib import redirect_stderr

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import GreedySearchCV, SharedKernelSVC, SingleBinaryClassifier, make_code
from polychotomy.decoding import decode
from polychotomy.kernel import ConcatenatedSVC, JointSVC
from polychotomy.learners import Concatenated, SingleCall
from polychotomy.training import Asking


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"extension": "identity"},
        {"extension": "orthogonal"},
        {"n_negatives": "auto"},
        {"n_negatives": 3, "negatives": "near"},
        {"n_negatives": 4, "negatives": "hard"},
        {"replication": SingleCall(decoder="hinge")},
        {"replication": SingleCall("one_vs_one", "probability")},
        {"estimator": SharedKernelSVC(kernel="poly", gamma=0.05, coef0=1)},
        {"estimator": RandomForestClassifier(30, random_state=0), "probability": None},
        {"estimator": KNeighborsClassifier(), "extension": "identity"},
        {"estimator": make_pipeline(PolynomialFeatures(2), RidgeClassifier()), "probability": None},
        {"estimator": LinearSVC(random_state=0), "replication": "kesler"},
        {"estimator": LogisticRegression(), "replication": "kesler"},
    ],
    ids=str,
)
def test_it_learns_the_digits(options, digits, rng):
    order = rng.permutation(600)
    X, y = digits[0][order], digits[1][order]
    options = {"estimator": SharedKernelSVC(C=10)} | options
    classifier = SingleBinaryClassifier(random_state=0, **options).fit(X[:400], y[:400])
    assert classifier.score(X[400:], y[400:]) > 0.85
    assert classifier.decision_function(X).shape == (600, 10)
    assert classifier.binary_outputs(X).shape == (600, classifier.code_.n_problems)
    if classifier.probability is not None:
        p = classifier.predict_proba(X[400:])
        assert p.min() >= 0
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert log_loss(y[400:], p) < 1.0


def test_predictions_and_scores(digits):
    X, y = digits
    words = np.array(list("zyxwvutsrq"))
    replicas = SingleBinaryClassifier(probability=None).fit(X, words[y])
    outputs = replicas.binary_outputs(X)
    np.testing.assert_array_equal(replicas.decision_function(X), outputs)
    np.testing.assert_array_equal(replicas.predict(X), np.array(sorted(words))[outputs.argmax(1)])
    assert replicas.problems_[0] == "q against the rest"
    assert replicas.decoder_ == "argmax"
    calls = SingleBinaryClassifier(None, "single_call", probability=None).fit(X, words[y])
    scores = decode(calls.binary_outputs(X), make_code("bch", 10), "euclidean")
    np.testing.assert_allclose(calls.decision_function(X), scores)
    assert calls.extension_.shape == (14, 14)


def test_replicas_are_not_made_where_that_can_be(digits):
    X, y = digits
    X, y = X[y < 4], y[y < 4]
    made = [
        SingleBinaryClassifier(SharedKernelSVC(kernel=kernel), probability=None)
        .fit(X, y)
        .estimator_
        for kernel in ("rbf", "poly", "sigmoid", rbf_kernel)
    ]
    assert [type(model) for model in made] == [
        JointSVC,
        ConcatenatedSVC,
        ConcatenatedSVC,
        SharedKernelSVC,
    ]
    assert made[3].n_features_in_ == 64 + 7


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [True, False]])
@pytest.mark.parametrize(
    ("base", "replication"),
    [
        (None, None),
        (None, "single_call"),
        (SVC(), "bch"),
        (DecisionTreeClassifier(max_depth=3, random_state=0), "bch"),
        (LogisticRegression(), "kesler"),
    ],
    ids=str,
)
def test_two_classes_are_the_binary_classifier_itself(base, replication, labels, iris):
    X, y = iris[0][50:], np.array(labels)[iris[1][50:] - 1]
    classifier = SingleBinaryClassifier(base, replication).fit(X, y)
    itself = clone(SharedKernelSVC() if base is None else base).fit(X, y)
    np.testing.assert_array_equal(classifier.predict(X), itself.predict(X))
    assert classifier.binary_outputs(X).shape == (100, 1)
    if hasattr(itself, "decision_function"):
        np.testing.assert_allclose(
            classifier.decision_function(X), itself.decision_function(X), atol=1e-3
        )
    p = classifier.predict_proba(X)
    assert p.shape == (100, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize("shared", [True, False])
def test_calibration_is_shared_or_of_each_class(shared, iris):
    X, y = iris
    classifier = SingleBinaryClassifier(shared_calibration=shared).fit(X, y)
    calibrators = classifier._readout.calibrators
    assert len(calibrators) == 3
    assert len(set(calibrators)) == (1 if shared else 3)
    assert classifier.calibration_ == "sigmoid"
    assert classifier.probability_ in ("normalise", "least_squares", "kullback_leibler")
    if shared:
        p = classifier.predict_proba(X)
        np.testing.assert_array_equal(classifier.classes_[p.argmax(axis=1)], classifier.predict(X))


def test_calibration_is_by_outputs_that_were_held_out(iris):
    X, y = iris
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    classifier = SingleBinaryClassifier(SharedKernelSVC(gamma=0.5), cv=folds).fit(X, y)
    outputs = np.empty((150, 3))
    for training, test in folds:
        fold = SingleBinaryClassifier(SharedKernelSVC(gamma=0.5), probability=None)
        outputs[test] = fold.fit(X[training], y[training]).binary_outputs(X[test])
    from polychotomy.calibration import fit_sigmoid

    positive = (y[:, np.newaxis] == np.arange(3)).ravel(order="F")
    expected = fit_sigmoid(outputs.ravel(order="F"), positive, np.ones(450))
    found = classifier._readout.calibrators[0]
    assert found.slope == pytest.approx(expected.slope, rel=0.02)
    assert found.intercept == pytest.approx(expected.intercept, rel=0.02)


def test_own_probabilities_are_taken_as_they_are(iris):
    X, y = iris
    X, y = X[:140], y[:140]  # on balanced classes no single split gains anything
    classifier = SingleBinaryClassifier(HistGradientBoostingClassifier(max_iter=10)).fit(X, y)
    assert classifier.calibration_ == "none"
    assert set(classifier._readout.calibrators) == {None}
    q = np.array(
        [
            classifier.estimator_.predict_proba(np.hstack([X, np.tile(row, (len(X), 1))]))[:, 1]
            for row in classifier.extension_
        ]
    ).T
    np.testing.assert_allclose(classifier._readout.binary(Asking(classifier._trained, X)), q)


def test_kesler_takes_its_learners_own_probabilities(iris):
    X, y = iris
    classifier = SingleBinaryClassifier(LogisticRegression(), "kesler").fit(X, y)
    assert (classifier.calibration_, classifier.probability_) == ("none", "coupling")
    margins = classifier.binary_outputs(X)
    np.testing.assert_allclose(
        classifier._readout.binary(Asking(classifier._trained, X)),
        1 / (1 + np.exp(-margins)),
        atol=1e-9,
    )
    assert not classifier.estimator_.fit_intercept
    assert classifier.estimator_.coef_.shape == (1, 15)


def test_kesler_with_sparse_data_pipelines_and_searches(iris):
    X, y = iris
    plain = SingleBinaryClassifier(LogisticRegression(), "kesler").fit(X, y)
    sparse = SingleBinaryClassifier(LogisticRegression(), "kesler").fit(csr_array(X), y)
    np.testing.assert_allclose(
        sparse.decision_function(csr_array(X)), plain.decision_function(X), atol=1e-5
    )
    for learner in (
        make_pipeline(MaxAbsScaler(), LinearSVC()),
        GreedySearchCV(LinearSVC(), {"C": 1.0}, cv=2, patience=1),
    ):
        classifier = SingleBinaryClassifier(learner, "kesler", probability=None)
        assert classifier.fit(X, y).score(X, y) > 0.9


def test_precomputed_kernels(iris):
    X, y = iris
    K = rbf_kernel(X, gamma=0.5)
    options = {"tol": 1e-7, "dtype": "float64", "gamma": 0.5}
    for parameters in ({}, {"n_negatives": 1, "negatives": "hard"}):
        plain = SingleBinaryClassifier(SharedKernelSVC(**options), **parameters)
        kernel = SingleBinaryClassifier(
            SharedKernelSVC(kernel="precomputed", **options), **parameters
        )
        plain.fit(X, y)
        kernel.fit(K, y)
        np.testing.assert_allclose(kernel.binary_outputs(K), plain.binary_outputs(X), atol=1e-5)
        np.testing.assert_allclose(kernel.predict_proba(K), plain.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("estimator", [None, SVC(gamma=0.1)])
@pytest.mark.parametrize("frames", [pd.DataFrame, pl.DataFrame])
def test_frames(estimator, frames, iris):
    X, y = iris
    frame = frames({name: X[:, i] for i, name in enumerate("abcd")})
    classifier = SingleBinaryClassifier(estimator).fit(frame, pd.Series(y))
    plain = SingleBinaryClassifier(estimator).fit(X, y)
    np.testing.assert_allclose(classifier.predict_proba(frame), plain.predict_proba(X), atol=1e-5)
    assert list(classifier.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(frame[list("dcba")])


def test_pickles_clones_and_workers(iris):
    X, y = iris
    for estimator in (None, SVC(gamma=0.1), SharedKernelSVC(kernel="poly")):
        classifier = SingleBinaryClassifier(estimator, n_negatives=1, random_state=3).fit(X, y)
        for other in (
            pickle.loads(pickle.dumps(classifier)),
            clone(classifier).fit(X, y),
            clone(classifier).set_params(n_jobs=2).fit(X, y),
        ):
            np.testing.assert_array_equal(other.predict_proba(X), classifier.predict_proba(X))
    other = clone(classifier).set_params(random_state=4).fit(X, y)
    assert np.abs(other.binary_outputs(X) - classifier.binary_outputs(X)).max() > 1e-3


def test_the_state_seeds_the_estimator(iris):
    X, y = iris
    forest = RandomForestClassifier(5)
    one, two = (
        SingleBinaryClassifier(forest, probability=None, random_state=1).fit(X, y) for _ in range(2)
    )
    np.testing.assert_array_equal(one.binary_outputs(X), two.binary_outputs(X))
    assert one.estimator_.random_state is not None


@pytest.mark.parametrize("routed", [False, True])
def test_weights_reach_the_learner_with_every_replica(routed, iris, rng):
    X, y = iris
    weight = rng.integers(0, 3, size=150)
    repeated = np.repeat(np.arange(150), weight)
    with sklearn.config_context(enable_metadata_routing=routed):
        for learner in (SharedKernelSVC(gamma=0.5, tol=1e-8), SVC(gamma=0.5, tol=1e-8)):
            if routed:
                learner.set_fit_request(sample_weight=True)
            classifier = SingleBinaryClassifier(learner, probability=None)
            weighted = classifier.fit(X, y, sample_weight=weight).binary_outputs(X)
            by_hand = clone(classifier).fit(X[repeated], y[repeated]).binary_outputs(X)
            np.testing.assert_allclose(weighted, by_hand, atol=1e-4)
        with pytest.raises(
            (ValueError, TypeError), match=r"takes no sample_weight|not explicitly set|unexpected"
        ):
            SingleBinaryClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weight)


def test_rejection(iris):
    X, y = iris
    classifier = SingleBinaryClassifier().fit(X, y)
    # One bias for all replicas: on digits, all of them are on the −1 side, of every sample.
    with pytest.raises(ValueError, match="share one bias"):
        classifier.predict_or_reject(X, "votes")
    with pytest.raises(ValueError, match="must be a number, such as"):
        classifier.predict_or_reject(X)
    _, sure = classifier.predict_or_reject(X, rule="probability", threshold=0.9)
    np.testing.assert_array_equal(sure, classifier.predict_proba(X).max(axis=1) >= 0.9)
    labels, high = classifier.predict_or_reject(X, rule="confidence", threshold=0.5)
    np.testing.assert_array_equal(high, classifier.binary_outputs(X).max(axis=1) >= 0.5)
    np.testing.assert_array_equal(labels, classifier.predict(X))


def test_it_is_searched_as_any_classifier(iris):
    X, y = iris
    search = GreedySearchCV(
        SingleBinaryClassifier(SharedKernelSVC(), probability=None), cv=3, patience=1
    ).fit(X, y)
    assert {"estimator__gamma", "estimator__C"} == set(search.best_params_)
    pipe = make_pipeline(StandardScaler(), SingleBinaryClassifier(probability=None))
    assert cross_val_score(pipe, X, y).mean() > 0.9


def test_progress_is_drawn(iris):
    stream = io.StringIO()
    with redirect_stderr(stream):
        SingleBinaryClassifier(verbose=1, cv=3).fit(*iris)
    assert "4/4 problems" in stream.getvalue()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": LinearSVC()}, r"linear in its features, as LinearSVC\(\).*Kesler"),
        ({"estimator": SharedKernelSVC(kernel="linear")}, "must not be linear"),
        ({"estimator": make_pipeline(StandardScaler(), LinearSVC())}, "must not be linear"),
        ({"estimator": GaussianNB()}, "must not be additive"),
        ({"estimator": SVC(kernel="precomputed")}, r"SharedKernelSVC\(kernel='precomputed'\)"),
        ({"estimator": SVC(), "replication": "kesler"}, "is for linear classifiers"),
        ({"estimator": None, "replication": "kesler"}, "is for linear classifiers"),
        ({"estimator": SVC(kernel="linear"), "replication": "kesler"}, "'fit_intercept'"),
        ({"estimator": "svm"}, "must be a classifier instance"),
        (
            {"replication": "identiy"},
            "'replication' parameter must be one of.*'kesler'.*Did you mean 'iden",
        ),
        ({"replication": "bch", "extension": "bch"}, "give one of the two"),
        ({"replication": Concatenated(scale=0)}, "'scale' parameter must be a positive number"),
        ({"extension": np.ones((3, 2))}, "classes 0 and 1 .* are equal"),
        ({"extension": "orthogonal"}, "at least 4 classes"),
        ({"replication": SingleCall("single")}, "'code' parameter must be one of"),
        ({"replication": SingleCall(np.eye(3))}, "Problem 0"),
        ({"n_negatives": 3}, "an int from 1 to 2"),
        ({"n_negatives": 0}, "an int from 1 to 2"),
        ({"n_negatives": 1, "replication": "single_call"}, "is for replication=Concatenated"),
        ({"n_negatives": 1, "negatives": "easy"}, "'negatives' parameter must be one of"),
        ({"replication": SingleCall(decoder="nearest")}, "'decoder' parameter must be one of"),
        ({"calibration": "platt"}, "'calibration' parameter must be one of"),
        ({"probability": "coupling"}, "needs a code that is one-vs-one"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_before_anything_is_trained(options, message, iris):
    X, y = iris
    if getattr(options.get("estimator"), "kernel", None) == "precomputed":
        X = X @ X.T
    classifier = SingleBinaryClassifier(**options)
    with pytest.raises(ValueError, match=message):
        classifier.fit(X, y)
    assert not hasattr(classifier, "classes_")


def test_every_fold_needs_every_class(iris):
    X, y = iris
    with pytest.raises(ValueError, match="Fold 0 has none of class 0; give fewer folds"):
        SingleBinaryClassifier(cv=KFold(3)).fit(X, y)
    rare = np.where(np.arange(150) == 7, 3, y)
    with pytest.warns(UserWarning, match="fewer samples than folds: 3"):
        SingleBinaryClassifier().fit(X, rare)


def test_there_is_no_training_in_batches():
    assert not hasattr(SingleBinaryClassifier(), "partial_fit")


def test_learners_that_ignore_the_appended_features_are_refused(iris):
    """On balanced classes no single split of the replicas gains anything."""
    X, y = iris
    boosting = SingleBinaryClassifier(HistGradientBoostingClassifier(max_iter=10))
    with pytest.raises(ValueError, match="gives all replicas of all samples the same output"):
        boosting.fit(X, y)
    assert boosting.fit(X[:120], y[:120]).score(X[:120], y[:120]) > 0.9


def test_a_class_that_is_never_predicted_is_told(iris):
    """With balanced classes, no split of the appended features gains anything by itself."""
    X, y = iris
    boosting = SingleBinaryClassifier(
        GradientBoostingClassifier(random_state=0), "bch", probability=None
    )
    with pytest.warns(UserWarning, match="never predicts 1 of 3 classes"):
        boosting.fit(X, y)
    assert len(np.unique(boosting.predict(X))) == 2
    boosting.set_params(replication="identity").fit(X, y)
    assert boosting.score(X, y) > 0.95
