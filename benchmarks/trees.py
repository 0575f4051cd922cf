"""Trees beside flat codes: quality and time on Mills' data sets, and how prediction grows with k.

    POLYCHOTOMY_DATA=… python benchmarks/trees.py quality [--data segment urban …] [--samples 5000]
    python benchmarks/trees.py growth

``quality`` trains Mills' six configurations with an RBF SVM (C = 10, gamma = 1/d, standardised
features, untuned) on random 70 % of at most ``--samples`` samples and prints the mean over
``--trials`` of uncertainty coefficient, Brier score (his form) and CPU seconds to fit and to
predict probabilities, each beside what he published; "label s" is for the labels alone. His figures
are from all samples and ten trials, and from another machine: the ratios within a column can be
compared, the seconds cannot.

``growth`` counts, on classes at random places, the problems asked of each sample and the CPU time
of ``predict``, as the number of classes grows. Raw figures are stored with the environment.
"""

import argparse
import copy
import json
import os
import warnings
from pathlib import Path
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from environment import environment
from polychotomy import CodeClassifier, TreeClassifier
from polychotomy.assess import brier_score, uncertainty_coefficient
from polychotomy.datasets import load
from polychotomy.lab import published

DATA_SETS = ("segment", "urban", "satimage", "humidity", "pendigits", "letter", "usps", "shuttle")
RESULTS = Path(__file__).parent / "results"
QUANTITIES = ("uncertainty_coefficient", "brier", "fit_seconds", "predict_seconds")


def configurations(n_classes, seed):
    """Return classifiers by configuration, and Mills' names of the ways each can be solved.

    His inverse for one-vs-one has the minimiser of our coupling. Like his, our letter has a random
    code in place of an orthogonal one; it is solved by least squares.
    """
    base = SVC(C=10, cache_size=500)
    orthogonal = "orthogonal" if n_classes <= 12 else "dense_random"  # as Mills, for letter
    return {
        "one_vs_one": (CodeClassifier(base, "one_vs_one", cv=3), ("inverse",)),
        "one_vs_rest": (
            CodeClassifier(base, "one_vs_rest", probability="least_squares", cv=3),
            ("least_squares",),
        ),
        "orthogonal": (
            CodeClassifier(
                base,
                orthogonal,
                probability="orthogonal" if orthogonal == "orthogonal" else "least_squares",
                cv=3,
                random_state=seed,
            ),
            ("orthogonal",),
        ),
        "adjacent": (
            CodeClassifier(base, "adjacent", probability="least_squares", cv=3),
            ("least_squares",),
        ),
        "balanced": (
            TreeClassifier(base, "balanced", cv=3),
            ("recursive", "least_squares", "most_probable"),
        ),
        "linkage": (
            TreeClassifier(base, "linkage", cv=3),
            ("recursive", "least_squares", "most_probable"),
        ),
    }


def predictions(classifier, method, X):
    """Return labels and probabilities, and the CPU seconds of each.

    Probabilities are what Mills' classification times are for. The labels alone are cheaper: codes
    decode outputs, and trees ask only the problems on the way.
    """
    if isinstance(classifier, TreeClassifier):
        classifier = copy.copy(classifier)
        classifier.solve_ = method  # the trained problems are the same
    start = process_time()
    p = classifier.predict_proba(X)
    seconds = process_time() - start
    start = process_time()
    labels = classifier.predict(X)
    label_seconds = process_time() - start
    if not isinstance(classifier, TreeClassifier):  # as Mills, who predicts by probabilities
        labels = classifier.classes_[p.argmax(axis=1)]
    return labels, p, seconds, label_seconds


def run_trial(name, samples, seed):
    """Yield a row of figures for each configuration and method."""
    whole = load(name, paper="mills")
    X, y = whole.data.to_numpy(float), whole.target
    rng = np.random.default_rng(seed)
    kept = rng.permutation(len(y))[:samples]
    counts = np.unique(y[kept], return_counts=True)
    kept = kept[np.isin(y[kept], counts[0][counts[1] > 3])]  # a class needs samples in both parts
    X, X_test, y, y_test = train_test_split(
        X[kept], y[kept], test_size=0.3, random_state=seed, stratify=y[kept]
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    for configuration, (classifier, methods) in configurations(len(np.unique(y)), seed).items():
        base = classifier.estimator.set_params(gamma=1 / X.shape[1])
        start = process_time()
        classifier.set_params(estimator=base).fit(X, y)
        fit_seconds = process_time() - start
        classifier.predict_proba(X_test[:10])  # compiles what it needs
        for method in methods:
            labels, p, seconds, label_seconds = predictions(classifier, method, X_test)
            yield {
                "data": name,
                "n_train": len(y),
                "n_test": len(y_test),
                "seed": seed,
                "configuration": configuration,
                "method": method,
                "uncertainty_coefficient": uncertainty_coefficient(y_test, labels),
                "error": float(np.mean(labels != y_test)),
                "brier": brier_score(y_test, p, form="mills", classes=classifier.classes_),
                "brier_winning": brier_score(y_test, p, form="winner", classes=classifier.classes_),
                "fit_seconds": fit_seconds,
                "predict_seconds": seconds,
                "label_seconds": label_seconds,
            }


def mills():
    """Return Mills' means by quantity, data set, configuration and method."""
    return {
        (cell.quantity, cell.data_set, cell.code, cell.probability): cell.value
        for number in range(4, 14)
        for cell in published.table(f"mills-{number}").cells
    }


def print_quality(rows):
    """Print ours and Mills' figures, a block for each data set."""
    theirs = mills()
    for name in dict.fromkeys(row["data"] for row in rows):
        ours = [row for row in rows if row["data"] == name]
        print(f"\n{name}: {ours[0]['n_train']} training samples; ours, and Mills' in brackets")
        print(
            f"{'':<29}{'uncertainty c.':>16}{'Brier':>18}{'fit s':>16}{'proba s':>16}{'label s':>9}"
        )
        for key in dict.fromkeys((row["configuration"], row["method"]) for row in ours):
            same = [row for row in ours if (row["configuration"], row["method"]) == key]
            cells = []
            for quantity in QUANTITIES:
                mean = np.mean([row[quantity] for row in same])
                method = key[1] if (quantity, name, *key) in theirs else ""
                known = theirs.get((quantity, name, key[0], method))
                cells.append(f"{mean:.3g} ({'–' if known is None else known})")
            labels = np.mean([row["label_seconds"] for row in same])
            print(
                f"{key[0]:<13}{key[1]:<16}{cells[0]:>16}{cells[1]:>18}{cells[2]:>16}{cells[3]:>16}"
                f"{labels:>9.3f}"
            )


def quality(options):
    """Run the trials of all data sets, printing and storing after each."""
    rows = []
    for name in options.data:
        for seed in range(options.trials):
            for row in run_trial(name, options.samples, seed):
                rows.append(row)
                print(
                    f"{name} {seed} {row['configuration']} {row['method']}: "
                    f"{row['uncertainty_coefficient']:.3f}, {row['fit_seconds']:.1f} s",
                    flush=True,
                )
        store(options.out or RESULTS / "trees-quality.json", rows)
    print_quality(rows)


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
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=["quality", "growth"])
    parser.add_argument("--data", nargs="+", default=DATA_SETS, choices=DATA_SETS)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "Calibration by")  # shuttle has classes of ten samples
    {"quality": quality, "growth": growth}[options.part](options)


if __name__ == "__main__":
    main()
