"""Whether it pays to go through width and C more than once, and how both compare with a grid.

    python benchmarks/tuning.py [--data vehicle glass …]

In each of ten outer folds the SVM of a reduction is tuned by five inner ones: by the greedy search
with one round, as in the papers, and with up to two, three and five, and by scikit-learn's search
of a grid. Prints errors, attempts and CPU seconds; raw figures are stored with the environment.
"""

import argparse
import json
import os
from pathlib import Path
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from environment import environment
from polychotomy import CodeClassifier, GreedySearchCV, SharedKernelSVC, SingleBinaryClassifier
from polychotomy.datasets import load, make_preprocessor

RESULTS = Path(__file__).parent / "results"
DATA = ("wine", "vehicle", "glass")
REDUCTIONS = {
    "one_vs_rest": CodeClassifier(SharedKernelSVC(), "one_vs_rest", probability=None),
    "one_vs_one": CodeClassifier(SharedKernelSVC(), "one_vs_one", probability=None),
    "sbc_identity": SingleBinaryClassifier(SharedKernelSVC(), "identity", probability=None),
    "sbc_bch": SingleBinaryClassifier(SharedKernelSVC(), "bch", probability=None),
}
GRID = {
    "estimator__gamma": [1 / (2 * 4.0**i) for i in range(-1, 5)],  # widths of ½ to 16
    "estimator__C": [4.0**i for i in range(-1, 6)],  # ¼ to 1024
}


def searches(classifier, inner):
    """Return the ways to tune a classifier."""
    return {
        "one round": GreedySearchCV(classifier, cv=inner, rounds=1),
        "two rounds": GreedySearchCV(classifier, cv=inner, rounds=2),
        "three rounds": GreedySearchCV(classifier, cv=inner, rounds=3),
        "five rounds": GreedySearchCV(classifier, cv=inner, rounds=5),
        "grid": GridSearchCV(classifier, GRID, cv=inner),
    }


def measure(name):
    """Return the rows of a data set."""
    bunch = load(name)
    y, outer = np.asarray(bunch.target), StratifiedKFold(10, shuffle=True, random_state=0)
    inner = StratifiedKFold(5, shuffle=True, random_state=0)
    rows = []
    for reduction, classifier in REDUCTIONS.items():
        for way, search in searches(classifier, inner).items():
            wrong, attempts, start = 0, [], process_time()
            for train, test in outer.split(y, y):
                prepare = make_preprocessor(bunch.data.iloc[train])
                X = prepare.fit_transform(bunch.data.iloc[train])
                found = clone(search).fit(X, y[train])
                predicted = found.predict(prepare.transform(bunch.data.iloc[test]))
                wrong += int((predicted != y[test]).sum())
                attempts.append(len(found.cv_results_["params"]))
            rows.append(
                {
                    "data": name,
                    "reduction": reduction,
                    "search": way,
                    "error": wrong / len(y),
                    "attempts": float(np.mean(attempts)),
                    "seconds": process_time() - start,
                }
            )
            row = rows[-1]
            print(
                f"{name:<10}{reduction:<14}{way:<13} error {row['error']:6.2%}, "
                f"{row['attempts']:5.1f} attempts, {row['seconds']:7.1f} s",
                flush=True,
            )
    return rows


def main():
    """Read the options, measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--out", type=Path, default=RESULTS / "tuning.json")
    options = parser.parse_args()
    rows = [row for name in options.data for row in measure(name)]
    stored = {"environment": environment(), "rows": rows}
    options.out.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
