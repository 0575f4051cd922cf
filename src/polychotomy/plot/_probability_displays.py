"""Plots of probabilities: reliability, rejection, the triangle of three classes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.assess import RejectCurve, Reliability, reject_curve, reliability
from polychotomy.plot._axes import new_axes
from polychotomy.plot._palette import CLASSES, MINUS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay:
    """A reliability diagram: observed frequency against predicted probability, for each class.

    Parameters
    ----------
    classes : sequence of Reliability
        As :func:`~polychotomy.assess.reliability` returns them.
    names : sequence of str
        The classes' names.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from polychotomy import CodeClassifier
    >>> from polychotomy.plot import ReliabilityDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CodeClassifier(LogisticRegression(max_iter=500), "one_vs_rest").fit(X[::2], y[::2])
    >>> display = ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2])
    """

    ax_: "Axes"
    figure_: Any

    def __init__(self, classes: Sequence[Reliability], names: Sequence[str]) -> None:
        self.classes = classes
        self.names = names

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, n_bins: int = 10, ax: "Axes | None" = None
    ) -> Self:
        """Draw the reliability of a fitted classifier on some data."""
        return cls.from_predictions(
            y, estimator.predict_proba(X), classes=estimator.classes_, n_bins=n_bins, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        probabilities: ArrayLike,
        *,
        classes: Any = None,
        n_bins: int = 10,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the reliability of given probabilities."""
        curves = reliability(y, probabilities, n_bins=n_bins, classes=classes)
        names = range(len(curves)) if classes is None else classes
        return cls(curves, [str(name) for name in names]).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        ax = new_axes(ax, (4.5, 4.2))
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1, zorder=0)
        for number, (curve, name) in enumerate(zip(self.classes, self.names, strict=True)):
            colour = CLASSES[number % len(CLASSES)]
            label = f"{name} ({curve.error:.3f})".replace("$", r"\$")
            ax.plot(curve.predicted, curve.observed, "o-", color=colour, markersize=3, label=label)
        ax.set(xlabel="probability given", ylabel="fraction that came true", xlim=(0, 1))
        ax.legend(title="class (mean gap)", fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class RejectCurveDisplay:
    """A plot of the error of accepted samples against the fraction of rejected samples.

    Parameters
    ----------
    curve : RejectCurve
        As :func:`~polychotomy.assess.reject_curve` returns it.
    name : str, optional
        Name in the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from polychotomy import CodeClassifier
    >>> from polychotomy.plot import RejectCurveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CodeClassifier(LogisticRegression(max_iter=500), "one_vs_rest").fit(X[::2], y[::2])
    >>> display = RejectCurveDisplay.from_estimator(model, X[1::2], y[1::2])
    """

    ax_: "Axes"
    figure_: Any

    def __init__(self, curve: RejectCurve, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: "Axes | None" = None
    ) -> Self:
        """Draw the curve of a fitted classifier, with its largest probability as confidence."""
        p = estimator.predict_proba(X)
        return cls(reject_curve(y, p, classes=estimator.classes_), name).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        ax = new_axes(ax, (4.5, 3.4))
        label = None if self.name is None else self.name.replace("$", r"\$")
        ax.plot(1 - self.curve.coverage, self.curve.error, color=MINUS, label=label)
        ax.set(xlabel="fraction rejected", ylabel="error of the accepted", xlim=(0, 1))
        ax.set_ylim(bottom=0)
        if label:
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ProbabilityTriangleDisplay:
    """A plot of the probabilities of three classes as points in a triangle (Mills, Figure 1).

    Parameters
    ----------
    probabilities : array-like of shape (n_samples, 3)
    y : array-like of shape (n_samples,), optional
        Class indices, to colour the points.
    names : sequence of str, optional
        The classes' names, for the corners.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from polychotomy import CodeClassifier
    >>> from polychotomy.plot import ProbabilityTriangleDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CodeClassifier(LogisticRegression(max_iter=500), "one_vs_rest").fit(X[::2], y[::2])
    >>> display = ProbabilityTriangleDisplay.from_estimator(model, X[1::2], y[1::2])
    """

    ax_: "Axes"
    figure_: Any

    def __init__(
        self,
        probabilities: ArrayLike,
        y: ArrayLike | None = None,
        names: Sequence[str] = ("0", "1", "2"),
    ) -> None:
        self.probabilities = np.asarray(probabilities, dtype=float)
        if self.probabilities.ndim != 2 or self.probabilities.shape[1] != 3:
            raise ValueError(
                "The triangle shows three classes. "
                f"Got probabilities of shape {self.probabilities.shape}."
            )
        self.y = None if y is None else np.asarray(y)
        self.names = names

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw the predicted probabilities of a fitted classifier of three classes."""
        indices = np.searchsorted(estimator.classes_, y)
        names = [str(label) for label in estimator.classes_]
        return cls(estimator.predict_proba(X), indices, names).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        ax = new_axes(ax, (4.6, 4.2))
        corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
        outline = corners[[0, 1, 2, 0]]
        ax.plot(outline[:, 0], outline[:, 1], color="0.5", linewidth=1)
        centre = corners.mean(axis=0)
        for edge in range(3):  # where two classes are equally probable
            middle = (corners[edge] + corners[(edge + 1) % 3]) / 2
            ax.plot(*np.column_stack([centre, middle]), color="0.85", linewidth=1, zorder=0)
        points = self.probabilities @ corners
        colours = MINUS if self.y is None else [CLASSES[int(c)] for c in self.y]
        ax.scatter(points[:, 0], points[:, 1], c=colours, s=8, alpha=0.7)
        for corner, name, side in zip(
            corners, self.names, ("right", "left", "center"), strict=True
        ):
            ax.annotate(
                name.replace("$", r"\$"),
                corner,
                xytext=(0, 6 if side == "center" else -12),
                textcoords="offset points",
                ha=side,
            )
        ax.set_aspect("equal")
        ax.axis("off")
        self.ax_, self.figure_ = ax, ax.figure
        return self
