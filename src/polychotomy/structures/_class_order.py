"""The order of the classes: given, of an ordered categorical, or found in the data."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Indices
from polychotomy.structures._build import order_classes


def ordered_categories(y: Any) -> list[Any] | None:
    """Return the categories of ordered labels (pandas' ordered categorical, polars' Enum) in order.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The labels; those of other kinds have no order, and None is returned.

    Examples
    --------
    >>> import pandas as pd
    >>> from polychotomy.structures import ordered_categories
    >>> ordered_categories(pd.Categorical(["low", "high"], ["low", "mid", "high"], ordered=True))
    ['low', 'mid', 'high']
    """
    dtype = getattr(y, "dtype", None)
    if getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum":
        return list(dtype.categories)  # type: ignore[union-attr]
    return None


def resolve_class_order(
    given: Any,
    classes: NDArray[Any],
    X: Any,
    y: Indices | None,
    *,
    distance: Any = "auto",
    sample_weight: Any = None,
    pairwise: bool = False,
) -> Indices:
    """Return the class indices from first to last.

    Parameters
    ----------
    given : list of labels or "data"
        Labels that y does not have are left out; ``"data"`` is the order of
        :func:`~polychotomy.structures.order_classes`.
    classes : ndarray of shape (n_classes,)
        The sorted labels.
    X, y, distance, sample_weight, pairwise
        What :func:`~polychotomy.structures.resolve_structure` takes.
    """
    if isinstance(given, str) and given == "data":
        if pairwise:
            raise ValueError(
                "class_order='data' measures distances between samples, for which a precomputed "
                "kernel is not enough. Give the classes in their order."
            )
        return order_classes(X, np.asarray(y), distance=distance, sample_weight=sample_weight)
    if isinstance(given, str) or not np.iterable(given):
        raise ValueError(
            "The 'class_order' parameter must be a list of the classes in their order, 'data' or "
            f"None. Got {given!r}."
        )
    labels = list(given)
    if not all(isinstance(label, Hashable) for label in labels):
        raise ValueError(
            "The 'class_order' parameter must be a list of the classes in their order, one label "
            f"after the other. Got {given!r}."
        )
    place = {label: r for r, label in enumerate(labels)}
    missing = [label for label in classes.tolist() if label not in place]
    if missing or len(place) < len(labels):
        wrong = f"{missing[0]!r} is missing" if missing else "one is there twice"
        raise ValueError(f"The 'class_order' parameter must have each class of y once: {wrong}.")
    return np.argsort([place[label] for label in classes.tolist()])
