"""Methods for class probabilities as graphs, from the probabilities q of binary problems.

Closed formulas give probabilities. The others, which :func:`polychotomy.probability.solve` finds by
iteration, are computed by a loop of simple steps. The result is accurate enough to predict the most
probable class, but is not exported as probabilities.
"""

from collections.abc import Callable, Sequence

import numpy as np

from polychotomy.arrays import Array
from polychotomy.codes import Code
from polychotomy.export._decoding_graph import votes
from polychotomy.export._graph import Graph, Name
from polychotomy.probability import METHODS

_STEPS = 4000
_LEAST = 1e-300


def is_closed(method: str, code: Code) -> bool:
    """Whether a method is a closed formula for a code."""
    if code.n_classes == 2 or method in _CLOSED:
        return True
    if method == "least_squares":
        return _is_projection(code)
    return method == "inverse" and (code.is_strict or not code.unidentified)


def closed_methods(code: Code) -> list[str]:
    """Return the methods that suit a code and are closed formulas."""
    return [name for name, m in METHODS.items() if m.suits(code) and is_closed(name, code)]


def class_probabilities(g: Graph, q: Name, code: Code, method: str, counts: Array) -> Name:
    """Return class probabilities (n × k) from binary ones (n × ℓ).

    See :func:`polychotomy.probability.solve`. `counts` are those of each problem's samples.
    """
    if (
        code.n_classes == 2
        and (code.n_problems == 1 or method not in _CLOSED)
        and method != "votes"
    ):
        weight = counts if method == "kullback_leibler" else np.ones_like(counts)
        return _average(g, q, code, weight)
    if method in _CLOSED:
        return _shares(g, _CLOSED[method](g, q, code))
    if method == "inverse":
        return _shares(g, (_inverse if code.is_strict else _solved)(g, q, code))
    if method == "kullback_leibler":
        return _nearest_divergence(g, q, code, counts)
    if _is_projection(code):
        own = _by_class(g, q, code) if code.is_one_vs_rest else _centred_products(g, q, code)
        return _shares(g, _on_simplex(g, own, code.n_classes))
    return _least_squares(g, q, code)


def _average(g: Graph, q: Name, code: Code, weight: Array) -> Name:
    """Return the probabilities of two classes: the weighted mean over the problems."""
    sign = code.matrix[0].astype(float) * weight / weight.sum()
    first = g("Add", g.product(q, sign[:, np.newaxis]), -float(sign[sign < 0].sum()))
    return g.beside([first, g.one_minus(first)])


def _is_projection(code: Code) -> bool:
    """Whether least squares is a projection onto the simplex."""
    return (code.is_one_vs_rest and code.n_classes > 2) or METHODS["orthogonal"].suits(code)


def _shares(g: Graph, scores: Name) -> Name:
    """Divide each row by its sum; rows that sum to 0 become uniform."""
    total = g.reduce("ReduceSum", scores)
    scores = g("Where", g("Greater", total, 0.0), scores, 1.0)
    return g("Div", scores, g.reduce("ReduceSum", scores))


def _by_class(g: Graph, q: Name, code: Code) -> Name:
    """Return the columns of a one-vs-rest code's problems in the order of the classes."""
    return g.columns(q, np.argsort(code.matrix.argmax(axis=0)), code.n_classes)


def _centred_products(g: Graph, q: Name, code: Code) -> Name:
    r = g("Sub", g("Mul", q, 2.0), 1.0)
    return g.product(r, code.matrix.T / code.n_problems)


def _on_simplex(g: Graph, x: Name, k: int) -> Name:
    """Return the projection max(x − τ, 0) onto the simplex, by sorting."""
    ordered, _ = g("TopK", x, np.array([k]), n_outputs=2, axis=1)
    sums = g("CumSum", ordered, np.array(1))
    excess = g("Div", g("Sub", sums, 1.0), np.arange(1, k + 1)[np.newaxis].astype(float))
    inside = g.reduce("ReduceSum", g.integer(g("Greater", ordered, excess)))
    tau = g("GatherElements", excess, g("Sub", inside, np.array(1)), axis=1)
    return g("Max", g("Sub", x, tau), 0.0)


def _vote_shares(g: Graph, q: Name, code: Code) -> Name:
    return votes(g, g("Sub", q, 0.5), code.matrix)


def _maximum(g: Graph, q: Name, code: Code) -> Name:
    """Return the largest probability that any problem gives each class."""
    both, ell = g.beside([q, g.one_minus(q)]), code.n_problems
    columns = []
    for row in code.matrix:
        own = np.concatenate([np.flatnonzero(row == 1), ell + np.flatnonzero(row == -1)])
        columns.append(g.reduce("ReduceMax", g.columns(both, own)))
    return g.beside(columns)


def _product(g: Graph, q: Name, code: Code) -> Name:
    """Return the products of the probabilities of each class's sides, by logarithms."""
    logs = [g("Log", g("Max", side, _LEAST)) for side in (q, g.one_minus(q))]
    sides = np.hstack([code.matrix == 1, code.matrix == -1])
    scores = g.product(g.beside(logs), sides.T)
    return g("Exp", g("Sub", scores, g.reduce("ReduceMax", scores)))


def _orthogonal(g: Graph, q: Name, code: Code) -> Name:
    return _on_simplex(g, _centred_products(g, q, code), code.n_classes)


def _inverse(g: Graph, q: Name, code: Code) -> Name:
    """Return least squares subject to Σp = 1 only, of a strict code: one product."""
    A = code.matrix.astype(float)
    mean = A.mean(axis=0)
    r = g("Sub", g("Mul", q, 2.0), (1 + mean)[np.newaxis])
    inverse = np.linalg.pinv((A - mean).T, rcond=1e-10)
    return g("Max", g("Add", g.product(r, inverse.T), 1 / code.n_classes), 0.0)


def _solved(g: Graph, q: Name, code: Code) -> Name:
    """Return least squares subject to Σp = 1 only: (N + 11ᵀ) p ∝ 1, by elimination.

    N = BᵀB, with 2(1 − q_s) in row s of B for classes on the + side and −2 q_s on the − side.
    """
    k = code.n_classes
    plus, minus = (code.matrix == 1).T.astype(float), (code.matrix == -1).T.astype(float)
    column = g("Unsqueeze", q, np.array([2]))
    B = g("Sub", g("Mul", g.one_minus(column), 2 * plus), g("Mul", column, 2 * minus))
    N = g("Einsum", B, B, equation="nsi,nsj->nij")  # some onnxruntimes fuse Transpose and MatMul
    M = g("Concat", g("Add", N, 1.0), g("Add", g("Mul", g.columns(N, [0]), 0.0), 1.0), axis=1)
    M = g("Transpose", M, perm=[0, 2, 1])  # N + 11ᵀ is symmetric; the last column is 1
    for j in range(k):
        here = np.array([j])
        row = g("Gather", M, here, axis=1)
        row = g("Div", row, g("Gather", row, here, axis=2))
        others = g("Sub", g("Gather", M, here, axis=2), np.eye(k)[j][:, np.newaxis])
        M = g("Sub", M, g("Mul", others, row))
    return g("Max", g("Squeeze", g("Gather", M, np.array([k]), axis=2), np.array([2])), 0.0)


def _least_squares(g: Graph, q: Name, code: Code) -> Name:
    """Minimise |Bp|² on the simplex by accelerated projected gradients.

    With restarts (O'Donoghue and Candès, 2015). A small multiple of |p|² chooses among minimisers.
    """
    gradient, bound = (_of_strict if code.is_strict else _of_sides)(g, q, code)
    k = code.n_classes
    start = _uniform(g, q, k)
    momentum = g("Mul", g.columns(start, [0]), float(k))  # ones, n × 1

    def step(b: Graph, state: Sequence[Name]) -> tuple[list[Name], Name]:
        p, ahead, t = state
        slope = b("Add", gradient(b, ahead), b("Mul", ahead, 1e-9))
        following = _on_simplex(b, b("Sub", ahead, b("Div", slope, bound)), k)
        moved = b("Sub", following, p)
        uphill = b("Greater", b.reduce("ReduceSum", b("Mul", slope, moved)), 0.0)
        root = b("Sqrt", b("Add", 1.0, b("Mul", 4.0, b("Mul", t, t))))
        faster = b("Where", uphill, 1.0, b("Mul", 0.5, b("Add", 1.0, root)))
        share = b("Where", uphill, 0.0, b("Div", b("Sub", t, 1.0), faster))
        ahead = b("Add", following, b("Mul", share, moved))
        return [following, ahead, faster], _size(b, moved)

    return g.repeat(_STEPS, [start, start, momentum], step)[0]


_Gradient = Callable[[Graph, Name], Name]


def _of_strict(g: Graph, q: Name, code: Code) -> tuple[_Gradient, Name]:
    """Return the gradient of ½ |Zp − (r − m)|², with A's rows less their mean m, and its bound."""
    A = code.matrix.astype(float)
    mean = A.mean(axis=0)
    Z = A - mean
    largest = float(np.linalg.eigvalsh(Z @ Z.T)[-1])
    wanted = g.product(g("Sub", g("Mul", q, 2.0), (1 + mean)[np.newaxis]), Z.T)
    normal = g.constant(Z @ Z.T)
    return lambda b, p: b("Sub", b("MatMul", p, normal), wanted), g.constant(largest)


def _of_sides(g: Graph, q: Name, code: Code) -> tuple[_Gradient, Name]:
    """Return the gradient of ½ |Bp|², whose row s is (1 − q) p₊ − q p₋, and its bound ‖B‖₁‖B‖∞."""
    sides = np.vstack([code.matrix.T == 1, code.matrix.T == -1]).astype(float)  # 2ℓ × k
    weights = g.beside([g.one_minus(q), g("Neg", q)])
    down, up = g.constant(sides.T), g.constant(sides)
    ell = code.n_problems
    half, back = g.constant(_halves_added(ell)), g.constant(_halves_added(ell).T)
    sizes = g("Abs", weights)
    in_rows = g("Mul", sizes, sides.sum(axis=1)[np.newaxis])
    by_row = g.reduce("ReduceMax", g("MatMul", in_rows, half))
    by_class = g.reduce("ReduceMax", g.product(sizes, sides))

    def gradient(b: Graph, p: Name) -> Name:
        residual = b("MatMul", b("Mul", b("MatMul", p, down), weights), half)
        return b("MatMul", b("Mul", b("MatMul", residual, back), weights), up)

    return gradient, g("Mul", by_row, by_class)


def _halves_added(ell: int) -> Array:
    """Return the matrix that adds the second half of 2ℓ columns to the first."""
    return np.vstack([np.eye(ell), np.eye(ell)])


def _nearest_divergence(g: Graph, q: Name, code: Code, counts: Array) -> Name:
    """Minimise Σ n_s KL(q_s ‖ p₊/(p₊ + p₋)) by the multiplicative steps of Hunter's MM algorithm.

    p_c is multiplied by Σ n_s q_s/p₊ (or (1 − q_s)/p₋) over Σ n_s/(p₊ + p₋), sums over the problems
    of class c, which never increases the divergence; where they are equal, p is the minimum.

    References
    ----------
    Huang, Weng and Lin (2006), "Generalized Bradley–Terry models and multi-class probability
    estimates", JMLR 7.
    """
    sides = np.vstack([code.matrix.T == 1, code.matrix.T == -1]).astype(float)
    weight = np.tile(counts / counts.max(), 2)[:, np.newaxis]
    both = g.beside([q, g.one_minus(q)])
    down, totals = g.constant(sides.T), g.constant(np.tile(_halves_added(code.n_problems), 2))
    up = g.constant(weight * sides)

    def step(b: Graph, state: Sequence[Name]) -> tuple[list[Name], Name]:
        (p,) = state
        side = b("MatMul", p, down)
        wanted = b("MatMul", b("Div", both, b("Max", side, _LEAST)), up)
        reached = b("MatMul", b("Div", 1.0, b("Max", b("MatMul", side, totals), _LEAST)), up)
        following = _shares(b, b("Mul", p, b("Div", wanted, reached)))
        return [following], _size(b, b("Sub", following, p))

    return g.repeat(_STEPS, [_uniform(g, q, code.n_classes)], step)[0]


def _uniform(g: Graph, q: Name, k: int) -> Name:
    """Return 1/k for each class and sample."""
    return g("Add", g("Mul", g.columns(q, [0]), 0.0), np.full((1, k), 1 / k))


def _size(b: Graph, moved: Name) -> Name:
    """Return how far each sample moved (n × 1)."""
    return b.reduce("ReduceSum", b("Abs", moved))


_CLOSED: dict[str, Callable[[Graph, Name, Code], Name]] = {
    "normalise": _by_class,
    "prob 1-r": _by_class,
    "votes": _vote_shares,
    "prob 1-1": _maximum,
    "product": _product,
    "orthogonal": _orthogonal,
}
