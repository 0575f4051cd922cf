"""Tests reasons why figures of Tax and Duin disagree: ``python benchmarks/reasons/tax_duin.py``.

Protocol: how many figures agree with draws as large as Table 1 says, and with ten-fold
cross-validation. Index: the same for crabs with and without their number within each class as a
feature. Digits: votes of pairs by LDA with a covariance that is inverted although it is singular,
and with pseudo-inverses, on ten draws of 1000 and 1000 usps digits.
"""

import warnings
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from polychotomy import datasets
from polychotomy.lab import experiments, published

TABLE = experiments.get("tax-duin-2")
SETS = ("vowel", "waveform", "vehicle", "crabs")


def count(experiment, name, protocol):
    """Return how many figures of a data set agree, of those that do not follow from others."""
    plan = replace(experiment, protocol=protocol).plan([name])
    figures = experiment.figures(plan.run(n_jobs=1)[0])
    return Counter(f.agrees for f in figures if not experiments.is_derived(f))[True]


def compare_protocols():
    """Print the counts for both protocols."""
    sizes = {(c.data_set, c.quantity): int(c.value) for c in published.table("tax-duin-1").cells}
    print("Protocol: figures of 18 that agree, with draws of Table 1's sizes and with ten folds")
    for name in SETS:
        draws = f"repeat10:{sizes[name, 'n_train']}/{sizes[name, 'n_test']}"
        print(f"  {name:9s} {count(TABLE, name, draws):2d} {count(TABLE, name, 'cv10'):2d}")
    variant = experiments.get("tax-duin-2-index")
    print(f"Index: crabs with their number, ten folds: {count(variant, 'crabs', 'cv10')} of 18")


def invert(S):
    """Return the inverse of a covariance, computed although it is singular."""
    varies = np.diag(S) > 1e-12 * np.diag(S).max()
    found = np.zeros_like(S)
    part = S[np.ix_(varies, varies)]
    try:
        found[np.ix_(varies, varies)] = np.linalg.inv(part)
    except np.linalg.LinAlgError:  # a pivot that is exactly 0, not one of rounding
        found[np.ix_(varies, varies)] = np.linalg.pinv(part, rcond=1e-18)
    return found


INVERSES = {
    "inverted although singular": invert,
    "pseudo-inverse, cut at 1e-15": np.linalg.pinv,
    "pseudo-inverse, cut at 1e-6": lambda S: np.linalg.pinv(S, rcond=1e-6),
    "pseudo-inverse, cut at 1e-3": lambda S: np.linalg.pinv(S, rcond=1e-3),
}


def vote(X, y, X_test, inverse):
    """Return the votes of all pairs of classes by LDA, and the ranks of their covariances."""
    votes, ranks = np.zeros((len(X_test), 10)), []
    for a, b in combinations(range(10), 2):
        A, B = X[y == a], X[y == b]
        centred = np.vstack([A - A.mean(axis=0), B - B.mean(axis=0)])
        S = centred.T @ centred / (len(centred) - 2)
        ranks.append(np.linalg.matrix_rank(S))
        w = inverse(S) @ (A.mean(axis=0) - B.mean(axis=0))
        middle = w @ (A.mean(axis=0) + B.mean(axis=0)) / 2 - np.log(len(A) / len(B))
        first = X_test @ w > middle
        votes[first, a] += 1
        votes[~first, b] += 1
    return votes, ranks


def vote_on_digits():
    """Print errors and rejects of votes, and the published ones."""
    bunch = datasets.load("usps")
    X, y = np.asarray(bunch.data, float), np.unique(bunch.target, return_inverse=True)[1]
    draws = StratifiedShuffleSplit(10, train_size=1000, test_size=1000, random_state=0)
    print("Digits, votes of pairs: error of the accepted, rejected, in per cent (deviation)")
    for name, inverse in INVERSES.items():
        found = []
        for train, test in draws.split(X, y):
            votes, ranks = vote(X[train], y[train], X[test], inverse)
            tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
            wrong = votes.argmax(axis=1) != y[test]
            found.append((100 * wrong[~tied].mean(), 100 * tied.mean()))
        (e, f), (s, t) = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
        print(f"  {name:30s} {e:5.1f} ({s:.1f})  {f:5.1f} ({t:.1f})")
    print(f"  covariances of pairs have rank {min(ranks)} to {max(ranks)} of 256")
    print("  published, LDA                  74.5 (0.8)   34.5 (7.3)")
    print("  published, Fisher               16.6 (1.1)   17.2 (1.1)")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    compare_protocols()
    vote_on_digits()
