import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from polychotomy import CodeClassifier, TreeClassifier
from polychotomy.codes import one_vs_one, one_vs_rest
from polychotomy.learners import Says
from polychotomy.readout import automatic_decoder
from polychotomy.readout._choices import choose_rules
from polychotomy.structures import single_node

MARGIN, PROBABILITY = Says("hinge", ("margin",)), Says(None, ("probability",))


@pytest.mark.parametrize(
    ("code", "loss", "expected"),
    [
        (one_vs_one(4), "hinge", "votes"),
        (one_vs_one(2), "hinge", "hinge"),
        (one_vs_rest(4), "logistic", "logistic"),
        (one_vs_rest(4), None, None),
    ],
)
def test_the_automatic_decoder(code, loss, expected):
    assert automatic_decoder(code, loss) == expected


@pytest.mark.parametrize(
    ("decoder", "said", "expected"),
    [
        ("auto", MARGIN, ("hinge", "margin")),
        ("auto", PROBABILITY, ("linear", "probability")),
        ("votes", PROBABILITY, ("votes", "log_odds")),
        ("argmax", PROBABILITY, ("argmax", "log_odds")),
        ("exponential", PROBABILITY, ("exponential", "probability")),
    ],
)
def test_rules_and_what_they_read(decoder, said, expected):
    code = one_vs_rest(3)
    rules, forms = choose_rules(decoder, single_node(code), (said,) * 3, np.arange(3), False)
    assert (rules[0], forms[0]) == expected


def test_learners_on_different_scales_need_probabilities():
    code = one_vs_rest(3)
    says = (MARGIN, MARGIN, PROBABILITY)
    rules, _ = choose_rules("auto", single_node(code), says, np.arange(3), True)
    assert rules == ("probability",)
    with pytest.raises(ValueError, match="Set 'probability' to something other than None"):
        choose_rules("auto", single_node(code), says, np.arange(3), False)
    assert choose_rules("votes", single_node(code), says, np.arange(3), False)[0] == ("votes",)


def test_argmax_needs_a_problem_for_each_class(iris):
    X, y = iris
    classifier = CodeClassifier(SVC(), "one_vs_rest", "argmax", probability=None).fit(X, y)
    np.testing.assert_array_equal(classifier.decision_function(X), classifier.binary_outputs(X))
    with pytest.raises(ValueError, match="needs a code that is one-vs-rest"):
        CodeClassifier(SVC(), "one_vs_one", "argmax").fit(X, y)


def test_confidence_is_the_score_of_what_is_predicted(iris):
    X, y = iris
    classifier = CodeClassifier(LogisticRegression(), "one_vs_rest", "probability").fit(X, y)
    labels, accepted = classifier.predict_or_reject(X, "confidence", 0.7)
    np.testing.assert_array_equal(labels, classifier.predict(X))
    np.testing.assert_array_equal(accepted, classifier.predict_proba(X).max(axis=1) >= 0.7)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_rejection_keeps_the_classes_of_learners_with_a_threshold_of_their_own(n_classes, digits):
    keep = digits[1] < n_classes
    X, y = digits[0][keep], digits[1][keep]
    base = FixedThresholdClassifier(LogisticRegression(), threshold=0.999)
    tree = TreeClassifier(base, "balanced", probability=None).fit(X, y)
    labels, accepted = tree.predict_or_reject(X, "confidence", -np.inf)
    assert accepted.all()
    np.testing.assert_array_equal(labels, tree.predict(X))
    scores = tree.decision_function(X)
    by_scores = scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0).astype(int)
    assert (tree.classes_[by_scores] != labels).any()


def test_votes_need_a_flat_code(digits):
    X, y = digits[0][:200], digits[1][:200]
    tree = TreeClassifier(GaussianNB(var_smoothing=0.01), "balanced").fit(X, y)
    with pytest.raises(ValueError, match="'rule' parameter must be one of 'confidence'"):
        tree.predict_or_reject(X, "votes")
    with pytest.raises(ValueError, match="'threshold' parameter must be a number"):
        tree.predict_or_reject(X)
    flat = TreeClassifier(GaussianNB(var_smoothing=0.01), "ddag").fit(X, y)
    labels, accepted = flat.predict_or_reject(X)
    assert (labels == y)[accepted].mean() >= (labels == y).mean()


@pytest.mark.parametrize(
    "base",
    [
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
    ],
)
@pytest.mark.parametrize("code", ["one_vs_rest", "dense_random"])
def test_a_calibrator_reads_the_kind_of_output_it_was_fitted_on(digits, base, code):
    """These learners have margins and probabilities, and the loss of neither is known."""
    X, y = digits
    classifier = CodeClassifier(base, code, random_state=0).fit(X[::2], y[::2])
    predicted = classifier.predict(X[1::2])
    assert (predicted == y[1::2]).mean() > 0.75
    most_probable = classifier.predict_proba(X[1::2]).argmax(axis=1)
    assert (predicted != most_probable).mean() <= (0 if code == "one_vs_rest" else 0.05)


def test_ties_of_one_vs_rest_go_to_the_same_class_everywhere(digits):
    """Shares of 10 trees tie often: class, scores and probabilities have one winner."""
    X, y = digits
    forest = RandomForestClassifier(10, random_state=0)
    classifier = CodeClassifier(forest, "one_vs_rest").fit(X[:200], y[:200])
    predicted = classifier.predict(X[200:])
    largest = np.sort(classifier.binary_outputs(X[200:]), axis=1)[:, -2:]
    assert (largest[:, 0] == largest[:, 1]).any()
    for said in (classifier.predict_proba, classifier.decision_function):
        np.testing.assert_array_equal(said(X[200:]).argmax(axis=1), predicted)
