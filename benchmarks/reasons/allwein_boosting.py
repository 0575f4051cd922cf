"""Tests reasons why figures of Allwein's Table 2 disagree: AdaBoost with stumps.

    python benchmarks/reasons/allwein_boosting.py [vowel rounds segment sparse]

Vowel: one-vs-all decoded by Hamming distances, ties broken in three ways. Rounds: all-pairs on
pendigits with 50 to 1000 rounds. Segment: errors on the training samples themselves. Sparse: ten
draws of the sparse code, on yeast (two of ten folds), ecoli (ten folds) and vowel.
"""

import sys
import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from polychotomy import CodeClassifier, datasets
from polychotomy.decoding import decode
from polychotomy.evaluate import Preparation
from polychotomy.lab import published
from polychotomy.learners import StumpBoosting

RULES = {"Hamming": "hamming", "loss-based (L_1)": "l1", "loss-based (Exp.)": "exponential"}


def theirs(name, code):
    """Return the published errors of a code, one for each rule."""
    cells = published.table("allwein-2").cells
    found = {cell.method: cell.value for cell in cells if cell.data_set == name}
    return [found[f"{code}, {rule}"] for rule in RULES]


def prepared(name, paper="allwein"):
    """Return features, classes and the split."""
    bunch = datasets.load(name, paper=paper)
    X = np.asarray(Preparation(dense=True).fit_transform(bunch.data), float)
    return X, np.asarray(bunch.target), bunch.get("train"), bunch.get("test")


def outputs_of(code, X, y, X_test, n_rounds=500, seed=0):
    """Return the trained classifier and its outputs."""
    learner = StumpBoosting(n_rounds)
    trained = CodeClassifier(learner, code, "hamming", probability=None, random_state=seed)
    trained.fit(X, y)
    return trained, trained.binary_outputs(X_test)


def misses(trained, outputs, y):
    """Return which samples are wrong, a row for each rule."""
    rows = [decode(outputs, trained.code_, rule).argmax(axis=1) for rule in RULES.values()]
    return np.array([trained.classes_[row] != y for row in rows])


def words(errors):
    """Return errors in per cent."""
    return " ".join(f"{100 * each:.1f}" for each in errors)


def test_vowel():
    """Print errors of one-vs-all with ties broken in three ways."""
    X, y, train, test = prepared("vowel")
    trained, outputs = outputs_of("one_vs_rest", X[train], y[train], X[test])
    A, sides = trained.code_.matrix, np.where(outputs > 0, 1, -1)
    distances = (sides[:, None, :] != A[None]).sum(axis=2)
    tied = distances == distances.min(axis=1, keepdims=True)
    truth = np.searchsorted(trained.classes_, y[test])
    chance = 1 - np.mean(tied[np.arange(len(truth)), truth] / tied.sum(axis=1))
    last = tied.shape[1] - 1 - tied[:, ::-1].argmax(axis=1)
    several = np.mean(tied.sum(axis=1) > 1)
    print(f"Vowel, one-vs-all, Hamming (published {theirs('vowel', 'One-vs-all')[0]}): ", end="")
    first = np.mean(tied.argmax(axis=1) != truth)
    found = words([first, np.mean(last != truth), chance])
    print(f"{several:.0%} tied; the first, the last, a random one: {found}", flush=True)


def test_rounds():
    """Print errors of all-pairs on pendigits with more and more rounds."""
    X, y, train, test = prepared("pendigits")
    print(f"Pendigits, all-pairs, three rules (published {theirs('pendigits', 'All-Pairs')}):")
    for n_rounds in (50, 100, 500, 1000):
        trained, outputs = outputs_of("one_vs_one", X[train], y[train], X[test], n_rounds)
        errors = misses(trained, outputs, y[test]).mean(axis=1)
        print(f"  {n_rounds} rounds: {words(errors)}", flush=True)


def test_segment():
    """Print errors on the training samples."""
    X, y, *_ = prepared("segment")
    print("Segment, errors on the training samples, three rules:")
    codes = {"One-vs-all": "one_vs_rest", "All-Pairs": "one_vs_one", "Dense": "dense_random"}
    for title, code in codes.items():
        trained, outputs = outputs_of(code, X, y, X)
        errors = misses(trained, outputs, y).mean(axis=1)
        print(f"  {title}: {words(errors)} (published {theirs('segment', title)})", flush=True)


def test_sparse():
    """Print the errors of ten draws of the sparse code."""
    for name, n_folds in (("vowel", 1), ("ecoli", 10), ("yeast", 2)):
        X, y, train, test = prepared(name)
        folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))[:n_folds]
        folds = [(train, test)] if train is not None else folds
        found = []
        for seed in range(10):
            wrong = [
                misses(*outputs_of("sparse_random", X[a], y[a], X[b], seed=seed), y[b])
                for a, b in folds
            ]
            found.append(np.concatenate(wrong, axis=1).mean(axis=1))
        low, high = np.min(found, axis=0), np.max(found, axis=0)
        print(
            f"Sparse code on {name}, ten draws, three rules: {words(low)} to {words(high)} "
            f"(published {theirs(name, 'Sparse')})",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tests = {"vowel": test_vowel, "segment": test_segment, "rounds": test_rounds}
    tests["sparse"] = test_sparse
    for name in sys.argv[1:] or tests:
        tests[name]()
