"""Binary learners by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from polychotomy.errors import require, unknown_name


@dataclass(frozen=True)
class _Base:
    """Where a learner is found, its parameters, and whether the greedy search can tune it.

    `extra` is the extra that installs its package, where that is optional.
    """

    module: str
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tunable: bool = True
    extra: str | None = None


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
    "random_forest": _Base("sklearn.ensemble", "RandomForestClassifier", tunable=False),
    "knn": _Base("sklearn.neighbors", "KNeighborsClassifier", tunable=False),
    # One thread each: problems run in parallel, and results do not depend on the machine.
    "lightgbm": _Base(
        "lightgbm", "LGBMClassifier", {"verbose": -1, "n_jobs": 1}, False, "boosting"
    ),
    "xgboost": _Base("xgboost", "XGBClassifier", {"n_jobs": 1}, False, "boosting"),
}


def available_bases(*, tunable: bool = False) -> tuple[str, ...]:
    """Return the names of the binary learners, or of those that the greedy search can tune.

    Those of packages that are not installed are left out.

    Parameters
    ----------
    tunable : bool, default=False
        Whether to name only those that the greedy search can tune.

    Examples
    --------
    >>> from polychotomy.reductions import available_bases
    >>> available_bases(tunable=True)
    ('logistic', 'svm', 'poly_svm', 'linear_svm', 'ridge')
    """
    return tuple(
        name
        for name, base in _BASES.items()
        if (base.tunable or not tunable) and (base.extra is None or find_spec(base.module))
    )


def make_base(name: str) -> Any:
    """Return the untrained binary learner of this name.

    Parameters
    ----------
    name : str
        One of :func:`available_bases`, or a class given as ``"package.Class"``.

    Raises
    ------
    ValueError
        If there is no such name, or no such classifier.
    MissingExtraError
        If its package is not installed.

    Examples
    --------
    >>> from polychotomy.reductions import make_base
    >>> make_base("ridge"), make_base("sklearn.naive_bayes.GaussianNB")
    (RidgeClassifier(), GaussianNB())
    """
    if "." in name:
        return _of_class(name)
    if name not in _BASES:
        raise unknown_name("base", name, _BASES)
    base = _BASES[name]
    module = require(base.module, extra=base.extra) if base.extra else import_module(base.module)
    return getattr(module, base.name)(**base.parameters)


def _of_class(path: str) -> Any:
    """Return an untrained classifier with its default parameters."""
    from sklearn.base import is_classifier

    module, _, name = path.rpartition(".")
    wanted = "The 'base' parameter must be a name or the path of a classifier, 'package.Class'. "
    try:
        found = getattr(import_module(module), name)
        # Nothing else is called: a function might do anything.
        is_learner = isinstance(found, type) and hasattr(found, "fit") and hasattr(found, "predict")
        made = found() if is_learner else None
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{wanted}{path!r} cannot be made: {reason}") from error
    if not is_learner or not is_classifier(made):
        raise ValueError(f"{wanted}Got {path!r}, which is no classifier.")
    return made
