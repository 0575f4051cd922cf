"""
A thousand classes
==================

With a thousand classes, one problem for each pair would be half a million problems. A linear
one-vs-rest has a thousand, which ``SharedLinear`` trains at once. How their outputs are read
matters just as much.
"""

# %%
# A thousand Gaussian classes in 20 dimensions, ten training samples each. Comparing a sample's
# outputs with the mean outputs of each class ("class_means") instead of its codeword costs little.
# A random code with 200 problems makes a smaller model.

from time import process_time

import matplotlib.pyplot as plt
import numpy as np

from polychotomy import CodeClassifier, SharedLinear, make_code

rng = np.random.default_rng(0)
n_classes, n_features = 1000, 20
centres = rng.normal(size=(n_classes, n_features))


def draw(n):
    """Return n samples of each class."""
    y = np.repeat(np.arange(n_classes), n)
    return centres[y] + rng.normal(scale=0.8, size=(len(y), n_features)), y


X_train, y_train = draw(10)
X_test, y_test = draw(3)
dense = make_code("dense_random", n_classes, n_problems=200, random_state=0)
settings = {
    "one_vs_rest, largest output": ("one_vs_rest", "linear"),
    "one_vs_rest, class means": ("one_vs_rest", "class_means"),
    "200 random problems, codewords": (dense, "linear"),
    "200 random problems, class means": (dense, "class_means"),
}
tops = np.arange(1, 21)
found = {}
for name, (code, decoder) in settings.items():
    start = process_time()
    model = CodeClassifier(SharedLinear(), code, decoder=decoder, probability=None)
    best = model.fit(X_train, y_train).predict_top(X_test, tops[-1])
    found[name] = np.cumsum((best == y_test[:, None]).mean(axis=0))
    print(f"{name:>32}: {process_time() - start:.1f} s of CPU time")

# %%
# ``predict_top`` names several classes, the best first. Class means improve both codes greatly, and
# with them 200 problems do almost as well as a thousand. Classes of one Gaussian each suit them;
# for figures on written characters see :doc:`/many-classes`.

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name, accuracy in found.items():
    ax.plot(tops, accuracy, "o-", markersize=3, label=name)
ax.set(xlabel="number of classes that are named", ylabel="true class is among them")
ax.set(xticks=[1, 5, 10, 15, 20], ylim=(0, 1.02))
ax.legend()
plt.show()
