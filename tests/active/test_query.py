import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import SVC

from polychotomy import CodeClassifier, KernelSBCClassifier, SharedKernelSVC, TreeClassifier, active
from polychotomy.active import query


class Says:
    """A classifier that says what it was told to say."""

    def __init__(self, **said):
        for name, value in said.items():
            setattr(self, name, lambda X, value=value: np.array(value, dtype=float))


P = [[0.9, 0.1, 0.0], [0.4, 0.4, 0.2], [0.5, 0.25, 0.25], [0.34, 0.33, 0.33], [1, 0, 0]]
POOL = np.arange(10.0).reshape(5, 2)


def test_replicas_nearest_the_boundary_come_first():
    outputs = [[3, -1, -2], [0.5, -4, -4], [-0.1, -9, -9], [1, 1, 1], [2, 0.2, -3]]
    classifier = Says(binary_outputs=np.zeros((5, 3)), decision_function=outputs)
    found = query(classifier, POOL, 5, strategy="boundary")
    np.testing.assert_array_equal(found, [2, 4, 1, 0, 3])
    found = query(Says(decision_function=outputs), POOL, strategy="boundary")
    assert found.tolist() == [2]


def test_replicas_nearest_each_other_come_first():
    """The leads are 4, 0.5, 0, 9 and 1; a common bias changes nothing."""
    outputs = np.array([[3, -1, -2], [-4, -4.5, -7], [2, 2, -1], [8, -2, -1], [-1, -2, 0]])
    for bias in (0, -2.5, 4):
        found = query(Says(decision_function=outputs + bias), POOL, 5)
        np.testing.assert_array_equal(found, [2, 1, 4, 0, 3])


@pytest.mark.parametrize("k", [3, 4, 9, 400])
def test_the_lead_is_that_over_the_second_whatever_the_order_of_classes(k, rng):
    outputs = rng.normal(size=(200, k))
    ordered = np.sort(outputs, axis=1)
    found = query(Says(decision_function=outputs), np.zeros((200, 1)), 200)
    np.testing.assert_array_equal(found, np.argsort(ordered[:, -1] - ordered[:, -2]))


def test_with_two_classes_they_are_the_nearest_samples():
    for strategy in ("lead", "boundary"):
        classifier = Says(decision_function=[3, -1, 0.2, -0.1, 5])
        assert query(classifier, POOL, 2, strategy=strategy).tolist() == [3, 2]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("least_confident", [3, 1, 2, 0, 4]),
        ("margin", [1, 3, 2, 0, 4]),
        ("entropy", [3, 1, 2, 0, 4]),
    ],
)
def test_strategies_by_probability(strategy, expected):
    """Maxima 0.9, 0.4, 0.5, 0.34, 1; leads 0.8, 0, 0.25, 0.01, 1; entropies as computed by hand."""
    found = query(Says(predict_proba=P), POOL, 5, strategy=strategy)
    np.testing.assert_array_equal(found, expected)


def test_entropy_differs_from_confidence_where_it_should():
    """0.5 log 2 twice is less than 0.52 against two halves of 0.48."""
    p = [[0.5, 0.5, 0.0], [0.52, 0.24, 0.24]]
    assert query(Says(predict_proba=p), POOL[:2], strategy="entropy").tolist() == [1]
    assert query(Says(predict_proba=p), POOL[:2], strategy="least_confident").tolist() == [0]


def test_chance():
    drawn = [query(None, POOL, 3, strategy="random", random_state=s).tolist() for s in range(30)]
    assert all(len(set(some)) == 3 for some in drawn)
    assert {i for some in drawn for i in some} == set(range(5))
    assert query(None, POOL, 3, strategy="random", random_state=7).tolist() == drawn[7]


def test_diversity_spreads_the_queries():
    """Ten samples on a line, wanted from left to right; the first five are candidates."""
    X = np.arange(10.0)[:, np.newaxis] ** 2
    classifier = Says(decision_function=np.arange(1, 11))
    assert query(classifier, X, 3).tolist() == [0, 1, 2]
    assert query(classifier, X, 3, diversity=5 / 3).tolist() == [0, 4, 3]
    assert query(classifier, X, 3, diversity=1.4).tolist() == [0, 4, 3]  # of 4.2 samples, 5
    assert query(classifier, X, 3, diversity=100).tolist() == [0, 9, 6]
    assert query(classifier, csr_array(X), 3, diversity=100).tolist() == [0, 9, 6]
    assert query(classifier, pd.DataFrame(X), 3, diversity=100).tolist() == [0, 9, 6]
    assert sorted(query(classifier, X, 10, diversity=2)) == list(range(10))


def test_equal_samples_are_not_asked_for_twice():
    found = query(Says(decision_function=np.zeros(6)), np.ones((6, 2)), 3, diversity=2)
    assert len(set(found.tolist())) == 3


@pytest.mark.slow
def test_it_asks_where_classes_meet(iris):
    X, y = iris
    classifier = KernelSBCClassifier(C=100).fit(X[::5], y[::5])
    for strategy in active.STRATEGIES:
        assert (y[query(classifier, X, 5, strategy=strategy)] > 0).all(), strategy


def test_classifiers_of_all_kinds(iris):
    X, y = iris
    for classifier in (
        CodeClassifier(SVC(), probability=None),
        RidgeClassifier(),
        KernelSBCClassifier(probability=None),
    ):
        assert len(query(classifier.fit(X, y), X, 4, diversity=3)) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_queries": 0}, "'n_queries' parameter must be an int of at least 1.*5. Got 0"),
        ({"n_queries": 6}, "Got 6"),
        ({"n_queries": 1.5}, "Got 1.5"),
        ({"strategy": "margn"}, r"'strategy' parameter must be one of .*Did you mean 'margin'\?"),
        ({"strategy": None}, "'strategy' parameter must be one of"),
        ({"diversity": 0.5}, "'diversity' parameter must be a number of at least 1. Got 0.5"),
        ({"diversity": "much"}, "'diversity' parameter"),
        ({"strategy": "entropy"}, "needs a classifier with predict_proba. Got RidgeClassifier"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    classifier = RidgeClassifier().fit(POOL, [0, 1, 0, 1, 1])
    with pytest.raises(ValueError, match=message):
        query(classifier, POOL, **arguments)


def test_lead_needs_outputs():
    with pytest.raises(ValueError, match=r"needs a classifier with decision_function\. Got Says"):
        query(Says(predict_proba=P), POOL)


def test_labels_asked_for_teach_more_than_chance(digits):
    """Thirty labels after thirty drawn ones, digits: fewer errors than with sixty drawn ones."""
    X, y = digits
    scores = {"lead": [], "random": []}
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(y))
        for strategy, found in scores.items():
            have, left = order[:30], order[30:]
            for _ in range(3):
                classifier = sbc().fit(X[have], y[have])
                asked = query(classifier, X[left], 10, strategy=strategy, random_state=seed)
                have, left = np.append(have, left[asked]), np.delete(left, asked)
            found.append(sbc().fit(X[have], y[have]).score(X[left], y[left]))
    assert np.mean(scores["lead"]) > np.mean(scores["random"]) + 0.05


def sbc():
    return KernelSBCClassifier(C=10, weights="class_frequencies", probability=None)


@pytest.mark.parametrize("code", ["one_vs_one", "bch"])
def test_codes_are_queried_by_the_scores_of_classes(digits, code):
    """The samples asked for are wrong more often than those of the pool."""
    X, y = digits
    classifier = CodeClassifier(SharedKernelSVC(), code, probability=None).fit(X[:80], y[:80])
    wrong = classifier.predict(X[80:]) != y[80:]
    asked = query(classifier, X[80:], 50)
    assert wrong[asked].mean() > 1.5 * wrong.mean()


@pytest.mark.parametrize("strategy", ["lead", "boundary"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: CodeClassifier(SVC(), "one_vs_rest", probability=None),
        lambda: CodeClassifier(SVC(), "dense_random", probability=None, random_state=0),
        lambda: CodeClassifier(SVC(), "one_vs_one", "ddag", probability=None),
        lambda: TreeClassifier(SVC(), "ddag", probability=None),
        lambda: TreeClassifier(SVC(), "ddag", probability=None, class_order=[*range(9, -1, -1)]),
        lambda: TreeClassifier(SVC(), "balanced"),
        lambda: TreeClassifier(SVC(), probability=None),
    ],
    ids=["one_vs_rest", "dense", "ddag decoder", "ddag", "ddag reordered", "tree", "linkage"],
)
def test_samples_that_codes_and_trees_ask_for_are_often_wrong(digits, make, strategy):
    """Drawn ones are wrong as often as the pool is."""
    X, y = digits
    classifier = make().fit(X[:80], y[:80])
    wrong = classifier.predict(X[80:]) != y[80:]
    asked = query(classifier, X[80:], 50, strategy=strategy)
    assert wrong[asked].mean() > 1.5 * wrong.mean()
