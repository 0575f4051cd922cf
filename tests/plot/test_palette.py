from polychotomy import available_codes
from polychotomy.plot._palette import CLASSES, REDUCTIONS, method_colours


def test_every_code_has_its_own_colour():
    codes = available_codes()
    assert len(set(method_colours(codes))) == len(codes)


def test_a_method_keeps_its_colour():
    (alone,) = method_colours(["SBC-BCH"])
    assert method_colours(["one_vs_one", "SBC-BCH", "bch"])[1] == alone
    assert method_colours(["bch", "SBC-BCH"])[0] == REDUCTIONS["bch"]


def test_ten_unknown_methods_have_ten_colours():
    names = [f"method {i}" for i in range(12)]
    colours = method_colours(names)
    assert len(set(colours[:10])) == 10
    assert not set(colours) & set(REDUCTIONS.values())
    assert len(set(CLASSES)) == len(CLASSES)
