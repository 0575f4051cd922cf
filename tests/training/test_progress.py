import io
from contextlib import redirect_stderr

import pytest

from polychotomy.training import FitProgress


class Recorder:
    """Stands in for an estimator and for scikit-learn's context of its callbacks."""

    def __init__(self):
        self.heard = []

    def _init_callback_context(self, max_subtasks):
        self.heard.append(f"{max_subtasks} tasks")
        return self

    def subcontext(self, task_name):
        task = Recorder()
        task.heard, task.name = self.heard, task_name
        return task

    def call_on_fit_task_begin(self, estimator):
        self.heard.append(f"begin {getattr(self, 'name', 'fit')}")

    def call_on_fit_task_end(self, estimator):
        self.heard.append(f"end {getattr(self, 'name', 'fit')}")


def test_callbacks_hear_of_each_problem():
    recorder = Recorder()
    written = io.StringIO()
    with redirect_stderr(written), FitProgress(recorder, 2, verbose=0) as progress:
        for word in ("a", "b"):
            progress.begin(word)
        progress.end()
        progress.end()
    assert recorder.heard == [
        "2 tasks",
        "begin fit",
        "begin problem a",
        "begin problem b",
        "end problem a",
        "end problem b",
        "end fit",
    ]
    assert written.getvalue() == ""


def test_a_training_that_fails_does_not_end():
    recorder = Recorder()
    with pytest.raises(ZeroDivisionError), FitProgress(recorder, 2, verbose=0):
        raise ZeroDivisionError
    assert recorder.heard == ["2 tasks", "begin fit"]


def test_the_bar_shows_what_is_done_and_what_is_left(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("polychotomy.training._progress.monotonic", lambda: clock[0])
    written = io.StringIO()
    with redirect_stderr(written), FitProgress(Recorder(), 6, verbose=1) as progress:
        for seconds in (2, 2, 0.1, 0.05, 4, 0):  # the third to fifth: too soon, too soon, late
            progress.begin("")
            clock[0] += seconds
            progress.end()
    first, *lines = written.getvalue().split("\r")
    assert first == ""
    assert lines == [
        f"[{'#' * 5}{'.' * 25}] 1/6 problems, 2 s, 10 s left",
        f"[{'#' * 10}{'.' * 20}] 2/6 problems, 4 s, 8 s left",
        f"[{'#' * 25}{'.' * 5}] 5/6 problems, 8 s, 2 s left",
        f"[{'#' * 30}] 6/6 problems, 8 s, 0 s left\n",
    ]
