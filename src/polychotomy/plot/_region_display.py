"""The decision regions of a classifier in a plane."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.arrays import Array
from polychotomy.codes import check_int
from polychotomy.errors import require
from polychotomy.plot._axes import new_axes
from polychotomy.plot._names import plain
from polychotomy.plot._palette import CLASSES, LINES, NEITHER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 0.1  # of the samples' range, on each side
_LINES_SHOWN = 12
_NARROW = 0.015  # half the width of zones too narrow for a "?", as a fraction of the plane
_MARKERS = "os^D"
_LEGEND_INSIDE = 6


class DecisionRegionDisplay:
    """A plot of the decision regions in a plane, with "?" where the votes are inconsistent.

    As in Figure 1 of Tax and Duin. Lines show the boundaries of the binary problems, if there are
    at most twelve.

    Parameters
    ----------
    x : array-like of shape (n_x,)
        First feature of the grid.
    y : array-like of shape (n_y,)
        Second feature of the grid.
    winners : array-like of int of shape (n_y, n_x)
        Index of the class at each point.
    accepted : array-like of bool of shape (n_y, n_x), optional
        Where the class is accepted; by default everywhere.
    outputs : array-like of shape (n_y, n_x, n_problems), optional
        Outputs of the binary problems, for the lines.
    samples : array-like of shape (n_samples, 2), optional
        Samples to draw as points.
    classes : array-like of int of shape (n_samples,), optional
        Their class indices.
    class_names : sequence of str, optional
        By default the indices.
    feature_names : sequence of str, optional
        For the axes.

    Attributes
    ----------
    marks : ndarray of shape (n_zones, 2)
        Positions of the "?": one in each rejected zone that is not narrow.
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import CodeClassifier
    >>> from polychotomy.plot import DecisionRegionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = CodeClassifier(code="one_vs_rest").fit(X[:, 2:], y)
    >>> display = DecisionRegionDisplay.from_estimator(classifier, X[:, 2:], y, rule="votes")
    >>> len(display.marks) > 0
    True
    """

    ax_: "Axes"
    figure_: Any

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        winners: ArrayLike,
        *,
        accepted: ArrayLike | None = None,
        outputs: ArrayLike | None = None,
        samples: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        class_names: Sequence[str] | None = None,
        feature_names: Sequence[str] = ("first feature", "second feature"),
    ) -> None:
        self.x, self.y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        self.winners = np.asarray(winners, dtype=np.intp)
        shape = (len(self.y), len(self.x))
        self.accepted = np.ones(shape, bool) if accepted is None else np.asarray(accepted, bool)
        for name, given in (("winners", self.winners), ("accepted", self.accepted)):
            if given.shape != shape:
                raise ValueError(f"{name} must have the grid's shape {shape}. Got {given.shape}.")
        self.outputs = None if outputs is None else np.asarray(outputs, dtype=float)
        self.samples = None if samples is None else np.asarray(samples, dtype=float)
        self.classes = None if classes is None else np.asarray(classes)
        count = int(self.winners.max()) + 1
        names = range(count) if class_names is None else class_names
        self.class_names = [str(name) for name in names]
        self.feature_names = list(feature_names)
        self.marks = self._place_marks()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        rule: str | None = None,
        threshold: float | None = None,
        resolution: int = 200,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the regions of a classifier that was fitted on two features.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier; for a `rule`, one with ``predict_or_reject``.
        X : array-like or data frame of shape (n_samples, 2)
            Samples that determine the limits of the plane.
        y : array-like of shape (n_samples,), optional
            Their labels; if given, the samples are drawn.
        rule : str, optional
            Rejection rule, see :meth:`~polychotomy.CodeClassifier.predict_or_reject`:
            ``"votes"`` marks inconsistent zones. By default nothing is rejected.
        threshold : float, optional
            For rules that need one.
        resolution : int, default=200
            Number of points of the grid in each direction.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        samples = np.asarray(X, dtype=float)
        if samples.ndim != 2 or samples.shape[1] != 2:
            raise ValueError(f"X must have two features. Got shape {samples.shape}.")
        if rule is not None and not hasattr(estimator, "predict_or_reject"):
            raise ValueError(
                "The 'rule' parameter needs a classifier with predict_or_reject. "
                f"Got {type(estimator).__name__}; leave out the rule."
            )
        resolution = check_int("resolution", resolution, least=2)
        axes = [_around(feature, resolution) for feature in samples.T]
        grid = _like(X, np.column_stack([part.ravel() for part in np.meshgrid(*axes)]))
        shape = (resolution, resolution)
        accepted = outputs = None
        if rule is None:
            labels = estimator.predict(grid)
        else:
            labels, accepted = estimator.predict_or_reject(grid, rule=rule, threshold=threshold)
            accepted = accepted.reshape(shape)
        if 0 < len(getattr(estimator, "problems_", ())) <= _LINES_SHOWN:
            outputs = estimator.binary_outputs(grid).reshape(*shape, -1)
        display = cls(
            axes[0],
            axes[1],
            np.searchsorted(estimator.classes_, labels).reshape(shape),
            accepted=accepted,
            outputs=outputs,
            samples=None if y is None else samples,
            classes=None if y is None else np.searchsorted(estimator.classes_, y),
            class_names=[str(label) for label in estimator.classes_],
            feature_names=getattr(X, "columns", ("first feature", "second feature")),
        )
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        ax = new_axes(ax, (5.2, 4.4))
        colours = require("matplotlib.colors", extra="plot")
        palette = np.array([colours.to_rgba(colour, alpha=0.35) for colour in CLASSES])
        image = palette[self.winners % len(CLASSES)]
        image[~self.accepted] = colours.to_rgba(NEITHER)
        half = [(axis[-1] - axis[0]) / (2 * (len(axis) - 1)) for axis in (self.x, self.y)]
        extent = (
            self.x[0] - half[0],
            self.x[-1] + half[0],
            self.y[0] - half[1],
            self.y[-1] + half[1],
        )
        ax.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="nearest")
        self._draw_lines(ax)
        self._draw_samples(ax)
        for x, y in self.marks:
            ax.text(x, y, "?", ha="center", va="center", fontsize="x-large", fontweight="bold")
        first, second = (plain(str(name)) for name in self.feature_names)
        ax.set(xlabel=first, ylabel=second, xlim=extent[:2], ylim=extent[2:])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_lines(self, ax: "Axes") -> None:
        """Draw the boundaries of the binary problems."""
        if self.outputs is None:
            return
        for problem in np.moveaxis(self.outputs, 2, 0):
            if problem.min() < 0 < problem.max():
                ax.contour(self.x, self.y, problem, levels=[0], colors=LINES, linewidths=0.8)

    def _draw_samples(self, ax: "Axes") -> None:
        """Draw the samples and, even without samples, a legend of the classes."""
        for c, name in enumerate(self.class_names):
            colour = CLASSES[c % len(CLASSES)]
            points = np.empty((0, 2))
            if self.samples is not None and self.classes is not None:
                points = self.samples[self.classes == c]
            ax.scatter(
                points[:, 0],
                points[:, 1],
                s=12,
                color=colour,
                marker=_MARKERS[c // len(CLASSES) % len(_MARKERS)],
                edgecolors="white",
                linewidths=0.4,
                label=plain(name),
            )
        beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        few = len(self.class_names) <= _LEGEND_INSIDE
        ax.legend(fontsize="small", framealpha=0.9, **({} if few else beside))

    def _place_marks(self) -> Array:
        """Return the point of each rejected zone that is farthest from its edge.

        Zones that touch only at a corner are separate zones.
        """
        from scipy.ndimage import distance_transform_edt, label, maximum_position

        rejected = np.pad(~self.accepted, 1)  # the plane's edge is an edge too
        depth = distance_transform_edt(rejected)[1:-1, 1:-1]
        zones, count = label(depth > _NARROW * max(depth.shape))
        places = maximum_position(depth, zones, range(1, count + 1))
        rows, columns = np.array(places, dtype=np.intp).reshape(-1, 2).T
        return np.column_stack([self.x[columns], self.y[rows]])


def _around(feature: Array, count: int) -> Array:
    """Return `count` equidistant values over the feature's range and a margin."""
    low, high = feature.min(), feature.max()
    margin = _MARGIN * (high - low or 1)
    return np.linspace(low - margin, high + margin, count)


def _like(X: Any, grid: Array) -> Any:
    """Return the grid as a data frame if X is one, for classifiers that check feature names."""
    if not hasattr(X, "columns"):
        return grid
    names = list(X.columns)
    return type(X)(dict(zip(names, grid.T, strict=True)))
