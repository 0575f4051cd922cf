import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from polychotomy import CodeClassifier
from polychotomy.lab import compare


def test_errors_are_those_of_cross_validation(iris):
    X, y = iris
    (result,) = compare(X, y, SVC(), codes=["one_vs_rest"], n_folds=4, random_state=3)
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    scores = cross_val_score(CodeClassifier(SVC(), code="one_vs_rest"), X, y, cv=folds)
    np.testing.assert_allclose(result.errors, 1 - scores)
    assert result.error == pytest.approx(1 - scores.mean())
    assert (result.n_problems, result.decoder) == (3, "hinge")
    assert result.fit_seconds > 0 < result.predict_seconds


def test_codes_that_do_not_exist_are_skipped_with_the_reason(iris):
    X, y = iris
    results = {r.name: r for r in compare(pd.DataFrame(X), pd.Series(y), SVC())}
    assert "at least 4 classes" in results["orthogonal"].skipped
    assert all(r.errors for name, r in results.items() if name != "orthogonal")


def test_unknown_codes_are_refused_at_once(iris):
    with pytest.raises(ValueError, match="Did you mean 'exhaustive'"):
        next(compare(*iris, codes=["one_vs_one", "exhaustiv"]))
