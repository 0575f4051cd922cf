"""The program that trains the chosen method, and settings in words."""

import re
from typing import Any

from polychotomy import datasets
from polychotomy.evaluate import DEFAULT_FOLDS
from polychotomy.reductions import Reduction, make_base
from polychotomy.report._gathered import Gathered
from polychotomy.report._source import Source

_SETTINGS = {
    r"cv(\d+)": r"\1-fold cross-validation",
    r"split": "one part for training, one for testing",
    r"split_cv(\d+)": r"the data set’s own test part, or else \1-fold cross-validation",
    r"repeat(\d+).*": r"\1 random divisions",
    r"none": "nothing",
    r"greedy\d*": "by a search in every fold",
}


def setting_words(setting: str) -> str:
    """Return a protocol or a tuning in words.

    Examples
    --------
    >>> from polychotomy.report._recipe import setting_words
    >>> setting_words("cv5"), setting_words("none")
    ('5-fold cross-validation', 'nothing')
    """
    for pattern, words in _SETTINGS.items():
        if match := re.fullmatch(pattern, setting):
            return match.expand(words)
    return setting


def recipe(results: Gathered, method: str, source: Source | None) -> str | None:
    """Return a program that trains a method as it was compared, on all samples.

    Without a source, and for a data set that is not known by name, the reader has to provide X and
    y. None if the method cannot be made by its name, or if a trained model was evaluated.
    """
    data_set, cell = next((d, cells[0]) for (d, m), cells in results.cells.items() if m == method)
    try:
        Reduction.of(cell.reduction)
        make_base(cell.base)
    except (ValueError, TypeError, ImportError):
        return None
    if "protocol" not in cell.settings:
        return None
    by_data = source is not None and source.class_order == "data"
    usual: dict[str, Any] = {
        "protocol": f"cv{DEFAULT_FOLDS}",
        "tuning": "none",
        "preparation": "standard",
    }
    settings = {name: cell.settings.get(name, value) for name, value in usual.items()}
    settings |= {"seed": cell.seed, "class_order": "data" if by_data else None}
    usual |= {"seed": 0, "class_order": None}
    options = {name: value for name, value in settings.items() if value != usual[name]}
    return "\n".join(
        [
            "from polychotomy import datasets",
            "from polychotomy.evaluate import Samples, Schedule, train_task",
            "",
            *_reading(data_set, source, cell.seed),
            f"schedule = Schedule({_call('samples', [cell.reduction], [cell.base], **options)})",
            "X, y = samples.data, samples.targets",
            "model = train_task(schedule.tasks[0], X, y).estimator",
        ]
    )


def _reading(data_set: str, source: Source | None, seed: int) -> list[str]:
    known = {each.name for each in datasets.available()}
    if source is None and data_set not in known:
        return [
            "# X: your samples, a data frame or an array. y: their labels.",
            f"samples = Samples.make({data_set!r}, X, y)",
        ]
    source = source or Source(data_set)
    if source.path in known:
        read = f"datasets.load({source.path!r})"
    else:
        read = f"datasets.read({_call(repr(source.path), **source.options)})"
    lines = [f"samples = Samples.of({read})"]
    if source.n_samples is not None:
        lines += [f"samples = samples.limited({source.n_samples}, {seed})"]
    if source.class_order not in (None, "data"):
        lines += [f"samples = samples.in_order({list(source.class_order or ())})"]
    return lines


def _call(first: str, *others: object, **named: object) -> str:
    """Return the arguments of a call as they are written."""
    written = [first, *map(repr, others), *(f"{name}={value!r}" for name, value in named.items())]
    return ", ".join(written)
