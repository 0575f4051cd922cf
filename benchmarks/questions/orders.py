"""Question 4: which order of classes, which tree.

    python benchmarks/questions/orders.py run
    python benchmarks/questions/orders.py show

Adjacent codes in the order found from the data (``class_order="data"``), in sorted and in twenty
random orders; trees by linkage under every distance between classes, the sorted balanced tree and
twenty random balanced trees; one-vs-one. With logistic regression and an RBF SVM (C = 10, γ = 1/d),
both halves of at most 1000 samples. No probabilities: trees follow their path, codes are decoded.
"""

import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from stored_rows import IMAGES, StoredRows, halves, load_samples

from polychotomy import CodeClassifier, SharedKernelSVC, TreeClassifier
from polychotomy.linear import SharedLinear

DATA = ("glass", "vehicle", "dermatology", "vowel", "segment", "digits", "satimage", "pendigits")
DISTANCES = ("hausdorff", "centroid", "mahalanobis", "bhattacharyya", "confusion")
N_RANDOM = 20
LEARNERS = {
    "logistic": lambda: SharedLinear("logistic"),
    "svm": lambda: SharedKernelSVC(10.0, gamma="auto"),
}
COLUMNS = ("data_set", "half", "n_classes", "learner", "method", "draw", "error")


def methods(learner, k):
    """Yield the name, the number of the draw and the classifier of each method."""

    def code(name, **options):
        return CodeClassifier(learner(), name, probability=None, random_state=0, **options)

    def tree(structure, **options):
        return TreeClassifier(learner(), structure, probability=None, random_state=0, **options)

    yield "one-vs-one", 0, code("one_vs_one")
    yield "one-vs-rest", 0, code("one_vs_rest")
    yield "adjacent, data", 0, code("adjacent", class_order="data")
    yield "adjacent, sorted", 0, code("adjacent")
    yield "tree, balanced, sorted", 0, tree("balanced")
    yield "tree, balanced, data", 0, tree("balanced", class_order="data")
    for distance in DISTANCES:
        yield f"tree, linkage, {distance}", 0, tree("linkage", distance=distance)
    for draw in range(N_RANDOM):
        order = np.random.default_rng(draw).permutation(k).tolist()
        yield "adjacent, random", draw, code("adjacent", class_order=order)
        yield "tree, balanced, random", draw, tree("balanced", class_order=order)


def run():
    """Measure what the file does not have."""
    store = StoredRows("orders", COLUMNS)
    for name in DATA:
        data, y = load_samples(name)
        k = int(y.max()) + 1
        for half, (train, test) in enumerate(halves(data, y, 0)):
            for words, learner in LEARNERS.items():
                common = {"data_set": name, "half": half, "n_classes": k, "learner": words}
                for method, draw, classifier in methods(learner, k):
                    if not store.has(**common, method=method, draw=draw):
                        error = float(np.mean(classifier.fit(*train).predict(test[0]) != test[1]))
                        store.add(**common, method=method, draw=draw, error=error)
        print(name, flush=True)


def _share_above(draws, value):
    """Return how many draws are above a value, ties counted half."""
    return ((draws > value) + 0.5 * (draws == value)).mean()


def show():
    """Print mean errors less one-vs-one's, and draw them with the range of random orders."""
    from matplotlib import pyplot as plt

    rows = StoredRows("orders", COLUMNS).frame()
    keys = ["learner", "data_set", "method"]
    mean = 100 * rows.groupby([*keys, "draw"])["error"].mean()
    methods = list(dict.fromkeys(rows["method"]))
    _, axes = plt.subplots(1, len(LEARNERS), figsize=(9, 3.6), layout="constrained", sharey=True)
    for ax, learner in zip(axes, LEARNERS, strict=True):
        part = mean[learner]
        base = part.xs("one-vs-one", level="method").groupby("data_set").mean()
        names = [m for m in methods if m != "one-vs-one"]
        excess = [
            (part.xs(m, level="method").groupby("data_set").mean() - base).to_numpy() for m in names
        ]
        ax.boxplot(excess, orientation="horizontal", tick_labels=names, widths=0.6)
        ax.set(title=learner, xlabel="error above one-vs-one (points)")
        ax.axvline(0, color="0.7", linewidth=1)
        for method, each in zip(names, excess, strict=True):
            kind = method.partition(",")[0]
            random = next((m for m in methods if m.startswith(kind) and "random" in m), None)
            share = np.nan
            if random and method != random:
                draws = part.xs(random, level="method")
                own = part.xs(method, level="method").groupby("data_set").mean()
                share = np.mean([_share_above(draws[d], own[d]) for d in own.index])
            print(f"| {learner} | {method} | {each.mean():+.2f} | {share:.0%} |")
    plt.savefig(IMAGES / "orders.png", dpi=110)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run() if sys.argv[1] == "run" else show()
