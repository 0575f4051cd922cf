"""
A single binary classifier and its coupling
===========================================

SBC (El-Yaniv and others) trains one binary classifier for all classes: a sample is
replicated for each class r, with a row E_r of an extension matrix appended to its features. With an
RBF kernel the extension acts only through M_rs = exp(−γ‖E_r − E_s‖²), which couples the classes.
"""

# %%
# The identity as extension, in three scales. A small scale makes the replicas of all classes alike;
# a large one separates them, so that M becomes the identity and the classes share only the bias.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split

from polychotomy import CodeClassifier, SharedKernelSVC, SingleBinaryClassifier
from polychotomy.learners import Concatenated

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, train_size=400, random_state=0, stratify=y
)
gamma = 0.1
figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.2), layout="constrained")
for ax, scale in zip(axes, (0.5, 2, 5), strict=True):
    coupling = rbf_kernel(scale * np.eye(10), gamma=gamma)
    image = ax.imshow(coupling, vmin=0, vmax=1, cmap="Blues")
    ax.set(
        title=f"scale {scale:g}: M_rs = {coupling[0, 1]:.2g}", xticks=range(10), yticks=range(10)
    )
figure.colorbar(image, ax=axes, label="coupling of two classes")

# %%
# What a class gets of its own is scaled by 1 − c, where c = M_rs for all r ≠ s: a strong coupling
# acts like a small C. The dashed curve makes up for it with C / (1 − c).

scales = np.array([0.1, 0.2, 0.5, 1, 2, 5])
c = np.exp(-2 * gamma * scales**2)


def error(scale, C):
    """Return the test error in per cent."""
    model = SingleBinaryClassifier(
        SharedKernelSVC(C=C, gamma=gamma), Concatenated("identity", scale=scale), probability=None
    )
    return 100 * (1 - model.fit(X_train, y_train).score(X_test, y_test))


fixed = [error(scale, 1.0) for scale in scales]
scaled = [error(scale, C) for scale, C in zip(scales, 1 / (1 - c), strict=True)]
separate = CodeClassifier(SharedKernelSVC(gamma=gamma), "one_vs_rest", probability=None)
rest = 100 * (1 - separate.fit(X_train, y_train).score(X_test, y_test))

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.semilogx(scales, fixed, "o-", label="C = 1")
ax.semilogx(scales, scaled, "s--", label="C = 1 / (1 − c)")
ax.axhline(rest, color="0.6", linewidth=1, label="one_vs_rest, C = 1")
ax.set(xlabel="scale of the extension", ylabel="test error (%)")
ax.set_ylim(bottom=0)
ax.legend()

# %%
# With a fixed C, a small scale costs accuracy. With C scaled by the coupling, the curve is nearly
# flat: here the coupling itself hardly matters, and a single binary classifier is about as accurate
# as one classifier for each class.

plt.show()
