import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polychotomy import (
    CodeClassifier,
    KernelSBCClassifier,
    ReductionSearchCV,
    SingleBinaryClassifier,
    TreeClassifier,
    make_code,
)
from polychotomy.assess import expected_calibration_error
from polychotomy.reductions import available_reductions
from polychotomy.report._details import chosen_values, confused_pairs, details
from polychotomy.report._questions import (
    Questions,
    belongs_to,
    confusion,
    crossed,
    problems_shown,
    questions_of_model,
    questions_of_reduction,
    shorten,
)
from tests.report.cells import make_cell, random_cells


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def test_confusions_are_counted_over_all_cells(rng):
    cells = random_cells(rng, {"bch": 0.3}, n_folds=3)
    truth = np.concatenate([cell.truth for cell in cells])
    predicted = np.concatenate([cell.predicted for cell in cells])
    np.testing.assert_array_equal(confusion(cells), confusion_matrix(truth, predicted))


def test_errors_cross_the_problems_that_part_the_classes():
    counts = np.array([[8, 2, 0], [1, 6, 3], [0, 0, 10]])
    shares = crossed(counts, make_code("one_vs_one", 3).matrix)
    # 0 against 1: 3 of 20 samples; 0 against 2: none of 20; 1 against 2: 3 of 20.
    np.testing.assert_allclose(shares, [3 / 20, 0, 3 / 20])
    np.testing.assert_allclose(crossed(counts, make_code("one_vs_rest", 3).matrix)[1], 6 / 30)
    assert np.isnan(crossed(np.zeros((2, 2), dtype=int), np.array([[1], [-1]]))).all()


def test_the_most_frequent_confusions_come_first():
    counts = np.array([[8, 2, 0], [1, 6, 3], [0, 0, 10]])
    pairs = confused_pairs(counts, "abc", Questions(tuple("abc"), make_code("bch", 3).matrix))
    assert [(pair["truth"], pair["predicted"], pair["count"]) for pair in pairs] == [
        ("b", "c", 3),
        ("a", "b", 2),
        ("b", "a", 1),
    ]
    assert pairs[0]["share"] == 0.5
    assert pairs[0]["problems"] == np.sum(np.prod(make_code("bch", 3).matrix[1:], axis=0) < 0)
    tied = confused_pairs(counts, "abc", Questions(tuple("abc"), make_code("one_vs_one", 3).matrix))
    assert tied[0]["problem"] == "b against c"
    assert "problems" not in confused_pairs(counts, "abc", None)[0]
    assert confused_pairs(np.eye(3, dtype=int), "abc", None) == []


def test_calibration_and_rejection_are_those_of_the_largest_probability(rng):
    cells = random_cells(rng, {"bch": 0.3}, n_folds=2, n_samples=300)
    found = details(cells, None)
    p = np.concatenate([cell.probabilities for cell in cells]).astype(float)
    truth = np.concatenate([cell.truth for cell in cells])
    p /= p.sum(axis=1, keepdims=True)
    right, confidence = p.argmax(axis=1) == truth, p.max(axis=1)
    assert found["calibration"]["error"] == pytest.approx(
        expected_calibration_error(truth, p), abs=1e-6
    )
    reject = found["reject"]
    assert 150 < len(reject["threshold"]) <= 200
    assert reject["coverage"][0] == 1
    assert reject["coverage"] == sorted(reject["coverage"], reverse=True)
    for t, coverage, error in zip(*reject.values(), strict=True):
        assert coverage == pytest.approx(np.mean(confidence >= t))
        assert error == pytest.approx(1 - np.mean(right[confidence >= t]))


def test_precision_and_recall_are_those_of_scikit_learn(rng):
    cells = random_cells(rng, {"bch": 0.3}, n_folds=2, n_samples=100)
    truth = np.concatenate([cell.truth for cell in cells])
    predicted = np.concatenate([cell.predicted for cell in cells])
    precision, recall, _, _ = precision_recall_fscore_support(truth, predicted)
    found = details(cells, None)
    assert found["precision"] == pytest.approx(precision.tolist())
    assert found["recall"] == pytest.approx(recall.tolist())
    nothing = details([make_cell([0, 1], [0, 0])], None)
    assert (nothing["precision"], nothing["recall"]) == ([0.5, None], [1.0, 0.0])


def test_without_probabilities_there_is_neither():
    found = details([make_cell([0, 1], [0, 1])], None)
    assert found["calibration"] is None
    assert found["reject"] is None
    assert found["n_wrong"] == 0


def test_of_many_classes_the_most_confused_are_shown(rng):
    (cell,) = random_cells(rng, {"bch": 0.0}, n_classes=90, n_samples=500)
    cell.predicted[cell.truth == 70] = 80
    found = details([cell], None)
    assert len(found["classes"]) == len(found["confusion"]) == 40
    assert {"class 70", "class 80"} <= set(found["classes"])
    assert found["n_classes"] == 90


def test_what_was_settled_is_told_once():
    cells = [
        make_cell([0, 1], [0, 1], chosen={"C": c, "decoder": "hinge"}) for c in (1.0, 0.25, 1.0)
    ]
    assert chosen_values(cells) == {
        "Tuned: C": "1, 0.25",
        "From binary outputs to a class by": "hinge",
    }


def test_the_problems_of_a_code(iris):
    classifier = CodeClassifier(code="one_vs_one", probability=None).fit(*iris)
    for model in (classifier, make_pipeline(StandardScaler(), classifier).fit(*iris)):
        questions = questions_of_model(model)
        assert questions.words == [
            "setosa against versicolor",
            "setosa against virginica",
            "versicolor against virginica",
        ]
        assert questions.structure is None
        assert belongs_to(model, "one_vs_one")
        assert not belongs_to(model, "one_vs_rest")


@pytest.mark.parametrize(
    ("model", "reduction"),
    [
        (CodeClassifier(code="bch", decoder="hamming"), "bch:hamming"),
        (CodeClassifier(code=make_code("bch", 5)), "bch"),
        (CodeClassifier(code="bch", probability=None), "bch:auto:None"),
        (CodeClassifier(code=make_code("bch", 5).matrix), None),
        (TreeClassifier(structure="linkage"), "linkage_tree"),
        (TreeClassifier(structure="ddag"), "ddag"),
        (SingleBinaryClassifier(extension="bch"), "sbc_bch"),
        (SingleBinaryClassifier(replication="single_call"), "sbc_ecoc:euclidean"),
        (KernelSBCClassifier(weights="learned"), "sbc_kernel"),
        (KernelSBCClassifier(weights="class_frequencies"), "sbc_kernel_frequencies"),
        (KernelSBCClassifier(weights=[1, 2]), None),
        (LogisticRegression(), "native"),
        (DummyClassifier(), "majority"),
    ],
)
def test_which_method_a_model_belongs_to(model, reduction):
    names = ["bch", "bch:hamming", "bch:auto:None", "sbc_ecoc:euclidean", *available_reductions()]
    found = {name for name in names if belongs_to(model, name)}
    probabilities = {"bch", "bch:auto:None"}  # do not count
    expected = probabilities if reduction in probabilities else {reduction} - {None}
    assert found == expected
    assert not belongs_to(model, "a method of another name")


def test_a_search_belongs_to_what_it_found(iris):
    search = ReductionSearchCV(LogisticRegression(), ["one_vs_rest"], cv=2).fit(*iris)
    assert belongs_to(search, "one_vs_rest")
    assert not belongs_to(search, "one_vs_one")


def test_the_problems_of_a_ddag_are_a_code(iris):
    questions = questions_of_model(TreeClassifier(structure="ddag", probability=None).fit(*iris))
    assert questions.structure is None
    assert [np.abs(column).sum() for column in questions.sides.T] == [2, 2, 2]
    assert len(set(questions.words)) == 3


def test_the_problems_of_a_single_binary_classifier(iris):
    for model in (SingleBinaryClassifier(probability=None), KernelSBCClassifier(probability=None)):
        questions = questions_of_model(model.fit(*iris))
        assert questions.words[0] == "setosa against the rest"


def test_the_problems_of_a_tree(iris):
    text = '"" {setosa "" {versicolor virginica}}'
    model = TreeClassifier(structure=text, probability=None).fit(*iris)
    questions = questions_of_model(model)
    np.testing.assert_array_equal(np.abs(questions.sides), [[1, 0], [1, 1], [1, 1]])
    np.testing.assert_array_equal(questions.sides[1], questions.sides[2] * [1, -1])
    cell = make_cell([0, 1, 2, 2], [0, 2, 2, 2], classes=model.classes_)
    shown = problems_shown(questions, [cell])
    assert shown["code"] is None
    assert [child["name"] for child in shown["tree"]["children"]] == ["setosa", None]
    assert shown["weakest"][0]["share"] == "33.33 %"
    assert shown["weakest"][1]["share"] == "0.00 %"
    turned = questions.ordered(["virginica", "setosa", "versicolor"])
    np.testing.assert_array_equal(turned.sides, questions.sides[[2, 0, 1]])


def test_a_deep_tree_is_shown_as_text(rng):
    k = 40
    y = np.repeat(np.arange(k), 3)
    X = rng.normal(size=(len(y), 2)) + y[:, np.newaxis]
    model = TreeClassifier(structure="chain", probability=None).fit(X, y)
    shown = problems_shown(questions_of_model(model), [make_cell(y, y, classes=map(str, range(k)))])
    assert shown["tree"] is None
    assert shown["tree_text"] == str(model.structure_)


@pytest.mark.parametrize("model", [object(), StandardScaler()])
def test_a_model_that_tells_no_problems(model):
    assert questions_of_model(model) is None


def test_the_problems_of_a_reduction_that_needs_no_data():
    assert questions_of_reduction("one_vs_rest:hamming", "abc").words[0] == "a against the rest"
    np.testing.assert_array_equal(
        questions_of_reduction("ddag", "abc").sides, make_code("one_vs_one", 3).matrix
    )
    assert questions_of_reduction("balanced_tree", "abcd").structure.depth == 2
    for name in ("dense_random", "linkage_tree", "unheard_of"):
        assert questions_of_reduction(name, "abcd") is None
    assert questions_of_reduction("exhaustive", [str(i) for i in range(60)]) is None


def test_long_names_are_cut():
    assert shorten("x" * 60) == "x" * 60
    assert shorten("x" * 61) == "x" * 59 + "…"
