"""From labels to class indices, the rows of a code."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.arrays import Indices
from polychotomy.errors import shown


def class_indices(y: ArrayLike, n_classes: int, classes: Any = None) -> Indices:
    """Return the class index of each label.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    n_classes : int
        Number of classes, the rows of the code.
    classes : array-like of shape (n_classes,), optional
        The sorted labels, as in ``classes_``. If None, `y` must hold every class, or be class
        indices from 0 to n_classes − 1 already.
    """
    labels = np.asarray(y)
    if labels.ndim != 1 or not labels.size:
        raise ValueError(
            f"y must be one-dimensional with at least one label. Got shape {labels.shape}."
        )
    found = np.unique(labels)
    if classes is None:
        are_indices = found.dtype.kind in "iu" and found[0] >= 0 and found[-1] < n_classes
        if not are_indices and len(found) != n_classes:
            raise ValueError(
                f"y must hold all {n_classes} classes of the code, or be indices from 0 to "
                f"{n_classes - 1}. Got {len(found)} different labels; give the 'classes' of the "
                "classifier (its classes_) as well."
            )
        known = np.arange(n_classes) if are_indices else found
    else:
        known = np.asarray(classes)
    if len(np.unique(known)) != n_classes or len(known) != n_classes:
        raise ValueError(f"classes must hold {n_classes} different labels. Got {len(known)}.")
    strange = np.setdiff1d(found, known)
    if strange.size:
        raise ValueError(f"Every label of y must be among the classes. Got {shown(strange[0])}.")
    order = np.argsort(known)
    return order[np.searchsorted(known, labels, sorter=order)]
