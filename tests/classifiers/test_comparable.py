import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from polychotomy import (
    CodeClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
    TreeClassifier,
    make_code,
)
from polychotomy.classifiers import remember_outputs, with_rules
from polychotomy.decoding import RULES
from polychotomy.learners import SingleCall
from polychotomy.probability import METHODS


def rows(code):
    """Every decoder with one method, and every method with the decoder that goes by it."""
    ovo = code == "one_vs_one"
    for decoder in ["auto", *RULES]:
        if decoder != "ddag" or ovo:
            yield decoder, "auto"
    for method in ["auto", *METHODS]:
        if method == "auto" or METHODS[method].suits(make_code(code, 4, random_state=0)):
            yield "probability", method


@pytest.mark.slow
@pytest.mark.parametrize("code", ["one_vs_one", "one_vs_rest", "sparse_random"])
@pytest.mark.parametrize(
    "base", [SVC(gamma=0.1), GaussianNB(var_smoothing=1e-2)], ids=["svc", "nb"]
)
def test_a_view_is_what_training_would_give(digits, base, code):
    few = digits[1] < 4
    X, y, test = digits[0][few][:100], digits[1][few][:100], digits[0][few][100:]
    options = {"random_state": 0, "cv": 2}
    trained = CodeClassifier(base, code, **options).fit(X, y)
    before = vars(trained).copy()
    for decoder, method in rows(code):
        view = with_rules(trained, decoder, method)
        fresh = CodeClassifier(base, code, decoder, method, **options).fit(X, y)
        assert (view.decoder_, view.probability_) == (fresh.decoder_, fresh.probability_)
        assert view.output_kind_ == fresh.output_kind_
        assert np.array_equal(view.decision_function(test), fresh.decision_function(test))
        assert np.array_equal(view.predict_proba(test), fresh.predict_proba(test))
        assert np.array_equal(view.predict(test), fresh.predict(test))
    assert vars(trained) == before


def test_trees_have_views_by_method(digits):
    X, y = digits
    trained = TreeClassifier(SVC(), "ddag", cv=2).fit(X[:300], y[:300])
    view = with_rules(trained, "auto", "kullback_leibler")
    fresh = TreeClassifier(SVC(), "ddag", probability="kullback_leibler", cv=2)
    fresh.fit(X[:300], y[:300])
    assert np.array_equal(view.predict_proba(X), fresh.predict_proba(X))
    assert np.array_equal(view.predict(X), fresh.predict(X))
    assert view.node_probabilities_ == fresh.node_probabilities_


def test_a_single_binary_classifier_has_views_by_the_decoder_of_its_replicas(iris):
    X, y = iris
    trained = SingleBinaryClassifier(SVC(), SingleCall("one_vs_one"), cv=2).fit(X[::2], y[::2])
    view = with_rules(trained, "votes", "auto")
    fresh = SingleBinaryClassifier(SVC(), SingleCall("one_vs_one", "votes"), cv=2)
    fresh.fit(X[::2], y[::2])
    assert view.replication.decoder == "votes"
    assert trained.replication.decoder != "votes"
    assert np.array_equal(view.decision_function(X), fresh.decision_function(X))
    assert not np.array_equal(view.decision_function(X), trained.decision_function(X))


def test_a_view_has_the_parameters_that_it_stands_for(iris):
    trained = CodeClassifier(GaussianNB(), "one_vs_rest").fit(*iris)
    assert with_rules(trained, "auto", "inverse").get_params()["probability"] == "inverse"
    assert trained.probability == "auto"


def test_what_does_not_suit_the_code_is_refused(iris):
    trained = CodeClassifier(code="bch").fit(*iris)
    with pytest.raises(ValueError, match="one-vs-one"):
        with_rules(trained, "auto", "coupling")
    with pytest.raises(ValueError, match="one-vs-one"):
        with_rules(trained, "ddag", "auto")
    with pytest.raises(ValueError, match="'decoder' parameter must be one of"):
        with_rules(trained, "nonsense", "auto")


class Asked(LogisticRegression):
    """Counts how often it is asked."""

    asked = 0

    def decision_function(self, X):
        type(self).asked += 1
        return super().decision_function(X)


def test_outputs_are_remembered_for_the_same_samples(iris):
    X, y = iris
    Asked.asked = 0
    trained = CodeClassifier(Asked(), "one_vs_rest", calibration="sigmoid").fit(X, y)
    expected = {rule: with_rules(trained, rule, "auto").predict(X) for rule in ("hinge", "l1")}
    once = remember_outputs(trained, X)
    Asked.asked = 0
    for rule in RULES:
        if rule != "ddag":
            view = with_rules(once, rule, "auto")
            said = view.predict(X)
            view.predict_proba(X)
            assert np.array_equal(said, expected.get(rule, said))
    assert Asked.asked == 3
    other = X + 0  # the same numbers elsewhere
    assert np.array_equal(with_rules(once, "l1", "auto").predict(other), expected["l1"])
    assert Asked.asked == 6


def test_problems_that_were_trained_together_are_remembered_too(iris):
    X, y = iris
    trained = CodeClassifier(SharedKernelSVC(), "one_vs_rest").fit(X, y)
    once = remember_outputs(trained, X)
    assert np.array_equal(once.predict_proba(X), trained.predict_proba(X))
    assert once.binary_outputs(X) is not once.binary_outputs(X)
