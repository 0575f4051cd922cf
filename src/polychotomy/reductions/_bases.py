"""Binary learners by name, and the parameters of each that are tuned."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from polychotomy.errors import unknown_name
from polychotomy.reductions._scale import Scale


@dataclass(frozen=True)
class _Base:
    """How a learner is made, and its parameters that :class:`~polychotomy.GreedySearchCV` tunes.

    `scales` are by name; None leaves them to the search, which finds gamma and C by itself.
    """

    make: Callable[[], Any]
    scales: Mapping[str, Scale] | None = None


_NOTHING_TO_TUNE: Mapping[str, Scale] = {}
_ALPHA: Mapping[str, Scale] = {"estimator__alpha": Scale(simpler="larger")}


def _svm() -> Any:
    from polychotomy.kernel import SharedKernelSVC

    return SharedKernelSVC()


def _poly_svm() -> Any:
    from polychotomy.kernel import SharedKernelSVC

    return SharedKernelSVC(kernel="poly", degree=4, coef0=1.0)  # as Allwein, Schapire and Singer


def _linear_svm() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC()


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _ridge() -> Any:
    from sklearn.linear_model import RidgeClassifier

    return RidgeClassifier()


def _lda() -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis()


def _adaboost() -> Any:
    from polychotomy.learners import StumpBoosting

    return StumpBoosting()


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier()


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier()


_BASES: dict[str, _Base] = {
    "logistic": _Base(_logistic),
    "svm": _Base(_svm),
    "poly_svm": _Base(_poly_svm),
    "linear_svm": _Base(_linear_svm),
    "ridge": _Base(_ridge, _ALPHA),
    "lda": _Base(_lda, _NOTHING_TO_TUNE),
    "adaboost": _Base(_adaboost, _NOTHING_TO_TUNE),
    "tree": _Base(_tree, _NOTHING_TO_TUNE),
    "boosting": _Base(_boosting, _NOTHING_TO_TUNE),
}


def available_bases(*, tunable: bool = False) -> tuple[str, ...]:
    """Return the names of the binary learners, or of those that the greedy search can tune.

    Examples
    --------
    >>> from polychotomy.reductions import available_bases
    >>> available_bases(tunable=True)
    ('logistic', 'svm', 'poly_svm', 'linear_svm', 'ridge')
    """
    return tuple(
        name for name, base in _BASES.items() if not tunable or base.scales is not _NOTHING_TO_TUNE
    )


def make_base(name: str) -> Any:
    """Return the untrained binary learner of this name.

    Examples
    --------
    >>> from polychotomy.reductions import make_base
    >>> make_base("ridge")
    RidgeClassifier()
    """
    return _find(name).make()


def base_scales(name: str) -> Mapping[str, Scale] | None:
    """Return what the greedy search tunes of a reduction with this learner; None: gamma and C."""
    scales = _find(name).scales
    if scales is _NOTHING_TO_TUNE:
        raise ValueError(
            f"The base {name!r} has nothing for the greedy search to tune. Take one of "
            f"{', '.join(available_bases(tunable=True))}, or no tuning."
        )
    return scales


def scales_of(estimator: Any) -> Mapping[str, Scale] | None:
    """Return what the greedy search tunes of a reduction with this learner; None: gamma and C.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from polychotomy.reductions import scales_of
    >>> list(scales_of(RidgeClassifier()))
    ['estimator__alpha']
    """
    return _ALPHA if type(estimator).__name__ == "RidgeClassifier" else None


def _find(name: str) -> _Base:
    if name not in _BASES:
        raise unknown_name("base", name, _BASES)
    return _BASES[name]
