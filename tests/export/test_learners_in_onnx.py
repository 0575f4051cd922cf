"""Every binary learner is exported right, or refused by its name."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from polychotomy import (
    CodeClassifier,
    KernelSBCClassifier,
    SharedKernelSVC,
    SharedLinear,
    SingleBinaryClassifier,
    TreeClassifier,
)
from polychotomy.errors import ModelError
from polychotomy.export import to_onnx
from polychotomy.learners import Concatenated, SingleCall, StumpBoosting
from polychotomy.training import shared_problems
from tests.export.onnx_sessions import check_same, quietly, run

X, Y = make_blobs(160, 4, centers=4, cluster_std=3.0, random_state=5)
X = X - X.min()  # some kinds of naive Bayes need counts
X /= 4  # large values of kernels have few digits
NEW = X[::3] + np.random.default_rng(5).uniform(0, 0.5, X[::3].shape)

LEARNERS = [
    SVC(),
    SVC(kernel="linear", C=3),
    SVC(kernel="poly", degree=2, coef0=1),
    SVC(kernel="sigmoid", gamma=0.001),
    NuSVC(nu=0.2),
    LinearSVC(random_state=0),
    LogisticRegression(max_iter=1000),
    RidgeClassifier(),
    Perceptron(random_state=0),
    SGDClassifier(loss="log_loss", random_state=0),
    SGDClassifier(loss="modified_huber", random_state=0),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    GaussianNB(var_smoothing=0.5),  # probabilities within 1e-12 of 1 have few digits of log-odds
    MultinomialNB(),
    BernoulliNB(binarize=2.5),
    ComplementNB(),
    MLPClassifier(hidden_layer_sizes=(5, 3), max_iter=50, random_state=0),
    MLPClassifier(hidden_layer_sizes=(), activation="tanh", max_iter=50, random_state=0),
    DecisionTreeClassifier(max_depth=4, random_state=0),
    RandomForestClassifier(5, random_state=0),
    ExtraTreesClassifier(5, random_state=0),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
    AdaBoostClassifier(n_estimators=5, random_state=0),
    BaggingClassifier(n_estimators=5, random_state=0),
    StumpBoosting(10),
    KNeighborsClassifier(3),
    SharedKernelSVC(),
    SharedKernelSVC(kernel="poly", degree=2, gamma=0.1, coef0=1),
    SharedKernelSVC(kernel="linear"),
    SharedLinear(),
    SharedLinear(loss="logistic"),
    SharedLinear(loss="squared_hinge"),
    CalibratedClassifierCV(LinearSVC(random_state=0), cv=2),
    make_pipeline(StandardScaler(), SVC()),
    make_pipeline(StandardScaler(), PolynomialFeatures(2), SharedLinear()),
    make_pipeline(MinMaxScaler(), DecisionTreeClassifier(max_depth=3, random_state=0)),
    GridSearchCV(LogisticRegression(max_iter=1000), {"C": [1, 10]}, cv=2),
    VotingClassifier(
        [("a", GaussianNB()), ("b", LogisticRegression())], voting="soft", flatten_transform=False
    ),
]


def _id(learner):
    return type(learner).__name__


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=_id)
def test_a_tree_of_a_learner_answers_alike(learner):
    check_same(TreeClassifier(learner, "balanced", cv=2).fit(X, Y), NEW, probabilities=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic", "logistic"])
@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one"])
@pytest.mark.parametrize("learner", LEARNERS, ids=_id)
def test_a_code_of_a_learner_answers_alike(learner, code, calibration):
    method = "normalise" if code == "one_vs_rest" else "inverse"
    model = CodeClassifier(learner, code, calibration=calibration, probability=method, cv=2)
    check_same(model.fit(X, Y), NEW, probabilities=True)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (HistGradientBoostingClassifier(max_iter=3), "HistGradientBoostingClassifier"),
        (GaussianProcessClassifier(), "GaussianProcessClassifier"),
        (
            StackingClassifier([("lda", LinearDiscriminantAnalysis())], LogisticRegression(), cv=2),
            "StackingClassifier",
        ),
    ],
)
def test_a_learner_that_cannot_be_converted_is_refused_by_name(learner, name, method):
    probability = None if method == "predict" else "auto"
    model = CodeClassifier(learner, "one_vs_rest", probability=probability).fit(X, Y)
    with pytest.raises(ModelError, match=f"{name} cannot be exported.*another binary classifier"):
        to_onnx(model)


def test_a_kernel_that_is_a_function_is_refused():
    model = CodeClassifier(
        SharedKernelSVC(kernel=lambda a, b: np.asarray(a) @ np.asarray(b).T), probability=None
    ).fit(X, Y)
    with pytest.raises(ModelError, match="kernel that is a function"):
        to_onnx(model)


@pytest.mark.parametrize(
    "learner", [SVC(kernel="precomputed"), SharedKernelSVC(kernel="precomputed")]
)
def test_precomputed_kernels_are_read_column_by_column(learner):
    K, new = X @ X.T / 100, NEW @ X.T / 100
    model = CodeClassifier(learner, "one_vs_one", probability="votes", cv=2).fit(K, Y)
    check_same(model, new, probabilities=True)


def _counts(exported):
    ops = [node.op_type for node in exported.graph.node]
    return {op: ops.count(op) for op in set(ops)}


@pytest.mark.parametrize(
    ("learner", "products"), [(SharedKernelSVC(), 2), (SharedLinear(), 1), (SVC(gamma=0.1), 2)]
)
def test_problems_of_one_kernel_or_of_linear_learners_are_one_block(learner, products):
    model = CodeClassifier(learner, "one_vs_one", decoder="ddag", probability=None).fit(X, Y)
    counts = _counts(quietly(model))
    assert counts["MatMul"] == products
    assert counts.get("Exp", 0) == (products == 2)


def test_the_support_vectors_of_all_problems_are_kept_once():
    model = CodeClassifier(SVC(), "one_vs_one", probability=None).fit(X, Y)
    sizes = [np.prod(tensor.dims) for tensor in quietly(model).graph.initializer]
    assert max(sizes) <= len(X) * 6


@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "logistic"])
@pytest.mark.parametrize("k", [2, 4])
def test_shared_linear_by_itself(loss, k):
    own = k > Y
    model = SharedLinear(loss=loss).fit(X[own], Y[own])
    labels, p = run(quietly(model), NEW.astype(np.float32))
    np.testing.assert_array_equal(labels, model.predict(NEW.astype(np.float32)))
    assert (p is not None) == (loss == "logistic")
    if p is not None:
        np.testing.assert_allclose(p, model.predict_proba(NEW.astype(np.float32)), atol=1e-5)


def test_shared_kernel_svc_by_itself():
    own = Y < 2
    model = SharedKernelSVC().fit(X[own], np.array(["oak", "elm"])[Y[own]])
    labels, p = run(quietly(model), NEW.astype(np.float32))
    np.testing.assert_array_equal(labels, model.predict(NEW.astype(np.float32)))
    assert p is None


def test_problems_that_were_trained_before_are_gathered():
    with shared_problems():
        CodeClassifier(SharedLinear(), "one_vs_one", cv=2).fit(X, Y)
        model = CodeClassifier(SharedLinear(), "dense_random", random_state=0, cv=2).fit(X, Y)
        check_same(model, NEW)


@pytest.mark.parametrize(
    ("learner", "replication"),
    [
        (SharedKernelSVC(gamma=0.1), "identity"),
        (SharedKernelSVC(gamma=0.1), SingleCall("one_vs_rest")),
        (SharedKernelSVC(kernel="poly", gamma=0.1, coef0=1), "identity"),
        (SharedKernelSVC(kernel="sigmoid", gamma=0.001), "bch"),
        (SVC(gamma=0.1), Concatenated("identity", scale=3.0)),
        (RandomForestClassifier(5, random_state=0), "identity"),
        (LinearSVC(random_state=0), "kesler"),
        (LogisticRegression(max_iter=1000), "kesler"),
        (make_pipeline(StandardScaler(with_mean=False), LinearSVC(random_state=0)), "kesler"),
    ],
)
@pytest.mark.parametrize("probability", [None, "votes"])
def test_a_single_binary_classifier_answers_alike(learner, replication, probability):
    model = SingleBinaryClassifier(learner, replication, probability=probability, cv=2).fit(X, Y)
    check_same(model, NEW, probabilities=probability is not None)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weights", ["learned", "class_frequencies"])
def test_sbc_kernel_answers_alike(weights):
    model = KernelSBCClassifier(weights=weights, probability="normalise", cv=2, max_iter=3)
    check_same(model.fit(X, Y), NEW, probabilities=True)
