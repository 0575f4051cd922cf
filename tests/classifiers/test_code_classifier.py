import io
import pickle
import re
import traceback
from contextlib import redirect_stderr

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.callback import ProgressBar
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from polychotomy import Code, CodeClassifier, available_codes, make_code
from polychotomy.decoding import count_votes


class Counting(ClassifierMixin, BaseEstimator):
    """A nearest-mean classifier that remembers what it was trained on."""

    def fit(self, X, y):
        self.n_samples_ = len(X)
        self.targets_ = set(np.unique(y))
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == c].mean(axis=0) for c in (0, 1)])
        return self

    def decision_function(self, X):
        low, high = (np.linalg.norm(X - mean, axis=1) for mean in self.means_)
        return low - high

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


@pytest.mark.parametrize("code", available_codes())
def test_every_code_learns_the_digits(code, digits):
    X, y = digits
    classifier = CodeClassifier(code=code, random_state=0)
    if code == "exhaustive":
        X, y = X[y < 6], y[y < 6]
    score = classifier.fit(X[:400:2], y[:400:2]).score(X[1:400:2], y[1:400:2])
    assert score > (0.6 if code in ("adjacent", "trellis") else 0.8)


def test_the_code_can_be_a_name_a_code_a_matrix_or_a_function(iris):
    X, y = iris
    matrix = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    fitted = [
        CodeClassifier(SVC(), code=code).fit(X, y)
        for code in ("one_vs_one", Code(matrix), matrix, np.array(matrix), lambda k: matrix)
    ]
    for other in fitted[1:]:
        assert other.code_ == fitted[0].code_
        np.testing.assert_array_equal(other.binary_outputs(X), fitted[0].binary_outputs(X))


def test_outputs_are_positive_on_the_plus_side(iris):
    X, y = iris
    classifier = CodeClassifier(Counting(), code="one_vs_one").fit(X, y)
    outputs = classifier.binary_outputs(X)
    assert outputs.shape == (150, 3)
    for s, column in enumerate(classifier.code_.matrix.T):
        target = column[y]
        assert np.mean(np.sign(outputs[target != 0, s]) == target[target != 0]) > 0.85


def test_each_problem_sees_the_samples_of_its_classes_only(iris):
    X, y = iris
    classifier = CodeClassifier(Counting(), code=[[1, 1], [-1, 0], [-1, -1]]).fit(X[:120], y[:120])
    assert [e.n_samples_ for e in classifier.estimators_] == [120, 70]
    assert all(e.targets_ == {0, 1} for e in classifier.estimators_)


def test_identical_and_complementary_problems_are_trained_once(digits):
    X, y = digits
    X, y = X[y < 4], y[y < 4]
    classifier = CodeClassifier(Counting(), code="bch").fit(X, y)
    assert classifier.code_.n_problems == 7
    assert len(classifier.estimators_) == 4
    outputs = classifier.binary_outputs(X)
    # describe() says: 5 is the complement of 0.
    np.testing.assert_array_equal(outputs[:, 5], -outputs[:, 0])


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [-1, 1], [True, False]])
@pytest.mark.parametrize("code", [c for c in available_codes() if c != "orthogonal"])
@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression(),
        LinearSVC(random_state=0),
        GaussianNB(),
        MLPClassifier(max_iter=5, random_state=0),
    ],
    ids=lambda base: type(base).__name__,
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_two_classes_are_the_binary_classifier_itself(base, code, labels, iris):
    X, y = iris
    X, y = X[50:], np.array(labels)[y[50:] - 1]
    ours = CodeClassifier(base, code=code, random_state=0).fit(X, y)
    theirs = clone(base).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert len(ours.estimators_) == 1
    if hasattr(base, "decision_function"):
        np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    else:
        expected = 2 * theirs.predict_proba(X)[:, 1] - 1
        np.testing.assert_array_equal(ours.decision_function(X), expected)


@pytest.mark.parametrize(
    ("base", "decoder", "kind"),
    [
        (None, "logistic", "margin"),
        (SVC(), "hinge", "margin"),
        (LinearSVC(), "hinge", "margin"),
        (AdaBoostClassifier(n_estimators=2), "exponential", "margin"),
        (RidgeClassifier(), "squared", "margin"),
        (SGDClassifier(loss="log_loss"), "logistic", "margin"),
        (GradientBoostingClassifier(n_estimators=2), "logistic", "margin"),
        (make_pipeline(StandardScaler(), SVC()), "hinge", "margin"),
        (GridSearchCV(SVC(), {"C": [1]}, cv=2), "hinge", "margin"),
        (GaussianNB(), "linear", "probability"),
        (LinearDiscriminantAnalysis(), "linear", "probability"),
        (Counting(), "linear", "margin"),
    ],
)
def test_auto_takes_the_loss_of_the_learner(base, decoder, kind, iris):
    X, y = iris
    classifier = CodeClassifier(base, "one_vs_rest", random_state=0).fit(X, y)
    assert (classifier.decoder_, classifier.output_kind_) == (decoder, kind)
    assert classifier.score(X, y) > 0.6


@pytest.mark.parametrize("searched", [False, True])
def test_margins_of_adaboost_are_those_of_its_loss(searched, iris):
    """Freund and Schapire's f = Σ α_t h_t, with α_t half of scikit-learn's weights."""
    X, y = iris
    base = AdaBoostClassifier(n_estimators=7, random_state=0)
    given = GridSearchCV(base, {"n_estimators": [7]}, cv=2) if searched else base
    made = CodeClassifier(given, "one_vs_rest", probability=None).fit(X, y)
    for s, trained in enumerate(made.estimators_):
        boosted = trained.best_estimator_ if searched else trained
        votes = np.array([2 * stump.predict(X) - 1 for stump in boosted.estimators_])
        f = boosted.estimator_weights_[: len(votes)] @ votes / 2
        np.testing.assert_allclose(made.binary_outputs(X)[:, s], f)
    assert made.decoder_ == "exponential"


@pytest.mark.parametrize(
    ("base", "kind"),
    [
        (None, "margin"),
        (SVC(), "margin"),
        (make_pipeline(StandardScaler(), SVC()), "margin"),
        (LinearDiscriminantAnalysis(), "margin"),
        (GaussianNB(), "log_odds"),
        (Counting(), "margin"),
    ],
)
def test_auto_takes_votes_where_the_problems_are_all_pairs(base, kind, iris):
    """By the matrix, not by its name; in any order and with any signs."""
    X, y = iris
    turned = -make_code("one_vs_one", 3).matrix[:, ::-1]
    for code in ("one_vs_one", turned):
        auto = CodeClassifier(base, code, random_state=0).fit(X, y)
        assert (auto.decoder_, auto.output_kind_) == ("votes", kind)
        votes = CodeClassifier(base, code, "votes", random_state=0).fit(X, y)
        np.testing.assert_array_equal(auto.decision_function(X), votes.decision_function(X))


@pytest.mark.parametrize(
    ("base", "decoder", "kind"),
    [(SVC(), "hinge", "margin"), (GaussianNB(), "linear", "probability")],
)
def test_auto_goes_by_the_loss_where_pairs_are_missing_or_alone(base, decoder, kind, digits):
    X, y = digits[0][:300], digits[1][:300]
    missing = make_code("one_vs_one", 10).matrix[:, 1:]
    few = CodeClassifier(base, missing, probability=None).fit(X, y)
    assert (few.decoder_, few.output_kind_) == (decoder, kind)
    two = CodeClassifier(base, probability=None).fit(X, y > 4)
    assert (two.decoder_, two.output_kind_) == (decoder, kind)


def test_a_given_decoder_reads_margins_where_there_are_some(iris):
    X, y = iris
    margins = CodeClassifier(LinearDiscriminantAnalysis(), decoder="hinge").fit(X, y)
    assert margins.output_kind_ == "margin"
    own = {"calibration": "none"}  # rules that read sizes read calibrated ones
    euclidean = CodeClassifier(GaussianNB(), decoder="euclidean", **own).fit(X, y)
    votes = CodeClassifier(GaussianNB(), decoder="votes", **own).fit(X, y)
    p = (euclidean.binary_outputs(X) + 1) / 2
    np.testing.assert_allclose(p, expit(votes.binary_outputs(X)), atol=1e-12)


@pytest.mark.parametrize(
    "labels", [["a", "b", "c"], [10, 20, 30], ["", "<b>", "ä"], [0.0, 1.0, 3.0]]
)
def test_any_labels(labels, iris):
    X, y = iris
    named = CodeClassifier(SVC()).fit(X, np.array(labels)[y])
    plain = CodeClassifier(SVC()).fit(X, y)
    np.testing.assert_array_equal(named.predict(X), np.array(labels)[plain.predict(X)])


def test_the_names_of_the_classes_change_nothing(iris):
    """Renamed so that their order is reversed, with a code that treats all classes alike."""
    X, y = iris
    for code in ("one_vs_one", "one_vs_rest"):
        plain = CodeClassifier(SVC(), code=code).fit(X, y)
        turned = CodeClassifier(SVC(), code=code).fit(X, 2 - y)
        np.testing.assert_array_equal(2 - turned.predict(X), plain.predict(X))


def test_the_order_of_the_samples_changes_nothing(iris, rng):
    X, y = iris
    order = rng.permutation(len(y))
    first = CodeClassifier(SVC(tol=1e-8), random_state=0).fit(X, y)
    second = CodeClassifier(SVC(tol=1e-8), random_state=0).fit(X[order], y[order])
    np.testing.assert_allclose(
        first.decision_function(X), second.decision_function(X), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("code", ["one_vs_one", "sparse_random"])
def test_n_jobs_changes_nothing(code, digits):
    X, y = digits
    base = RandomForestClassifier(n_estimators=3)
    one, two = (CodeClassifier(base, code=code, n_jobs=n, random_state=7).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.binary_outputs(X), two.binary_outputs(X))


def test_a_seed_reproduces_code_and_learners(iris):
    X, y = iris
    base = RandomForestClassifier(n_estimators=3)
    make = lambda seed: CodeClassifier(base, code="dense_random", random_state=seed).fit(X, y)  # noqa: E731
    np.testing.assert_array_equal(make(1).binary_outputs(X), make(1).binary_outputs(X))
    seeds = {e.random_state for e in make(1).estimators_}
    assert len(seeds) == len(make(1).estimators_)


def test_a_learners_own_seed_is_kept(iris):
    base = make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=2, random_state=5))
    classifier = CodeClassifier(base, random_state=1).fit(*iris)
    assert {e[-1].random_state for e in classifier.estimators_} == {5}
    untouched = CodeClassifier(RandomForestClassifier(n_estimators=2)).fit(*iris)
    assert {e.random_state for e in untouched.estimators_} == {None}


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
def test_sparse_input(kind, iris):
    X, y = iris
    dense = CodeClassifier(LinearSVC(random_state=0)).fit(X, y)
    thin = CodeClassifier(LinearSVC(random_state=0)).fit(kind(X), y)
    np.testing.assert_allclose(
        dense.decision_function(X), thin.decision_function(kind(X)), rtol=1e-3
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_reach_the_base_as_they_are(frame, iris):
    X, y = iris
    table = frame({"a": X[:, 0], "b": X[:, 1], "kind": [f"k{v}" for v in y]})
    base = make_pipeline(
        make_column_transformer(
            (StandardScaler(), ["a", "b"]), (OneHotEncoder(handle_unknown="ignore"), ["kind"])
        ),
        LogisticRegression(),
    )
    classifier = CodeClassifier(base).fit(table, y)
    assert list(classifier.feature_names_in_) == ["a", "b", "kind"]
    assert classifier.score(table, y) == 1.0
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(frame({"z": X[:, 0], "b": X[:, 1], "kind": ["k0"] * 150}))


def test_data_frames_and_arrays_agree(iris):
    X, y = iris
    table = pd.DataFrame(X, columns=list("abcd"))
    first = CodeClassifier().fit(X, y)
    second = CodeClassifier().fit(table, pd.Series(y))
    np.testing.assert_allclose(first.decision_function(X), second.decision_function(table))


def test_missing_values_are_the_base_learners_business(iris):
    X, y = iris
    X = X.copy()
    X[::7, 0] = np.nan
    base = make_pipeline(SimpleImputer(), LogisticRegression())
    assert CodeClassifier(base).fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match="NaN"):
        CodeClassifier(LogisticRegression()).fit(X, y)


def test_precomputed_kernels_are_cut_to_the_problems_samples(iris):
    X, y = iris
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    train, test = slice(0, 100), slice(100, 150)
    plain = CodeClassifier(SVC(gamma=0.5)).fit(X[train], y[train])
    kernel = CodeClassifier(SVC(kernel="precomputed")).fit(
        rbf_kernel(X[train], gamma=0.5), y[train]
    )
    np.testing.assert_allclose(
        kernel.decision_function(rbf_kernel(X[test], X[train], gamma=0.5)),
        plain.decision_function(X[test]),
        rtol=1e-6,
    )
    scores = cross_val_score(CodeClassifier(SVC(kernel="precomputed")), rbf_kernel(X, gamma=0.5), y)
    assert scores.mean() > 0.9


def test_weights_reach_each_problem_cut_to_its_samples(iris):
    X, y = iris
    weight = np.where(np.arange(150) % 3 == 0, 2, 1)
    weighted = CodeClassifier(LogisticRegression(tol=1e-10)).fit(X, y, sample_weight=weight)
    repeated = CodeClassifier(LogisticRegression(tol=1e-10)).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_weights_through_metadata_routing(n_jobs, iris):
    X, y = iris
    weight = np.linspace(0.1, 2, 150)
    expected = CodeClassifier(LogisticRegression()).fit(X, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        base = make_pipeline(
            StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False),
            LogisticRegression().set_fit_request(sample_weight=True),
        )
        routed = CodeClassifier(base, n_jobs=n_jobs).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(routed.decision_function(X), expected.decision_function(X))
        with pytest.raises(ValueError, match="sample_weight"):
            CodeClassifier(LogisticRegression()).fit(X, y, sample_weight=weight)


def test_weights_for_a_learner_without_weights_are_refused(iris):
    X, y = iris
    with pytest.raises(ValueError, match="Counting takes no sample_weight"):
        CodeClassifier(Counting()).fit(X, y, sample_weight=np.ones(150))
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        CodeClassifier().fit(X, y, groups=y)


def test_partial_fit_learns_batch_by_batch(iris):
    X, y = iris
    base = GaussianNB()
    whole = CodeClassifier(base, code="one_vs_one").fit(X, y)
    parts = CodeClassifier(base, code="one_vs_one")
    for batch in np.array_split(np.random.default_rng(0).permutation(150), 5):
        parts.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
    np.testing.assert_allclose(
        parts.binary_outputs(X), whole.binary_outputs(X), rtol=1e-5, atol=1e-8
    )


def test_a_problem_without_samples_says_nothing_yet(iris):
    X, y = iris
    early = y < 2
    classifier = CodeClassifier(SGDClassifier(random_state=0), code="one_vs_one")
    classifier.partial_fit(X[early], y[early], classes=[0, 1, 2, 3])
    assert classifier.estimators_[-1] is None
    np.testing.assert_array_equal(classifier.binary_outputs(X)[:, -1], 0)
    assert classifier.score(X[early], y[early]) == 1
    classifier.partial_fit(X[~early], y[~early])
    assert classifier.estimators_[-1] is not None


def test_partial_fit_is_there_only_where_the_base_has_it():
    assert hasattr(CodeClassifier(GaussianNB()), "partial_fit")
    assert not hasattr(CodeClassifier(SVC()), "partial_fit")


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        ([0, 1], None, "all labels in the first call"),
        ([0, 1], [0, 2], "must be one of the classes. Got 1"),
        ([0, 0], [0], "at least two classes"),
    ],
)
def test_partial_fit_needs_to_know_the_classes(y, classes, message):
    with pytest.raises(ValueError, match=message):
        CodeClassifier(GaussianNB()).partial_fit([[0.0], [1.0]], y, classes=classes)


def test_partial_fit_keeps_the_classes_of_the_first_call():
    classifier = CodeClassifier(GaussianNB()).partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="the same labels in every call"):
        classifier.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])


def test_problems_in_words(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    classifier = CodeClassifier(code="one_vs_one").fit(X, names[y])
    assert classifier.problems_ == [
        "setosa against versicolor",
        "setosa against virginica",
        "versicolor against virginica",
    ]


class TwoColumns(Counting):
    def decision_function(self, X):
        return np.column_stack([-super().decision_function(X), super().decision_function(X)])


def test_margins_of_the_wrong_shape_are_refused(iris):
    X, y = iris
    classifier = CodeClassifier(TwoColumns(), probability=None).fit(X, y)
    with pytest.raises(ValueError, match=r"1 value\(s\) for each of 150 samples.*\(150, 2\)"):
        classifier.predict(X)


def test_two_classes_keep_the_learners_own_threshold(iris):
    X, y = iris
    base = FixedThresholdClassifier(LogisticRegression(), threshold=0.9)
    ours = CodeClassifier(base).fit(X[50:], y[50:])
    np.testing.assert_array_equal(ours.predict(X), base.fit(X[50:], y[50:]).predict(X))


def test_texts_for_a_vectoriser():
    texts = ["red apple", "green apple", "blue sky", "grey sky", "old car", "new car"] * 5
    labels = np.repeat([["fruit", "fruit", "air", "air", "car", "car"]], 5, axis=0).ravel()
    classifier = CodeClassifier(make_pipeline(TfidfVectorizer(), LogisticRegression()))
    for X in (texts, np.array(texts), pd.Series(texts)):
        assert classifier.fit(X, labels).score(X, labels) == 1


class FailsOnVirginica(Counting):
    def fit(self, X, y):
        if X[:, 0].max() > 7.5:
            raise RuntimeError("this flower is too long")
        return super().fit(X, y)


def test_any_joblib_backend_will_do(iris):
    X, y = iris
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        assert CodeClassifier(SVC()).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failure_names_its_problem_and_keeps_its_traceback(n_jobs, iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    classifier = CodeClassifier(FailsOnVirginica(), n_jobs=n_jobs)
    with pytest.raises(RuntimeError, match="too long") as caught:
        classifier.fit(X, names[y])
    text = "".join(traceback.format_exception(caught.value))
    assert re.search("binary problem «(setosa|versicolor) against virginica»", text)
    assert "50 and 50 samples" in text
    assert "raise RuntimeError" in text
    assert not classifier.__sklearn_is_fitted__()


def test_a_failed_fit_leaves_the_fitted_model(iris):
    X, y = iris
    classifier = CodeClassifier(LogisticRegression()).fit(X, y)
    before = classifier.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        classifier.fit(np.full((150, 2), np.nan), (y > 0).astype(int))
    np.testing.assert_array_equal(classifier.predict(X), before)
    never = CodeClassifier(FailsOnVirginica())
    with pytest.raises(RuntimeError):
        never.fit(X, y)
    assert not hasattr(never, "n_features_in_")


def test_reject_by_votes(digits):
    X, y = digits
    for code in ("one_vs_rest", "one_vs_one"):
        classifier = CodeClassifier(SVC(), code=code, decoder="votes").fit(X[:200], y[:200])
        labels, accepted = classifier.predict_or_reject(X[200:])
        np.testing.assert_array_equal(labels, classifier.predict(X[200:]))
        right = labels == y[200:]
        assert right[accepted].mean() > right.mean()
    claims = CodeClassifier(SVC(), code="one_vs_rest").fit(X[:200], y[:200])
    outputs = claims.binary_outputs(X[200:])
    _, accepted = claims.predict_or_reject(X[200:])
    np.testing.assert_array_equal(accepted, (outputs > 0).sum(axis=1) == 1)
    assert 0 < accepted.mean() < 1


def test_reject_by_votes_takes_the_winner_of_the_votes(digits):
    X, y = digits
    classifier = CodeClassifier(SVC(), decoder="hinge").fit(X[:200], y[:200])
    labels, accepted = classifier.predict_or_reject(X)
    votes = count_votes(classifier.binary_outputs(X), classifier.code_)
    np.testing.assert_array_equal(labels[accepted], votes.argmax(axis=1)[accepted])
    assert (labels != classifier.predict(X)).any()


def test_reject_by_confidence(digits, iris):
    X, y = digits
    classifier = CodeClassifier(SVC()).fit(X[:200], y[:200])
    scores = classifier.decision_function(X)
    threshold = np.median(scores.max(axis=1))
    labels, accepted = classifier.predict_or_reject(X, "confidence", threshold)
    assert accepted.mean() == pytest.approx(0.5, abs=0.01)
    np.testing.assert_array_equal(labels, classifier.predict(X))
    X, y = iris
    binary = CodeClassifier(SVC()).fit(X[50:], y[50:])
    _, accepted = binary.predict_or_reject(X, "confidence", threshold=0.5)
    np.testing.assert_array_equal(accepted, np.abs(binary.decision_function(X)) >= 0.5)


@pytest.mark.parametrize(
    ("rule", "threshold", "message"),
    [
        ("confidence", None, "must be a number, such as 0.8, with rule='confidence'"),
        ("votes", 0.5, "None with rule='votes'"),
        ("confidence", "high", "must be a number"),
        ("vote", None, "Did you mean 'votes'"),
    ],
)
def test_reject_rules_are_checked(rule, threshold, message, iris):
    classifier = CodeClassifier().fit(*iris)
    with pytest.raises(ValueError, match=message):
        classifier.predict_or_reject(iris[0], rule, threshold)


@pytest.mark.slow
def test_long_codes_are_predicted_in_blocks(monkeypatch, digits):
    X, y = digits
    classifier = CodeClassifier(LogisticRegression()).fit(X, y)
    whole = classifier.decision_function(X), *classifier.predict_or_reject(X)
    monkeypatch.setattr("polychotomy.classifiers._reduction_classifier._BLOCK_OUTPUTS", 45 * 7)
    blocks = classifier.decision_function(X), *classifier.predict_or_reject(X)
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_allclose(one, other)
    sparse_classifier = CodeClassifier(LogisticRegression()).fit(sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(
        sparse_classifier.predict(sparse.csr_matrix(X)), classifier.predict(X)
    )


def test_grid_search_over_codes_and_the_learners_parameters(iris):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), CodeClassifier(SVC())),
        {
            "codeclassifier__code": ["one_vs_one", "one_vs_rest"],
            "codeclassifier__estimator__C": [0.1, 1],
        },
        cv=3,
    )
    assert search.fit(*iris).best_score_ > 0.9


def test_clone_and_pickle(iris):
    X, y = iris
    classifier = CodeClassifier(SVC(), code=make_code("one_vs_rest", 3)).fit(X, y)
    assert clone(classifier).code == classifier.code
    loaded = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(loaded.decision_function(X), classifier.decision_function(X))


def test_progress_is_shown_when_verbose(iris):
    stream = io.StringIO()
    with redirect_stderr(stream):
        CodeClassifier(SVC(), probability=None, verbose=1).fit(*iris)
    assert "3/3 problems" in stream.getvalue()
    with redirect_stderr(stream := io.StringIO()):
        CodeClassifier(SVC()).fit(*iris)
    assert stream.getvalue() == ""


class Recorder:
    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scikit_learn_callbacks_hear_of_every_problem(n_jobs, iris):
    recorder = Recorder()
    CodeClassifier(SVC(), probability=None, n_jobs=n_jobs).set_callbacks(recorder).fit(*iris)
    assert recorder.events[0] == "setup"
    assert recorder.events[-1] == "teardown"
    for s in ("0 against 1", "0 against 2", "1 against 2"):
        begin = recorder.events.index(("begin", f"problem {s}"))
        assert begin < recorder.events.index(("end", f"problem {s}"))


def test_scikit_learns_progress_bar(iris, capsys):
    CodeClassifier(SVC()).set_callbacks(ProgressBar()).fit(*iris)
    assert "CodeClassifier" in capsys.readouterr().out


def test_many_classes(rng):
    X, y = make_classification(
        2000, 30, n_informative=20, n_classes=100, n_clusters_per_class=1, random_state=0
    )
    classifier = CodeClassifier(RidgeClassifier(), code="dense_random", random_state=0).fit(X, y)
    assert classifier.decision_function(X[:5]).shape == (5, 100)
    assert classifier.score(X, y) > 0.05


def test_samples_without_weight_do_not_count_for_the_divergence(iris, rng):
    X, y = iris
    more = np.concatenate([np.arange(150), rng.choice(150, 60)])
    weight = np.concatenate([np.ones(150), np.zeros(60)])
    options = {"code": "one_vs_one", "probability": "kullback_leibler", "calibration": "none"}
    base = LogisticRegression(tol=1e-8, max_iter=1000)
    plain = CodeClassifier(base, **options).fit(X, y)
    weighted = CodeClassifier(base, **options).fit(X[more], y[more], sample_weight=weight)
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), atol=1e-5)


def test_many_pairs_are_trained_only_if_told_to(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(600, 4)), np.repeat(np.arange(300), 2)
    with pytest.raises(ValueError, match="300 classes is 44850 binary problems: by one of them"):
        CodeClassifier(RidgeClassifier()).fit(X, y)
    with pytest.raises(ValueError, match=r"binary problems\. Take code='one_vs_rest' \(300"):
        CodeClassifier(SGDClassifier()).partial_fit(X, y, classes=np.arange(300))
    monkeypatch.setattr("polychotomy.classifiers._code_classifier._MANY_CLASSES", 7)
    y %= 7
    with pytest.raises(ValueError, match=r"give code=make_code\('one_vs_one', 7\)"):
        CodeClassifier(RidgeClassifier()).fit(X, y)
    assert (
        len(CodeClassifier(RidgeClassifier(), make_code("one_vs_one", 7)).fit(X, y).problems_) == 21
    )
