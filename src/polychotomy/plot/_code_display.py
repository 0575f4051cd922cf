"""A plot of a code matrix."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from polychotomy.codes import Code
from polychotomy.errors import require
from polychotomy.plot._names import plain
from polychotomy.plot._palette import MINUS, NEITHER, PLUS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED_PROBLEMS = 40
_DRAWN_CLASSES, _DRAWN_PROBLEMS = 200, 1000
_SHORT_NAME = 3


class CodeDisplay:
    """A plot of a code matrix: a row per class, a column per problem, a colour per side.

    As in Figure 1 of the SBC paper, with class and problem names. Of large codes the first 200
    classes and 1000 problems are drawn.

    Parameters
    ----------
    code : Code or array-like of shape (n_classes, n_problems)
    class_names : sequence of str, optional
        By default the class indices.
    problem_names : sequence of str, optional
        By default the problem indices.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.

    Examples
    --------
    >>> from polychotomy import make_code
    >>> from polychotomy.plot import CodeDisplay
    >>> display = CodeDisplay(make_code("bch", 4), class_names=["a", "b", "c", "d"]).plot()
    >>> display.ax_.get_title()
    'bch: 4 classes, 7 problems'
    """

    ax_: "Axes"
    figure_: Any

    def __init__(
        self,
        code: Code,
        *,
        class_names: Sequence[str] | None = None,
        problem_names: Sequence[str] | None = None,
    ) -> None:
        self.code = code if isinstance(code, Code) else Code(code)
        code = self.code
        self.class_names = _names("class_names", class_names, code.n_classes)
        self.problem_names = _names("problem_names", problem_names, code.n_problems)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw the code of a fitted :class:`~polychotomy.CodeClassifier`.

        Parameters
        ----------
        estimator : CodeClassifier
            Provides the class labels and the problems in words.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        CodeDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
        names = [str(label) for label in estimator.classes_]
        display = cls(estimator.code_, class_names=names, problem_names=estimator.problems_)
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on `ax`, or on a new figure of a fitting size.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        CodeDisplay
            This display, with `ax_` and `figure_` set.
        """
        plt = require("matplotlib.pyplot", extra="plot")
        colors = require("matplotlib.colors", extra="plot")
        code = self.code
        drawn = code.columns[:_DRAWN_CLASSES, :_DRAWN_PROBLEMS]
        k, ell = drawn.shape
        longest = max(map(len, self.problem_names)) if ell <= _NAMED_PROBLEMS else 0
        upright = longest <= _SHORT_NAME
        if ax is None:
            width = 0.3 * ell + 0.08 * max(map(len, self.class_names[:k])) + 1.5
            height = 0.3 * k + 0.08 * (0 if upright else longest) + 1.2
            size = (np.clip(width, 4, 16), np.clip(height, 2.5, 16))
            _, ax = plt.subplots(figsize=size, layout="constrained")
        sides = colors.ListedColormap([MINUS, NEITHER, PLUS])
        ax.pcolormesh(drawn, cmap=sides, vmin=-1, vmax=1, edgecolors="white", linewidth=0.5)
        ax.invert_yaxis()
        ax.set_yticks(np.arange(k) + 0.5, self.class_names[:k])
        if longest:
            ax.set_xticks(np.arange(ell) + 0.5, self.problem_names, rotation=0 if upright else 90)
        ax.tick_params(length=0)
        title = f"{plain(code.name)}: {code.n_classes} classes, {code.n_problems} problems"
        if drawn.shape != code.columns.shape:
            title += f" (the first {k} and {ell})"
        ax.set(
            title=title,
            xlabel="problem",
            ylabel="class",
        )
        for spine in ax.spines.values():
            spine.set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _names(parameter: str, names: Sequence[str] | None, count: int) -> list[str]:
    if names is None:
        return [str(i) for i in range(count)]
    if len(names) != count:
        raise ValueError(
            f"The {parameter!r} parameter must have {count} names. Got {len(names)} instead."
        )
    return [plain(str(name)) for name in names]
