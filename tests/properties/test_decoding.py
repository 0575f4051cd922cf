import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polychotomy.assess import training_error_bound
from polychotomy.decoding import LOSSES, RULES, accepted_by_votes, count_votes, decode

from .strategies import codes, outputs_for

ANY_CODE = sorted(set(RULES) - {"ddag"})


@pytest.mark.parametrize("rule", ANY_CODE)
@given(data=st.data())
def test_relabelling_the_classes_permutes_the_scores(rule, data):
    code = data.draw(codes())
    outputs = data.draw(outputs_for(code))
    rows = data.draw(st.permutations(range(code.n_classes)))
    expected = decode(outputs, code, rule)[:, rows]
    np.testing.assert_allclose(decode(outputs, code.matrix[rows], rule), expected, rtol=1e-9)


@pytest.mark.parametrize("rule", ANY_CODE)
@given(data=st.data())
def test_turning_or_reordering_problems_changes_nothing(rule, data):
    code = data.draw(codes())
    outputs = data.draw(outputs_for(code))
    columns = data.draw(st.permutations(range(code.n_problems)))
    sign = np.ones(code.n_problems, dtype=int)
    sign[data.draw(st.integers(0, code.n_problems - 1))] = -1
    turned = decode((outputs * sign)[:, columns], (code.matrix * sign)[:, columns], rule)
    np.testing.assert_allclose(turned, decode(outputs, code, rule), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", ANY_CODE)
@given(data=st.data())
def test_a_strict_codeword_decodes_to_its_class(rule, data):
    code = data.draw(codes(strict=True))
    size = data.draw(st.sampled_from([1e-3, 1.0, 30.0, 1e4]))
    scores = decode(code.matrix * size, code, rule)
    best = scores.max(axis=1)
    np.testing.assert_array_equal(np.diag(scores), best)


@given(st.data())
def test_votes_add_up_to_the_classes_of_the_winning_sides(data):
    code = data.draw(codes(strict=True))
    outputs = data.draw(outputs_for(code))
    votes = count_votes(outputs, code)
    signs = np.sign(outputs)[:, np.newaxis, :]
    winners = (signs * code.matrix > 0) + 0.5 * (signs == 0) * (code.matrix != 0)
    np.testing.assert_allclose(votes, winners.sum(axis=2))


@given(st.data())
def test_what_is_accepted_has_one_winner_whatever_the_confidence(data):
    code = data.draw(codes())
    outputs = data.draw(outputs_for(code))
    accepted = accepted_by_votes(outputs, code)
    votes, scores = count_votes(outputs, code), decode(outputs, code, "votes")
    np.testing.assert_array_equal(votes.argmax(axis=1)[accepted], scores.argmax(axis=1)[accepted])


@pytest.mark.parametrize("loss", LOSSES)
@given(data=st.data())
def test_the_training_error_bound_is_never_violated(loss, data):
    """Theorem 1 of Allwein et al.: E ≤ ℓε / (ρ L(0))."""
    code = data.draw(codes())
    outputs = data.draw(outputs_for(code, max_size=100))
    y = data.draw(
        st.lists(st.integers(0, code.n_classes - 1), min_size=len(outputs), max_size=len(outputs))
    )
    result = training_error_bound(outputs, y, code, loss)
    assert result.training_error <= result.bound * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@given(z=st.floats(-50, 50))
def test_the_theorem_applies_to_the_losses_it_is_offered_for(loss, z):
    both = LOSSES[loss].function(np.array([z, -z])).mean()
    assert both >= LOSSES[loss].at_zero * (1 - 1e-12) > 0
