"""
The probability triangle
========================

Three probabilities that add up to one are a point in a triangle: near a corner the class is almost
certain, in the middle nothing is known. Binary classifiers rarely agree on such a point exactly.
Least squares and the Kullback–Leibler divergence find the nearest one in different senses.
"""

# %%
# Three overlapping classes, and a classifier for each class against the rest. Colours are the true
# classes of new samples, and grey lines show where two classes are equally probable.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from polychotomy import CodeClassifier
from polychotomy.assess import brier_score, log_loss
from polychotomy.plot import ProbabilityTriangleDisplay

centres = [(-1.5, -1), (1.5, -1), (0, 1.5)]
X, y = make_blobs(300, centers=centres, random_state=0)
X_new, y_new = make_blobs(600, centers=centres, random_state=1)

methods = {"least squares": "least_squares", "Kullback–Leibler": "kullback_leibler"}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, (name, method) in zip(axes, methods.items(), strict=True):
    model = CodeClassifier(LogisticRegression(), "one_vs_rest", probability=method).fit(X, y)
    P = model.predict_proba(X_new)
    ProbabilityTriangleDisplay.from_estimator(model, X_new, y_new, ax=ax)
    ax.set_title(f"{name}\nprobabilities of exactly 0: {np.mean(P == 0):.0%}", pad=18)
    print(f"{name}: log loss {log_loss(y_new, P):.3f}, Brier score {brier_score(y_new, P):.3f}")

# %%
# Least squares moves points onto the edges, where a class has the probability 0. The log loss
# punishes that heavily whenever such a class turns out to be the true one. With Kullback–Leibler
# no probability is 0, and the log loss is lower.

plt.show()
