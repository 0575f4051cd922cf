"""Cross-validated comparison of reductions on one data set."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_validate

from polychotomy.classifiers import CodeClassifier
from polychotomy.codes import Code, available_codes, make_code
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
        Mean wall-clock time of a fold's training, and of predicting its test part.
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
        """Mean test error over the folds, NaN if it was skipped."""
        return float(np.mean(self.errors)) if self.errors else nan

    @property
    def standard_error(self) -> float:
        """Standard error of that mean, NaN if it was skipped."""
        return float(np.std(self.errors, ddof=1) / sqrt(len(self.errors))) if self.errors else nan


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
        try:
            code = make_code(name, len(np.unique(y)), random_state=random_state)
        except CodeError as error:
            yield Comparison(name, skipped=str(error))
            continue
        if not warm:
            CodeClassifier(estimator, code, probability=None, n_jobs=n_jobs).fit(X, y)
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
    classifier = CodeClassifier(
        estimator, code, probability=None, n_jobs=n_jobs, random_state=random_state
    )
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    result = cross_validate(classifier, X, y, cv=folds, return_estimator=True)
    return Comparison(
        code.name,
        n_problems=code.n_problems,
        decoder=result["estimator"][0].decoder_,
        errors=tuple((1 - result["test_score"]).tolist()),
        fit_seconds=float(np.mean(result["fit_time"])),
        predict_seconds=float(np.mean(result["score_time"])),
    )
