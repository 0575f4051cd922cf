from pathlib import Path

import numpy as np
import pytest

from tests.golden.cases import CASES, compute

ANSWERS = np.load(Path(__file__).with_name("answers.npz"))


@pytest.mark.parametrize("name", CASES)
def test_a_classifier_answers_as_recorded(name):
    expected = {
        key.partition("/")[2]: ANSWERS[key] for key in ANSWERS if key.startswith(f"{name}/")
    }
    found = compute(name)
    assert expected.keys() <= found.keys()
    for kind, answer in expected.items():
        if answer.dtype.kind == "f":
            np.testing.assert_allclose(found[kind], answer, rtol=1e-6, atol=1e-5, err_msg=kind)
        else:
            np.testing.assert_array_equal(found[kind], answer, err_msg=kind)
