"""Codewords given to classes, against all orders and by what must not change."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.optimize import quadratic_assignment
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import SVC

from polychotomy import CodeClassifier, make_code
from polychotomy.codes import adjacent


def fit_of(code, D):
    """Σ D H over all pairs, with the Hamming distances H of the codewords."""
    A = code.matrix.astype(int)
    return float(np.sum(D * (code.n_problems - A @ A.T) / 2))


def distances(points):
    return np.abs(points[:, np.newaxis] - points).sum(axis=2)


@pytest.mark.parametrize("name", ["adjacent", "dense_random", "sparse_random", "bch", "trellis"])
@pytest.mark.parametrize("similar", [True, False])
def test_hardly_any_order_of_six_classes_is_better(name, similar, rng):
    code = make_code(name, 6, random_state=0)
    D = distances(rng.normal(size=(6, 2)))
    sign = 1 if similar else -1
    found = sign * fit_of(code.assigned(D, similar=similar), D)
    all_orders = sign * np.array([fit_of(code.reordered(o), D) for o in permutations(range(6))])
    assert found >= np.quantile(all_orders, 0.95)


@pytest.mark.parametrize("similar", [True, False])
def test_no_exchange_of_two_codewords_is_better(similar, rng):
    code, D = make_code("dense_random", 25, random_state=0), distances(rng.normal(size=(25, 3)))
    found = code.assigned(D, similar=similar)
    sign = 1 if similar else -1
    for pair in combinations(range(25), 2):
        order = np.arange(25)
        order[[*pair]] = order[[*pair[::-1]]]
        assert sign * fit_of(found.reordered(order), D) <= sign * fit_of(found, D) + 1e-9


def test_many_classes_are_assigned_as_well_as_by_quadratic_assignment_in_scipy(rng):
    code = make_code("dense_random", 501, random_state=0)
    D = distances(rng.normal(size=(501, 2)))
    A = code.matrix.astype(float)
    options = {"maximize": True, "maxiter": 10, "rng": rng}
    peer = quadratic_assignment(D, (code.n_problems - A @ A.T) / 2, "faq", options).col_ind
    assert fit_of(code.assigned(D), D) > fit_of(code.reordered(peer), D)


def test_classes_on_a_line_come_back_in_their_order(rng):
    place = rng.permutation(40)
    D = distances(place[:, np.newaxis].astype(float))
    found = adjacent(40).assigned(D)
    plus = (found.matrix == 1).sum(axis=1)
    assert np.array_equal(plus, place) or np.array_equal(plus, 39 - place)


def test_the_codewords_stay_the_same(rng):
    code = make_code("dense_random", 12, random_state=0)
    found = code.assigned(distances(rng.normal(size=(12, 3))))
    assert sorted(map(bytes, found.matrix)) == sorted(map(bytes, code.matrix))
    for name in ("one_vs_rest", "one_vs_one"):
        same = make_code(name, 5)
        assert same.assigned(distances(rng.normal(size=(5, 1)))) == same


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.zeros((3, 4)), "for each of the 5 classes. Got shape"),
        (np.zeros((4, 4)), "for each of the 5 classes. Got shape"),
        (np.full((5, 5), np.nan), "must be finite"),
        (np.triu(np.ones((5, 5))), "must be symmetric"),
        (np.tri(5, dtype=np.uint8) * 4 + 3, "that differ by up to 4; their mean is"),
    ],
)
def test_wrong_distances(D, message):
    with pytest.raises(ValueError, match=message):
        make_code("bch", 5).assigned(D)


def test_a_classifier_that_assigns(digits):
    X, y = digits
    shuffled = np.random.default_rng(0).permutation(10)[y]
    options = {"probability": None, "random_state": 0}
    fits = {}
    for assignment in ("similar", "spread", None):
        classifier = CodeClassifier(
            LogisticRegression(), "adjacent", assignment=assignment, **options
        ).fit(X, shuffled)
        means = np.array([X[shuffled == c].mean(axis=0) for c in range(10)])
        D = ((means[:, np.newaxis] - means) ** 2).sum(axis=2)
        fits[assignment] = fit_of(classifier.code_, D)
        assert classifier.score(X, shuffled) > 0.5
    assert fits["similar"] > fits[None] > fits["spread"]
    assert not hasattr(CodeClassifier(SGDClassifier(), assignment="similar"), "partial_fit")
    with pytest.raises(ValueError, match="must be one of 'similar', 'spread'"):
        CodeClassifier(assignment="close").fit(X, y)
    with pytest.raises(ValueError, match=r"'assignment' parameter must be one of.*Got array"):
        CodeClassifier(assignment=np.arange(10)).fit(X, y)
    with pytest.raises(ValueError, match="Give one of them"):
        CodeClassifier(code="bch", assignment="similar", class_order=list(range(10))).fit(X, y)
    kernel = SVC(kernel="precomputed")
    with pytest.raises(ValueError, match="a precomputed kernel is not enough"):
        CodeClassifier(kernel, "bch", assignment="similar").fit(X[:90] @ X[:90].T, y[:90])


def test_numpys_seeded_generator_changes_nothing_and_is_not_warned_of():
    distances = np.abs(np.subtract.outer(range(6), [3, 0, 5, 1, 2, 4]))
    code = make_code("trellis", 6)
    np.random.seed(0)  # noqa: NPY002
    expected = code.assigned(distances + distances.T)
    np.random.seed(1)  # noqa: NPY002
    assert code.assigned(distances + distances.T) == expected


def test_distances_are_numbers():
    with pytest.raises(ValueError, match=r"'distances' parameter must be a matrix of numbers"):
        adjacent(3).assigned("near")
