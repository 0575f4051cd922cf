"""A long run on behalf of a command: progress, interruption, and where the results are kept."""

import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import current_thread, main_thread

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as ProgressBar

from polychotomy.cli._files import printable
from polychotomy.lab import Cell, Failure, Plan, Progress, Store

_INTERRUPTED = 130


def run_with_progress(
    plan: Plan, store: Store, jobs: int, check: Callable[[], None]
) -> tuple[list[Cell], list[Failure]]:
    """Run a plan, and show how many cells are done and how long the rest takes.

    `check` is called after every cell.
    """
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), "{task.fields[left]}")
    shown = [TextColumn(c) if isinstance(c, str) else c for c in columns]
    with ProgressBar(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("comparing", total=None, left="")

        def advance(progress: Progress) -> None:
            check()
            last = progress.last
            said = "comparing" if last is None else f"{last.data_set}: {last.reduction}"
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                description=printable(said).replace("[", "\\["),
                left=_time_left(progress.seconds_left),
            )

        return plan.run(store, n_jobs=jobs, progress=advance)


def _time_left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return f"{clock} left"


def tell(text: str) -> None:
    """Print a line beside the results."""
    typer.echo(printable(text), err=True)


def tell_failures(failures: list[Failure]) -> None:
    """Say once for each method and reason what was left out."""
    folds: dict[tuple[str, str, str], list[int]] = {}
    for failure in failures:
        method = f"{failure.reduction} ({failure.base})"
        folds.setdefault((failure.data_set, method, failure.reason), []).append(failure.fold)
    for (data_set, method, reason), where in folds.items():
        n = len(where)
        tell(f"{data_set}: {method} failed in {n} fold{'s' * (n > 1)}: {reason}")


@contextmanager
def telling_interruption(store: Path | None) -> Iterator[Callable[[], None]]:
    """End with status 130 after Ctrl-C, instead of a traceback.

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
    before = signal.signal(signal.SIGINT, remember) if in_main else None
    try:
        yield check
    except KeyboardInterrupt:
        where = f" What was finished is in {store}; the same command goes on from there."
        tell("Interrupted." + (where if store is not None else ""))
        raise typer.Exit(_INTERRUPTED) from None
    finally:
        if in_main:
            signal.signal(signal.SIGINT, before)


@contextmanager
def keeping_results(path: Path | None) -> Iterator[Store]:
    """Open the store, or a temporary one that stays, and is named, only if something goes wrong."""
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
            tell(f"{finished} finished cells were kept; to go on from there, add {option}")
        raise
    finally:
        if not finished:
            rmtree(folder, ignore_errors=True)
