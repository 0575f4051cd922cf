"""Time limits."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from time import monotonic


class OutOfTime(BaseException):
    """The time limit is reached; trainings must not catch this, like an interrupt."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[Callable[[], None]]:
    """Leave the block after this many seconds; None for no limit.

    In the main thread of a POSIX system that is at once, elsewhere when the function that is
    yielded is next called. It is to be called now and then anyway: what is raised within a callback
    from compiled code is lost.
    """
    end = None if seconds is None else monotonic() + seconds

    def check(*_: object) -> None:
        if end is not None and monotonic() >= end:
            raise OutOfTime

    alarm = hasattr(signal, "setitimer") and current_thread() is main_thread()
    if seconds is None or not alarm:
        with suppress(OutOfTime):
            yield check
        return
    before = signal.signal(signal.SIGALRM, check)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), 1.0)  # again, if one was lost
        yield check
    except OutOfTime:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
