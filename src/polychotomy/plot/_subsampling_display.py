"""A plot of the error against the number of replicas."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.plot._axes import new_axes
from polychotomy.plot._names import plain
from polychotomy.plot._palette import CLASSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEURISTIC = 4  # replicas of other classes, by the paper's rule of thumb
_STYLES = ("-", "--", ":")


class SubsamplingDisplay:
    """A plot of the relative error of a single binary classifier against the replicas kept.

    Of the k replicas of a sample, the right one and s others are kept: x is (s + 1)/k, and y is the
    error divided by the error with all replicas. A dot marks s = min(4, k − 1), the paper's rule of
    thumb.

    Parameters
    ----------
    fractions : sequence of array-like
        For each data set, the fractions (s + 1)/k, increasing.
    relative_errors : sequence of array-like
        For each data set, the relative errors there.
    names : sequence of str
        The data sets.
    marked : sequence of int or None, optional
        For each data set, the index of the point to mark.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.

    References
    ----------
    El-Yaniv et al., "On multiclass classification via a single binary classifier", section 5,
    Figure 3.

    Examples
    --------
    >>> from polychotomy.plot import SubsamplingDisplay
    >>> display = SubsamplingDisplay.from_errors(
    ...     [[0.044, 0.03, 0.02]], n_negatives=[[1, 2, 3]], n_classes=[4], names=["car"])
    >>> display.fractions[0], display.relative_errors[0]
    (array([0.5 , 0.75, 1.  ]), array([2.2, 1.5, 1. ]))
    """

    ax_: "Axes"
    figure_: Any

    def __init__(
        self,
        fractions: Sequence[ArrayLike],
        relative_errors: Sequence[ArrayLike],
        names: Sequence[str],
        *,
        marked: Sequence[int | None] | None = None,
    ) -> None:
        self.fractions = [np.asarray(x, dtype=float) for x in fractions]
        self.relative_errors = [np.asarray(y, dtype=float) for y in relative_errors]
        self.names = [str(name) for name in names]
        self.marked = [None] * len(self.names) if marked is None else list(marked)
        parts = (self.fractions, self.relative_errors, self.names, self.marked)
        if len({len(part) for part in parts}) != 1:
            raise ValueError(
                "fractions, relative_errors, names and marked must have an entry for each data "
                f"set. Got {', '.join(str(len(part)) for part in parts)}."
            )

    @classmethod
    def from_errors(
        cls,
        errors: Sequence[ArrayLike],
        *,
        n_negatives: Sequence[ArrayLike],
        n_classes: Sequence[int],
        names: Sequence[str],
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw errors measured with several numbers of replicas.

        Parameters
        ----------
        errors : sequence of array-like
            For each data set, the errors.
        n_negatives : sequence of array-like of int
            For each data set, the number s of replicas of other classes at each error,
            increasing up to k − 1, all of them.
        n_classes : sequence of int
            For each data set, its k.
        names : sequence of str
            The data sets.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        fractions, relative, marked = [], [], []
        for name, e, s, k in zip(names, errors, n_negatives, n_classes, strict=True):
            error, kept = np.asarray(e, dtype=float), np.asarray(s)
            if error.shape != kept.shape or not kept.size or kept[-1] != k - 1 or error[-1] <= 0:
                raise ValueError(
                    f"The numbers of replicas of {name!r} must match its errors and end with all "
                    f"{k - 1} of them, and the last error must be above 0."
                )
            fractions.append((kept + 1) / k)
            relative.append(error / error[-1])
            chosen = np.flatnonzero(kept == min(_HEURISTIC, k - 1))
            marked.append(int(chosen[0]) if chosen.size else None)
        return cls(fractions, relative, names, marked=marked).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        ax = new_axes(ax, (6.4, 3.8))
        ax.axhline(1, color="0.7", linewidth=1, zorder=0)
        for i, name in enumerate(self.names):
            x, y, mark = self.fractions[i], self.relative_errors[i], self.marked[i]
            colour = CLASSES[i % len(CLASSES)]
            style = _STYLES[i // len(CLASSES) % len(_STYLES)]
            ax.plot(x, y, color=colour, linestyle=style, label=plain(name))
            if mark is not None:
                ax.plot([x[mark]], [y[mark]], color=colour, marker="o", markersize=5)
        ax.set(
            xlabel="share of the replicas, (s + 1)/k",
            ylabel="error relative to all replicas",
            xlim=(0, 1.02),
        )
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        self.ax_, self.figure_ = ax, ax.figure
        return self
