"""
Codes compared
==============

A code says which binary problems are trained: a row for each class, a column for each problem. A
class marked +1 is on one side of the problem, −1 on the other, and 0 takes no part.
"""

# %%
# Six codes of eight classes. ρ is the smallest distance between two rows: about ρ/2 problems can
# be wrong before the nearest row is that of another class.

import matplotlib.pyplot as plt

from polychotomy import make_code
from polychotomy.plot import CodeDisplay

names = ["one_vs_rest", "hamming", "bch", "orthogonal", "sparse_random", "one_vs_one"]
codes = [make_code(name, 8) for name in names]
figure, axes = plt.subplots(2, 3, figsize=(10, 5), layout="constrained")
for ax, name, code in zip(axes.flat, names, codes, strict=True):
    CodeDisplay(code).plot(ax=ax)
    ax.set(title=f"{name}, ρ = {code.row_distance:g}", xticks=[])

# %%
# Which one is best depends on the learner. A larger distance corrects more errors, but the
# problems of a code with large distances are harder, because each side mixes many classes.
# Here a linear learner does best with pairs of classes.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import CodeClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0, stratify=y)
learners = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(random_state=0),
    "RBF SVM": SVC(C=10),
}
errors = np.array(
    [
        [
            1
            - CodeClassifier(learner, code=name, probability=None, random_state=0)
            .fit(X_train, y_train)
            .score(X_test, y_test)
            for learner in learners.values()
        ]
        for name in names
    ]
)

# %%
figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
height = 0.25
for i, learner in enumerate(learners):
    ax.barh(np.arange(len(names)) + (i - 1) * height, 100 * errors[:, i], height, label=learner)
ax.set(yticks=range(len(names)), yticklabels=names, xlabel="test error on digits (%)")
ax.invert_yaxis()
ax.legend()
plt.show()
