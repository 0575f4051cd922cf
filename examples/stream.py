"""Train a code of 26 classes on more rows than memory would hold.

The rows are generated on the fly, block by block, as a file or a data base would deliver them, and
each block is forgotten when it has been learnt. All 325 problems of one-vs-one share the sums over
a block. A few thousand rows are held out, on which the probabilities are calibrated:

    python examples/stream.py [ROWS] [--learner sgd]

The default of a million rows takes some seconds, twenty million some minutes in the same memory.
"""

import argparse
import resource
import sys
from time import perf_counter, process_time

import numpy as np
from sklearn.linear_model import SGDClassifier

from polychotomy import CodeClassifier, SharedLinear
from polychotomy.assess import log_loss

N_CLASSES, N_FEATURES, BLOCK = 26, 16, 2**16
LEARNERS = {"squared": SharedLinear(), "sgd": SGDClassifier(average=True, random_state=0)}


def generated(n_rows, seed):
    """Yield blocks of rows and labels; classes have different centres, widths and frequencies."""
    shape = np.random.default_rng(0)
    centres = shape.normal(size=(N_CLASSES, N_FEATURES))
    widths = shape.uniform(0.5, 1.5, size=(N_CLASSES, N_FEATURES))
    frequencies = shape.dirichlet(np.full(N_CLASSES, 5.0))
    rng = np.random.default_rng([1, seed])
    for start in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - start)
        y = rng.choice(N_CLASSES, size=n, p=frequencies)
        X = rng.standard_normal((n, N_FEATURES), dtype=np.float32) * widths[y] + centres[y]
        yield X, y


def peak_memory():
    """Return the largest memory of this process so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def main():
    """Train on generated rows, and say how long it took and in which memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--learner", choices=LEARNERS, default="squared")
    args = parser.parse_args()
    classifier = CodeClassifier(LEARNERS[args.learner], "one_vs_one", reservoir=200 * N_CLASSES)
    before, start, cpu, done = peak_memory(), perf_counter(), process_time(), 0
    for number, (X, y) in enumerate(generated(args.rows, seed=0), 1):
        classifier.partial_fit(X, y, classes=np.arange(N_CLASSES))
        done += len(y)
        if number % 32 == 0 or done == args.rows:
            rate = done / (perf_counter() - start)
            print(f"{done:>10} rows, {rate:,.0f} rows/s, peak memory {peak_memory():.0f} MB")
    print(f"CPU time {process_time() - cpu:.1f} s; memory of the libraries {before:.0f} MB")
    X, y = next(generated(20_000, seed=1))
    p = classifier.predict_proba(X)
    wrong = np.mean(classifier.predict(X) != y)
    print(f"new rows: {wrong:.2%} wrong, log loss {log_loss(y, p):.4f}")
    held_out = classifier.held_out_
    print(f"{len(held_out.target)} rows were held out")


if __name__ == "__main__":
    main()
