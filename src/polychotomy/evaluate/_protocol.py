"""Protocols: cross-validation, a split into training and test part, or many splits."""

import re
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from polychotomy.arrays import Indices
from polychotomy.errors import DataError
from polychotomy.evaluate._samples import Samples

_TEST_SHARE = 0.3
_MOST_FOLDS = 1000

DEFAULT_FOLDS = 5
"""Folds of every comparison and every search that does not name another number."""


@dataclass(frozen=True)
class Protocol:
    """A protocol: how a data set is split into training and test parts.

    ``cvN`` is N-fold stratified cross-validation (``cv`` is ``cv10``), of all samples whether or
    not there is a fixed split; ``split`` is the fixed split or else one stratified draw of 70 %
    for training; ``split_cvN`` is the fixed split or else ``cvN``; ``repeatN`` are N stratified
    draws of 70 % (``repeat`` is ``repeat10``), and ``repeatN:TRAIN/TEST`` draws of so many samples
    for training and for testing.

    Parameters
    ----------
    kind : {"cv", "split", "split_cv", "repeat"}
    n_folds : int
    sizes : tuple of two ints or None
        Samples for training and for testing, of draws that say so.

    Examples
    --------
    >>> from polychotomy.evaluate import Protocol
    >>> Protocol.of("cv5")
    Protocol(kind='cv', n_folds=5, sizes=None)
    >>> print(Protocol.of("repeat"))
    repeat10
    >>> Protocol.of("repeat10:80/120").sizes
    (80, 120)
    """

    kind: str
    n_folds: int
    sizes: tuple[int, int] | None = None

    @classmethod
    def of(cls, text: str) -> "Protocol":
        """Return the protocol of this name."""
        if text == "split":
            return cls("split", 1)
        found = re.fullmatch(
            r"(cv|split_cv|repeat)(\d{1,4})?(?:(?<=\d):(\d{1,9})/(\d{1,9}))?", text
        )
        if found is None or (found[3] and found[1] != "repeat"):
            raise ValueError(
                "The 'protocol' parameter must be cvN, split, split_cvN, repeatN or "
                f"repeatN:TRAIN/TEST, with numbers for the capitals. Got {text!r} instead."
            )
        kind, n_folds = found[1], int(found[2] or 10)
        sizes = (int(found[3]), int(found[4])) if found[3] else None
        least = 1 if kind == "repeat" else 2
        if not least <= n_folds <= _MOST_FOLDS:
            raise ValueError(
                f"The 'protocol' parameter must have between {least} and {_MOST_FOLDS} folds. "
                f"Got {text!r} instead."
            )
        return cls(kind, n_folds, sizes)

    def __str__(self) -> str:
        sizes = "" if self.sizes is None else f":{self.sizes[0]}/{self.sizes[1]}"
        return self.kind if self.kind == "split" else f"{self.kind}{self.n_folds}{sizes}"

    def divide(self, samples: Samples, seed: int) -> list[tuple[Indices, Indices]]:
        """Return the rows of the training and of the test part of each fold, in order.

        Classes too small to be in every part are divided as well as can be, see :meth:`remarks`;
        the only sample of a class is trained on, except in cross-validation, which tests every
        sample once.

        Raises
        ------
        DataError
            No class has as many samples as there are folds, the test part would be smaller than
            the number of classes, or there are fewer samples than are to be drawn.
        """
        if self._takes_split(samples):
            assert samples.train is not None
            assert samples.test is not None
            return [(np.sort(samples.train), np.sort(samples.test))]
        return self._draw(samples, seed) if self._draws else self._cross_validate(samples, seed)

    def remarks(self, samples: Samples) -> list[str]:
        """Return remarks on classes that are too small for this protocol."""
        counts = np.bincount(samples.y)
        needed = 1 if self._takes_split(samples) else 2 if self._draws else self.n_folds
        small = np.flatnonzero(counts < needed)
        if not small.size:
            return []
        least = small[counts[small].argmin()]
        said = (
            f"{samples.name}: {small.size} of {counts.size} classes have fewer than {needed} "
            f"samples, such as {samples.classes[least]!r} with {counts[least]}"
        )
        rarely = "missing in the test part of some folds"
        return [f"{said}: they are {'trained on, and never tested' if self._draws else rarely}."]

    @property
    def _draws(self) -> bool:
        return self.kind in ("split", "repeat")

    def _takes_split(self, samples: Samples) -> bool:
        return self.kind.startswith("split") and samples.train is not None

    def _cross_validate(self, samples: Samples, seed: int) -> list[tuple[Indices, Indices]]:
        most = int(np.bincount(samples.y).max())
        if most < self.n_folds:
            raise DataError(
                f"{samples.name}: some class must have at least as many samples as there are "
                f"folds, {self.n_folds}, and the largest has {most}."
                + (f" Take the protocol cv{most}." if most > 1 else "")
            )
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():  # the remarks say it
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return list(folds.split(samples.y, samples.y))

    def _draw(self, samples: Samples, seed: int) -> list[tuple[Indices, Indices]]:
        alone = np.bincount(samples.y)[samples.y] == 1
        single, others = np.flatnonzero(alone), np.flatnonzero(~alone)
        train_size, test_size = self.sizes or (None, _TEST_SHARE)
        draws = StratifiedShuffleSplit(
            self.n_folds, train_size=train_size, test_size=test_size, random_state=seed
        )
        y = samples.y[others]
        n, k = len(y), len(np.unique(y))
        reason = (
            f"{n} samples of {k} classes are too few for a test part of {_TEST_SHARE:.0%}. Take "
            "the protocol cv2."
        )
        if self.sizes:
            reason = (
                f"parts of {train_size} and {test_size} samples must both have one for each of {k} "
                f"classes at least, and together not more than the {n} that there are."
            )
        try:
            parts = list(draws.split(y, y))
        except ValueError as error:
            raise DataError(f"{samples.name}: {reason}") from error
        return [
            (np.sort(np.concatenate([others[train], single])), np.sort(others[test]))
            for train, test in parts
        ]
