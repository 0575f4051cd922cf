from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage as join
from scipy.spatial.distance import cdist, squareform

from polychotomy.errors import StructureError
from polychotomy.structures import (
    balanced,
    chain,
    class_distances,
    from_linkage,
    linkage,
    order_classes,
    two_children,
)


@pytest.fixture
def points(rng):
    """Eight classes at random places, three samples each."""
    centres = rng.uniform(0, 10, size=(8, 2))
    y = np.tile(np.arange(8), 3)
    return centres[y] + 0.01 * rng.normal(size=(24, 2)), y


def test_balanced_halves():
    assert balanced("ab") == two_children("a", "b")
    assert balanced("a").is_class
    assert balanced("abc") == two_children("a", two_children("b", "c"))
    assert [balanced(range(k)).depth for k in (4, 5, 8, 9, 16)] == [2, 3, 3, 4, 4]


def test_chains_go_by_order_or_by_frequency():
    assert chain("abc") == two_children("a", two_children("b", "c"))
    assert chain("abc", [2, 9, 2]) == two_children("b", two_children("a", "c"))
    assert chain("a").is_class


@pytest.mark.parametrize("build", [balanced, chain])
def test_no_classes_are_refused(build):
    with pytest.raises(StructureError, match="at least one class"):
        build([])


def test_frequencies_must_fit():
    with pytest.raises(StructureError, match="a number for each of 2 classes"):
        chain("ab", [1, 2, 3])


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted"])
def test_linkage_is_scipys(points, method):
    X, y = points
    D = class_distances(X, y)
    expected = from_linkage(join(squareform(D), method), range(8))
    assert linkage(X, y, method=method) == expected


def test_linkage_joins_what_is_near():
    structure = linkage([[0.0], [10.0], [1.0], [11.5]], ["a", "b", "c", "d"])
    assert structure == two_children(two_children("d", "b"), two_children("c", "a"))


def test_linkage_of_a_thousand_classes_is_by_their_means(rng):
    """Published in Mills (2023), section 5.2: |μ_i−μ_j|² / √(σ_i σ_j)."""
    y = np.repeat(np.arange(1000), 3)
    X = rng.normal(size=(1000, 8))[y] + 0.1 * rng.normal(size=(3000, 8))
    means = X.reshape(1000, 3, 8).mean(axis=1)
    spread = np.sqrt(((X - means[y]) ** 2).sum(axis=1).reshape(1000, 3).sum(axis=1) / 2)
    D = cdist(means, means, "sqeuclidean") / np.sqrt(np.outer(spread, spread))
    expected = from_linkage(join(squareform(D, checks=False), "single"))
    assert linkage(X, y) == linkage(X, y, distance="centroid") == expected


def test_linkage_of_one_class_is_the_class():
    assert linkage([[0.0], [1.0]], ["a", "a"]).classes == ("a",)


def test_unknown_methods_are_named(points):
    with pytest.raises(ValueError, match="'method' parameter must be one of"):
        linkage(*points, method="ward")


def test_the_order_is_the_shortest(points):
    X, y = points
    D = class_distances(X, y)

    def length(order):
        return sum(D[a, b] for a, b in pairwise(order))

    found = order_classes(X, y)
    assert sorted(found) == list(range(8))
    assert found[0] < found[-1]
    assert length(found) == pytest.approx(min(length(p) for p in permutations(range(8))))


@pytest.mark.parametrize("k", [1, 2, 5, 12, 13, 40])
def test_classes_on_a_line_come_in_their_order(rng, k):
    place = rng.permutation(k)
    y = np.repeat(np.arange(k), 2)
    order = order_classes(np.column_stack([place[y], np.zeros(2 * k)]) + 0.01 * (y[:, None] % 2), y)
    assert list(place[order]) in (list(range(k)), list(range(k))[::-1])
