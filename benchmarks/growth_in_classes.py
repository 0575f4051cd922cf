"""Time, memory and accuracy as the number of classes grows from 10 to 3755.

Chinese characters from pixels (`hanzi`, the first k classes; needs POLYCHOTOMY_DATA) with linear
learners: reductions of this library with SharedLinear, scikit-learn's own forms, and napkinXC and
omikuji where they are installed. Each competitor runs in a process of its own, with one BLAS thread
and a time limit, so that peak memory is its own; what the samples alone take is printed first.
Prints a table for each k, the exponents of growth, and stores the raw figures with the environment.

    python benchmarks/growth_in_classes.py [--classes 10,30,100,300,1000,3755] [--limit 300]
        [--out benchmarks/results/growth-in-classes.json]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from importlib.util import find_spec
from math import ceil, log, log2
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from environment import environment
from polychotomy import CodeClassifier, SharedLinear, TreeClassifier, make_code

LEAST = 1e-15


def samples(k):
    """Return training and test samples of the first k characters, pixels from 0 to 1."""
    stored = np.load(Path(os.environ["POLYCHOTOMY_DATA"]) / "hanzi.npz")
    x, y, is_test = stored["x"], stored["y"].astype(int), stored["split"] == 1
    train, test = (y < k) & ~is_test, (y < k) & is_test
    return x[train] / 255, y[train], x[test] / 255, y[test]


def dense(k, factor):
    """Return a random dense code of factor · log₂ k problems."""
    return make_code("dense_random", k, n_problems=ceil(factor * log2(k)), random_state=0)


OURS = {
    "samples alone": lambda k: None,
    "SharedLinear": lambda k: SharedLinear(),
    "one-vs-rest": lambda k: CodeClassifier(SharedLinear(), "one_vs_rest", probability=None),
    "one-vs-rest, probabilities": lambda k: CodeClassifier(
        SharedLinear(), "one_vs_rest", probability="normalise"
    ),
    "dense, 10 log k": lambda k: CodeClassifier(SharedLinear(), dense(k, 10), probability=None),
    "dense, 20 log k": lambda k: CodeClassifier(SharedLinear(), dense(k, 20), probability=None),
    "dense, 20 log k, similar": lambda k: CodeClassifier(
        SharedLinear(), dense(k, 20), probability=None, assignment="similar"
    ),
    "trellis, width 8": lambda k: CodeClassifier(SharedLinear(), make_code("trellis", k, width=8)),
    "trellis, width 8, similar": lambda k: CodeClassifier(
        SharedLinear(), make_code("trellis", k, width=8), assignment="similar"
    ),
    "linkage tree": lambda k: TreeClassifier(
        SharedLinear(), "linkage", distance="centroid", probability=None
    ),
    "wide tree": lambda k: TreeClassifier(SharedLinear(), "kmeans", probability=None),
    "Nystroem, one-vs-rest": lambda k: make_pipeline(
        Nystroem(gamma=0.01, n_components=1000, random_state=0),
        CodeClassifier(SharedLinear(C=10), "one_vs_rest", probability=None),
    ),
}
PEERS = {
    "RidgeClassifier": lambda k: RidgeClassifier(alpha=0.5),
    "OneVsRestClassifier(Ridge)": lambda k: OneVsRestClassifier(RidgeClassifier(alpha=0.5)),
    "LogisticRegression": lambda k: LogisticRegression(max_iter=200),
}


class Napkin:
    """A probabilistic label tree of napkinXC."""

    def fit(self, X, y):
        """Train in a temporary folder, as napkinXC does."""
        from napkinxc.models import PLT
        from scipy.sparse import csr_matrix

        self.model_ = PLT(tempfile.mkdtemp(), threads=1, seed=0)
        self.model_.fit(csr_matrix(X), y)
        return self

    def predict_top(self, X, n):
        """Return the labels of the n best classes."""
        from scipy.sparse import csr_matrix

        found = self.model_.predict(csr_matrix(X), top_k=n)
        return np.array([(row + [-1] * n)[:n] for row in found])

    def predict(self, X):
        """Return the best label."""
        return self.predict_top(X, 1)[:, 0]


if find_spec("napkinxc"):
    PEERS["napkinXC, label tree"] = lambda k: Napkin()


def measure(name, k):
    """Return what one competitor takes and how right it is."""
    X, y, test, labels = samples(k)
    classifier = (OURS | PEERS)[name](k)
    if classifier is None:
        return {"megabytes": getrusage(RUSAGE_SELF).ru_maxrss / 1024}
    warnings.simplefilter("ignore")
    few = np.flatnonzero(y < min(k, 10))
    if name in OURS and "code" not in classifier.get_params():  # a code has k rows
        classifier.fit(X[few], y[few])  # compiles
    start = perf_counter()
    classifier.fit(X, y)
    row = {"fit": perf_counter() - start}
    start = perf_counter()
    row["accuracy"] = float(np.mean(classifier.predict(test) == labels))
    row["predict"] = perf_counter() - start
    top = top_five(classifier, test, min(5, k))
    if top is not None:
        row["top_5"] = float(np.mean((top == labels[:, np.newaxis]).any(axis=1)))
    if hasattr(classifier, "predict_proba"):
        p = classifier.predict_proba(test)[np.arange(len(labels)), labels]
        row["log_loss"] = float(-np.log(np.maximum(p, LEAST)).mean())
    return row | {"megabytes": getrusage(RUSAGE_SELF).ru_maxrss / 1024}


def top_five(classifier, X, n):
    """Return the labels with the largest scores."""
    last = classifier[-1] if hasattr(classifier, "steps") else classifier
    X = classifier[:-1].transform(X) if hasattr(classifier, "steps") else X
    if hasattr(last, "predict_top"):
        return last.predict_top(X, n)
    scores = last.decision_function(X)
    return last.classes_[np.argsort(-scores, axis=1)[:, :n]]


def run(name, k, limit):
    """Measure in a process of its own; return None where it takes too long."""
    program = [sys.executable, __file__, "--one", name, "--classes", str(k)]
    try:
        done = subprocess.run(program, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {limit} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def shown(name, row):
    """Return a row as text."""
    if "failed" in row:
        return f"  {name:<30}{row['failed']}"
    figures = [f"{row[key]:9.3g}" if key in row else " " * 9 for key in COLUMNS]
    return f"  {name:<30}{''.join(figures)}"


COLUMNS = ("fit", "predict", "accuracy", "top_5", "log_loss", "megabytes")


def exponents(table):
    """Print how seconds of fit and of predict grow between the largest two numbers of classes."""
    sizes = sorted(table, key=int)[-2:]
    if len(sizes) < 2:
        return
    print("\nexponents of growth, fit and predict, from {} to {} classes".format(*sizes))
    for name in table[sizes[-1]]:
        a, b = (table[k].get(name, {}) for k in sizes)
        ratio = log(int(sizes[1]) / int(sizes[0]))
        found = [
            f"{log(b[c] / a[c]) / ratio:9.2f}" for c in ("fit", "predict") if c in a and c in b
        ]
        if found:
            print(f"  {name:<30}{''.join(found)}")


def main():
    """Run, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--classes", default="10,30,100,300,1000,3755")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each competitor")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "growth-in-classes.json"
    )
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, int(options.classes))))
        return
    table = {}
    for k in options.classes.split(","):
        print(f"\n{k} classes{'':22}{''.join(f'{name:>9}' for name in COLUMNS)}")
        table[k] = {}
        for name in OURS | PEERS:
            table[k][name] = run(name, int(k), options.limit)
            print(shown(name, table[k][name]), flush=True)
    exponents(table)
    stored = {"environment": environment(), "limit": options.limit, "classes": table}
    options.out.write_text(json.dumps(stored, indent=2) + "\n")


if __name__ == "__main__":
    main()
