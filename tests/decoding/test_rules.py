import numpy as np
import pytest

from polychotomy import make_code
from polychotomy.codes import hamming_distance
from polychotomy.decoding import LOSSES, RULES, count_votes, ddag, decode, largest

FORMULAS = {
    "hinge": lambda z: max(0.0, 1 - z),
    "squared": lambda z: (1 - z) ** 2,
    "exponential": lambda z: np.exp(-z),
    "logistic": lambda z: np.log(1 + np.exp(-z)),
    "l1": lambda z: 1 / (1 + np.exp(2 * z)),
    "linear": lambda z: -z,
    "hamming": lambda z: (1 - np.sign(z)) / 2,
}
SPARSE = [[1, 0, -1, 1], [-1, 1, 0, 0], [0, -1, 1, -1]]
RING = np.eye(25, dtype=int) - np.roll(np.eye(25, dtype=int), 1, axis=0)  # nearly all zeros


def test_the_rules():
    assert set(RULES) == {*FORMULAS, "votes", "euclidean", "ddag"}


def test_exponential_loss_of_slide_16():
    outputs = [[0.5, -7, -1, -2, -10, -12, 9]]
    rows = [[+1, 0, -1, -1, -1, +1, +1], [-1, -1, +1, 0, -1, -1, +1]]
    np.testing.assert_allclose(
        decode(outputs, rows, "exponential"), [[-162756.90, -5.37]], atol=5e-3
    )


@pytest.mark.parametrize("matrix", [SPARSE, RING], ids=["sparse", "ring"])
@pytest.mark.parametrize("rule", FORMULAS)
def test_losses_are_summed_as_written(rule, matrix, rng):
    outputs = rng.normal(scale=3, size=(5, len(matrix[0])))
    outputs[0, :2] = 0
    expected = [
        [-sum(FORMULAS[rule](a * f) for a, f in zip(row, sample, strict=True)) for row in matrix]
        for sample in outputs
    ]
    np.testing.assert_allclose(decode(outputs, matrix, rule), expected, rtol=1e-12)


def test_hamming_scores_are_distances():
    signs = np.array([[1, -1, 1, 1], [-1, -1, -1, 1]])
    expected = [[-hamming_distance(s, row) for row in SPARSE] for s in signs]
    np.testing.assert_allclose(decode(signs * 7.5, SPARSE, "hamming"), expected)


def test_euclidean_scores_are_distances(rng):
    outputs = rng.normal(size=(6, 4))
    expected = -np.linalg.norm(outputs[:, np.newaxis] - np.array(SPARSE), axis=2)
    np.testing.assert_allclose(decode(outputs, SPARSE, "euclidean"), expected, rtol=1e-12)


def test_each_problem_votes_for_the_classes_of_the_winning_side():
    votes = count_votes([[2.0, -1.0, 0.0, 5.0]], SPARSE)
    # Problem 0: class 0. Problem 1: class 2. Problem 2: half for 0 and 2. Problem 3: class 0.
    np.testing.assert_allclose(votes, [[2.5, 0, 1.5]])


def test_votes_come_first_and_confidence_breaks_ties_only(rng):
    code = make_code("one_vs_one", 6)
    outputs = rng.normal(size=(500, 15)) * 10.0 ** rng.integers(-8, 8, size=(500, 15))
    outputs[::7] = np.round(outputs[::7])
    votes, scores = count_votes(outputs, code), decode(outputs, code, "votes")
    confidence = outputs @ code.matrix.T
    for v, s, c in zip(votes, scores, confidence, strict=True):
        assert v[s.argmax()] == v.max()
        first = np.flatnonzero(v == v.max())
        assert c[s.argmax()] == pytest.approx(c[first].max(), rel=1e-9)


def test_half_a_vote_outweighs_all_confidence():
    """Outputs of 0 give half votes: class 0 has 1.5, class 1 has 1 and all the confidence."""
    code = [[-1, 1, 1, 1], [1, 0, 0, 0], [0, -1, -1, -1]]
    for size in (1e-3, 5.0, 1e300):
        scores = decode([[size, 0.0, 0.0, 0.0]], code, "votes")[0]
        assert scores[0] > scores[1]
    # Class 2 has as many votes as class 0, but nothing speaks against it.
    assert scores.argmax() == 2
    np.testing.assert_array_equal(decode(np.zeros((1, 4)), code, "votes"), [[2, 0.5, 1.5]])


def test_ties_in_votes_and_confidence_stay_ties():
    scores = decode([[1.0, -1.0, 1.0]], make_code("one_vs_one", 3), "votes")
    assert len(set(scores[0])) == 1


def test_one_vs_rest_votes_are_won_by_the_largest_output(rng):
    outputs = rng.normal(size=(300, 7))
    scores = decode(outputs, make_code("one_vs_rest", 7), "votes")
    np.testing.assert_array_equal(scores.argmax(axis=1), outputs.argmax(axis=1))


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"ddag"}))
@pytest.mark.parametrize("size", [1e3, 1e12, 1e160, 1.7e308])
@pytest.mark.parametrize("name", ["one_vs_rest", "one_vs_one", "exhaustive"])
def test_huge_outputs_overflow_nowhere_and_keep_the_order(rule, size, name):
    code = make_code(name, 4)
    outputs = code.matrix[[2]] * size * np.linspace(0.5, 1, code.n_problems)
    outputs[outputs == 0] = -1.0
    scores = decode(outputs, code, rule)
    assert np.isfinite(scores).all()
    if not (rule in ("squared", "euclidean") and not code.is_strict):  # those punish confidence
        assert scores[0].argmax() == 2


@pytest.mark.parametrize("rule", RULES)
def test_a_sample_is_scored_alike_in_any_company(rule):
    code, outputs = make_code("one_vs_one", 3), [[0.5, -2.0, 0.3], [1e300, -1.0, 5.0]]
    alone = decode(outputs[:1], code, rule)
    np.testing.assert_array_equal(decode(outputs, code, rule)[:1], alone)


def test_the_exponential_loss_orders_what_floats_cannot_hold():
    code = make_code("one_vs_rest", 3)
    worse = decode([[-800.0, -900.0, -1000.0]], code, "exponential")[0]
    # Losses are dominated by e^800, e^900 and e^1000: each class pays for its own output only.
    assert worse[0] > worse[1] > worse[2]
    joined = decode([[0, 0, 689.0], [0, 0, 691.0]], code, "exponential")
    assert joined[0, 0] > joined[1, 0]


def test_l1_and_logistic_are_exact_far_out():
    assert decode([[400.0]], [[1], [-1]], "l1").tolist() == [[0.0, -1.0]]
    np.testing.assert_allclose(
        decode([[-400.0]], [[1], [-1]], "logistic"), [[-400, 0]], atol=1e-100
    )


@pytest.mark.parametrize("rule", RULES)
def test_no_samples_give_no_scores(rule):
    assert decode(np.empty((0, 3)), make_code("one_vs_one", 3), rule).shape == (0, 3)


@pytest.mark.parametrize("rule", RULES)
def test_outputs_are_left_as_they_are(rule):
    outputs = np.array([[1e200, -2.0, 3.0]])
    decode(outputs, make_code("one_vs_one", 3), rule)
    np.testing.assert_array_equal(outputs, [[1e200, -2.0, 3.0]])


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([[1.0, np.nan, 0.0]], "Got nan for sample 0 in problem 1"),
        ([[1.0, 0.0, -np.inf]], "Got -inf for sample 0 in problem 2"),
        ([[1.0, 2.0]], r"shape \(n_samples, 3\).*\(1, 2\)"),
        ([1.0, 2.0, 3.0], r"shape \(3,\)"),
        ([["a", "b", "c"]], "real numbers"),
    ],
)
def test_bad_outputs_are_refused(outputs, message):
    with pytest.raises(ValueError, match=message):
        decode(outputs, make_code("one_vs_one", 3), "hamming")


def test_an_unknown_rule_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"Did you mean 'hamming'\?"):
        decode([[1.0]], [[1], [-1]], "haming")
    with pytest.raises(ValueError, match="'rule' parameter must be one of"):
        decode([[1.0]], [[1], [-1]], ["hamming"])


def _eliminate(sample, pair_output, k):
    """Platt's list, one sample at a time."""
    classes = list(range(k))
    while len(classes) > 1:
        first, last = classes[0], classes[-1]
        classes.remove(last if pair_output(sample, first, last) >= 0 else first)
    return classes[0]


@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_ddag_is_platts_elimination(k, rng):
    code = make_code("one_vs_one", k)
    outputs = rng.normal(size=(200, code.n_problems))

    def pair_output(sample, r, t):
        s = np.flatnonzero((code.matrix[r] == 1) & (code.matrix[t] == -1))[0]
        return sample[s]

    expected = [_eliminate(sample, pair_output, k) for sample in outputs]
    scores = ddag(outputs, code)
    np.testing.assert_array_equal(scores.argmax(axis=1), expected)
    np.testing.assert_array_equal(np.sort(scores, axis=1), np.tile(np.arange(k), (200, 1)))
    np.testing.assert_array_equal(decode(outputs, code, "ddag"), scores)


@pytest.mark.parametrize("sign", [1, -1])
def test_with_an_output_of_zero_the_first_class_wins(sign):
    code = sign * make_code("one_vs_one", 4).matrix
    np.testing.assert_array_equal(ddag(np.zeros((1, 6)), code), [[3, 2, 1, 0]])


def test_ddag_takes_pairs_in_any_order_and_orientation(rng):
    code = make_code("one_vs_one", 5)
    outputs = rng.normal(size=(50, 10))
    order, sign = rng.permutation(10), rng.choice([-1, 1], size=10)
    shuffled = (code.matrix * sign)[:, order]
    np.testing.assert_array_equal(ddag((outputs * sign)[:, order], shuffled), ddag(outputs, code))


@pytest.mark.parametrize(
    "code",
    [
        make_code("one_vs_rest", 4),
        [[1, 1], [-1, 0], [0, -1]],
        [[1, 1, 0], [-1, -1, 1], [0, 0, -1]],
        [[1], [1]],
    ],
)
def test_ddag_needs_all_pairs(code):
    matrix = getattr(code, "matrix", np.array(code))
    with pytest.raises(ValueError, match="needs a one-vs-one code"):
        ddag(np.zeros((1, matrix.shape[1])), code)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_know_their_value_at_zero(name):
    assert LOSSES[name].function(np.zeros(1))[0] == pytest.approx(LOSSES[name].at_zero)


@pytest.mark.parametrize("n_best", [1, 2, 5, 6])
def test_the_largest_values_come_in_order_and_of_equal_ones_the_first(n_best, rng):
    values = rng.integers(0, 3, size=(200, 6)).astype(float)
    columns, found = largest(values, n_best)
    expected = [sorted(range(6), key=lambda c: (-row[c], c))[:n_best] for row in values]
    np.testing.assert_array_equal(columns, expected)
    np.testing.assert_array_equal(found, np.take_along_axis(values, np.array(expected), axis=1))
