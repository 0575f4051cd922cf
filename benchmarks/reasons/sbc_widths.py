"""Tests whether figures of both papers on SBC are those of another width σ and C.

    python benchmarks/reasons/sbc_widths.py [DATA,METHOD …]

For each case, errors on a grid of σ and C, in ten-fold cross-validation of all samples or on the
fixed test part, and at how many points of the grid the published figure lies within half a point:
the more of them are tried, the less a hit says.
"""

import sys
import warnings
from math import isfinite

import numpy as np
from sklearn.model_selection import StratifiedKFold

from polychotomy import (
    CodeClassifier,
    KernelSBCClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
    datasets,
)
from polychotomy.evaluate import Preparation
from polychotomy.lab import published
from polychotomy.learners import SingleCall

CASES = (
    ("vehicle", "OVA", "sbckernel-2"),
    ("vehicle", "SBC-KERNEL", "sbckernel-2"),
    ("wine", "OVA", "sbckernel-2"),
    ("wine", "ALL-PAIRS", "sbckernel-2"),
    ("iris", "OVA", "sbckernel-2"),
    ("iris", "ALL-PAIRS", "sbckernel-2"),
    ("wine", "SBC-SINGLE", "sbckernel-2"),
    ("car", "SBC-IDENTITY", "sbc-2"),
    ("soybean", "ECOC", "sbc-2"),
    ("soybean", "SBC-ECOC", "sbc-2"),
    ("page-blocks", "ALL-PAIRS", "sbckernel-2"),
    ("soybean", "SBC-SINGLE", "sbc-2"),
    ("optdigits", "ECOC", "sbc-2"),
    ("optdigits", "ECOC, euclidean", "sbc-2"),
)
WIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
CONSTANTS = (1.0, 4.0, 16.0, 64.0)


def make(method, sigma, C):
    """Return a method of the papers with a width and C."""
    gamma = 1 / (2 * sigma**2)
    svm = SharedKernelSVC(C, gamma=gamma)
    codes = {"OVA": ("one_vs_rest", "linear"), "ALL-PAIRS": ("one_vs_one", "votes")}
    codes |= {"ECOC": ("bch", "hamming"), "ECOC, euclidean": ("bch", "euclidean")}
    if method in codes:
        return CodeClassifier(svm, *codes[method], probability=None)
    if method == "SBC-KERNEL":
        return KernelSBCClassifier(C, gamma, probability=None)
    how = {
        "SBC-IDENTITY": "identity",
        "SBC-SINGLE": "single",
        "SBC-ECOC": SingleCall("bch"),
    }
    return SingleBinaryClassifier(svm, how[method], probability=None)


def parts_of(name, paper):
    """Return training and test parts, the features prepared as in the papers."""
    bunch = datasets.load(name, paper=paper)
    y = np.unique(np.asarray(bunch.target), return_inverse=True)[1]
    if bunch.get("train") is not None:
        folds = [(bunch.train, bunch.test)]
    else:
        folds = StratifiedKFold(10, shuffle=True, random_state=0).split(y, y)
    for train, test in folds:
        change = Preparation(standardise_indicators=True, dense=True).fit(bunch.data.iloc[train])
        X = [np.asarray(change.transform(bunch.data.iloc[rows]), float) for rows in (train, test)]
        yield (X[0], y[train]), (X[1], y[test])


def print_grid(name, method, table):
    """Print errors at all widths and C, and how many are the published one."""
    printed = {
        cell.method: cell.value
        for cell in published.table(table).cells
        if (cell.data_set, cell.quantity) == (name, "error_percent")
    }
    value = printed[method.partition(",")[0]]
    parts = list(parts_of(name, table.partition("-")[0]))
    print(f"{name}, {method}: published {value}; rows σ, columns C = {CONSTANTS}", flush=True)
    errors = np.full((len(WIDTHS), len(CONSTANTS)), np.nan)
    for i, sigma in enumerate(WIDTHS):
        for j, C in enumerate(CONSTANTS):
            wrong = [
                make(method, sigma, C).fit(*train).predict(test[0]) != test[1]
                for train, test in parts
            ]
            errors[i, j] = 100 * np.concatenate(wrong).mean()
        print(f"  σ = {sigma:4g}: " + " ".join(f"{e:5.1f}" for e in errors[i]), flush=True)
    assert isfinite(value)
    hits = int((np.abs(errors - value) <= 0.5).sum())
    print(f"  within half a point of the published: {hits} of {errors.size}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for case in CASES:
        if len(sys.argv) == 1 or ",".join(case[:2]) in sys.argv[1:]:
            print_grid(*case)
