"""Which samples to label next: learning curves of the ways to ask.

A few labels are known, and ten more are asked for at a time. The classifier is one binary SVM for
all classes; its own outputs, its calibrated probabilities or chance say which samples to ask for.
Drawn is how well it then does on samples set aside, the mean of a few draws.

Run with the environment variable POLYCHOTOMY_DATA naming the folder with the papers' data sets to
see satimage and pendigits, otherwise scikit-learn's digits and wine:

    python examples/active_learning.py [picture.png]
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from polychotomy import KernelSBCClassifier
from polychotomy.active import query

DRAWS = 5
WAYS = {
    "chance": {"strategy": "random"},
    "nearest the boundary": {"strategy": "boundary"},
    "smallest lead": {"strategy": "lead"},
    "smallest lead, spread": {"strategy": "lead", "diversity": 5},
    "probabilities: margin": {"strategy": "margin"},
    "probabilities: entropy": {"strategy": "entropy"},
}


def load():
    """Return two data sets, features standardised, and how many labels to ask for in all."""
    folder = os.environ.get("POLYCHOTOMY_DATA")
    if folder:
        found = {name: (_read(folder, name), 150) for name in ("satimage", "pendigits")}
    else:
        found = {
            "digits": (load_digits(return_X_y=True), 150),
            "wine": (load_wine(return_X_y=True), 40),
        }
    return {
        name: (StandardScaler().fit_transform(X), y, total)
        for name, ((X, y), total) in found.items()
    }


def _read(folder, name, n_samples=3000):
    import pandas as pd

    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz").sample(n_samples, random_state=0)
    return frame.drop(columns=["class", "split"]).to_numpy(float), frame["class"].to_numpy()


def learning_curve(X, y, total, way, seed):
    """Return numbers of labels and the accuracy with them on the half that is set aside."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    pool, test = np.array_split(order, 2)
    known = np.concatenate([pool[y[pool] == label][:2] for label in np.unique(y)])
    pool = np.setdiff1d(pool, known)
    step = 10 if total > 50 else 3
    by_probability = way["strategy"] in ("margin", "entropy")
    counts, accuracies = [], []
    while True:
        classifier = KernelSBCClassifier(
            C=100,
            weights=np.ones(len(np.unique(y))),  # frequencies among the labels asked for mislead
            probability="normalise" if by_probability else None,
            cv=2,
        ).fit(X[known], y[known])
        counts.append(len(known))
        accuracies.append(classifier.score(X[test], y[test]))
        if len(known) >= total:
            return counts, accuracies
        asked = query(classifier, X[pool], step, random_state=seed, **way)
        known, pool = np.append(known, pool[asked]), np.delete(pool, asked)


def main(picture):
    """Draw a panel for each data set."""
    sets = load()
    figure, axes = plt.subplots(1, len(sets), figsize=(11, 4.2), layout="constrained")
    for ax, (name, (X, y, total)) in zip(axes, sets.items(), strict=True):
        for colour, (words, way) in enumerate(WAYS.items()):
            draws = [learning_curve(X, y, total, way, seed) for seed in range(DRAWS)]
            mean = np.mean([accuracies for _, accuracies in draws], axis=0)
            ax.plot(draws[0][0], mean, color=f"C{colour}", label=words)
            sys.stdout.write(
                f"{name:>10}  {words:<24} {mean[-1]:.3f} with {draws[0][0][-1]} labels\n"
            )
        ax.set(title=name, xlabel="labels", ylabel="accuracy")
        ax.grid(alpha=0.3)
    axes[0].legend()
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "active_learning.png")
