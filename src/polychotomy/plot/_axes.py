"""Axes for displays."""

from typing import TYPE_CHECKING, Any

from polychotomy.errors import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(ax: "Axes | None", size: tuple[float, float]) -> Any:
    """Return `ax`, or the axes of a new figure of the given size in inches."""
    plt = require("matplotlib.pyplot", extra="plot")
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax
