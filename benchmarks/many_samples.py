"""Kernels on many samples: the exact engine beside kernel features and linear problems.

    POLYCHOTOMY_DATA=… python benchmarks/many_samples.py [--data shuttle mnist] [--samples 20000]

One-vs-rest SVMs of ``SharedKernelSVC`` (exact) against ``Nystroem`` and ``RBFSampler`` with
``SharedLinear``, least squares and squared hinge loss. Same gamma for all; C of the linear problems
is that of a small grid which is best on a tenth of the training part; its search is not counted.
CPU seconds of one thread, from samples to a trained classifier, and test errors. Only `samples` of
the training part are used, at random, where it has more.
"""

import argparse
import json
import os
from pathlib import Path
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from environment import environment
from polychotomy import CodeClassifier, SharedKernelSVC, SharedLinear
from polychotomy.datasets import load

RESULTS = Path(__file__).parent / "results" / "many-samples.json"
SETTINGS = {"shuttle": {"C": 100, "gamma": 1.0}, "mnist": {"C": 10, "gamma": 0.02}}
GRID = (0.1, 1, 10, 100)


def samples_of(name, most):
    """Return training and test parts, standardised (mnist: pixels from 0 to 1)."""
    data = load(name)
    X, y = data.data.to_numpy(float), data.target
    if data.train is None:
        parts = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    else:
        parts = X[data.train], X[data.test], y[data.train], y[data.test]
    X, X_test, y, y_test = parts
    if name == "mnist":
        X, X_test = X / 255, X_test / 255
    else:
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    chosen = np.random.default_rng(0).permutation(len(y))[:most]
    return X[chosen], X_test, y[chosen], y_test


def approximate(features, loss, C, gamma, n_components):
    """Return a pipeline of kernel features and linear one-vs-rest problems."""
    mapping = features(gamma=gamma, n_components=n_components, random_state=0)
    learner = CodeClassifier(SharedLinear(loss, C=C), "one_vs_rest", probability=None)
    return make_pipeline(mapping, learner)


def best_cost(make, X, y):
    """Return the C with the lowest error on half of a tenth of the samples."""
    n = max(2000, len(y) // 10)
    half = n // 2
    scores = [make(C).fit(X[:half], y[:half]).score(X[half:n], y[half:n]) for C in GRID]
    return GRID[int(np.argmax(scores))]


def measured(model, parts):
    """Return CPU seconds of training and prediction, and the test error."""
    X, X_test, y, y_test = parts
    start = process_time()
    model.fit(X, y)
    trained = process_time()
    error = 1 - model.score(X_test, y_test)
    return {"fit": trained - start, "predict": process_time() - trained, "error": error}


def compare(name, most, sizes):
    """Yield a row for each way to train."""
    parts, setting = samples_of(name, most), SETTINGS[name]
    facts = {"data": name, "samples": len(parts[2]), **setting}
    warm = CodeClassifier(SharedKernelSVC(), "one_vs_rest", probability=None)
    warm.fit(parts[0][:300], parts[2][:300])
    exact = CodeClassifier(SharedKernelSVC(**setting), "one_vs_rest", probability=None)
    yield {**facts, "way": "exact", **measured(exact, parts)}
    for features in (Nystroem, RBFSampler):
        for n in sizes:
            for loss in ("squared", "squared_hinge"):
                if loss == "squared_hinge" and (features, n) != (Nystroem, min(sizes)):
                    continue  # many times as long

                def make(C, features=features, loss=loss, n=n):
                    return approximate(features, loss, C, setting["gamma"], n)

                C = best_cost(make, parts[0], parts[2])
                way = f"{features.__name__} {n}, {loss}"
                yield {**facts, "way": way, "C": C, **measured(make(C), parts)}


def main():
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(SETTINGS), choices=SETTINGS)
    parser.add_argument("--samples", type=int, default=60_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000, 3000])
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    rows = []
    for name in args.data:
        for row in compare(name, args.samples, args.sizes):
            rows.append(row)
            print(
                f"{row['data']:8} {row['samples']:>6} {row['way']:32} C {row['C']:<6} "
                f"fit {row['fit']:8.1f} s  predict {row['predict']:6.1f} s  "
                f"error {100 * row['error']:6.2f} %",
                flush=True,
            )
    args.out.write_text(json.dumps({"environment": environment(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
