import pytest

from polychotomy.choose import available_reductions
from polychotomy.lab._methods import name_methods

KERNEL = {"sbc_kernel", "sbc_kernel_frequencies"}


def named(*arguments, **options):
    return [(m.reduction, m.base) for m in name_methods(*arguments, 0, **options)]


def test_of_the_keywords_those_that_suit_each_base_are_taken():
    found = named("all", ["logistic", "tree", "svm"])
    by_base = {b: {name for name, base in found if base == b} for b in ("logistic", "tree", "svm")}
    everything = set(available_reductions())
    assert by_base["svm"] == everything
    assert by_base["tree"] == everything - KERNEL
    assert by_base["logistic"] == {name for name in everything if not name.startswith("sbc_")}


def test_keywords_may_stand_among_names():
    names = ["bch:l1", *available_reductions("standard")]
    assert named(["bch:l1", "standard", "bch"], ["ridge"]) == [(name, "ridge") for name in names]


def test_what_is_named_is_not_left_out_in_silence():
    with pytest.raises(ValueError, match="must be a SharedKernelSVC"):
        named(["sbc_kernel"], ["logistic"])
    with pytest.raises(ValueError, match="'reductions' parameter must be one of"):
        named("bch", ["logistic"])
    with pytest.raises(ValueError, match="at least one reduction"):
        named([], ["logistic"])
