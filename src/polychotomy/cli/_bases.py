"""The binary classifiers that the commands know by name."""

from collections.abc import Callable
from typing import Any

from polychotomy.errors import unknown_name


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _svm() -> Any:
    from polychotomy.kernel import SharedKernelSVC

    return SharedKernelSVC()


def _ridge() -> Any:
    from sklearn.linear_model import RidgeClassifier

    return RidgeClassifier()


def _lda() -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis()


def _adaboost() -> Any:
    from sklearn.ensemble import AdaBoostClassifier

    return AdaBoostClassifier()


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier()


_BASES: dict[str, Callable[[], Any]] = {
    "logistic": _logistic,
    "svm": _svm,
    "ridge": _ridge,
    "lda": _lda,
    "adaboost": _adaboost,
    "tree": _tree,
}
_TUNABLE = ("logistic", "svm")


def available_bases(*, tunable: bool = False) -> tuple[str, ...]:
    """Return the names, or those of the classifiers that the greedy search can tune."""
    return _TUNABLE if tunable else tuple(_BASES)


def make_base(name: str) -> Any:
    """Return the untrained binary classifier of this name."""
    if name not in _BASES:
        raise unknown_name("base", name, _BASES)
    return _BASES[name]()
