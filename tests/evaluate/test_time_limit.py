import signal
import time
from threading import Thread

import pytest

from polychotomy import datasets
from polychotomy.evaluate import Samples, Schedule, Store, _time_limit, expected_seconds, recommend
from polychotomy.evaluate._time_limit import time_limit


@pytest.fixture(scope="module")
def wine():
    return Samples.of(datasets.load("wine"))


def test_what_takes_too_long_is_left_at_once():
    before, start, done = signal.getsignal(signal.SIGALRM), time.monotonic(), []
    with time_limit(0.2):
        time.sleep(60)
        done.append(1)
    assert time.monotonic() - start < 30
    assert not done
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_in_another_thread_the_time_is_checked_when_asked():
    done = []

    def work():
        with time_limit(0.05) as check:
            time.sleep(0.2)
            done.append("slept")
            check()
            done.append("went on")

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["slept"]


def test_without_a_limit_nothing_is_left():
    with time_limit(None) as check:
        check()
        finished = True
    assert finished


METHODS = ["one_vs_rest", "one_vs_one", "majority"]


@pytest.fixture
def stopped(wine, monkeypatch):
    """Return a function that runs a schedule until so many cells are there."""

    def run(n_cells, store=None):
        clock = [0.0]
        monkeypatch.setattr(_time_limit, "monotonic", lambda: clock[0])

        def advance(progress):
            if progress.last is not None:
                clock[0] += 100

        schedule = Schedule(wine, METHODS, ["ridge"], protocol="cv3")
        return schedule, *schedule.run(store, progress=advance, budget=100 * n_cells - 50)

    return run


def test_the_folds_that_all_methods_have_finished_are_compared(stopped, wine):
    schedule, cells, failures = stopped(7)
    assert len(cells) == 7
    assert not failures
    kept, words = schedule.comparable(cells, failures)
    assert [(cell.reduction, cell.fold) for cell in kept] == [
        (name, fold) for fold in (0, 1) for name in METHODS
    ]
    assert words == "1 of 3 folds"
    assert recommend(kept).method in METHODS[:2]


def test_before_the_first_fold_is_complete_its_methods_are_compared(stopped):
    schedule, cells, failures = stopped(1)
    kept, words = schedule.comparable(cells, failures)
    assert [cell.reduction for cell in kept] == ["one_vs_rest"]
    assert words == "one_vs_one, 2 more folds"  # nobody waits for the baseline


def test_a_run_goes_on_where_its_time_was_over(stopped, tmp_path, wine):
    with Store(tmp_path / "cells.sqlite") as store:
        _, first, _ = stopped(4, store)
        assert len(store) == len(first) == 4
        schedule, cells, failures = stopped(100, store)
    assert schedule.comparable(cells, failures) == (cells, "")
    whole, _ = Schedule(wine, METHODS, ["ridge"], protocol="cv3").run()
    assert [cell.metrics for cell in cells] == [cell.metrics for cell in whole]


def test_small_and_finished_comparisons_have_no_expected_time(wine):
    assert expected_seconds(Schedule(wine, METHODS, ["ridge"])) is None
