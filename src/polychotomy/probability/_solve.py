"""``solve``: class probabilities from binary probabilities, by a named method."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.arrays import Array
from polychotomy.codes import Code
from polychotomy.errors import unknown_name
from polychotomy.probability import _batches, _formulas


@dataclass(frozen=True)
class Options:
    """Further parameters of the methods, see :func:`solve`."""

    sample_counts: Array
    tol: float
    max_iter: int
    n_jobs: int | None


@dataclass(frozen=True)
class Method:
    """A method that computes class probabilities.

    Attributes
    ----------
    function : callable
        A function of binary probabilities, their code and further options that returns
        class probabilities.
    suits : callable
        Whether the method applies to a code.
    needs : str
        Which codes it applies to, in words.
    """

    function: Callable[[Array, Code, Options], Array]
    suits: Callable[[Code], bool] = lambda code: True
    needs: str = "any code"


def is_orthogonal(code: Code) -> bool:
    """Whether the code is strict and its rows are orthogonal."""
    A = code.matrix.astype(float)
    return code.is_strict and np.array_equal(A @ A.T, code.n_problems * np.eye(code.n_classes))


def _least_squares(binary: Array, code: Code, options: Options) -> Array:
    if code.is_one_vs_rest and code.n_classes > 2:
        return _formulas.project(binary, code)
    return _batches.least_squares(binary, code, options.n_jobs)


_NORMALISE = Method(
    lambda q, code, _: _formulas.normalise(q, code), lambda code: code.is_one_vs_rest, "one-vs-rest"
)

METHODS: dict[str, Method] = {
    "least_squares": Method(_least_squares),
    "coupling": Method(
        lambda q, code, o: _batches.coupling(q, code, o.n_jobs),
        lambda code: code.is_one_vs_one,
        "one-vs-one",
    ),
    "kullback_leibler": Method(
        lambda q, code, o: _batches.kullback_leibler(
            q, code, o.sample_counts, o.tol, o.max_iter, o.n_jobs
        )
    ),
    "orthogonal": Method(
        lambda q, code, _: _formulas.orthogonal(q, code),
        is_orthogonal,
        "strict, with orthogonal rows",
    ),
    "iteration": Method(
        lambda q, code, _: _formulas.orthogonal(q, code), lambda code: code.is_strict, "strict"
    ),
    "inverse": Method(lambda q, code, _: _formulas.inverse(q, code)),
    "product": Method(
        lambda q, code, _: _formulas.product(q, code), lambda code: code.is_strict, "strict"
    ),
    "normalise": _NORMALISE,
    "votes": Method(lambda q, code, _: _formulas.votes(q, code)),
    "prob 1-r": _NORMALISE,
    "prob 1-1": Method(
        lambda q, code, _: _formulas.maximum(q, code),
        lambda code: code.is_one_vs_one,
        "one-vs-one",
    ),
}
"""The methods by name. A new method is one function and one line here."""


def solve(
    binary: ArrayLike,
    code: Code,
    method: str = "auto",
    *,
    sample_counts: ArrayLike | None = None,
    tol: float = 1e-8,
    max_iter: int = 200,
    n_jobs: int | None = None,
) -> Array:
    """Return class probabilities from the probabilities of the binary problems.

    Parameters
    ----------
    binary : array-like of shape (n_samples, n_problems)
        q_s, the probability of the +1 side, given that the sample belongs to one of the sides.
    code : Code
    method : str, default="auto"
        - ``"least_squares"``: the exact minimiser of |Qp − r|² on the simplex, where r = 2q − 1
          and row s of Q is A_s + (1 − |A_s|) r_s; where that is not unique, the one of smallest
          norm;
        - ``"coupling"``: Wu, Lin and Weng's second method (one-vs-one only), which has the same
          minimiser;
        - ``"kullback_leibler"``: the minimiser of Σ_s n_s KL(q_s ‖ p(+)/p(±)), Zadrozny's
          generalisation of Hastie and Tibshirani's method; where that is not unique, for strict
          codes the one of smallest norm;
        - ``"orthogonal"``: Mills' iteration (strict orthogonal codes only);
        - ``"iteration"``: the same for any strict code, as Mills suggests. It is the least-squares
          solution only where rows are orthogonal; in trials random codes lost nothing, and others
          had worse probabilities, adjacent and BCH codes also larger errors;
        - ``"inverse"``: least squares without p ≥ 0, of smallest norm, then clipped, for
          comparison;
        - ``"product"``: Π_s of q_s or 1 − q_s, as if the problems were independent, divided by its
          sum (strict codes only); of a trellis, the most probable classes are found without all;
        - ``"normalise"``: q divided by its sum (one-vs-rest only);
        - ``"votes"``: the fraction of votes of each class;
        - ``"prob 1-r"``, ``"prob 1-1"``: Tax and Duin's names for ``"normalise"`` and for the
          maximum rule over all pairs (one-vs-one only);
        - ``"auto"``: coupling for one-vs-one, product for a trellis, whose problems are too few to
          determine the probabilities, otherwise least squares.
    sample_counts : array-like of shape (n_problems,), optional
        n_s for ``"kullback_leibler"``, the number of samples each problem was trained on; equal
        by default.
    tol : float, default=1e-8
        ``"kullback_leibler"`` stops when no probability, of a class or, for strict codes, of a
        side, changes by more.
    max_iter : int, default=200
        Maximum number of steps of ``"kullback_leibler"``; a ConvergenceWarning is raised if they
        do not suffice.
    n_jobs : int, optional
        Number of threads. Results do not depend on it.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
        No entry is negative, and rows sum to 1.

    Notes
    -----
    The solvers are compiled on first use, which takes many seconds, and cached on
    disk. A sample costs O(k³) and, for codes with zeros, O(Σ_s m_s²) for problems of m_s classes.
    Where problems are fewer than classes, least squares, and Kullback–Leibler of strict codes,
    work in the ℓ dimensions of the problems: a change of the support costs O(kℓ + ℓ²). Such a code
    does not determine all probabilities; ``Code.unidentified`` lists the classes it leaves open.
    Samples are processed in blocks, so little memory is needed beyond input and output.

    References
    ----------
    Mills (2023), "Solving for multi-class: a survey and synthesis", section 4; Wu, Lin and Weng
    (2004), "Probability estimates for multi-class classification by pairwise coupling", section
    4; Zadrozny (2001), "Reducing multiclass to binary by coupling probability estimates".

    Examples
    --------
    >>> from polychotomy import make_code
    >>> from polychotomy.probability import solve
    >>> q = [[0.5 / 0.8, 0.5 / 0.7, 0.3 / 0.5]]  # of p = (0.5, 0.3, 0.2), by pairs
    >>> solve(q, make_code("one_vs_one", 3)).round(6)
    array([[0.5, 0.3, 0.2]])
    """
    method = choose_method(code) if method == "auto" else method
    check_method(method, code)
    q = _check_binary(binary, code)
    counts = np.asarray(np.ones(code.n_problems) if sample_counts is None else sample_counts, float)
    if counts.shape != (code.n_problems,) or not (np.isfinite(counts) & (counts > 0)).all():
        raise ValueError(
            f"sample_counts must hold a positive number for each of {code.n_problems} problems. "
            f"Got shape {counts.shape}."
        )
    options = Options(counts, tol, max_iter, n_jobs)
    return METHODS[method].function(q, code, options)


def choose_method(code: Code) -> str:
    """Return the method that ``"auto"`` stands for."""
    if code.is_searched and code.unidentified:
        return "product"
    return "coupling" if code.is_one_vs_one else "least_squares"


def check_method(method: object, code: Code, name: str = "method") -> None:
    """Raise ValueError if the method does not exist or does not apply to the code.

    `name` is the name of the parameter in error messages.
    """
    if not isinstance(method, str) or method not in METHODS:
        raise unknown_name(name, method, [*METHODS, "auto"])
    if not METHODS[method].suits(code):
        suitable = ", ".join(repr(name) for name, m in METHODS.items() if m.suits(code))
        raise ValueError(
            f"The method {method!r} needs a code that is {METHODS[method].needs}. "
            f"Got {code!r}; methods for it are {suitable}."
        )


def _check_binary(binary: ArrayLike, code: Code) -> Array:
    q = np.asarray(binary)
    if q.dtype.kind not in "iufb":
        raise ValueError(f"binary must hold real numbers. Got dtype {q.dtype}.")
    if q.ndim != 2 or q.shape[1] != code.n_problems:
        raise ValueError(
            f"binary must have shape (n_samples, {code.n_problems}), a column for each problem of "
            f"the code. Got shape {q.shape}."
        )
    if q.size and not (q.min() >= 0 and q.max() <= 1):
        i, s = np.argwhere(~((q >= 0) & (q <= 1)))[0]
        raise ValueError(
            "binary must hold probabilities between 0 and 1. "
            f"Got {q[i, s]} for sample {i} in problem {s}."
        )
    return q.astype(float, copy=False)
