"""A data set with its labels and its fixed split."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import _safe_indexing

from polychotomy.arrays import Indices
from polychotomy.errors import DataError, require
from polychotomy.evaluate._naming import canonical


@dataclass(frozen=True, eq=False)
class Samples:
    """Labelled samples, with the fixed split where there is one.

    Attributes
    ----------
    name : str
        Name in tables.
    data : {DataFrame, sparse array} of shape (n_samples, n_features)
        Features, as :func:`polychotomy.datasets.make_preprocessor` takes them.
    y : ndarray of shape (n_samples,)
        The index of each sample's class.
    classes : tuple of str
        Names of the classes.
    train, test : ndarray or None
        Row numbers of the fixed split.
    labels : ndarray of shape (n_classes,) or None
        The classes as they were given, in the order of `classes`.
    ordered : bool
        Whether the classes have an order, that of `classes`.
    text : mapping of str to {"words", "chars"}
        Columns of text, and what is counted in them.

    Examples
    --------
    >>> from polychotomy import datasets
    >>> from polychotomy.evaluate import Samples
    >>> wine = Samples.of(datasets.load("wine"))
    >>> wine.name, wine.data.shape, len(wine.classes)
    ('wine', (178, 13), 3)
    """

    name: str
    data: Any
    y: Indices
    classes: tuple[str, ...]
    train: Indices | None = None
    test: Indices | None = None
    labels: NDArray[Any] | None = None
    ordered: bool = False
    text: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, bunch: Any) -> "Samples":
        """Return what :func:`polychotomy.datasets.load` or ``read`` returned, in this form."""
        split = bunch.get("train"), bunch.get("test")
        made = cls.make(bunch.name, bunch.data, bunch.target, *split)
        return replace(made, text=bunch.get("text", {}))

    @classmethod
    def make(
        cls, name: str, X: Any, y: Any, train: Indices | None = None, test: Indices | None = None
    ) -> "Samples":
        """Return features and labels of any kind in this form.

        Parameters
        ----------
        name : str
            What to call the data set.
        X : {DataFrame, array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two classes or more.
        train, test : ndarray, optional
            Row numbers of a fixed split.
        """
        pd = require("pandas", extra="data")
        ready = isinstance(X, pd.DataFrame) or issparse(X)
        frame = X if ready else pd.DataFrame(np.asarray(X))
        labels, n_samples = np.asarray(y), frame.shape[0]
        if labels.shape != (n_samples,):
            raise DataError(
                f"{name}: the labels must be one for each of the {n_samples} samples. "
                f"Got shape {labels.shape}."
            )
        try:
            found, indices = np.unique(labels, return_inverse=True)
        except TypeError:  # labels of several kinds are ordered as texts
            found, indices = np.unique(labels.astype(str), return_inverse=True)
        if len(found) < 2:
            raise DataError(f"{name}: there must be two classes or more, and there is one.")
        return cls(name, frame, indices, tuple(str(label) for label in found), train, test, found)

    @property
    def targets(self) -> Any:
        """The label of each sample, as it was given; of ordered classes as a categorical."""
        if self.ordered:
            pd = require("pandas", extra="data")
            return pd.Categorical.from_codes(self.y, self.labels, ordered=True)
        return self.y if self.labels is None else self.labels[self.y]

    def in_order(self, names: Sequence[str]) -> "Samples":
        """Return the samples with ordered classes, by their names from first to last."""
        if sorted(names) != sorted(self.classes):
            raise DataError(
                f"{self.name}: the order of the classes must have each of them once: "
                f"{', '.join(self.classes)}. Got {', '.join(names)}."
            )
        order = np.array([self.classes.index(name) for name in names])
        labels = None if self.labels is None else self.labels[order]
        y = np.argsort(order)[self.y]
        return replace(self, y=y, classes=tuple(names), labels=labels, ordered=True)

    def limited(self, n_samples: int, seed: int = 0) -> "Samples":
        """Return at most so many of the samples, each class in proportion, and none without any.

        A fixed split stays one, with parts in proportion; the training part keeps all its classes,
        and the test part has at least one sample.

        Parameters
        ----------
        n_samples : int
            At least one for each class, and one more where there is a fixed split.
        seed : int, default=0
            Draws them.

        Examples
        --------
        >>> from polychotomy import datasets
        >>> from polychotomy.evaluate import Samples
        >>> import numpy as np
        >>> few = Samples.of(datasets.load("wine")).limited(18)
        >>> np.bincount(few.y)
        array([6, 7, 5])
        """
        n, n_classes = len(self.y), len(self.classes)
        if n_samples >= n:
            return self
        split = self.train is not None and self.test is not None
        if n_samples < n_classes + split:
            raise DataError(
                f"{self.name}: the {n_classes} classes need as many samples at least"
                f"{', and one more to test' if split else ''}. Got a limit of {n_samples}."
            )
        rng = np.random.default_rng(seed)
        if self.train is None or self.test is None:
            kept = draw_by_class(self.y, np.arange(n), n_samples, rng)
            return replace(self, data=_safe_indexing(self.data, kept), y=self.y[kept])
        share = len(self.test) / (len(self.train) + len(self.test))
        n_test = min(max(round(n_samples * share), 1), n_samples - n_classes)
        train = draw_by_class(self.y, self.train, n_samples - n_test, rng)
        test = draw_by_class(self.y, self.test, n_test, rng)
        kept = np.sort(np.concatenate([train, test]))
        return replace(
            self,
            data=_safe_indexing(self.data, kept),
            y=self.y[kept],
            train=np.searchsorted(kept, train),
            test=np.searchsorted(kept, test),
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of features and labels; the names of the columns do not matter, their order does.

        Numbers count by their value, all else by its text.
        """
        text = [dict(self.text)] if self.text else []
        digest = sha256(canonical([self.data.shape, self.classes, *text]).encode())
        for part in self._parts():
            digest.update(part)
        return digest.hexdigest()

    def _parts(self) -> Iterator[bytes]:
        pd = require("pandas", extra="data")
        yield self.y.astype("<i4").tobytes()
        if issparse(self.data):
            rows = csr_array(self.data, copy=True)
            rows.sum_duplicates()
            rows.eliminate_zeros()
            for numbers, kind in ((rows.data, "<f8"), (rows.indices, "<i8"), (rows.indptr, "<i8")):
                yield numbers.astype(kind).tobytes()
            return
        is_number = [
            pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
            for kind in self.data.dtypes
        ]
        values = self.data.loc[:, is_number].to_numpy(float, na_value=np.nan) + 0.0  # no -0.0
        values = np.where(np.isnan(values), np.nan, values).astype("<f8")
        numbers = iter(values.T)
        for place, as_number in enumerate(is_number):
            if as_number:
                yield b"number"
                yield next(numbers).tobytes()
            else:
                codes, texts = pd.factorize(self.data.iloc[:, place].astype("string"), sort=True)
                yield b"nominal" + canonical([str(text) for text in texts]).encode()
                yield codes.astype("<i4").tobytes()


def draw_by_class(y: Indices, rows: Indices, n: int, rng: np.random.Generator) -> Indices:
    """Return n of the rows, sorted; the j-th drawn of a class of m has place j / m in the queue.

    With the same seed, those of a smaller n are among those of a larger one.
    """
    shuffled = rng.permutation(rows)
    grouped = shuffled[np.argsort(y[shuffled], kind="stable")]
    counts = np.bincount(y[grouped])
    counts = counts[counts > 0]
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    place = (np.arange(len(grouped)) - starts) / np.repeat(counts, counts)
    return np.sort(grouped[np.argsort(place, kind="stable")[:n]])
