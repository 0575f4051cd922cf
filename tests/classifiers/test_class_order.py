"""Ordered classes: given, from an ordered categorical, or found in the data."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from polychotomy import (
    CodeClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
    TreeClassifier,
    make_code,
)
from polychotomy.learners import SingleCall

LEVELS = ["very low", "low", "mid", "high"]  # not alphabetical: high, low, mid, very low
RNG = np.random.default_rng(0)
RANK = np.repeat(np.arange(4), 40)
X = np.column_stack([RANK + 0.4 * RNG.normal(size=160), RNG.normal(size=160)])
Y = np.array(LEVELS)[RANK]
SORTED = sorted(LEVELS)
COLUMN = [LEVELS.index(label) for label in SORTED]

EXACT = SVC(tol=1e-10)
SHARED = SharedKernelSVC(C=10, tol=1e-10, dtype="float64")
FOLDS = list(StratifiedKFold(3).split(X, RANK))

CLASSIFIERS = {
    "code": lambda **o: CodeClassifier(EXACT, "adjacent", cv=FOLDS, **o),
    "ddag decoder": lambda **o: CodeClassifier(EXACT, "one_vs_one", "ddag", cv=FOLDS, **o),
    "matrix": lambda **o: CodeClassifier(EXACT, make_code("adjacent", 4).matrix, cv=FOLDS, **o),
    "balanced": lambda **o: TreeClassifier(EXACT, "balanced", cv=FOLDS, **o),
    "chain": lambda **o: TreeClassifier(EXACT, "chain", cv=FOLDS, **o),
    "ddag": lambda **o: TreeClassifier(EXACT, "ddag", cv=FOLDS, **o),
    "single": lambda **o: SingleBinaryClassifier(SHARED, "single", cv=FOLDS, **o),
    "single call": lambda **o: SingleBinaryClassifier(
        SHARED, SingleCall("adjacent"), cv=FOLDS, **o
    ),
}


def ordered(given):
    """Return labels and parameters that say the order of LEVELS in some way."""
    if given == "list":
        return Y, {"class_order": ["none", *LEVELS]}  # a class that these samples lack
    if given == "categorical":
        return pd.Categorical(Y, LEVELS, ordered=True), {}
    if given == "series":
        return pd.Series(pd.Categorical(Y, LEVELS, ordered=True), index=RANK[::-1]), {}
    polars = pytest.importorskip("polars")
    return polars.Series(Y, dtype=polars.Enum(LEVELS)), {}


def check_alike(made, expected):
    assert made.classes_.tolist() == SORTED
    np.testing.assert_array_equal(made.predict(X), np.array(LEVELS)[expected.predict(X)])
    for method in ("decision_function", "predict_proba"):
        scores, wanted = getattr(made, method)(X), getattr(expected, method)(X)
        np.testing.assert_allclose(scores, wanted[:, COLUMN], atol=1e-6)
    if hasattr(made, "code_"):
        np.testing.assert_array_equal(
            np.abs(made.code_.matrix), np.abs(expected.code_.matrix[COLUMN])
        )


@pytest.mark.parametrize("given", ["list", "categorical", "series", "polars"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_an_order_is_that_of_classes_named_by_their_rank(name, given):
    """The truth is the same classifier on labels whose sorted order is the wanted one."""
    y, options = ordered(given)
    check_alike(CLASSIFIERS[name](**options).fit(X, y), CLASSIFIERS[name]().fit(X, RANK))


@pytest.mark.parametrize("name", ["code", "balanced", "single call"])
def test_the_order_found_in_the_data(name):
    """The classes lie on a line; "high", the first by name, is the first."""
    made = CLASSIFIERS[name](class_order="data").fit(X, Y)
    check_alike(made, CLASSIFIERS[name](class_order=[3, 2, 1, 0]).fit(X, RANK))


def test_an_order_is_what_the_adjacent_code_asks():
    made = CodeClassifier(EXACT, "adjacent", class_order=LEVELS).fit(X, Y)
    asked = {frozenset(np.array(SORTED)[column > 0]) for column in made.code_.matrix.T}
    assert asked == {frozenset(LEVELS[s:]) for s in (1, 2, 3)}


ADJACENT = make_code("adjacent", 4)
CLASSIFIERS_BY_LETTER = CLASSIFIERS | {
    "code value": lambda: CodeClassifier(EXACT, ADJACENT, cv=FOLDS),
    "extension": lambda: SingleBinaryClassifier(SHARED, extension="adjacent", cv=FOLDS),
    "extension value": lambda: SingleBinaryClassifier(SHARED, ADJACENT, cv=FOLDS),
    "single call value": lambda: SingleBinaryClassifier(SHARED, SingleCall(ADJACENT), cv=FOLDS),
}


@pytest.mark.parametrize(
    "name",
    ["code", "single call", "code value", "extension", "extension value", "single call value"],
)
def test_the_adjacent_code_warns_of_the_alphabet(name):
    with pytest.warns(UserWarning, match="alphabetical order: high, low, mid"):
        CLASSIFIERS_BY_LETTER[name]().fit(X, Y)
    CLASSIFIERS_BY_LETTER[name]().fit(X, RANK)  # numbers have an order
    plain = pd.Categorical(Y, LEVELS)
    with pytest.warns(UserWarning, match="alphabetical order"):
        CLASSIFIERS_BY_LETTER[name]().fit(X, plain)


def test_an_adjacent_code_with_an_order_of_its_own_does_not_warn():
    code = make_code("adjacent", 4, order=np.argsort(COLUMN))
    CodeClassifier(EXACT, code, probability=None).fit(X, Y)


@pytest.mark.parametrize("given", [[["a"]], [{"a"}, "b"], [LEVELS]])
def test_an_order_of_lists_is_refused(given):
    with pytest.raises(ValueError, match="'class_order' parameter must be a list of the classes"):
        CodeClassifier(EXACT, class_order=given).fit(X, Y)


def test_batches_keep_the_order_of_the_first():
    learner = SGDClassifier(random_state=0)
    expected = CodeClassifier(learner, "adjacent").partial_fit(X, RANK, range(4))
    made = CodeClassifier(learner, "adjacent", class_order=LEVELS)
    made.partial_fit(X[::2], Y[::2], LEVELS).partial_fit(X[1::2], Y[1::2])
    np.testing.assert_array_equal(
        np.abs(made.code_.matrix.sum(axis=1)), np.abs(expected.code_.matrix.sum(axis=1))[COLUMN]
    )
    assert not hasattr(made.set_params(class_order="data"), "partial_fit")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (LEVELS[1:], "'very low' is missing"),
        ([*LEVELS, "low"], "one is there twice"),
        ("alphabet", "a list of the classes in their order, 'data' or None. Got 'alphabet'"),
        (3, "Got 3"),
    ],
)
def test_wrong_orders_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        CodeClassifier(class_order=given).fit(X, Y)


def test_a_kernel_has_no_order_in_its_data():
    made = CodeClassifier(SVC(kernel="precomputed"), "adjacent", class_order="data")
    with pytest.raises(ValueError, match="precomputed"):
        made.fit(X @ X.T, Y)
