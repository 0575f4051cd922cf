"""Progress of training, for scikit-learn's callbacks and for the terminal."""

import sys
from threading import Lock
from time import monotonic
from typing import Any, Self

_SECONDS_BETWEEN_LINES = 0.2
_WIDTH = 30


class FitProgress:
    """Reports the beginning and the end of each problem's training, within a ``with`` block.

    Parameters
    ----------
    estimator : estimator
        The classifier in whose name the callbacks are called.
    n_problems : int
        How many problems will be trained, those of all folds together.
    verbose : int
        Draw a bar on the standard error stream if positive.
    """

    def __init__(self, estimator: Any, n_problems: int, verbose: int) -> None:
        self._estimator = estimator
        self._context = estimator._init_callback_context(max_subtasks=n_problems)
        self._tasks: list[Any] = []
        self._done = 0
        self._n_problems = n_problems
        self._verbose = verbose
        self._lock = Lock()
        self._started = monotonic()
        self._drawn = 0.0

    def __enter__(self) -> Self:
        self._context.call_on_fit_task_begin(estimator=self._estimator)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._context.call_on_fit_task_end(estimator=self._estimator)

    def begin(self, words: str, work: Any = None) -> Any:
        """Report that a problem was handed to a worker; return the work."""
        task = self._context.subcontext(task_name=f"problem {words}")
        task.call_on_fit_task_begin(estimator=self._estimator)
        self._tasks.append(task)
        return work

    def end(self, s: int = 0) -> None:
        """Report that a problem is trained; they count as ended in the order they began."""
        with self._lock:  # problems that are trained together end in threads
            self._tasks[self._done].call_on_fit_task_end(estimator=self._estimator)
            self._done += 1
            if self._verbose:
                self._draw(self._done)

    def _draw(self, done: int) -> None:
        now = monotonic()
        last = done == self._n_problems
        if not last and now - self._drawn < _SECONDS_BETWEEN_LINES:
            return
        self._drawn = now
        filled = _WIDTH * done // self._n_problems
        elapsed = now - self._started
        left = elapsed / done * (self._n_problems - done)
        sys.stderr.write(
            f"\r[{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{self._n_problems} problems, "
            f"{elapsed:.0f} s, {left:.0f} s left{chr(10) if last else ''}"
        )
        sys.stderr.flush()
