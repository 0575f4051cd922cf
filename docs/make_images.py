"""Draws the pictures of the documentation: ``python docs/make_images.py``."""

from pathlib import Path

from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from polychotomy import TreeClassifier, make_code
from polychotomy.plot import CodeDisplay, TreeDisplay

FOLDER = Path(__file__).parent / "images"


def draw_codes() -> None:
    """Draw four codes of seven classes side by side."""
    names = ["one_vs_rest", "one_vs_one", "orthogonal", "bch"]
    codes = [make_code(name, 7) for name in names]
    figure, axes = plt.subplots(
        1,
        len(codes),
        figsize=(13, 2.9),
        width_ratios=[code.n_problems for code in codes],
        layout="constrained",
    )
    for code, ax in zip(codes, axes, strict=True):
        CodeDisplay(code).plot(ax=ax)
        ax.set(title=f"{code.name}, ρ = {code.row_distance:g}", xticks=[])
        if ax is not axes[0]:
            ax.set(ylabel="", yticks=[])
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / "codes.png", dpi=130)


def draw_tree() -> None:
    """Draw the tree of the digits, with the error of each node."""
    X, y = load_digits(return_X_y=True)
    classifier = TreeClassifier(SVC(), distance="centroid").fit(X[:900], y[:900])
    display = TreeDisplay.from_estimator(classifier, X[900:], y[900:])
    display.figure_.savefig(FOLDER / "tree.png", dpi=110)


if __name__ == "__main__":
    draw_codes()
    draw_tree()
