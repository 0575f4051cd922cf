"""A plot of a structure as a tree."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.arrays import Array
from polychotomy.errors import require
from polychotomy.plot._names import plain
from polychotomy.plot._palette import ERRORS, LINES, NEITHER
from polychotomy.structures import Structure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ANNOTATED_NODES = 40
_LARGEST_FONT, _SMALLEST_FONT = 9.0, 3.0
_LEAF_INCHES = 0.22
_MOST_INCHES = 60.0


class TreeDisplay:
    """A plot of a structure as a dendrogram from left to right, with a line for each class.

    Nodes of one problem are circles; nodes of several are squares with their number of problems.

    Parameters
    ----------
    structure : Structure
    class_counts : sequence of int, optional
        Samples of each class, in the order of ``structure.classes``; shown next to the names.
    node_errors : array-like of shape (n_nodes,), optional
        The error of each node, in the order of ``structure.nodes()``, shown by colour. NaN where
        it is unknown.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.

    Notes
    -----
    If no axes are given, the height of the figure fits the names, even with a thousand classes.
    With more than 40 nodes, errors are shown by colour only.

    Examples
    --------
    >>> from polychotomy.plot import TreeDisplay
    >>> from polychotomy.structures import balanced
    >>> display = TreeDisplay(balanced(["oak", "elm", "corn"]), class_counts=[50, 20, 90]).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['oak (50)', 'elm (20)', 'corn (90)']
    """

    ax_: "Axes"
    figure_: Any

    def __init__(
        self,
        structure: Structure,
        *,
        class_counts: Sequence[int] | None = None,
        node_errors: ArrayLike | None = None,
    ) -> None:
        self.structure = structure
        self.class_counts = None if class_counts is None else [int(n) for n in class_counts]
        self.node_errors = None if node_errors is None else np.ravel(node_errors).astype(float)
        nodes = sum(1 for _ in structure.nodes())
        for name, given, count in (
            ("class_counts", self.class_counts, structure.n_classes),
            ("node_errors", self.node_errors, nodes),
        ):
            if given is not None and len(given) != count:
                raise ValueError(
                    f"The {name!r} parameter must have {count} values. Got {len(given)} instead."
                )

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, ax: "Axes | None" = None
    ) -> Self:
        """Draw the structure of a fitted :class:`~polychotomy.TreeClassifier`.

        Parameters
        ----------
        estimator : TreeClassifier
            Provides the structure and the class counts of the training samples.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), optional
            Samples to measure the error of each node on, preferably not training samples.
        y : array-like of shape (n_samples,), optional
            Their labels.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        TreeDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
        if not hasattr(estimator, "structure_"):
            raise ValueError(
                "The 'estimator' parameter must be a fitted TreeClassifier. "
                f"Got {type(estimator).__name__}."
            )
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together, or neither.")
        errors = None if X is None else estimator.node_errors(X, y)
        count = dict(zip(estimator.classes_.tolist(), estimator.class_counts_, strict=True))
        counts = [count[label] for label in estimator.structure_.classes]
        display = cls(estimator.structure_, class_counts=counts, node_errors=errors)
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on `ax`, or on a new figure of a fitting size.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        TreeDisplay
            This display, with `ax_` and `figure_` set.
        """
        plt = require("matplotlib.pyplot", extra="plot")
        names = self._class_names()
        k, depth = len(names), self.structure.depth
        if ax is None:
            width = np.clip(2.5 + 0.45 * depth + 0.08 * max(map(len, names)), 4, 16)
            height = min(1.0 + _LEAF_INCHES * k, _MOST_INCHES)
            _, ax = plt.subplots(figsize=(width, height), layout="constrained")
        figure: Any = ax.figure
        while not hasattr(figure, "get_size_inches"):  # a figure within a figure
            figure = figure.figure
        inches = ax.get_position().height * figure.get_size_inches()[1]
        font = float(np.clip(0.75 * 72 * inches / k, _SMALLEST_FONT, _LARGEST_FONT))
        self._draw_tree(ax, font)
        ax.set_yticks(np.arange(k), names, fontsize=font)
        ax.yaxis.tick_right()
        ax.tick_params(length=0)
        ax.set(xticks=[], ylim=(k - 0.4, -0.6), xlim=(-0.4, depth + 0.05))
        problems = self.structure.n_problems
        ax.set_title(f"{k} classes, {problems} problems, depth {depth}")
        for spine in ax.spines.values():
            spine.set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _class_names(self) -> list[str]:
        names = [plain(str(label)) for label in self.structure.classes]
        if self.class_counts is None:
            return names
        return [f"{name} ({n})" for name, n in zip(names, self.class_counts, strict=True)]

    def _draw_tree(self, ax: "Axes", font: float) -> None:
        collections = require("matplotlib.collections", extra="plot")
        x, y, lines = _places(self.structure)
        ax.add_collection(collections.LineCollection(lines, colors=LINES, linewidths=1.2))
        nodes = list(self.structure.nodes())
        if not nodes:
            return
        several = np.array([node.code is not None and node.code.n_problems > 1 for node in nodes])
        size = (0.9 * font) ** 2
        for chosen, marker in ((~several, "o"), (several, "s")):
            colours: dict[str, Any] = {"c": NEITHER}
            if self.node_errors is not None:
                top = max(np.nanmax(self.node_errors, initial=0), 1e-12)
                colours = {"c": self.node_errors[chosen], "cmap": ERRORS, "vmin": 0, "vmax": top}
            drawn = ax.scatter(
                x[chosen], y[chosen], s=size, marker=marker, edgecolors=LINES, zorder=3, **colours
            )
        if self.node_errors is not None and np.isfinite(self.node_errors).any():
            percent = require("matplotlib.ticker", extra="plot").PercentFormatter(1)
            options = {"location": "bottom", "aspect": 40, "shrink": 0.6, "format": percent}
            ax.figure.colorbar(drawn, ax=ax, label="error of the node", **options)
        if len(nodes) <= _ANNOTATED_NODES:
            for i, node in enumerate(nodes):
                self._annotate(ax, x[i], y[i], node, None if self.node_errors is None else i, font)

    def _annotate(
        self, ax: "Axes", x: float, y: float, node: Structure, i: int | None, font: float
    ) -> None:
        """Write the node's number of problems or the name of its only problem, and its error."""
        assert node.code is not None
        said = node.names[0] or node.options[0] or ""
        words = [f"{node.code.n_problems} problems" if node.code.n_problems > 1 else plain(said)]
        if i is not None and self.node_errors is not None and np.isfinite(self.node_errors[i]):
            words.append(f"{self.node_errors[i]:.1%}")
        text = " ".join(word for word in words if word)
        if text:
            ax.annotate(
                text,
                (x, y),
                xytext=(-font / 2, font / 2),
                textcoords="offset points",
                ha="right",
                va="bottom",
                fontsize=0.8 * font,
                bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5},
            )


def _places(
    structure: Structure,
) -> tuple[Array, Array, list[list[tuple[float, float]]]]:
    """Return the positions of the nodes, and the lines to their children and classes.

    Nodes are at their level, centred on their children; all classes are at the right edge.
    """
    order, pending = [], [(structure, 0)]
    while pending:
        node, level = pending.pop()
        order.append((node, level))
        pending.extend((child, level + 1) for child in reversed(node.children))
    row = {label: r for r, label in enumerate(structure.classes)}
    middle: dict[tuple[Any, ...], float] = {}
    lines: list[list[tuple[float, float]]] = []
    for node, level in reversed(order):
        if node.is_class:
            middle[node.classes] = row[node.classes[0]]
            continue
        rows = [middle[child.classes] for child in node.children]
        middle[node.classes] = (min(rows) + max(rows)) / 2
        lines.append([(level, min(rows)), (level, max(rows))])
        for child, r in zip(node.children, rows, strict=True):
            lines.append([(level, r), (structure.depth if child.is_class else level + 1, r)])
    inner = [(level, middle[node.classes]) for node, level in order if not node.is_class]
    places = np.array(inner, dtype=float).reshape(-1, 2)
    return places[:, 0], places[:, 1], lines
