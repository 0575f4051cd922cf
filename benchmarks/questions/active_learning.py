"""Question 3: active learning with a single classifier, by Tong's margins and by class margins.

    python benchmarks/questions/active_learning.py run
    python benchmarks/questions/active_learning.py show

Two labels of each class are known, five more are asked for at a time, ten draws. SBC-KERNEL
(C = 100, equal weights) asks for the samples whose two best replicas are closest ("lead"), or whose
nearest replica is closest to the boundary. One-vs-rest with the same SVM asks for the samples with
the smallest product of |f_s| over its problems, which is how we read Tong's per-problem margins, or
with the closest two class scores. Chance asks at random. Stored is the error on the half that is
set aside, averaged over the curve and at its end.
"""

import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from stored_rows import IMAGES, StoredRows, halves, load_samples

from polychotomy import CodeClassifier, KernelSBCClassifier, SharedKernelSVC
from polychotomy.active import query

DATA = ("iris", "wine", "vehicle", "glass", "segment", "vowel", "satimage", "digits", "pendigits")
WAYS = ("SBC, lead", "SBC, boundary", "SBC, chance", "OVR, Tong", "OVR, lead", "OVR, chance")
COLUMNS = ("data_set", "n_classes", "draw", "way", "labels", "mean_error", "last_error")
STEP, N_STEPS, N_DRAWS = 5, 12, 10


def make(way, k):
    """Return the classifier that is trained."""
    if way.startswith("SBC"):
        return KernelSBCClassifier(C=100, weights=np.ones(k), probability=None)
    return CodeClassifier(SharedKernelSVC(C=100), "one_vs_rest", "linear", probability=None)


def ask(way, classifier, pool, seed):
    """Return which samples of the pool to label."""
    if way == "OVR, Tong":
        sizes = np.log(np.abs(classifier.binary_outputs(pool)) + 1e-12).sum(axis=1)
        return np.argsort(sizes, kind="stable")[:STEP]
    strategy = {"lead": "lead", "boundary": "boundary", "chance": "random"}[way.split(", ")[1]]
    return query(classifier, pool, STEP, strategy=strategy, random_state=seed)


def curve(way, train, test, k, seed):
    """Return the errors after each step."""
    (X, y), (X_test, y_test) = train, test
    order = np.random.default_rng(seed).permutation(len(y))
    known = np.concatenate([order[y[order] == c][:2] for c in range(k)])
    pool = np.setdiff1d(order, known)
    errors = []
    for step in range(N_STEPS + 1):
        classifier = make(way, k).fit(X[known], y[known])
        errors.append(float(np.mean(classifier.predict(X_test) != y_test)))
        if step < N_STEPS and len(pool) > STEP:
            asked = ask(way, classifier, X[pool], 100 * seed + step)
            known, pool = np.append(known, pool[asked]), np.delete(pool, asked)
    return errors, len(known)


def run():
    """Measure what the file does not have."""
    store = StoredRows("active_learning", COLUMNS)
    for name in DATA:
        data, y = load_samples(name)
        k = int(y.max()) + 1
        for draw in range(N_DRAWS):
            train, test = next(iter(halves(data, y, draw)))
            for way in WAYS:
                if not store.has(data_set=name, draw=draw, way=way):
                    errors, labels = curve(way, train, test, k, draw)
                    store.add(
                        data_set=name,
                        n_classes=k,
                        draw=draw,
                        way=way,
                        labels=labels,
                        mean_error=float(np.mean(errors)),
                        last_error=errors[-1],
                    )
        print(name, flush=True)


def show():
    """Print mean errors over the curves and at their ends, and draw the latter."""
    from matplotlib import pyplot as plt

    rows = StoredRows("active_learning", COLUMNS).frame()
    mean = 100 * rows.groupby(["data_set", "way"])[["mean_error", "last_error"]].mean().unstack()
    last = mean["last_error"][list(WAYS)]
    print(mean["mean_error"][list(WAYS)].round(1).to_string())
    print(last.round(1).to_string())
    print(last.rank(axis=1).mean().round(2).to_string())
    _, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    gain = last.sub(last["OVR, chance"], axis=0)
    for i, way in enumerate(WAYS[:-1]):
        ax.bar(np.arange(len(gain)) + 0.16 * (i - 2), gain[way], 0.15, label=way)
    ax.set_xticks(np.arange(len(gain)), gain.index, rotation=30)
    ax.axhline(0, color="0.3", linewidth=1)
    ax.set(ylabel="last error less that of one-vs-rest\nand chance (points)")
    ax.legend(fontsize=8, loc="lower right")
    plt.savefig(IMAGES / "active-learning.png", dpi=110)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run() if sys.argv[1] == "run" else show()
