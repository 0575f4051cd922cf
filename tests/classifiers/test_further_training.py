"""What further batches, unusual folds and unused learners may not break."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from polychotomy import (
    Code,
    CodeClassifier,
    KernelSBCClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
    TreeClassifier,
)
from polychotomy.training import shared_problems

SGD = SGDClassifier(random_state=0)


@pytest.mark.parametrize("make", [CodeClassifier, lambda base: TreeClassifier(base, "balanced")])
def test_a_batch_after_fit_keeps_the_calibration(iris, make):
    X, y = iris
    classifier = make(SGD).fit(X, y)
    before = classifier._readout.calibrators
    classifier.partial_fit(X[::3], y[::3])
    assert classifier._readout.calibrators is before
    p = classifier.predict_proba(X)
    assert p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_batches_do_not_touch_shared_problems(iris):
    X, y = iris
    with shared_problems():
        fitted = CodeClassifier(SGD, probability=None).fit(X, y)
        outputs = fitted.binary_outputs(X)
        batches = CodeClassifier(SGD, probability=None).partial_fit(X, y, classes=[0, 1, 2])
        batches.partial_fit(X, y)
    assert fitted.estimators_[0] is not batches.estimators_[0]
    np.testing.assert_array_equal(fitted.binary_outputs(X), outputs)


def test_a_fold_without_a_problems_classes_gives_no_output(iris):
    X, y = iris
    p = CodeClassifier(RidgeClassifier(), cv=TimeSeriesSplit(3)).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_weights_concern_only_learners_in_use(iris):
    X, y = iris
    estimators = {"a": LogisticRegression(), "b": LogisticRegression()}
    tree = TreeClassifier(KNeighborsClassifier(), "a {0 b {1 2}}", estimators=estimators)
    assert tree.fit(X, y, sample_weight=np.ones(150)).score(X, y) > 0.9


def test_folds_keep_their_order_and_repeated_samples(iris, rng):
    X, y = iris
    drawn = rng.integers(150, size=150)
    left = np.setdiff1d(np.arange(150), drawn)
    repeated = CodeClassifier(SVC(), cv=[(drawn, left)]).fit(X, y)
    once = CodeClassifier(SVC(), cv=[(np.unique(drawn), left)]).fit(X, y)
    assert np.abs(repeated.predict_proba(X) - once.predict_proba(X)).max() > 1e-6
    splits = list(ShuffleSplit(2, random_state=0).split(X))
    in_order = [(np.sort(training), test) for training, test in splits]
    one, two = (CodeClassifier(SGD, cv=cv).fit(X, y).predict_proba(X) for cv in (splits, in_order))
    assert np.abs(one - two).max() > 1e-6  # a learner that depends on the order sees it


def test_folds_may_be_masks(iris):
    X, y = iris
    test = np.arange(150) % 3 == 0
    masks = CodeClassifier(SVC(), cv=[(~test, test)]).fit(X, y)
    indices = CodeClassifier(SVC(), cv=[(np.flatnonzero(~test), np.flatnonzero(test))]).fit(X, y)
    np.testing.assert_array_equal(masks.predict_proba(X), indices.predict_proba(X))


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (SingleBinaryClassifier(SVC(), "single_call", n_negatives="auto"), "n_negatives"),
        (SingleBinaryClassifier(negatives="zz"), "'negatives' parameter must be one of"),
        (KernelSBCClassifier(negatives="zz"), "'negatives' parameter must be one of"),
        (CodeClassifier(n_jobs="zz"), "'n_jobs' parameter must be None or an int"),
        (SingleBinaryClassifier(SVC(), n_jobs=0), "'n_jobs' parameter must be None or an int"),
    ],
)
def test_parameters_are_checked_before_training(iris, classifier, message):
    with pytest.raises(ValueError, match=message):
        classifier.fit(*iris)


def test_a_warning_turned_into_an_error_leaves_the_earlier_fit(iris):
    X, y = iris
    classifier = KernelSBCClassifier(C=10).fit(X, y)
    before = classifier.predict(X)
    classifier.set_params(C=1e-3, weights="learned")
    with pytest.raises(UserWarning, match="no difference"):  # all warnings are errors here
        classifier.fit(X[:, :2], y)
    np.testing.assert_array_equal(classifier.predict(X), before)


def test_a_learned_kernel_checks_its_features(iris):
    X, y = iris
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        KernelSBCClassifier().fit(broken, y)
    text = KernelSBCClassifier(probability=None).fit(X.astype(str), y)
    np.testing.assert_array_equal(text.predict(X), KernelSBCClassifier().fit(X, y).predict(X))


def test_estimators_are_made_once(iris):
    classifier = CodeClassifier(SharedKernelSVC()).fit(*iris)
    assert classifier.estimators_[0] is classifier.estimators_[0]


def test_kullback_leibler_weighs_problems_by_the_samples_of_all_batches(iris):
    """The classes' shares of the first batch are not those of all."""
    X, y = iris
    first = np.flatnonzero((y == 0) | (np.arange(len(y)) % 10 == 0))
    later = np.setdiff1d(np.arange(len(y)), first)
    X = X + np.random.default_rng(0).normal(scale=0.8, size=X.shape)

    code = Code([[1, 1, 0], [-1, 1, 1], [-1, -1, -1]])  # whose problems contradict each other

    def trained(*batches):
        bayes = GaussianNB(var_smoothing=0)
        classifier = CodeClassifier(bayes, code, probability="kullback_leibler")
        for batch in batches:
            classifier.partial_fit(X[batch], y[batch], classes=range(3))
        return classifier.predict_proba(X)

    whole = trained(np.concatenate([first, later]))
    np.testing.assert_allclose(trained(first, later), whole, atol=1e-5)
