import numpy as np
import pytest

from polychotomy.codes import orthogonal
from polychotomy.codes._hadamard import _is_order, hadamard

MISSING = {92, 116, 156, 172, 184, 188}  # need Williamson's or later constructions


@pytest.mark.parametrize("order", [1, 2, *(n for n in range(4, 201, 4) if n not in MISSING)])
def test_hadamard_matrices(order):
    matrix = hadamard(order).astype(int)
    assert set(np.unique(matrix)) <= {-1, 1}
    np.testing.assert_array_equal(matrix @ matrix.T, order * np.eye(order))


def test_which_orders_are_missing():
    assert {n for n in range(4, 201, 4) if not _is_order(n)} == MISSING
    assert not _is_order(6)


@pytest.mark.parametrize("k", [*range(4, 61), 89, 93, 100, 113, 157, 199, 200])
def test_orthogonal_codes(k):
    code = orthogonal(k)
    matrix = code.matrix.astype(int)
    n = code.n_problems
    np.testing.assert_array_equal(matrix @ matrix.T, n * np.eye(k))
    assert code.row_distance == n / 2
    assert n == next(m for m in range(k, 2 * k) if m % 4 == 0 and m not in MISSING)


@pytest.mark.parametrize("k", [16, 24, 60])
def test_problems_are_not_lopsided(k):
    smaller = (k - np.abs(orthogonal(k).matrix.sum(axis=0, dtype=int))) // 2
    assert smaller.min() > k / 5


@pytest.mark.parametrize("k", [2, 3])
def test_there_is_no_orthogonal_code_of_two_or_three_classes(k):
    """Three ±1 rows: a + b = a + c = a + d = n/2 and a + b + c + d = n give a = n/4 > 0."""
    with pytest.raises(ValueError, match="at least 4 classes"):
        orthogonal(k)
