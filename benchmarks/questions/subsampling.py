"""Question 2: which negatives to keep when replicas are subsampled.

    python benchmarks/questions/subsampling.py run
    python benchmarks/questions/subsampling.py show

The errors on the paper's nine data sets, in its protocol, are those of ``polychotomy reproduce
sbc-figure-3``. ``run`` adds what it saves: CPU time of training SBC-BCH (C = 10, γ = 1/d) on halves
of at most 1000 samples with s random, near or hard negatives of k − 1, three draws of each.
"""

import os
import sys
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from stored_rows import IMAGES, ROOT, StoredRows, halves, load_samples

from polychotomy import SharedKernelSVC, SingleBinaryClassifier

DATA = ("glass", "vowel", "yeast", "satimage", "optdigits", "soybean", "letter")
KINDS = ("random", "near", "hard")
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
    _, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
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
    run() if sys.argv[1] == "run" else show()
