import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polychotomy import CodeClassifier
from polychotomy.datasets import column_remarks, load, make_preprocessor
from polychotomy.errors import DataError


def test_numbers_are_standardised_by_the_training_part():
    train = pd.DataFrame({"a": [1.0, 2.0, 3.0, np.nan], "b": [5, 5, 5, 5]})
    test = pd.DataFrame({"a": [4.0, np.nan], "b": [5, 7]})
    fitted = make_preprocessor(train).fit(train)
    deviation = np.sqrt(2 / 3)  # of 1, 2, 3
    np.testing.assert_allclose(
        fitted.transform(train)[:, 0], [-1 / deviation, 0, 1 / deviation, 0], atol=1e-12
    )
    np.testing.assert_allclose(fitted.transform(test), [[2 / deviation, 0], [0, 2]])


def test_all_else_becomes_indicators():
    frame = pd.DataFrame(
        {
            "text": ["u", "v", None, "u"],
            "truth": [True, False, True, True],
            "grade": pd.Categorical([1, 2, 1, 2]),
            "mixed": ["x", 1, 1, True],
        }
    )
    fitted = make_preprocessor(frame).fit(frame)
    names = [name.partition("__")[2] for name in fitted.get_feature_names_out()]
    assert names == [
        *("text_u", "text_v", "text_nan", "truth_False", "truth_True"),
        *("grade_1", "grade_2", "mixed_1", "mixed_True", "mixed_x"),
    ]
    matrix = fitted.transform(frame)
    assert isinstance(matrix, np.ndarray)
    assert matrix[:, :3].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert matrix.sum(axis=1).tolist() == [4, 4, 4, 4]
    unseen = frame.assign(text="new")
    assert (fitted.transform(unseen)[:, :3] == 0).all()


def test_many_values_share_an_indicator():
    values = [f"v{i}" for i in range(300)]
    frame = pd.DataFrame({"text": values + values[:150]})
    fitted = make_preprocessor(frame).fit(frame)
    assert fitted.transform(frame).shape == (450, 100)
    assert (fitted.transform(frame).sum(axis=1) == 1).all()
    assert (fitted.transform(pd.DataFrame({"text": ["new"]})) == [0] * 99 + [1]).all()


def test_what_is_left_out():
    frame = pd.DataFrame({"a": [1.0, 2, 4], "name": ["x", "y", "z"], "empty": [np.nan] * 3})
    assert make_preprocessor(frame).fit_transform(frame).shape == (3, 1)


def test_a_column_may_be_empty_in_the_training_part_only():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [np.nan, np.nan, np.nan, 1.0]})
    fitted = make_preprocessor(frame).fit(frame[:3])
    assert np.isfinite(fitted.transform(frame)).all()
    assert fitted.transform(frame)[3, 1] == 0


def test_extension_kinds():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "truth": pd.array([True, None, True], dtype="boolean"),
        }
    )
    matrix = make_preprocessor(frame).fit_transform(frame)
    assert matrix.tolist() == [[-1, 1, 0], [0, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}), "turned into numbers first: 'day'"),
        (pd.DataFrame({"name": ["x", "y"]}), "No column can be used"),
        (np.ones((3, 2)), "must be a pandas.DataFrame. Got ndarray"),
    ],
)
def test_what_cannot_be_made_features_is_told(frame, message):
    with pytest.raises(ValueError, match=message):
        make_preprocessor(frame)
    assert issubclass(DataError, ValueError)


def test_it_works_in_pipelines_and_pickles():
    samples = load("wine")
    data = samples.data.assign(tall=samples.data["alcohol"] > 13)
    model = make_pipeline(
        make_preprocessor(data), CodeClassifier(LogisticRegression(), "one_vs_rest")
    )
    assert cross_val_score(model, data, samples.target, cv=3).mean() > 0.95
    fitted = model.fit(data, samples.target)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(data) == fitted.predict(data)).all()


def test_standardising_again_changes_indicators_only():
    samples = load("wine")
    data = samples.data.assign(tall=samples.data["alcohol"] > 13)
    once = make_preprocessor(data).fit_transform(data)
    twice = StandardScaler().fit_transform(once)
    np.testing.assert_allclose(once[:, :13], twice[:, :13], atol=1e-12)
    np.testing.assert_allclose(twice[:, 13:].std(axis=0), 1)


def test_remarks_name_columns_and_sparse_samples_have_none():
    frame = pd.DataFrame({"row": [1, 2, 3], "who": ["a", "b", "c"], "size": [1, 2, 4]})
    assert [said.rpartition(": ")[2] for said in column_remarks(frame)] == ["'who'.", "'row'."]
    assert column_remarks(frame, text=["who"]) == [column_remarks(frame)[1]]
    assert column_remarks(frame[:2]) == [column_remarks(frame)[0]]  # any two numbers may ascend
    assert column_remarks(csr_array(np.eye(3))) == []
