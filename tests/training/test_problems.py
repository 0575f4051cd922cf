import copy
import pickle

import numpy as np
import pytest

from polychotomy.training import KnownOutputs, RememberedOutputs


class Counted:
    """Trained problems that count how often they are asked."""

    name = "counted"

    def __init__(self):
        self.asked = []

    def outputs(self, X, kind, which=None):
        self.asked.append((kind, which))
        said = X[:, :3] * (1 if kind == "margin" else 0.5)
        return said.copy() if which is None else said[:, which]


def test_outputs_on_the_same_samples_are_computed_once():
    X, trained = np.arange(12.0).reshape(3, 4), Counted()
    remembered = RememberedOutputs(trained, X, {})
    np.testing.assert_array_equal(remembered.outputs(X, "margin", [1]), X[:, [1]])
    assert trained.asked == [("margin", [1])]  # a part is not worth the whole, and not remembered
    whole = remembered.outputs(X, "margin")
    whole[:] = np.nan  # a copy: what is remembered stays
    for which in ([2, 0], [1]):
        np.testing.assert_array_equal(remembered.outputs(X, "margin", which), X[:, which])
    np.testing.assert_array_equal(remembered.outputs(X, "margin"), X[:, :3])
    assert trained.asked[1:] == [("margin", None)]
    np.testing.assert_array_equal(remembered.outputs(X, "probability"), X[:, :3] / 2)
    remembered.outputs(X.copy(), "margin")  # other samples, for all that is known
    assert trained.asked[2:] == [("probability", None), ("margin", None)]


def test_remembered_outputs_are_otherwise_the_trained_problems():
    remembered = RememberedOutputs(Counted(), np.ones((2, 3)), {})
    assert remembered.name == "counted"
    with pytest.raises(AttributeError):
        remembered.no_such_thing  # noqa: B018
    for again in (copy.copy(remembered), pickle.loads(pickle.dumps(remembered))):
        assert again.name == "counted"


def test_known_outputs_are_asked_for_rows_problems_and_sides():
    margins = np.array([[-1.0, 0.0, 2.0], [3.0, -4.0, 0.5]])
    known = KnownOutputs(margins)
    assert known.n_samples == 2
    known("margin")[:] = 7  # a copy
    np.testing.assert_array_equal(known("margin"), margins)
    np.testing.assert_array_equal(known("margin", [2, 0], np.array([1])), [[0.5, 3]])
    np.testing.assert_array_equal(known("side"), [[-1, -1, 1], [1, -1, 1]])
