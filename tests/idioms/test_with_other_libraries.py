"""How our classifiers are used with those of scikit-learn, MAPIE and imbalanced-learn.

Each test is written as a user would write it, and ends with what the user wants to know.
"""

import numpy as np
import pandas as pd
import pytest
import sklearn
from imblearn.ensemble import BalancedBaggingClassifier
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.pipeline import make_pipeline as make_imblearn_pipeline
from imblearn.under_sampling import RandomUnderSampler
from mapie.classification import CrossConformalClassifier, SplitConformalClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss, recall_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC

from polychotomy import CodeClassifier, SharedKernelSVC, SingleBinaryClassifier, TreeClassifier


@pytest.fixture(scope="module")
def blobs():
    """Four classes that overlap, for training, for calibration and for testing."""
    X, y = make_blobs(900, 4, centers=4, cluster_std=4.0, random_state=0)
    X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=600, random_state=0)
    X_fit, X_test, y_fit, y_test = train_test_split(X_rest, y_rest, test_size=300, random_state=0)
    return X_train, y_train, X_fit, y_fit, X_test, y_test


@pytest.fixture(scope="module")
def rare():
    """Three classes, the last of them rare."""
    X, y = make_blobs([300, 200, 20], 4, centers=None, cluster_std=4.0, random_state=2)
    return train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)


CLASSIFIERS = [
    CodeClassifier(LogisticRegression(), "one_vs_rest"),
    CodeClassifier(SVC(), "one_vs_one"),
    TreeClassifier(SharedKernelSVC(), "linkage"),
    SingleBinaryClassifier(SharedKernelSVC(), "identity"),
]
every_classifier = pytest.mark.parametrize(
    "classifier", CLASSIFIERS, ids=lambda c: type(c).__name__
)


@every_classifier
def test_mapie_gives_sets_that_hold_the_class_as_often_as_wanted(classifier, blobs):
    X_train, y_train, X_fit, y_fit, X_test, y_test = blobs
    conformal = SplitConformalClassifier(
        classifier.fit(X_train, y_train), confidence_level=0.9, prefit=True
    )
    conformal.conformalize(X_fit, y_fit)
    labels, sets = conformal.predict_set(X_test)
    covered = sets[np.arange(len(y_test)), y_test, 0]
    assert 0.84 < covered.mean() < 0.96  # four standard deviations about 0.9
    np.testing.assert_array_equal(labels, classifier.predict_proba(X_test).argmax(axis=1))


def test_mapie_trains_on_folds(blobs):
    X_train, y_train, _, _, X_test, y_test = blobs
    conformal = CrossConformalClassifier(CLASSIFIERS[0], confidence_level=0.8, cv=3)
    conformal.fit_conformalize(X_train, y_train)
    _, sets = conformal.predict_set(X_test)
    assert sets[np.arange(len(y_test)), y_test, 0].mean() > 0.7


@every_classifier
@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_probabilities_are_calibrated_once_more_by_scikit_learn(classifier, method, blobs):
    X_train, y_train, X_fit, y_fit, X_test, y_test = blobs
    trained = FrozenEstimator(classifier.fit(X_train, y_train))
    calibrated = CalibratedClassifierCV(trained, method=method).fit(X_fit, y_fit)
    p = calibrated.predict_proba(X_test) + 1e-3
    assert log_loss(y_test, p / p.sum(axis=1, keepdims=True)) < 0.4 * np.log(4)


def test_scores_without_probabilities_are_calibrated_by_scikit_learn(blobs):
    X_train, y_train, _, _, X_test, y_test = blobs
    margins = CodeClassifier(LinearSVC(), "one_vs_rest", probability=None)
    calibrated = CalibratedClassifierCV(margins, cv=3).fit(X_train, y_train)
    assert log_loss(y_test, calibrated.predict_proba(X_test)) < 0.8 * np.log(4)


def test_classifiers_are_stacked_and_vote(blobs):
    X_train, y_train, _, _, X_test, y_test = blobs
    members = [
        ("code", CodeClassifier(LogisticRegression(), "one_vs_rest")),
        ("margins", CodeClassifier(LinearSVC(), "one_vs_one", probability=None)),
        ("bayes", GaussianNB()),
    ]
    stacked = StackingClassifier(members, LogisticRegression(max_iter=1000), cv=3)
    assert stacked.fit(X_train, y_train).score(X_test, y_test) > 0.6
    last = StackingClassifier(
        members[2:], CodeClassifier(LogisticRegression(), "one_vs_rest"), cv=3
    )
    assert last.fit(X_train, y_train).score(X_test, y_test) > 0.6
    vote = VotingClassifier([members[0], members[2]], voting="soft").fit(X_train, y_train)
    np.testing.assert_allclose(vote.predict_proba(X_test).sum(axis=1), 1)


def test_bags_of_classifiers(blobs):
    X_train, y_train, _, _, X_test, y_test = blobs
    bag = BaggingClassifier(CodeClassifier(LogisticRegression(), "one_vs_rest"), 3, random_state=0)
    assert bag.fit(X_train, y_train).score(X_test, y_test) > 0.6


def test_a_threshold_is_tuned_for_each_problem(rare):
    """Within a code each problem finds its own: the rare class is found more often."""
    X_train, X_test, y_train, y_test = rare
    plain = LogisticRegression()
    tuned = TunedThresholdClassifierCV(plain, scoring="balanced_accuracy", cv=3, random_state=0)
    by_tree = TreeClassifier(tuned, "chain", solve="recursive", probability=None)
    recall = recall_score(y_test, by_tree.fit(X_train, y_train).predict(X_test), average=None)
    untuned = TreeClassifier(plain, "chain", solve="recursive", probability=None)
    before = recall_score(y_test, untuned.fit(X_train, y_train).predict(X_test), average=None)
    assert recall[2] >= before[2]


def test_a_threshold_is_tuned_around_two_classes(rare):
    X_train, X_test, y_train, y_test = rare
    inner = CodeClassifier(LogisticRegression(), "one_vs_rest")
    tuned = TunedThresholdClassifierCV(inner, scoring="balanced_accuracy", cv=3, random_state=0)
    tuned.fit(X_train, y_train == 2)
    fixed = FixedThresholdClassifier(inner, threshold=tuned.best_threshold_)
    fixed.fit(X_train, y_train == 2)
    np.testing.assert_array_equal(tuned.predict(X_test), fixed.predict(X_test))
    plain = inner.fit(X_train, y_train == 2).predict(X_test)
    assert balanced_accuracy_score(y_test == 2, tuned.predict(X_test)) >= balanced_accuracy_score(
        y_test == 2, plain
    )


@pytest.mark.parametrize(
    "sampler",
    [
        RandomOverSampler(random_state=0),
        RandomUnderSampler(random_state=0),
        SMOTE(k_neighbors=3, random_state=0),
    ],
    ids=lambda s: type(s).__name__,
)
def test_rare_classes_are_resampled_before_the_code(sampler, rare):
    X_train, X_test, y_train, y_test = rare
    model = make_imblearn_pipeline(
        StandardScaler(), sampler, CodeClassifier(LogisticRegression(), "one_vs_rest")
    )
    plain = make_pipeline(StandardScaler(), CodeClassifier(LogisticRegression(), "one_vs_rest"))
    found = recall_score(y_test, model.fit(X_train, y_train).predict(X_test), average=None)
    before = recall_score(y_test, plain.fit(X_train, y_train).predict(X_test), average=None)
    assert found[2] >= before[2]


def test_rare_sides_are_resampled_within_each_problem(rare):
    """A pipeline of imbalanced-learn as the binary classifier: every problem is balanced."""
    X_train, X_test, y_train, y_test = rare
    balanced = make_imblearn_pipeline(RandomOverSampler(random_state=0), LogisticRegression())
    model = CodeClassifier(balanced, "one_vs_rest", cv=3).fit(X_train, y_train)
    assert recall_score(y_test, model.predict(X_test), average=None)[2] > 0
    np.testing.assert_allclose(model.predict_proba(X_test).sum(axis=1), 1)


def test_balanced_bags_of_codes(rare):
    X_train, X_test, y_train, y_test = rare
    bag = BalancedBaggingClassifier(
        CodeClassifier(LogisticRegression(), "one_vs_rest"), n_estimators=3, random_state=0
    )
    assert bag.fit(X_train, y_train).score(X_test, y_test) > 0.4


@pytest.fixture(scope="module")
def frame():
    """Flowers with a column of names."""
    iris = load_iris(as_frame=True)
    named = iris.data.assign(size=np.where(iris.data.iloc[:, 3] > 1, "large", "small"))
    return named, iris.target_names[iris.target]


def test_columns_of_different_kinds_are_prepared_in_one_pipeline(frame):
    X, y = frame
    numbers = X.columns[:4].tolist()
    model = make_pipeline(
        make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), ["size"])),
        CodeClassifier(SVC(), "one_vs_one"),
    )
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9
    model.fit(X, y)
    assert model.predict(X.iloc[[0]]).tolist() == ["setosa"]


def test_columns_are_prepared_for_each_problem(frame):
    X, y = frame
    learner = make_pipeline(
        make_column_transformer(
            (StandardScaler(), X.columns[:4].tolist()),
            (OneHotEncoder(handle_unknown="ignore"), ["size"]),
        ),
        LogisticRegression(),
    )
    model = CodeClassifier(learner, "one_vs_rest").fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.feature_names_in_.tolist() == X.columns.tolist()


def test_a_grid_search_routes_weights_and_groups(blobs):
    X_train, y_train, *_ = blobs
    weight, groups = np.where(y_train == 3, 5.0, 1.0), np.arange(len(y_train)) % 6
    with sklearn.config_context(enable_metadata_routing=True):
        learner = LogisticRegression().set_fit_request(sample_weight=True)
        model = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            CodeClassifier(learner, "one_vs_rest").set_score_request(sample_weight=True),
        )
        grid = {
            "codeclassifier__estimator__C": [0.01, 1.0],
            "codeclassifier__code": ["one_vs_rest", "one_vs_one"],
        }
        search = GridSearchCV(model, grid, cv=GroupKFold(3))
        search.fit(X_train, y_train, sample_weight=weight, groups=groups)
    plain = GridSearchCV(make_pipeline(StandardScaler(), CodeClassifier(code="one_vs_rest")), {})
    plain.fit(X_train, y_train)
    heavy, light = (np.mean(s.predict(X_train) == 3) for s in (search, plain))
    assert heavy > light


def test_decoders_and_structures_are_searched_at_random(blobs):
    X_train, y_train, *_ = blobs
    search = RandomizedSearchCV(
        TreeClassifier(SharedKernelSVC(), probability=None),
        {"structure": ["linkage", "chain", "ddag"], "estimator__C": [0.1, 1.0, 10.0]},
        n_iter=3,
        cv=2,
        random_state=0,
    ).fit(X_train, y_train)
    assert 0.5 < search.best_score_ <= 1


def test_held_out_probabilities_of_all_samples(blobs):
    X_train, y_train, *_ = blobs
    p = cross_val_predict(
        CodeClassifier(code="one_vs_rest"), X_train, y_train, cv=3, method="predict_proba"
    )
    assert log_loss(y_train, p) < np.log(4)


def test_features_are_judged_and_selected(blobs):
    X_train, y_train, *_ = blobs
    noisy = np.column_stack([X_train, np.random.default_rng(0).normal(size=len(X_train))])
    model = CodeClassifier(LogisticRegression(), "one_vs_rest").fit(noisy, y_train)
    found = permutation_importance(model, noisy, y_train, n_repeats=3, random_state=0)
    assert found.importances_mean.argmin() == 4

    def importance(classifier):
        return np.abs([e.coef_[0] for e in classifier.estimators_]).mean(axis=0)

    kept = SelectFromModel(model, importance_getter=importance, prefit=True)
    assert 0 < kept.transform(noisy).shape[1] < 5
    chosen = RFECV(model, importance_getter=importance, cv=3).fit(noisy, y_train)
    assert chosen.n_features_ >= 2


def test_unlabelled_samples_help_to_train():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300].copy()
    unlabelled = y.copy()
    unlabelled[100:] = -1
    model = SelfTrainingClassifier(CodeClassifier(LogisticRegression(), "one_vs_rest"), max_iter=2)
    assert model.fit(X, unlabelled).score(X[100:], y[100:]) > 0.8


def test_a_pandas_output_is_a_pandas_input(frame):
    X, y = frame
    scaler = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scaler, CodeClassifier(LogisticRegression(), "one_vs_rest"))
    model.fit(X.iloc[:, :4], y)
    assert isinstance(model[:-1].transform(X.iloc[:, :4]), pd.DataFrame)
    assert model[-1].feature_names_in_.tolist() == X.columns[:4].tolist()
