"""Which class gets which codeword, by the distances between classes."""

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.arrays import Array, Indices
from polychotomy.codes._code import Code

_REFINED = 60  # classes up to which pairs are exchanged in the end
_MANY, _STEPS, _FEW_STEPS = 500, 30, 10


def assigned(code: Code, distances: ArrayLike, *, similar: bool = True) -> Code:
    """Return a code in which similar classes have similar codewords, or the opposite.

    With similar codewords, classes that are hard to separate are on the same side of most
    problems, which makes these easier to learn; with different ones, the few problems that separate
    such classes are not all there is between them.

    Parameters
    ----------
    code : Code
    distances : array-like of shape (n_classes, n_classes)
        Distances between the classes, such as those of
        :func:`~polychotomy.structures.class_distances`: symmetric, finite.
    similar : bool, default=True
        Whether codewords are the closer, the closer the classes are.

    Returns
    -------
    code : Code
        With the same codewords, in another order.

    Notes
    -----
    Σ_rt D_rt H_rt, with the Hamming distances H of the codewords, is made large, or small, by the
    heuristic FAQ of SciPy for quadratic assignment, whose steps take O(k³), followed for up to 60
    classes by exchanges of pairs. In one-vs-rest and one-vs-one codes all codewords are equally far
    apart, and nothing changes.

    Examples
    --------
    >>> from polychotomy.codes import adjacent, assigned
    >>> print(assigned(adjacent(3), [[0, 9, 5], [9, 0, 4], [5, 4, 0]]))
    − −
    + +
    + −
    """
    D = _check_distances(distances, code.n_classes)
    if code.is_one_vs_one or code.is_one_vs_rest:
        return code
    return code.reordered(_best_order(D, _codeword_distances(code), similar))


def _best_order(D: Array, H: Array, similar: bool) -> Indices:
    """Return the codeword of each class."""
    from scipy.optimize import quadratic_assignment

    k = len(D)
    steps = _STEPS if k <= _MANY else _FEW_STEPS
    # Nothing is drawn, but without a generator SciPy warns where NumPy's global one was seeded.
    options = {"maximize": similar, "rng": np.random.default_rng(0)}
    found = quadratic_assignment(D, H, "faq", {**options, "maxiter": steps})
    if k <= _REFINED:
        guess = np.column_stack([np.arange(k), found.col_ind])
        found = quadratic_assignment(D, H, "2opt", {**options, "partial_guess": guess})
    order: Indices = found.col_ind
    return order


def _codeword_distances(code: Code) -> Array:
    A = code.matrix.astype(np.float32)
    return ((code.n_problems - A @ A.T) / 2).astype(float)


def _check_distances(distances: ArrayLike, k: int) -> Array:
    D = np.asarray(distances)
    if D.shape != (k, k) or D.dtype.kind not in "iufb":
        raise ValueError(
            "The 'distances' parameter must be a matrix of numbers with a row and a column for "
            f"each of the {k} classes. Got shape {D.shape} and dtype {D.dtype}."
        )
    D = D.astype(float)
    if not np.isfinite(D).all() or not np.allclose(D, D.T):
        raise ValueError("The 'distances' parameter must be finite and symmetric.")
    return D / max(float(np.abs(D).max()), np.finfo(float).tiny)
