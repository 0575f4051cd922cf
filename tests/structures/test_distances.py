import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, directed_hausdorff, mahalanobis

from polychotomy.structures import _distances as module
from polychotomy.structures import class_distances

NAMES = ("hausdorff", "centroid", "mahalanobis", "bhattacharyya", "confusion")


@pytest.fixture
def samples(rng):
    """Four classes of different sizes, spreads and places, in a random order."""
    sizes = (90, 200, 70, 5)
    y = rng.permutation(np.repeat(np.arange(4), sizes))
    centres = np.array([[0, 0, 0], [4, 0, 1], [0, 3, -2], [9, 9, 9.0]])
    return centres[y] + rng.normal(size=(len(y), 3)) * (1 + y)[:, np.newaxis] / 2, y


@pytest.mark.parametrize("features", [3, 40])
def test_hausdorff_is_scipys(samples, rng, features):
    X, y = samples
    X = np.hstack([X, rng.normal(size=(len(X), features - 3))])
    D = class_distances(X, y)
    for i in range(4):
        for j in range(4):
            a, b = X[y == i], X[y == j]
            expected = max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0])
            assert D[i, j] == pytest.approx(expected, rel=1e-12)


def test_hausdorff_of_quantiles(samples):
    X, y = samples
    D = class_distances(X, y, quantile=0.8)
    for i, j in ((0, 1), (2, 3)):
        pairs = cdist(X[y == i], X[y == j])
        expected = max(np.quantile(pairs.min(axis=1), 0.8), np.quantile(pairs.min(axis=0), 0.8))
        assert D[i, j] == pytest.approx(expected, rel=1e-12)


def test_a_quantile_ignores_an_outlier():
    X = np.array([[0.0]] * 20 + [[1.0]] * 20 + [[500.0]])
    y = np.repeat([0, 1], [20, 21])
    assert class_distances(X, y)[0, 1] == 500
    assert class_distances(X, y, quantile=0.9)[0, 1] == 1


def test_hausdorff_does_not_suffer_from_cancellation(rng):
    X = 1e8 + rng.normal(size=(60, 20))
    y = np.arange(60) % 2
    expected = max(
        directed_hausdorff(X[y == 0], X[y == 1])[0], directed_hausdorff(X[y == 1], X[y == 0])[0]
    )
    assert class_distances(X, y)[0, 1] == pytest.approx(expected, rel=1e-9)
    assert class_distances(X - 1e8, y)[0, 1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("far", [1e8, 1e10])
def test_hausdorff_is_exact_beside_far_samples(rng, far):
    X = rng.normal(size=(600, 14))
    y = np.repeat([0, 1, 2], 200)
    X[y == 2] += far
    X[0] += far
    X[300] -= far
    D = class_distances(X, y)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        pairs = cdist(X[y == i], X[y == j])
        expected = max(pairs.min(axis=0).max(), pairs.min(axis=1).max())
        assert D[i, j] == pytest.approx(expected, rel=1e-9)
    near = class_distances(
        X[(y < 2) & (np.abs(X[:, 0]) < 100)], y[(y < 2) & (np.abs(X[:, 0]) < 100)]
    )
    assert near[0, 1] < 10


def test_hausdorff_is_exact_among_close_samples_far_away(rng):
    """Most samples are near the centre; products round away the distances of the others."""
    X = rng.normal(size=(200, 40))
    y = np.repeat([0, 1], 100)
    X[80:100] += 1e8
    X[180:] = X[80:100] + 0.1 * rng.normal(size=(20, 40))
    pairs = cdist(X[y == 0], X[y == 1])
    for quantile in (1, 0.9, 0.1):
        sides = [np.quantile(pairs.min(axis=axis), quantile) for axis in (0, 1)]
        found = class_distances(X, y, quantile=quantile)[0, 1]
        assert found == pytest.approx(max(sides), rel=1e-9)


def test_mahalanobis_does_not_depend_on_scales(samples):
    X, y = samples
    for distance in ("mahalanobis", "bhattacharyya"):
        np.testing.assert_allclose(
            class_distances(X * [1, 1e5, 1e-5], y, distance),
            class_distances(X, y, distance),
            rtol=1e-5,
        )


def test_centroid_does_not_suffer_from_cancellation(samples):
    X, y = samples
    expected = class_distances(X, y, "centroid")
    np.testing.assert_allclose(class_distances(X + 1.7e9, y, "centroid"), expected, rtol=1e-4)


def test_blocks_do_not_matter(samples, rng, monkeypatch):
    X, y = samples
    X = np.hstack([X, rng.normal(size=(len(X), 20))])
    whole = class_distances(X, y)
    monkeypatch.setattr(module, "_BLOCK_DISTANCES", 1000)
    np.testing.assert_array_equal(class_distances(X, y), whole)


def test_centroid_by_hand():
    # Means 1 and 5; standard deviations √2 and √8.
    D = class_distances([[0.0], [2.0], [3.0], [7.0]], list("aabb"), "centroid")
    assert D[0, 1] == pytest.approx(16 / np.sqrt(np.sqrt(2) * np.sqrt(8)))


def test_mahalanobis_is_scipys(samples):
    X, y = samples
    centred = X - np.array([X[y == c].mean(axis=0) for c in range(4)])[y]
    inverse = np.linalg.inv(centred.T @ centred / (len(X) - 4))
    D = class_distances(X, y, "mahalanobis")
    for i, j in ((0, 1), (1, 3)):
        expected = mahalanobis(X[y == i].mean(axis=0), X[y == j].mean(axis=0), inverse)
        assert D[i, j] == pytest.approx(expected, rel=1e-4)


def test_bhattacharyya_approaches_the_formula(rng):
    # Normal distributions with variances 1 and 4 and means 0 and 3.
    X = np.concatenate([rng.normal(size=100_000), 3 + 2 * rng.normal(size=100_000)])[:, np.newaxis]
    D = class_distances(X, np.repeat([0, 1], 100_000), "bhattacharyya")
    expected = 9 / (8 * 2.5) + 0.5 * np.log(2.5 / np.sqrt(1 * 4))
    assert D[0, 1] == pytest.approx(expected, rel=0.02)


def test_confused_classes_are_near(rng):
    centres = np.array([[0, 0], [1, 0], [20, 20.0]])
    y = np.repeat(np.arange(3), 60)
    X = centres[y] + rng.normal(size=(180, 2))
    for data in (X, csr_array(X)):
        D = class_distances(data, y, "confusion")
        assert D[0, 1] < 0.9
        assert D[0, 2] == D[1, 2] == 1


@pytest.mark.parametrize("distance", NAMES)
def test_distances_are_symmetric_and_do_not_depend_on_order(samples, rng, distance):
    X, y = samples
    D = class_distances(X, np.array(list("bdac"))[y], distance)
    assert np.isfinite(D).all()
    assert (D >= 0).all()
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diag(D), 0)
    if distance != "confusion":  # whose folds follow the order
        order = rng.permutation(len(y))
        shuffled = class_distances(X[order], np.array(list("bdac"))[y[order]], distance)
        np.testing.assert_allclose(D, shuffled, rtol=1e-9)


@pytest.mark.parametrize("distance", [n for n in NAMES if n != "confusion"])
def test_sparse_data_are_the_same_data(samples, distance):
    X, y = samples
    X = np.where(X > 1, X, 0)
    dense, sparse = (class_distances(data, y, distance) for data in (X, csr_array(X)))
    np.testing.assert_allclose(dense, sparse, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("distance", [n for n in NAMES if n != "confusion"])
def test_weights_are_repetitions(samples, rng, distance):
    X, y = samples
    weight = rng.integers(0, 4, size=len(y))
    weight[y == 3] = 1
    weighted = class_distances(X, y, distance, sample_weight=weight)
    repeated = class_distances(np.repeat(X, weight, axis=0), np.repeat(y, weight), distance)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


@pytest.mark.parametrize("distance", NAMES)
def test_classes_of_one_sample_and_constant_features(distance):
    X = np.array([[0.0, 1], [0, 1], [3, 1], [4, 1], [9, 1]])
    D = class_distances(X, [0, 0, 1, 1, 2], distance)
    assert np.isfinite(D).all()
    D = class_distances(np.ones((3, 2)), [0, 1, 2], distance)
    assert np.isfinite(D).all()


def test_missing_values_count_as_means():
    X = np.array([[0.0, 5], [np.nan, 5], [6, np.nan]])
    filled = np.array([[0.0, 5], [3, 5], [6, 5]])
    np.testing.assert_array_equal(class_distances(X, [0, 1, 2]), class_distances(filled, [0, 1, 2]))


def test_what_is_not_a_number_keeps_its_error():
    with pytest.raises(TypeError, match="Distances between classes need numbers: float"):
        class_distances([[{}], [1.0]], [0, 1])


def test_a_distance_of_ones_own():
    D = class_distances([[0.0], [1.0]], ["b", "a"], lambda X, y: np.full((2, 2), y.sum()))
    np.testing.assert_array_equal(D, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        ([["red"], ["blue"]], [0, 1], {}, "need numbers"),
        ([[np.inf], [1.0]], [0, 1], {}, "need finite numbers"),
        (csr_array([[np.nan], [1.0]]), [0, 1], {}, "need finite numbers"),
        ([[0.0], [1.0]], [0], {}, "a label for each sample"),
        ([[0.0], [1.0]], [0, 1], {"distance": "far"}, "'distance' parameter must be one of"),
        ([[0.0], [1.0]], [0, 1], {"quantile": 0}, "'quantile' parameter must be above 0"),
        ([[0.0], [1.0]], [0, 1], {"distance": lambda X, y: [1.0]}, "finite numbers for all pairs"),
        ([[1e200], [1.0]], [0, 1], {"distance": "centroid"}, "Scale them, for example by Standard"),
        ([[1e200], [1.0]], [0, 1], {"distance": "hausdorff"}, r"the largest is 1e\+200"),
        (csr_array([[1e200], [1.0]]), [0, 1], {}, r"the largest is 1e\+200"),
        ([[0.0], [1.0]], [0, 1], {"sample_weight": [1, 0]}, "positive weight"),
        ([[0.0], [1.0]], [0, 1], {"sample_weight": [1]}, "for each of 2 samples"),
        ([[0.0], [1.0]], [0, 1], {"sample_weight": [1, -1]}, "of at least 0"),
        ([[0.0], [1.0]], [0, 1], {"sample_weight": [1, np.nan]}, "of at least 0"),
    ],
)
def test_what_has_no_distance_is_refused(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        class_distances(X, y, **options)


@pytest.mark.parametrize(("k", "name"), [(100, "hausdorff"), (101, "centroid")])
def test_many_classes_are_compared_by_their_means(rng, k, name):
    X, y = rng.normal(size=(2 * k, 3)), np.arange(2 * k) % k
    np.testing.assert_array_equal(class_distances(X, y), class_distances(X, y, name))
    np.testing.assert_array_equal(class_distances(X, y, "auto"), class_distances(X, y, name))
