import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier

from polychotomy import CodeClassifier, make_code
from polychotomy.assess import training_error_bound
from polychotomy.decoding import LOSSES, RULES


def test_the_parts_of_the_bound():
    code = make_code("one_vs_one", 3)
    outputs = np.array([[2.0, 1.0, 0.0], [-1.0, 0.0, 0.5]])
    result = training_error_bound(outputs, [0, 2], code, "exponential")
    # Class 0 is (+, +, 0): e^-2 + e^-1 + 1. Class 2 is (0, −, −): 1 + e^0 + e^0.5.
    epsilon = (np.exp(-2) + np.exp(-1) + 1 + 1 + 1 + np.exp(0.5)) / 6
    assert result.average_loss == pytest.approx(epsilon)
    assert (result.row_distance, result.loss_at_zero, result.n_problems) == (2, 1, 3)
    assert result.training_error == 0.5
    assert result.bound == pytest.approx(3 * epsilon / 2)


def test_the_average_loss_is_exact_for_large_outputs():
    squared = training_error_bound([[-1e12]], [0], make_code("one_vs_one", 2), "squared")
    assert squared.average_loss == pytest.approx(1e24)
    exponential = training_error_bound([[-705.0]], [0], make_code("one_vs_one", 2), "exponential")
    assert exponential.average_loss == pytest.approx(np.exp(705.0))
    beyond = training_error_bound([[-1e300]], [0], make_code("one_vs_one", 2), "exponential")
    assert beyond.bound == np.inf


def test_adaboost_on_the_complete_code_is_bounded_by_about_twice_the_loss(iris):
    """Slide 18: (2^(k−1) − 1) ε / 2^(k−2)."""
    X, y = iris
    classifier = CodeClassifier(AdaBoostClassifier(n_estimators=10, random_state=0), "exhaustive")
    outputs = classifier.fit(X, y).binary_outputs(X)
    result = training_error_bound(outputs, y, classifier.code_, "exponential")
    assert result.bound == pytest.approx(3 * result.average_loss / 2)
    assert result.training_error <= result.bound


@pytest.mark.parametrize("rule", sorted(set(RULES) - set(LOSSES)))
def test_rules_outside_the_theorem_are_refused(rule):
    with pytest.raises(ValueError, match=r"L\(0\) > 0, and .* is not one"):
        training_error_bound([[1.0]], [0], make_code("one_vs_one", 2), rule)


def test_unknown_losses_are_answered_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'hinge'"):
        training_error_bound([[1.0]], [0], make_code("one_vs_one", 2), "hing")


def test_labels_of_any_kind():
    code = make_code("one_vs_rest", 3)
    outputs = np.diag([1.0, 1.0, 1.0]) * 2 - 1
    by_index = training_error_bound(outputs, [0, 1, 2], code, "hinge")
    assert training_error_bound(outputs, ["a", "b", "c"], code, "hinge") == by_index
    assert training_error_bound(outputs, [5, 6, 7], code, "hinge") == by_index
    part = training_error_bound(outputs[:1], ["a"], code, "hinge", classes=["a", "b", "c"])
    assert part.training_error == 0


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        (["a", "b", "a"], None, "must hold all 3 classes"),
        (["a", "b", "d"], ["a", "b", "c"], "Got 'd'"),
        ([0, 1, 2], [0, 1], "classes must hold 3 different labels"),
        ([0, 1], None, "3 samples and y has 2"),
        ([[0, 1, 2]], None, "one-dimensional"),
    ],
)
def test_bad_labels_are_refused(y, classes, message):
    with pytest.raises(ValueError, match=message):
        training_error_bound(np.eye(3), y, make_code("one_vs_rest", 3), "hinge", classes=classes)
