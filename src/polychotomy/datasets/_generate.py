"""Synthetic data sets of the papers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Array


def make_waveform(n_train: int = 300, n_test: int = 500, *, random_state: int | None = None) -> Any:
    """Return Breiman's waveform data: three classes, random mixtures of two waves with noise.

    With triangular waves h_c(i) = max(6 − |i − c|, 0) of centres c = 7, 11 and 15, positions
    i = 1..21, u uniform on [0, 1] and e standard normal, a sample of the class with waves a and b
    is x_i = u h_a(i) + (1 − u) h_b(i) + e_i. The classes are equally likely. The best possible
    error is about 14 %.

    Parameters
    ----------
    n_train, n_test : int
        Number of training and test samples; by default those of Tax and Duin's Table 1.
    random_state : int or None
        Seed of the samples.

    Returns
    -------
    Bunch
        As from :func:`load`; the classes are 0 (centres 7 and 15), 1 (7 and 11), 2 (11 and 15).

    References
    ----------
    Breiman, Friedman, Olshen and Stone, *Classification and regression trees* (1984),
    section 2.6.1.

    Examples
    --------
    >>> from polychotomy.datasets import make_waveform
    >>> data = make_waveform(random_state=0)
    >>> data.data.shape, len(data.train), len(data.test)
    ((800, 21), 300, 500)
    """
    rng = np.random.default_rng(random_state)
    n = n_train + n_test
    waves = np.maximum(6 - np.abs(np.arange(1, 22) - np.array([[7], [15], [11]])), 0)
    y = rng.integers(3, size=n)
    first = waves[np.array([0, 0, 1])[y]]
    second = waves[np.array([1, 2, 2])[y]]
    u = rng.random((n, 1))
    X = u * first + (1 - u) * second + rng.standard_normal((n, 21))
    return _bunch("waveform", X, y, n_train)


def make_bands(n_classes: int, n_per_class: int = 100, *, random_state: int | None = None) -> Any:
    """Return Allwein's synthetic data: normal numbers, classified by their absolute value.

    x is standard normal and belongs to class j if t_j ≤ |x| < t_{j+1}. The thresholds give the
    training part exactly `n_per_class` samples of each class. The test part has the same size and
    the same thresholds.

    Parameters
    ----------
    n_classes : int
        k, at least 2; the paper uses 3 to 8.
    n_per_class : int
        Training samples of each class.
    random_state : int or None
        Seed of the samples.

    Returns
    -------
    Bunch
        As from :func:`load`, with one feature; classes 0 (the smallest |x|) to k − 1.

    References
    ----------
    Allwein, Schapire and Singer, *Reducing multiclass to binary*, JMLR 1 (2000), the experiment on
    synthetic data.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.datasets import make_bands
    >>> data = make_bands(3, random_state=0)
    >>> np.bincount(data.target[data.train])
    array([100, 100, 100])
    """
    if n_classes < 2 or n_per_class < 1:
        raise ValueError(
            "make_bands needs 'n_classes' of at least 2 and 'n_per_class' of at least 1. "
            f"Got {n_classes} and {n_per_class} instead."
        )
    rng = np.random.default_rng(random_state)
    n_train = n_classes * n_per_class
    x = rng.standard_normal(2 * n_train)
    sizes = np.sort(np.abs(x[:n_train]))
    thresholds = sizes[n_per_class::n_per_class]  # the smallest |x| of each further class
    y = np.searchsorted(thresholds, np.abs(x), side="right")
    return _bunch("bands", x[:, None], y, n_train)


def _bunch(name: str, X: Array, y: NDArray[np.int64], n_train: int) -> Any:
    from sklearn.utils import Bunch

    from polychotomy.errors import require

    columns = [f"x{i}" for i in range(1, X.shape[1] + 1)]
    return Bunch(
        data=require("pandas", extra="data").DataFrame(X, columns=columns),
        target=y,
        train=np.arange(n_train),
        test=np.arange(n_train, len(y)),
        nominal=[],
        name=name,
        DESCR="",
        source="formula",
    )
