"""Messages show labels and parameters of NumPy as those of Python."""

import numpy as np
import pytest

from polychotomy import SharedKernelSVC, make_code
from polychotomy.assess import binary_errors, log_loss
from polychotomy.errors import shown
from polychotomy.learners import StumpBoosting

P = np.full((2, 3), 1 / 3)
CLASSES = np.array(["elm", "oak", "yew"])
X, ONE = np.ones((3, 2)), np.array(["oak"] * 3)


@pytest.mark.parametrize(
    "act",
    [
        lambda: log_loss(np.array(["elm", "ash"]), P, classes=CLASSES),
        lambda: binary_errors(
            P, np.array(["elm", "ash"]), make_code("one_vs_rest", 3), classes=CLASSES
        ),
        lambda: make_code(np.str_("bhc"), 5),
        lambda: make_code("bch", np.int64(1)),
        lambda: SharedKernelSVC().fit(X, ONE),
        lambda: SharedKernelSVC(C=np.float64(-1)).fit(X, np.array(["a", "b", "a"])),
        lambda: StumpBoosting().fit(X, ONE),
    ],
)
def test_no_message_shows_how_numpy_calls_a_value(act):
    with pytest.raises(ValueError, match="Got") as caught:
        act()
    assert "np." not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(np.str_("a'b"), '"a\'b"'), (np.float64(0.1), "0.1"), (np.bool_(True), "True"), ("x", "'x'")],
)
def test_scalars_of_numpy_are_shown_like_those_of_python(value, text):
    assert shown(value) == text
    assert shown(np.array([1, 2])) == "array([1, 2])"
