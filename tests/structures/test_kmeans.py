"""Wide balanced trees: their shape from arithmetic, their groups from optimal assignments."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from polychotomy import TreeClassifier
from polychotomy.codes import one_vs_rest
from polychotomy.structures import kmeans


@pytest.fixture
def means(rng):
    return rng.normal(size=(300, 5))


@pytest.mark.parametrize("width", [2, 3, 7, 16, 32])
@pytest.mark.parametrize("k", [1, 2, 3, 16, 17, 100, 300])
def test_trees_are_balanced_and_no_deeper_than_need_be(means, k, width):
    tree = kmeans(means[:k], range(k), width=width)
    assert sorted(tree.classes) == list(range(k))
    assert width ** (tree.depth - 1) < k <= width**tree.depth
    for node in tree.nodes():
        sizes = [child.n_classes for child in node.children]
        assert len(sizes) <= width
        assert max(sizes) - min(sizes) <= 1
        if len(sizes) > 2:
            assert node.code == one_vs_rest(len(sizes))


def test_few_classes_are_one_node():
    assert set(kmeans(np.eye(5), list("abcde")).classes) == set("abcde")
    assert kmeans(np.eye(5), list("abcde")).code == one_vs_rest(5)
    assert kmeans([[1.0], [0.0]], ["a", "b"]).depth == 1
    assert kmeans([[1.0], [0.0]], ["a", "a"]).is_class


def test_the_same_seed_gives_the_same_tree(means):
    trees = [kmeans(means, range(300), random_state=seed) for seed in (0, 1, 1, 2)]
    assert trees[1] == trees[2]
    assert len(set(trees)) == 3
    assert kmeans(means, range(300)) == trees[0]


def test_groups_that_are_far_apart_are_found(rng):
    group = rng.permutation(np.arange(64) % 4)
    centres = 100 * np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]])
    for seed in range(10):
        points = centres[group] + rng.normal(size=(64, 2))
        tree = kmeans(points, range(64), width=8, random_state=seed)
        found = {frozenset(group[list(child.classes)]) for child in tree.children}
        assert found == {frozenset([g]) for g in range(4)}


def test_no_assignment_of_the_same_sizes_is_nearer_to_the_two_means(means):
    tree = kmeans(means, range(300), width=2)
    for node in [node for node in tree.nodes() if node.n_classes > 4]:
        parts = [list(child.classes) for child in node.children]
        own = np.array([means[part].mean(axis=0) for part in parts])
        cost = cdist(means[parts[0] + parts[1]], own, "sqeuclidean")
        side = np.repeat([0, 1], [len(part) for part in parts])
        rows, columns = linear_sum_assignment(cost[:, side])
        best = cost[:, side][rows, columns].sum()
        assert cost[np.arange(len(side)), side].sum() == pytest.approx(best, rel=1e-9)


def test_samples_count_by_their_means_and_weights(rng):
    X, y = rng.normal(size=(120, 3)), np.arange(120) % 40
    expected = kmeans([X[y == c].mean(axis=0) for c in range(40)], range(40), width=4)
    assert kmeans(X, y, width=4) == expected
    assert kmeans(csr_array(X), y, width=4) == expected
    weight = rng.integers(1, 4, size=120)
    repeated = np.repeat(np.arange(120), weight)
    weighted = kmeans(X, y, width=4, sample_weight=weight)
    assert weighted == kmeans(X[repeated], y[repeated], width=4)


def test_equal_means_are_split_all_the_same():
    tree = kmeans(np.ones((50, 2)), range(50), width=4)
    assert (tree.n_classes, tree.depth) == (50, 3)


@pytest.mark.parametrize("width", [1, 0, -3, 2.5, True, "16", None])
def test_the_width_is_a_number_from_two_on(width):
    with pytest.raises(ValueError, match="'width' parameter must be an int of at least 2"):
        kmeans(np.eye(3), list("abc"), width=width)


def test_the_classifier_knows_it_by_name(digits):
    X, y = digits
    names = np.array(list("jihgfedcba"))
    found = TreeClassifier(GaussianNB(), "kmeans", probability=None).fit(X, names[y]).structure_
    assert found == kmeans(X, names[y])
    narrow = TreeClassifier(GaussianNB(), partial(kmeans, width=4), probability=None).fit(X, y)
    assert narrow.structure_ == kmeans(X, y, width=4)
    assert narrow.structure_.depth == 2
    with pytest.raises(ValueError, match="precomputed kernel"):
        TreeClassifier(SVC(kernel="precomputed"), "kmeans").fit(X @ X.T, y)
