"""SharedKernelSVC beside LIBSVM: time, memory, agreement and objective on the papers' data sets.

    POLYCHOTOMY_DATA=… python benchmarks/svm.py [--data satimage letter …] [--rounds 2] [--jobs 2]
    POLYCHOTOMY_DATA=… python benchmarks/svm.py --search --data satimage --samples 1500 --out FILE

Same C = 10, gamma = 1/d, tolerance and training part for all (standardised features, untuned). With
one job, CPU seconds of one thread; with more, seconds on the clock; the best of some rounds after
an untimed warm-up of our compiled code. Memory is the growth of the process by one training, in a
process of its own (on Linux). Ratios are peer / ours. The SVC of scikit-learn-intelex is a further
peer where it is installed. Without the folder of data sets, scikit-learn's digits are used.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from time import perf_counter, process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from environment import environment
from polychotomy import CodeClassifier, GreedySearchCV, SharedKernelSVC
from polychotomy.datasets import load

DATA_SETS = ("satimage", "optdigits", "pendigits", "usps", "isolet", "letter", "shuttle")
RESULTS = Path(__file__).parent / "results" / "svm.json"


def split(name):
    """Return standardised training and test parts."""
    samples = load(name)
    X, y = samples.data.to_numpy(float), samples.target
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test), y, y_test


def contenders(d, k, jobs):
    """Return pairs of ours and a peer, by what they do; those with probabilities are named so."""
    options = {"C": 10, "gamma": 1 / d, "cache_size": 1000}
    svc = SVC(**options)

    def ours(code, decoder="auto", **others):
        learner = SharedKernelSVC(**options)
        return CodeClassifier(learner, code, decoder, n_jobs=jobs, **others)

    plain = {"probability": None}
    theirs_random, book = random_code(svc, k, jobs)
    pairs = {
        "one-vs-rest": (
            ours("one_vs_rest", **plain),
            OneVsRestClassifier(svc, n_jobs=jobs),
        ),
        "one-vs-one": (ours("one_vs_one", "votes", **plain), svc),
        "one-vs-one, meta": (
            ours("one_vs_one", "votes", **plain),
            OneVsOneClassifier(svc, n_jobs=jobs),
        ),
        "BCH": (ours("bch", **plain), CodeClassifier(svc, "bch", n_jobs=jobs, **plain)),
        "random code": (ours(book, "euclidean", **plain), theirs_random),
        "probabilities": (
            ours("one_vs_one"),
            CalibratedClassifierCV(svc, ensemble=False, n_jobs=jobs),
        ),
        "probabilities, SVC's": (ours("one_vs_one"), SVC(probability=True, **options)),
    }
    try:
        from sklearnex import svm as intel
    except ImportError:
        return pairs
    pairs["one-vs-one, sklearnex"] = (ours("one_vs_one", "votes", **plain), intel.SVC(**options))
    return pairs


def random_code(svc, k, jobs):
    """Return scikit-learn's classifier with a random code without useless columns, and the code."""
    labels = np.arange(k)
    for seed in range(1000):
        theirs = OutputCodeClassifier(svc, code_size=1.5, random_state=seed, n_jobs=jobs)
        book = np.random.RandomState(seed).uniform(size=(k, int(k * 1.5)))
        signs = np.where(book > 0.5, 1, -1)
        if np.all(np.abs(signs.sum(axis=0)) < k) and len(np.unique(signs, axis=0)) == k:
            return theirs, signs
    raise SystemExit(f"no random code of {len(labels)} classes")


def seconds(job, rounds, clock=process_time):
    """Return the least seconds of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = clock()
        job()
        best = min(best, clock() - start)
    return best


def growth(name, work, who):
    """Return by how many MiB one training makes a process grow."""
    command = [sys.executable, __file__, "--data", name, "--growth", work, who]
    return float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def grow(name, work, who):
    """Train once and print by how many MiB the process has grown."""
    X, _, y, _ = split(name)
    classifier = contenders(X.shape[1], len(np.unique(y)), None)[work][who == "theirs"]
    few = np.concatenate([np.flatnonzero(y == label)[:12] for label in np.unique(y)])
    classifier.fit(X[few], y[few])  # loads what is needed
    Path("/proc/self/clear_refs").write_text("5")  # Linux: forget the peak so far
    before = resident("VmRSS")
    classifier.fit(X, y)
    print(resident("VmHWM") - before)


def resident(kind):
    """Return the memory of this process in MiB: "VmRSS" now, "VmHWM" at its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind)) / 1024


def objectives(classifier):
    """Return the sum of the dual objectives of one-vs-rest problems."""
    if hasattr(classifier.estimators_[0], "dual_objective_"):
        return sum(e.dual_objective_ for e in classifier.estimators_)
    total = 0.0
    for svc in classifier.estimators_:
        outputs = svc.decision_function(svc.support_vectors_) - svc.intercept_[0]
        total += np.abs(svc.dual_coef_).sum() - 0.5 * svc.dual_coef_[0] @ outputs
    return total


def run(name, rounds, jobs, works):
    """Yield a row of figures for each kind of work."""
    X, X_test, y, y_test = split(name)
    clock = process_time if jobs == 1 else perf_counter
    rare = np.unique(y, return_counts=True)[1].min()
    for work, (ours, theirs) in contenders(X.shape[1], len(np.unique(y)), jobs).items():
        with_probabilities = work.startswith("probabilities")
        if (works and work not in works) or (with_probabilities and rare < 5):
            continue
        ours.fit(X, y)  # warms up
        row = {"data": name, "work": work, "n_train": len(y), "classes": len(np.unique(y))}
        row["jobs"] = jobs
        for who, classifier in (("ours", ours), ("theirs", theirs)):
            method = "predict_proba" if with_probabilities else "predict"
            row[f"fit_{who}"] = seconds(lambda c=classifier: c.fit(X, y), rounds, clock)
            call = getattr(classifier, method)
            call(X_test[:50])
            row[f"predict_{who}"] = seconds(lambda call=call: call(X_test), 3 * rounds, clock)
            if jobs == 1:
                row[f"memory_{who}"] = growth(name, work, who)
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


def show(row):
    """Print a row."""
    fit, predict = (row[f"{k}_theirs"] / row[f"{k}_ours"] for k in ("fit", "predict"))
    further = ""
    if "memory_ours" in row:
        further += f", {row['memory_ours']:.0f} and {row['memory_theirs']:.0f} MiB"
    if "objective_ours" in row:
        further += f", objective {row['objective_ours'] / row['objective_theirs'] - 1:+.0e}"
    print(
        f"{row['data']:<10}{row['work']:<22} fit {row['fit_ours']:7.2f} s ({fit:4.1f} ×)  "
        f"predict {row['predict_ours']:6.3f} s ({predict:5.1f} ×)  error {row['error_ours']:.2%} "
        f"and {row['error_theirs']:.2%}, agree {row['agreement']:.2%}{further}",
        flush=True,
    )


def main():
    """Run, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = DATA_SETS if os.environ.get("POLYCHOTOMY_DATA") else ("digits",)
    parser.add_argument("--data", nargs="+", default=default)
    parser.add_argument("--works", nargs="+", help="only these kinds of work")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--search", action="store_true", help="the greedy search alone (minutes)")
    parser.add_argument("--samples", type=int, help="at most so many samples for the search")
    parser.add_argument("--growth", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "Calibration by")
    warnings.filterwarnings("ignore", "The `probability` parameter", FutureWarning)
    if options.growth:
        grow(options.data[0], *options.growth)
        return
    rows = []
    for name in options.data:
        if options.search:
            rows.append(search(name, options.samples))
        else:
            for row in run(name, options.rounds, options.jobs, options.works):
                rows.append(row)
                show(row)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        stored = {"environment": environment(), "rows": rows}
        options.out.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
