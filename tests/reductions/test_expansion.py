"""What is asked for becomes rows of a search: all that suit, and nothing twice."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import CodeClassifier
from polychotomy.reductions import Expansion, suitable_reductions, untrained

METHODS = ("auto", "least_squares", "kullback_leibler", "inverse", "votes")


def expand(reductions, estimator=None, k=5, by_probability=False):
    estimator = LinearSVC() if estimator is None else estimator
    return Expansion(estimator, np.arange(k), by_probability, {"random_state": 3}).of(reductions)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("one_vs_rest:hamming", {"one_vs_rest:hamming"}),
        ("one_vs_rest", {"one_vs_rest"}),
        ("one_vs_rest:auto:*", {f"one_vs_rest:auto:{m}" for m in (*METHODS[1:], "normalise")}),
        ("one_vs_one:votes:*", {f"one_vs_one:votes:{m}" for m in (*METHODS[1:], "coupling")}),
    ],
)
def test_a_star_stands_for_all_that_suit(asked, expected):
    rows, skipped = expand([asked])
    assert expected <= set(rows)
    assert not skipped


def test_decoders_differ_from_each_other():
    """A hinge loss is decoded by itself with "auto", and pairs by votes."""
    rest, pairs = (set(expand([f"{name}:*"])[0]) for name in ("one_vs_rest", "one_vs_one"))
    assert {"one_vs_rest:votes", "one_vs_rest:probability"} <= rest
    assert not {"one_vs_rest:hinge", "one_vs_rest:ddag"} & rest
    assert {"one_vs_one:hinge", "one_vs_one:ddag"} <= pairs
    assert "one_vs_one:votes" not in pairs
    two, _ = expand(["one_vs_rest:*"], k=2)
    assert len(two) == 1


def test_what_has_no_decoder_keeps_its_own():
    rows, _ = expand(["linkage_tree:*", "one_vs_rest:*:least_squares"])
    assert sum(name.startswith("linkage_tree") for name in rows) == 1
    assert sum(name.startswith("one_vs_rest") for name in rows) > 5
    assert all("least_squares" in name for name in rows if name.startswith("one_vs_rest"))


@pytest.mark.parametrize(
    ("asked", "message"),
    [("one_vs_rest:ddag", "needs a one-vs-one code"), ("bch:auto:coupling", "that is one-vs-one")],
)
def test_what_does_not_suit_the_code_is_skipped_with_the_reason(asked, message):
    rows, skipped = expand([asked, "one_vs_rest"])
    assert list(rows) == ["one_vs_rest"]
    assert message in skipped[asked]
    with pytest.raises(ValueError, match="at least one reduction that exists for these 5 classes"):
        expand([asked])


def test_what_does_not_exist_for_so_few_classes_is_skipped_with_the_reason():
    rows, skipped = expand(["orthogonal", "one_vs_rest"], k=3)
    assert list(rows) == ["one_vs_rest"]
    assert "at least 4 classes" in skipped["orthogonal"]


def test_two_classes_leave_no_decoders_to_try():
    assert set(expand("all", k=2)[0]) >= {"one_vs_rest"}
    assert not [name for name in expand("all", k=2)[0] if ":" in name]


def test_what_does_not_suit_the_learner_is_skipped_with_the_reason():
    rows, skipped = expand(["sbc_identity", "one_vs_rest"], LogisticRegression())
    assert list(rows) == ["one_vs_rest"]
    assert list(skipped) == ["sbc_identity"]
    rows, skipped = expand(["sbc_identity", "one_vs_rest"], DecisionTreeClassifier())
    assert set(rows) == {"sbc_identity", "one_vs_rest"}
    assert not skipped


def test_scores_by_probability_try_methods():
    standard, _ = expand("standard", by_probability=True)
    every, _ = expand("all", by_probability=True)
    assert {"one_vs_rest:auto:normalise", "one_vs_one:auto:coupling"} <= set(standard) <= set(every)
    assert "one_vs_rest:auto:inverse" in set(every) - set(standard)
    assert not {name for name in expand("standard")[0] if "normalise" in name}
    _, skipped = expand("standard", RidgeClassifier(), by_probability=True)
    assert "no probabilities" in skipped["native"]
    decoders = {name for name in expand("all")[0] if name.startswith("bch:")}
    assert {"bch:linear", "bch:probability:least_squares"} <= decoders


@pytest.mark.parametrize("which", ["standard", "all"])
@pytest.mark.parametrize(
    ("estimator", "codes"),
    [
        (RidgeClassifier(), {"one_vs_rest", "dense_random"}),
        (LogisticRegression(), {"dense_random"}),
        (DecisionTreeClassifier(), set()),
    ],
)
def test_class_means_are_tried_where_they_help(which, estimator, codes):
    """All fronts have the same rows: names for tables, and the rows of a search."""

    def means(rows):
        return {str(row) for row in rows if str(row).endswith(":class_means")}

    expected = {f"{code}:class_means" for code in codes}
    for k, wanted in ((100, expected), (99, set())):
        assert means(suitable_reductions(which, estimator, k)[0]) == wanted
        if which == "standard":
            assert means(expand(which, estimator, k)[0]) == wanted
    assert not means(expand("standard", estimator, 100, by_probability=True)[0])
    assert bool(means(expand(["bch:*"], estimator)[0])) == bool(codes)


def test_users_own_classifiers_are_named_and_completed():
    own = [CodeClassifier(LinearSVC(), "bch"), CodeClassifier(LinearSVC(), "bch")]
    rows, _ = expand([*own, "one_vs_one", RidgeClassifier()])
    first, second, ridge = (name for name in rows if name != "one_vs_one")
    assert second == f"{first} [2]"
    assert ridge == "RidgeClassifier()"
    assert rows[first].random_state == rows[ridge].random_state == 3
    assert own[0].random_state is None
    long = CodeClassifier(LinearSVC(C=0.123456789, tol=1e-5), "bch", "hamming", probability="votes")
    assert list(expand([long])[0]) == ["CodeClassifier (1)"]
    with pytest.raises(ValueError, match="must hold names of reductions"):
        expand([LinearSVC])
    for nothing in ([], 3):
        with pytest.raises(ValueError, match="that is not empty"):
            expand(nothing)


def test_untrained_classifiers_of_what_suits():
    made = untrained(["one_vs_rest", "sbc_identity", RidgeClassifier()], LogisticRegression())
    assert [type(each).__name__ for each in made] == ["CodeClassifier", "RidgeClassifier"]
