"""
Trees designed from the data
============================

A tree splits the classes into two groups, each group again, and so on until single classes are
left. Which groups are good can be read from the data: ``"linkage"`` joins the classes that are
nearest to each other first, so that similar classes are separated last.
"""

# %%
# Two trees for the digits. The colour and number of a node are its error on test samples, and
# the numbers in brackets are the training samples of each class.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from polychotomy import TreeClassifier
from polychotomy.plot import TreeDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0, stratify=y)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for ax, structure in zip(axes, ("balanced", "linkage"), strict=True):
    model = TreeClassifier(LogisticRegression(), structure).fit(X_train, y_train)
    TreeDisplay.from_estimator(model, X_test, y_test, ax=ax)
    score = model.score(X_test, y_test)
    ax.set_title(f"{structure}: error {1 - score:.1%}, depth {model.structure_.depth}")

# %%
# The balanced tree halves the digits in the order of their names; its first question, 0 to 4
# against 5 to 9, is answered wrongly most often. No question of the tree from the data is nearly as
# hard (mind the two scales), and its error in all is less than half. It is deeper, though: up to
# eight questions for a digit.
#
# The tree is text that can be edited and given back as ``structure``:

print(model.structure_)
plt.show()
