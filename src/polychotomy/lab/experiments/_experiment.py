"""What an experiment of a paper consists of, and how its cells become figures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from polychotomy import datasets
from polychotomy.errors import unknown_name
from polychotomy.evaluate import Cell, Contestant, Samples, Schedule
from polychotomy.lab import published
from polychotomy.lab.experiments._figures import Estimate, Figure, compare

Quantity = Callable[["FinishedCells", published.PublishedCell], Estimate | None]


class FinishedCells:
    """Finished cells by data set and method, fold by fold.

    Parameters
    ----------
    cells : iterable of Cell
        Of one experiment.
    """

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._cells: dict[tuple[str, str], list[Cell]] = {}
        for cell in sorted(cells, key=lambda cell: cell.fold):
            self._cells.setdefault((cell.data_set, cell.reduction), []).append(cell)

    def of(self, data_set: str, method: str) -> list[Cell]:
        """Return the cells of a method on a data set; none if it was not run."""
        return self._cells.get((data_set, method), [])

    def of_folds(self, data_set: str) -> int:
        """Return how many folds the protocol has for a data set; 0 if it was not run."""
        folds = (c[0].settings["n_folds"] for (d, _), c in self._cells.items() if d == data_set)
        return max(folds, default=0)

    def complete(self, data_set: str, method: str) -> bool:
        """Return whether a method was run in all folds of a data set."""
        return 0 < self.of_folds(data_set) == len(self.of(data_set, method))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The data sets and methods that there are."""
        return list(self._cells)


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper.

    Attributes
    ----------
    name, title : str
        What it is called, and what it shows.
    paper : str
        Whose: allwein, sbc, sbckernel, mills or tax-duin.
    tables : tuple of str
        The published tables that it fills, of :func:`polychotomy.lab.published.names`.
    data_sets : tuple of str
        As the tables name them.
    make_methods : callable
        ``make_methods(samples, seed)`` returns the methods for a data set. The ``reduction`` of
        each is what `quantities` look for.
    quantities : mapping of str to callable
        ``quantity(results, cell)`` returns our value of what the published cell shows, or None if
        what it needs was not run. Quantities of a table that are not here are not reproduced.
    further : tuple of str
        Quantities to report for methods for which the paper prints none.
    protocol : str or mapping of str to str
        As in :class:`~polychotomy.evaluate.Schedule`, for all data sets or for each.
    tuning, preparation : str
        As there.
    choices : tuple of str
        What the paper leaves open, and what was taken.
    quick : tuple of str
        Data sets that take minutes, for a first look.
    hours : float
        About how long the whole takes on two cores.
    load : callable or None
        Returns the samples of a data set by name; None takes the paper's own preparation of a
        known one.
    """

    name: str
    title: str
    paper: str
    tables: tuple[str, ...]
    data_sets: tuple[str, ...]
    make_methods: Callable[[Samples, int], Sequence[Contestant]]
    quantities: Mapping[str, Quantity]
    protocol: str | Mapping[str, str]
    quick: tuple[str, ...]
    hours: float
    further: tuple[str, ...] = ()
    tuning: str = "none"
    preparation: str = "standard"
    choices: tuple[str, ...] = ()
    load: Callable[[str], Samples] | None = field(default=None, repr=False)

    def plan(
        self,
        data_sets: Sequence[str] | None = None,
        *,
        methods: Sequence[str] | None = None,
        n_folds: int | None = None,
        seed: int = 0,
    ) -> Schedule:
        """Return the cells that are to be computed.

        Parameters
        ----------
        data_sets, methods : sequence of str, optional
            Some of them; by default all. Not all data sets need have a method.
        n_folds : int, optional
            At most so many folds of each data set, the first ones.
        seed : int, default=0
            Draws folds, random codes and what is random in the learners.
        """
        chosen = self.check_names(data_sets, methods)
        samples = {name: self.load_samples(name) for name in chosen}
        known = {name: self.make_methods(samples[name], seed) for name in chosen}
        plans = [
            self._plan_of(name, samples[name], wanted, seed)
            for name in chosen
            if (wanted := [m for m in known[name] if methods is None or m.reduction in methods])
        ]
        return Schedule.join(plans, n_folds=n_folds)

    def check_names(
        self, data_sets: Sequence[str] | None = None, methods: Sequence[str] | None = None
    ) -> list[str]:
        """Return the data sets that are meant, or raise ValueError; nothing is loaded for it.

        Parameters
        ----------
        data_sets, methods : sequence of str, optional
            As in :meth:`plan`.
        """
        for name in data_sets or ():
            if name not in self.data_sets:
                raise unknown_name("data", name, self.data_sets)
        chosen = [name for name in self.data_sets if data_sets is None or name in data_sets]
        if methods:
            made = [each for name in chosen for each in self.make_methods(self._outline(name), 0)]
            known = {each.reduction for each in made}
            for method in methods:
                if method not in known:
                    raise unknown_name("methods", method, known)
        return chosen

    def _outline(self, name: str) -> Samples:
        """Return the name and the classes, without the samples of known data sets."""
        known = {each.name: each.classes for each in datasets.available()}
        if name not in known:  # drawn by a formula
            return self.load_samples(name)
        classes = tuple(map(str, range(known[name])))
        return Samples(name, None, np.empty(0, dtype=np.intp), classes)

    def _plan_of(
        self, name: str, samples: Samples, methods: Sequence[Contestant], seed: int
    ) -> Schedule:
        return Schedule(
            samples,
            methods,
            protocol=self.protocol if isinstance(self.protocol, str) else self.protocol[name],
            tuning=self.tuning,
            preparation=self.preparation,
            seed=seed,
        )

    def load_samples(self, name: str) -> Samples:
        """Return a data set as the paper has it."""
        if self.load is not None:
            return self.load(name)
        return Samples.of(datasets.load(name, paper=self.paper))

    def figures(self, cells: Iterable[Cell]) -> list[Figure]:
        """Return the published figures for which there are cells, with ours.

        Parameters
        ----------
        cells : iterable of Cell
            What a plan of this experiment computed, or a part of it.
        """
        return list(self._figures(FinishedCells(cells)))

    def _figures(self, results: FinishedCells) -> Iterator[Figure]:
        printed = [cell for name in self.tables for cell in published.table(name).cells]
        for cell in [*printed, *self._unpublished(results, printed)]:
            quantity = self.quantities.get(cell.quantity)
            ours = None if quantity is None else quantity(results, cell)
            if ours is not None:
                of_folds = results.of_folds(cell.data_set) if ours.n_folds else 0
                yield compare(cell, ours, of_folds)

    def _unpublished(
        self, results: FinishedCells, printed: Iterable[published.PublishedCell]
    ) -> Iterator[published.PublishedCell]:
        """Yield cells without a value for what was run and the paper does not print."""
        known = {(cell.data_set, cell.method, cell.quantity) for cell in printed}
        table = self.name.removeprefix(f"{self.paper}-")
        for data_set, method in results.pairs:
            for quantity in self.further:
                if (data_set, method, quantity) not in known:
                    yield published.PublishedCell.without_value(
                        self.paper, table, data_set, method, quantity
                    )
