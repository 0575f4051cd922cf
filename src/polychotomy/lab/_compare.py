"""Cross-validated comparison of reductions on one data set."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from polychotomy.classifiers import CodeClassifier
from polychotomy.codes import Code, available_codes, make_code
from polychotomy.codes._registry import code_options
from polychotomy.errors import CodeError, unknown_name


@dataclass(frozen=True)
class Comparison:
    """How one reduction did.

    Attributes
    ----------
    name : str
        The code.
    skipped : str
        Why it could not be run; empty if it was. The other attributes are then meaningless.
    n_problems : int
        Problems of the code; repeated ones are trained once.
    decoder : str
        The rule that decoded the outputs.
    errors : tuple of float
        Test error of each fold.
    fit_seconds, predict_seconds : float
        Mean wall-clock time of a fold's training and of its predictions.
    """

    name: str
    skipped: str = ""
    n_problems: int = 0
    decoder: str = ""
    errors: tuple[float, ...] = ()
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0

    @property
    def error(self) -> float:
        """Mean test error over the folds."""
        return float(np.mean(self.errors))


def compare(
    X: Any,
    y: Any,
    estimator: Any = None,
    *,
    codes: Sequence[str] | None = None,
    n_folds: int = 3,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Iterator[Comparison]:
    """Cross-validate a :class:`~polychotomy.CodeClassifier` with each code, one after the other.

    All reductions see the same stratified folds. Codes are made, and the workers started by an
    untimed fit, before the clock starts.

    Parameters
    ----------
    X, y : array-like
        The data.
    estimator : classifier, optional
        The binary classifier; by default a logistic regression.
    codes : sequence of str, optional
        Names of codes; by default all.
    n_folds : int, default=3
        Number of folds.
    n_jobs : int, optional
        Number of joblib workers for the problems of a reduction.
    random_state : int, default=0
        Draws the folds and the random codes.

    Yields
    ------
    Comparison
        As soon as it is known; a code that does not exist for this number of classes is skipped
        with the reason.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy.lab import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> [result.name for result in compare(X, y, codes=["one_vs_rest", "orthogonal"])]
    ['one_vs_rest', 'orthogonal']
    """
    names = available_codes() if codes is None else codes
    for name in names:
        if name not in available_codes():
            raise unknown_name("codes", name, available_codes())
    warm = False
    for name in names:
        options = {"random_state": random_state} if "random_state" in code_options(name) else {}
        try:
            code = make_code(name, len(np.unique(y)), **options)
        except CodeError as error:
            yield Comparison(name, skipped=str(error))
            continue
        if not warm:
            CodeClassifier(estimator, code, n_jobs=n_jobs).fit(X, y)
            warm = True
        yield _cross_validate(X, y, estimator, code, n_folds, n_jobs, random_state)


def _cross_validate(
    X: Any,
    y: Any,
    estimator: Any,
    code: Code,
    n_folds: int,
    n_jobs: int | None,
    random_state: int,
) -> Comparison:
    errors, fit_seconds, predict_seconds, decoder = [], [], [], ""
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    for train, test in folds.split(X, y):
        classifier = CodeClassifier(estimator, code, n_jobs=n_jobs, random_state=random_state)
        start = perf_counter()
        classifier.fit(X[train], y[train])
        fitted = perf_counter()
        predicted = classifier.predict(X[test])
        predict_seconds.append(perf_counter() - fitted)
        fit_seconds.append(fitted - start)
        errors.append(float(np.mean(predicted != y[test])))
        decoder = classifier.decoder_
    return Comparison(
        code.name,
        n_problems=code.n_problems,
        decoder=decoder,
        errors=tuple(errors),
        fit_seconds=float(np.mean(fit_seconds)),
        predict_seconds=float(np.mean(predict_seconds)),
    )
