"""Which of several cross-validated rows to take, and why, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

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
    pvalues = np.array([worse_pvalue(scores[best], row, test_ratio) for row in scores])
    passed = np.flatnonzero(pvalues >= level)
    costs = np.nan_to_num(costs, nan=np.inf)
    chosen = int(passed[np.lexsort([-means[passed], costs[passed]])[0]])
    return Choice(best, chosen, pvalues)


def worse_pvalue(best: Array, other: Array, test_ratio: float) -> float:
    """Return the p-value of the second being worse: the one-sided corrected resampled t-test.

    With differences d of J folds, t = mean(d) / sqrt((1/J + n_test/n_train) var(d)) has about
    Student's distribution with J − 1 degrees of freedom. The plain paired test has 1/J alone: it
    takes the folds for independent, which they are not, since they train on the same samples, and
    finds differences where there are none far too often.

    Where all differences are alike there is no spread to go by (nor with one fold): a row is then
    worse if it is worse at all.

    References
    ----------
    Nadeau and Bengio (2003), "Inference for the generalization error", Machine Learning 52,
    section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.choose._choice import worse_pvalue
    >>> a, b = np.array([0.9, 0.8, 0.9, 0.8, 0.9]), np.array([0.8, 0.8, 0.8, 0.8, 0.8])
    >>> round(worse_pvalue(a, b, 1 / 4), 3)
    0.089
    """
    from scipy.stats import t

    d = best - other
    if np.isnan(d).any():
        return np.nan
    mean, n_folds = d.mean(), len(d)
    spread = d.std(ddof=1) if n_folds > 1 else 0.0
    rounding = 1e-12 * np.abs(best).max()
    if spread <= rounding:
        return float(mean <= rounding)
    return float(t.sf(mean / (spread * sqrt(1 / n_folds + test_ratio)), n_folds - 1))


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
            return f"asks {self.n_problems[i]:g} binary problems"
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
