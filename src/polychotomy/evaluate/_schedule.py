"""All cells of a comparison, and computing the missing ones."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from time import monotonic
from typing import Any

from polychotomy.arrays import Indices
from polychotomy.codes import order_remark
from polychotomy.errors import ClusterError, DataError, unknown_name
from polychotomy.evaluate._bench import compute
from polychotomy.evaluate._cell import Cell, Failure
from polychotomy.evaluate._cell_store import Store
from polychotomy.evaluate._contestant import Contestant, name_contestants
from polychotomy.evaluate._naming import cell_key, current_versions
from polychotomy.evaluate._preparation import PREPARATIONS
from polychotomy.evaluate._protocol import DEFAULT_FOLDS, Protocol
from polychotomy.evaluate._samples import Samples
from polychotomy.evaluate._task import Task, Tuner
from polychotomy.evaluate._time_limit import time_limit
from polychotomy.kernel import count_threads
from polychotomy.parallel import count_workers, map_tasks, uses_cluster
from polychotomy.reductions import is_baseline


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes
    ----------
    done, total : int
        Finished cells, those found in the store among them, and all cells.
    seconds_left : float or None
        As long as the rest takes if it goes on as it went; None while the first cell of each worker
        runs, which also compiles programs.
    last : Cell, Failure or None
        The last finished cell.
    """

    done: int
    total: int
    seconds_left: float | None
    last: Cell | Failure | None


class Schedule:
    """All cells of a comparison: data sets × folds × methods.

    Folds come before methods, so that at any time about the same is known of all methods. Those
    that differ only in how outputs are decoded are trained once.

    Parameters
    ----------
    data : Samples or sequence of Samples
        The data sets, with different names.
    methods : "standard", "all" or sequence of str or Contestant, default="standard"
        As in :class:`~polychotomy.reductions.Reduction`: "bch", or with a decoder "bch:hamming"; or
        classifiers of any kind, as :class:`Contestant`.
    bases : sequence of str, default=("logistic",)
        Binary learners of methods given by name, of
        :func:`~polychotomy.reductions.available_bases`.
    protocol : str, default="cv5"
        ``cvN``, ``split``, ``split_cvN``, ``repeatN`` or ``repeatN:TRAIN/TEST``, see
        :class:`Protocol`.
    tuning : str, default="none"
        ``"greedy"`` lets :class:`~polychotomy.GreedySearchCV` tune each classifier within the
        training part by 5-fold cross-validation. Of many samples it takes 500, or 25 for each
        class, and goes on from what it finds with twice and four times as many, tested on as many
        folds as hold 1000 samples. ``"greedyN"`` is the search of the papers: one round on all
        samples by N-fold cross-validation.
    preparation : {"standard", "all_standard", "none"}, default="standard"
        As :class:`Preparation` does it, or with the indicators of nominal values standardised as
        well, or not at all.
    seed : int, default=0
        Seed of folds, random codes and learners.
    class_order : "data" or None, default=None
        Whether methods given by name order the classes by their training samples, see
        :class:`~polychotomy.CodeClassifier`; otherwise their order is that of the data set.

    Attributes
    ----------
    tasks : tuple of Task
        The cells, in the order in which they are computed.
    remarks : tuple of str
        Remarks on classes that are too small for the protocol.

    Raises
    ------
    DataError
        A data set that the protocol cannot divide, or two with the same name.
    ValueError
        An unknown reduction, base or protocol; a base that cannot be tuned; a parameter that cannot
        be named by its content.

    Examples
    --------
    >>> from polychotomy import datasets
    >>> from polychotomy.evaluate import Samples, Schedule
    >>> wine = Samples.of(datasets.load("wine"))
    >>> schedule = Schedule(wine, ["one_vs_one", "one_vs_rest"], ["ridge"], protocol="cv3")
    >>> cells, failures = schedule.run()
    >>> len(cells), len(failures), schedule.tasks[0].reduction
    (6, 0, 'one_vs_one')
    """

    def __init__(
        self,
        data: Samples | Sequence[Samples],
        methods: str | Sequence[str | Contestant] = "standard",
        bases: Sequence[str] = ("logistic",),
        *,
        protocol: str = f"cv{DEFAULT_FOLDS}",
        tuning: str = "none",
        preparation: str = "standard",
        seed: int = 0,
        class_order: str | None = None,
    ) -> None:
        data_sets = [data] if isinstance(data, Samples) else list(data)
        self._samples = {samples.fingerprint: samples for samples in data_sets}
        if len({samples.name for samples in data_sets}) < len(data_sets):
            raise DataError("Data sets that are compared must have different names.")
        if preparation not in PREPARATIONS:
            raise unknown_name("preparation", preparation, PREPARATIONS)
        division, tuner = Protocol.of(protocol), Tuner.of(tuning)
        terms: dict[str, Any] = {"preparation": preparation, "tuning": tuning}
        if tuner is not None:
            terms |= tuner.terms
        self.remarks = tuple(said for s in data_sets for said in division.remarks(s))
        named = [each for each in methods if isinstance(each, str)]
        ready = [each for each in methods if isinstance(each, Contestant)]
        if named or not ready:
            names = methods if isinstance(methods, str) else named
            tuned = tuner is not None
            n_classes = min((len(s.classes) for s in data_sets), default=0)
            made = name_contestants(
                names, bases, seed, tuned=tuned, class_order=class_order, n_classes=n_classes
            )
            ready = made + ready
            if class_order is None:
                self.remarks += tuple(_unordered(data_sets, made))
        self.tasks = tuple(
            _make_task(samples.name, method, fold, settings, rows, seed, tuner)
            for samples in data_sets
            for fold, (settings, rows) in enumerate(_folds(samples, division, terms, seed))
            for method in ready
        )

    @classmethod
    def join(cls, schedules: Sequence["Schedule"], *, n_folds: int | None = None) -> "Schedule":
        """Return a schedule of all cells of several, or of those in the first folds.

        Parameters
        ----------
        schedules : sequence of Schedule
            A cell that several have is computed once. Data sets of the same name may differ: two
            papers may have prepared one in two ways.
        n_folds : int, optional
            At most so many folds of each data set.
        """
        joined = cls.__new__(cls)
        joined._samples = {key: s for each in schedules for key, s in each._samples.items()}
        joined.remarks = tuple(dict.fromkeys(said for each in schedules for said in each.remarks))
        joined.tasks = tuple(
            task
            for each in schedules
            for task in each.tasks
            if n_folds is None or task.fold < n_folds
        )
        return joined

    def run(
        self,
        store: Store | None = None,
        *,
        n_jobs: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        budget: float | None = None,
    ) -> tuple[list[Cell], list[Failure]]:
        """Compute the cells that are missing in the store, and return all cells.

        Each is in the store as soon as it is finished. A cell that fails stops none of the others;
        it is not stored, and will be tried again.

        Parameters
        ----------
        store : Store, optional
            Where finished cells are kept; by default in memory.
        n_jobs : int, optional
            Number of worker processes; it changes no result. They are those of the active Dask
            client, if there is one; only this process writes to the store.
        progress : callable, optional
            Called with a :class:`Progress` before the first cell and after each.
        budget : float, optional
            Stop after so many seconds with the cells that are finished, see :meth:`comparable`. In
            the main thread of a POSIX system that takes the signal SIGALRM; elsewhere cells that
            have begun are finished.

        Returns
        -------
        cells : list of Cell
            In the order of ``tasks``, those from the store under the names of this schedule.
        failures : list of Failure

        Raises
        ------
        ChildProcessError
            A worker was killed, as systems do when memory runs out.
        ClusterError
            A Dask cluster was lost. What is finished is in the store.
        """
        keys = {task.key for task in self.tasks}
        known = set() if store is None else store.keys()
        missing = {task.key: task for task in self.tasks if task.key not in known}
        tick = _clock(len(keys), len(missing), progress, count_workers(n_jobs))
        cells: dict[str, Cell] = {}
        failures: dict[str, Failure] = {}
        running = closing(self._outcomes(list(missing.values()), n_jobs))
        with time_limit(budget) as check, running as outcomes:
            for outcome in outcomes:
                if isinstance(outcome, Failure):
                    failures[outcome.key] = outcome
                else:
                    cells[outcome.key] = outcome
                    if store is not None:
                        store.add(outcome)
                tick(outcome)
                check()
        if store is not None:
            cells |= {key: store.get(key) for key in keys & known}
        found = [  # the same samples may be stored under another name
            replace(cells[task.key], data_set=task.data_set)
            for task in self.tasks
            if task.key in cells
        ]
        return found, list(failures.values())

    def comparable(
        self, cells: Sequence[Cell], failures: Sequence[Failure]
    ) -> tuple[list[Cell], str]:
        """Return the cells of a run that can be compared, and a list of what was not tried.

        These are the folds that all methods have finished or, if there are none, the methods that
        have finished the first fold. Without a budget it is everything.
        """
        done = {cell.key for cell in cells} | {failure.key for failure in failures}
        missing = [task for task in self.tasks if task.key not in done]
        if not missing:
            return list(cells), ""
        broken = {(task.data_set, task.fold) for task in missing}
        whole = [cell for cell in cells if (cell.data_set, cell.fold) not in broken]
        if whole:
            n, total = (len({(e.data_set, e.fold) for e in some}) for some in (whole, self.tasks))
            return whole, f"{total - n} of {total} folds"
        first = self.tasks[0].data_set, self.tasks[0].fold
        lacking = [
            task.reduction
            for task in missing
            if (task.data_set, task.fold) == first and not is_baseline(task.reduction)
        ]
        folds = len({(task.data_set, task.fold) for task in self.tasks}) - 1
        more = [f"{folds} more fold{'s' * (folds > 1)}"] if folds else []
        kept = [cell for cell in cells if (cell.data_set, cell.fold) == first]
        return kept, ", ".join(dict.fromkeys(lacking + more))

    def task_of(self, method: str) -> Task:
        """Return the first task of a method, by the name that it has in a summary."""
        return next(t for t in self.tasks if method in (t.reduction, f"{t.reduction} ({t.base})"))

    def samples_of(self, task: Task) -> Samples:
        """Return the samples of a task."""
        return self._samples[task.settings["data"]]

    def _outcomes(self, tasks: list[Task], n_jobs: int | None) -> Generator[Cell | Failure]:
        """Yield each cell as soon as it is finished, or its group."""
        groups = _groups(tasks)
        shared = {key: self._samples[key] for key in sorted({t.settings["data"] for t in tasks})}
        workers = n_jobs
        if not uses_cluster(n_jobs):
            workers = min(count_threads(n_jobs), max(len(groups), 1))
        if workers == 1:
            for group in groups:
                yield from compute(group, self.samples_of(group[0]))
            return
        running = map_tasks(
            _compute_group, groups, shared=shared, n_jobs=workers, ordered=False, on_disk=True
        )
        try:
            with closing(running) as outcomes:
                for some in outcomes:
                    yield from some
        except (ChildProcessError, ClusterError) as error:
            error.add_note("Cells that are in a store are not computed again, here or elsewhere.")
            raise


def _unordered(data_sets: Sequence[Samples], methods: Sequence[Contestant]) -> Iterator[str]:
    """Yield what there is to say about codes for ordered classes that have only the alphabet."""
    codes = dict.fromkeys(getattr(each.classifier, "code", None) for each in methods)
    for samples in data_sets:
        if samples.labels is None or samples.ordered:
            continue
        remarks = [order_remark(code, samples.labels) for code in codes]
        yield from (f"{samples.name}: {remark}" for remark in remarks if remark)


def _compute_group(group: Sequence[Task], shared: Mapping[str, Samples]) -> list[Cell | Failure]:
    return list(compute(group, shared[group[0].settings["data"]]))


def _clock(
    total: int, missing: int, report: Callable[[Progress], None] | None, workers: int
) -> Callable[[Cell | Failure | None], None]:
    """Return a function that counts finished cells, and estimates how long the rest will take.

    The first cell of each worker is not counted, since it compiles programs, nor the first tenth
    as soon as a fifth is finished.
    """
    times = [monotonic()]  # of the start, and of each finished cell

    def tick(outcome: Cell | Failure | None) -> None:
        if outcome is not None:
            times.append(monotonic())
        ticks = len(times) - 1
        first = max(workers, missing // 10 if 5 * ticks >= missing else 0)
        left = 0.0 if ticks == missing else None
        if first < ticks < missing:
            left = (times[-1] - times[first]) / (ticks - first) * (missing - ticks)
        if report is not None:
            report(Progress(total - missing + ticks, total, left, outcome))

    tick(None)
    return tick


def _folds(
    samples: Samples, division: Protocol, terms: Mapping[str, Any], seed: int
) -> Iterator[tuple[dict[str, Any], tuple[Indices, Indices]]]:
    """Yield the settings and the rows of each fold."""
    folds = division.divide(samples, seed)
    for train, test in folds:
        content = sha256(train.astype("<i8").tobytes() + b"test" + test.astype("<i8").tobytes())
        settings = {
            "data": samples.fingerprint,
            "protocol": str(division),
            "n_folds": len(folds),
            "n_train": len(train),
            "rows": content.hexdigest(),
            **terms,
            **({"text": dict(samples.text)} if samples.text else {}),
        }
        yield settings, (train, test)


def _make_task(
    data_set: str,
    method: Contestant,
    fold: int,
    settings: Mapping[str, Any],
    rows: tuple[Indices, Indices],
    seed: int,
    tuner: Tuner | None,
) -> Task:
    """Return a task under the key of its content."""
    settings = {**settings, "parameters": method.parameters}
    if tuner is not None and method.search is not None:
        settings["search"] = method.search
    what = {"reduction": method.reduction, "base": method.base, "fold": fold, "seed": seed}
    key = cell_key(**what, settings=settings, versions=current_versions())
    return Task(data_set, method, fold, seed, settings, *rows, key, tuner)


def _groups(tasks: Iterable[Task]) -> list[list[Task]]:
    """Return the tasks that share a training or a search together, in order of the first."""
    groups: dict[Any, list[Task]] = {}
    for task in tasks:
        same = [task.settings[name] for name in ("data", "rows", "preparation", "tuning")]
        method = task.method.training if task.tuner is None else task.method.tuning
        groups.setdefault((task.seed, *same, method), []).append(task)
    return list(groups.values())
