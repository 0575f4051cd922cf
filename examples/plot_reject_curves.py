"""
Reject curves
=============

A classifier that may say "don't know" makes fewer errors on what it accepts. How many fewer depends
on how well its probabilities rank samples by difficulty.
"""

# %%
# The digits with noise, by three reductions of the same learner. Samples are rejected in the order
# of their largest probability, the least sure first.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from polychotomy import CodeClassifier, SharedKernelSVC
from polychotomy.assess import reject_curve
from polychotomy.plot import method_colours

X, y = load_digits(return_X_y=True)
X = X / 16 + np.random.default_rng(0).normal(scale=0.4, size=X.shape)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=600, random_state=0)

names = ["one_vs_rest", "one_vs_one", "bch"]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, colour in zip(names, method_colours(names), strict=True):
    model = CodeClassifier(SharedKernelSVC(gamma=0.02), name, random_state=0)
    P = model.fit(X_train, y_train).predict_proba(X_test)
    curve = reject_curve(y_test, P, classes=model.classes_)
    ax.plot(1 - curve.coverage, 100 * curve.error, color=colour, label=name)
ax.set(xlabel="fraction rejected", ylabel="error of the accepted (%)", xlim=(0, 1))
ax.set_ylim(bottom=0)
ax.legend()

# %%
# All curves fall almost in a straight line at first. If half of the samples are rejected, the error
# of the others is less than a third of what it was. Saying "don't know" gains far more here than
# another reduction would.

plt.show()
