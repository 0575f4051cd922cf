"""What calibrated probabilities cost SharedKernelSVC on the CPU, in trainings without them.

    POLYCHOTOMY_DATA=… python benchmarks/calibrated.py [--data pendigits …] [--rounds 3]

CPU seconds of one thread, the least of some rounds: without probabilities, with
``probability="auto"``, which also compares the methods, and with least squares given. Five folds,
C = 10, gamma = 1 / number of features on standardised samples (mnist: 0.02 on pixels / 255, the
first 5000 samples), three quarters of the samples.
"""

import argparse
import json
import os
import warnings
from pathlib import Path
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from environment import environment
from polychotomy import CodeClassifier, SharedKernelSVC
from polychotomy.datasets import load
from svm import split

DATA_SETS = ("pendigits", "satimage", "optdigits", "letter", "mnist")
CODES = ("one_vs_rest", "one_vs_one", "bch")
RESULTS = Path(__file__).parent / "results" / "calibrated.json"


def samples(name):
    """Return the training part and gamma."""
    if name == "mnist":
        found = load(name)
        X = found.data.to_numpy(np.float32)[:5000] / np.float32(255)
        return X, np.asarray(found.target)[:5000], 0.02
    X, _, y, _ = split(name)
    return X, y, 1 / X.shape[1]


def seconds(learner, code, probability, X, y, rounds):
    """Return the least CPU seconds of some trainings."""
    best = float("inf")
    for _ in range(rounds):
        begin = process_time()
        CodeClassifier(learner, code, probability=probability).fit(X, y)
        best = min(best, process_time() - begin)
    return best


def main():
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", choices=DATA_SETS, default=DATA_SETS)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in args.data:
        X, y, gamma = samples(name)
        learner = SharedKernelSVC(C=10, gamma=gamma, cache_size=1000)
        few = np.concatenate([np.flatnonzero(y == label)[:12] for label in np.unique(y)])
        for code in CODES:
            CodeClassifier(learner, code).fit(X[few], y[few])  # loads and compiles
            row = {"data": name, "n_train": len(y), "code": code}
            for probability in (None, "auto", "least_squares"):
                row[str(probability)] = seconds(learner, code, probability, X, y, args.rounds)
            row["ratio"] = row["auto"] / row["None"]
            rows.append(row)
            print(
                f"{name:<10}{code:<12}{row['None']:.3f} s, auto {row['ratio']:.2f} ×, "
                f"least squares {row['least_squares'] / row['None']:.2f} ×",
                flush=True,
            )
            stored = {"environment": environment(), "rows": rows}
            RESULTS.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
