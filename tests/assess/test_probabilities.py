import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, mutual_info_score

from polychotomy.assess import (
    brier_score,
    expected_calibration_error,
    log_loss,
    reject_curve,
    reliability,
    uncertainty_coefficient,
)


def test_the_brier_score_by_hand():
    p = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    y = [0, 1]
    # (0.09 + 0.04 + 0.01 + 0.01 + 0.49 + 0.36) = 1.00 over two samples, six entries
    assert brier_score(y, p) == pytest.approx(0.5)
    assert brier_score(y, p, form="mills") == pytest.approx(np.sqrt(1 / 6))
    assert brier_score(y, p, form="winner") == pytest.approx(np.sqrt((0.3**2 + 0.6**2) / 2))


def test_the_usual_brier_score_of_two_classes_is_twice_scikit_learns(rng):
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    ours = brier_score(y, np.column_stack([1 - p, p]))
    assert ours == pytest.approx(2 * brier_score_loss(y, p))


def test_the_log_loss_of_labels_in_any_order(rng):
    p = rng.dirichlet(np.ones(3), size=50)
    y = np.array(["c", "a", "b"])[rng.integers(0, 3, size=50)]
    expected = -np.mean(np.log(p[np.arange(50), np.searchsorted(["a", "b", "c"], y)]))
    assert log_loss(y, p, classes=["a", "b", "c"]) == pytest.approx(expected)


def test_the_uncertainty_coefficient_is_mutual_information_over_entropy(rng):
    y, predicted = rng.integers(0, 4, size=(2, 500))
    entropy = mutual_info_score(y, y)
    expected = mutual_info_score(y, predicted) / entropy
    assert uncertainty_coefficient(y, predicted) == pytest.approx(expected)
    assert uncertainty_coefficient(y, (y + 1) % 4) == pytest.approx(1)
    assert uncertainty_coefficient(np.zeros(6), [0, 0, 1, 0, 2, 0]) == 1  # nothing to be told
    assert uncertainty_coefficient([1, 1], [1, 1]) == 1


def test_perfect_calibration_has_a_small_error(rng):
    p = rng.dirichlet(np.ones(4), size=50_000)
    y = (p.cumsum(axis=1) < rng.random((50_000, 1))).sum(axis=1)
    assert expected_calibration_error(y, p) < 0.01
    for curve in reliability(y, p):
        assert curve.error < 0.01
        assert curve.counts.sum() == 50_000
    sharpened = p**3 / (p**3).sum(axis=1, keepdims=True)
    assert expected_calibration_error(y, sharpened) > 0.1


def test_a_reject_curve_by_hand():
    curve = reject_curve([0, 1, 1, 0], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    np.testing.assert_allclose(curve.coverage, [0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(curve.error, [0, 1 / 2, 1 / 3, 1 / 2])
    np.testing.assert_allclose(curve.threshold, [0.9, 0.8, 0.7, 0.6])
    assert curve.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.6, 0.7, 0.9])), min_size=1))
def test_the_whole_curve_ends_at_the_whole_error(pairs):
    right, confidence = zip(*pairs, strict=True)
    curve = reject_curve(np.array(right) * 1, [[1 - each, each] for each in confidence])
    assert curve.coverage[-1] == 1
    assert curve.error[-1] == pytest.approx(1 - np.mean(right))
    assert len(curve.coverage) == len(set(confidence))


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1], [[0.5, 0.6], [0.5, 0.5]], "rows that sum to 1"),
        ([0, 1], [[1.5, -0.5], [0.5, 0.5]], "no negative entry"),
        ([0, 1, 1], [[0.5, 0.5], [0.5, 0.5]], "2 samples and y has 3"),
        (["a", "b"], [[0.2, 0.3, 0.5]] * 2, "must hold all 3 classes"),
    ],
)
def test_bad_probabilities_are_refused(y, p, message):
    with pytest.raises(ValueError, match=message):
        brier_score(y, p)


def test_a_reject_curve_takes_labels_like_the_other_scores():
    p = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]
    named = reject_curve(["oak", "oak", "elm"], p, classes=["oak", "elm"])
    np.testing.assert_array_equal(named.error, reject_curve([0, 0, 1], p).error)


def test_bad_forms_are_refused():
    with pytest.raises(ValueError, match="'usual', 'mills', 'winner'"):
        brier_score([0, 1], [[1, 0], [0, 1]], form="squared")
