"""Cells made by hand, and an experiment that takes a second."""

from dataclasses import replace
from math import nan

import numpy as np

from polychotomy import CodeClassifier
from polychotomy.evaluate import Contestant
from polychotomy.lab.experiments import Experiment, Figure
from polychotomy.lab.experiments._quantities import error_percent
from polychotomy.reductions import make_base
from tests.evaluate.cells import make_cell

CODES = {"OVA": "one_vs_rest", "ALL-PAIRS": "one_vs_one"}


def cells_with(data_set, method, wrong, n=100, n_folds=1):
    """Return a cell for each fold; `wrong` has the number of errors in each."""
    wrong = [wrong] if isinstance(wrong, int) else wrong
    found = []
    for fold, bad in enumerate(wrong):
        truth = np.zeros(n, dtype=int)
        predicted = (np.arange(n) < bad).astype(int)
        cell = make_cell(data_set, method, fold=fold, truth=truth, predicted=predicted)
        settings = {**cell.settings, "n_folds": max(n_folds, len(wrong))}
        found.append(replace(cell, settings=settings))
    return found


def make_methods(samples, seed):
    return [
        Contestant(
            name,
            "ridge",
            CodeClassifier(make_base("ridge"), code, probability=None, random_state=seed),
        )
        for name, code in CODES.items()
    ]


def make_tiny(name="sbckernel-2", **changes):
    """Return an experiment on scikit-learn's data, under the name of a published table."""
    values = {
        "name": name,
        "title": "Two reductions of ridge",
        "paper": "sbckernel",
        "tables": ("sbckernel-2",),
        "data_sets": ("iris", "wine"),
        "make_methods": make_methods,
        "quantities": {"error_percent": error_percent},
        "protocol": "cv3",
        "quick": ("iris",),
        "hours": 0.5,
        "choices": ("The learner is ridge regression.",),
    }
    return Experiment(**values | changes)


def make_figure(data_set="iris", method="OVA", theirs=6.0, ours=5.0, agrees=True, **changes):
    values = {
        "paper": "sbckernel",
        "table": "2",
        "data_set": data_set,
        "method": method,
        "quantity": "error_percent",
        "theirs": theirs,
        "their_spread": nan,
        "ours": ours,
        "spread": 1.0,
        "low": 4.0,
        "high": 7.0,
        "n_folds": 10,
        "of_folds": 10,
        "agrees": agrees,
    }
    return Figure(**values | changes)
