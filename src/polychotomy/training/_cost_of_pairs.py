"""The cost of one-vs-one with many classes, estimated from one problem."""

import pickle
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from polychotomy.arrays import Indices
from polychotomy.codes import Code


def refuse_pairs(code: Code, estimator: Any, X: Any, y: Indices | None) -> None:
    """Raise ValueError for one-vs-one with many classes, with an estimate of its cost.

    Parameters
    ----------
    code : Code
        One-vs-one, asked for by its name alone.
    estimator : classifier
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or None
        Class indices; None where training goes on in batches.
    """
    k = code.n_classes
    raise ValueError(
        f"One-vs-one of {k} classes is {code.n_problems} binary problems"
        f"{_measured(code, estimator, X, y)}. Take code='one_vs_rest' ({k} problems), "
        f"'dense_random' ({int(np.ceil(10 * np.log2(k)))}) or a TreeClassifier ({k - 1}). "
        f"To train all pairs nevertheless, give code=make_code('one_vs_one', {k})."
    )


def _measured(code: Code, estimator: Any, X: Any, y: Indices | None) -> str:
    """Return time and memory of all pairs in words, by one pair of classes of usual size."""
    if y is None:
        return ""
    sizes = np.bincount(y, minlength=code.n_classes)
    usual = np.argsort(sizes, kind="stable")[len(sizes) // 2 :][:2]
    samples = np.flatnonzero(np.isin(y, usual))
    part, sides = _safe_indexing(X, samples), (y[samples] == usual[0]).astype(int)
    try:
        clone(estimator).fit(part, sides)  # the first training may compile something
        start = perf_counter()
        trained = clone(estimator).fit(part, sides)
        hours = (perf_counter() - start) * code.n_problems / 3600
        size = len(pickle.dumps(trained)) * code.n_problems / 2**30
    except Exception:  # whatever the learner raises on this pair, the number of problems is known
        return ""
    return f": by one of them, about {hours:.1g} hours on one core and models of {size:.1g} GiB"
