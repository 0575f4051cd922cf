"""Codes given by a rule: one-vs-rest, one-vs-one, exhaustive, adjacent."""

from collections.abc import Sequence

import numpy as np

from polychotomy.arrays import Matrix
from polychotomy.codes._code import Code
from polychotomy.codes._parameters import check_int
from polychotomy.codes._rule_matrix import AdjacentRule, OneVsOneRule, OneVsRestRule, RuleMatrix
from polychotomy.errors import CodeError

_EXHAUSTIVE_LIMIT = 16
_LARGEST_HELD = 2**22
_QUICKLY_SUMMED = 2**12  # beyond this size, sums by a rule are faster than products with the matrix


def one_vs_rest(n_classes: int) -> Code:
    """Return the one-vs-rest code: each class against all others.

    k problems, strict, row distance 2.

    Parameters
    ----------
    n_classes : int
        Number of classes, k.

    Examples
    --------
    >>> from polychotomy.codes import one_vs_rest
    >>> print(one_vs_rest(3))
    + − −
    − + −
    − − +
    """
    k = check_int("n_classes", n_classes, least=2)
    return Code(_small_or_rule(OneVsRestRule(k), _QUICKLY_SUMMED), name="one_vs_rest")


def one_vs_one(n_classes: int) -> Code:
    """Return the one-vs-one code: each class against each other class.

    ℓ = k(k−1)/2 problems, row distance 1 + (ℓ−1)/2. The first class of a pair is +1 (all-pairs
    of Allwein et al.).

    Parameters
    ----------
    n_classes : int
        Number of classes, k.

    Examples
    --------
    >>> from polychotomy.codes import one_vs_one
    >>> print(one_vs_one(4))
    + + + · · ·
    − · · + + ·
    · − · − · +
    · · − · − −
    """
    k = check_int("n_classes", n_classes, least=2)
    return Code(_small_or_rule(OneVsOneRule(k)), name="one_vs_one")


def exhaustive(n_classes: int) -> Code:
    """Return the exhaustive code: every way to split the classes in two.

    2^(k−1) − 1 problems, strict, row distance 2^(k−2). Problem j (counted from 1) puts the
    classes given by the binary digits of j on the −1 side, as in Mills, section 3.3. Complements
    are left out.

    Parameters
    ----------
    n_classes : int
        Number of classes, k, at most 16.

    Raises
    ------
    CodeError
        For more than 16 classes.

    Examples
    --------
    >>> from polychotomy.codes import exhaustive
    >>> print(exhaustive(3))
    − + −
    + − −
    + + +
    """
    k = check_int("n_classes", n_classes, least=2)
    if k > _EXHAUSTIVE_LIMIT:
        exactly = f" = {2 ** (k - 1) - 1}" if k <= 64 else ""
        raise CodeError(
            f"The exhaustive code of {k} classes has 2^{k - 1} − 1{exactly} problems; "
            f"it is available for at most {_EXHAUSTIVE_LIMIT} classes. "
            "Use 'dense_random', 'bch' or 'orthogonal' instead."
        )
    split = np.arange(1, 2 ** (k - 1))
    bits = (split >> np.arange(k)[:, np.newaxis]) & 1
    return Code(1 - 2 * bits, name="exhaustive")


def adjacent(n_classes: int, *, order: Sequence[int] | None = None) -> Code:
    """Return the code for ordered classes: the first classes against the others, at each border.

    k−1 problems, strict, row distance 1: problem s puts the first s+1 classes on the −1 side
    and the others on the +1 side (Mills, equation 15).

    Parameters
    ----------
    n_classes : int
        Number of classes, k.
    order : sequence of int, optional
        The class indices from first to last; by default 0, 1, …, k−1.

    Examples
    --------
    >>> from polychotomy.codes import adjacent
    >>> print(adjacent(4))
    − − −
    + − −
    + + −
    + + +
    """
    k = check_int("n_classes", n_classes, least=2)
    code = Code(_small_or_rule(AdjacentRule(k)), name="adjacent")
    return code if order is None else code.reordered(np.argsort(_check_order(order, k)))


def _small_or_rule(rule: RuleMatrix, largest: int = _LARGEST_HELD) -> Matrix | RuleMatrix:
    """Return the matrix of a rule, or the rule itself where that serves better."""
    return np.asarray(rule) if rule.shape[0] * rule.shape[1] <= largest else rule


def _check_order(order: Sequence[int], k: int) -> list[int]:
    order = list(order)
    if sorted(order) != list(range(k)):
        raise ValueError(
            f"The 'order' parameter must contain each class index from 0 to {k - 1} once. "
            f"Got {len(order)} indices, {len(set(order))} of them different."
        )
    return [int(r) for r in order]
