"""How prediction by trees and by flat codes grows with the number of classes.

    python benchmarks/trees.py

Counts, on classes at random places, the problems asked of each sample and the CPU time of
``predict``, as the number of classes grows. Raw figures are stored with the environment. How good
trees are on real data is in the experiment ``mills`` of ``polychotomy.lab.experiments``.
"""

import argparse
import json
import os
from pathlib import Path
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import LinearSVC

from environment import environment
from polychotomy import CodeClassifier, TreeClassifier

RESULTS = Path(__file__).parent / "results"


def growth(options):
    """Measure what predicting costs as the number of classes grows."""
    rows = []
    for k in (8, 16, 32, 64, 128):
        rng = np.random.default_rng(k)
        centres = rng.normal(size=(k, 10)) * 3
        y, y_test = np.repeat(np.arange(k), 20), rng.integers(k, size=20_000)
        X, X_test = (centres[labels] + rng.normal(size=(len(labels), 10)) for labels in (y, y_test))
        base = LinearSVC(random_state=0)
        for name, classifier in {
            "one_vs_one": CodeClassifier(base, "one_vs_one", "votes", probability=None),
            "one_vs_rest": CodeClassifier(base, "one_vs_rest", probability=None),
            "ddag": TreeClassifier(base, "ddag", probability=None),
            "chain": TreeClassifier(base, "chain", probability=None),
            "linkage": TreeClassifier(base, "linkage", probability=None),
            "balanced": TreeClassifier(base, "balanced", probability=None),
            "most probable": TreeClassifier(LogisticRegression(), "linkage"),
            "sklearn ovo": OneVsOneClassifier(base),
            "sklearn ovr": OneVsRestClassifier(base),
        }.items():
            classifier.fit(X, y).predict(X_test[:1000])  # warms up
            seconds = []
            for _ in range(2):
                start = process_time()
                labels = classifier.predict(X_test)
                seconds.append(process_time() - start)
            n_problems = len(classifier.estimators_)
            if isinstance(classifier, TreeClassifier):
                asked = float(classifier.decision_path(X_test).sum(axis=1).mean())
                depth = classifier.structure_.depth
            else:
                asked, depth = float(n_problems), 1
            rows.append(
                {
                    "classes": k,
                    "configuration": name,
                    "depth": depth,
                    "problems": n_problems,
                    "asked": asked,
                    "microseconds": 1e6 * min(seconds) / len(y_test),
                    "error": float(np.mean(labels != y_test)),
                }
            )
            row = rows[-1]
            print(
                f"k={k:<5}{name:<13}depth {row['depth']:<4} asks {asked:8.1f} of "
                f"{row['problems']:<5} problems, {row['microseconds']:8.1f} µs a sample, "
                f"error {row['error']:.1%}",
                flush=True,
            )
    store(options.out or RESULTS / "trees-growth.json", rows)


def store(path, rows):
    """Write the figures with what they depend on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"environment": environment(), "rows": rows}, indent=1) + "\n")


def main():
    """Read the option and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path)
    growth(parser.parse_args())


if __name__ == "__main__":
    main()
