"""Plots of differences between errors: over many data sets, and with intervals."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polychotomy.assess import BootstrapInterval, bootstrap_difference
from polychotomy.errors import require, unknown_name
from polychotomy.plot._axes import new_axes
from polychotomy.plot._names import plain
from polychotomy.plot._palette import LINES, MINUS, PLUS, method_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROOM = 0.45  # largest bar, as a fraction of the height of a cell


class PairwiseDifferenceDisplay:
    """A plot of the differences between the errors of methods, with a bar for each data set.

    As in Figures 4 to 7 of Allwein, Schapire and Singer. With one row, the bars are grouped by
    data set; with several rows, there is a cell for each row and column.

    Parameters
    ----------
    differences : array-like of shape (n_rows, n_columns, n_datasets)
        Error of the row's method minus that of the column's: with a positive bar the column's
        method is better. NaN where an error is unknown.
    rows, columns : sequence of str
        The methods.
    datasets : sequence of str
        The data sets.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.

    References
    ----------
    Allwein, Schapire and Singer (2000), Figures 4 to 7; slides 26 to 28.

    Examples
    --------
    >>> from polychotomy.plot import PairwiseDifferenceDisplay
    >>> errors = [[5.0, 4.2, 3.1], [14.9, 12.3, 11.7]]
    >>> names, datasets = ["rest", "complete", "pairs"], ["dermatology", "satimage"]
    >>> display = PairwiseDifferenceDisplay.from_table(
    ...     errors, control="rest", names=names, datasets=datasets)
    >>> display.differences[0, :, 0].round(2)  # dermatology
    array([0.8, 1.9])
    """

    ax_: "Axes"
    figure_: Any

    def __init__(
        self,
        differences: ArrayLike,
        rows: Sequence[str],
        columns: Sequence[str],
        datasets: Sequence[str],
    ) -> None:
        self.differences = np.asarray(differences, dtype=float)
        self.rows, self.columns = [str(r) for r in rows], [str(c) for c in columns]
        self.datasets = [str(name) for name in datasets]
        expected = (len(self.rows), len(self.columns), len(self.datasets))
        if self.differences.shape != expected:
            raise ValueError(
                f"differences must have shape {expected}: rows, columns and data sets. "
                f"Got {self.differences.shape}."
            )

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        control: str | None = None,
        names: Sequence[str] | None = None,
        datasets: Sequence[str] | None = None,
        limit: float | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the differences in a table of errors.

        Parameters
        ----------
        table : array-like or data frame of shape (n_datasets, n_methods)
            Errors; NaN where unknown.
        control : str, optional
            The method with which all others are compared, in one row. By default all pairs are
            compared; of two methods, the first with the second.
        names, datasets : sequence of str, optional
            By default the columns and index of a data frame, or numbers.
        limit : float, optional
            As in :meth:`plot`.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        errors = np.asarray(table, dtype=float)
        if errors.ndim != 2 or errors.shape[1] < 2:
            raise ValueError(
                "The table must have a row for each data set and a column for each of at least "
                f"two methods. Got shape {errors.shape}."
            )
        methods = _names(names, table, "columns", errors.shape[1])
        sets = _names(datasets, table, "index", len(errors))
        if control is not None and control not in methods:
            raise unknown_name("control", control, methods)
        if control is None and len(methods) == 2:
            control = methods[0]
        rows = list(range(len(methods))) if control is None else [methods.index(control)]
        columns = [i for i in range(len(methods)) if control is None or methods[i] != control]
        differences = errors.T[rows, None] - errors.T[None, columns]
        named = ([methods[i] for i in rows], [methods[i] for i in columns])
        return cls(differences, *named, sets).plot(ax=ax, limit=limit)

    def plot(self, ax: "Axes | None" = None, *, limit: float | None = None) -> Self:
        """Draw on `ax`, or on a new figure of a fitting size.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        limit : float, optional
            Longer bars are cut at this length and marked, so that a single failure does not hide
            all others.
        """
        longest = float(np.nanmax(np.abs(self.differences), initial=0.0)) or 1.0
        top = longest if limit is None else min(limit, longest)
        self.ax_ = self._draw_row(ax, top) if len(self.rows) == 1 else self._draw_cells(ax, top)
        self.figure_ = self.ax_.figure
        return self

    def _draw_row(self, ax: "Axes | None", top: float) -> "Axes":
        """Draw one group of bars for each data set, one bar for each column."""
        count, n_bars = len(self.datasets), len(self.columns)
        ax = new_axes(ax, (float(np.clip(1.5 + 0.12 * count * (n_bars + 1), 4.5, 14)), 3.4))
        width = 0.8 / n_bars
        for c, colour in enumerate(method_colours(self.columns)):
            x = np.arange(count) + (c - (n_bars - 1) / 2) * width
            height = self.differences[0, c]
            ax.bar(x, np.clip(height, -top, top), width, color=colour, label=plain(self.columns[c]))
            _mark_cut(ax, x, np.sign(height) * top, np.abs(height) > top)
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_xticks(np.arange(count), map(plain, self.datasets), rotation=45, ha="right")
        row = plain(self.rows[0])
        ax.set(ylabel=f"error of {row}\nminus error of the other", xlim=(-0.6, count - 0.4))
        ax.legend(fontsize="small", title=f"above 0: better than {row}", title_fontsize="small")
        return ax

    def _draw_cells(self, ax: "Axes | None", top: float) -> "Axes":
        """Draw a cell for each row and column, all with the same scale."""
        collections = require("matplotlib.collections", extra="plot")
        n_rows, n_columns, count = self.differences.shape
        size = np.clip([1.8 + 1.1 * n_columns, 1.4 + 0.8 * n_rows], 4, 16)
        ax = new_axes(ax, (float(size[0]), float(size[1])))
        r, c, d = np.nonzero(np.nan_to_num(self.differences))
        height = self.differences[r, c, d]
        left, right = (c + 0.08 + 0.84 * (d + share) / count for share in (0.1, 0.9))
        base = n_rows - 1 - r + 0.5  # the first row on top
        end = base + _ROOM * np.clip(height, -top, top) / top
        bars = np.stack([left, base, right, base, right, end, left, end], axis=1)
        winners = [
            self.columns[j] if h > 0 else self.rows[i] for i, j, h in zip(r, c, height, strict=True)
        ]
        methods = list(dict.fromkeys([*self.rows, *self.columns]))
        colour = dict(zip(methods, method_colours(methods), strict=True))
        ax.add_collection(
            collections.PolyCollection(
                bars.reshape(-1, 4, 2), facecolors=[colour[name] for name in winners]
            )
        )
        _mark_cut(ax, (left + right) / 2, end, np.abs(height) > top)
        for i in range(n_rows):
            ax.axhline(i + 0.5, color="0.8", linewidth=0.6, zorder=0)
        ax.set(xlim=(0, n_columns), ylim=(0, n_rows))
        ax.set_xticks(np.arange(n_columns) + 0.5, map(plain, self.columns), rotation=30, ha="left")
        ax.set_yticks(n_rows - 0.5 - np.arange(n_rows), map(plain, self.rows))
        ax.xaxis.tick_top()
        ax.tick_params(length=0)
        for line in range(1, max(n_rows, n_columns)):
            ax.axhline(line, color="0.6", linewidth=0.6)
            ax.axvline(line, color="0.6", linewidth=0.6)
        ax.set_xlabel(
            "error of the row minus error of the column, a bar for each of "
            f"{count} data sets;\nin the colour of the better one; a cell reaches to ±{top:.3g}",
            fontsize="small",
        )
        return ax


class BootstrapIntervalDisplay:
    """A plot of bootstrap intervals for differences between two errors, a line for each.

    Interesting intervals are coloured by the better method.

    Parameters
    ----------
    intervals : sequence of BootstrapInterval
        As :func:`~polychotomy.assess.bootstrap_difference` returns them.
    names : sequence of str
        The name of each interval: the second method, or the data set.
    first : str, default="the first"
        Name of the first method, which is common to all intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.

    Examples
    --------
    >>> from polychotomy.assess import BootstrapInterval
    >>> from polychotomy.plot import BootstrapIntervalDisplay
    >>> intervals = [BootstrapInterval(-0.0952, 0.0476, -0.0143, 0.9)]
    >>> display = BootstrapIntervalDisplay(intervals, ["glass"], first="SBC-BCH").plot()
    >>> display.ax_.get_xlabel()
    'error of SBC-BCH minus error of the other, in points (90 % intervals)'
    """

    ax_: "Axes"
    figure_: Any

    def __init__(
        self,
        intervals: Sequence[BootstrapInterval],
        names: Sequence[str],
        *,
        first: str = "the first",
    ) -> None:
        self.intervals, self.names, self.first = list(intervals), list(names), first
        if not self.intervals or len(self.intervals) != len(self.names):
            raise ValueError(
                "There must be at least one interval, and a name for each. "
                f"Got {len(self.intervals)} intervals and {len(self.names)} names."
            )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        first: ArrayLike,
        others: Mapping[str, ArrayLike],
        *,
        name: str = "the first",
        folds: ArrayLike | None = None,
        confidence_level: float = 0.9,
        random_state: Any = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the intervals between one method's predictions and those of others.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.
        first : array-like of shape (n_samples,)
            Predictions of the first method.
        others : mapping of str to array-like of shape (n_samples,)
            Predictions of the other methods, by name.
        name : str, default="the first"
            Name of the first method.
        folds, confidence_level, random_state
            As in :func:`~polychotomy.assess.bootstrap_difference`.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        rng = np.random.default_rng(random_state)
        intervals = [
            bootstrap_difference(
                y,
                first,
                second,
                folds=folds,
                confidence_level=confidence_level,
                random_state=rng,
            )
            for second in others.values()
        ]
        return cls(intervals, list(others), first=name).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on `ax`, or on a new figure of a fitting size."""
        count, first = len(self.names), plain(self.first)
        ax = new_axes(ax, (6.0, float(np.clip(1.3 + 0.26 * count, 2, 16))))
        said = {"first": f"{first} better", "second": f"{first} worse", None: "not interesting"}
        colours = {"first": PLUS, "second": MINUS, None: LINES}
        for row, interval in enumerate(self.intervals):
            colour, ends = colours[interval.better], [100 * interval.low, 100 * interval.high]
            label = said.pop(interval.better, None)
            ax.plot(ends, [row, row], color=colour, linewidth=2, marker="|", label=label)
            ax.plot([100 * interval.difference], [row], color=colour, marker="o", markersize=4)
        ax.axvline(0, color="black", linewidth=0.8, zorder=0)
        ax.set_yticks(np.arange(count), map(plain, self.names))
        ax.set_ylim(count - 0.5, -0.5)
        levels = sorted({interval.confidence_level for interval in self.intervals})
        level = ", ".join(f"{100 * share:g} %" for share in levels)
        ax.set_xlabel(f"error of {first} minus error of the other, in points ({level} intervals)")
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _mark_cut(ax: "Axes", x: NDArray[Any], y: NDArray[Any], cut: NDArray[np.bool_]) -> None:
    """Mark the ends of bars that are longer than drawn."""
    if cut.any():
        ax.plot(x[cut], y[cut], "kx", markersize=3, markeredgewidth=0.8)


def _names(given: Sequence[str] | None, table: Any, attribute: str, count: int) -> list[str]:
    """Return the given names, or those of a data frame, or numbers."""
    kept: Any = getattr(table, attribute, None) if given is None else given
    names = range(count) if kept is None or callable(kept) else kept  # lists have a method index
    return [str(name) for name in names]
