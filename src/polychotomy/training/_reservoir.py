"""A reservoir of samples held out from a stream, to calibrate the outputs on."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappush, heappushpop
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from polychotomy.arrays import Array, Indices
from polychotomy.codes import DistinctProblems, Targets
from polychotomy.training._problems import HeldOut, TrainedProblems

_SHARE = 0.1  # of the first samples of a class, until its part of the reservoir is full
_OWN = 20  # keeps the keys independent of samples that default_rng(seed) has generated


@dataclass(frozen=True, eq=False)
class Reservoir:
    """A random sample of a stream, of bounded size and stratified by class.

    Every sample of the stream gets a random key in [0, 1). Of each class, the samples with the
    smallest keys below 0.1 are held out, at most ``size // n_classes``. They are a uniform sample
    of the class whatever the length of the stream. A sample that others displace is dropped and
    not trained on, even if they come in the same batch: neither the held-out samples nor those that
    are trained on depend on how the stream is split into batches.

    Attributes
    ----------
    size : int
        Maximum number of samples, of all classes together.
    seed : int
        Seed of the random keys.
    seen : ndarray of shape (n_classes,)
        Number of samples of each class in the stream so far.
    X : array, sparse matrix, data frame or None
        The samples that are held out, None before the first.
    y, weight, keys : ndarray of shape (n_held_out,)
        Their class indices, weights and keys.
    """

    size: int
    seed: int
    seen: Indices
    X: Any
    y: Indices
    weight: Array
    keys: Array

    @classmethod
    def empty(cls, size: int, n_classes: int, seed: int) -> "Reservoir":
        """Return an empty reservoir, before the first batch."""
        none = np.empty(0)
        return cls(
            size, seed, np.zeros(n_classes, dtype=np.intp), None, none.astype(int), none, none
        )

    def hold_out(self, X: Any, y: Indices, weight: Array) -> tuple["Reservoir", NDArray[np.bool_]]:
        """Return the reservoir after a batch, and which of its samples must not be trained on."""
        n, k, most = len(y), len(self.seen), self.size // len(self.seen)
        keys = self._draw(n)
        new = np.flatnonzero(keys < self._limits(most)[y])
        own_y, own_keys = np.append(self.y, y[new]), np.append(self.keys, keys[new])
        order = np.lexsort((own_keys, own_y))
        first = np.searchsorted(own_y[order], np.arange(k))
        kept = np.sort(order[np.arange(len(order)) - first[own_y[order]] < most])
        before, came = kept[kept < len(self.y)], new[kept[kept >= len(self.y)] - len(self.y)]
        parts = [] if self.X is None else [_safe_indexing(self.X, before)]
        taken = np.zeros(n, dtype=bool)
        taken[new] = self._ever_held(y[new], keys[new], most)
        return replace(
            self,
            seen=self.seen + np.bincount(y, minlength=k),
            X=stacked([*parts, _safe_indexing(X, came)]),
            y=own_y[kept],
            weight=np.append(self.weight[before], weight[came]),
            keys=own_keys[kept],
        ), taken

    def _ever_held(self, y: Indices, keys: Array, most: int) -> list[bool]:
        """Return which samples of a batch are held out when they come, one after the other."""
        kept: defaultdict[int, list[float]] = defaultdict(list)  # heaps, the largest key first
        for c, key in zip(self.y.tolist(), self.keys.tolist(), strict=True):
            heappush(kept[c], -key)
        held = []
        for c, key in zip(y.tolist(), keys.tolist(), strict=True):
            largest = heappush if len(kept[c]) < most else heappushpop
            held.append(largest(kept[c], -key) != -key)
        return held

    @property
    def stream_weight(self) -> Array:
        """Weights that restore the class frequencies of the stream."""
        held = np.bincount(self.y, minlength=len(self.seen))
        factor = (self.seen / np.maximum(held, 1))[self.y]
        total = float(factor.sum())
        return self.weight * factor * (len(self.y) / total if total else 1.0)

    def outputs_of(
        self, trained: TrainedProblems, distinct: DistinctProblems, kinds: Sequence[str]
    ) -> HeldOut:
        """Return the outputs of trained problems on the samples, each of its kind."""
        targets = Targets(distinct.columns, self.y)
        outputs: list[Array] = [np.empty(0)] * targets.n_problems
        for kind in dict.fromkeys(kinds if len(self.y) else ()):
            which = [s for s, each in enumerate(kinds) if each == kind]
            said = trained.outputs(self.X, kind, which if len(which) < len(kinds) else None)
            for s, column in zip(which, said.T, strict=True):
                outputs[s] = column[targets.samples(s)]
        return HeldOut(targets, outputs, [self.stream_weight] * targets.n_problems, by_folds=True)

    def _draw(self, n: int) -> Array:
        """Return the keys of the next samples, the same however the stream is split."""
        source = np.random.PCG64([_OWN, self.seed]).advance(int(self.seen.sum()))
        return np.random.Generator(source).random(n)

    def _limits(self, most: int) -> Array:
        """Return the key below which a further sample of each class is held out."""
        limits = np.full(len(self.seen), _SHARE)
        for c in np.flatnonzero(np.bincount(self.y, minlength=len(self.seen)) == most):
            limits[c] = self.keys[self.y == c].max()
        return limits


def stacked(parts: Sequence[Any]) -> Any:
    """Return samples of several batches as one array, sparse matrix or data frame."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if hasattr(first, "tocsr"):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    return first.vstack(parts[1])  # a data frame of polars
