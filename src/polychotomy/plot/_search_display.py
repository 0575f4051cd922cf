"""The path of a greedy search."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.errors import require
from polychotomy.plot._palette import CLASSES, LINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SearchPathDisplay:
    """A plot of the attempts of a greedy search: score against position on the scale.

    Parameters
    ----------
    parameters : list of str
        The parameter of each attempt.
    positions : array-like of shape (n_attempts,)
        The positions on its scale.
    scores : array-like of shape (n_attempts,)
        The mean scores.
    best : dict of str to float
        The chosen position for each parameter.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One for each parameter.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from polychotomy.plot import SearchPathDisplay
    >>> display = SearchPathDisplay(["C", "C"], [1, 2], [0.8, 0.9], {"C": 2}).plot()
    >>> len(display.axes_)
    1
    """

    axes_: "list[Axes]"
    figure_: Any

    def __init__(
        self,
        parameters: list[str],
        positions: ArrayLike,
        scores: ArrayLike,
        best: dict[str, float],
    ) -> None:
        self.parameters = list(parameters)
        self.positions, self.scores = np.asarray(positions, float), np.asarray(scores, float)
        self.best = dict(best)

    @classmethod
    def from_estimator(cls, search: Any) -> Self:
        """Draw the path of a fitted :class:`~polychotomy.GreedySearchCV`.

        Parameters
        ----------
        search : GreedySearchCV

        Returns
        -------
        SearchPathDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(search, "path_")
        scores = search.cv_results_["mean_test_score"]
        best = {}
        for name, scale in search.scales_.items():
            wanted = search.cv_results_["params"][search.best_index_][name]
            best[name] = next(
                p for n, p, _ in search.path_ if n == name and scale.given(p) == wanted
            )
        parameters, positions, attempts = zip(*search.path_, strict=True)
        return cls(list(parameters), positions, scores[list(attempts)], best).plot()

    def plot(self) -> Self:
        """Draw on a new figure, a panel for each parameter.

        Returns
        -------
        SearchPathDisplay
            This display, with `axes_` and `figure_` set.
        """
        plt = require("matplotlib.pyplot", extra="plot")
        names = list(dict.fromkeys(self.parameters))
        figure, axes = plt.subplots(
            1,
            len(names),
            figsize=(4 * len(names), 3),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for name, ax in zip(names, axes[0], strict=True):
            own = np.array([parameter == name for parameter in self.parameters])
            order = np.argsort(self.positions[own])
            x, score = self.positions[own][order], self.scores[own][order]
            ax.plot(x, score, marker="o", color=LINES)
            chosen = x == self.best[name]
            ax.plot(x[chosen], score[chosen], marker="o", color=CLASSES[1], linestyle="none")
            ax.set_xscale("log", base=2)
            ax.set_xlabel(f"scale of {name}")
        axes[0, 0].set_ylabel("mean score")
        self.axes_, self.figure_ = list(axes[0]), figure
        return self
