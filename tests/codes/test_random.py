from contextlib import suppress
from itertools import product
from math import ceil, log2

import numpy as np
import pytest

from polychotomy.codes import Code, _random, dense_random, sparse_random
from polychotomy.errors import CodeError

BOTH = pytest.mark.parametrize("make", [dense_random, sparse_random])


@pytest.mark.parametrize("k", [2, 3, 10, 26])
def test_default_sizes_are_those_of_allwein_et_al(k):
    assert dense_random(k, n_tries=10, random_state=0).n_problems == ceil(10 * log2(k))
    assert sparse_random(k, n_tries=10, random_state=0).n_problems == ceil(15 * log2(k))


def test_a_dense_code_is_strict():
    assert dense_random(20, random_state=0).is_strict


@pytest.mark.parametrize("k", [3, 4, 5, 6, 8, 9, 10, 11, 13, 20])
@pytest.mark.parametrize("seed", range(3))
def test_no_dense_problem_comes_again_before_all_have_come(k, seed):
    code = dense_random(k, n_tries=100, random_state=seed)
    sides = {frozenset(np.flatnonzero(c == c[0]).tolist()) for c in code.matrix.T}
    existing = 2 ** (k - 1) - 1
    assert len(sides) == min(code.n_problems, existing)
    counts = np.bincount(code.distinct.index)
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize(("k", "n_problems"), [(5, 15), (5, 4), (9, 255), (10, 500), (12, 2000)])
def test_dense_problems_are_distinct_up_to_the_last(k, n_problems):
    code = dense_random(k, n_problems=n_problems, n_tries=3, random_state=0)
    assert code.distinct.columns.shape[1] == n_problems


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 10, 20, 50])
@pytest.mark.parametrize("seed", range(3))
def test_no_sparse_problem_comes_again_before_all_have_come(k, seed):
    code = sparse_random(k, n_tries=100, random_state=seed)
    sides = {frozenset([c.tobytes(), (-c).tobytes()]) for c in code.matrix.T}
    existing = (3**k - 2 ** (k + 1) + 1) // 2
    assert len(sides) == min(code.n_problems, existing)
    counts = np.bincount(code.distinct.index)
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize(("k", "n_problems"), [(4, 25), (6, 301), (7, 900)])
def test_sparse_problems_are_distinct_up_to_the_last(k, n_problems):
    code = sparse_random(k, n_problems=n_problems, n_tries=3, random_state=0)
    assert code.distinct.columns.shape[1] == n_problems


def test_more_problems_than_there_are_come_in_turn():
    dense = dense_random(10, n_problems=600, n_tries=2, random_state=0)
    assert dense.distinct.columns.shape[1] == 2**9 - 1
    sparse = sparse_random(6, n_problems=400, n_tries=2, random_state=0)
    assert sparse.distinct.columns.shape[1] == 301


@pytest.mark.parametrize("k", [7, 10])
def test_the_share_of_zeros_in_a_sparse_code(k):
    """Of columns with two sides, by counting all columns; the choice of the best adds a little."""
    columns = np.array(list(product([-1, 0, 0, 1], repeat=k)))
    columns = columns[(columns.max(axis=1) == 1) & (columns.min(axis=1) == -1)]
    share = np.mean(columns == 0)
    formula = 0.5 * (1 - 2 * 0.75 ** (k - 1) + 0.5 ** (k - 1)) / (1 - 2 * 0.75**k + 0.5**k)
    assert formula == pytest.approx(share)
    drawn = [sparse_random(k, n_tries=1, n_problems=30, random_state=r) for r in range(300)]
    assert np.mean([d.matrix == 0 for d in drawn]) == pytest.approx(share, abs=0.01)
    best = np.mean([np.mean(sparse_random(k, random_state=r).matrix == 0) for r in range(5)])
    assert best == pytest.approx(share, abs=0.05)


@BOTH
def test_a_seed_gives_the_same_code_and_another_seed_another(make):
    assert make(12, random_state=3) == make(12, random_state=3)
    assert make(12, random_state=3) != make(12, random_state=4)
    generator = np.random.RandomState(3)
    first, second = make(12, random_state=generator), make(12, random_state=generator)
    assert first == make(12, random_state=np.random.RandomState(3)) != second


@BOTH
def test_screening_pays(make):
    many, one = (make(15, n_tries=n, random_state=0).row_distance for n in (10_000, 1))
    assert many > one


@BOTH
@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_the_screen_finds_the_best_draw(make, k, monkeypatch):
    """The same draws, looked at one by one, hold no better code."""
    monkeypatch.setattr(_random, "_BATCH_ENTRIES", 7 * k * 12)  # eight batches, the last short
    code = make(k, n_problems=12, n_tries=50, random_state=1)
    alphabet = _random._Alphabet((-1, 1) if make is dense_random else (-1, 0, 0, 1))
    rng = np.random.default_rng(1)
    draws = [
        matrix
        for size in [7] * 7 + [1]
        for matrix in _random._draw_two_sided(alphabet, (size, k, 12), rng)
    ]
    distances = []
    for matrix in draws:
        with suppress(CodeError):
            distances.append(Code(matrix).row_distance)
    assert len(draws) == 50
    assert code.row_distance == max(distances)


@BOTH
def test_many_classes_are_screened_in_blocks(make):
    code = make(150, n_tries=200, random_state=0)
    assert code.n_classes == 150
    assert code.row_distance > make(150, n_tries=1, random_state=0).row_distance


@pytest.mark.parametrize(("k", "n_problems"), [(4, 2), (16, 4), (30, 5), (64, 6)])
def test_the_shortest_dense_codes_are_found(k, n_problems):
    code = dense_random(k, n_problems=n_problems, random_state=0)
    assert (code.n_classes, code.n_problems) == (k, n_problems)


@pytest.mark.parametrize(("k", "n_problems"), [(3, 2), (8, 2), (26, 3)])
def test_the_shortest_sparse_codes_are_found(k, n_problems):
    assert sparse_random(k, n_problems=n_problems, random_state=0).n_problems == n_problems


def test_a_code_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="Give more problems"):
        dense_random(17, n_problems=4)
    with pytest.raises(ValueError, match="Give more problems"):
        sparse_random(9, n_problems=2)


@BOTH
@pytest.mark.parametrize("option", ["n_problems", "n_tries"])
def test_counts_must_be_positive(make, option):
    with pytest.raises(ValueError, match=f"'{option}' parameter must be an int of at least 1"):
        make(5, **{option: 0})
