import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import GreedySearchCV, SharedKernelSVC, SingleBinaryClassifier
from polychotomy.codes import one_vs_rest
from polychotomy.learners import Concatenation, StumpBoosting, additive_kind

LINEAR = [
    LogisticRegression(),
    LinearSVC(),
    RidgeClassifier(),
    SGDClassifier(),
    Perceptron(),
    LinearDiscriminantAnalysis(),
    SVC(kernel="linear"),
    NuSVC(kernel="linear"),
    SVC(kernel="poly", degree=1),
    SharedKernelSVC(kernel="linear"),
    MLPClassifier(activation="identity"),
    make_pipeline(StandardScaler(), PCA(), LinearSVC()),
    make_pipeline(SelectKBest(), FunctionTransformer(), LogisticRegression()),
    make_pipeline("passthrough", make_pipeline(None, LogisticRegression())),
    GridSearchCV(LogisticRegression(), {"C": [1, 10]}),
    GreedySearchCV(make_pipeline(StandardScaler(), SVC(kernel="linear"))),
    CalibratedClassifierCV(),
    CalibratedClassifierCV(estimator=make_pipeline(StandardScaler(), LinearSVC())),
    FixedThresholdClassifier(LogisticRegression()),
    OneVsRestClassifier(LinearSVC()),
    BaggingClassifier(LogisticRegression()),
    BaggingClassifier(make_pipeline(StandardScaler(), LinearSVC()), max_features=0.5),
    make_pipeline(make_pipeline(StandardScaler(), PCA()), LinearSVC()),
    make_pipeline(
        ColumnTransformer([("a", PCA(), [0, 2]), ("b", "drop", [1])], remainder="passthrough"),
        LinearSVC(),
    ),
    make_pipeline(FeatureUnion([("a", StandardScaler()), ("b", PCA())]), LinearSVC()),
]
ADDITIVE = [
    GaussianNB(),
    BernoulliNB(),
    MultinomialNB(),
    AdaBoostClassifier(),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=1)),
    StumpBoosting(),
    GradientBoostingClassifier(max_depth=1),
    HistGradientBoostingClassifier(max_leaf_nodes=2),
    RandomForestClassifier(max_depth=1),
    DecisionTreeClassifier(max_depth=1),
    make_pipeline(SplineTransformer(), PCA(), LogisticRegression()),
    make_pipeline(StandardScaler(), GaussianNB()),
    BaggingClassifier(DecisionTreeClassifier(max_depth=1)),
    BaggingClassifier(GradientBoostingClassifier(max_depth=1)),
    HistGradientBoostingClassifier(interaction_cst="no_interactions"),
    make_pipeline(ColumnTransformer([("a", SplineTransformer(), [0])]), LogisticRegression()),
]
NEITHER = [
    SVC(),
    SVC(kernel="poly"),
    SharedKernelSVC(),
    SharedKernelSVC(kernel="precomputed"),
    DecisionTreeClassifier(),
    RandomForestClassifier(),
    GradientBoostingClassifier(),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=2)),
    KNeighborsClassifier(),
    MLPClassifier(),
    QuadraticDiscriminantAnalysis(),
    make_pipeline(PolynomialFeatures(), LogisticRegression()),
    make_pipeline(Nystroem(), LinearSVC()),
    make_pipeline(StandardScaler(), Nystroem(), LinearSVC()),
    make_pipeline(FunctionTransformer(np.outer), LogisticRegression()),
    make_pipeline(PCA(), GaussianNB()),
    GridSearchCV(SVC(), {"C": [1, 10]}),
    BaggingClassifier(),
    BaggingClassifier(GaussianNB()),  # a mean of probabilities, not of their logarithms
    HistGradientBoostingClassifier(interaction_cst=[{0, 1}]),
    make_pipeline(FeatureUnion([("a", PCA()), ("b", PolynomialFeatures())]), LinearSVC()),
]


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [(e, "linear") for e in LINEAR]
    + [(e, "additive") for e in ADDITIVE]
    + [(e, None) for e in NEITHER],
)
def test_kinds(estimator, kind):
    assert additive_kind(estimator) == kind


@pytest.mark.parametrize("estimator", [LINEAR[0], LINEAR[11], ADDITIVE[0]], ids=str)
def test_they_are_refused_with_the_reason(estimator, iris):
    with pytest.raises(ValueError, match=r"ranks the classes alike for every x.*Kesler"):
        SingleBinaryClassifier(estimator).fit(*iris)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(max_iter=1000),
        LinearDiscriminantAnalysis(),
        GaussianNB(),
        AdaBoostClassifier(),
        RandomForestClassifier(20, max_depth=1, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=1), random_state=0),
        HistGradientBoostingClassifier(interaction_cst="no_interactions", max_iter=20),
        make_pipeline(SplineTransformer(), LogisticRegression(max_iter=1000)),
    ],
    ids=str,
)
def test_the_reason_is_true(estimator):
    """On the replicas themselves, such learners rank the classes alike for every sample."""
    X, y = load_iris(return_X_y=True)
    replicas = Concatenation(one_vs_rest(3), np.eye(3)[:, [1, 2, 0]] + np.diag([0.5, 0.0, -0.5]))
    sample, problem = np.divmod(np.arange(450), 3)
    Z = replicas.make(X[:, :2] + X[:, 2:], sample, problem)
    p = estimator.fit(Z, y[sample] == problem).predict_proba(Z)[:, 1].reshape(150, 3)
    order = np.argsort(np.median(p, axis=0))
    assert (np.diff(p[:, order], axis=1) >= -1e-9).all()
