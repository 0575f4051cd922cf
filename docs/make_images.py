"""Draws the pictures of the documentation: ``python docs/make_images.py``."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import ListedColormap
from matplotlib.patches import FancyBboxPatch
from sklearn.datasets import load_digits, make_blobs
from sklearn.svm import SVC

from polychotomy import CodeClassifier, TreeClassifier, make_code
from polychotomy.plot import CodeDisplay, DecisionRegionDisplay, TreeDisplay

CLASSES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]  # those of the displays

FOLDER = Path(__file__).parent / "images"

# From the lowest layer to the highest: what it does, the packages in it, and its colour.
LAYERS = [
    ("binary questions", ["codes", "structures"], "#dceaf5"),
    ("learners", ["learners", "kernel", "linear", "parallel"], "#e2f1e9"),
    ("the way back", ["decoding", "calibration", "probability"], "#e2f1e9"),
    ("put together", ["training", "readout"], "#faeadc"),
    ("estimators, measures, data", ["classifiers", "assess", "datasets"], "#faeadc"),
    ("choose and compare", ["reductions", "evaluate", "active"], "#f5e6ef"),
    ("show, store, reproduce", ["plot", "report", "cli", "saving", "export", "lab"], "#eeeeee"),
]


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


def draw_overview(narrow: bool = False) -> None:
    """Draw what the library does: classes, a code, binary problems, and the way back."""
    X, y = make_blobs(240, centers=[(-2, -1.2), (2, -1.4), (0, 2.2), (0, 0)], random_state=3)
    classifier = CodeClassifier(SVC(gamma=0.5), code="one_vs_rest").fit(X, y)
    figure = plt.figure(figsize=(6, 6.2) if narrow else (13, 3.3), layout="constrained")
    widths = None if narrow else [1, 0.8, 1.15, 1]
    shape = (2, 2) if narrow else (1, 4)
    parts = list(figure.subfigures(*shape, width_ratios=widths).flat)
    titles = ["four classes", "a code", "binary problems", "class, or “?”"]
    for number, (part, title) in enumerate(zip(parts, titles, strict=True), start=1):
        part.suptitle(f"{number}. {title}", fontsize=12)
    colours = ListedColormap(CLASSES[:4])
    samples = {"c": y, "cmap": colours, "s": 12, "edgecolors": "white", "linewidths": 0.3}
    plain = parts[0].subplots()
    plain.scatter(*X.T, **samples)
    CodeDisplay(classifier.code_).plot(ax=parts[1].subplots())
    parts[1].axes[0].set(xlabel="problem", ylabel="class", title="")
    limits = [(X[:, f].min() - 0.5, X[:, f].max() + 0.5) for f in (0, 1)]
    grid = np.meshgrid(*(np.linspace(*limit, 120) for limit in limits))
    points = np.column_stack([axis.ravel() for axis in grid])
    for ax, estimator, words in zip(
        parts[2].subplots(2, 2).flat, classifier.estimators_, classifier.problems_, strict=True
    ):
        output = estimator.decision_function(points).reshape(grid[0].shape)
        ax.contourf(*grid, output, levels=np.linspace(-1.2, 1.2, 13), cmap="RdBu", extend="both")
        ax.set_title(words, fontsize=8)
    display = DecisionRegionDisplay.from_estimator(
        classifier, X, y, rule="probability", threshold=0.7, ax=parts[3].subplots()
    )
    for ax in (plain, *parts[2].axes, display.ax_):
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="", xlim=limits[0], ylim=limits[1])
        ax.legend_ and ax.legend_.remove()
    for mark in display.ax_.texts:  # a "?" on the border would be cut
        at = zip(mark.get_position(), limits, strict=True)
        mark.set_visible(all(a + 0.3 < x < b - 0.3 for x, (a, b) in at))
    figure.savefig(FOLDER / f"overview{'-narrow' * narrow}.png", dpi=120)


def draw_architecture() -> None:
    """Draw the packages in layers: each uses only those below it."""
    figure, ax = plt.subplots(figsize=(9, 4.6), layout="constrained")
    ax.set(xlim=(0, 9), ylim=(-0.1, len(LAYERS)))
    ax.axis("off")
    for y, (words, packages, colour) in enumerate(LAYERS):
        ax.text(2.85, y + 0.45, words, ha="right", va="center", fontsize=10, color="#444444")
        width = 5.6 / len(packages)
        for i, package in enumerate(packages):
            at = (3.05 + i * width, y + 0.08)
            box = {"boxstyle": "round,pad=0,rounding_size=0.06", "linewidth": 0.8}
            ax.add_patch(FancyBboxPatch(at, width - 0.1, 0.76, fc=colour, ec="#666666", **box))
            middle = (at[0] + width / 2 - 0.05, y + 0.46)
            ax.text(*middle, package, ha="center", va="center", fontsize=10, family="monospace")
    arrow = {"arrowstyle": "-|>", "color": "#444444", "lw": 1.2}
    ax.annotate("", (8.85, 0.1), (8.85, len(LAYERS) - 0.15), arrowprops=arrow)
    ax.text(8.95, len(LAYERS) / 2, "uses", rotation=270, ha="center", va="center", fontsize=10)
    figure.savefig(FOLDER / "architecture.png", dpi=130)


if __name__ == "__main__":
    draw_architecture()
    draw_overview()
    draw_overview(narrow=True)
    draw_codes()
    draw_tree()
