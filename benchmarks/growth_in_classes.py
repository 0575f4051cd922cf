"""Time, memory and accuracy as the number of classes grows from 10 to 3755, or to 10 000.

Chinese characters from pixels (`hanzi`), regions from the names of places (`cities`, character
n-grams) or generated samples, with linear learners: reductions of this library with SharedLinear,
scikit-learn's own forms, and napkinXC, omikuji and Vowpal Wabbit where they are installed.
Each competitor runs in a process of its own, with one thread and a limit of CPU time, so that peak
memory is its own; what the samples alone take is printed first. Seconds are CPU time, log loss that
of at most 500 test samples. A competitor that fails with some classes is not tried with more.
Prints a table for each k, the exponents of growth, and stores the raw figures with the environment;
stored figures of other competitors and other k stay.

    python benchmarks/growth_in_classes.py [--data hanzi] [--classes 10,30,100,300,1000,3755]
        [--limit 300] [--only NAME ...] [--out benchmarks/results/growth-hanzi.json]
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from math import ceil, log, log2
from pathlib import Path
from resource import RLIMIT_CPU, RUSAGE_SELF, getrusage, setrlimit
from signal import SIGXCPU
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import peers_of_many
from environment import environment
from polychotomy import CodeClassifier, SharedLinear, TreeClassifier, make_code
from samples_of_many import SAMPLES

LEAST = 1e-15


def dense(k, factor):
    """Return a random dense code of factor · log₂ k problems."""
    return make_code("dense_random", k, n_problems=ceil(factor * log2(k)), random_state=0)


def code(k, made, loss, C=1.0, **params):
    """Return a code classifier without probabilities."""
    params = {"probability": None} | params
    return CodeClassifier(SharedLinear(loss, C=C), made, **params)


def mapped(classifier):
    """Return a classifier behind a feature map that all problems share."""
    return make_pipeline(Nystroem(gamma=0.01, n_components=1000, random_state=0), classifier)


MEANS = {"decoder": "class_means"}
OURS = {
    "samples alone": lambda k, loss: None,
    "SharedLinear": lambda k, loss: SharedLinear(loss),
    "one-vs-rest": lambda k, loss: code(k, "one_vs_rest", loss),
    "one-vs-rest, means": lambda k, loss: code(k, "one_vs_rest", loss, **MEANS),
    "one-vs-rest, probabilities": lambda k, loss: code(
        k, "one_vs_rest", loss, probability="normalise"
    ),
    "dense, 10 log k": lambda k, loss: code(k, dense(k, 10), loss),
    "dense, 20 log k": lambda k, loss: code(k, dense(k, 20), loss),
    "dense, 20 log k, similar": lambda k, loss: code(k, dense(k, 20), loss, assignment="similar"),
    "dense, 10 log k, means": lambda k, loss: code(k, dense(k, 10), loss, **MEANS),
    "dense, 20 log k, means": lambda k, loss: code(k, dense(k, 20), loss, **MEANS),
    "dense, 20 log k, probabilities": lambda k, loss: code(
        k, dense(k, 20), loss, probability="auto"
    ),
    "dense, 20 log k, product": lambda k, loss: code(k, dense(k, 20), loss, probability="product"),
    "trellis, 8 wide": lambda k, loss: code(k, make_code("trellis", k, width=8), loss),
    "trellis, 8 wide, similar": lambda k, loss: code(
        k, make_code("trellis", k, width=8), loss, assignment="similar"
    ),
    "trellis, 8 wide, probabilities": lambda k, loss: code(
        k, make_code("trellis", k, width=8), loss, probability="auto"
    ),
    "trellis, 8 wide, means": lambda k, loss: code(
        k, make_code("trellis", k, width=8), loss, **MEANS
    ),
    "linkage tree": lambda k, loss: TreeClassifier(
        SharedLinear(loss), "linkage", distance="centroid", probability=None
    ),
    "wide tree": lambda k, loss: TreeClassifier(SharedLinear(loss), "kmeans", probability=None),
    "wide tree, probabilities": lambda k, loss: TreeClassifier(SharedLinear(loss), "kmeans"),
}
OF_DENSE = {
    "Nystroem, one-vs-rest": lambda k, loss: mapped(code(k, "one_vs_rest", loss, 10)),
    "Nystroem, one-vs-rest, means": lambda k, loss: mapped(
        code(k, "one_vs_rest", loss, 10, **MEANS)
    ),
    "Nystroem, dense, 20 log k, means": lambda k, loss: mapped(
        code(k, dense(k, 20), loss, 10, **MEANS)
    ),
    "Nystroem, trellis, 8 wide": lambda k, loss: mapped(
        code(k, make_code("trellis", k, width=8), loss, 10)
    ),
    "Nystroem, wide tree": lambda k, loss: mapped(
        TreeClassifier(SharedLinear(loss, C=10), "kmeans", probability=None)
    ),
    "RidgeClassifier": lambda k, loss: RidgeClassifier(alpha=0.5),
    "OneVsRestClassifier(Ridge)": lambda k, loss: OneVsRestClassifier(RidgeClassifier(alpha=0.5)),
    "LinearDiscriminantAnalysis": lambda k, loss: LinearDiscriminantAnalysis(),
}
OF_SPARSE = {
    "one-vs-rest, squared hinge": lambda k, loss: code(k, "one_vs_rest", "squared_hinge"),
    "wide tree, squared hinge": lambda k, loss: TreeClassifier(
        SharedLinear("squared_hinge"), "kmeans", probability=None
    ),
    "OneVsRestClassifier(LinearSVC)": lambda k, loss: OneVsRestClassifier(LinearSVC()),
}
PEERS = {"LogisticRegression": lambda k, loss: LogisticRegression(max_iter=200)} | {
    name: lambda k, loss, make=make: make() for name, make in peers_of_many.PEERS.items()
}
FORMS = {
    "hanzi": ("squared", OURS | OF_DENSE | PEERS),
    "cities": ("squared", OURS | OF_SPARSE | PEERS),
    "generated": ("squared", OURS | OF_DENSE | PEERS),
}
MOST_PROBABLE = 500
SHORTEST = 1e-3  # seconds that a clock of CPU time tells from 0


def measure(data, name, k):
    """Return what one competitor takes and how right it is."""
    X, y, test, labels = SAMPLES[data](k)
    loss, known = FORMS[data]
    classifier = known[name](k, loss)
    if classifier is None:
        return {"megabytes": getrusage(RUSAGE_SELF).ru_maxrss / 1024}
    warnings.simplefilter("ignore")
    few = np.flatnonzero(y < min(k, 10))
    if hasattr(classifier, "prepare"):
        classifier.prepare(X, y, test)
    elif name in OURS | OF_SPARSE and "code" not in classifier.get_params(
        deep=False
    ):  # a code has k rows
        classifier.fit(X[few], y[few])  # compiles
    start = process_time()
    classifier.fit(X, y)
    row = {"fit": process_time() - start}
    start = process_time()
    row["accuracy"] = float(np.mean(classifier.predict(test) == labels))
    row["predict"] = process_time() - start
    top = top_five(classifier, test, min(5, k))
    if top is not None:
        row["top_5"] = float(np.mean((top == labels[:, np.newaxis]).any(axis=1)))
    if hasattr(classifier, "predict_proba"):
        p = classifier.predict_proba(test[:MOST_PROBABLE])
        p = p[np.arange(len(p)), labels[:MOST_PROBABLE]]
        row["log_loss"] = float(-np.log(np.maximum(p, LEAST)).mean())
    return row | {"megabytes": getrusage(RUSAGE_SELF).ru_maxrss / 1024}


def top_five(classifier, X, n):
    """Return the labels with the largest scores."""
    last = classifier[-1] if hasattr(classifier, "steps") else classifier
    X = classifier[:-1].transform(X) if hasattr(classifier, "steps") else X
    if hasattr(last, "predict_top"):
        return last.predict_top(X, n)
    if not hasattr(last, "decision_function"):
        return None
    scores = last.decision_function(X)
    return last.classes_[np.argsort(-scores, axis=1)[:, :n]]


def run(data, name, k, limit):
    """Measure in a process of its own; return None where it takes too long."""
    program = [sys.executable, __file__, "--data", data, "--one", name, "--classes", str(k)]
    program += ["--limit", str(limit)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    if done.returncode == -SIGXCPU:
        return {"failed": f"more than {limit} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def shown(name, row):
    """Return a row as text."""
    if "failed" in row:
        return f"  {name:<34}{row['failed']}"
    figures = [f"{row[key]:9.3g}" if key in row else " " * 9 for key in COLUMNS]
    return f"  {name:<34}{''.join(figures)}"


COLUMNS = ("fit", "predict", "accuracy", "top_5", "log_loss", "megabytes")


def exponents(table):
    """Print how seconds of fit and of predict grow between each one's largest two numbers."""
    print("\nexponents of growth, fit and predict")
    for name in dict.fromkeys(name for rows in table.values() for name in rows):
        sizes = sorted((int(k) for k, rows in table.items() if "fit" in rows.get(name, {})))[-2:]
        if len(sizes) < 2:
            continue
        a, b = (table[str(k)][name] for k in sizes)
        found = [
            log(max(b[c], SHORTEST) / max(a[c], SHORTEST)) / log(sizes[1] / sizes[0])
            for c in ("fit", "predict")
        ]
        print(f"  {name:<34}{found[0]:9.2f}{found[1]:9.2f}   from {sizes[0]} to {sizes[1]} classes")


def main():
    """Run, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", choices=list(SAMPLES), default="hanzi")
    parser.add_argument("--classes", default="10,30,100,300,1000,3755")
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds for each competitor")
    parser.add_argument("--only", nargs="+", help="names of competitors, by default all")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.one:
        setrlimit(RLIMIT_CPU, (options.limit, options.limit + 1))
        print(json.dumps(measure(options.data, options.one, int(options.classes))))
        return
    out = options.out or Path(__file__).parent / "results" / f"growth-{options.data}.json"
    names, slow = options.only or list(FORMS[options.data][1]), set()
    table = json.loads(out.read_text())["classes"] if out.exists() else {}
    for name, reason in peers_of_many.MISSING.items():
        print(f"{name}: {reason}")
    for k in options.classes.split(","):
        print(f"\n{k} classes{'':26}{''.join(f'{name:>9}' for name in COLUMNS)}")
        table.setdefault(k, {})
        for name in names:
            if name in slow:  # fewer classes took too long already
                continue
            table[k][name] = run(options.data, name, int(k), options.limit)
            print(shown(name, table[k][name]), flush=True)
            if "failed" in table[k][name]:
                slow.add(name)
            versions = environment() | peers_of_many.VERSIONS
            stored = {"environment": versions, "limit": options.limit, "classes": table}
            out.write_text(json.dumps(stored, indent=2) + "\n")
    exponents(table)


if __name__ == "__main__":
    main()
