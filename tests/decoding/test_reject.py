import numpy as np

from polychotomy import make_code
from polychotomy.decoding import accepted_by_confidence, accepted_by_votes


def test_one_vs_rest_rejects_what_nobody_or_several_claim(rng):
    outputs = rng.normal(size=(200, 5))
    accepted = accepted_by_votes(outputs, make_code("one_vs_rest", 5))
    np.testing.assert_array_equal(accepted, (outputs > 0).sum(axis=1) == 1)


def test_one_vs_one_rejects_ties_for_the_first_place():
    code = make_code("one_vs_one", 4)
    outputs = [
        [1, 1, 1, 1, 1, 1],  # 3, 2, 1, 0 votes
        [1, -1, 1, 1, 1, 1],  # 2, 2, 2, 0
        [1, 1, 1, 1, -1, 1],  # 3, 1, 1, 1: a tie, but not for the first place
    ]
    np.testing.assert_array_equal(accepted_by_votes(outputs, code), [True, False, True])


def test_confidence_is_accepted_from_the_threshold_on():
    scores = [[-3, -0.5], [-1, -2], [-4, -3]]
    np.testing.assert_array_equal(accepted_by_confidence(scores, -1), [True, True, False])
