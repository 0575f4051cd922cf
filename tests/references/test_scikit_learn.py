"""With the same base learner, the two standard codes are scikit-learn's two reductions."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import CodeClassifier
from polychotomy.decoding import accepted_by_votes

MARGINS = [
    LogisticRegression(),
    SVC(),
    LinearSVC(random_state=0),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
]
PROBABILITIES = [
    DecisionTreeClassifier(max_depth=3, random_state=0),
    RandomForestClassifier(n_estimators=7, random_state=0),
    GaussianNB(),
    KNeighborsClassifier(4),  # often has equal probabilities
]


def _name(estimator):
    return type(estimator).__name__


@pytest.mark.parametrize("base", MARGINS + PROBABILITIES, ids=_name)
def test_one_vs_rest(base, digits):
    X, y = digits
    ours = CodeClassifier(base, code="one_vs_rest", decoder="votes").fit(X[:300], y[:300])
    theirs = OneVsRestClassifier(base).fit(X[:300], y[:300])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("base", MARGINS, ids=_name)
def test_one_vs_one(base, digits):
    X, y = digits
    ours = CodeClassifier(base, code="one_vs_one").fit(X[:300], y[:300])
    theirs = OneVsOneClassifier(base).fit(X[:300], y[:300])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(
    "base", [*PROBABILITIES, AdaBoostClassifier(n_estimators=10, random_state=0)], ids=_name
)
def test_one_vs_one_where_votes_decide(base, digits):
    """scikit-learn breaks ties by other sizes, normalised or not centred; without ties we agree."""
    X, y = digits
    ours = CodeClassifier(base, code="one_vs_one").fit(X[:300], y[:300])
    theirs = OneVsOneClassifier(base).fit(X[:300], y[:300])
    decided = accepted_by_votes(ours.binary_outputs(X), ours.code_)
    assert decided.mean() > 0.7
    np.testing.assert_array_equal(ours.predict(X[decided]), theirs.predict(X[decided]))


def test_votes_and_ddag_against_libsvm(digits):
    """LIBSVM takes the first of tied classes; where votes decide we agree."""
    X, y = digits
    libsvm = SVC(gamma=0.05).fit(X[:300], y[:300])
    votes = CodeClassifier(SVC(gamma=0.05)).fit(X[:300], y[:300])
    ddag = CodeClassifier(SVC(gamma=0.05), decoder="ddag").fit(X[:300], y[:300])
    labels, decided = votes.predict_or_reject(X)
    assert decided.mean() > 0.95
    np.testing.assert_array_equal(labels, votes.predict(X))
    np.testing.assert_array_equal(labels[decided], libsvm.predict(X[decided]))
    assert np.mean(ddag.predict(X) == libsvm.predict(X)) > 0.97
