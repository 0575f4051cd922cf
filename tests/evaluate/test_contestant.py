import pytest
from sklearn.svm import SVC

from polychotomy import CodeClassifier, SingleBinaryClassifier, TreeClassifier
from polychotomy.evaluate import Contestant
from polychotomy.evaluate._contestant import name_contestants
from polychotomy.reductions import Scale, available_reductions

KERNEL = {"sbc_kernel", "sbc_kernel_frequencies"}


def named(*arguments, **options):
    return [(m.reduction, m.base) for m in name_contestants(*arguments, 0, **options)]


def test_of_the_keywords_those_that_suit_each_base_are_taken():
    found = named("all", ["logistic", "tree", "svm"])
    by_base = {b: {name for name, base in found if base == b} for b in ("logistic", "tree", "svm")}
    everything = set(available_reductions())
    assert by_base["svm"] == everything - {"native"}
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


def test_a_search_is_known_by_its_scales_and_their_order():
    def tuned(**scales):
        return Contestant("m", "b", CodeClassifier(), scales)

    C, gamma = Scale(), Scale(simpler="larger")
    searches = [
        tuned(C=C, gamma=gamma),
        tuned(gamma=gamma, C=C),
        tuned(C=C, gamma=Scale()),
        tuned(C=C, gamma=Scale(2.0, "larger")),
        tuned(C=C, gamma=Scale(simpler="larger", value=abs)),
        Contestant("m", "b", CodeClassifier()),
    ]
    assert len({method.tuning for method in searches}) == len(searches)
    assert tuned(C=Scale(), gamma=gamma).tuning == searches[0].tuning


def test_whose_parameters_it_takes_is_part_of_a_method():
    code = CodeClassifier(code="bch")
    single = SingleBinaryClassifier(extension="bch")
    alone, same, other = (Contestant("m", "b", code, tuned_as=t) for t in (None, code, single))
    assert alone.parameters != same.parameters != other.parameters
    assert "classifier" not in same.parameters["tuned_as"]  # as it always was
    assert other.parameters["tuned_as"]["classifier"] == "SingleBinaryClassifier"


@pytest.mark.parametrize(
    ("classifier", "probability"),
    [
        (CodeClassifier(), None),
        (CodeClassifier(decoder="probability"), "auto"),
        (TreeClassifier(), None),
        (TreeClassifier(solve="least_squares"), "auto"),
        (SVC(probability=True), True),  # not ours, and another meaning
    ],
)
def test_tuning_does_without_probabilities_where_it_can(classifier, probability):
    assert Contestant("m", "b", classifier).to_tune.probability is probability
