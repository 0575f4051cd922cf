"""Binary learners by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from polychotomy.errors import unknown_name


@dataclass(frozen=True)
class _Base:
    """Where a learner is found, its parameters, and whether the greedy search can tune it."""

    module: str
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tunable: bool = True


_ALLWEIN = {"kernel": "poly", "degree": 4, "coef0": 1.0}  # as Allwein, Schapire and Singer
_BASES = {
    "logistic": _Base("sklearn.linear_model", "LogisticRegression", {"max_iter": 1000}),
    "svm": _Base("polychotomy.kernel", "SharedKernelSVC"),
    "poly_svm": _Base("polychotomy.kernel", "SharedKernelSVC", _ALLWEIN),
    "linear_svm": _Base("sklearn.svm", "LinearSVC"),
    "ridge": _Base("sklearn.linear_model", "RidgeClassifier"),
    "lda": _Base("sklearn.discriminant_analysis", "LinearDiscriminantAnalysis", tunable=False),
    "adaboost": _Base("polychotomy.learners", "StumpBoosting", tunable=False),
    "tree": _Base("sklearn.tree", "DecisionTreeClassifier", tunable=False),
    "boosting": _Base("sklearn.ensemble", "HistGradientBoostingClassifier", tunable=False),
}


def available_bases(*, tunable: bool = False) -> tuple[str, ...]:
    """Return the names of the binary learners, or of those that the greedy search can tune.

    Examples
    --------
    >>> from polychotomy.reductions import available_bases
    >>> available_bases(tunable=True)
    ('logistic', 'svm', 'poly_svm', 'linear_svm', 'ridge')
    """
    return tuple(name for name, base in _BASES.items() if base.tunable or not tunable)


def make_base(name: str) -> Any:
    """Return the untrained binary learner of this name.

    Examples
    --------
    >>> from polychotomy.reductions import make_base
    >>> make_base("ridge")
    RidgeClassifier()
    """
    if name not in _BASES:
        raise unknown_name("base", name, _BASES)
    base = _BASES[name]
    return getattr(import_module(base.module), base.name)(**base.parameters)
