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
from polychotomy.evaluate._differences import (
    Differences,
    Folds,
    compare_on_one,
    compare_over_many,
)
from polychotomy.reductions import available_reductions, is_baseline

SMALL_DIFFERENCE = 0.005
"""By how much the mean score may fall short of the best for a lower cost, if balanced."""

PREFERENCES = ("balanced", "accuracy", "cost")
_ROUNDING = 1e-9


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


@dataclass(frozen=True)
class Recommendation:
    """The method to use, and why.

    Attributes
    ----------
    method : str
        The method to use.
    best : str
        The method with the best mean score or, over several data sets, the best average rank.
    reason : Reason
    prefer : {"balanced", "accuracy", "cost"}
        What was asked for.
    scores : mapping of str to float
        Mean score of each method that was compared in full, without baselines.
    pvalues : mapping of str to float
        Of each of them being worse than the best; 1 for the best.
    costs : mapping of str to Cost or None
        What each costs, None if unknown.
    worse : frozenset of str
        The methods that are significantly worse than the best.
    ranks : mapping of str to float or None
        Average ranks, over several data sets.
    scoring : str
        What the score is called.
    """

    method: str
    best: str
    reason: Reason
    prefer: str
    scores: Mapping[str, float]
    pvalues: Mapping[str, float]
    costs: Mapping[str, Cost | None]
    worse: frozenset[str]
    ranks: Mapping[str, float] | None = None
    scoring: str = "accuracy"

    @property
    def words(self) -> str:
        """The recommendation as one sentence."""
        return f"{self.method}: {self.why}."

    @property
    def why(self) -> str:
        """The reason, as part of a sentence."""
        if self.reason is Reason.ALONE:
            return "nothing else was compared in full"
        if self.reason is Reason.BEST:
            return f"{self._lowest}{self._why_none_cheaper()}"
        less = _cost_words(self.costs[self.method], self.costs[self.best])
        if self.reason is Reason.AS_GOOD:
            return f"{self._as_good}, {less}"
        return f"{self._shortfall} (p = {self.pvalues[self.method]:.2g}), {less}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "method": self.method,
            "best": self.best,
            "reason": self.reason.value,
            "words": self.words,
            "prefer": self.prefer,
            "scoring": self.scoring,
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

    @property
    def _lowest(self) -> str:
        if self.ranks is not None:
            return f"best average rank, {self.ranks[self.best]:.2f}"
        if self.scoring == "accuracy":
            return f"lowest error, {_error(self.scores[self.best])}"
        return f"best {self.scoring}, {self.scores[self.best]:.4g}"

    @property
    def _as_good(self) -> str:
        if self.ranks is not None:
            return f"same average rank as {self.best} ({self.ranks[self.best]:.2f})"
        if self.scoring == "accuracy":
            return f"as accurate as {self.best} ({_error(self.scores[self.best])})"
        return f"same {self.scoring} as {self.best} ({self.scores[self.best]:.4g})"

    @property
    def _shortfall(self) -> str:
        mine, theirs = self.scores[self.method], self.scores[self.best]
        if self.ranks is not None:
            first, second = self.ranks[self.best], self.ranks[self.method]
            points = f"{100 * abs(theirs - mine):.2g} points {'less' if mine < theirs else 'more'}"
            return (
                f"{points} accurate on average than {self.best}, which has rank {first:.2f} and "
                f"not {second:.2f}"
            )
        if self.scoring == "accuracy":
            points = f"{100 * (theirs - mine):.2g}"
            return f"{points} points less accurate than {self.best}"
        return f"{self.scoring} {mine:.4g} against {theirs:.4g} of {self.best}"

    def _why_none_cheaper(self) -> str:
        """Return what became of cheaper methods."""
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

    The cost of a method is the number of binary problems trained, then the number of questions
    asked about a sample: both are counted, and times decide nothing. The learner's own multi-class
    form counts as one problem. Baselines are never recommended.

    Parameters
    ----------
    cells : iterable of Cell
        Of one comparison: a single cell for each data set, method and fold. Methods that lack folds
        or data sets take no part.
    prefer : {"balanced", "accuracy", "cost"}, default="balanced"
        ``"accuracy"`` takes the best score. ``"cost"`` takes the cheapest method that is not
        significantly worse. ``"balanced"`` does so only among those whose mean score is within
        0.005 of the best. Of equally cheap methods the better is taken, then the first.
    alpha : float, default=0.05
        Significance level of the one-sided test.
    scoring : str, default="accuracy"
        What the score is called.

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
    by_data_set = list(cells_by_method(cells).values())
    found, complete = judge(by_data_set, alpha)
    return decide(found, mean_costs(complete), prefer, several=len(by_data_set) > 1, name=scoring)


def decide(
    found: Differences,
    costs: Mapping[str, Cost | None],
    prefer: str,
    *,
    several: bool,
    name: str = "accuracy",
) -> Recommendation:
    """Return the recommendation that follows from scores, tests and costs."""
    if prefer not in PREFERENCES:
        raise unknown_name("prefer", prefer, PREFERENCES)
    scores, best = found.scores, found.best
    merit = found.ranks if several else {each: -score for each, score in scores.items()}
    ties = [each for each in scores if merit[each] <= merit[best] + _ROUNDING]
    eligible = [each for each in scores if each not in found.worse]
    if prefer == "accuracy":
        eligible = ties
    elif prefer == "balanced":
        least = scores[best] - SMALL_DIFFERENCE - _ROUNDING
        eligible = [each for each in eligible if each in ties or scores[each] >= least]
    chosen = min(eligible, key=lambda each: (_order(costs[each]), merit[each]))
    if _order(costs[chosen]) == _order(costs[best]) and chosen in ties:
        chosen = best
    reason = Reason.CHEAPER
    if len(scores) == 1:
        reason = Reason.ALONE
    elif chosen == best:
        reason = Reason.BEST
    elif chosen in ties:
        reason = Reason.AS_GOOD
    return Recommendation(
        chosen,
        best,
        reason,
        prefer,
        dict(scores),
        {each: found.pvalues.get(each, 1.0) for each in scores},
        dict(costs),
        found.worse,
        dict(found.ranks) if several else None,
        name,
    )


def judge(by_data_set: Sequence[Folds], alpha: float) -> tuple[Differences, list[Folds]]:
    """Return how the methods compare, and the cells of those that were compared."""
    if not by_data_set:
        raise ValueError("There must be at least one finished cell to summarise.")
    complete = [complete_methods(folds) for folds in by_data_set]
    names = [name for name in complete[0] if all(name in folds for folds in complete)]
    ranked = _without_baselines(names)
    if not ranked:  # no method has all data sets
        complete = [folds for folds in complete if _without_baselines(folds)][:1]
        if not complete:
            raise ValueError("Nothing but a baseline was computed, so nothing can be recommended.")
        ranked = _without_baselines(complete[0])[:1]
    compared: list[Folds] = [{name: folds[name] for name in ranked} for folds in complete]
    if len(by_data_set) == 1:
        return compare_on_one(compared[0], alpha), compared
    return compare_over_many(compared, alpha), compared


def _without_baselines(names: Iterable[str]) -> list[str]:
    return [name for name in names if not is_baseline(name.partition(" (")[0])]


def cells_by_method(cells: Iterable[Cell]) -> dict[str, dict[str, list[Cell]]]:
    """Return the cells of each data set and method, in the order of the folds.

    Methods are called by their reduction; with the base, if there are several. They come in the
    order of :func:`~polychotomy.reductions.available_reductions`, so that ties are decided alike
    wherever the cells come from.
    """
    found = list(cells)
    several = len({cell.base for cell in found}) > 1
    folds: dict[str, dict[str, dict[int, Cell]]] = {}
    for cell in found:
        method = f"{cell.reduction} ({cell.base})" if several else cell.reduction
        place = folds.setdefault(cell.data_set, {}).setdefault(method, {})
        if cell.fold in place:
            raise ValueError(
                "Cells of several comparisons cannot be summarised together. Got two of "
                f"{method} in fold {cell.fold} of {cell.data_set}."
            )
        place[cell.fold] = cell
    return {
        data_set: {
            name: [methods[name][fold] for fold in sorted(methods[name])]
            for name in sorted(methods, key=_place)
        }
        for data_set, methods in folds.items()
    }


def _place(method: str) -> tuple[int, str]:
    known = available_reductions()
    name = method.partition(" (")[0].partition(":")[0]
    return known.index(name) if name in known else len(known), method


def complete_methods(methods: Folds) -> dict[str, Sequence[Cell]]:
    """Return the methods that have all folds that any has."""
    folds = {name: [cell.fold for cell in cells] for name, cells in methods.items()}
    all_folds = max(folds.values(), key=len)
    return {name: cells for name, cells in methods.items() if folds[name] == all_folds}


def mean_costs(data_sets: Sequence[Folds]) -> dict[str, Cost | None]:
    """Return the mean cost of each method over folds and data sets; None where one is unknown."""
    return {
        name: mean_cost([cell.cost for folds in data_sets for cell in folds[name]])
        for name in data_sets[0]
    }


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


def _error(score: float) -> str:
    return f"{100 * (1 - score):.2f} %"
