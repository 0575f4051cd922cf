"""``GreedySearchCV``: one scale parameter after the other, by doubling and halving."""

from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.model_selection._search import BaseSearchCV

from polychotomy.evaluate._shared_training import kernels_shared
from polychotomy.reductions import Scale


def width_to_gamma(sigma: float) -> float:
    """Return γ = 1 / (2 σ²) of a Gaussian kernel of width σ."""
    return 1 / (2 * sigma**2)


class GreedySearchCV(BaseSearchCV):
    """Cross-validated search of scale parameters, one after the other (Rifkin and Klautau).

    From its start, the first parameter is multiplied by `factor` again and again until `patience`
    attempts in a row do not improve the score, then divided likewise; the best value is kept, and
    the next parameter follows. By default these are the width σ of a Gaussian kernel,
    γ = 1/(2σ²), and then C, both from 1 on. The papers stop after one round; further ones continue
    from the best values.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn estimator with the parameters.
    parameters : dict of str to Scale or float, optional
        The parameters in the order of the search, each a :class:`~polychotomy.reductions.Scale`; a
        number is one that starts there.
        By default the parameters of `estimator` that are called ``gamma`` and ``C``, those of the
        outermost part that has them.
    factor : float, default=2.0
        The step.
    patience : int, default=3
        How many attempts in a row may fail to improve the score.
    rounds : int, default=1
        How often all parameters are gone through, fewer times if a round changes none. The best
        width with C = 1 need not be the best one with the C that is found for it.
    cv : int, cross-validation generator or iterable, default=10
        The folds, the same for all attempts.
    scoring, n_jobs, refit, verbose, error_score, return_train_score
        As in scikit-learn's searches.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, classes_, n_splits_, \
scorer_, refit_time_, n_features_in_, feature_names_in_
        As in scikit-learn's searches. The rows of ``cv_results_`` are the attempts in their order.
    scales_ : dict of str to Scale
        The parameters that were searched.
    path_ : list of tuple
        (parameter, position on its scale, index in ``cv_results_``) of every attempt. A position
        that was tried before is not tried again and points to the earlier attempt.

    References
    ----------
    Rifkin and Klautau (2004), "In defense of one-vs-all classification", JMLR 5.

    Notes
    -----
    With a :class:`~polychotomy.SharedKernelSVC` on an array of numbers, and without worker
    processes, all folds and all values of C share the kernel rows of one γ, and each C begins with
    the solution of the last. Put a scaler outside of the search for that.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import GreedySearchCV, SharedKernelSVC, CodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GreedySearchCV(CodeClassifier(SharedKernelSVC(), probability=None), cv=3).fit(X, y)
    >>> sorted(search.best_params_)
    ['estimator__C', 'estimator__gamma']
    """

    def __init__(
        self,
        estimator: Any,
        parameters: Mapping[str, Any] | None = None,
        *,
        factor: float = 2.0,
        patience: int = 3,
        rounds: int = 1,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool = True,
        cv: Any = 10,
        verbose: int = 0,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.parameters = parameters
        self.factor = factor
        self.patience = patience
        self.rounds = rounds

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search, and train the best estimator on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        **params
            Further arguments, as in scikit-learn's searches.

        Returns
        -------
        self
        """
        with kernels_shared(X, y):
            super().fit(X, y, **params)
        return self

    def _run_search(self, evaluate_candidates: Callable[[list[dict[str, Any]]], Any]) -> None:
        self._check_steps()
        scales = self._resolve_parameters()
        chosen = {name: scale.start for name, scale in scales.items()}
        seen: dict[tuple[float, ...], int] = {}
        self.path_: list[tuple[str, float, int]] = []

        def score(name: str, position: float) -> tuple[float, float]:
            positions = {**chosen, name: position}
            key = tuple(positions.values())
            if key not in seen:
                seen[key] = len(seen)
                given = {n: scales[n].given(p) for n, p in positions.items()}
                self._results = evaluate_candidates([given])
            self.path_.append((name, position, seen[key]))
            mean = float(self._results["mean_test_score"][seen[key]])
            mean = -np.inf if np.isnan(mean) else mean
            return mean, scales[name].simplicity(position)

        for _ in range(self.rounds):
            before = dict(chosen)
            for name in scales:
                chosen[name] = self._climb(partial(score, name), chosen[name])
            if chosen == before:
                break
        self.scales_ = scales
        self._winner = seen[tuple(chosen.values())]

    def _climb(self, score: Callable[[float], tuple[float, float]], start: float) -> float:
        """Return the position with the best score, up from the start and then down."""
        best, chosen = score(start), start
        for step in (self.factor, 1 / self.factor):
            position, failures = start, 0
            while failures < self.patience:
                position *= step
                found = score(position)
                failures = 0 if found[0] > best[0] else failures + 1
                if found > best:
                    best, chosen = found, position
        return chosen

    def _select_best_index(self, refit: Any, refit_metric: str, results: Any) -> int:
        return self._winner

    def _check_steps(self) -> None:
        factor: Any = self.factor
        if not isinstance(factor, Real) or not 1 < float(factor) < np.inf:
            raise ValueError(f"The 'factor' parameter must be above 1. Got {self.factor!r}.")
        for name in ("patience", "rounds"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, Integral) or number < 1:
                raise ValueError(
                    f"The '{name}' parameter must be an int of at least 1. Got {number!r}."
                )

    def _resolve_parameters(self) -> dict[str, Scale]:
        known = self.estimator.get_params(deep=True)
        if self.parameters is None:
            usual = {"gamma": Scale(simpler="larger", value=width_to_gamma), "C": Scale()}
            found = {n: scale for last, scale in usual.items() if (n := _outermost(last, known))}
            if not found:
                raise ValueError(
                    "The estimator has no parameter gamma or C: give the 'parameters' to search."
                )
            return found
        scales = {}
        for name, scale in dict(self.parameters).items():
            if name not in known:
                raise ValueError(
                    "The 'parameters' parameter must name parameters of the estimator. "
                    f"{name!r} is none of them."
                )
            scales[name] = scale if isinstance(scale, Scale) else Scale(scale)
        if not scales:
            raise ValueError("The 'parameters' parameter must name at least one parameter.")
        return scales


def _outermost(last: str, known: Mapping[str, Any]) -> str | None:
    names = [name for name in known if name.rpartition("__")[2] == last]
    return min(names, key=lambda name: name.count("__"), default=None)
