"""Question 5: does the iteration for orthogonal codes give up little on other codes.

    python benchmarks/questions/iteration.py run
    python benchmarks/questions/iteration.py show

Mills (2023), section 8, says so without figures. Five strict codes with an RBF SVM (C = 10,
γ = 1/d, Platt's sigmoid on five held-out folds), both halves of at most 1000 samples: errors, Brier
scores (root of the mean over samples and classes), uncertainty coefficients and CPU time of solving
for the probabilities, by exact least squares and by the iteration.
"""

import os
import sys
import warnings
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from stored_rows import IMAGES, StoredRows, halves, load_samples

from polychotomy import CodeClassifier, SharedKernelSVC
from polychotomy.assess import brier_score, uncertainty_coefficient

DATA = ("glass", "vehicle", "dermatology", "vowel", "segment", "digits", "satimage", "pendigits")
CODES = ("orthogonal", "dense_random", "bch", "one_vs_rest", "adjacent")
METHODS = ("least_squares", "iteration")
COLUMNS = (
    *("data_set", "half", "n_classes", "code", "n_problems", "method", "error", "brier"),
    *("uncertainty_coefficient", "predict_seconds"),
)


def run():
    """Measure what the file does not have."""
    store = StoredRows("iteration", COLUMNS)
    for name in DATA:
        data, y = load_samples(name)
        for half, (train, test) in enumerate(halves(data, y, 0)):
            for code in CODES:
                for method in METHODS:
                    if not store.has(data_set=name, half=half, code=code, method=method):
                        row = measure(train, test, code, method)
                        n_classes = int(y.max()) + 1
                        store.add(data_set=name, half=half, n_classes=n_classes, **row)
        print(name, flush=True)


def measure(train, test, code, method):
    """Return the row of a code and a method."""
    learner = SharedKernelSVC(10.0, gamma="auto")
    trained = CodeClassifier(learner, code, "probability", probability=method, random_state=0)
    trained.fit(*train)
    trained.predict_proba(test[0][:5])
    start = process_time()
    p = trained.predict_proba(test[0])
    seconds = process_time() - start
    predicted = trained.classes_[p.argmax(axis=1)]
    return {
        "code": code,
        "n_problems": trained.code_.n_problems,
        "method": method,
        "error": float(np.mean(predicted != test[1])),
        "brier": brier_score(test[1], p, form="mills", classes=trained.classes_),
        "uncertainty_coefficient": uncertainty_coefficient(test[1], predicted),
        "predict_seconds": seconds,
    }


def show():
    """Print a table and draw the errors of both methods against each other."""
    from matplotlib import pyplot as plt

    rows = StoredRows("iteration", COLUMNS).frame()
    keys = ["data_set", "code"]
    mean = rows.groupby([*keys, "method"])[["error", "brier", "predict_seconds"]].mean().unstack()
    _, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
    ax.axline((5, 5), slope=1, color="0.7", linewidth=1)
    for code in CODES:
        part = 100 * mean["error"].xs(code, level="code")
        ax.scatter(part["least_squares"], part["iteration"], label=code.replace("_", " "), s=22)
        change = part["iteration"] - part["least_squares"]
        brier = mean["brier"].xs(code, level="code")
        print(
            f"| {code} | {change.mean():+.2f} | {change.max():+.2f} | {(change > 0).sum()} of "
            f"{len(change)} | {(brier['iteration'] - brier['least_squares']).mean():+.4f} |"
        )
    ax.set(xlabel="error by least squares (%)", ylabel="error by the iteration (%)")
    ax.set(xscale="log", yscale="log")
    ax.legend()
    plt.savefig(IMAGES / "iteration.png", dpi=110)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run() if sys.argv[1] == "run" else show()
