"""Running a comparison: which cells there are, which are missing, and computing those."""

import os
import signal
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic, sleep
from typing import Any, Protocol, TypeAlias

import joblib

from polychotomy.choose import Reduction, available_reductions
from polychotomy.errors import DataError, unknown_name
from polychotomy.lab._bases import available_bases, base_scales
from polychotomy.lab._cells import Cell, cell_key, current_versions, parameters_of
from polychotomy.lab._measure import (
    TUNING_FOLDS,
    TUNINGS,
    Failure,
    Task,
    compute,
    make_classifier,
)
from polychotomy.lab._protocols import Protocol as Division
from polychotomy.lab._samples import Rows, Samples
from polychotomy.lab._store import Store


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, total : int
        Finished cells, those found in the store among them, and all cells.
    seconds_left : float or None
        As long as the rest takes if it goes on as it went; None before the first cell.
    last : Cell, Failure or None
        What was finished last.
    """

    done: int
    total: int
    seconds_left: float | None
    last: Cell | Failure | None


class Plan:
    """All cells of a comparison: data sets × folds × reductions × bases.

    Folds come before reductions, so that at any time about the same is known of all reductions.

    Parameters
    ----------
    data : Samples or sequence of Samples
        The data sets, with different names.
    reductions : "standard", "all" or sequence of str, default="standard"
        As in :class:`~polychotomy.choose.Reduction`: "bch", or with a decoder "bch:hamming".
    bases : sequence of str, default=("logistic",)
        Binary learners, of :func:`available_bases`.
    protocol : str, default="cv10"
        ``cvN``, ``split`` or ``repeatN``, see :class:`Protocol`.
    tuning : {"none", "greedy"}, default="none"
        Whether :class:`~polychotomy.GreedySearchCV` tunes each classifier, by 5-fold
        cross-validation within the training part.
    seed : int, default=0
        Draws folds, random codes and what is random in the learners.

    Attributes
    ----------
    tasks : tuple of Task
        The cells, in the order in which they are computed.
    remarks : tuple of str
        What to know about classes that are too small for the protocol.

    Raises
    ------
    DataError
        A data set that the protocol cannot divide, or two with the same name.
    ValueError
        An unknown reduction, base or protocol; a base that cannot be tuned.

    Examples
    --------
    >>> from polychotomy import datasets
    >>> from polychotomy.lab import Plan, Samples
    >>> wine = Samples.of(datasets.load("wine"))
    >>> plan = Plan(wine, ["one_vs_one", "one_vs_rest"], ["ridge"], protocol="cv3")
    >>> cells, failures = plan.run()
    >>> len(cells), len(failures), plan.tasks[0].reduction
    (6, 0, 'one_vs_one')
    """

    def __init__(
        self,
        data: Samples | Sequence[Samples],
        reductions: str | Sequence[str] = "standard",
        bases: Sequence[str] = ("logistic",),
        *,
        protocol: str = "cv10",
        tuning: str = "none",
        seed: int = 0,
    ) -> None:
        data_sets = [data] if isinstance(data, Samples) else list(data)
        self._samples = {samples.name: samples for samples in data_sets}
        if len(self._samples) < len(data_sets):
            raise DataError("Data sets that are compared must have different names.")
        division = Division.of(protocol)
        self.remarks = tuple(said for s in data_sets for said in division.remarks(s))
        methods = _methods(reductions, bases, tuning, seed)
        self.tasks = tuple(
            task
            for samples in data_sets
            for task in _tasks_of(samples, methods, division, tuning, seed)
        )

    def run(
        self,
        store: Store | None = None,
        *,
        n_jobs: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> tuple[list[Cell], list[Failure]]:
        """Compute the cells that the store does not have, and return all of them.

        Each is in the store as soon as it is finished. A cell that fails stops none of the others;
        it is not stored, and will be tried again.

        Parameters
        ----------
        store : Store, optional
            Where finished cells are kept; by default in memory.
        n_jobs : int, optional
            Number of worker processes; it changes no result.
        progress : callable, optional
            Called with a :class:`Progress` before the first cell and after each.

        Returns
        -------
        cells : list of Cell
            In the order of ``tasks``, those from the store under the names of this plan.
        failures : list of Failure
        """
        kept: _Keeper = _Memory() if store is None else store
        known = kept.keys()
        missing = {task.key: task for task in self.tasks if task.key not in known}
        clock = _Clock(len({task.key for task in self.tasks}), len(missing), progress)
        failures = []
        with closing(self._outcomes(list(missing.values()), n_jobs)) as outcomes:
            for outcome in outcomes:
                if isinstance(outcome, Failure):
                    failures.append(outcome)
                else:
                    kept.add(outcome)
                clock.tick(outcome)
        failed = {failure.key for failure in failures}
        finished = [task for task in self.tasks if task.key not in failed]
        return [_named(kept.get(task.key), task) for task in finished], failures

    def _outcomes(self, tasks: list[Task], n_jobs: int | None) -> Generator[Cell | Failure]:
        """Yield each cell as soon as it is finished."""
        workers = min(joblib.effective_n_jobs(n_jobs), max(len(tasks), 1))
        if workers == 1:
            yield from (compute(task, self._samples[task.data_set]) for task in tasks)
            return
        parallel = joblib.Parallel(workers, return_as="generator_unordered", batch_size=1)
        used = {task.data_set for task in tasks}
        with _on_disk([self._samples[name] for name in sorted(used)]) as place:
            calls = (
                joblib.delayed(_compute_from)(task, place[task.data_set], os.getpid())
                for task in tasks
            )
            with _interrupts_held_back():  # the workers start here
                running = parallel(calls)
            with _closing_quietly(running) as outcomes:
                for outcome in outcomes:  # noqa: UP028 - "yield from" would close it loudly
                    yield outcome


class _Keeper(Protocol):
    """What a run needs of a store."""

    def keys(self) -> set[str]: ...
    def add(self, cell: Cell) -> None: ...
    def get(self, key: str) -> Cell: ...


class _Memory:
    """Keeps cells for as long as the run takes."""

    def __init__(self) -> None:
        self._cells: dict[str, Cell] = {}

    def keys(self) -> set[str]:
        return set(self._cells)

    def add(self, cell: Cell) -> None:
        self._cells[cell.key] = cell

    def get(self, key: str) -> Cell:
        return self._cells[key]


class _Clock:
    """Tells how many cells are done and how long the rest will take."""

    def __init__(self, total: int, missing: int, tell: Callable[[Progress], None] | None) -> None:
        self._total, self._missing, self._tell = total, missing, tell
        self._start, self._ticks = monotonic(), 0
        self._say(None, None)

    def tick(self, outcome: Cell | Failure) -> None:
        self._ticks += 1
        each = (monotonic() - self._start) / self._ticks
        self._say(each * (self._missing - self._ticks), outcome)

    def _say(self, seconds_left: float | None, last: Cell | Failure | None) -> None:
        if self._tell is not None:
            done = self._total - self._missing + self._ticks
            self._tell(Progress(done, self._total, seconds_left, last))


_Method: TypeAlias = tuple[str, str, dict[str, Any]]  # reduction, base, all their parameters


def _methods(
    reductions: str | Sequence[str], bases: Sequence[str], tuning: str, seed: int
) -> list[_Method]:
    """Return reductions × bases, each with its classifier's parameters."""
    if tuning not in TUNINGS:
        raise unknown_name("tuning", tuning, TUNINGS)
    names = available_reductions(reductions) if isinstance(reductions, str) else reductions
    chosen = list(dict.fromkeys(Reduction.of(name) for name in names))
    if not chosen or not bases:
        raise ValueError("A comparison needs at least one reduction and one base.")
    for base in bases:
        if base not in available_bases():
            raise unknown_name("base", base, available_bases())
        if tuning == "greedy":
            base_scales(base)
    return [
        (str(reduction), base, parameters_of(make_classifier(reduction, base, seed)))
        for base in dict.fromkeys(bases)
        for reduction in chosen
    ]


def _tasks_of(
    samples: Samples, methods: list[_Method], division: Division, tuning: str, seed: int
) -> Iterator[Task]:
    versions = current_versions()
    for fold, (train, test) in enumerate(division.divide(samples, seed)):
        for reduction, base, parameters in methods:
            settings = {
                "data": samples.fingerprint,
                "protocol": str(division),
                "n_folds": division.n_folds,
                "n_train": len(train),
                "rows": _hash_rows(train, test),
                "tuning": tuning,
                "parameters": parameters,
            }
            if tuning == "greedy":
                settings["tuning_folds"] = TUNING_FOLDS
            key = cell_key(
                reduction=reduction,
                base=base,
                fold=fold,
                seed=seed,
                settings=settings,
                versions=versions,
            )
            yield Task(samples.name, reduction, base, fold, seed, settings, train, test, key)


def _hash_rows(train: Rows, test: Rows) -> str:
    digest = sha256(train.astype("<i8").tobytes())
    digest.update(b"test" + test.astype("<i8").tobytes())
    return digest.hexdigest()


def _named(cell: Cell, task: Task) -> Cell:
    """Return the cell under the plan's name: the same samples may have been stored as another's."""
    return cell if cell.data_set == task.data_set else replace(cell, data_set=task.data_set)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back for a moment; processes that start in it never get one.

    A terminal sends it to all, and workers would print a traceback each.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _closing_quietly(outcomes: Generator[Any]) -> Iterator[Generator[Any]]:
    """Close in the end, without joblib's advice to those who stop before all is done."""
    try:
        yield outcomes
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*tasks.*have been", UserWarning)
            outcomes.close()


@contextmanager
def _on_disk(data_sets: Iterable[Samples]) -> Iterator[dict[str, str]]:
    """Write data sets for the workers, which share their pages, and say where each is."""
    with TemporaryDirectory(prefix="polychotomy-", ignore_cleanup_errors=True) as folder:
        place = {}
        for number, samples in enumerate(data_sets):
            place[samples.name] = str(Path(folder) / f"{number}.joblib")
            joblib.dump(samples, place[samples.name])
        yield place


@lru_cache(maxsize=1)
def _samples_from(path: str) -> Samples:
    samples: Samples = joblib.load(path, mmap_mode="r")
    return samples


def _compute_from(task: Task, path: str, parent: int) -> Cell | Failure:
    _end_with(parent, str(Path(path).parent))
    return compute(task, _samples_from(path))


@lru_cache(maxsize=1)
def _end_with(parent: int, folder: str) -> None:
    """Let this worker end, and take the data with it, when the process that it works for is killed.

    It would otherwise finish what it has been given, and then wait for minutes.
    """

    def watch() -> None:
        while os.getppid() == parent:
            sleep(0.5)
        rmtree(folder, ignore_errors=True)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
