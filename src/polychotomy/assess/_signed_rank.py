"""Comparison of methods over data sets without a p-value: posteriors and bootstrap of ranks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polychotomy.arrays import Array
from polychotomy.assess._ranks import row_ranks
from polychotomy.assess._table_checks import check_level, check_table

_PRIOR = 0.5  # weight of a pseudo-observation of no difference
_BLOCK = 1000


@dataclass(frozen=True)
class SignedRankPosterior:
    """Posterior probabilities that one of two methods is better in practice.

    Attributes
    ----------
    lower, equivalent, higher : float
        Probabilities that the first method's values are lower than the second's by more than the
        region of practical equivalence, that they differ by less, and that they are higher; they
        add up to 1.
    rope : float
        Half the width of that region.
    median : float
        Median of the differences' Walsh averages, the size of the effect (Hodges and Lehmann).
    """

    lower: float
    equivalent: float
    higher: float
    rope: float
    median: float


def bayesian_signed_rank(
    first: Any, second: Any, *, rope: Any = 0.01, n_draws: int = 20_000, random_state: Any = 0
) -> SignedRankPosterior:
    """Return posterior probabilities that a method is lower, equivalent or higher on data sets.

    The Bayesian counterpart of Wilcoxon's signed-rank test: weights w of the differences z are
    drawn from a Dirichlet distribution, with a pseudo-observation z = 0 of weight ½, and the shares
    Σ w_i w_j of pairs are compared whose mean (z_i + z_j)/2 is below −rope, within ±rope, or above
    it. The probabilities say how often each of the three is the largest.

    Parameters
    ----------
    first, second : array-like of shape (n_datasets,)
        A value of each method for every data set, such as its error.
    rope : float, default=0.01
        Differences up to this count as none; 0.01 is one point of error.
    n_draws : int, default=20000
        Number of draws from the posterior.
    random_state : int, RandomState instance or None, default=0
        Seed of the draws.

    References
    ----------
    Benavoli, Corani, Demšar and Zaffalon (2017), "Time for a change: a tutorial for comparing
    multiple classifiers through Bayesian analysis", JMLR 18, section 4.2.

    Examples
    --------
    >>> from polychotomy.assess import bayesian_signed_rank
    >>> found = bayesian_signed_rank([0.10, 0.20, 0.05, 0.31, 0.12], [0.15, 0.26, 0.09, 0.39, 0.15])
    >>> found.lower > 0.95, round(found.median, 3)
    (True, -0.05)
    """
    differences = _differences(first, second)
    if not isinstance(rope, int | float | np.number) or not rope >= 0:
        raise ValueError(f"The 'rope' parameter must be a number of at least 0. Got {rope!r}.")
    z = np.append(differences, 0.0)
    means = (z[:, np.newaxis] + z) / 2
    below, above = (means < -rope).astype(float), (means > rope).astype(float)
    alpha = np.append(np.ones(len(differences)), _PRIOR)
    rng, wins = _generator(random_state), np.zeros(3)
    for start in range(0, n_draws, _BLOCK):
        w = rng.dirichlet(alpha, min(_BLOCK, n_draws - start))
        under, over = (np.einsum("ni,ij,nj->n", w, part, w) for part in (below, above))
        shares = np.stack([under, 1 - under - over, over])
        wins += np.bincount(shares.argmax(axis=0), minlength=3)
    pairs = np.triu_indices(len(differences))
    median = float(np.median(means[:-1, :-1][pairs]))
    lower, equivalent, higher = (wins / n_draws).tolist()
    return SignedRankPosterior(lower, equivalent, higher, float(rope), median)


def _generator(random_state: Any) -> Any:
    from sklearn.utils import check_random_state

    return check_random_state(random_state)


def _differences(first: Any, second: Any) -> Array:
    one, two = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if one.ndim != 1 or one.shape != two.shape or not len(one):
        raise ValueError(
            "Both methods must have one value for each data set. Got arrays of shapes "
            f"{one.shape} and {two.shape}."
        )
    found: Array = one - two
    if not np.isfinite(found).all():
        raise ValueError(
            "All values must be finite. Got missing or infinite ones; leave out these data sets."
        )
    return found


@dataclass(frozen=True)
class RankIntervals:
    """Average ranks with bootstrap intervals over data sets.

    Attributes
    ----------
    ranks, low, high : ndarray of shape (n_methods,)
        Average ranks, and the ends of their intervals.
    level : float
        The share of the bootstrap distribution between the ends.
    """

    ranks: Array
    low: Array
    high: Array
    level: float


def bootstrap_ranks(
    table: Any,
    *,
    level: float = 0.95,
    higher_is_better: bool = False,
    n_draws: int = 2000,
    random_state: Any = 0,
) -> RankIntervals:
    """Return average ranks with bootstrap intervals over the data sets.

    Data sets are drawn with replacement; the intervals are percentiles of the average ranks.

    Parameters
    ----------
    table : array-like or data frame of shape (n_datasets, n_methods)
        A value for every method on every data set, such as its error.
    level : float, default=0.95
    higher_is_better : bool, default=False
        Whether larger values are better, as for scores.
    n_draws : int, default=2000
    random_state : int, RandomState instance or None, default=0

    Examples
    --------
    >>> from polychotomy.assess import bootstrap_ranks
    >>> found = bootstrap_ranks([[0.1, 0.2, 0.3], [0.2, 0.1, 0.4], [0.3, 0.4, 0.5]])
    >>> found.ranks.round(2), found.low[2], found.high[2]
    (array([1.33, 1.67, 3.  ]), np.float64(3.0), np.float64(3.0))
    """
    ranks = row_ranks(check_table(table), higher_is_better)
    tail = (1 - check_level("level", level)) / 2
    drawn = _generator(random_state).randint(len(ranks), size=(n_draws, len(ranks)))
    low, high = np.quantile(ranks[drawn].mean(axis=1), [tail, 1 - tail], axis=0)
    return RankIntervals(ranks.mean(axis=0), low, high, float(level))
