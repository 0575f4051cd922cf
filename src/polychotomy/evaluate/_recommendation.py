"""Which method to use, and why: one test, one cost, one sentence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any

import numpy as np

from polychotomy.classifiers import Cost
from polychotomy.errors import unknown_name
from polychotomy.evaluate._cell import Cell
from polychotomy.evaluate._differences import ROUNDING, Differences, cells_by_method, judge
from polychotomy.evaluate._experience import experiences

SMALL_DIFFERENCE = 0.005
"""By how much the mean score may fall short of the best for a lower cost, if balanced."""

PREFERENCES = ("balanced", "accuracy", "cost")


class Reason(StrEnum):
    """Why a method is recommended."""

    ALONE = "alone"
    """Nothing else was compared in full."""
    BEST = "best"
    """It has the best score, or the best average rank."""
    AS_GOOD = "as good"
    """Its score is that of the best, and it costs less."""
    CHEAPER = "cheaper"
    """Its score is a little below the best, not significantly, and it costs less."""


@dataclass(frozen=True, kw_only=True)
class Recommendation(Differences):
    """The method to use, and why, with the :class:`Differences` behind it.

    Attributes
    ----------
    method : str
        The method to use.
    reason : Reason
    prefer : {"balanced", "accuracy", "cost"}
        The preference that was given.
    costs : mapping of str to Cost or None
        The cost of each method, None if unknown.
    scoring : str
        Name of the score.
    experience : str
        What reductions did on other data sets with the same binary learners, "" where that is
        unknown. It decides nothing.
    best, scores, ranks, pvalues, worse, test, worse_on
        As in :class:`Differences`.
    """

    method: str
    reason: Reason
    prefer: str
    costs: Mapping[str, Cost | None]
    scoring: str
    experience: str

    @property
    def words(self) -> str:
        """The recommendation as one sentence."""
        return f"{self.method}: {self.why}."

    @property
    def why(self) -> str:
        """The reason, as part of a sentence."""
        if self.reason is Reason.ALONE:
            return "nothing else was compared in full"
        what, value = self._best_score()
        by_errors = what == "accuracy"
        if self.reason is Reason.BEST:
            most = "lowest error" if by_errors else f"best {what}"
            return f"{most}, {value}{self._why_none_cheaper()}"
        less = _cost_words(self.costs[self.method], self.costs[self.best])
        if self.reason is Reason.AS_GOOD:
            as_good = "as accurate as" if by_errors else f"same {what} as"
            return f"{as_good} {self.best} ({value}), {less}"
        return f"{self._shortfall()} (p = {self.pvalues[self.method]:.2g}), {less}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "method": self.method,
            "best": self.best,
            "reason": self.reason.value,
            "words": self.words,
            "prefer": self.prefer,
            "scoring": self.scoring,
            "experience": self.experience,
            "methods": {
                name: {
                    "score": self.scores[name],
                    "p_value": self.pvalues[name],
                    "worse": name in self.worse,
                    "problems": None if cost is None else cost.problems,
                    "questions": None if cost is None else cost.questions,
                }
                for name, cost in self.costs.items()
            },
        }

    def _best_score(self) -> tuple[str, str]:
        """Return the score of the best method, in words."""
        score = self.scores[self.best]
        if self.worse_on is not None:
            return "average rank", f"{self.ranks[self.best]:.2f}"
        if self.scoring == "accuracy":
            return "accuracy", f"{100 * (1 - score):.2f} %"
        return self.scoring, f"{score:.4g}"

    def _shortfall(self) -> str:
        mine, theirs = self.scores[self.method], self.scores[self.best]
        if self.worse_on is not None:
            first, second = self.ranks[self.best], self.ranks[self.method]
            points = f"{100 * abs(theirs - mine):.2g} points {'less' if mine < theirs else 'more'}"
            return (
                f"{points} accurate on average than {self.best}, which has rank {first:.2f} and "
                f"not {second:.2f}"
            )
        if self.scoring == "accuracy":
            return f"{100 * (theirs - mine):.2g} points less accurate than {self.best}"
        return f"{self.scoring} {mine:.4g} against {theirs:.4g} of {self.best}"

    def _why_none_cheaper(self) -> str:
        """Return why no cheaper method is recommended."""
        mine = _order(self.costs[self.best])
        cheaper = [name for name in self.costs if _order(self.costs[name]) < mine]
        if not cheaper:
            return "" if self.costs[self.best] is None else ", and no other method costs less"
        if self.worse.issuperset(cheaper):
            return ", and every cheaper method is significantly worse"
        if self.prefer == "accuracy":
            return ""
        return f", and no cheaper method comes within {100 * SMALL_DIFFERENCE:g} points of it"


def recommend(
    cells: Iterable[Cell],
    *,
    prefer: str = "balanced",
    alpha: float = 0.05,
    scoring: str = "accuracy",
) -> Recommendation:
    """Return the method to use.

    On one data set every method is compared with the one of the highest mean score, by the
    corrected resampled t-test over the folds or, with a single test part, by McNemar's test; over
    several data sets by the ranks of the mean scores.

    The cost of a method is the number of binary problems trained, then the number of questions
    asked about a sample: both are counted, and times are not used. The learner's own multi-class
    form counts as one problem. Baselines are never recommended.

    Parameters
    ----------
    cells : iterable of Cell
        Cells of one comparison: one for each data set, method and fold. Methods that lack folds
        or data sets are ignored.
    prefer : {"balanced", "accuracy", "cost"}, default="balanced"
        ``"accuracy"`` takes the best score. ``"cost"`` takes the cheapest method that is not
        significantly worse. ``"balanced"`` does so only among those whose mean score is within
        0.005 of the best. Of equally cheap methods the better is taken, then the first.
    alpha : float, default=0.05
        Significance level of the one-sided test.
    scoring : str, default="accuracy"
        Name of the score.

    Returns
    -------
    Recommendation

    See Also
    --------
    polychotomy.evaluate.summarise : The tables that belong to it.

    Examples
    --------
    >>> from polychotomy import datasets
    >>> from polychotomy.evaluate import Samples, Schedule, recommend
    >>> iris = Samples.of(datasets.load("iris"))
    >>> cells, _ = Schedule(iris, ["one_vs_one", "one_vs_rest"], ["ridge"]).run()
    >>> print(recommend(cells).words)
    one_vs_one: lowest error, ... %, and no other method costs less.
    """
    if prefer not in PREFERENCES:
        raise unknown_name("prefer", prefer, PREFERENCES)
    found, compared = judge(list(cells_by_method(cells).values()), alpha)
    costs = {
        name: mean_cost([cell.cost for folds in compared for cell in folds[name]])
        for name in found.scores
    }
    method, reason = _choose(found, costs, prefer)
    bases = {cell.base for folds in compared for name in found.scores for cell in folds[name]}
    said = [each.words for each in experiences() if bases.intersection(each.bases)]
    return Recommendation(
        **vars(found),
        method=method,
        reason=reason,
        prefer=prefer,
        costs=costs,
        scoring=scoring,
        experience=" ".join(said),
    )


def _choose(
    found: Differences, costs: Mapping[str, Cost | None], prefer: str
) -> tuple[str, Reason]:
    scores, best = found.scores, found.best
    merit = {each: -score for each, score in scores.items()}
    if found.worse_on is not None:
        merit = dict(found.ranks)
    ties = [each for each in scores if merit[each] <= merit[best] + ROUNDING]
    eligible = [each for each in scores if each not in found.worse]
    if prefer == "accuracy":
        eligible = ties
    elif prefer == "balanced":
        least = scores[best] - SMALL_DIFFERENCE - ROUNDING
        eligible = [each for each in eligible if each in ties or scores[each] >= least]
    chosen = min(eligible, key=lambda each: (_order(costs[each]), merit[each]))
    if len(scores) == 1:
        return best, Reason.ALONE
    if chosen not in ties:
        return chosen, Reason.CHEAPER
    if _order(costs[chosen]) == _order(costs[best]):
        return best, Reason.BEST
    return chosen, Reason.AS_GOOD


def mean_cost(costs: Sequence[Cost | None]) -> Cost | None:
    """Return the mean of costs, None if one of them is unknown."""
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return None
    parts = [[getattr(cost, name) for cost in known] for name in Cost.__dataclass_fields__]
    return Cost(*(None if None in part else float(np.mean(part)) for part in parts))  # type: ignore[arg-type]


def _order(cost: Cost | None) -> tuple[float, float]:
    """Return problems and questions to be compared; an unknown cost is the highest."""
    return (inf, inf) if cost is None else (round(cost.problems, 6), round(cost.questions, 6))


def _cost_words(mine: Cost | None, theirs: Cost | None) -> str:
    assert mine is not None
    if theirs is None:
        return f"with {_number(mine.problems, 'problem')}, where the cost of the best is unknown"
    if _order(mine)[0] < _order(theirs)[0]:
        return f"with {_number(mine.problems, 'problem')} instead of {theirs.problems:.4g}"
    asked = _number(mine.questions, "question")
    return f"with {asked} per sample instead of {theirs.questions:.4g}"


def _number(value: float, noun: str) -> str:
    return f"{value:.4g} {noun}{'' if value == 1 else 's'}"
