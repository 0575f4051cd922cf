"""
Loss-based against Hamming decoding
===================================

Decoding turns the outputs of all binary problems into a class. Hamming decoding counts on how many
problems the signs of the outputs and a class's codeword disagree. Loss-based decoding (Allwein,
Schapire and Singer, 2000) adds up a loss of the outputs instead, so that a sure output counts
more than a doubtful one.
"""

# %%
# Boosted stumps on the digits, for four codes. Each model is trained once: a decoder changes only
# how its outputs are read.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from polychotomy import CodeClassifier
from polychotomy.decoding import decode
from polychotomy.learners import StumpBoosting

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
codes = ["one_vs_rest", "one_vs_one", "dense_random", "sparse_random"]
decoders = ["hamming", "linear", "exponential"]
models = {
    name: CodeClassifier(
        StumpBoosting(20), name, decoder="hamming", probability=None, random_state=0
    ).fit(X_train, y_train)
    for name in codes
}
outputs = {name: model.binary_outputs(X_test) for name, model in models.items()}


def error(name, decoder):
    """Return the test error in per cent."""
    scores = decode(outputs[name], models[name].code_, decoder)
    return 100 * np.mean(scores.argmax(axis=1) != y_test)


errors = {decoder: [error(name, decoder) for name in codes] for decoder in decoders}

# %%
# With every code here, the exponential loss, which boosting minimises, makes fewer errors than
# Hamming decoding. The gap is largest for one-vs-rest. A loss that does not fit the learner can be
# worse than none: with one-vs-one and the sparse code, the linear loss is.

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for i, (decoder, values) in enumerate(errors.items()):
    bars = ax.bar(np.arange(len(codes)) + 0.27 * (i - 1), values, 0.25, label=decoder)
    ax.bar_label(bars, fmt="%.1f", fontsize=8)
ax.set(xticks=range(len(codes)), xticklabels=codes, ylabel="test error (%)")
ax.margins(y=0.1)
ax.legend(title="decoder")

# %%
# Why one-vs-rest suffers most: its Hamming distances tie as soon as no class or several classes
# claim a sample, and of tied classes the first is taken.

for name in codes:
    scores = decode(outputs[name], models[name].code_, "hamming")
    tied = np.sum(scores == scores.max(axis=1, keepdims=True), axis=1) > 1
    print(f"{name:>14}: the nearest codeword is tied for {tied.mean():.0%} of the samples")
plt.show()
