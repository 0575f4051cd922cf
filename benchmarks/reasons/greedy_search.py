"""Tests whether tuned SVMs do worse with one-vs-rest because of the search of C and the width.

    python benchmarks/reasons/greedy_search.py [crabs vehicle car glass]

On the first training half of docs/comparison.md: the error in five folds at the point where the
greedy search of three rounds ends, the lowest error along either of its axes, and the lowest on a
grid of all pairs; then the errors of the comparison's ten folds with the parameters of each. The
same for one-vs-one.
"""

import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.base import clone

sys.path.insert(0, str(Path(__file__).parents[1]))

import comparison
from polychotomy.evaluate import SharedGridSearchCV
from polychotomy.evaluate import compute as compute_cells

GAMMAS, CS = 2.0 ** np.arange(-11, 4), 2.0 ** np.arange(-3, 14)


def errors_on_grid(method, X, y):
    """Return the errors in five folds, a row for each γ and a column for each C."""
    known = comparison.search_of("svm", method)
    grid = {"estimator__gamma": list(GAMMAS), "estimator__C": list(CS)}
    search = SharedGridSearchCV(method.to_tune, grid, cv=known.cv, refit=False).fit(X, y)
    errors = np.empty((len(GAMMAS), len(CS)))
    for point, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        row = np.flatnonzero(point["estimator__gamma"] == GAMMAS)
        errors[row, np.flatnonzero(point["estimator__C"] == CS)] = 1 - score
    return errors


def tested(samples, method, gamma, C):
    """Return the error of the ten folds."""
    made = clone(method.classifier).set_params(estimator__gamma=gamma, estimator__C=C)
    errors = []
    for fold in comparison.FOLDS:
        task = comparison.task_of(samples, replace(method, classifier=made), fold)
        (cell,) = compute_cells([task], samples)
        errors.append(cell.metrics["error"])
    return np.mean(errors)


def describe(name, reduction):
    """Print where the search ends and what the grid has."""
    samples = comparison.read_samples(name, 2000)
    method = comparison.contestant("svm", reduction, 0)
    X, y = comparison.training_half(samples, method)
    search = comparison.search_of("svm", method).fit(X, y)
    end = search.best_params_["estimator__gamma"], search.best_params_["estimator__C"]
    errors = errors_on_grid(method, X, y)
    row, column = (int(abs(np.log(v / e)).argmin()) for v, e in ((GAMMAS, end[0]), (CS, end[1])))
    best = np.unravel_index(errors.argmin(), errors.shape)
    lowest = GAMMAS[best[0]], CS[best[1]]
    lower = CS[(end[1] < CS) & (errors[row] < 1 - search.best_score_ - 1e-9)]
    print(
        f"{name}, {reduction}: the search ends at γ = {end[0]:.3g}, C = {end[1]:g} with "
        f"{100 * (1 - search.best_score_):.1f} % in five folds. From there "
        + (f"a larger C helps from {lower[0]:g} on" if len(lower) else "no larger C helps")
        + f"; the lowest error along C is {100 * errors[row].min():.1f} %, along γ "
        f"{100 * errors[:, column].min():.1f} %, and of all {errors.size} pairs "
        f"{100 * errors.min():.1f} % at γ = {lowest[0]:.3g}, C = {lowest[1]:g}. Tested in ten "
        f"folds: {100 * tested(samples, method, *end):.1f} % and "
        f"{100 * tested(samples, method, *lowest):.1f} %",
        flush=True,
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for data_set in sys.argv[1:] or ["crabs", "vehicle", "car", "glass"]:
        for code in ("one_vs_rest", "one_vs_one"):
            describe(data_set, code)
