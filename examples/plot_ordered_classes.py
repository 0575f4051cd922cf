"""
Ordered classes
===============

Grades, age groups and sizes have an order. The code ``"adjacent"`` uses it: each of its k − 1
problems asks whether a sample is above or below a threshold.
"""

# %%
# Four classes along one feature. No threshold separates a class in the middle from the rest, so
# that linear one-vs-rest is never sure of damp and moist. Each problem of the adjacent code has a
# threshold as its answer: all four classes get high probabilities where they belong.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from polychotomy import CodeClassifier

rng = np.random.default_rng(0)
names = ["dry", "damp", "moist", "wet"]
x = rng.uniform(0, 4, 800)
rank = np.clip(x + rng.normal(scale=0.3, size=x.size), 0, 3.99).astype(int)
X, y = x[:, None], np.array(names)[rank]

grid = np.linspace(0, 4, 200)[:, None]
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), sharey=True, layout="constrained")
for ax, code in zip(axes, ("one_vs_rest", "adjacent"), strict=True):
    model = CodeClassifier(LogisticRegression(), code, class_order=names).fit(X[:400], y[:400])
    P = model.predict_proba(grid)
    for name in names:
        ax.plot(grid, P[:, model.classes_ == name], label=name)
    error = 1 - model.score(X[400:], y[400:])
    ax.set(title=f"{code}, test error {error:.0%}", xlabel="moisture", ylim=(0, 1.02))
axes[0].set_ylabel("probability")
axes[1].legend(loc="center right")

# %%
# The problems in words:

print(model.problems_)
plt.show()
