import pytest
from hypothesis import given
from hypothesis import strategies as st

from polychotomy import CodeClassifier, TreeClassifier
from polychotomy.choose import Reduction, available_reductions
from polychotomy.decoding import RULES


def test_every_reduction_classifies(iris):
    X, y = iris
    for name in available_reductions():
        if name == "orthogonal":
            continue  # there is none of three classes
        classifier = Reduction(name, probability=None).make(None, random_state=0).fit(X, y)
        assert classifier.score(X, y) > 0.6, name
        assert isinstance(classifier, CodeClassifier | TreeClassifier)


def test_standard_reductions_are_some_of_all():
    assert set(available_reductions("standard")) < set(available_reductions())


@given(
    name=st.sampled_from(["one_vs_rest", "bch"]),
    decoder=st.sampled_from(["auto", *RULES]),
    method=st.sampled_from(["auto", "least_squares"]),
)
def test_text_and_back(name, decoder, method):
    reduction = Reduction(name, decoder, method)
    assert Reduction.of(str(reduction)) == reduction


def test_bad_names_are_explained():
    with pytest.raises(ValueError, match="one_vs_rest"):
        Reduction("one_vs_rst")
    with pytest.raises(ValueError, match="'ddag' has no decoder"):
        Reduction.of("ddag:hinge")
    with pytest.raises(ValueError, match="standard"):
        available_reductions("usual")
