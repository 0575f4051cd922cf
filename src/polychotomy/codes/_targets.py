"""The targets of binary problems: the side of each sample in each problem, made on demand."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.codes._rule_matrix import OneVsRestRule, RuleMatrix


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets T of m samples in ℓ problems, entries −1, 0 and +1.

    ``T[i, s] = columns[y[i], s]``, and 0 where sample i is left out of problem s. T itself is
    never stored: learners ask for the samples of one problem or for a block of columns.

    Parameters
    ----------
    columns : ndarray or RuleMatrix of shape (n_classes, n_problems)
        A column of a code for each problem.
    y : ndarray of shape (n_samples,)
        Class indices, the rows of `columns`.
    kept : boolean ndarray of shape (n_samples, n_problems), optional
        Which sample takes part in which problem, where training leaves some out.
    within : boolean ndarray of shape (n_samples,), optional
        Which samples take part at all; the others are held out of every problem.

    Attributes
    ----------
    n_samples, n_problems : int
        m, samples held out included, and ℓ.
    is_one_vs_rest : bool
        Whether problem s is class s against all others, by a rule, and no problem leaves out
        samples of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.codes import Targets, one_vs_one
    >>> targets = Targets(one_vs_one(3).matrix, np.array([2, 0, 1, 0]))
    >>> targets.samples(0)
    array([1, 2, 3])
    >>> targets.block(slice(0, 2))
    array([[ 0, -1],
           [ 1,  1],
           [-1,  0],
           [ 1,  1]], dtype=int8)
    >>> targets.restricted([0, 1]).samples(0)
    array([1])
    """

    columns: Matrix | RuleMatrix
    y: Indices
    kept: NDArray[np.bool_] | None = None
    within: NDArray[np.bool_] | None = None

    n_samples: int = field(init=False)
    n_problems: int = field(init=False)
    is_one_vs_rest: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_samples", len(self.y))
        object.__setattr__(self, "n_problems", self.columns.shape[1])
        of_rule = isinstance(self.columns, OneVsRestRule) and self.kept is None
        object.__setattr__(self, "is_one_vs_rest", of_rule)
        shapes = {"kept": (self.n_samples, self.n_problems), "within": (self.n_samples,)}
        for name, shape in shapes.items():
            mask = getattr(self, name)
            if mask is not None and (mask.shape != shape or mask.dtype != bool):
                raise ValueError(
                    f"The {name!r} parameter must be a boolean array of shape {shape}. "
                    f"Got {mask.dtype} of shape {mask.shape}."
                )

    @cached_property
    def is_strict(self) -> bool:
        """Whether all classes take part in all problems."""
        facts = self.columns.facts if isinstance(self.columns, RuleMatrix) else None
        return bool(np.all(self.columns)) if facts is None else facts.is_strict

    def samples(self, s: int) -> Indices:
        """Return the samples that take part in problem s, in ascending order.

        Samples are looked up by class, so the cost depends on the samples of this problem only.
        """
        found = self._present
        if not self.is_strict:
            members = np.flatnonzero(self.columns[:, s])
            if len(members) < len(self.columns):
                found = np.sort(np.concatenate([self._by_class[c] for c in members]))
        return found if self.kept is None else found[self.kept[found, s]]

    def sides(self, s: int, samples: Indices) -> Matrix:
        """Return the targets of these samples in problem s."""
        sides: Matrix = self.columns[self.y[samples], s]
        if self.within is not None:
            sides *= self.within[samples]
        if self.kept is not None:
            sides *= self.kept[samples, s]
        return sides

    def total_weights(self, weights: Sequence[Array]) -> Array:
        """Return the total weight of each problem's samples; `weights` has theirs for each."""
        if self.is_strict and self.kept is None:  # all problems have the same samples
            each = {id(w): w for w in weights}
            sums = {key: w[self._present].sum() for key, w in each.items()}
            return np.array([sums[id(w)] for w in weights])
        return np.array([w[self.samples(s)].sum() for s, w in enumerate(weights)])

    def block(self, problems: slice | ArrayLike) -> Matrix:
        """Return some columns of the targets.

        Parameters
        ----------
        problems : slice or array-like of int
            Which columns.

        Returns
        -------
        block : int8 ndarray of shape (n_samples, number of problems asked for)
        """
        which = problems if isinstance(problems, slice) else np.asarray(problems, dtype=np.intp)
        block: Matrix = np.take(self.columns[:, which], self.y, axis=0)
        if self.within is not None:
            block[~self.within] = 0
        if self.kept is not None:
            block *= self.kept[:, which]
        return block

    def restricted(self, samples: ArrayLike) -> "Targets":
        """Return the same targets with all other samples held out of every problem."""
        within = np.zeros(self.n_samples, dtype=bool)
        within[np.asarray(samples, dtype=np.intp)] = True
        return replace(self, within=within if self.within is None else within & self.within)

    @cached_property
    def _present(self) -> Indices:
        """The samples that are not held out."""
        return np.arange(self.n_samples) if self.within is None else np.flatnonzero(self.within)

    @cached_property
    def _by_class(self) -> list[Indices]:
        """The samples of each class that are not held out."""
        present = self._present
        order = present[np.argsort(self.y[present], kind="stable")]
        borders = np.searchsorted(self.y[order], np.arange(1, len(self.columns)))
        return np.split(order, borders)


def are_sides(targets: NDArray[Any]) -> bool:
    """Return whether all entries are −1, 0 or +1."""
    if targets.dtype == np.int8:  # quicker where there are many problems
        return targets.size == 0 or (int(targets.min()) >= -1 and int(targets.max()) <= 1)
    return bool(np.isin(targets, (-1, 0, 1)).all())
