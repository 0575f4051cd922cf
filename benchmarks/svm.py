"""SharedKernelSVC beside LIBSVM: CPU time, agreement and objective on the papers' data sets.

    POLYCHOTOMY_DATA=… python benchmarks/svm.py [--data satimage letter …] [--rounds 2]
    POLYCHOTOMY_DATA=… python benchmarks/svm.py --search --data satimage --samples 1500 --out FILE

Same C = 10, gamma = 1/d, tolerance and training part for all (standardised features, untuned); one
thread; CPU seconds, the best of some rounds after an untimed warm-up of our compiled code. Ratios
are peer / ours. Without the folder of data sets, scikit-learn's digits are used.
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
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from data import load
from environment import environment
from polychotomy import CodeClassifier, GreedySearchCV, SharedKernelSVC

DATA_SETS = ("satimage", "optdigits", "pendigits", "usps", "isolet", "letter", "shuttle")
RESULTS = Path(__file__).parent / "results" / "svm.json"


def split(name):
    """Return standardised training and test parts."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        X, y = load(name)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test), y, y_test


def contenders(d):
    """Return pairs of ours and a peer, by what they do; and whether probabilities are wanted."""
    options = {"C": 10, "gamma": 1 / d, "cache_size": 1000}
    ours, theirs = SharedKernelSVC(**options), SVC(**options)
    plain = {"probability": None}
    return {
        "one-vs-rest": (
            CodeClassifier(ours, "one_vs_rest", **plain),
            OneVsRestClassifier(theirs),
            False,
        ),
        "one-vs-one": (
            CodeClassifier(ours, "one_vs_one", "votes", **plain),
            SVC(**options),
            False,
        ),
        "BCH": (
            CodeClassifier(ours, "bch", **plain),
            CodeClassifier(theirs, "bch", **plain),
            False,
        ),
        "probabilities": (
            CodeClassifier(ours, "one_vs_one"),
            CalibratedClassifierCV(theirs, ensemble=False),
            True,
        ),
    }


def seconds(job, rounds):
    """Return the least CPU seconds of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = process_time()
        job()
        best = min(best, process_time() - start)
    return best


def objectives(classifier):
    """Return the sum of the dual objectives of one-vs-rest problems."""
    if hasattr(classifier.estimators_[0], "dual_objective_"):
        return sum(e.dual_objective_ for e in classifier.estimators_)
    total = 0.0
    for svc in classifier.estimators_:
        outputs = svc.decision_function(svc.support_vectors_) - svc.intercept_[0]
        total += np.abs(svc.dual_coef_).sum() - 0.5 * svc.dual_coef_[0] @ outputs
    return total


def run(name, rounds):
    """Yield a row of figures for each kind of work."""
    X, X_test, y, y_test = split(name)
    rare = np.unique(y, return_counts=True)[1].min()
    for work, (ours, theirs, with_probabilities) in contenders(X.shape[1]).items():
        if with_probabilities and rare < 5:
            continue
        ours.fit(X, y)  # warms up
        row = {"data": name, "work": work, "n_train": len(y), "classes": len(np.unique(y))}
        for who, classifier in (("ours", ours), ("theirs", theirs)):
            method = "predict_proba" if with_probabilities else "predict"
            row[f"fit_{who}"] = seconds(lambda c=classifier: c.fit(X, y), rounds)
            call = getattr(classifier, method)
            call(X_test[:50])
            row[f"predict_{who}"] = seconds(lambda call=call: call(X_test), rounds)
        labels = ours.predict(X_test), theirs.predict(X_test)
        row["agreement"] = float(np.mean(labels[0] == labels[1]))
        row["error_ours"], row["error_theirs"] = (float(np.mean(p != y_test)) for p in labels)
        if work == "one-vs-rest":
            row["objective_ours"], row["objective_theirs"] = objectives(ours), objectives(theirs)
        yield row


def search(name, samples):
    """Return figures of the greedy search, ten folds, over one-vs-rest: ours and scikit-learn's."""
    X, _, y, _ = split(name)
    X, y = X[:samples], y[:samples]
    ours = CodeClassifier(SharedKernelSVC(), "one_vs_rest", probability=None)
    theirs = OneVsRestClassifier(SVC(cache_size=1000))
    ours.fit(X, y)  # warms up
    row = {"data": name, "work": "greedy search", "n_train": len(y)}
    for who, classifier in (("ours", ours), ("theirs", theirs)):
        found = GreedySearchCV(classifier, cv=10, refit=False)
        row[f"fit_{who}"] = seconds(lambda found=found: found.fit(X, y), 1)
        row[f"best_{who}"] = list(found.best_params_.values())
        row[f"attempts_{who}"] = len(found.cv_results_["params"])
        row[f"error_{who}"] = 1 - found.best_score_
    print(
        f"{name:<10}greedy search  {row['fit_ours']:.1f} s and {row['fit_theirs']:.1f} s "
        f"({row['fit_theirs'] / row['fit_ours']:.1f} ×), {row['attempts_ours']} and "
        f"{row['attempts_theirs']} attempts, error {row['error_ours']:.2%} and "
        f"{row['error_theirs']:.2%}",
        flush=True,
    )
    return row


def main():
    """Run, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = DATA_SETS if os.environ.get("POLYCHOTOMY_DATA") else ("digits",)
    parser.add_argument("--data", nargs="+", default=default)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--search", action="store_true", help="the greedy search alone (minutes)")
    parser.add_argument("--samples", type=int, help="at most so many samples for the search")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "Calibration by")
    rows = []
    if options.search:
        rows = [search(name, options.samples) for name in options.data]
        stored = {"environment": environment(), "rows": rows}
        options.out.write_text(json.dumps(stored, indent=1) + "\n")
        return
    for name in options.data:
        for row in run(name, options.rounds):
            rows.append(row)
            fit, predict = (row[f"{k}_theirs"] / row[f"{k}_ours"] for k in ("fit", "predict"))
            relative = ""
            if "objective_ours" in row:
                change = row["objective_ours"] / row["objective_theirs"] - 1
                relative = f", objective {change:+.0e}"
            print(
                f"{row['data']:<10}{row['work']:<14} fit {row['fit_ours']:7.2f} s "
                f"({fit:4.1f} ×)  predict {row['predict_ours']:6.3f} s ({predict:5.1f} ×)  "
                f"error {row['error_ours']:.2%} and {row['error_theirs']:.2%}, "
                f"agree {row['agreement']:.2%}{relative}",
                flush=True,
            )
        options.out.parent.mkdir(parents=True, exist_ok=True)
        stored = {"environment": environment(), "rows": rows}
        options.out.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
