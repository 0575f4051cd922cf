import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import (
    CodeClassifier,
    KernelSBCClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
    TreeClassifier,
)
from polychotomy.decoding import RULES
from polychotomy.errors import MissingExtraError
from polychotomy.learners import SingleCall
from polychotomy.probability import METHODS
from polychotomy.reductions import Reduction, available_bases, available_reductions, make_base

SINGLE = [name for name in available_reductions() if name.startswith("sbc_")]
KERNEL = ["sbc_kernel", "sbc_kernel_frequencies"]


@pytest.mark.slow
def test_every_reduction_classifies(iris):
    X, y = iris
    for name in available_reductions():
        if name == "orthogonal":
            continue  # there is none of three classes
        made = Reduction(name, probability=None).make(None, random_state=0)
        assert made.fit(X, y).score(X, y) > (0.3 if name == "majority" else 0.6), name
        if name in ("native", "majority"):
            assert isinstance(made, LogisticRegression | DummyClassifier)
        elif name in KERNEL:
            assert isinstance(made, KernelSBCClassifier)
        elif name in SINGLE:
            assert isinstance(made, SingleBinaryClassifier)
        else:
            assert isinstance(made, CodeClassifier | TreeClassifier)


def test_the_single_binary_classifiers_by_name(iris):
    X, y = iris
    svm = SharedKernelSVC(C=3, gamma=0.5)
    replicated = {
        f"sbc_{name}": SingleBinaryClassifier(svm, name)
        for name in ("identity", "single", "hamming", "bch")
    }
    others = {
        "sbc_ecoc:euclidean": SingleBinaryClassifier(svm, SingleCall("bch")),
        "sbc_kernel": KernelSBCClassifier(3, 0.5, weights="learned"),
        "sbc_kernel_frequencies": KernelSBCClassifier(3, 0.5, weights="class_frequencies"),
    }
    assert {name.partition(":")[0] for name in {**replicated, **others}} == set(SINGLE)
    assert not set(SINGLE) & set(available_reductions("standard"))
    for name, expected in {**replicated, **others}.items():
        found = Reduction.of(f"{name}:auto:None" if ":" not in name else f"{name}:None").make(svm)
        expected.set_params(probability=None).fit(X[::2], y[::2])
        np.testing.assert_array_equal(
            found.fit(X[::2], y[::2]).decision_function(X), expected.decision_function(X), name
        )


def test_an_orthogonal_extension_is_the_identity_in_other_words(rng):
    """Which is why there is no name for it: of four classes even the distances are the same."""
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 4
    one, other = (
        SingleBinaryClassifier(SharedKernelSVC(gamma=0.5), name, probability=None).fit(X, y)
        for name in ("identity", "orthogonal")
    )
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("name", SINGLE)
def test_what_may_be_chosen_of_a_single_binary_classifier(name, iris):
    X, y = iris
    if name == "sbc_ecoc":
        assert Reduction(name, "l1").make(None).replication.decoder == "l1"
    else:
        with pytest.raises(ValueError, match=f"'{name}' has no decoder to choose"):
            Reduction(name, "l1")
    made = Reduction(name, probability="inverse" if name == "sbc_ecoc" else "normalise").make(None)
    assert made.fit(X, y).predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert made.probability_ == made.probability
    assert not hasattr(Reduction(name, probability=None).make(None), "predict_proba")
    with pytest.raises(ValueError, match="one-vs-one"):
        Reduction(name, probability="coupling").make(None).fit(X, y)


@pytest.mark.parametrize("name", KERNEL)
def test_a_learned_kernel_takes_its_parameters_of_the_svm(name):
    svm = SharedKernelSVC(7, gamma=0.3, tol=1e-4, cache_size=9, dtype="float64", n_jobs=2)
    made = Reduction(name).make(svm, random_state=3, cv=4)
    given = made.get_params()
    assert [given[n] for n in ("C", "gamma", "svm_tol", "cache_size", "dtype", "n_jobs", "cv")] == [
        7, 0.3, 1e-4, 9, "float64", 2, 4,
    ]  # fmt: skip
    assert Reduction(name).make(svm, n_jobs=1).n_jobs == 1
    assert Reduction(name).make(svm, n_jobs=None).n_jobs == 2
    again = pickle.loads(pickle.dumps(clone(made)))
    assert again.get_params() == given


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize(
    ("base", "reason", "by_kernel"),
    [
        (LogisticRegression(), "must not be linear", "Got LogisticRegression"),
        (SVC(kernel="precomputed"), "appended to a precomputed", "Got SVC"),
        (make_pipeline(StandardScaler(), SharedKernelSVC()), "", "Got Pipeline"),
        (DecisionTreeClassifier(), "", "Got DecisionTreeClassifier"),
        (SharedKernelSVC(kernel="poly"), "", "with kernel='rbf' .* Got 'poly'"),
        (SharedKernelSVC(kernel="precomputed"), "", "Got 'precomputed'"),
        (SharedKernelSVC(class_weight="balanced"), "", "with class_weight=None .* Got 'balanced'"),
        (SharedKernelSVC(max_iter=5), "", "with max_iter=-1 .* Got 5"),
        (SharedKernelSVC(), "", ""),
        (None, "", ""),
    ],
)
def test_bases_that_do_not_suit(iris, name, base, reason, by_kernel):
    X, y = iris[0] @ iris[0].T, iris[1]
    expected = by_kernel if name in KERNEL else reason
    said = Reduction(name).unsuited(base)
    assert bool(said) == bool(expected)
    if expected:
        with pytest.raises(ValueError, match=expected) as caught:
            Reduction(name).make(base).fit(X, y)
        assert str(caught.value) == said


def test_codes_and_trees_suit_any_base():
    for name in set(available_reductions()) - set(SINGLE):
        assert Reduction(name).unsuited(LogisticRegression()) == ""


def test_standard_reductions_are_some_of_all():
    assert set(available_reductions("standard")) < set(available_reductions())
    assert {"native", "majority"} < set(available_reductions("standard"))


@pytest.mark.parametrize(("short", "name"), [("ovr", "one_vs_rest"), ("ovo", "one_vs_one")])
def test_short_names(short, name):
    assert Reduction.of(f"{short}:hamming") == Reduction(name, "hamming")
    assert str(Reduction(short)) == name


def test_the_native_form_is_the_learner_itself(iris):
    base = SGDClassifier(alpha=0.1)
    made = Reduction("native").make(base, random_state=3, n_jobs=2)
    assert (made.alpha, made.random_state, made.n_jobs) == (0.1, 3, None)
    assert base.random_state is None
    inner = make_pipeline(StandardScaler(), SGDClassifier())
    assert Reduction("native").make(inner, random_state=3)[-1].random_state == 3
    assert Reduction("native").make(SGDClassifier(random_state=7), random_state=3).random_state == 7
    assert Reduction("native").cost.problems == 1


def test_the_native_form_weighs_classes_if_it_can(iris):
    weights = {0: 1.0, 1: 2.0, 2: 5.0}
    made = Reduction("native").make(LogisticRegression(), class_weight=weights)
    assert made.class_weight == weights
    with pytest.raises(ValueError, match="GaussianNB has none, or has its own weights"):
        Reduction("native").make(GaussianNB(), class_weight=weights)


@pytest.mark.parametrize("name", sorted({*available_bases()} - {"lightgbm", "xgboost"}))
def test_every_base_is_a_classifier_that_can_be_made(name, iris):
    X, y = iris[0][50:], iris[1][50:]
    assert make_base(name).fit(X, y).score(X, y) > 0.8


def test_binary_learners_have_no_native_form():
    assert Reduction("native").unsuited(RidgeClassifier()) == ""
    assert "SharedKernelSVC separates two classes only" in Reduction("native").unsuited(
        SharedKernelSVC()
    )


def test_the_baseline_predicts_the_largest_class(iris):
    X, y = iris[0][20:], iris[1][20:]
    assert set(Reduction("majority").make(None).fit(X, y).predict(X)) <= {1, 2}
    assert Reduction("majority").cost.problems == 0
    for name in ("native", "majority"):
        with pytest.raises(ValueError, match="has no method for probabilities to choose"):
            Reduction(name, probability="inverse")


@st.composite
def reductions(draw):
    name = draw(st.sampled_from(available_reductions()))
    methods = METHODS if Reduction(name).has_probability else []
    method = draw(st.sampled_from([None, "auto", "*", *methods]))
    decoders = [*RULES, "class_means", *([] if method is None else ["probability"]), "*"]
    some = decoders if Reduction(name).has_decoder else []
    return Reduction(name, draw(st.sampled_from(["auto", *some])), method)


@given(reductions())
def test_text_and_back(reduction):
    assert Reduction.of(str(reduction)) == reduction


@given(st.text(), st.none() | st.text())
def test_what_could_not_be_written_down_is_refused(decoder, method):
    """There is no reduction beyond those of the test above."""
    try:
        reduction = Reduction("bch", decoder, method)
    except ValueError:
        return
    assert Reduction.of(str(reduction)) == reduction


def test_what_is_left_empty_is_automatic():
    assert Reduction.of("bch::None") == Reduction("bch", probability=None)
    assert Reduction.of("bch:hamming:") == Reduction("bch", "hamming")
    assert Reduction.of("bch::") == Reduction("bch")


def test_bad_names_are_explained():
    with pytest.raises(ValueError, match="one_vs_rest"):
        Reduction("one_vs_rst")
    with pytest.raises(ValueError, match="'ddag' has no decoder"):
        Reduction.of("ddag:hinge")
    with pytest.raises(ValueError, match="standard"):
        available_reductions("usual")
    with pytest.raises(ValueError, match="Did you mean 'hamming'"):
        Reduction.of("bch:hamning")
    with pytest.raises(ValueError, match="Did you mean 'inverse'"):
        Reduction.of("bch:auto:invers")
    with pytest.raises(ValueError, match="'probability' parameter"):
        Reduction("bch", "auto", "None")  # its text would be that of none at all
    with pytest.raises(ValueError, match="needs probabilities"):
        Reduction.of("bch:probability:None")
    for text in ("bch:*", "bch:auto:*"):
        with pytest.raises(ValueError, match="Name one to make a classifier"):
            Reduction.of(text).make(None)


def test_bases_of_other_packages_and_classes_by_their_path():
    assert {"random_forest", "knn"} <= set(available_bases())
    assert type(make_base("sklearn.naive_bayes.GaussianNB")).__name__ == "GaussianNB"
    for path, message in (
        ("sklearn.naive_bayes.Nothing", "cannot be made"),
        ("no_such_package.Nothing", "cannot be made"),
        ("sklearn.svm.SVR", "is no classifier"),
        ("os.getcwd", "is no classifier"),
        ("collections.Counter", "is no classifier"),
        ("sklearn.linear_model.enet_path", "is no classifier"),
    ):
        with pytest.raises(ValueError, match=message):
            make_base(path)


def test_a_base_whose_package_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingExtraError, match=r"polychotomy\[boosting\]"):
        make_base("xgboost")


def test_lightgbm_is_a_base(iris):
    pytest.importorskip("lightgbm")
    X, y = iris
    assert CodeClassifier(make_base("lightgbm"), "one_vs_one").fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize("name", ["bch", "native"])
def test_stronger_penalties_are_simpler(name):
    (scale,) = Reduction(name).scales(RidgeClassifier()).values()
    assert scale.simplicity(10.0) > scale.simplicity(1.0)
    assert Reduction(name).scales(LogisticRegression()) is None
    assert Reduction("majority").scales(RidgeClassifier()) == {}


def test_only_learners_are_called(monkeypatch):
    """Not a function or another class, which might do anything."""
    called = []
    monkeypatch.setattr("os.sync", lambda: called.append("os.sync"))
    for name in ("os.sync", "builtins.list"):
        with pytest.raises(ValueError, match="is no classifier"):
            make_base(name)
    assert called == []
