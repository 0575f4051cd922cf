"""Question 2: which negatives to keep when replicas are subsampled.

    python benchmarks/questions/subsampling.py run
    python benchmarks/questions/subsampling.py every
    python benchmarks/questions/subsampling.py show

The errors on the paper's nine data sets, in its protocol, are those of ``polychotomy reproduce
sbc-figure-3``. ``run`` adds what it saves: CPU time of training SBC-BCH (C = 10, γ = 1/d) on halves
of at most 1000 samples with s random, near or hard negatives of k − 1, three draws of each.
``every`` measures the error with every number of random negatives, as in the paper's Figure 3: on
halves of at most 1000 samples of its nine data sets, three draws of both halves, σ and C tuned with
all negatives on the first half of each draw.
"""

import os
import sys
import warnings
from itertools import product
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from stored_rows import IMAGES, ROOT, StoredRows, halves, load_samples

from polychotomy import GreedySearchCV, SharedKernelSVC, SingleBinaryClassifier

DATA = ("glass", "vowel", "yeast", "satimage", "optdigits", "soybean", "letter")
KINDS = ("random", "near", "hard")
PAPER = (
    *("glass", "car", "page-blocks", "satimage", "yeast", "optdigits", "soybean", "abalone"),
    "spectrometer",
)
EVERY = ("data_set", "n_classes", "draw", "half", "s", "n_test", "n_wrong", "gamma", "C")
COLUMNS = ("data_set", "n_classes", "draw", "kind", "s", "fit_seconds", "error")


def run():
    """Measure what the file does not have."""
    store = StoredRows("subsampling", COLUMNS)
    for name in DATA:
        data, y = load_samples(name)
        k = int(y.max()) + 1
        for draw in range(3):
            train, test = next(iter(halves(data, y, draw)))
            cases = [("all", k - 1), *((kind, s) for kind in KINDS for s in (1, 2, 4) if s < k - 1)]
            for kind, s in cases:
                if not store.has(data_set=name, draw=draw, kind=kind, s=s):
                    row = measure(train, test, kind, s, draw)
                    store.add(data_set=name, n_classes=k, draw=draw, kind=kind, s=s, **row)
        print(name, flush=True)


def measure(train, test, kind, s, draw):
    """Return training time and error with s negatives."""
    kept = {} if kind == "all" else {"n_negatives": s, "negatives": kind}
    learner = SharedKernelSVC(10.0, gamma="auto")
    classifier = SingleBinaryClassifier(learner, "bch", probability=None, random_state=draw, **kept)
    start = process_time()
    classifier.fit(*train)
    seconds = process_time() - start
    return {"fit_seconds": seconds, "error": float(np.mean(classifier.predict(test[0]) != test[1]))}


def run_every():
    """Measure the error with every number of random negatives, what the file does not have."""
    store = StoredRows("subsampling-every", EVERY)
    for name, draw in product(PAPER, range(3)):
        data, y = load_samples(name)
        k, scales = int(y.max()) + 1, {}
        for half, (train, test) in enumerate(halves(data, y, draw)):
            place = {"data_set": name, "n_classes": k, "draw": draw, "half": half}
            missing = [s for s in range(1, k) if not store.has(**place, s=s)]
            if missing and not scales:
                scales = tuned(*next(halves(data, y, draw))[0])
            for s in missing:
                wrong = count_wrong(train, test, s, draw, scales)
                store.add(**place, s=s, n_test=len(test[1]), n_wrong=wrong, **scales)
        print(name, draw, flush=True)


def tuned(X, y):
    """Return γ and C that a greedy search finds with all negatives."""
    classifier = SingleBinaryClassifier(SharedKernelSVC(), "bch", probability=None, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer samples than folds
        found = GreedySearchCV(classifier, rounds=1, cv=5, refit=False).fit(X, y).best_params_
    return {name.removeprefix("estimator__"): float(value) for name, value in found.items()}


def count_wrong(train, test, s, draw, scales):
    """Return how many test samples are wrong with s random negatives."""
    learner = SharedKernelSVC(scales["C"], gamma=scales["gamma"])
    kept = {"n_negatives": s} if s < train[1].max() else {}
    classifier = SingleBinaryClassifier(learner, "bch", probability=None, random_state=draw, **kept)
    return int(np.sum(classifier.fit(*train).predict(test[0]) != test[1]))


def ratios():
    """Return the error with s random negatives over that with all; rows are s and data sets."""
    rows = StoredRows("subsampling-every", EVERY).frame()
    wrong = rows.groupby(["data_set", "n_classes", "s"], as_index=False)["n_wrong"].sum()
    full = wrong[wrong["s"] == wrong["n_classes"] - 1].set_index("data_set")["n_wrong"]
    wrong["ratio"] = wrong["n_wrong"] / wrong["data_set"].map(full)
    return wrong


def show_every(ax):
    """Print and draw what every number of random negatives costs."""
    found = ratios()
    for name, part in found.groupby("data_set"):
        k, ratio = part["n_classes"].iloc[0], part.set_index("s")["ratio"]
        ax.plot((ratio.index + 1) / k, ratio, marker=".", linewidth=1, label=name)
        said = {"least": ratio.min(), "most": ratio.max(), "s = 4": ratio.get(4, 1.0)}
        text = ", ".join(f"{words} {100 * (value - 1):+.1f} %" for words, value in said.items())
        print(f"{name}, {k} classes: {text}, most at s = {ratio.idxmax()}")
    four = [part.set_index("s")["ratio"].get(4, 1.0) for _, part in found.groupby("data_set")]
    print(f"min(4, k − 1): {100 * (np.mean(four) - 1):+.1f} ± {100 * np.std(four, ddof=1):.1f} %")
    ax.axhline(1, color="0.7", linewidth=1)
    ax.set(xlabel="(s + 1) / k", ylabel="error / that of all", title="every s, random")
    ax.legend(fontsize="x-small")


def increases():
    """Return by how many per cent s negatives raise the error, on the paper's data sets."""
    import pandas as pd

    rows = pd.read_csv(ROOT / "results" / "sbc-figure-3.csv")
    rows = rows[rows["quantity"] == "error_percent"]
    full = rows[rows["method"] == "SBC-BCH"].set_index("data_set")["ours"]
    parts = rows["method"].str.extract(r"SBC-BCH, (?P<kind>\w+), s = (?P<s>\d+)").dropna()
    found = rows.loc[parts.index, ["data_set", "ours"]].join(parts)
    found["increase"] = 100 * (found["ours"] / found["data_set"].map(full) - 1)
    return found.astype({"s": int})


def show():
    """Print mean increases of the error and of the speed, and draw both."""
    from matplotlib import pyplot as plt

    errors, times = increases(), StoredRows("subsampling", COLUMNS).frame()
    full = times[times["kind"] == "all"].groupby("data_set")["fit_seconds"].mean()
    times = times[times["kind"] != "all"].groupby(["data_set", "kind", "s"], as_index=False).mean()
    times["ratio"] = times["fit_seconds"] / times["data_set"].map(full)
    _, (every, left, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    show_every(every)
    for kind in KINDS:
        part = errors[(errors["kind"] == kind) & errors["s"].isin((1, 2, 4))].groupby("s")
        mean, worst = part["increase"].mean(), part["increase"].max()
        left.plot(mean.index, mean, marker="o", label=kind)
        left.plot(worst.index, worst, marker="x", linestyle=":", color=left.lines[-1].get_color())
        ratio = times[times["kind"] == kind].groupby("s")["ratio"].median()
        right.plot(ratio.index, ratio, marker="o", label=kind)
        for s in mean.index:
            n = int(part.size()[s])
            print(
                f"| {kind} | {s} | {n} | {mean[s]:+.1f} | {part['increase'].median()[s]:+.1f} | "
                f"{worst[s]:+.1f} | {ratio[s]:.2f} |"
            )
    left.axhline(0, color="0.7", linewidth=1)
    left.set(xlabel="negatives s", ylabel="increase of the error (%)", title="mean, dotted: worst")
    right.set(xlabel="negatives s", ylabel="training time / that of all", title="median")
    left.legend()
    plt.savefig(IMAGES / "subsampling.png", dpi=110)


if __name__ == "__main__":
    {"run": run, "every": run_every, "show": show}[sys.argv[1]]()
