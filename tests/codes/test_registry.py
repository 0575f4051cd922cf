import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

from polychotomy import CodeClassifier, available_codes, codes, make_code
from polychotomy.codes import ALIASES, one_vs_rest, resolve_code
from polychotomy.errors import CodeError
from polychotomy.reductions import Reduction

NAMES = {
    "one_vs_rest",
    "one_vs_one",
    "exhaustive",
    "dense_random",
    "sparse_random",
    "hamming",
    "bch",
    "orthogonal",
    "adjacent",
    "trellis",
}


def test_the_names():
    assert set(available_codes()) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_name_makes_the_code_of_the_function_of_that_name(name):
    options = {"random_state": 0} if "random" in name else {}
    code = make_code(name, 5, random_state=0)
    assert code == getattr(codes, name)(5, **options)
    assert code.name == name


def _check_soundness(name, k, **options):
    """No duplicate codeword, no one-sided problem; checked apart from Code's own checks."""
    if (name == "exhaustive" and k > 16) or (name == "orthogonal" and k < 4):
        with pytest.raises(CodeError):
            make_code(name, k)
        return
    matrix = make_code(name, k, random_state=0, **options).matrix
    assert matrix.shape[0] == k
    assert len({row.tobytes() for row in matrix}) == k
    assert np.all((matrix == 1).any(axis=0) & (matrix == -1).any(axis=0))


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("k", [*range(2, 17), 23, 32, 41, 60])
def test_every_code_of_every_size_is_sound(name, k):
    _check_soundness(name, k, **({"n_tries": 100} if "random" in name else {}))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("k", [*range(2, 61), 100, 150, 200])
def test_every_code_of_every_size_is_sound_with_all_tries(name, k):
    _check_soundness(name, k)


def test_an_unknown_code_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"'one_vs_rest'.*Did you mean 'one_vs_one'\?"):
        make_code("one_vs_on", 3)
    with pytest.raises(ValueError, match=r"Got 3 instead\.$"):
        make_code(3, 3)


@pytest.mark.parametrize(("given", "nearest"), [("OVO", "ovo"), ("ovvr", "ovr"), ("BCH", "bch")])
def test_short_names_and_other_cases_are_near(given, nearest, iris):
    for refused in (
        lambda: make_code(given, 3),
        lambda: Reduction(given),
        lambda: CodeClassifier(RidgeClassifier(), given).fit(*iris),
    ):
        with pytest.raises(ValueError, match=rf"Did you mean '{nearest}'"):
            refused()


def test_an_unknown_option_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"Did you mean 'length'\?"):
        make_code("bch", 4, lenght=31)
    with pytest.raises(ValueError, match="'one_vs_one' takes no options"):
        make_code("one_vs_one", 4, order=[0])


@pytest.mark.parametrize(("short", "name"), ALIASES.items())
def test_short_names_are_those_of_reductions(short, name, iris):
    assert make_code(short, 4) == make_code(name, 4)
    assert Reduction(short).name == name
    assert CodeClassifier(RidgeClassifier(), short).fit(*iris).code_.name == name


@pytest.mark.parametrize(
    "given", ["one_vs_rest", one_vs_rest(3), one_vs_rest, one_vs_rest(3).matrix]
)
def test_a_code_can_be_given_in_four_ways(given):
    assert resolve_code(given, np.array(list("abc")), 0) == one_vs_rest(3)


def test_a_code_must_have_a_row_for_each_class():
    for k, words in ((4, "is missing from y"), (2, "does not know")):
        message = rf"'code' parameter must have a row .* Got {k} rows for the 3 classes .*{words}"
        with pytest.raises(ValueError, match=message):
            resolve_code(one_vs_rest(k), np.array(list("abc")), 0)
    with pytest.raises(ValueError, match="must be a name, a Code, a matrix"):
        resolve_code([1, -1], np.arange(2), 0)
    with pytest.raises(ValueError, match="Did you mean 'one_vs_rest'"):
        resolve_code("one_vs_res", np.arange(3), 0)
