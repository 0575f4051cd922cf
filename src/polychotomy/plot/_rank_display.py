"""The critical difference diagram of average ranks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from polychotomy.assess import NemenyiTest, nemenyi
from polychotomy.plot._axes import new_axes
from polychotomy.plot._names import plain
from polychotomy.plot._palette import LINES, method_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW_INCHES = 0.24
_GROUP_STEP = 0.4  # height between the bars of groups, in rows of names
_ABOVE = 2.6  # height above the scale, in rows of names


class CriticalDifferenceDisplay:
    """Demšar's critical difference diagram: average ranks, with bars over equal methods.

    The best method is on the left, and the length of the critical difference is above the scale.
    Bars connect methods that do not differ.

    Parameters
    ----------
    test : NemenyiTest
        As :func:`~polychotomy.assess.nemenyi` returns it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.

    References
    ----------
    Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
    section 3.2.4.

    Examples
    --------
    >>> from polychotomy.plot import CriticalDifferenceDisplay
    >>> errors = [[1, 2, 9], [1, 3, 8], [2, 1, 9], [1, 2, 7], [1, 2, 8]]
    >>> display = CriticalDifferenceDisplay.from_table(errors, names=["pairs", "rest", "single"])
    >>> display.ax_.get_title()
    'critical difference 1.48 (alpha = 0.05)'
    """

    ax_: "Axes"
    figure_: Any

    def __init__(self, test: NemenyiTest) -> None:
        self.test = test

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        alpha: float = 0.05,
        higher_is_better: bool = False,
        names: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the diagram of a table of data sets × methods.

        Parameters
        ----------
        table, alpha, higher_is_better, names
            As in :func:`~polychotomy.assess.nemenyi`.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        test = nemenyi(table, alpha=alpha, higher_is_better=higher_is_better, names=names)
        return cls(test).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on `ax`, or on a new figure of a fitting size."""
        test, k = self.test, len(self.test.names)
        groups = _GROUP_STEP * (len(test.groups) + 1)
        depth = groups + (k + 1) // 2
        longest = max(len(plain(name)) for name in test.names)
        width = min(4 + 0.15 * longest + 0.1 * k, 14)
        ax = new_axes(ax, (width, 0.5 + _ROW_INCHES * (depth + _ABOVE)))
        ax.set(xlim=(1 - 0.01 * k, 1.01 * k), ylim=(-depth - 0.4, _ABOVE))
        ax.axis("off")
        ax.set_title(
            f"critical difference {test.critical_difference:.2f} (alpha = {test.alpha:g})",
            fontsize="medium",
        )
        self._draw_scale(ax)
        self._draw_methods(ax, groups)
        for level, group in enumerate(test.groups, start=1):
            ends = [test.ranks[group[0]] - 0.005 * k, test.ranks[group[-1]] + 0.005 * k]
            height = -_GROUP_STEP * level
            ax.plot(ends, [height] * 2, color="black", linewidth=3, solid_capstyle="butt")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_scale(self, ax: "Axes") -> None:
        """Draw the ranks from 1 to k, and above them the critical difference."""
        k = len(self.test.names)
        ax.plot([1, k], [0, 0], color="black", linewidth=1)
        every = -(-k // 12)  # at most a dozen numbers
        for rank in range(1, k + 1):
            ax.plot([rank, rank], [0, 0.25], color="black", linewidth=1)
            if (rank - 1) % every == 0:
                ax.text(rank, 0.4, str(rank), ha="center", va="bottom", fontsize="small")
        ends = [1, 1 + self.test.critical_difference]  # with few data sets beyond the scale
        style: dict[str, Any] = {"marker": "|", "markersize": 6, "clip_on": False}
        ax.plot(ends, [1.9, 1.9], color="black", linewidth=1, **style)

    def _draw_methods(self, ax: "Axes", top: float) -> None:
        """Write the better half on the left, the best on top, and the others on the right."""
        test, k = self.test, len(self.test.names)
        order = np.argsort(test.ranks, kind="stable")
        half = (k + 1) // 2
        colours = method_colours(test.names)
        for side, edge, methods in (
            ("right", 1 - 0.01 * k, order[:half]),
            ("left", 1.01 * k, order[half:][::-1]),
        ):
            for row, i in enumerate(methods):
                height, rank = -top - row - 0.3, test.ranks[i]
                ax.plot([rank, rank, edge], [0, height, height], color=LINES, linewidth=0.8)
                ax.plot([rank], [0], color=colours[i], marker="o", markersize=5, clip_on=False)
                ax.text(
                    edge + (-0.005 if side == "right" else 0.005) * k,
                    height,
                    f"{plain(test.names[i])} ({rank:.2f})",
                    ha=side,
                    va="center",
                    fontsize="small",
                )
