"""Which of several cross-validated rows to take, and why, in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polychotomy.assess import corrected_resampled_t

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Choice:
    """The row that is taken.

    Attributes
    ----------
    best : int
        The row with the highest mean score.
    chosen : int
        The cheapest of those that are not significantly worse.
    pvalues : ndarray of shape (n_rows,)
        Of each row being worse than the best; 1 for the best, NaN without scores.
    """

    best: int
    chosen: int
    pvalues: Array


def choose(scores: Array, costs: Array, test_ratio: float, level: float) -> Choice:
    """Return the cheapest row that is not significantly worse than the best.

    Of equally cheap ones the better is taken, of equally good ones the first. An unknown cost
    (NaN) counts as the highest.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_folds)
        Larger is better; rows with NaN take no part.
    costs : ndarray of shape (n_rows,)
    test_ratio : float
        Test samples over training samples of a fold.
    level : float
        p-values below it are significant. Those of several rows are not corrected for their number:
        that would let worse rows pass.
    """
    means = scores.mean(axis=1)
    best = int(np.nanargmax(means))
    pvalues = np.array([_worse(scores[best], row, test_ratio) for row in scores])
    passed = np.flatnonzero(pvalues >= level)
    passed = passed[np.argsort(-means[passed], kind="stable")]
    chosen = int(passed[cheapest(np.nan_to_num(costs, nan=np.inf)[passed])])
    return Choice(best, chosen, pvalues)


def cheapest(costs: Iterable[float], *, within: float = 1.0) -> int:
    """Return the first row that costs at most `within` times as much as the cheapest.

    The rows stand in the order of their merit, the best first: of those about as cheap it is then
    the best.

    Examples
    --------
    >>> from polychotomy.choose._choice import cheapest
    >>> cheapest([9.0, 1.1, 1.0]), cheapest([9.0, 1.1, 1.0], within=1.2)
    (2, 1)
    """
    given = np.asarray(list(costs), dtype=float)
    return int(np.flatnonzero(given <= within * given.min())[0])


def _worse(best: Array, other: Array, test_ratio: float) -> float:
    """Return the p-value of the second being worse; NaN without a score on every fold."""
    if not np.isfinite(best - other).all():
        return np.nan
    return corrected_resampled_t(best, other, test_ratio, alternative="greater").pvalue


@dataclass(frozen=True, eq=False)
class Words:
    """What is needed to say why a row was chosen.

    Attributes
    ----------
    labels : sequence of str
        Names of the rows.
    means, costs, n_problems : ndarray of shape (n_rows,)
    n_folds : int
    score : str
        The name of what is scored.
    level : float
    skipped : mapping
        Reasons by name.
    """

    labels: Sequence[str]
    means: Array
    costs: Array
    n_problems: Array
    n_folds: int
    score: str
    level: float
    skipped: Mapping[str, str]

    def of(self, choice: Choice) -> str:
        """Return a few sentences."""
        sentences = [self._first(choice), *self._rest(choice)]
        if self.skipped:
            sentences.append(f"Not tried: {', '.join(self.skipped)}.")
        return " ".join(sentences)

    def _first(self, choice: Choice) -> str:
        i, best = choice.chosen, choice.best
        mean = f"{self.means[i]:.4f}"
        folds = f"{self.n_folds} folds" if self.n_folds > 1 else "the only fold"
        if len(self.labels) == 1:
            return (
                f"{self.labels[i]} is chosen, as nothing else was compared: its mean score "
                f"({self.score}) over {folds} is {mean}."
            )
        if i == best:
            return (
                f"{self.labels[i]} is chosen: its mean score ({self.score}) over {folds}, {mean}, "
                f"is the best of the {len(self.labels)} that were compared."
            )
        if choice.pvalues[i] == 1:
            return (
                f"{self.labels[i]} is chosen: its mean score ({self.score}) over {folds}, {mean}, "
                f"is that of the best, {self.labels[best]}, and it {self._why_cheaper(i, best)}."
            )
        return (
            f"{self.labels[i]} is chosen: its mean score ({self.score}) over {folds} is {mean}, "
            f"not significantly below the best, {self.means[best]:.4f} of {self.labels[best]} "
            f"(p = {choice.pvalues[i]:.2g}, corrected resampled t-test at the level "
            f"{self.level:g}), and it {self._why_cheaper(i, best)}."
        )

    def _why_cheaper(self, i: int, best: int) -> str:
        if np.isnan(self.costs[best]):
            n = self.n_problems[i]
            return f"asks {n:g} binary problem{'' if n == 1 else 's'}"
        if self.costs[i] == self.costs[best]:
            return "costs the same"
        return (
            f"is cheaper: {self.costs[i]:.3g} binary problems for a sample in training and "
            f"prediction together, against {self.costs[best]:.3g}"
        )

    def _rest(self, choice: Choice) -> list[str]:
        others = [j for j in range(len(self.labels)) if j != choice.chosen]
        if not others:
            return []
        worse = sum(bool(choice.pvalues[j] < self.level) for j in others)
        failed = sum(bool(np.isnan(choice.pvalues[j])) for j in others)
        n_worse = {0: "none is", 1: "1 is"}.get(worse, f"{worse} are")
        said = [f"Of the {len(others)} others, {n_worse} significantly worse than the best."]
        cheapest = np.nan_to_num(self.costs, nan=np.inf)[choice.chosen]
        if choice.chosen == choice.best and worse < len(others) - failed and cheapest < np.inf:
            said.append("None that is as good costs less.")
        if failed:
            said.append(f"{failed} failed.")
        return said
