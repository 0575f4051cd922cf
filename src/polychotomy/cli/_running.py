"""Long runs: progress, interruption, and the store of results."""

import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import current_thread, main_thread
from time import monotonic
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from polychotomy.cli._disk import printable

if TYPE_CHECKING:
    from polychotomy.evaluate import Cell, Failure, Progress, Schedule, Store

_INTERRUPTED = 130
_ENDINGS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_PAUSE = 10.0  # seconds from line to line where there is no terminal
_SHARE = 0.02  # and of the time gone by: a run of a day should not fill a log


def run_with_progress(
    schedule: "Schedule",
    store: "Store | None",
    jobs: int,
    check: Callable[[], None],
    budget: float | None = None,
) -> "tuple[list[Cell], list[Failure]]":
    """Run a schedule, and show the progress and the time left.

    `check` is called after every cell. After `budget` seconds it stops.
    """
    console = Console(stderr=True)
    live = sys.stderr.isatty() and console.is_interactive
    with _bar(console) if live else nullcontext(_lines()) as show:

        def advance(progress: "Progress") -> None:
            check()
            show(progress)

        return schedule.run(store, n_jobs=jobs, progress=advance, budget=budget)


@contextmanager
def _bar(console: Console) -> "Iterator[Callable[[Progress], None]]":
    """Yield a function that shows progress in a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as ProgressBar

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), "{task.fields[left]}")
    shown = [TextColumn(c) if isinstance(c, str) else c for c in columns]
    with ProgressBar(*shown, console=console, transient=True) as bar:
        task = bar.add_task("comparing", total=None, left="")

        def show(progress: "Progress") -> None:
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                description=printable(_last(progress) or "comparing").replace("[", "\\["),
                left=_time_left(progress.seconds_left),
            )

        yield show


def _lines() -> "Callable[[Progress], None]":
    """Return a function that prints progress in lines: one at the start, then now and then."""
    start = printed = monotonic()

    def show(progress: "Progress") -> None:
        nonlocal printed
        now = monotonic()
        early = now - printed < max(_PAUSE, _SHARE * (now - start))
        if progress.done == progress.total or (early and progress.last is not None):
            return
        printed = now
        words = f"{progress.done} of {progress.total} cells are done"
        more = (_time_left(progress.seconds_left), _last(progress))
        print_message(", ".join(filter(None, (words, *more))))

    return show


@contextmanager
def show_rows(total: int, check: Callable[[], None]) -> Iterator[Callable[[int], None]]:
    """Yield a function of the number of rows done so far, which shows it, and how fast it grows.

    `check` is called each time.
    """
    console = Console(stderr=True)
    start = printed = monotonic()
    live = sys.stderr.isatty() and console.is_interactive
    with console.status("reading") if live else nullcontext() as status:

        def show(done: int) -> None:
            nonlocal printed
            check()
            now = monotonic()
            rate = done / max(now - start, 1e-9)
            left = _time_left((total - done) / rate)
            words = f"{done} of {total} rows, {rate:.0f} rows/s, {left}"
            if status is not None:
                status.update(words)
            elif now - printed >= max(_PAUSE, _SHARE * (now - start)):
                printed = now
                print_message(words)

        yield show


def _last(progress: "Progress") -> str:
    last = progress.last
    return "" if last is None else f"{last.data_set}: {last.reduction}"


def _time_left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return f"{clock} left"


def print_plan(schedule: "Schedule", store: "Store", jobs: int, budget: float | None) -> None:
    """Print what will be tried, and an estimate of the time."""
    from polychotomy.evaluate import expected_seconds

    known = store.keys()
    tasks = [task for task in schedule.tasks if task.key not in known]
    if not tasks:
        return
    methods = list(dict.fromkeys(task.reduction for task in tasks))
    bases = ", ".join(dict.fromkeys(task.base for task in tasks))
    folds = len({(task.data_set, task.fold) for task in tasks})
    tuned = ", each tuned" if tasks[0].tuner is not None else ""
    words = f"Trying {', '.join(methods)} with {bases} on {folds} folds{tuned}"
    if budget is not None:
        words += f"; stopping after {_rounded(budget)}"
    elif (seconds := expected_seconds(schedule, store, n_jobs=jobs)) is not None:
        words += f": about {_rounded(seconds)}"
    print_message(f"{words}.")


def _rounded(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def print_not_tried(words: str) -> None:
    """Print what was not tried for lack of time."""
    if words:
        print_message(f"Not tried for lack of time: {words}.")


def print_message(text: str) -> None:
    """Print a line to the standard error, separate from the results."""
    typer.echo(printable(text), err=True)


def print_failures(failures: "list[Failure]") -> None:
    """Print each method that failed, once for each reason."""
    folds: dict[tuple[str, str, str], list[int]] = {}
    for failure in failures:
        method = f"{failure.reduction} ({failure.base})"
        folds.setdefault((failure.data_set, method, failure.reason), []).append(failure.fold)
    for (data_set, method, reason), where in folds.items():
        n = len(where)
        print_message(f"{data_set}: {method} failed in {n} fold{'s' * (n > 1)}: {reason}")


@contextmanager
def handle_interrupts(store: Path | None) -> Iterator[Callable[[], None]]:
    """Exit with status 130 after Ctrl-C or SIGTERM, without a traceback.

    Signals that are ignored, as under nohup, stay ignored.

    Yields a function to be called now and then: an interrupt that arrives within a callback from
    compiled code is lost there, and raised again by it.
    """
    came = False

    def remember(*_: object) -> None:
        nonlocal came
        came = True
        raise KeyboardInterrupt

    def check() -> None:
        if came:
            raise KeyboardInterrupt

    in_main = current_thread() is main_thread()  # only there signals can be handled
    before = {
        each: signal.signal(each, remember)
        for each in (_ENDINGS if in_main else ())
        if signal.getsignal(each) is not signal.SIG_IGN
    }
    try:
        yield check
    except KeyboardInterrupt:
        where = f" Finished cells are in {store}; the same command resumes the run."
        print_message("Interrupted." + (where if store is not None else ""))
        raise typer.Exit(_INTERRUPTED) from None
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def use_workers(jobs: int, scheduler: str | None) -> Iterator[int]:
    """Yield the number of jobs to ask for: all of a Dask scheduler's workers, if one is given."""
    if scheduler is None:
        yield jobs
        return
    from polychotomy.parallel import connected

    with connected(scheduler):
        yield -1


@contextmanager
def open_results(path: Path | None) -> "Iterator[Store]":
    """Open the store, or a temporary one that is kept, and named, only if something goes wrong."""
    from polychotomy.evaluate import Store

    if path is not None:
        with Store(path) as store:
            yield store
        return
    folder = Path(mkdtemp(prefix="polychotomy-"))
    finished = 0
    try:
        with Store(folder / "results.sqlite") as store:
            try:
                yield store
            except BaseException:
                finished = len(store)
                raise
    except BaseException:
        if finished:
            option = f"--store {shlex.quote(str(folder / 'results.sqlite'))}"
            print_message(f"{finished} finished cells were kept; to resume the run, add {option}")
        raise
    finally:
        if not finished:
            rmtree(folder, ignore_errors=True)
