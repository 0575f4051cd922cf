"""
Active learning
===============

Labels are expensive, and some teach more than others. ``query`` chooses the samples of a pool whose
labels are most useful to the classifier next.
"""

# %%
# The digits, two labels of each class to begin with, and ten more at a time. They are chosen at
# random, or where the lead of the best class over the second is smallest. Lines are means of five
# draws, and bands their range.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from polychotomy import CodeClassifier, SharedKernelSVC
from polychotomy.active import query

X, y = load_digits(return_X_y=True)
X = X / 16


def learning_curve(strategy, seed):
    """Return numbers of labels and the test error with them."""
    pool, test = np.array_split(np.random.default_rng(seed).permutation(len(y)), 2)
    known = np.concatenate([pool[y[pool] == label][:2] for label in range(10)])
    pool = np.setdiff1d(pool, known)
    counts, errors = [], []
    while len(known) <= 200:
        model = CodeClassifier(SharedKernelSVC(C=10, gamma=0.1), "one_vs_rest", probability=None)
        model.fit(X[known], y[known])
        counts.append(len(known))
        errors.append(100 * (1 - model.score(X[test], y[test])))
        chosen = query(model, X[pool], 10, strategy=strategy, random_state=seed)
        known, pool = np.append(known, pool[chosen]), np.delete(pool, chosen)
    return counts, errors


figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, strategy in {"at random": "random", "smallest lead": "lead"}.items():
    draws = [learning_curve(strategy, seed) for seed in range(5)]
    counts, errors = draws[0][0], np.array([errors for _, errors in draws])
    (line,) = ax.plot(counts, errors.mean(axis=0), label=name)
    ax.fill_between(
        counts, errors.min(axis=0), errors.max(axis=0), color=line.get_color(), alpha=0.15
    )
    print(f"{name}: error {errors[:, -1].mean():.1f} % with {counts[-1]} labels")
ax.set(xlabel="labels", ylabel="test error (%)")
ax.set_ylim(bottom=0)
ax.legend()

# %%
# Asking where the classifier is in doubt reaches with 100 labels an error that random labels do not
# reach with 200.

plt.show()
