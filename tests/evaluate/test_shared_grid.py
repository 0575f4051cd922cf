import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from polychotomy import CodeClassifier, GreedySearchCV, SharedKernelSVC
from polychotomy.evaluate import SharedGridSearchCV
from polychotomy.kernel import _device, _kernel_samples, _svc
from polychotomy.kernel._twins import HostDevice

GRID = {"estimator__gamma": [0.02, 0.1], "estimator__C": [1, 5]}


@pytest.fixture(scope="module")
def samples():
    X, y = load_digits(return_X_y=True)
    return X[:200] / 16, y[:200].astype(str)


@pytest.fixture
def solves(monkeypatch):
    """Let "cuda" be the twin of a GPU, and count how often all folds are trained at once."""
    twin, find, found = HostDevice(), _device.find_device, []
    monkeypatch.setattr(
        _kernel_samples,
        "find_device",
        lambda name, n=np.inf: twin if name == "cuda" else find(name, n),
    )
    held_out = _svc.held_out_outputs
    monkeypatch.setattr(
        _svc, "held_out_outputs", lambda *args: (found.append(1), held_out(*args))[1]
    )
    return found


def machine(device, probability=None):
    learner = SharedKernelSVC(tol=1e-4, device=device)
    return CodeClassifier(learner, "one_vs_rest", probability=probability)


def scores(search):
    """Return the score of each attempt in each fold."""
    results = search.cv_results_
    splits = [results[f"split{k}_test_score"] for k in range(search.n_splits_)]
    return {
        tuple(sorted(params.items())): list(row)
        for params, *row in zip(results["params"], *splits, strict=True)
    }


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "roc_auc_ovr"])
def test_scores_are_those_of_a_grid_search(samples, scoring):
    X, y = samples
    estimator = LogisticRegression(max_iter=300)
    ours, theirs = (
        search(estimator, {"C": [0.1, 1]}, cv=3, scoring=scoring).fit(X, y)
        for search in (SharedGridSearchCV, GridSearchCV)
    )
    assert scores(ours) == scores(theirs)


def test_folds_that_are_trained_at_once_have_the_scores_of_folds_one_by_one(samples, solves):
    X, y = samples
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    theirs = GridSearchCV(machine("cpu"), GRID, cv=cv).fit(X, y)
    ours = SharedGridSearchCV(machine("cuda"), GRID, cv=cv).fit(X, y)
    assert len(solves) == 4
    assert scores(ours) == scores(theirs)
    assert isinstance(ours.best_estimator_, CodeClassifier)
    assert ours.best_params_ == theirs.best_params_
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert ours.estimator.estimator.C == 1
    assert ours.cv is cv


def test_greedy_searches_train_all_folds_at_once(samples, solves):
    X, y = samples
    starts = {"estimator__gamma": 0.05, "estimator__C": 1.0}
    ours, theirs = (
        GreedySearchCV(machine(device), starts, cv=2, patience=1, rounds=1).fit(X, y)
        for device in ("cuda", "cpu")
    )
    assert len(solves) == len(ours.cv_results_["params"])
    assert scores(ours) == scores(theirs)
    assert ours.best_params_ == theirs.best_params_


def test_folds_are_trained_one_by_one_where_they_must_be(samples, solves):
    X, y = samples
    grid = {"estimator__C": [1, 5]}  # the width depends on a fold's samples
    SharedGridSearchCV(machine("cuda"), grid, cv=2).fit(X, y)
    grid["estimator__gamma"] = [0.05]
    SharedGridSearchCV(machine("cuda"), grid, cv=2, return_train_score=True).fit(X, y)
    calibrated = machine("cuda", "least_squares").set_params(cv=2)
    SharedGridSearchCV(calibrated, grid, cv=2, scoring="neg_log_loss").fit(X, y)
    assert not solves


def test_failing_attempts_are_scored_as_in_a_grid_search(samples, solves):
    X, y = samples
    grid = {"estimator__gamma": [0.05], "estimator__C": [0, 1]}
    search = SharedGridSearchCV(machine("cuda"), grid, cv=2, error_score=-1.0)
    with pytest.warns(Warning, match="fits failed"):
        search.fit(X, y)
    assert search.best_params_["estimator__C"] == 1
    assert min(search.cv_results_["mean_test_score"]) == -1
