"""Every compiled function does what plain NumPy does, or is a part of one that is compared here.

A new function in a folder ``_compiled`` needs a case in ``CASES``, unless others there call it.
"""

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import polychotomy
from polychotomy import CodeClassifier, SharedKernelSVC, SharedLinear, make_code
from polychotomy.codes import Code
from polychotomy.kernel import _compiled as kernel
from polychotomy.kernel import _twins as kernel_twins
from polychotomy.linear import _compiled as linear
from polychotomy.linear import _twins as linear_twins
from polychotomy.probability import _batches, _least_norm
from polychotomy.probability import _compiled as probability
from polychotomy.probability import _twins as probability_twins

pytestmark = pytest.mark.nojit

SOURCE = Path(polychotomy.__file__).parent
PACKAGES = ("kernel", "linear", "probability")
FEW = Code(1 - 2 * (np.arange(12)[:, None] >> np.arange(4) & 1))  # twelve classes, four problems
MANY = make_code("dense_random", 5, random_state=0)
SPARSE = Code([[1, 1, 0, -1], [-1, 0, 1, 1], [0, -1, -1, 1]])


def binary_svm(rng, n=30):
    X = rng.normal(size=(n, 3))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return K, y, rng.uniform(0.5, 3, size=n)


def can_move(y, a, c):
    return np.where(y > 0, a < c, a > 0), np.where(y > 0, a > 0, a < c)


def select(rng):
    y, c, f = rng.choice([-1.0, 1.0], 40), np.ones(40), rng.normal(size=40)
    a = rng.choice([0.0, 0.4, 1.0], 40)
    up, down = np.empty(6, np.int64), np.empty(6, np.int64)
    n_up, n_down, highest, lowest = kernel.select(y, a, c, f, up, down)
    e, (rises, falls) = y - f, can_move(y, a, c)
    assert (n_up, n_down) == (6, 6)
    np.testing.assert_array_equal(up, np.flatnonzero(rises)[np.argsort(-e[rises])][:6])
    np.testing.assert_array_equal(down, np.flatnonzero(falls)[np.argsort(e[falls])][:6])
    assert (highest, lowest) == (e[rises].max(), e[falls].min())


def fill_block(rng):
    up, down, marked = rng.permutation(20)[:4], rng.permutation(20)[:4], np.zeros(20, dtype=bool)
    for last in ([], [3, 11, 7]):
        block = np.array([*last, *[0] * (8 - len(last))])
        n = kernel.fill_block(block, len(last), up, 4, down, 4, marked)
        each = 4 if not last else 2
        worst = [p for pair in zip(up[:each], down[:each], strict=True) for p in pair]
        assert block[:n].tolist() == list(dict.fromkeys([*worst, *last]))[:8]
        assert not marked.any()


def place_block(rng):
    """What stays keeps its place, what is new takes free ones, and is to be read."""
    last, block = rng.permutation(20)[:6], np.empty(8, np.int64)
    block[:4], block[4:7] = last[[5, 0, 3, 1]], np.setdiff1d(np.arange(20), last)[:3]
    places = np.append(rng.permutation(6), [6, 7])
    before = dict(zip(last, places, strict=False))
    fresh, where = np.ones(8, dtype=bool), np.zeros(20, np.int32)
    kernel.place_block(last, 6, block, 7, places, fresh, where)
    assert [places[k] for k in range(4)] == [before[p] for p in block[:4]]
    assert sorted(places[:7]) == list(range(7))
    assert sorted(np.flatnonzero(~fresh)) == sorted(places[4:7])
    assert not where.any()


def gather_block(rng):
    """Only what is new is read, but for all pairs with it."""
    K, slot, numbers = rng.normal(size=(12, 12)), rng.permutation(12), rng.permutation(12)[:9]
    K = K + K.T
    whole, Q = K[np.ix_(numbers, numbers)], np.full((9, 11), np.nan)
    by_slot = K[np.argsort(slot)]
    for known in (0, 3, 9):
        fresh = np.arange(9) < known
        Q[:known, :known] = whole[:known, :known]
        kernel.gather_block(by_slot, slot, numbers, fresh, 9, Q)
        np.testing.assert_array_equal(Q[:, :9], whole)
        assert fresh.all()
        Q[:] = np.nan


def solve_block(rng):
    K, y, c = binary_svm(rng)
    a, e = np.zeros(len(y)), y.copy()
    kernel.solve_block(K, y, a, c, e, len(y), 1e-9, 100_000)
    twin = kernel_twins.solve_problem(K, y, c, 1e-9)
    np.testing.assert_allclose(K @ (y * a), K @ (y * twin), atol=1e-6)
    np.testing.assert_allclose(e, y - K @ (y * a), atol=1e-9)


def advance(rng):
    K, y, c = binary_svm(rng)
    n = len(y)
    a, f, state = np.zeros(n), np.zeros(n), np.zeros(5)
    block, marked, where = np.empty(8, np.int64), np.zeros(n, dtype=bool), np.zeros(n, np.int32)
    places, fresh, Q = np.arange(8), np.zeros(8, dtype=bool), np.empty((8, 8))
    everything, ends = np.arange(n), (np.zeros(1, np.int64), np.full(1, n))
    outcome = kernel.INTERRUPTED
    while outcome == kernel.INTERRUPTED:
        outcome = kernel.advance(
            *(K, everything, everything, *ends, y, a, c, f),
            *(block, places, fresh, Q, where, marked, state, 1e-9, -1, 5),
        )
        members = block[: int(state[0])]
        assert len(set(places[: int(state[0])])) == len(members)
    assert outcome == kernel.DONE
    twin = kernel_twins.solve_problem(K, y, c, 1e-9)
    np.testing.assert_allclose(f, K @ (y * twin), atol=1e-6)


def advance_coupled(rng):
    """The coupled problem is an uncoupled one with the kernel M ⊗ K."""
    K, y, c = binary_svm(rng, 14)
    m, M = len(y), np.array([[1.0, 0.4], [0.4, 1.0]])
    Y, C = np.array([y, -np.roll(y, 1)]), np.array([c, c[::-1]])
    a, G, F, state = np.zeros((2, m)), np.zeros((2, m)), np.zeros((2, m)), np.zeros(4)
    blocks, sizes = np.zeros((1, 8), np.int64), np.zeros(1, np.int64)
    marked, slot = np.zeros(2 * m, dtype=bool), np.arange(m)
    outcome = kernel.INTERRUPTED
    while outcome == kernel.INTERRUPTED:
        outcome = kernel.advance_coupled(
            K, slot, Y, a, C, G, F, M, blocks, sizes, marked, state, 1e-9, -1, 5
        )
    assert outcome == kernel.DONE
    whole = np.kron(M, K)
    twin = kernel_twins.solve_problem(whole, Y.ravel(), C.ravel(), 1e-9)
    np.testing.assert_allclose(F.ravel(), whole @ (Y.ravel() * twin), atol=1e-6)


def add_rows(rng):
    K, weights = rng.normal(size=(12, 50)), rng.normal(size=10)
    slots, f = rng.permutation(12)[:10], rng.normal(size=30)
    starts, stops = np.array([0, 25]), np.array([10, 45])
    expected = f + (weights @ K[slots])[np.r_[0:10, 25:45]]
    kernel.add_rows(K, slots, weights, 10, f, starts, stops)
    np.testing.assert_allclose(f, expected, atol=1e-12)


def add_coupled(rng):
    K = rng.normal(size=(6, 20))
    problems, slots = np.array([0, 0, 2]), np.array([1, 4, 4])
    weights, M = rng.normal(size=3), rng.normal(size=(3, 3))
    W = np.zeros((3, 6))
    np.add.at(W, (problems, slots), weights)
    G, F = np.zeros((3, 20)), np.zeros((3, 20))
    kernel.add_coupled(K, slots, problems, weights, M, G, F)
    for found, expected in zip((G, F), kernel_twins.add_coupled(K, W, M), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def rbf_from_products(rng):
    X, Y = rng.normal(size=(3, 4)), rng.normal(size=(4, 40))
    own, squares = (X**2).sum(axis=1), (Y**2).sum(axis=0)
    K, slots = np.zeros((5, 40), np.float32), np.array([4, 0, 2])
    numbers = [each.astype(np.float32) for each in (X @ Y, own, squares)]
    kernel.rbf_from_products(*numbers, np.float32(0.3), K, slots)
    twin = kernel_twins.rbf_from_products(X @ Y, own, squares, 0.3)
    np.testing.assert_allclose(K[slots], twin, rtol=1e-4)


def rbf_rows(rng):
    X, Y = rng.normal(size=(6, 11)).astype(np.float32), rng.normal(size=(11, 40))
    own, squares = (X**2).sum(axis=1), (Y**2).sum(axis=0).astype(np.float32)
    numbers, slots, K = np.array([5, 1]), np.array([0, 2]), np.zeros((3, 40), np.float32)
    ranges = np.array([0, 20]), np.array([20, 40]), np.array([[True, True], [False, True]])
    gamma = np.float32(0.1)
    kernel.rbf_rows(X, own, numbers, Y.astype(np.float32), squares, gamma, K, slots, *ranges)
    twin = kernel_twins.rbf_rows(X[numbers].astype(float), Y, 0.1)
    np.testing.assert_allclose(K[0], twin[0], rtol=1e-4)
    np.testing.assert_allclose(K[2, 20:], twin[1, 20:], rtol=1e-4)
    assert not K[2, :20].any()


def sparse_outputs(rng):
    values, bias = rng.normal(size=(21, 9)), rng.normal(size=4)
    W = random_array((9, 4), density=0.4, rng=rng).tocsc()
    out = np.empty((21, 4))
    kernel.sparse_outputs(values, W.indptr, W.indices, W.data, bias, out)
    np.testing.assert_allclose(out, values @ W.toarray() + bias, atol=1e-12)


def hash_rows(rng):
    bits = rng.integers(2**63, size=(7, 5), dtype=np.uint64)
    factors = rng.integers(2**63, size=5, dtype=np.uint64)
    with np.errstate(over="ignore"):
        found = kernel.hash_rows(bits, factors)
    exact = [
        sum((int(b) ^ int(b) >> 29) * int(f) for b, f in zip(row, factors, strict=True)) % 2**64
        for row in bits
    ]
    assert [int(number) for number in found] == exact


def are_rows(rng):
    X, numbers = rng.normal(size=(8, 3)), np.array([5, 2, 2, 7])
    Y = X[numbers]
    assert kernel.are_rows(X, numbers, Y)
    Y[3, 1] += 1
    assert not kernel.are_rows(X, numbers, Y)


def linear_problem(rng):
    X = csr_array(random_array((40, 15), density=0.3, rng=rng))
    sides = rng.choice([-1, -1, 0, 1], size=40).astype(np.int8)
    return X, sides, rng.uniform(0.5, 2, 40), np.asarray(X.multiply(X).sum(axis=1)).ravel()


def descend(rng):
    X, sides, costs, norms = linear_problem(rng)
    order = np.flatnonzero(sides)
    found, twin = (np.zeros(40), np.zeros(16)), (np.zeros(40), np.zeros(16))
    given = X.indptr, X.indices, X.data, sides, costs, norms, 1.0, order, len(order)
    gain = linear.descend(*given, *found)
    expected = linear_twins.descend_twin(X, sides, costs, 1.0, order, *twin)
    np.testing.assert_allclose([gain, *found[1]], [expected, *twin[1]], rtol=1e-9)


def survey(rng):
    X, sides, costs, _ = linear_problem(rng)
    alpha = rng.uniform(size=40) * (sides != 0)
    w, order = np.append(X.T @ (alpha * sides), alpha @ sides), np.empty(40, np.int64)
    *values, n = linear.survey(X.indptr, X.indices, X.data, sides, costs, alpha, w, order)
    *expected, counting = linear_twins.survey_twin(X, sides, costs, alpha, w)
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    np.testing.assert_array_equal(order[:n], counting)


def first_samples(rng):
    sides, order = np.where(rng.random(900) < 0.05, 1, -1).astype(np.int8), np.empty(900, np.int64)
    n = linear.first_samples(sides, np.ones(900), order)
    few, many = np.flatnonzero(sides > 0), np.flatnonzero(sides < 0)
    stride = len(many) // max(4 * len(few), 900 // 16)
    assert sorted(order[:n]) == sorted([*few, *many[stride - 1 :: stride]])


def solve_column(rng):
    X, sides, costs, norms = linear_problem(rng)
    found, alpha, w = np.zeros(16), np.zeros(40), np.zeros(16)
    given = X.indptr, X.indices, X.data, sides, costs, norms, 1.0
    with np.errstate(over="ignore"):  # of whole numbers, which draw the order
        linear.solve_column(*given, 1e-14, 10_000, found)
    for _ in range(2000):
        linear_twins.descend_twin(X, sides, costs, 1.0, np.flatnonzero(sides), alpha, w)
    np.testing.assert_allclose(found, w, atol=1e-6)


def normal_matrices(rng):
    q = rng.random((3, SPARSE.n_problems))
    twin = [probability_twins.normal_matrix(qi, SPARSE) for qi in q]
    np.testing.assert_allclose(_batches.normal_matrices(q, SPARSE), twin, atol=1e-12)


def least_squares(rng):
    q, sides = rng.random((6, SPARSE.n_problems)), _batches._sides(SPARSE)
    out = np.empty((6, 3))
    probability.least_squares(2 * q - 1, *sides, float(SPARSE.n_problems), out)
    twin = [probability_twins.least_squares(qi, SPARSE) for qi in q]
    np.testing.assert_allclose(out, twin, atol=1e-9)


def least_squares_lanes(rng):
    q, sides = rng.random((40, SPARSE.n_problems)), _batches._sides(SPARSE)
    q[3] = np.round(q[3])  # where solutions may not be unique
    out, alone, shift = np.empty((40, 3)), np.empty((40, 3)), float(SPARSE.n_problems)
    probability.least_squares_lanes(q, *sides, np.empty((0, 3)), np.empty(0), shift, 32, out)
    probability.least_squares(2 * q - 1, *sides, shift, alone)
    np.testing.assert_allclose(out, alone, atol=1e-9)
    twin = [probability_twins.least_squares(qi, SPARSE) for qi in np.delete(q, 3, axis=0)]
    np.testing.assert_allclose(np.delete(out, 3, axis=0), twin, atol=1e-9)
    q = rng.random((40, MANY.n_problems))  # of a strict code
    twin, out = [probability_twins.least_squares(qi, MANY) for qi in q], np.empty((40, 5))
    _batches._in_lanes(MANY)(q, out)
    np.testing.assert_allclose(out, twin, atol=1e-9)


def least_squares_strict(rng):
    q, out = rng.random((40, MANY.n_problems)), np.empty((40, 5))
    matrices = _batches._shared_matrices(MANY)
    assert matrices is not None
    probability.least_squares_strict(q, *matrices, 32, out)
    twin = [probability_twins.least_squares(qi, MANY) for qi in q]
    np.testing.assert_allclose(out, twin, atol=1e-8)


def least_squares_few(rng):
    q = rng.random((4, 4))
    out, faces = np.empty((4, 12)), np.empty((4, 12), dtype=bool)
    probability.least_squares_few(2 * q - 1, _batches._entries(FEW), out, faces)
    for p, qi in zip(out, q, strict=True):
        assert probability_twins.kkt_residual(p, qi, FEW) < 1e-10
        twin = probability_twins.least_squares(qi, FEW)
        N = probability_twins.normal_matrix(qi, FEW)
        assert p @ N @ p == pytest.approx(twin @ N @ twin, abs=1e-10)


def pairs(rng):
    code = make_code("one_vs_one", 5)
    q = rng.uniform(0.05, 0.95, size=(7, 10))
    return code, q, np.array([probability_twins.coupling(qi, code) for qi in q])


def coupling(rng):
    code, q, twin = pairs(rng)
    out = np.empty((7, 5))
    probability.coupling(2 * q - 1, *_batches._sides(code), 5.0, out)
    np.testing.assert_allclose(out, twin, atol=1e-9)


def coupling_lanes(rng):
    code, q, twin = pairs(rng)
    np.testing.assert_allclose(_batches.coupling(q, code), twin, atol=1e-9)


def divergences(rng, code):
    q, counts = rng.uniform(0.1, 0.9, size=(2, code.n_problems)), np.ones(code.n_problems)
    for p, qi in zip(_batches.kullback_leibler(q, code, counts, 1e-12, 200), q, strict=True):
        twin = probability_twins.kullback_leibler(qi, code, counts, 3000)[-1]
        np.testing.assert_allclose(p, twin, atol=1e-4)


def kullback_leibler(rng):
    divergences(rng, make_code("one_vs_one", 4))


def kullback_leibler_strict(rng):
    divergences(rng, MANY)


def least_norms(rng):
    points = np.vstack([FEW.matrix.T.astype(float), np.ones(12)])
    p = rng.dirichlet(np.ones(12), size=3)
    out, open_ = p.copy(), np.ones(3, dtype=bool)
    probability.least_norms(_least_norm.projector(points), 12, out, open_)
    assert not open_.any()
    twin = [probability_twins.least_norm(each, points) for each in p]
    np.testing.assert_allclose(out, twin, atol=1e-5)


CASES = {
    "kernel": [
        add_coupled,
        add_rows,
        advance,
        advance_coupled,
        are_rows,
        fill_block,
        gather_block,
        hash_rows,
        place_block,
        rbf_from_products,
        rbf_rows,
        select,
        solve_block,
        sparse_outputs,
    ],
    "linear": [descend, first_samples, solve_column, survey],
    "probability": [
        coupling,
        coupling_lanes,
        kullback_leibler,
        kullback_leibler_strict,
        least_norms,
        least_squares,
        least_squares_few,
        least_squares_lanes,
        least_squares_strict,
        normal_matrices,
    ],
}


@pytest.mark.parametrize(
    "case", [c for cases in CASES.values() for c in cases], ids=lambda c: c.__name__
)
def test_a_compiled_function_does_what_numpy_does(case, rng):
    case(rng)


@pytest.mark.parametrize("learner", [SharedKernelSVC(), SharedLinear("squared_hinge")])
def test_classifiers_work_without_compilation(iris, learner):
    X, y = iris
    X = csr_array(X) if isinstance(learner, SharedLinear) else X
    with np.errstate(over="ignore"):
        classifier = CodeClassifier(learner, "one_vs_rest").fit(X, y)
        assert classifier.score(X, y) > 0.9
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)


def compiled_functions(package):
    """Return the calls that each compiled function of a package makes, by its name."""
    found = {}
    for path in (SOURCE / package / "_compiled").glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                found[node.name] = names - {node.name}
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_every_compiled_function_has_a_case_or_is_a_part_of_one(package):
    calls = compiled_functions(package)
    cases = {case.__name__ for case in CASES[package]}
    assert cases <= calls.keys()
    reached, left = set(), list(cases)
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left += calls[name] & calls.keys()
    assert calls.keys() - reached == set()


def test_all_packages_with_compiled_functions_are_listed():
    assert {path.parent.name for path in SOURCE.glob("*/_compiled")} == set(PACKAGES)
