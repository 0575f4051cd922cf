import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from polychotomy import CodeClassifier, ReductionSearchCV
from polychotomy.datasets import make_preprocessor
from polychotomy.errors import DataError
from polychotomy.evaluate import Preparation
from polychotomy.evaluate._preparation import suitable_preparation


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_arrays_and_frames_of_numbers_give_the_same_features(load):
    frame = load(as_frame=True).data
    expected = make_preprocessor(frame).fit_transform(frame)
    found = Preparation().fit_transform(frame.to_numpy())
    np.testing.assert_array_equal(Preparation().fit_transform(frame), found)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert found.flags["C_CONTIGUOUS"]


def test_gaps_are_filled_and_empty_columns_left_out():
    X = np.array([[1.0, np.nan, 5.0], [np.nan, np.nan, 5.0], [3.0, np.nan, 5.0]])
    prepare = Preparation().fit(X)
    np.testing.assert_array_equal(prepare.transform(X), [[-1, 0], [0, 0], [1, 0]])
    assert prepare.columns_ == [0, 2]
    with pytest.raises(ValueError, match="all values are missing"):
        Preparation().fit(X[:, [1]])


def test_texts_become_indicators():
    X = np.array([[1.0, "a"], [2.0, "b"], [3.0, "a"]], dtype=object)
    prepare = Preparation().fit(X)
    found = prepare.transform(X)
    np.testing.assert_allclose(found[:, 1:], [[1, 0], [0, 1], [1, 0]])
    np.testing.assert_array_equal(prepare.transform(X[::-1]), found[::-1])
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]})
    scaled = Preparation(standardise_indicators=True).fit_transform(frame)
    np.testing.assert_allclose(scaled.std(axis=0), 1)


def test_infinite_numbers_and_other_shapes_are_refused():
    with pytest.raises(ValueError, match="infinity"):
        Preparation().fit([[np.inf], [1.0]])
    prepare = Preparation().fit([[2.0, 1.0], [1.0, 3.0]])
    with pytest.raises(ValueError, match="X has 1 features, but Preparation is expecting 2"):
        prepare.transform([[1.0]])


@pytest.mark.parametrize(
    ("X", "classifier", "expected"),
    [
        (np.ones((3, 2)), CodeClassifier(), "standard"),
        (pd.DataFrame({"a": [1]}), LogisticRegression(), "standard"),
        (csr_array(np.ones((3, 2))), CodeClassifier(), "standard"),
        (np.ones((3, 3)), CodeClassifier(SVC(kernel="precomputed")), "none"),
        (np.array(["a text", "and another"], dtype=object), CodeClassifier(), "none"),
        (np.ones((3, 2)), CodeClassifier(make_pipeline(StandardScaler(), SVC())), "none"),
        (np.ones((3, 2)), make_pipeline(StandardScaler(), SVC()), "none"),
        (np.ones((3, 2)), CodeClassifier(MultinomialNB()), "none"),
    ],
)
def test_what_is_prepared(X, classifier, expected):
    assert suitable_preparation("standard", X, classifier) == expected
    assert suitable_preparation(None, X, classifier) == "none"


def test_a_search_fills_gaps_and_takes_frames_as_they_are():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=np.where(X[:, 3] > 1, "x", "y"))
    frame.loc[::7, "a"] = np.nan
    search = ReductionSearchCV(reductions=["ovr", "ovo"], cv=2, random_state=0).fit(frame, y)
    assert [name for name, _ in search.best_estimator_.steps] == ["preparation", "classifier"]
    assert search.score(frame, y) > 0.9
    with pytest.raises(ValueError, match="'preparation' parameter must be 'standard' or None"):
        ReductionSearchCV(preparation="raw").fit(X, y)


def test_polars_frames_are_prepared_as_those_of_pandas():
    import polars as pl

    values = {"size": [1.0, None, 3.0, 9.0], "colour": ["red", "blue", "red", "blue"]}
    pandas, polars = pd.DataFrame(values), pl.DataFrame(values)
    np.testing.assert_array_equal(
        Preparation().fit_transform(polars), Preparation().fit_transform(pandas)
    )
    assert list(Preparation().fit(polars).feature_names_in_) == ["size", "colour"]


def test_a_search_prepares_polars_frames(iris):
    import polars as pl

    X, y = iris[0] * [1, 1000, 1, 0.001], iris[1]
    names = list("abcd")
    searches = [
        ReductionSearchCV(SVC(), ["one_vs_rest", "one_vs_one"], cv=3, random_state=0).fit(frame, y)
        for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names))
    ]
    for key in ("split0_test_score", "split2_test_score"):
        np.testing.assert_array_equal(*(search.cv_results_[key] for search in searches))


def test_sparse_matrices_stay_sparse_and_within_one():
    X = csr_array([[0, 0.5, 0, 8.0], [0, 0, -4.0, 0], [0, 0.25, 0, 0]])
    prepare = Preparation().fit(X)
    found = prepare.transform(X)
    assert issparse(found)
    np.testing.assert_array_equal(
        found.toarray(), [[0, 0.5, 0, 1.0], [0, 0, -1.0, 0], [0, 0.25, 0, 0]]
    )
    np.testing.assert_array_equal(Preparation(dense=True).fit_transform(X), found.toarray())
    np.testing.assert_array_equal(prepare.transform(X.toarray()).toarray(), found.toarray())


def test_sparse_matrices_with_few_zeros_are_standardised():
    X = load_iris().data
    found = Preparation().fit(csr_array(X))
    np.testing.assert_array_equal(found.transform(csr_array(X)), Preparation().fit_transform(X))


def test_a_dense_matrix_that_is_too_large_is_refused():
    X = csr_array(([1.0, 2.0], ([0, 1], [0, 10**9 - 1])), shape=(2, 10**9))
    with pytest.raises(DataError, match="mostly zeros: too many for a learner"):
        Preparation(dense=True)._as_dense(X)


@pytest.mark.parametrize("way", ["words", "chars"])
def test_columns_of_text_become_frequencies_of_terms(way):
    frame = pd.DataFrame({"note": ["ab c", "ab d", None, "EF"], "x": [1.0, 2, 3, 4]})
    prepare = Preparation(text={"note": way}).fit(frame)
    found = prepare.transform(frame)
    options = {"token_pattern": r"\b\w+\b"} if way == "words" else {}
    options |= {"analyzer": "char_wb", "ngram_range": (1, 4)} if way == "chars" else {}
    vectors = TfidfVectorizer(sublinear_tf=True, **options).fit_transform(frame["note"].fillna(""))
    found = found.toarray() if issparse(found) else found
    np.testing.assert_allclose(found[:, 1:], vectors.toarray())
    assert prepare.columns_ == ["note", "x"]
    assert isinstance(Preparation(text={"note": way}, dense=True).fit_transform(frame), np.ndarray)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_very_large_and_very_small_columns_are_standardised_like_others(size):
    X = load_iris().data
    expected = Preparation().fit_transform(X)
    np.testing.assert_allclose(Preparation().fit_transform(X * size), expected, rtol=1e-9)
    frame = pd.DataFrame(X * [1, size, 1, 1])
    np.testing.assert_allclose(Preparation().fit_transform(frame), expected, rtol=1e-9)
    extreme = np.array([[1.7e308], [-1.7e308], [5e-324]])
    np.testing.assert_allclose(
        Preparation().fit_transform(extreme).ravel(), np.sqrt([1.5, 1.5, 0]) * [1, -1, 1], atol=1e-9
    )
