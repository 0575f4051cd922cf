"""
Decision regions and zones of doubt
===================================

Binary classifiers that vote can contradict each other. Against the rest, a sample may be claimed by
no class or by several; one against one, votes can tie (Tax and Duin, 2002, Figure 1). Rejecting by
probability gives zones of doubt along the boundaries instead.
"""

# %%
# Three classes and linear classifiers; "?" marks where the answer is "don't know".

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from polychotomy import CodeClassifier
from polychotomy.plot import DecisionRegionDisplay

X, y = make_blobs(150, centers=[(-2, -1), (2, -1), (0, 2)], random_state=0)
settings = [
    ("one_vs_rest", {"rule": "votes"}),
    ("one_vs_one", {"rule": "votes"}),
    ("one_vs_one", {"rule": "probability", "threshold": 0.8}),
]
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, (code, rejection) in zip(axes, settings, strict=True):
    model = CodeClassifier(LogisticRegression(), code=code).fit(X, y)
    DecisionRegionDisplay.from_estimator(model, X, y, ax=ax, **rejection)
    ax.set(title=f"{code}, {rejection['rule']}", xticks=[], yticks=[])

# %%
# What rejection gains: the fewer samples are accepted, the fewer of those are wrong.

from polychotomy.plot import RejectCurveDisplay

X_new, y_new = make_blobs(2000, centers=[(-2, -1), (2, -1), (0, 2)], random_state=1)
display = RejectCurveDisplay.from_estimator(model, X_new, y_new)
plt.show()
