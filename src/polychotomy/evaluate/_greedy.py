"""``GreedySearchCV``: one scale parameter after the other, by doubling and halving."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from polychotomy.arrays import Indices
from polychotomy.evaluate._folds_at_once import numbers_searched
from polychotomy.evaluate._samples import draw_by_class
from polychotomy.evaluate._shared_training import kernels_shared
from polychotomy.parallel import joblib_on_cluster
from polychotomy.reductions import Scale

_DOUBLINGS = 2  # of the samples that a search starts on


def width_to_gamma(sigma: float) -> float:
    """Return γ = 1 / (2 σ²) of a Gaussian kernel of width σ."""
    return 1 / (2 * sigma**2)


class GreedySearchCV(BaseSearchCV):
    """Cross-validated search of scale parameters, one after the other (Rifkin and Klautau).

    The first parameter is multiplied by `factor` until `patience` attempts in a row do not improve
    the score, then divided in the same way. The best value is kept, and the next parameter
    follows. By default the parameters are the width σ of a Gaussian kernel, γ = 1/(2σ²), and C,
    both starting from 1. Further rounds continue from the best values.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn estimator with the parameters.
    parameters : dict of str to Scale or float, optional
        The parameters in the order of the search, each a :class:`~polychotomy.reductions.Scale` or
        the value to start from. By default the parameters ``gamma`` and ``C`` of `estimator`, those
        of its outermost part that has them.
    factor : float, default=2.0
        The factor of each step.
    patience : int, default=3
        Number of attempts in a row that may fail to improve the score.
    rounds : int, default=3
        Maximum number of rounds over all parameters; the search stops if a round changes nothing.
        The papers stop after one, but the best width for C = 1 need not be the best for the final
        C.
    start_samples : int, optional
        Start the search on this many samples, stratified by class, and continue on twice and four
        times as many, where only the neighbours of the best values are tried: a round with a
        patience of 1. Folds are trained on those samples only, and tested on all of their test
        samples. By default all samples are used from the start.
    cv : int, cross-validation generator or iterable, default=10
        The folds, the same for all attempts.
    scoring, n_jobs, refit, verbose, error_score, return_train_score
        As in scikit-learn's searches.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of samples for `start_samples`.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, classes_, n_splits_, \
scorer_, refit_time_, n_features_in_, feature_names_in_
        As in scikit-learn's searches. The rows of ``cv_results_`` are the attempts in their order.
        With `start_samples` the best is one of those on the most samples.
    scales_ : dict of str to Scale
        The parameters that were searched.
    path_ : list of tuple
        (parameter, position on its scale, index in ``cv_results_``) of every attempt. A position
        that was tried before on the same samples points to the earlier attempt.

    References
    ----------
    Rifkin and Klautau (2004), "In defense of one-vs-all classification", JMLR 5.

    Notes
    -----
    With a :class:`~polychotomy.SharedKernelSVC` on an array of numbers, and without worker
    processes, all folds and all values of C share the kernel rows of one γ, and each C begins with
    the solution of the last. Put a scaler outside of the search for that. On a GPU and without
    probabilities, all folds of an attempt are columns of one solve.

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
        rounds: int = 3,
        start_samples: int | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool = True,
        cv: Any = 10,
        verbose: int = 0,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        random_state: Any = None,
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
        self.start_samples = start_samples
        self.random_state = random_state

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
        self._check_steps()
        self._stages = list(self._make_stages(X, y))
        try:
            with (
                numbers_searched(self, X, y, params) as samples,
                joblib_on_cluster(self.n_jobs, samples, y),
            ):
                return super().fit(samples, y, **params)
        finally:
            del self._stages

    def _make_stages(self, X: Any, y: Any) -> Iterator["_Stage"]:
        """Yield the samples to search on: all, or some, twice and four times as many."""
        n = _num_samples(X)
        if self.start_samples is None or self.start_samples >= n:
            yield _Stage(X, y)
            return
        labels = np.zeros(n, dtype=int) if y is None else np.unique(y, return_inverse=True)[1]
        seed = check_random_state(self.random_state).randint(2**31)
        for doublings in range(_DOUBLINGS + 1):
            rng, size = np.random.default_rng(seed), min(self.start_samples * 2**doublings, n)
            yield _Stage(X, y, draw_by_class(labels, np.arange(n), size, rng))
            if size == n:
                return

    def _run_search(self, evaluate_candidates: Callable[..., Any]) -> None:
        self.scales_ = self._resolve_parameters()
        self.path_: list[tuple[str, float, int]] = []
        self._winner, n_attempts = 0, 0
        chosen = {name: scale.start for name, scale in self.scales_.items()}
        rounds, patience = self.rounds, self.patience
        for stage in self._stages:
            evaluate = partial(evaluate_candidates, cv=_Folds(self._checked_cv_orig, stage.rows))
            with stage.sharing():
                seen = self._go_through(chosen, evaluate, n_attempts, rounds, patience)
            self._winner, n_attempts = seen[tuple(chosen.values())], n_attempts + len(seen)
            rounds = patience = 1  # the neighbours of what fewer samples have found

    def _go_through(
        self,
        chosen: dict[str, float],
        evaluate: Callable[[list[dict[str, Any]]], Any],
        n_before: int,
        rounds: int,
        patience: int,
    ) -> dict[tuple[float, ...], int]:
        """Move all parameters to their best positions; return the row of every attempt."""
        seen: dict[tuple[float, ...], int] = {}

        def score(name: str, position: float) -> tuple[float, float]:
            positions = {**chosen, name: position}
            key = tuple(positions.values())
            if key not in seen:
                seen[key] = n_before + len(seen)
                given = {n: self.scales_[n].given(p) for n, p in positions.items()}
                self._results = evaluate([given])
            self.path_.append((name, position, seen[key]))
            mean = float(self._results["mean_test_score"][seen[key]])
            mean = -np.inf if np.isnan(mean) else mean
            return mean, self.scales_[name].simplicity(position)

        for _ in range(rounds):
            before = dict(chosen)
            for name in chosen:
                chosen[name] = self._climb(partial(score, name), chosen[name], patience)
            if chosen == before:
                break
        return seen

    def _climb(
        self, score: Callable[[float], tuple[float, float]], start: float, patience: int
    ) -> float:
        """Return the position with the best score, up from the start and then down."""
        best, chosen = score(start), start
        for step in (self.factor, 1 / self.factor):
            position, failures = start, 0
            while failures < patience:
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
        given = {name: getattr(self, name) for name in ("patience", "rounds", "start_samples")}
        for name, number in given.items():
            if name == "start_samples" and number is None:
                continue
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


@dataclass(frozen=True, eq=False)
class _Stage:
    """The samples that attempts are trained on; `rows` None for all."""

    X: Any
    y: Any
    rows: Indices | None = None

    def sharing(self) -> AbstractContextManager[None]:
        """Let attempts share the kernel rows of these samples."""
        if self.rows is None:
            return kernels_shared(self.X, self.y)
        y = None if self.y is None else _safe_indexing(self.y, self.rows)
        return kernels_shared(_safe_indexing(self.X, self.rows), y)


@dataclass(frozen=True, eq=False)
class _Folds:
    """Folds that are trained on these samples only, and tested on all of theirs."""

    cv: Any
    rows: Indices | None

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the rows to train on and to test on."""
        for train, test in self.cv.split(X, y, **params):
            yield (train if self.rows is None else np.intersect1d(train, self.rows)), test


def _outermost(last: str, known: Mapping[str, Any]) -> str | None:
    names = [name for name in known if name.rpartition("__")[2] == last]
    return min(names, key=lambda name: name.count("__"), default=None)
