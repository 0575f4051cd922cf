"""Labels as they are read from files: one rule for all formats."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_EXACT = 2.0**53  # beyond it, a float may stand for several integers


def as_labels(values: Any) -> NDArray[Any]:
    """Return labels as integers if their texts are plain integers, else as texts.

    A text is a plain integer if it survives the round trip, ``str(int(text)) == text``: "1" and
    "20", but not "01", "1.0" or "1e3". Formats with types may have whole numbers as floats, which
    count as integers, and truth values, which stay as they are. In all other cases the text of a
    label is its name, so that labels that are written differently stay different classes.

    Parameters
    ----------
    values : Series
        Labels, none of them missing.

    Raises
    ------
    ValueError
        If all labels are numbers, and some are fractions.
    """
    labels: NDArray[Any] = values.astype(object).to_numpy()
    numbers = _floats(labels)
    if numbers is not None:
        if (np.isfinite(numbers) & (numbers != np.round(numbers))).any():
            raise ValueError("some are fractions")
        if values.dtype.kind == "f" and (np.abs(numbers) <= _EXACT).all():
            return numbers.astype(np.int64)
    if all(isinstance(label, bool | np.bool_) for label in labels):
        return labels.astype(bool)
    texts = np.array([str(label) for label in labels], dtype=object)
    distinct = {text: _integer(text) for text in set(texts)}
    if None in distinct.values():
        return texts
    return np.array([distinct[text] for text in texts], dtype=np.int64)


def match_labels(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels as a model's classes have them, for example 1 as "1" if those are texts.

    The text of a label is its name. Labels that are no class of the model stay as they are.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Labels of a file, as :func:`read` returns them.
    classes : ndarray of shape (n_classes,)
        ``classes_`` of a trained classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.datasets import match_labels
    >>> match_labels(np.array([1, 2, 1]), np.array(["1", "2", "3a"])).tolist()
    ['1', '2', '1']
    """
    known = {str(label): label for label in classes.tolist()}
    names = [str(label) for label in labels.tolist()]
    matched = [known.get(name, label) for name, label in zip(names, labels.tolist(), strict=True)]
    return np.array(matched, dtype=classes.dtype if known.keys() >= set(names) else object)


def _floats(labels: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return the numbers that the labels are, None if one of them is not a number."""
    try:
        plain = {label: float(str(label).replace(",", ".")) for label in set(labels.tolist())}
    except ValueError:
        return None
    numbers = np.array([plain[label] for label in labels.tolist()])
    return None if np.isnan(numbers).any() else numbers


def _integer(text: str) -> int | None:
    """Return the integer that is written like this, None if there is none of 64 bits."""
    try:
        number = int(text)
    except ValueError:
        return None
    return number if str(number) == text and -(2**63) <= number < 2**63 else None
