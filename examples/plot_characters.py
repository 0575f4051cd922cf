"""
A thousand characters
=====================

Chinese characters from their pixels, in fonts that were not seen in training: how do accuracy and
training time of linear learners change as the number of classes grows to 1000 and beyond?
"""

# %%
# The pictures of characters are not part of scikit-learn, so that the figures here were measured
# before: ``benchmarks/growth_in_classes.py`` stored them, one run of each method.

import json
from pathlib import Path

import matplotlib.pyplot as plt

results = Path("../benchmarks/results")  # as seen from examples/
measured = json.loads((results / "growth-hanzi.json").read_text())["classes"]

labels = {
    "one-vs-rest": "one-vs-rest",
    "one-vs-rest, means": "one-vs-rest, class means",
    "dense, 20 log k": "20 log k random problems",
    "dense, 20 log k, means": "20 log k random problems, class means",
    "wide tree": "wide tree",
    "napkinXC, label tree": "napkinXC",
}
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for method, label in labels.items():
    rows = [(int(k), of[method]) for k, of in measured.items() if "fit" in of.get(method, {})]
    counts = [k for k, _ in rows]
    style = "s--" if label == "napkinXC" else "o-"
    axes[0].plot(counts, [row["accuracy"] for _, row in rows], style, label=label)
    axes[1].plot(counts, [row["fit"] for _, row in rows], style, label=label)
axes[0].set(ylabel="accuracy", ylim=(0, 0.7))
axes[1].set(ylabel="CPU seconds to train", yscale="log")
for ax in axes:
    ax.set(xlabel="classes", xscale="log", xticks=[100, 300, 1000, 3755])
    ax.set_xticklabels([100, 300, 1000, 3755])
    ax.minorticks_off()
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)

# %%
# Compared with the codewords, random problems fail: a linear learner is wrong about almost half of
# the samples of such a problem. Compared with the mean outputs of each class, the same problems are
# almost as accurate as a label tree of napkinXC at 1000 classes, and train in a twentieth of its
# time. For all methods and what they cost see :doc:`/many-classes`.

plt.show()
