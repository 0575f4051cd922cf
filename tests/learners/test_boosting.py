"""AdaBoost against the algorithm as it is written, step by step."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from polychotomy import CodeClassifier
from polychotomy.learners._boosting import StumpBoosting
from polychotomy.reductions import make_base


@parametrize_with_checks([StumpBoosting(n_rounds=20), StumpBoosting(20, one_sided=True)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def all_stumps(X, one_sided):
    """Yield the answers of all stumps on the samples, of both kinds of constants too."""
    for column in X.T:
        for value in [-np.inf, *np.unique(column)]:
            answer = np.where(column > value, -1.0, 1.0)
            yield answer
            if not one_sided:
                yield -answer


def boosted_by_hand(X, y, weight, n_rounds, one_sided):
    """AdaBoost as Freund and Schapire write it, on the training samples."""
    answers = np.array(list(all_stumps(X, one_sided)))
    weight, f = weight / weight.sum(), np.zeros(len(y))
    for _ in range(n_rounds):
        errors = (answers != y) @ weight
        best = answers[errors.argmin()]
        error = max(errors.min(), 0.5 / len(y))
        alpha = 0.5 * np.log((1 - error) / error)
        f += alpha * best
        weight = weight * np.exp(-alpha * y * best)
        weight /= weight.sum()
    return f


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_margin_is_that_of_the_algorithm(rng, one_sided, weighted):
    X = rng.normal(size=(60, 3))
    X[:, 1] = X[:, 1].round()  # equal values
    y = np.sign(0.3 - X[:, 0] - np.abs(X[:, 1]) + 0.5 * rng.normal(size=60))
    weight = rng.uniform(0.5, 2, size=60) if weighted else np.ones(60)
    learner = StumpBoosting(12, one_sided=one_sided).fit(X, y, weight)
    expected = boosted_by_hand(X, y, weight, 12, one_sided)
    np.testing.assert_allclose(learner.decision_function(X), expected, atol=1e-8)


def test_on_indicators_margins_are_those_of_scikit_learn(rng):
    """Where Gini's stump is the one of least error; its margin is divided by Σ 2α, and doubled."""
    y = np.arange(80) % 2
    X = np.where(rng.random((80, 1)) < 0.2, 1 - y[:, None], y[:, None]).astype(float)
    learner = StumpBoosting(1).fit(X, y)
    peer = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=1).fit(X, y)
    expected = peer.decision_function(X) * peer.estimator_weights_.sum() / 4
    np.testing.assert_allclose(learner.decision_function(X), expected)


def test_perfect_stump_is_taken_in_every_round():
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 6
    learner = StumpBoosting(5).fit(X, y)
    assert learner.thresholds_.tolist() == [5.5] * 5
    np.testing.assert_allclose(learner.weights_, 0.5 * np.log((1 - 0.05) / 0.05))


def test_weights_are_repetitions(rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    X[:, 0] += 4 * y  # a stump is perfect, and the limit of its error counts
    weight = rng.integers(0, 4, size=40)
    weighted = StumpBoosting(3).fit(X, y, weight)
    repeated = StumpBoosting(3).fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert weighted.thresholds_.tolist() == repeated.thresholds_.tolist()
    np.testing.assert_allclose(weighted.weights_, repeated.weights_)


def test_negative_weights_are_refused(rng):
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        StumpBoosting().fit(rng.normal(size=(3, 1)), [0, 1, 0], sample_weight=[1, -1, 1])


def test_small_weights_are_still_samples(rng):
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 6
    learner = StumpBoosting(5).fit(X, y, np.full(10, 0.01))
    np.testing.assert_allclose(learner.weights_, 0.5 * np.log((1 - 0.05) / 0.05))


def test_stops_when_no_stump_beats_chance():
    X, y = [[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1]
    learner = StumpBoosting().fit(X, y)
    assert len(learner.weights_) == 0
    assert learner.decision_function(X).tolist() == [0.0] * 4


def test_neighbouring_floats_are_parted():
    low = np.nextafter(1.0, 2)
    high = np.nextafter(low, 2)  # to which the middle is rounded
    learner = StumpBoosting(1).fit([[low], [high]], [0, 1])
    assert learner.predict([[low], [high]]).tolist() == [0, 1]


def test_one_sided_margins_fall(rng):
    X = rng.normal(size=(100, 1))
    learner = StumpBoosting(20, one_sided=True).fit(X, np.abs(X[:, 0]) > 0.7)
    f = learner.decision_function(np.sort(X, axis=0))
    assert (np.diff(f) <= 1e-12).all()
    assert np.ptp(f) > 0


@pytest.mark.parametrize("n_rounds", [0, 2.5, "many"])
def test_rounds_are_a_positive_number(n_rounds):
    with pytest.raises(ValueError, match=r"'n_rounds' .* int of at least 1"):
        StumpBoosting(n_rounds).fit([[0.0], [1.0]], [0, 1])


def test_one_class_is_refused():
    with pytest.raises(ValueError, match=r"needs two classes\. Got one class, 'a'"):
        StumpBoosting(1).fit([[0.0], [1.0]], ["a", "a"])


def test_base_for_comparisons_gives_margins(iris):
    X, y = iris
    classifier = CodeClassifier(make_base("adaboost"), "one_vs_rest", "exponential", None)
    outputs = classifier.fit(X, y).binary_outputs(X)
    assert np.abs(outputs).max() > 2  # scikit-learn's are at most 2 in size
    assert classifier.score(X, y) > 0.95
