"""Readouts against slow, obvious ways from given outputs to scores, probabilities and classes."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polychotomy import Code
from polychotomy.calibration import fit_isotonic, fit_sigmoid
from polychotomy.codes import Targets, one_vs_one, one_vs_rest
from polychotomy.decoding import accepted_by_votes, ddag, decode
from polychotomy.learners import Says
from polychotomy.probability import solve
from polychotomy.readout import Readout
from polychotomy.structures import balanced, lay_out, single_node
from tests.properties.strategies import codes, structures

MARGIN, PROBABILITY = Says("hinge", ("margin",)), Says(None, ("probability",))
N = 15


class Told:
    """Outputs of the distinct problems that were computed before; counts the questions."""

    def __init__(self, said):
        self.said, self.n_samples = said, len(said)
        self.asked = np.zeros(said.shape, dtype=int)

    def __call__(self, kind, which=None, rows=None):
        n, ell = self.said.shape
        place = (
            np.ix_(np.arange(n)[rows], np.arange(ell)[which])
            if rows is not None
            else (slice(None), slice(None) if which is None else which)
        )
        self.asked[place] += 1
        said = self.said[place]
        return np.where(said > 0, 1, -1) if kind == "side" else said.copy()


def readout_of(nodes, code, says, **options):
    problems = SimpleNamespace(code=code, nodes=nodes)
    distinct = code.distinct
    trainer = SimpleNamespace(distinct=distinct, says=(says,) * distinct.columns.shape[1])
    return Readout.of(problems, trainer, **{"decoder": "auto", "probability": None} | options)


@st.composite
def laid_out(draw):
    """The flat code and the nodes of a structure, its classes in any order."""
    structure = draw(structures(labels=st.integers(0, 99), models=st.none()))
    order = draw(st.permutations(range(len(structure.classes))))
    matrix, nodes = lay_out(structure, dict(zip(structure.classes, order, strict=True)))
    return Code(matrix), nodes


def draw_outputs(code, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, code.distinct.columns.shape[1]))


def turned(code, said):
    """The outputs of all problems from those of the distinct ones."""
    return said[:, code.distinct.index] * code.distinct.sign


def turned_probabilities(code, said):
    return (1 + turned(code, 2 * said - 1)) / 2


def ways(nodes, i=0):
    """Yield each class with the nodes on the way to it and which child is taken there."""
    for c, below in enumerate(nodes[i].below):
        if below < 0:
            yield -1 - below, [(i, c)]
        else:
            for r, way in ways(nodes, below):
                yield r, [(i, c), *way]


def lead(node, f, c):
    """How far child c is ahead of the others."""
    own, matrix = f[:, node.problems], node.code.matrix
    if len(matrix) == 2 and Code(matrix).distinct.columns.shape[1] == 1:
        return own[:, 0] * matrix[c, 0]  # one binary problem: its own margin
    scores = decode(own, node.code, "linear")  # without ties
    return scores[:, c] - np.delete(scores, c, axis=1).max(axis=1)


@settings(max_examples=30)
@given(laid_out(), st.integers(0, 10**6))
def test_a_tree_is_followed_by_its_winning_children(drawn, seed):
    code, nodes = drawn
    said = draw_outputs(code, seed)
    f = turned(code, said)
    ask, readout = Told(said), readout_of(nodes, code, MARGIN, decoder="linear")
    leads, on_the_way = np.empty((N, code.n_classes)), {}
    for r, way in ways(nodes):
        leads[:, r] = np.min([lead(nodes[i], f, c) for i, c in way], axis=0)
        on_the_way[r] = {i for i, _ in way}
    winners, visits = readout.decide(ask)
    np.testing.assert_array_equal(winners, leads.argmax(axis=1))
    visited = [
        {i for i in range(len(nodes)) for p, who in visits if p == nodes[i].problems and n in who}
        for n in range(N)
    ]
    assert visited == [on_the_way[r] for r in winners]
    assert ask.asked.sum() <= f.size
    scores = readout.scores(ask)
    if len(nodes) > 1:
        np.testing.assert_allclose(scores, leads, atol=1e-12)
    np.testing.assert_array_equal(scores.argmax(axis=1), winners)


@settings(max_examples=30)
@given(laid_out(), st.integers(0, 10**6))
def test_probabilities_multiply_on_the_way_down(drawn, seed):
    code, nodes = drawn
    said = np.random.default_rng(seed).random((N, code.distinct.columns.shape[1]))
    q = turned_probabilities(code, said)
    ask = Told(said)
    readout = readout_of(nodes, code, PROBABILITY, probability="least_squares")
    counts = np.ones(said.shape[1])
    expected = np.ones((N, code.n_classes))
    for r, way in ways(nodes):
        for i, c in way:
            expected[:, r] *= solve(q[:, nodes[i].problems], nodes[i].code, "least_squares")[:, c]
    found = readout.calibrated(counts).probabilities(ask)
    np.testing.assert_allclose(found, expected, atol=1e-7)
    flat = replace(readout, path="least_squares").calibrated(counts)
    if code.n_classes > 2:
        expected = solve(q, code, "least_squares")
        np.testing.assert_allclose(flat.probabilities(ask), expected, atol=1e-12)
        winners, [(asked, who)] = flat.decide(ask)
        np.testing.assert_array_equal(winners, expected.argmax(axis=1))
        assert (asked, len(who)) == (slice(0, code.n_problems), N)
        np.testing.assert_array_equal(flat.scores(ask), flat.probabilities(ask))


@settings(max_examples=30)
@given(laid_out(), st.integers(0, 10**6))
def test_the_most_probable_class_is_found(drawn, seed):
    code, nodes = drawn
    said = np.random.default_rng(seed).random((N, code.distinct.columns.shape[1])).round(1)
    readout = readout_of(nodes, code, PROBABILITY, probability="votes", path="most_probable")
    readout = readout.calibrated(np.ones(said.shape[1]))
    p = readout.probabilities(Told(said))
    if code.n_classes > 2:
        winners, visits = readout.decide(Told(said))
        np.testing.assert_allclose(p[np.arange(N), winners], p.max(axis=1), atol=1e-12)
        for node in nodes:
            asked = np.concatenate([who for p, who in visits if p == node.problems] or [[]])
            assert len(asked) <= 2 * N


@settings(max_examples=30)
@given(laid_out(), st.integers(0, 10**6), st.integers(1, 4))
def test_the_best_classes_are_those_of_all_sorted(drawn, seed, n):
    code, nodes = drawn
    if len(nodes) == 1:
        return
    n = min(n, code.n_classes)
    said = np.random.default_rng(seed).random((N, code.distinct.columns.shape[1])).round(1)
    readout = readout_of(nodes, code, PROBABILITY, probability="votes", path="most_probable")
    readout = readout.calibrated(np.ones(said.shape[1]))
    p = readout.probabilities(Told(said))
    classes, values = readout.best(Told(said), n, "probability")
    np.testing.assert_allclose(values, -np.sort(-p, axis=1)[:, :n], atol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(p, classes, axis=1), values, atol=1e-12)
    assert all(len(set(row)) == n for row in classes.tolist())


class Touched(tuple):
    """Nodes that know which of them were looked at, and cannot be gone through."""

    def __getitem__(self, i):
        self.__dict__.setdefault("seen", set()).add(i)
        return super().__getitem__(i)

    def __iter__(self):
        raise AssertionError("All nodes are gone through.")


@pytest.mark.parametrize("path", ["recursive", "most_probable"])
def test_nodes_that_no_sample_reaches_cost_nothing(path, monkeypatch):
    """With thousands of classes, a loop over all nodes for few samples would take the time."""
    structure = balanced(range(256))
    matrix, nodes = lay_out(structure, {c: c for c in range(256)})
    code = Code(matrix)
    readout = readout_of(nodes, code, PROBABILITY, probability="least_squares", path=path)
    readout = readout.calibrated(np.ones(255))
    certain = np.tile(np.where(np.random.default_rng(0).random(255) > 0.5, 0.99, 0.01), (3, 1))
    expected = readout.decide(Told(certain))[0]
    touched = replace(readout, nodes=Touched(nodes))
    monkeypatch.delattr(Readout, "needs_calibration")  # it goes through all problems
    winners, visits = touched.decide(Told(certain))
    np.testing.assert_array_equal(winners, expected)
    assert len(visits) == 8
    assert len(touched.nodes.seen) == 8


@given(st.integers(3, 7), st.integers(0, 10**6))
def test_elimination_asks_one_problem_less_than_there_are_classes(k, seed):
    """Outputs of 0 among them."""
    rng = np.random.default_rng(seed)
    columns = rng.permutation(k * (k - 1) // 2)
    matrix = one_vs_one(k).matrix[:, columns] * rng.choice([-1, 1], size=len(columns))
    code = Code(matrix.astype(np.int8))
    said = draw_outputs(code, seed).round(0)
    readout, ask = readout_of(single_node(code), code, MARGIN, path="ddag"), Told(said)
    expected = ddag(turned(code, said), code)
    winners, visits = readout.decide(ask)
    np.testing.assert_array_equal(winners, expected.argmax(axis=1))
    np.testing.assert_array_equal(ask.asked.sum(axis=1), np.full(N, k - 1))
    assert sum(len(who) for _, who in visits) == N * (k - 1)
    np.testing.assert_array_equal(readout.scores(ask), expected)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("name", "fit"), [("sigmoid", fit_sigmoid), ("isotonic", fit_isotonic)])
@pytest.mark.parametrize("says", [MARGIN, PROBABILITY])
def test_each_problem_is_calibrated_by_its_own_samples(says, name, fit, shared, rng):
    code, y = one_vs_one(4), rng.integers(0, 4, size=200)
    columns = code.distinct.columns
    targets = Targets(columns, y)
    samples = [np.flatnonzero(columns[y, s]) for s in range(6)]
    held_out = [rng.normal(size=len(own)) + columns[y[own], s] for s, own in enumerate(samples)]
    if says is PROBABILITY:
        held_out = [1 / (1 + np.exp(-o)) for o in held_out]
    weights = [rng.random(200) + 0.5] * 6
    options = {"shared": True} if shared else {}
    readout = readout_of(
        single_node(code), code, says, probability="coupling", calibration=name, **options
    )
    assert readout.needs_calibration
    found = readout.calibrated(
        np.ones(6),
        SimpleNamespace(targets=targets, outputs=held_out, weights=weights, by_folds=True),
    )
    margins = held_out if says is MARGIN else [np.log(p / (1 - p)) for p in held_out]
    data = [
        (f, columns[y[own], s] > 0, weights[s][own])
        for s, (f, own) in enumerate(zip(margins, samples, strict=True))
    ]
    if shared:
        data = [tuple(map(np.concatenate, zip(*data, strict=True)))] * 6
    f = rng.normal(size=(N, 6))
    expected = np.column_stack([fit(*each)(f[:, s]) for s, each in enumerate(data)])
    expected = turned_probabilities(code, expected)
    ask = Told(f if says is MARGIN else 1 / (1 + np.exp(-f)))
    np.testing.assert_allclose(found.binary(ask), expected, atol=1e-9)
    np.testing.assert_allclose(
        found.probabilities(ask), solve(expected, code, "coupling"), atol=1e-8
    )


def test_auto_takes_what_was_better_on_held_out_outputs(rng):
    """Confident problems that contradict each other: least squares gives many true classes 0."""
    code, y = one_vs_rest(4), np.repeat(np.arange(4), 50)
    q = np.where(rng.random((200, 4)) < 0.35, 0.97, 0.02)
    held_out = SimpleNamespace(
        targets=Targets(code.distinct.columns, y), outputs=list(q.T), weights=[np.ones(200)] * 4
    )

    def loss(readout):
        p = np.maximum(readout.probabilities(Told(q)), 1e-6)
        return -np.log(p[np.arange(200), y] / p.sum(axis=1)).mean()

    auto, plain = (
        readout_of(single_node(code), code, PROBABILITY, probability=name, calibration="none")
        for name in ("auto", "least_squares")
    )
    held_out.by_folds = True
    chosen = auto.calibrated(np.ones(4), held_out, Told(q))
    assert loss(chosen) < 0.9 * loss(plain.calibrated(np.ones(4)))
    held_out.by_folds = False  # outputs of samples that were trained on say nothing
    for held in (None, held_out):
        assert auto.calibrated(np.ones(4), held, Told(q)).methods == ("least_squares",)


def test_counts_weigh_the_problems_of_their_node(rng):
    code = one_vs_one(4)
    said, counts = rng.random((N, 6)), rng.integers(1, 50, size=6).astype(float)
    q = turned_probabilities(code, said)
    readout = readout_of(single_node(code), code, PROBABILITY, probability="kullback_leibler")
    expected = solve(q, code, "kullback_leibler", sample_counts=counts)
    np.testing.assert_allclose(
        readout.calibrated(counts).probabilities(Told(said)), expected, atol=1e-12
    )
    # A problem whose samples all have the weight 0 does not count.
    counts[2] = 0
    p = readout.calibrated(counts).probabilities(Told(said))
    counts[2] = 1e-9
    expected = solve(q, code, "kullback_leibler", sample_counts=counts)
    np.testing.assert_allclose(p, expected, atol=1e-5)


def test_probabilities_of_nothing_are_refused(rng):
    q = rng.random((N, 3))
    q[4, 1] = np.nan
    code = one_vs_rest(3)
    readout = readout_of(single_node(code), code, PROBABILITY, probability="least_squares")
    with pytest.raises(ValueError, match="Got NaN for sample 4"):
        readout.calibrated(np.ones(3)).probabilities(Told(q))
    with pytest.raises(ValueError, match="Got nan for sample 4"):
        readout_of(single_node(code), code, MARGIN, decoder="argmax").scores(Told(q))


@given(codes(), st.integers(0, 10**6))
def test_rejection_by_votes_and_by_confidence(code, seed):
    said = draw_outputs(code, seed)
    readout, f = readout_of(single_node(code), code, MARGIN, decoder="linear"), turned(code, said)
    scores = readout.scores(Told(said))
    winners, accepted = readout.reject(Told(said), "confidence", 0.5)
    if code.n_classes > 2:
        np.testing.assert_array_equal(winners, scores.argmax(axis=1))
        np.testing.assert_array_equal(accepted, scores.max(axis=1) >= 0.5)
        winners, accepted = readout.reject(Told(said), "votes", None)
        np.testing.assert_array_equal(winners, decode(f, code, "votes").argmax(axis=1))
        np.testing.assert_array_equal(accepted, accepted_by_votes(f, code))
    else:
        np.testing.assert_array_equal(accepted, np.abs(readout.decision(scores)) >= 0.5)
        np.testing.assert_array_equal(winners, readout.decision(scores) > 0)


@given(codes(), st.integers(0, 10**6))
def test_another_decoder_reads_another_form(code, seed):
    said = np.random.default_rng(seed).random((N, code.distinct.columns.shape[1]))
    nodes = single_node(code)
    plain = readout_of(nodes, code, PROBABILITY, decoder="linear")
    other = readout_of(nodes, code, PROBABILITY, decoder="votes")
    replaced = plain.replace(decoder="votes")
    np.testing.assert_array_equal(replaced.outputs(Told(said)), other.outputs(Told(said)))
    np.testing.assert_array_equal(replaced.scores(Told(said)), other.scores(Told(said)))
    np.testing.assert_allclose(plain.outputs(Told(said)), turned(code, 2 * said - 1), atol=1e-12)
    odds = np.log(said) - np.log1p(-said)
    np.testing.assert_allclose(other.outputs(Told(said)), turned(code, odds), atol=1e-9)


def test_choices_that_do_not_suit_the_code_are_refused():
    code, two = one_vs_rest(3), Code([[-1], [1]])
    for options, message in (
        ({"decoder": "ddag"}, "needs a one-vs-one code"),
        ({"decoder": "argmin"}, "'decoder' parameter must be one of"),
        ({"probability": "coupling"}, "needs a code that is one-vs-one"),
        ({"probability": "couplin"}, "'probability' parameter must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            readout_of(single_node(code), code, PROBABILITY, **options)
    # With one problem of two classes there is nothing to choose between.
    for decoder, each in product(("ddag", "argmax", "votes"), (two, Code([[-1, -1], [1, 1]]))):
        readout = readout_of(single_node(each), each, MARGIN, decoder=decoder)
        np.testing.assert_array_equal(readout.decide(Told(np.array([[3.0], [-1.0]])))[0], [1, 0])
    for method in ("orthogonal", "coupling", "kullback_leibler", "normalise"):
        readout = readout_of(single_node(two), two, PROBABILITY, probability=method)
        p = readout.calibrated(np.ones(1)).probabilities(Told(np.array([[0.9], [0.2]])))
        np.testing.assert_allclose(p, [[0.1, 0.9], [0.8, 0.2]], atol=1e-6)
    with pytest.raises(ValueError, match="'probability' parameter must be one of"):
        readout_of(single_node(two), two, PROBABILITY, probability="couplin")
