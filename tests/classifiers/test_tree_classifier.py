import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import (
    CodeClassifier,
    SharedLinear,
    Structure,
    TreeClassifier,
    make_code,
    parse_structure,
)
from polychotomy.decoding import ddag, decode
from polychotomy.errors import StructureError
from polychotomy.structures import balanced, chain, flatten, from_code, linkage, two_children

NAMES = ("linkage", "balanced", "chain", "ddag")


class Fixed(ClassifierMixin, BaseEstimator):
    """Says of each sample what stands in the feature named by its parameter: p of the + side."""

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_samples_ = len(y)
        return self

    def predict_proba(self, X):
        p = X[:, self.feature]
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return (X[:, self.feature] > 0.5).astype(int)


@pytest.mark.parametrize("structure", NAMES)
def test_every_structure_learns_the_digits(structure, digits):
    X, y = digits
    classifier = TreeClassifier(SVC(), structure=structure).fit(X[::2], y[::2])
    assert classifier.score(X[1::2], y[1::2]) > 0.9
    p = classifier.predict_proba(X[1::2])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p.min() >= 0


def test_the_structure_can_be_given_in_every_way(iris, tmp_path):
    X, y = iris
    text = '"" { 0 "" {1 2} }'
    (tmp_path / "iris.txt").write_text(text)
    expected = parse_structure(text)
    for structure in (
        expected,
        text,
        tmp_path / "iris.txt",
        str(tmp_path / "iris.txt"),
        lambda X, y: expected,
        lambda X, y: text,
        lambda X, y: "balanced",
    ):
        assert TreeClassifier(structure=structure).fit(X, y).structure_ == expected


def test_the_names_stand_for_the_builders(digits):
    X, y = digits
    built = {name: TreeClassifier(GaussianNB(), name).fit(X, y).structure_ for name in NAMES}
    assert built["balanced"] == balanced(range(10))
    assert built["chain"] == chain(range(10), np.bincount(y))
    assert built["linkage"] == linkage(X, y)
    assert built["ddag"] == from_code(make_code("one_vs_one", 10))
    confused = TreeClassifier(GaussianNB(), distance="confusion").fit(X, y).structure_
    assert confused == linkage(X, y, distance="confusion")


def test_what_is_printed_can_be_given_back(digits):
    X, y = digits
    first = TreeClassifier(SVC(), probability=None).fit(X, y)
    second = TreeClassifier(SVC(), structure=str(first.structure_), probability=None).fit(X, y)
    np.testing.assert_array_equal(first.binary_outputs(X), second.binary_outputs(X))


@pytest.mark.parametrize("base", [SVC(), LogisticRegression(), GaussianNB(), RidgeClassifier()])
@pytest.mark.parametrize("code", ["one_vs_one", "one_vs_rest", "bch", "adjacent"])
def test_a_single_node_is_a_code_classifier(base, code, digits):
    X, y = digits
    X, y = X[y < 6], y[y < 6]
    flat = CodeClassifier(base, code=code).fit(X[:200], y[:200])
    node = from_code(flat.code_, range(6))
    tree = TreeClassifier(base, structure=node).fit(X[:200], y[:200])
    np.testing.assert_array_equal(tree.predict(X), flat.predict(X))
    np.testing.assert_array_equal(tree.decision_function(X), flat.decision_function(X))
    np.testing.assert_allclose(tree.predict_proba(X), flat.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(tree.binary_outputs(X), flat.binary_outputs(X))
    assert tree.problems_ == flat.problems_


def test_the_order_of_a_nodes_classes_does_not_matter(iris):
    X, y = iris
    code = make_code("one_vs_rest", 3)
    flat = CodeClassifier(SVC(), code=code).fit(X, y)
    order = [2, 0, 1]
    turned = Structure(code.matrix[order], order)
    tree = TreeClassifier(SVC(), structure=turned).fit(X, y)
    np.testing.assert_array_equal(tree.predict(X), flat.predict(X))
    np.testing.assert_allclose(tree.predict_proba(X), flat.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(tree.decision_function(X), flat.decision_function(X))


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [-1, 1], [True, False], [1.0, 2.0]])
@pytest.mark.parametrize("structure", [*NAMES, "reversed"])
@pytest.mark.parametrize(
    "base",
    [LogisticRegression(), LinearSVC(random_state=0), GaussianNB(), MLPClassifier(max_iter=5)],
    ids=lambda base: type(base).__name__,
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_two_classes_are_the_binary_classifier_itself(base, structure, labels, iris):
    X, y = iris
    X, y = X[50:], np.array(labels)[y[50:] - 1]
    if structure == "reversed":
        structure = Structure([[1], [-1]], np.unique(y).tolist())
    if isinstance(base, MLPClassifier):
        base = clone(base).set_params(random_state=0)
    own = "none" if isinstance(base, GaussianNB) else "auto"
    ours = TreeClassifier(base, structure=structure, calibration=own).fit(X, y)
    theirs = clone(base).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(base, "decision_function"):
        np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    if isinstance(base, GaussianNB | LogisticRegression):
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)


@pytest.fixture
def by_hand():
    """A tree ((a, b), (c, d)) whose problems give their right sides 0.4, 0.3 and 0.9."""
    structure = parse_structure(
        '"feature=0" { "feature=1" {a b} "feature=2" {c d} }', ["a", "b", "c", "d"]
    )
    X = np.tile([0.4, 0.3, 0.9], (8, 1))
    return X, np.repeat(list("abcd"), 2), structure


def test_probabilities_by_hand(by_hand):
    X, y, structure = by_hand
    for solve in ("auto", "recursive", "least_squares"):
        classifier = TreeClassifier(
            Fixed(), calibration="none", structure=structure, solve=solve
        ).fit(X, y)
        p = classifier.predict_proba(X[:1])
        np.testing.assert_allclose(p, [[0.6 * 0.7, 0.6 * 0.3, 0.4 * 0.1, 0.4 * 0.9]], atol=1e-9)


def test_the_winning_path_need_not_be_the_most_probable_class(by_hand):
    X, y, structure = by_hand
    X = np.tile([0.45, 0.5, 0.9], (8, 1))  # a, b: 0.55 / 2 each; d: 0.45 · 0.9
    recursive = TreeClassifier(
        Fixed(), calibration="none", structure=structure, solve="recursive"
    ).fit(X, y)
    assert recursive.solve_ == "recursive"
    assert recursive.predict(X[:1]) == ["a"]
    auto = TreeClassifier(Fixed(), calibration="none", structure=structure).fit(X, y)
    assert auto.solve_ == "most_probable"
    assert auto.predict(X[:1]) == ["d"]
    flat = TreeClassifier(
        Fixed(), calibration="none", structure=structure, solve="least_squares"
    ).fit(X, y)
    assert flat.predict(X[:1]) == ["d"]


def test_ties_go_to_the_first_class(by_hand):
    X, y, structure = by_hand
    X = np.full((8, 3), 0.5)
    auto = TreeClassifier(Fixed(), calibration="none", structure=structure).fit(X, y)
    assert auto.predict(X[:1]) == ["a"] == auto.classes_[auto.predict_proba(X[:1]).argmax(axis=1)]
    turned = parse_structure('"feature=0" { "feature=1" {d c} "feature=2" {b a} }')
    again = TreeClassifier(Fixed(), calibration="none", structure=turned).fit(X, y)
    assert again.predict(X[:1]) == ["a"]


@pytest.mark.parametrize("seed", range(5))
def test_the_search_finds_the_most_probable_class(seed):
    rng = np.random.default_rng(seed)
    text = """
        "feature=0" {
          "feature=1" { "feature=2" {a b} c }
          "feature=3" { d "feature=4" { "feature=5" {e f} "feature=6" {g h} } }
        }"""
    X = rng.uniform(size=(500, 7))
    y = np.resize(list("abcdefgh"), 500)
    classifier = TreeClassifier(Fixed(), calibration="none", structure=text).fit(X, y)
    p = classifier.predict_proba(X)
    np.testing.assert_array_equal(classifier.predict(X), classifier.classes_[p.argmax(axis=1)])
    asked = classifier.decision_path(X)
    assert 2 < asked.sum(axis=1).mean() < 6  # not all of the seven


def test_the_path_asks_only_what_it_needs(digits):
    X, y = digits
    for structure in ("balanced", "chain", "linkage"):
        classifier = TreeClassifier(SVC(), structure, probability=None).fit(X, y)
        asked = classifier.decision_path(X)
        assert asked.shape == (600, 9)
        depth = {}
        pending = [(classifier.structure_, 0)]
        while pending:
            node, level = pending.pop()
            if node.is_class:
                depth[node.label] = level
            pending.extend((child, level + 1) for child in node.children)
        np.testing.assert_array_equal(
            asked.sum(axis=1), [depth[label] for label in classifier.predict(X)]
        )


def test_the_path_follows_the_outputs(digits):
    X, y = digits
    classifier = TreeClassifier(SVC(), "balanced", solve="recursive").fit(X, y)
    outputs = classifier.binary_outputs(X)
    problems = classifier.structure_.problems
    for i, label in enumerate(classifier.predict(X)[:100]):
        for s in np.flatnonzero(classifier.decision_path(X[i : i + 1]).toarray()[0]):
            side = problems[s].plus if outputs[i, s] > 0 else problems[s].minus
            assert label in side


@pytest.mark.slow
def test_scores_agree_with_predictions(digits):
    X, y = digits
    hybrid = two_children(from_code(make_code("one_vs_rest", 6), range(6)), balanced(range(6, 10)))
    for structure in (*NAMES, hybrid):
        for options in (
            {},
            {"probability": None},
            {"solve": "recursive"},
            {"solve": "least_squares"},
            {"decoder": "probability"},
            {"decoder": "probability", "solve": "recursive"},
        ):
            if structure == "ddag" and "decoder" in options:
                continue
            classifier = TreeClassifier(SVC(), structure, **options).fit(X[:300], y[:300])
            scores = classifier.decision_function(X)
            assert scores.shape == (600, 10)
            np.testing.assert_array_equal(scores.argmax(axis=1), classifier.predict(X))


@pytest.mark.parametrize("decoder", ["auto", "probability"])
@pytest.mark.parametrize("solve", ["auto", "recursive", "least_squares", "most_probable"])
def test_two_unequal_classes(decoder, solve, iris):
    """Calibration can move the border; then it matters who decides."""
    X, y = iris
    X, y = X[40:, 1:2], y[40:] > 1
    base = SVC(class_weight={0: 1, 1: 20})
    tree = TreeClassifier(base, "balanced", decoder=decoder, solve=solve).fit(X, y)
    flat = CodeClassifier(base, decoder=decoder).fit(X, y)
    assert (flat.predict(X) != flat.classes_[flat.predict_proba(X).argmax(axis=1)]).any() is (
        np.bool_(decoder == "auto")
    )
    np.testing.assert_array_equal(tree.predict(X), flat.predict(X))
    np.testing.assert_allclose(tree.decision_function(X), flat.decision_function(X), atol=1e-12)


def test_every_node_is_asked_at_most_twice(rng):
    calls = []

    class Spy(Fixed):
        def predict_proba(self, X):
            calls.append(self.feature)
            return super().predict_proba(X)

    text = balanced(range(16))
    number = iter(range(15))

    def numbered(node):
        if node.is_class:
            return node
        options = [f"feature={next(number)}"]
        return Structure(node.code, [numbered(c) for c in node.children], options=options)

    X, y = rng.uniform(0.2, 0.8, size=(400, 15)), np.arange(400) % 16
    classifier = TreeClassifier(Spy(), numbered(text)).fit(X, y)
    p = classifier.predict_proba(X)
    calls.clear()
    np.testing.assert_array_equal(classifier.predict(X), p.argmax(axis=1))
    assert max(map(calls.count, set(calls))) <= 2


def test_the_winner_alone_leads_at_every_node(digits):
    X, y = digits
    classifier = TreeClassifier(SVC(), "balanced", probability=None).fit(X, y)
    assert ((classifier.decision_function(X) > 0).sum(axis=1) == 1).all()


def test_ddag_is_the_reference_elimination(digits):
    X, y = digits
    for base in (SVC(), GaussianNB()):
        graph = TreeClassifier(base, "ddag", probability=None).fit(X[:400], y[:400])
        flat = CodeClassifier(base, "one_vs_one", "ddag", probability=None).fit(X[:400], y[:400])
        np.testing.assert_array_equal(graph.predict(X), flat.predict(X))
        np.testing.assert_array_equal(graph.decision_function(X), flat.decision_function(X))
        np.testing.assert_array_equal(
            graph.decision_function(X), ddag(flat.binary_outputs(X), flat.code_)
        )
        assert (graph.decision_path(X).sum(axis=1) == 9).all()
        assert graph.solve_ == "ddag"


def test_each_problem_sees_the_samples_of_its_classes_only(iris):
    X, y = iris
    X = np.clip(X[:120] / 10, 0, 1)
    structure = parse_structure('"feature=0" { 0 "feature=1" {1 2} }')
    classifier = TreeClassifier(Fixed(), calibration="none", structure=structure).fit(X, y[:120])
    assert [e.n_samples_ for e in classifier.estimators_] == [120, 70]
    assert [[e.feature for e in node] for node in classifier.node_estimators_] == [[0], [1]]
    np.testing.assert_array_equal(classifier.class_counts_, [50, 50, 20])


def test_hybrids_decide_node_by_node(digits):
    X, y = digits
    low = from_code(make_code("one_vs_rest", 5), range(5))
    high = from_code(make_code("one_vs_one", 5), range(5, 10))
    classifier = TreeClassifier(SVC(), two_children(low, high), solve="recursive").fit(X, y)
    flat = classifier.structure_.problems
    assert len(classifier.problems_) == len(flat) == 1 + 5 + 10
    assert classifier.node_decoders_ == ["hinge", "hinge", "votes"]
    outputs = classifier.binary_outputs(X)
    is_high = outputs[:, 0] > 0
    expected = np.where(
        is_high,
        5 + decode(outputs[:, 6:], make_code("one_vs_one", 5), "votes").argmax(axis=1),
        decode(outputs[:, 1:6], make_code("one_vs_rest", 5), "hinge").argmax(axis=1),
    )
    np.testing.assert_array_equal(classifier.predict(X), expected)


def test_least_squares_solves_the_flat_code(digits):
    X, y = digits
    hybrid = two_children(from_code(make_code("one_vs_one", 6), range(6)), balanced(range(6, 10)))
    tree = TreeClassifier(SVC(), hybrid, solve="least_squares").fit(X[:400], y[:400])
    flat = flatten(hybrid)
    assert flat.classes == tuple(range(10))
    code = CodeClassifier(SVC(), flat.code, "probability", "least_squares").fit(X[:400], y[:400])
    np.testing.assert_allclose(tree.predict_proba(X), code.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(tree.predict(X), code.predict(X))


def test_probabilities_do_not_depend_on_the_batch(digits):
    X, y = digits
    classifier = TreeClassifier(SVC()).fit(X[:300], y[:300])
    whole = classifier.predict_proba(X)
    np.testing.assert_allclose(classifier.predict_proba(X[7:9]), whole[7:9], rtol=1e-9, atol=1e-12)


def test_options_set_parameters_and_names_choose_estimators(iris):
    X, y = iris
    structure = 'nb { "C=10 gamma=0.5" {1 2} 0 }'
    classifier = TreeClassifier(SVC(), structure, estimators={"nb": GaussianNB()}).fit(X, y)
    (root,), (pair,) = classifier.node_estimators_
    assert isinstance(root, GaussianNB)
    assert (pair.C, pair.gamma) == (10, 0.5)
    assert classifier.score(X, y) > 0.95
    quoted = TreeClassifier(SVC(), '"nb" { "" {1 2} 0 }', estimators={"nb": GaussianNB()})
    assert isinstance(quoted.fit(X, y).estimators_[0], GaussianNB)


def test_options_can_be_of_any_kind_and_reach_into_pipelines(iris):
    X, y = iris
    base = make_pipeline(StandardScaler(), SVC())
    text = '"svc__kernel=poly svc__class_weight={0: 1, 1: 2} svc__shrinking=False" {0 "" {1 2}}'
    svc = TreeClassifier(base, text).fit(X, y).estimators_[0][-1]
    assert (svc.kernel, svc.class_weight, svc.shrinking) == ("poly", {0: 1, 1: 2}, False)


def test_a_name_that_is_no_estimator_is_just_a_name(iris):
    classifier = TreeClassifier(structure="TreeVsField {0 b {1 2}}").fit(*iris)
    assert classifier.structure_.names == ("TreeVsField",)


def test_equal_problems_with_different_learners_are_trained_apart(iris):
    X, y = iris
    text = "a 0 / 1 2; nb 0 / 1 2; b 0 1 / 2; c 2 / 0 1; {0 1 2}"
    classifier = TreeClassifier(SVC(), text, estimators={"nb": GaussianNB()}).fit(X, y)
    assert [type(e).__name__ for e in classifier.estimators_] == ["SVC", "GaussianNB", "SVC"]
    outputs = classifier.binary_outputs(X)
    np.testing.assert_array_equal(outputs[:, 3], -outputs[:, 2])
    # Margins and probabilities meet in one node: it goes by the children's probabilities.
    p = classifier.predict_proba(X)
    np.testing.assert_array_equal(classifier.predict(X), p.argmax(axis=1))
    with pytest.raises(ValueError, match="different scales"):
        clone(classifier).set_params(probability=None).fit(X, y)
    votes = clone(classifier).set_params(probability=None, decoder="votes").fit(X, y)
    assert votes.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (["a", "b", "c"], "m {a n {b c}}"),
        (["red soil", "7", "x"], 'm {"red soil" n {7 x}}'),
        ([10, 20, 30], "m {10 n {20 30}}"),
        ([0.0, 1.0, 3.0], "m {0 n {1.0 3}}"),
        (["1", "2", "3"], "m {1 n {2 3}}"),
    ],
)
def test_any_labels(labels, text, iris):
    X, y = iris
    named = TreeClassifier(SVC(), structure=text).fit(X, np.array(labels)[y])
    plain = TreeClassifier(SVC(), structure="m {0 n {1 2}}").fit(X, y)
    np.testing.assert_array_equal(named.predict(X), np.array(labels)[plain.predict(X)])


def test_a_given_structures_labels_are_found_by_how_they_are_written(iris):
    X, y = iris
    structure = balanced(range(3))
    classifier = TreeClassifier(structure=structure).fit(X, y.astype(str))
    assert classifier.structure_ == balanced("012")
    assert set(classifier.predict(X)) == {"0", "1", "2"}


@pytest.mark.parametrize("structure", NAMES)
def test_n_jobs_and_seeds(structure, digits):
    X, y = digits
    base = RandomForestClassifier(n_estimators=3)
    one, two = (TreeClassifier(base, structure, n_jobs=n, random_state=7).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.binary_outputs(X), two.binary_outputs(X))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_sparse_input_and_data_frames(iris):
    X, y = iris
    dense = TreeClassifier().fit(X, y)
    thin = TreeClassifier().fit(sparse.csr_array(X), y)
    assert thin.structure_ == dense.structure_
    np.testing.assert_allclose(
        dense.predict_proba(X), thin.predict_proba(sparse.csr_array(X)), atol=1e-3
    )
    for frame in (pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd"))):
        table = TreeClassifier().fit(frame, y)
        assert table.structure_ == dense.structure_
        np.testing.assert_allclose(table.predict_proba(frame), dense.predict_proba(X), atol=1e-9)
        assert list(table.feature_names_in_) == list("abcd")


def test_pipelines_and_searches(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), TreeClassifier(SVC()))
    grid = {
        "treeclassifier__structure": ["balanced", "m {1 n {0 2}}"],
        "treeclassifier__estimator__C": [0.01, 10],
    }
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_["treeclassifier__estimator__C"] == 10
    assert cross_val_score(model, X, y).mean() > 0.9


def test_weights_are_repetitions(iris, rng):
    X, y = iris
    weight = rng.integers(0, 3, size=150)
    weighted = TreeClassifier(LogisticRegression(tol=1e-10)).fit(X, y, sample_weight=weight)
    repeated = TreeClassifier(LogisticRegression(tol=1e-10)).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert weighted.structure_ == repeated.structure_
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-4)


def test_weights_through_metadata_routing(iris):
    X, y = iris
    weight = np.linspace(0.1, 2, 150)
    text = "nb {0 other {1 2}}"
    with sklearn.config_context(enable_metadata_routing=True):
        base = LogisticRegression().set_fit_request(sample_weight=True)
        further = GaussianNB().set_fit_request(sample_weight=False)
        routed = TreeClassifier(base, text, estimators={"nb": further}).fit(
            X, y, sample_weight=weight
        )
        unasked = TreeClassifier(base, text, estimators={"nb": GaussianNB()})
        with pytest.raises(ValueError, match="sample_weight"):
            unasked.fit(X, y, sample_weight=weight)
    plain = GaussianNB().fit(X, y > 0)
    # The learner's label 1 is the side with fewer classes, here the class 0.
    np.testing.assert_allclose(routed.estimators_[0].var_, plain.var_[::-1])
    pair = LogisticRegression().fit(X[50:], y[50:] > 1, sample_weight=weight[50:])
    np.testing.assert_allclose(np.abs(routed.estimators_[1].coef_), np.abs(pair.coef_), rtol=1e-6)


def test_calibration_goes_by_the_learners_own_weights(iris):
    X, y = iris
    X = X[:, :2]
    with sklearn.config_context(enable_metadata_routing=True):
        heavy = SVC().set_fit_request(sample_weight=True)
        light = SVC().set_fit_request(sample_weight=False)
        model = TreeClassifier(heavy, "a {0 b {1 2}}", estimators={"b": light})
        share = []
        for weight in (np.ones(150), np.where(y == 2, 10.0, 1.0)):
            p = model.fit(X, y, sample_weight=weight).predict_proba(X)
            share.append(p[:, 2] / (p[:, 1] + p[:, 2]))
    np.testing.assert_allclose(share[0], share[1])


def test_ties_of_margins_go_where_predict_goes(digits):
    X, y = digits
    base = RandomForestClassifier(4, random_state=0)
    for structure in ("chain", "balanced", "linkage"):
        classifier = TreeClassifier(base, structure, probability=None).fit(X[:300], y[:300])
        scores = classifier.decision_function(X)
        np.testing.assert_array_equal(scores.argmax(axis=1), classifier.predict(X))


def test_outputs_that_are_no_numbers_are_refused(iris):
    classifier = TreeClassifier(GaussianNB(), "balanced").fit(*iris)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"must be numbers\. Got NaN"):
        classifier.predict([[1e200] * 4])


@pytest.mark.parametrize(
    "options", ["C=1" + " " * 900 + "x", "C={[1]:2}", "C=" + "-" * 900 + "1", "kernel=precomputed"]
)
def test_odd_options_are_value_errors(options, iris):
    structure = Structure([[-1], [1]], [0, balanced([1, 2])], options=[options])
    with pytest.raises(ValueError, match=r"."):
        TreeClassifier(SVC(), structure).fit(*iris)
    with pytest.raises(ValueError, match="may have 1000 characters"):
        TreeClassifier(
            SVC(), Structure([[-1], [1]], [0, balanced([1, 2])], options=["x" * 2000])
        ).fit(*iris)


def test_weights_for_a_learner_without_weights_are_refused(iris):
    with pytest.raises(ValueError, match="Fixed takes no sample_weight"):
        TreeClassifier(Fixed(), "balanced").fit(*iris, sample_weight=np.ones(150))


def test_precomputed_kernels(iris):
    X, y = iris
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    train, test = slice(0, 100), slice(100, 150)
    plain = TreeClassifier(SVC(gamma=0.5), "balanced").fit(X[train], y[train])
    kernel = TreeClassifier(SVC(kernel="precomputed"), "balanced").fit(
        rbf_kernel(X[train], gamma=0.5), y[train]
    )
    K = rbf_kernel(X[test], X[train], gamma=0.5)
    np.testing.assert_array_equal(kernel.predict(K), plain.predict(X[test]))
    np.testing.assert_allclose(kernel.predict_proba(K), plain.predict_proba(X[test]), atol=1e-6)
    with pytest.raises(ValueError, match="precomputed kernel"):
        TreeClassifier(SVC(kernel="precomputed")).fit(rbf_kernel(X), y)


def test_partial_fit_where_the_structure_needs_no_data(iris):
    X, y = iris
    whole = TreeClassifier(GaussianNB(), "balanced", calibration="none").fit(X, y)
    parts = TreeClassifier(GaussianNB(), "balanced")
    for batch in np.array_split(np.random.default_rng(0).permutation(150), 5):
        parts.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(parts.class_counts_, [50, 50, 50])
    assert not hasattr(TreeClassifier(GaussianNB()), "partial_fit")
    assert not hasattr(TreeClassifier(SVC(), "balanced"), "partial_fit")
    mixed = TreeClassifier(GaussianNB(), "balanced", estimators={"svm": SVC()})
    assert not hasattr(mixed, "partial_fit")


def test_batches_without_probabilities_are_refused_where_these_are_needed(iris):
    X, y = iris
    mixed = "a 0 / 1 2; nb 0 1 / 2; {0 1 2}"
    for options in (
        {"structure": mixed, "estimators": {"nb": GaussianNB()}},
        {"structure": "balanced", "decoder": "probability"},
        {"structure": "balanced", "solve": "least_squares"},
        {"structure": "balanced", "solve": "most_probable"},
    ):
        classifier = TreeClassifier(SGDClassifier(random_state=0), **options)
        with pytest.raises(ValueError, match="partial_fit cannot calibrate outputs"):
            classifier.partial_fit(X, y, classes=[0, 1, 2])


def test_nodes_tell_how_they_decide(digits):
    X, y = digits
    hybrid = two_children(from_code(make_code("one_vs_rest", 6), range(6)), balanced(range(6, 10)))
    tree = TreeClassifier(SVC(), hybrid).fit(X, y)
    assert tree.node_decoders_ == ["hinge"] * 5
    assert set(tree.node_probabilities_[1:2]) <= {"normalise", "least_squares", "kullback_leibler"}
    assert tree.node_probabilities_[2] == "coupling"
    none = TreeClassifier(SVC(), hybrid, probability=None).fit(X, y)
    assert none.node_probabilities_ == [None] * 5


def test_node_errors(digits):
    X, y = digits
    classifier = TreeClassifier(SVC(), "balanced", solve="recursive").fit(X[:300], y[:300])
    errors = classifier.node_errors(X[300:], y[300:])
    assert errors.shape == (9,)
    outputs = classifier.binary_outputs(X[300:])
    wrong = (outputs[:, 0] > 0) != (y[300:] >= 5)
    assert errors[0] == pytest.approx(wrong.mean())
    low = classifier.node_errors(X[300:][y[300:] < 5], y[300:][y[300:] < 5])
    assert np.isnan(low).sum() == 4
    with pytest.raises(ValueError, match="Got 77"):
        classifier.node_errors(X[:1], [77])


def test_rejection(digits):
    X, y = digits
    classifier = TreeClassifier(SVC()).fit(X[:300], y[:300])
    for rule, threshold in (("probability", 0.8), ("confidence", 0.8)):
        labels, accepted = classifier.predict_or_reject(X[300:], rule, threshold)
        right = labels == y[300:]
        assert 0.3 < accepted.mean() < 1
        assert right[accepted].mean() > right.mean()
    pair = TreeClassifier(SVC()).fit(X[y < 2], y[y < 2])
    assert pair.predict_or_reject(X[y < 2], "confidence", 0.0)[1].all()
    with pytest.raises(ValueError, match="'threshold' parameter must be a number"):
        classifier.predict_or_reject(X)
    with pytest.raises(ValueError, match="'rule' parameter must be one of"):
        classifier.predict_or_reject(X, "votes", 1)


def test_classes_of_one_sample_and_unequal_depths(rng):
    X = np.concatenate([rng.normal(size=(40, 2)) + 5 * c for c in range(2)] + [[[20.0, 20]]])
    y = np.repeat([0, 1, 2], [40, 40, 1])
    for structure in NAMES:
        classifier = TreeClassifier(LogisticRegression(), structure).fit(X, y)
        assert classifier.predict(X[-1:]) == [2]
        np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)
    with pytest.warns(UserWarning, match="fewer samples than folds: 2"):
        TreeClassifier(SVC()).fit(X, y)


@pytest.mark.slow
def test_a_thousand_classes(rng):
    y = np.repeat(np.arange(1000), 3)
    X = np.column_stack([y % 10, y // 10 % 10, y // 100]) + 0.1 * rng.normal(size=(3000, 3))
    base = DecisionTreeClassifier(random_state=0)
    for structure in ("balanced", "chain", "linkage"):
        classifier = TreeClassifier(base, structure, probability=None).fit(X, y)
        assert classifier.score(X, y) > 0.99
        assert classifier.structure_.n_classes == 1000
    deep = TreeClassifier(base, "chain", calibration="none").fit(X[:600], y[:600])
    p = deep.predict_proba(X[:5])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert pickle.loads(pickle.dumps(deep)).structure_ == deep.structure_


def test_a_fitted_classifier_can_be_pickled_and_cloned(iris):
    X, y = iris
    classifier = TreeClassifier(SVC(), "m {0 n {1 2}}").fit(X, y)
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))
    with pytest.raises(NotFittedError):
        clone(classifier).predict(X)


def test_a_failed_fit_changes_nothing(iris):
    X, y = iris
    classifier = TreeClassifier(SVC(), "balanced").fit(X, y)
    before = classifier.predict(X)
    with pytest.raises(StructureError):
        classifier.set_params(structure="m {0 1}").fit(X[:, :2], y)
    np.testing.assert_array_equal(classifier.predict(X), before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"structure": "balaced"}, r"'structure' parameter must be one of .*Did you mean 'bal"),
        ({"structure": 7}, "must be a builder's name .*Got int"),
        ({"structure": lambda X, y: None}, "must be a builder's name .*Got NoneType"),
        ({"structure": "m {0 1}"}, "column 8: the class 2 is missing"),
        ({"structure": "m {0 n {1 3}}"}, r"there is no class '3'"),
        ({"structure": balanced(range(4))}, "the class 3, which y does not have"),
        ({"structure": balanced(range(2))}, "It lacks 1, first 2"),
        ({"structure": balanced([0, 1, "1", 2])}, "has the class 1 of y twice"),
        ({"structure": "m {0 1"}, "this brace is never closed"),
        ({"solve": "exactly"}, "'solve' parameter must be one of"),
        ({"estimators": "abc"}, "'estimators' parameter must be a dictionary"),
        ({"solve": "least_squares", "probability": None}, "needs 'probability' not to be None"),
        ({"distance": "far"}, "'distance' parameter must be one of"),
        ({"structure": '"-W 1.5" {0 "" {1 2}}'}, "must be parameters of the estimator"),
        ({"structure": '"nonsense=1" {0 "" {1 2}}'}, "Invalid parameter 'nonsense'"),
        (
            {"structure": "svm {0 b {1 2}}", "estimators": {"svm": 3}},
            r"estimators\['svm'\]. parameter must be a classifier instance",
        ),
        ({"estimator": 3}, "must be a classifier instance"),
        ({"structure": "nbb {0 b {1 2}}", "estimators": {"nb": SVC()}}, "There is no problem 'nb'"),
        (
            {"structure": "k {0 b {1 2}}", "estimators": {"k": SVC(kernel="precomputed")}},
            "all estimators work on a precomputed kernel, or none",
        ),
        ({"decoder": "nonsense"}, "'decoder' parameter must be one of"),
        ({"probability": "nonsense"}, "'probability' parameter must be one of"),
    ],
)
def test_bad_parameters_are_explained(options, message, iris):
    with pytest.raises(ValueError, match=message):
        TreeClassifier(**options).fit(*iris)


def test_files_that_are_no_text_are_refused(iris, tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe{\x00")
    with pytest.raises(StructureError, match="must be a text file in UTF-8"):
        TreeClassifier(structure=tmp_path / "binary").fit(*iris)
    with pytest.raises(FileNotFoundError):
        TreeClassifier(structure=tmp_path / "missing").fit(*iris)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(10**8)
    with pytest.raises(StructureError, match=r"5000000 characters\. Got 10{8} bytes"):
        TreeClassifier(structure=tmp_path / "large").fit(*iris)


@pytest.mark.slow
def test_a_chain_of_thousands_of_classes_costs_no_recursion():
    y = np.repeat(np.arange(3000), 2)
    X = np.random.default_rng(0).normal(size=(3000, 4))[y] + np.tile([[0.1], [-0.1]], (3000, 1))
    classifier = TreeClassifier(SharedLinear(), "chain", probability=None).fit(X, y)
    assert classifier.structure_.depth == 2999
    predicted = classifier.predict(X[:20])
    best = classifier.predict_top(X[:20], 3)
    scores = classifier.decision_function(X[:20])
    np.testing.assert_array_equal(best[:, 0], predicted)
    np.testing.assert_array_equal(scores.argmax(axis=1), predicted)
    np.testing.assert_allclose(
        np.take_along_axis(scores, best, axis=1), -np.sort(-scores, axis=1)[:, :3], rtol=1e-12
    )
    assert parse_structure(str(classifier.structure_)) == classifier.structure_
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict(X[:20]), predicted)


def test_a_wide_tree_asks_few_of_many_problems(rng):
    """At most 16 problems on each of the three levels, and the best class of all."""
    y = np.repeat(np.arange(1000), 3)
    X = rng.normal(size=(1000, 20))[y] + 0.05 * rng.normal(size=(3000, 20))
    classifier = TreeClassifier(SharedLinear(), "kmeans", solve="recursive", cv=3).fit(X, y)
    asked = classifier.decision_path(X[::3]).sum(axis=1)
    assert asked.max() <= 3 * 16
    classifier = TreeClassifier(SharedLinear(), "kmeans", cv=3).fit(X, y)
    assert classifier.solve_ == "most_probable"
    p = classifier.predict_proba(X[::3])
    np.testing.assert_array_equal(classifier.predict(X[::3]), p.argmax(axis=1))
    labels, probabilities = classifier.predict_top_proba(X[::3], 5)
    np.testing.assert_allclose(probabilities, -np.sort(-p, axis=1)[:, :5], rtol=1e-9)
    np.testing.assert_allclose(np.take_along_axis(p, labels, axis=1), probabilities, rtol=1e-9)
    assert classifier.decision_path(X[::3]).sum(axis=1).mean() < 100
