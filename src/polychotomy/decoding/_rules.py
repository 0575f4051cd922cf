"""Decoding rules: from the outputs of the binary problems to class scores, larger is better.

A code has three different entries, so the total loss of class r over all problems is

    Σ_s L(A_rs f_s)  =  Σ_s [A_rs = +1] L(f_s) + [A_rs = −1] L(−f_s) + [A_rs = 0] L(0):

two matrix products, n × ℓ by ℓ × k, for any loss. No array of size n × ℓ × k is ever allocated.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.codes import Code, RuleMatrix, check_entries
from polychotomy.decoding._losses import LOSSES
from polychotomy.errors import CodeError, unknown_name

_SPARSE = 0.1


def decode(outputs: ArrayLike, code: Code | ArrayLike, rule: str) -> Array:
    """Return the score of each class; larger is better.

    Parameters
    ----------
    outputs : array-like of shape (n_samples, n_problems)
        Finite outputs of the binary learners: the sign is the side, the size the confidence.
    code : Code or array-like of shape (n_classes, n_problems)
        The side of each class in each problem.
    rule : str
        How to compare outputs f with a class's codeword a:

        - ``"hamming"``: −Σ (1 − sign(f_s) a_s) / 2, the generalised Hamming distance;
        - ``"votes"``: the number of problems that the class wins, plus a fraction that breaks
          ties by the class's share of the summed confidence;
        - ``"euclidean"``: −‖f − a‖;
        - ``"linear"``: Σ a_s f_s;
        - ``"hinge"``, ``"squared"``, ``"exponential"``, ``"logistic"``, ``"l1"``: −Σ L(a_s f_s)
          with L(z) = max(0, 1−z), (1−z)², e^{−z}, log(1 + e^{−z}), 1/(1 + e^{2z}); a zero in
          the code costs L(0);
        - ``"ddag"``: elimination by pairs, see :func:`ddag`.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_classes)

    Notes
    -----
    Any finite output gives finite scores. A sample with outputs beyond 10¹⁰ (``"squared"``,
    ``"euclidean"``) or 10²⁹⁹ (the others) is scaled down first; ``"exponential"`` continues
    beyond e⁶⁹⁰ with the logarithm of the loss. This keeps the order of the classes up to
    rounding: classes whose losses differ by less than the precision of floats get equal scores.
    The cost is O(nℓk) in matrix products, or O(n · non-zeros) for codes that are mostly zero.

    References
    ----------
    Allwein, Schapire and Singer (2000), section 3.

    Examples
    --------
    >>> from polychotomy import make_code
    >>> from polychotomy.decoding import decode
    >>> code = make_code("one_vs_rest", 3)
    >>> decode([[0.5, -2.0, 0.7]], code, "linear")
    array([[ 1.8, -3.2,  2.2]])
    >>> decode([[0.5, -2.0, 0.7]], code, "hamming")
    array([[-1., -3., -1.]])
    """
    if not isinstance(rule, str) or rule not in RULES:
        raise unknown_name("rule", rule, RULES)
    matrix = _columns(code)
    outputs = check_outputs(outputs, matrix)
    if isinstance(matrix, RuleMatrix) and matrix.searches and rule in TERMS:
        return matrix.total(*TERMS[rule](outputs))  # to the last bit what the search finds
    return RULES[rule](outputs, matrix)


def count_votes(outputs: ArrayLike, code: Code | ArrayLike) -> Array:
    """Return how many problems each class wins.

    A problem votes for all classes on the side given by the sign of its output. An output of
    exactly 0 gives half a vote to the classes on both sides.

    Examples
    --------
    >>> from polychotomy import make_code
    >>> from polychotomy.decoding import count_votes
    >>> count_votes([[1.0, -1.0, 1.0]], make_code("one_vs_one", 3))
    array([[1., 1., 1.]])
    """
    matrix = _columns(code)
    signs = np.sign(check_outputs(outputs, matrix))
    return (_product(signs, matrix) + _taking_part(matrix)) / 2


def check_outputs(outputs: ArrayLike, matrix: Matrix | RuleMatrix) -> Array:
    """Return `outputs` as finite float64 with a column per problem, or raise ValueError."""
    array = np.asarray(outputs)
    if array.dtype.kind not in "iufb":
        raise ValueError(f"outputs must hold real numbers. Got dtype {array.dtype}.")
    if array.ndim != 2 or array.shape[1] != matrix.shape[1]:
        raise ValueError(
            f"outputs must have shape (n_samples, {matrix.shape[1]}), a column for each problem "
            f"of the code. Got shape {array.shape}."
        )
    array = array.astype(float)
    finite = np.isfinite(array)
    if not finite.all():
        i, s = np.argwhere(~finite)[0]
        raise ValueError(
            f"outputs must be finite. Got {array[i, s]} for sample {i} in problem {s}; "
            "check the data on which that problem's learner was trained."
        )
    return array


def _negative_loss(outputs: Array, matrix: Matrix | RuleMatrix, name: str) -> Array:
    zeros = matrix.shape[1] - _taking_part(matrix)
    return _total(*_loss_terms(outputs, name), matrix) - LOSSES[name].at_zero * zeros


def _loss_terms(outputs: Array, name: str) -> tuple[Array, Array]:
    loss = LOSSES[name]
    f = _shrink(outputs, loss.largest)
    return -loss.function(f), -loss.function(-f)


def _exponential(outputs: Array, matrix: Matrix | RuleMatrix) -> Array:
    """Return −Σ e^{−z}, continued beyond the range of floats by −e^c (1 + log(1 + log Σ − c))."""
    scores = np.empty((len(outputs), len(matrix)))
    c = LOSSES["exponential"].largest
    huge = np.abs(outputs).max(axis=1, initial=0) > c
    scores[~huge] = _negative_loss(outputs[~huge], matrix, "exponential")
    if huge.any():
        log_sum = np.full((int(huge.sum()), len(matrix)), -np.inf)
        for f, a in zip(_shrink(outputs[huge], 1e299).T, np.asarray(matrix).T, strict=True):
            np.logaddexp(log_sum, -np.multiply.outer(f, a), out=log_sum)
        beyond = np.log1p(np.maximum(log_sum - c, 0))
        scores[huge] = -np.exp(np.minimum(log_sum, c)) * (1 + beyond)
    return scores


def _votes(outputs: Array, matrix: Matrix | RuleMatrix) -> Array:
    """Return votes plus a fifth of each class's share of the confidence, less than half a vote."""
    f = _shrink(outputs, 1.0)
    total = np.abs(f).sum(axis=1, keepdims=True)
    share = _product(f, matrix) / np.where(total > 0, total, 1)
    return count_votes(outputs, matrix) + share / 5


def _linear(outputs: Array, matrix: Matrix | RuleMatrix) -> Array:
    f = _shrink(outputs, 1e299)
    k = len(matrix)
    held = isinstance(matrix, np.ndarray) and matrix.shape == (k, k)
    if held and np.array_equal(matrix, 2 * np.eye(k) - 1):
        # One-vs-rest: products would round equal outputs of classes to different scores.
        return 2 * f - f.sum(axis=1, keepdims=True)
    return _product(f, matrix)


def _euclidean(outputs: Array, matrix: Matrix | RuleMatrix) -> Array:
    f = _shrink(outputs, 1e10)
    squares = (f**2).sum(axis=1, keepdims=True) - 2 * _product(f, matrix) + _taking_part(matrix)
    return -np.sqrt(np.maximum(squares, 0))


def ddag(outputs: ArrayLike, code: Code | ArrayLike) -> Array:
    """Return scores by elimination in a decision directed acyclic graph, for one-vs-one codes.

    Start with a list of all classes. The problem between its first and last class removes the
    loser, until one class is left. The score of the winner is k − 1; the others get the number of
    the step that removed them. With an output of 0 the first class wins. This takes k − 1
    vectorised steps.

    Parameters
    ----------
    outputs : array-like of shape (n_samples, n_problems)
    code : Code or array-like of shape (n_classes, n_problems)
        Every pair of classes once, in any order and orientation.

    References
    ----------
    Platt, Cristianini and Shawe-Taylor (2000), "Large margin DAGs for multiclass classification".

    Examples
    --------
    >>> from polychotomy import make_code
    >>> from polychotomy.decoding import ddag
    >>> ddag([[-1.0, 1.0, 1.0]], make_code("one_vs_one", 3))
    array([[1., 2., 0.]])
    """
    check_one_vs_one(code)
    matrix = check_entries(code, what="code")
    f = check_outputs(outputs, matrix)
    problem, sign = _pairs(matrix)
    samples = np.arange(len(f))
    first = np.zeros(len(f), dtype=int)
    last = np.full(len(f), len(matrix) - 1)
    scores = np.empty((len(f), len(matrix)))
    for step in range(len(matrix) - 1):
        first_wins = f[samples, problem[first, last]] * sign[first, last] >= 0
        scores[samples, np.where(first_wins, last, first)] = step
        first, last = np.where(first_wins, first, first + 1), np.where(first_wins, last - 1, last)
    scores[samples, first] = len(matrix) - 1
    return scores


def check_one_vs_one(code: Code | ArrayLike) -> None:
    """Raise ValueError unless the problems are all pairs of classes."""
    matrix = check_entries(code, what="code")
    try:
        is_one_vs_one = Code(matrix).is_one_vs_one
    except CodeError:
        is_one_vs_one = False
    if not is_one_vs_one:
        raise ValueError(
            "The 'ddag' rule needs a one-vs-one code: every pair of classes in one problem. "
            f"Got a code of {matrix.shape[0]} classes and {matrix.shape[1]} problems that is not; "
            "use another rule."
        )


def _pairs(matrix: Matrix) -> tuple[Indices, Matrix]:
    """Return, for classes r < t, the problem that separates them and the sign of r in it."""
    k, ell = matrix.shape
    r, t = np.sort(np.argsort(matrix == 0, axis=0, kind="stable")[:2], axis=0)
    problem = np.zeros((k, k), dtype=np.intp)
    sign = np.zeros((k, k), dtype=np.int8)
    problem[r, t] = np.arange(ell)
    sign[r, t] = matrix[r, np.arange(ell)]
    return problem, sign


def _columns(code: Code | ArrayLike) -> Matrix | RuleMatrix:
    """Return the columns of a code, or of a matrix if it is one."""
    return code.columns if isinstance(code, Code) else check_entries(code, what="code")


def _taking_part(matrix: Matrix | RuleMatrix) -> Array:
    """Return in how many problems each class takes part."""
    if isinstance(matrix, RuleMatrix):
        one = np.ones((1, matrix.shape[1]))
        return matrix.total(one, one)[0]
    return np.asarray(np.abs(matrix).sum(axis=1, dtype=float))


def _total(plus: Array, minus: Array, matrix: Matrix | RuleMatrix) -> Array:
    """Return for each class the sum of `plus` over its +1s and of `minus` over its −1s."""
    if isinstance(matrix, RuleMatrix):
        return matrix.total(plus, minus)
    return _product(plus, matrix == 1) + _product(minus, matrix == -1)


def _product(outputs: Array, matrix: NDArray[Any] | RuleMatrix) -> Array:
    """Return ``outputs @ matrix.T``, by a sparse product if the matrix is mostly zero."""
    if isinstance(matrix, RuleMatrix):
        return matrix.total(outputs, -outputs)
    if np.count_nonzero(matrix) > _SPARSE * matrix.size:
        return outputs @ matrix.T.astype(float)
    from scipy.sparse import csr_array

    return np.asarray((csr_array(matrix, dtype=float) @ outputs.T).T)


def _shrink(outputs: Array, largest: float) -> Array:
    """Scale samples with outputs beyond `largest` down, exactly, by powers of two."""
    size = np.abs(outputs).max(axis=1, initial=0, keepdims=True)
    if not (size > largest).any():
        return outputs
    exponent = np.ceil(np.log2(np.maximum(size / largest, 1)))
    return np.ldexp(outputs, -exponent.astype(int))


RULES: dict[str, Callable[[Array, Any], Array]] = {
    **{name: partial(_negative_loss, name=name) for name in LOSSES},
    "exponential": _exponential,
    "votes": _votes,
    "euclidean": _euclidean,
    "linear": _linear,
    "ddag": ddag,
}
"""The rules by name: every margin loss is one, and a new rule is one function and one line here."""


def _vote_terms(outputs: Array) -> tuple[Array, Array]:
    f = _shrink(outputs, 1.0)
    total = np.abs(f).sum(axis=1, keepdims=True)
    share = f / np.where(total > 0, total, 1) / 5
    signs = np.sign(outputs)
    return (1 + signs) / 2 + share, (1 - signs) / 2 - share


def _linear_terms(outputs: Array) -> tuple[Array, Array]:
    f = _shrink(outputs, 1e299)
    return f, -f


TERMS: dict[str, Callable[[Array], tuple[Array, Array]]] = {
    **{name: partial(_loss_terms, name=name) for name in LOSSES if name != "exponential"},
    "votes": _vote_terms,
    "linear": _linear_terms,
}
"""The rules whose scores are sums over the problems: what a +1 and a −1 of the code add.

The exponential loss is not among them, since its sums are continued beyond the range of floats.
"""

SIGN_RULES = frozenset({"hamming", "votes", "ddag"})
"""The rules that use only the signs of the outputs, and their sizes at most to break ties."""
