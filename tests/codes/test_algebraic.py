import numpy as np
import pytest

from polychotomy.codes import bch, hamming
from polychotomy.codes._algebraic import message_lengths


@pytest.mark.parametrize(
    ("length", "message", "n_problems"), [(7, 4, 7), (31, 11, 23), (127, 64, 55)]
)
def test_sizes_printed_in_the_sbc_paper(length, message, n_problems):
    assert bch(4, length=length, message=message).n_problems == n_problems


def test_the_shortest_bch_code_with_the_smallest_message():
    assert bch(4) == bch(4, length=7, message=4)
    assert bch(5) == bch(5, length=15, message=5)
    assert bch(6) == bch(6, length=15, message=7)
    assert bch(10) == bch(10, length=15, message=11) == hamming(10)
    assert bch(12) == bch(12, length=31, message=16)
    assert bch(6, message=11) == bch(6, length=15, message=11)
    assert bch(6, message=6) == bch(6, length=31, message=6)
    assert bch(6, length=31) == bch(6, length=31, message=6)


def test_message_lengths_are_those_of_the_published_tables():
    # Peterson and Weldon, "Error-correcting codes", appendix D.
    assert message_lengths(7) == (4, 1)
    assert message_lengths(15) == (11, 7, 5, 1)
    assert message_lengths(31) == (26, 21, 16, 11, 6, 1)
    assert message_lengths(63) == (57, 51, 45, 39, 36, 30, 24, 18, 16, 10, 7, 1)
    assert message_lengths(127)[:10] == (120, 113, 106, 99, 92, 85, 78, 71, 64, 57)


@pytest.mark.parametrize(("k", "options"), [(4, {}), (5, {}), (16, {}), (11, {"length": 31})])
def test_codewords_are_in_the_bch_code(k, options):
    """Dropped positions are constant zeros, so distances are at least the designed one."""
    designed = {(4, 7): 3, (5, 15): 7, (16, 31): 7, (11, 31): 11}
    length = options.get("length") or {4: 7, 5: 15, 16: 31}[k]
    assert bch(k, **options).row_distance >= designed[k, length]


def test_unit_messages_are_encoded_systematically():
    code = hamming(11)
    np.testing.assert_array_equal(code.matrix[:, :11], 2 * np.eye(11) - 1)


@pytest.mark.parametrize("k", [2, 4, 11, 26])
def test_hamming_codes_have_distance_three(k):
    assert hamming(k).row_distance == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 30}, r"must be 2\^r − 1"),
        ({"length": 15, "message": 6}, "11, 7"),
        ({"length": 15, "message": 5}, "11, 7"),
        ({"length": 1023, "message": 500}, r"at least 6: 543, (\d+, ){8}453, …\. Got message=500"),
        ({"length": 7}, "it has none"),
        ({"length": 0}, "'length' parameter must be an int"),
        ({"message": 2.5}, "'message' parameter must be an int"),
    ],
)
def test_codes_that_do_not_exist_are_refused_with_those_that_do(options, message):
    with pytest.raises(ValueError, match=message):
        bch(6, **options)


def test_too_many_classes_are_refused():
    with pytest.raises(ValueError, match="at most 16369"):
        hamming(20_000)


def test_galois_keeps_its_own_settings():
    import galois

    field = galois.GF(2**5)
    mode = field.ufunc_mode
    bch(20, length=31, message=21)
    assert field.ufunc_mode == mode
