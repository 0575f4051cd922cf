"""The program that trains the chosen method, and settings in words."""

import re

from polychotomy import datasets
from polychotomy.reductions import Reduction, make_base
from polychotomy.report._gathered import Gathered

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


def recipe(results: Gathered, method: str, source: tuple[str, str | None] | None) -> str | None:
    """Return a program that trains a method as it was compared, with default parameters.

    `source` is the file of the samples and its target. Without one, and for a data set that is
    not known by name, the reader has to provide X and y. None if the method cannot be made by its
    name.
    """
    data_set, cell = next((d, cells[0]) for (d, m), cells in results.cells.items() if m == method)
    try:
        Reduction.of(cell.reduction)
        make_base(cell.base)
    except (ValueError, TypeError, ImportError):
        return None
    lines = [
        "from sklearn.pipeline import make_pipeline",
        "from polychotomy import datasets",
        "from polychotomy.evaluate import Preparation",
        "from polychotomy.reductions import Reduction, make_base",
        "",
        *_reading(data_set, source),
        f"reduction = Reduction.of({cell.reduction!r})",
        f"classifier = reduction.make(make_base({cell.base!r}), random_state={cell.seed})",
        "model = make_pipeline(Preparation(), classifier).fit(X, y)",
    ]
    how = cell.settings.get("preparation", "standard")
    if how == "none":
        lines[-1] = "model = classifier.fit(X, y)"
    elif how == "all_standard":
        lines[-1] = lines[-1].replace("()", "(standardise_indicators=True)", 1)
    return "\n".join(lines)


def _reading(data_set: str, source: tuple[str, str | None] | None) -> list[str]:
    if data_set in {each.name for each in datasets.available()}:
        read = f"samples = datasets.load({data_set!r})"
    elif source is not None:
        file, target = source
        read = f"samples = datasets.read({file!r}{f', {target!r}' if target else ''})"
    else:
        return ["# X: your samples, a data frame or an array. y: their labels."]
    return [read, "X, y = samples.data, samples.target"]
