"""Which samples are trained on and which are tested: cross-validation, a split, or many."""

import re
import warnings
from dataclasses import dataclass

import numpy as np

from polychotomy.errors import DataError
from polychotomy.lab._samples import Rows, Samples

_TEST_SHARE = 0.3
_MOST_FOLDS = 1000


@dataclass(frozen=True)
class Protocol:
    """How a data set is divided.

    ``cvN`` is N-fold stratified cross-validation (``cv`` is ``cv10``), of all samples whether or
    not there is a fixed split; ``split`` is the fixed split or else one stratified draw of 70 %
    for training; ``split_cvN`` is the fixed split or else ``cvN``; ``repeatN`` are N stratified
    draws of 70 % (``repeat`` is ``repeat10``).

    Parameters
    ----------
    kind : {"cv", "split", "split_cv", "repeat"}
    n_folds : int

    Examples
    --------
    >>> from polychotomy.lab import Protocol
    >>> Protocol.of("cv5")
    Protocol(kind='cv', n_folds=5)
    >>> print(Protocol.of("repeat"))
    repeat10
    """

    kind: str
    n_folds: int

    @classmethod
    def of(cls, text: str) -> "Protocol":
        """Return the protocol of this name."""
        found = re.fullmatch(r"(cv|split_cv|repeat)(\d{1,4})?|split", text)
        if found is None:
            raise ValueError(
                "The 'protocol' parameter must be cvN, split, split_cvN or repeatN, with a number "
                f"for N. Got {text!r} instead."
            )
        if text == "split":
            return cls("split", 1)
        n_folds = int(found[2] or 10)
        least = 1 if found[1] == "repeat" else 2
        if not least <= n_folds <= _MOST_FOLDS:
            raise ValueError(
                f"The 'protocol' parameter must have between {least} and {_MOST_FOLDS} folds. "
                f"Got {text!r} instead."
            )
        return cls(found[1], n_folds)

    def __str__(self) -> str:
        return self.kind if self.kind == "split" else f"{self.kind}{self.n_folds}"

    def divide(self, samples: Samples, seed: int) -> list[tuple[Rows, Rows]]:
        """Return the rows of the training and of the test part of each fold, in order.

        Classes too small to be in every part are divided as well as can be, see :meth:`remarks`;
        the only sample of a class is trained on, but for cross-validation, which tests each sample
        once.

        Raises
        ------
        DataError
            No class has as many samples as there are folds, or the test part would be smaller than
            the number of classes.
        """
        if self._takes_split(samples):
            assert samples.train is not None
            assert samples.test is not None
            return [(np.sort(samples.train), np.sort(samples.test))]
        return self._draw(samples, seed) if self._draws else self._cross_validate(samples, seed)

    def remarks(self, samples: Samples) -> list[str]:
        """Return what to know about classes that are too small for this protocol, in words."""
        fixed = self._takes_split(samples)
        counts = np.bincount(samples.y)
        needed = 1 if fixed else 2 if self._draws else self.n_folds
        small = np.flatnonzero(counts < needed)
        if not small.size:
            return []
        least = small[counts[small].argmin()]
        said = (
            f"{samples.name}: {small.size} of {counts.size} classes have fewer than {needed} "
            f"samples, such as {samples.classes[least]!r} with {counts[least]}"
        )
        if self._draws:
            return [f"{said}: they are trained on, and never tested."]
        return [f"{said}: they are missing in the test part of some folds."]

    @property
    def _draws(self) -> bool:
        return self.kind in ("split", "repeat")

    def _takes_split(self, samples: Samples) -> bool:
        return self.kind.startswith("split") and samples.train is not None

    def _cross_validate(self, samples: Samples, seed: int) -> list[tuple[Rows, Rows]]:
        from sklearn.model_selection import StratifiedKFold

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

    def _draw(self, samples: Samples, seed: int) -> list[tuple[Rows, Rows]]:
        from sklearn.model_selection import StratifiedShuffleSplit

        alone = np.bincount(samples.y)[samples.y] == 1
        single, others = np.flatnonzero(alone), np.flatnonzero(~alone)
        draws = StratifiedShuffleSplit(self.n_folds, test_size=_TEST_SHARE, random_state=seed)
        y = samples.y[others]
        try:
            parts = list(draws.split(y, y))
        except ValueError as error:
            raise DataError(
                f"{samples.name}: {len(y)} samples of {len(np.unique(y))} classes are too few for "
                f"a test part of {_TEST_SHARE:.0%}. Take the protocol cv2."
            ) from error
        return [
            (np.sort(np.concatenate([others[train], single])), np.sort(others[test]))
            for train, test in parts
        ]
