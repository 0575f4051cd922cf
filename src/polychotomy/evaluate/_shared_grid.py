"""``SharedGridSearchCV``: a grid search that shares kernel rows and solutions."""

from typing import Any, Self

from sklearn.model_selection import GridSearchCV, ParameterGrid

from polychotomy.evaluate._folds_at_once import numbers_searched
from polychotomy.evaluate._shared_training import kernels_shared


class SharedGridSearchCV(GridSearchCV):
    """Grid search that shares kernel rows and solutions between all trainings.

    The same as ``GridSearchCV`` for any estimator. A :class:`~polychotomy.SharedKernelSVC` in a
    classifier of this library computes the rows of a kernel once for all folds and all values of C,
    and begins with the solution of another C. On a GPU and without probabilities, all folds of an
    attempt are columns of one solve, see :meth:`~polychotomy.CodeClassifier.held_out_decisions`.
    Values of parameters called ``C`` are tried one after the other for all other parameters, which
    is the order of ``cv_results_``.

    Parameters
    ----------
    estimator, param_grid, scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, \
return_train_score
        As in scikit-learn's ``GridSearchCV``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import CodeClassifier, SharedKernelSVC
    >>> from polychotomy.evaluate import SharedGridSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CodeClassifier(SharedKernelSVC(), probability=None)
    >>> grid = {"estimator__gamma": [0.1, 1.0], "estimator__C": [1, 10]}
    >>> search = SharedGridSearchCV(model, grid, cv=3).fit(X, y)
    >>> [tuple(attempt.values()) for attempt in search.cv_results_["params"]]
    [(1, 0.1), (10, 0.1), (1, 1.0), (10, 1.0)]
    """

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
        self._samples = X, y
        try:
            with numbers_searched(self, X, y, params) as samples:
                super().fit(samples, y, **params)
        finally:
            del self._samples
        return self

    def _run_search(self, evaluate_candidates: Any) -> None:
        candidates = sorted(ParameterGrid(self.param_grid), key=_without_c)
        with kernels_shared(*self._samples):
            evaluate_candidates(candidates)


def _without_c(params: dict[str, Any]) -> list[str]:
    """Return a key that is the same for all values of C."""
    return [repr(item) for item in params.items() if item[0].rpartition("__")[2] != "C"]
