"""Running a comparison: which cells there are, which are missing, and computing those."""

import os
import signal
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic, sleep
from typing import Any, Protocol

import joblib

from polychotomy.errors import DataError, unknown_name
from polychotomy.lab._cells import Cell, cell_key, current_versions
from polychotomy.lab._measure import PREPARATIONS, Failure, Task, compute, tuning_folds
from polychotomy.lab._methods import Method, name_methods
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
    """All cells of a comparison: data sets × folds × methods.

    Folds come before methods, so that at any time about the same is known of all methods. Those
    that differ only in how outputs are decoded are trained once.

    Parameters
    ----------
    data : Samples or sequence of Samples
        The data sets, with different names.
    methods : "standard", "all" or sequence of str or Method, default="standard"
        As in :class:`~polychotomy.choose.Reduction`: "bch", or with a decoder "bch:hamming"; or
        classifiers of any kind, as :class:`Method`.
    bases : sequence of str, default=("logistic",)
        Binary learners of methods given by name, of :func:`available_bases`.
    protocol : str, default="cv10"
        ``cvN``, ``split``, ``split_cvN``, ``repeatN`` or ``repeatN:TRAIN/TEST``, see
        :class:`Protocol`.
    tuning : str, default="none"
        ``"greedy"`` lets :class:`~polychotomy.GreedySearchCV` tune each classifier by 5-fold
        cross-validation within the training part, ``"greedyN"`` by N folds.
    preparation : {"standard", "all_standard"}, default="standard"
        As :func:`polychotomy.datasets.make_preprocessor` does it, or with the indicators of nominal
        values standardised as well.
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
        methods: str | Sequence[str | Method] = "standard",
        bases: Sequence[str] = ("logistic",),
        *,
        protocol: str = "cv10",
        tuning: str = "none",
        preparation: str = "standard",
        seed: int = 0,
    ) -> None:
        data_sets = [data] if isinstance(data, Samples) else list(data)
        self._samples = {samples.fingerprint: samples for samples in data_sets}
        if len({samples.name for samples in data_sets}) < len(data_sets):
            raise DataError("Data sets that are compared must have different names.")
        terms = _Terms(Division.of(protocol), tuning, preparation, seed)
        self.remarks = tuple(said for s in data_sets for said in terms.division.remarks(s))
        named = [each for each in methods if isinstance(each, str)]
        ready = [each for each in methods if isinstance(each, Method)]
        if named or not ready:
            names = methods if isinstance(methods, str) else named
            ready = name_methods(names, bases, seed, tuned=tuning != "none") + ready
        self.tasks = tuple(t for samples in data_sets for t in terms.tasks_of(samples, ready))

    @classmethod
    def join(cls, plans: Sequence["Plan"], *, n_folds: int | None = None) -> "Plan":
        """Return a plan of all cells of several, or of those in the first folds.

        Parameters
        ----------
        plans : sequence of Plan
            A cell that several have is computed once. Data sets of the same name may differ: two
            papers may have prepared one in two ways.
        n_folds : int, optional
            At most so many folds of each data set.
        """
        joined = cls.__new__(cls)
        joined._samples = {key: s for plan in plans for key, s in plan._samples.items()}
        joined.remarks = tuple(dict.fromkeys(said for plan in plans for said in plan.remarks))
        joined.tasks = tuple(
            task for plan in plans for task in plan.tasks if n_folds is None or task.fold < n_folds
        )
        return joined

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

        Raises
        ------
        ChildProcessError
            A worker was killed, as systems do when memory runs out.
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
        """Yield each cell as soon as it is finished, or its group."""
        groups = _groups(tasks)
        workers = min(joblib.effective_n_jobs(n_jobs), max(len(groups), 1))
        if workers == 1:
            for group in groups:
                yield from compute(group, self._samples[group[0].data])
            return
        parallel = joblib.Parallel(workers, return_as="generator_unordered", batch_size=1)
        used = {task.data for task in tasks}
        with _on_disk([self._samples[key] for key in sorted(used)]) as place:
            calls = (
                joblib.delayed(_compute_from)(group, place[group[0].data], os.getpid())
                for group in groups
            )
            with _signals_held_back():  # the workers start here
                running = parallel(calls)
            with _closing_quietly(running) as outcomes, _telling_lost_workers():
                for some in outcomes:
                    yield from some


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


@dataclass(frozen=True)
class _Terms:
    """What holds for all cells of a plan."""

    division: Division
    tuning: str
    preparation: str
    seed: int

    def __post_init__(self) -> None:
        tuning_folds(self.tuning)
        if self.preparation not in PREPARATIONS:
            raise unknown_name("preparation", self.preparation, PREPARATIONS)

    def tasks_of(self, samples: Samples, methods: Sequence[Method]) -> Iterator[Task]:
        """Yield the cells of a data set, fold by fold."""
        versions = current_versions()
        folds = self.division.divide(samples, self.seed)
        for fold, (train, test) in enumerate(folds):
            common = {
                "data": samples.fingerprint,
                "protocol": str(self.division),
                "n_folds": len(folds),
                "n_train": len(train),
                "rows": _hash_rows(train, test),
                "preparation": self.preparation,
                "tuning": self.tuning,
            }
            if self.tuning != "none":
                common["tuning_folds"] = tuning_folds(self.tuning)
            for method in methods:
                settings = {**common, "parameters": method.parameters}
                if self.tuning != "none" and method.search is not None:
                    settings["search"] = method.search
                key = cell_key(
                    reduction=method.reduction,
                    base=method.base,
                    fold=fold,
                    seed=self.seed,
                    settings=settings,
                    versions=versions,
                )
                yield Task(samples.name, method, fold, self.seed, settings, train, test, key)


def _groups(tasks: Iterable[Task]) -> list[list[Task]]:
    """Return the tasks that share a training or a search together, in order of the first."""
    groups: dict[Any, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.group, []).append(task)
    return list(groups.values())


def _hash_rows(train: Rows, test: Rows) -> str:
    digest = sha256(train.astype("<i8").tobytes())
    digest.update(b"test" + test.astype("<i8").tobytes())
    return digest.hexdigest()


def _named(cell: Cell, task: Task) -> Cell:
    """Return the cell under the plan's name: the same samples may have been stored as another's."""
    return cell if cell.data_set == task.data_set else replace(cell, data_set=task.data_set)


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Hold back for a moment what asks to end; processes that start in it never get it.

    Ctrl-C and its like go to all processes at once. The workers would print a traceback each, or be
    missed, where this process ends them in order.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    )
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
def _telling_lost_workers() -> Iterator[None]:
    """Tell in a sentence that a worker was killed."""
    try:
        yield
    except BrokenExecutor as error:
        raise ChildProcessError(
            "A worker process was killed, as systems do when memory runs out. Run it again with "
            "fewer workers; cells that are in a store are not computed again."
        ) from error


@contextmanager
def _on_disk(data_sets: Iterable[Samples]) -> Iterator[dict[str, str]]:
    """Write data sets for the workers, which share their pages, and say where each is."""
    with TemporaryDirectory(prefix="polychotomy-", ignore_cleanup_errors=True) as folder:
        place = {}
        for number, samples in enumerate(data_sets):
            place[samples.fingerprint] = str(Path(folder) / f"{number}.joblib")
            try:
                joblib.dump(samples, place[samples.fingerprint])
            except OSError as error:
                raise OSError(error.errno, error.strerror, folder) from error
        yield place


@lru_cache(maxsize=1)
def _samples_from(path: str) -> Samples:
    samples: Samples = joblib.load(path, mmap_mode="r")
    return samples


def _compute_from(tasks: list[Task], path: str, parent: int) -> list[Cell | Failure]:
    _end_with(parent, str(Path(path).parent))
    return list(compute(tasks, _samples_from(path)))


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
