import re

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from polychotomy.calibration import (
    CALIBRATIONS,
    FORMS,
    calibrated_form,
    check_folds,
    choose_calibration,
    fit_calibrator,
    fit_isotonic,
    fit_logistic,
    fit_sigmoid,
    folds,
)
from polychotomy.learners import Says


def _sample(rng, n=4000, slope=2.0, intercept=-1.0, scale=1.0):
    f = rng.normal(size=n)
    return f * scale, rng.random(n) < expit(slope * f + intercept), np.ones(n)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_sigmoid_finds_its_parameters(scale, rng):
    found = fit_sigmoid(*_sample(rng, scale=scale))
    assert found.slope * scale == pytest.approx(2.0, abs=0.2)
    assert found.intercept == pytest.approx(-1.0, abs=0.15)


@pytest.mark.slow
def test_the_sigmoid_is_unpenalised_logistic_regression_on_plenty_of_data(rng):
    f, positive, weight = _sample(rng, n=50_000)
    ours = fit_sigmoid(f, positive, weight)
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(f[:, np.newaxis], positive)
    assert ours.slope == pytest.approx(theirs.coef_[0, 0], rel=1e-3)
    assert ours.intercept == pytest.approx(theirs.intercept_[0], rel=1e-3)


@pytest.mark.parametrize("fit", CALIBRATIONS.values(), ids=CALIBRATIONS)
def test_weights_are_repetitions(fit, rng):
    f, positive, _ = _sample(rng, n=200)
    weight = rng.integers(1, 4, size=200)
    one = fit(f, positive, weight.astype(float))
    other = fit(np.repeat(f, weight), np.repeat(positive, weight), np.ones(weight.sum()))
    grid = np.linspace(-3, 3, 50)
    np.testing.assert_allclose(one(grid), other(grid), atol=1e-8)


def test_the_logistic_form_never_changes_the_side(rng):
    f, positive, weight = _sample(rng)
    for target in (positive, ~positive):  # even where the outputs are wrong
        q = fit_logistic(f, target, weight)(np.linspace(-5, 5, 101))
        assert np.all(np.diff(q) > 0)
        assert q[50] == 0.5


def test_separated_outputs_stay_finite():
    f = np.array([-2.0, -1.0, 1.0, 2.0])
    q = fit_sigmoid(f, f > 0, np.ones(4))(f)
    assert np.all((q > 0) & (q < 1))
    # Platt's targets: (N+ + 1)/(N+ + 2) is the most that four samples can support.
    assert q.max() < 0.9
    found = fit_logistic(f, f > 0, np.ones(4))
    assert found.slope == pytest.approx(50 / np.sqrt(2.5))  # the bound that is stated


def test_the_logistic_form_is_the_plain_maximum_likelihood(rng):
    """Tax and Duin's equation 2, against scikit-learn without intercept and penalty."""
    f, positive, _ = _sample(rng, n=30, slope=1.0, intercept=0.0)
    weight = rng.random(30) + 0.5
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10)
    model.fit(f[:, np.newaxis], positive, sample_weight=weight)
    found = fit_logistic(f, positive, weight)
    assert found.slope == pytest.approx(model.coef_[0, 0], rel=1e-5)
    assert found.intercept == 0


@pytest.mark.parametrize(("plus", "minus"), [(8, 2), (2, 8), (1, 98)])
def test_platts_targets_count_each_side(plus, minus):
    """Two outputs, each of one side, are fitted exactly: (N+ + 1)/(N+ + 2) and 1/(N- + 2)."""
    f = np.repeat([3.0, -1.0], [plus, minus])
    fitted = fit_sigmoid(f, f > 0, np.ones(len(f)))(np.array([3.0, -1.0]))
    np.testing.assert_allclose(fitted, [(plus + 1) / (plus + 2), 1 / (minus + 2)], rtol=1e-7)


@pytest.mark.parametrize("fit", CALIBRATIONS.values(), ids=CALIBRATIONS)
def test_calibrated_probabilities_follow_the_outputs(fit, rng):
    """In each of ten groups of outputs, the mean probability is the share of the + side."""
    f, positive, weight = _sample(rng, slope=3.0, intercept=0.0)
    q = fit(f, positive, weight)(f)
    for group in np.array_split(np.argsort(f), 10):
        assert q[group].mean() == pytest.approx(positive[group].mean(), abs=0.06)
    assert np.ptp(q) > 0.9


def test_isotonic_calibration_is_monotone_and_clipped(rng):
    q = fit_isotonic(*_sample(rng))(np.linspace(-100, 100, 500))
    assert np.all(np.diff(q) >= 0)
    assert q.min() >= 0
    assert q.max() <= 1


def test_constant_outputs_give_the_frequency(rng):
    positive = rng.random(1000) < 0.3
    q = fit_sigmoid(np.zeros(1000), positive, np.ones(1000))(np.zeros(1))
    assert q[0] == pytest.approx(positive.mean(), abs=0.01)


def test_without_any_weight_it_is_the_logistic_function():
    outputs = np.array([-2.0, 0.0, 1.0])
    for name in CALIBRATIONS:
        found = fit_calibrator(name, outputs, outputs > 0, np.zeros(3))(outputs)
        np.testing.assert_allclose(found, 1 / (1 + np.exp(-outputs)))


def test_the_calibration_depends_on_the_learner():
    margin, probability = Says("hinge", ("margin",)), Says(None, ("probability",))
    both = Says(None, ("margin", "probability"))
    for said in (margin, probability, both):
        assert choose_calibration("auto", said) == "sigmoid"
    assert choose_calibration("auto", both._replace(trusted=True)) == "none"
    assert choose_calibration("none", both) == "none"
    for said, expected in ((margin, "sigmoid"), (probability, "none"), (both, "none")):
        assert choose_calibration("auto", said, in_batches=True) == expected
    with pytest.raises(ValueError, match="predict_proba, and LinearSVC has none"):
        choose_calibration("none", margin._replace(name="LinearSVC"))
    with pytest.raises(ValueError, match="Did you mean 'sigmoid'"):
        choose_calibration("sigmoids", margin)


def test_the_forms_of_a_probability():
    p = np.array([0.1, 0.5, 0.75])
    np.testing.assert_allclose(FORMS["probability"](p), [-0.8, 0, 0.5], atol=1e-15)
    np.testing.assert_allclose(FORMS["log_odds"](p), np.log(p / (1 - p)), atol=1e-12)
    assert FORMS["log_odds"](p)[1] < 0  # the first class is predicted


def test_folds_are_stratified_and_complete():
    y = np.repeat([0, 1, 2], [50, 20, 10])
    splits = list(folds(5, np.zeros((80, 1)), y, np.array(list("abc"))))
    assert len(splits) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), range(80))
    for training, test in splits:
        assert np.bincount(y[test]).tolist() == [10, 4, 2]
        assert set(training) | set(test) == set(range(80))


def test_a_class_with_a_sample_for_each_fold_is_not_rare():
    y = np.repeat([0, 1], [20, 5])
    splits = list(folds(5, np.zeros((25, 1)), y, np.array(list("ab"))))
    assert [np.bincount(y[test]).tolist() for _, test in splits] == [[4, 1]] * 5


def test_rare_classes_stay_in_training_and_are_named():
    y = np.array([0] * 20 + [1] * 3 + [2])
    with pytest.warns(UserWarning, match="fewer samples than folds: b, c"):
        splits = list(folds(5, np.zeros((24, 1)), y, np.array(list("abc"))))
    for training, test in splits:
        assert set(y[training]) == {0, 1, 2}
        assert 2 not in y[test]
    assert sum((y[test] == 1).sum() for _, test in splits) == 3


def test_many_rare_classes_are_not_all_named():
    for k, end in ((10, "9."), (11, "9, ….")):
        with pytest.warns(UserWarning, match=re.escape(f"8, {end} Their probabilities")):
            list(folds(3, np.zeros((2 * k, 1)), np.repeat(np.arange(k), 2), np.arange(k)))


def test_any_splitter_of_scikit_learn_will_do():
    X, y, classes = np.zeros((12, 1)), np.arange(12) % 2, np.arange(2)
    splits = list(KFold(3).split(X))
    for cv in (KFold(3), splits):
        for (training, test), expected in zip(folds(cv, X, y, classes), splits, strict=True):
            np.testing.assert_array_equal(training, expected[0])
            np.testing.assert_array_equal(test, expected[1])
    one, other = (list(folds(cv, X, y, classes)) for cv in (np.int64(3), 3))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a[1], b[1])


def test_every_class_must_be_in_every_training_part():
    y, classes = np.array([0, 1, 2, 0, 1]), np.array(list("abc"))
    check_folds([(np.arange(4), [4]), (np.arange(1, 5), [0])], y, classes)
    with pytest.raises(ValueError, match="Fold 1 has none of class c"):
        check_folds([(np.arange(4), [4]), (np.array([0, 1, 3, 4]), [2])], y, classes)


def test_log_odds_are_limited():
    p = np.array([0, 1e-21, 0.5, 0.75, 1])
    found = calibrated_form(p, "probability")
    np.testing.assert_allclose(found, [-50, np.log(1e-21), 0, np.log(3), 50], atol=1e-300)
    np.testing.assert_array_equal(calibrated_form(p - 60, "margin"), p - 60)


@pytest.mark.parametrize("cv", [0, 1, True])
def test_the_number_of_folds_is_checked(cv):
    with pytest.raises(ValueError, match="'cv' parameter must be an int of at least 2"):
        list(folds(cv, np.zeros((4, 1)), np.array([0, 0, 1, 1]), np.array([0, 1])))
