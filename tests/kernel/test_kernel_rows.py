from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from polychotomy.kernel._functions import Kernel
from polychotomy.kernel._kernel_rows import KernelRows

RBF = Kernel("rbf", 0.2, 0, 3, "float32")


@pytest.fixture
def samples(rng):
    return rng.normal(size=(900, 5))


def test_rows_are_computed_once(samples):
    rows = KernelRows(RBF, samples, 100)
    assert rows.holds_all
    for wanted in ([3, 5, 200], [5, 6], [200]):
        rows.pin(np.array(wanted))
        rows.release(np.array(wanted))
    assert rows.n_computed == 4
    np.testing.assert_allclose(
        rows.values[rows.slot[[3, 5, 6, 200]], :900],
        rbf_kernel(samples, gamma=0.2)[[3, 5, 6, 200]],
        rtol=1e-5,
    )


def test_a_small_cache_gives_up_what_was_used_longest_ago(samples):
    rows = KernelRows(RBF, samples, cache_size=600 * 960 * 4 / 2**20)
    assert rows.capacity == 600
    assert not rows.holds_all
    K = rbf_kernel(samples, gamma=0.2)
    for first in (0, 400, 500, 0):
        wanted = np.arange(first, first + 400)
        rows.pin(wanted)
        np.testing.assert_allclose(rows.values[rows.slot[wanted], :900], K[wanted], rtol=1e-5)
        rows.release(wanted)
    assert np.sum(rows.slot >= 0) <= 600
    rows.pin(np.arange(100, 150))
    assert (rows.slot[np.arange(100, 150)] >= 0).all()


def test_idle_threads_compute_rows_for_others(samples, monkeypatch):
    alone, helped = (KernelRows(RBF, samples, 100) for _ in range(2))
    wanted = np.arange(0, 900, 5)
    alone.pin(wanted)
    both, write = Barrier(2, timeout=30), helped._against.write_own

    def write_together(numbers, *others):
        if len(numbers) == 64:  # the first two of three parts
            both.wait()
        write(numbers, *others)

    monkeypatch.setattr(helped._against, "write_own", write_together)
    with ThreadPoolExecutor(1) as helper, helped.helped_by(helper):
        helped.pin(wanted)
    ours, theirs = (rows.values[rows.slot[wanted], :900] for rows in (helped, alone))
    np.testing.assert_array_equal(ours, theirs)


def test_pinned_rows_stay(samples):
    rows = KernelRows(RBF, samples, cache_size=600 * 960 * 4 / 2**20)
    rows.pin(np.arange(40))
    kept = rows.slot[:40].copy()
    for first in (50, 300, 390):
        rows.pin(np.arange(first, first + 500))
        rows.release(np.arange(first, first + 500))
    np.testing.assert_array_equal(rows.slot[:40], kept)
    with pytest.raises(RuntimeError, match="too small"):
        rows.pin(np.arange(100, 700))


def test_there_is_always_some_room(samples):
    rows = KernelRows(RBF, samples, cache_size=1e-9)
    assert rows.capacity == 512
    assert rows.largest_block * rows.most_threads <= rows.capacity
    assert KernelRows(RBF, samples[:300], cache_size=1e-9).holds_all


def test_only_the_segments_in_use_are_computed(samples):
    K = rbf_kernel(samples, gamma=0.2)
    rows = KernelRows(RBF, samples, 100, segments=np.array([0, 300, 640]))
    rows.values[:] = np.nan
    np.testing.assert_array_equal(rows.segments_of(np.array([10, 20, 650, 899])), [0, 2])
    first, second = np.array([0, 2]), np.array([1])
    wanted = np.array([5, 700, 40])
    rows.pin(wanted, first)
    assert (rows.slots(first)[wanted] >= 0).all()
    assert (rows.slots(second) == -1).all()
    values = rows.values[rows.slot[wanted], :900]
    beside = np.r_[0:300, 640:900]
    np.testing.assert_allclose(values[:, beside], K[np.ix_(wanted, beside)], rtol=1e-5)
    assert np.isnan(values[:, 320:620]).all()
    rows.pin(np.array([6, 40]), second)
    assert set(np.flatnonzero(rows.slots(second) >= 0)) == {6, 40}
    rows.pin(np.array([6, 40]))
    np.testing.assert_allclose(rows.values[rows.slot[[6, 40]], :900], K[[6, 40]], rtol=1e-5)


def test_segments_change_no_value(samples):
    whole = KernelRows(RBF, samples, 100)
    parts = KernelRows(RBF, samples, 100, segments=np.array([0, 33, 417]))
    wanted = np.arange(0, 900, 7)
    whole.pin(wanted)
    for segment in (2, 0, 1):
        parts.pin(wanted[::-1].copy(), np.array([segment]))
    np.testing.assert_array_equal(
        whole.values[whole.slot[wanted], :900], parts.values[parts.slot[wanted], :900]
    )
