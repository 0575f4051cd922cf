"""What to use, and how sure that is: the statistics of the report."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polychotomy.assess import (
    BootstrapInterval,
    McNemarTest,
    NemenyiTest,
    RankTest,
    bootstrap_difference,
    holm,
    iman_davenport,
    mcnemar,
    nemenyi,
)
from polychotomy.report._results import Array, Results

ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class Samples:
    """Where two methods are right on the samples that both were tested on, each counted once."""

    first_right: NDArray[np.bool_]
    second_right: NDArray[np.bool_]
    folds: NDArray[np.int_]


@dataclass(frozen=True, eq=False)
class Rival:
    """How a method compares with the best.

    Attributes
    ----------
    method : int
        Its index.
    mcnemar : McNemarTest
        With the method as the first; over all data sets.
    pvalue : float
        Of that test, adjusted by Holm for the number of rivals.
    interval : BootstrapInterval or None
        Of its error minus the best's, if there is a single data set.
    rank_pvalue : float or None
        Of its rank, adjusted by Holm, if there are several data sets.
    """

    method: int
    mcnemar: McNemarTest
    pvalue: float
    interval: BootstrapInterval | None
    rank_pvalue: float | None

    @property
    def worse(self) -> bool:
        """Whether it is significantly worse than the best by one of the tests."""
        by_samples = self.mcnemar.only_first_wrong > self.mcnemar.only_second_wrong
        by_ranks = self.rank_pvalue is not None and self.rank_pvalue <= ALPHA
        return (by_samples and self.pvalue <= ALPHA) or by_ranks


@dataclass(frozen=True, eq=False)
class Findings:
    """What follows from the results.

    Attributes
    ----------
    data_sets, methods : list of int
        Those compared, see :meth:`Results.compared`.
    score : ndarray of shape (len(methods),)
        The error, or the average rank if there are several data sets; smaller is better.
    best : int
        The method with the smallest score.
    chosen : int
        Of the best and the methods that are not significantly worse, the fastest.
    rivals : list of Rival
        All methods but the best, in order of their score.
    seconds : ndarray of shape (n_methods,)
        To train and predict on all data sets compared, of all methods.
    ranks : NemenyiTest or None
        Of the methods compared, if there are several data sets.
    all_alike : RankTest or None
        Of Iman and Davenport, likewise.
    """

    data_sets: list[int]
    methods: list[int]
    score: Array
    best: int
    chosen: int
    rivals: list[Rival]
    seconds: Array
    ranks: NemenyiTest | None
    all_alike: RankTest | None


def find(results: Results) -> Findings:
    """Choose a method: the fastest of those that are not significantly worse than the best.

    The best has the lowest error or, on several data sets, the lowest average rank. A method is
    worse if, by McNemar's test over all samples, it is wrong more often where only one of the two
    is, or if its rank is farther from the best's than chance allows; both with Holm's adjustment
    for the number of rivals. Ranks alone would not do, for they find nothing on few data sets.
    """
    data_sets, methods = results.compared()
    errors = results.means["error"][np.ix_(data_sets, methods)]
    several = len(data_sets) > 1 and len(methods) > 1
    ranks = nemenyi(errors, names=[results.methods[m] for m in methods]) if several else None
    score = errors[0] if ranks is None else ranks.ranks
    seconds = results.seconds[data_sets].sum(axis=0)
    order = [methods[i] for i in np.lexsort((seconds[methods], score))]
    best = order[0]
    by_rank = _rank_pvalues(errors, methods, best) if several else {}
    tests = [_mcnemar(results, data_sets, m, best) for m in order[1:]]
    adjusted = adjust([test.pvalue for test in tests])
    rivals = [
        Rival(m, test, p, _interval(results, data_sets, m, best), by_rank.get(m))
        for m, test, p in zip(order[1:], tests, adjusted, strict=True)
    ]
    level = [best, *(rival.method for rival in rivals if not rival.worse)]
    chosen = min(level, key=lambda m: float(seconds[m]))
    all_alike = iman_davenport(errors) if several else None
    return Findings(data_sets, methods, score, best, chosen, rivals, seconds, ranks, all_alike)


def verdicts(results: Results, data_set: int) -> dict[int, str]:
    """Return what a data set alone says of each method: best, level or worse.

    By McNemar's test with Holm's adjustment, as in :func:`find`.
    """
    errors = results.means["error"][data_set]
    there = np.flatnonzero(~np.isnan(errors))
    best = int(there[np.lexsort((results.seconds[data_set][there], errors[there]))[0]])
    others = [int(m) for m in there if m != best]
    tests = [_mcnemar(results, [data_set], m, best) for m in others]
    rivals = [
        Rival(m, test, p, None, None)
        for m, test, p in zip(others, tests, adjust([t.pvalue for t in tests]), strict=True)
    ]
    return {best: "best"} | {r.method: "worse" if r.worse else "level" for r in rivals}


def adjust(pvalues: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values: the i-th smallest of n times n + 1 − i, never decreasing.

    Examples
    --------
    >>> from polychotomy.report._findings import adjust
    >>> adjust([0.04, 0.01, 0.5])
    [0.08, 0.03, 0.5]
    """
    values = np.asarray(pvalues, dtype=float)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted.tolist()


def same_samples(results: Results, data_set: str, first: str, second: str) -> Samples:
    """Return where two methods are right on the samples that both were tested on.

    A sample that was tested several times, by repeated splits or seeds, counts the first time.
    """
    ours, theirs = (results.cells.get((data_set, m), {}) for m in (first, second))
    rows, rights, folds = [], [], []
    for number, place in enumerate(sorted(set(ours) & set(theirs))):
        a, b = ours[place], theirs[place]
        _, at, bt = np.intersect1d(a.rows, b.rows, return_indices=True)
        rows.append(np.asarray(a.rows)[at])
        rights.append([a.predicted[at] == a.truth[at], b.predicted[bt] == b.truth[bt]])
        folds.append(np.full(len(at), number))
    if not rows:
        nothing = np.zeros(0, dtype=bool)
        return Samples(nothing, nothing, np.zeros(0, dtype=int))
    once = np.sort(np.unique(np.concatenate(rows), return_index=True)[1])
    right = np.concatenate(rights, axis=1)[:, once]
    return Samples(right[0], right[1], np.concatenate(folds)[once])


def _mcnemar(results: Results, data_sets: Sequence[int], first: int, second: int) -> McNemarTest:
    pairs = [
        same_samples(results, results.data_sets[d], results.methods[first], results.methods[second])
        for d in data_sets
    ]
    one = np.concatenate([pair.first_right for pair in pairs])
    other = np.concatenate([pair.second_right for pair in pairs])
    return mcnemar(np.ones(len(one)), one, other) if one.size else McNemarTest(0.0, 1.0, 0, 0)


def _interval(
    results: Results, data_sets: Sequence[int], first: int, second: int
) -> BootstrapInterval | None:
    if len(data_sets) > 1:
        return None
    pair = same_samples(
        results, results.data_sets[data_sets[0]], results.methods[first], results.methods[second]
    )
    if not pair.folds.size:
        return None
    return bootstrap_difference(
        np.ones(len(pair.folds)),
        pair.first_right,
        pair.second_right,
        folds=pair.folds if np.ptp(pair.folds) else None,
        random_state=0,
    )


def _rank_pvalues(errors: Array, methods: Sequence[int], best: int) -> dict[int, float]:
    test = holm(errors, control=list(methods).index(best), alpha=ALPHA)
    return dict(zip(methods, test.adjusted.tolist(), strict=True))
