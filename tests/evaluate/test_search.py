import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_dtype_object, parametrize_with_checks

from polychotomy import (
    CodeClassifier,
    KernelSBCClassifier,
    ReductionSearchCV,
    SharedKernelSVC,
    SingleBinaryClassifier,
    TreeClassifier,
    make_code,
)
from polychotomy.decoding import RULES
from polychotomy.evaluate import Preparation
from polychotomy.reductions import Reduction, available_reductions


class Counting(LogisticRegression):
    """Counts how often it is trained and asked."""

    fits = asked = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)

    def decision_function(self, X):
        type(self).asked += 1
        return super().decision_function(X)


@pytest.fixture(autouse=True)
def _zero():
    Counting.fits = Counting.asked = 0


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, centers=5, cluster_std=2.5, random_state=0)


SINGLE = [name for name in available_reductions() if name.startswith("sbc_")]
NAMES = ["one_vs_rest", "one_vs_one", "exhaustive", "linkage_tree", "ddag"]


def of(search, key):
    """Return a column of the table by the names of its rows."""
    return dict(zip(map(_text, search.cv_results_["params"]), search.cv_results_[key], strict=True))


def _text(params):
    return str(Reduction(params["reduction"], params["decoder"], params["probability"]))


def test_scores_are_those_of_cross_validation(blobs):
    X, y = blobs
    folds = StratifiedKFold(3, shuffle=True, random_state=4)
    rows = ["one_vs_rest", "one_vs_rest:hamming", "bch:probability:inverse", "ddag::None"]
    rows += ["bch:class_means", "one_vs_rest:class_means:None"]
    search = ReductionSearchCV(SVC(), rows, cv=folds, random_state=0).fit(X, y)
    for row, params in zip(rows, search.cv_results_["params"], strict=True):
        alone = Reduction.of(row).make(SVC(), random_state=0)  # no random code among them
        expected = cross_val_score(make_pipeline(Preparation(), alone), X, y, cv=folds)
        i = search.cv_results_["params"].index(params)
        found = [search.cv_results_[f"split{j}_test_score"][i] for j in range(3)]
        assert found == expected.tolist(), row
        assert search.cv_results_["mean_test_score"][i] == expected.mean()


@pytest.mark.slow
@pytest.mark.parametrize("base", [SGDClassifier(max_iter=20, tol=None), SVC()])
def test_sharing_changes_no_bit(blobs, base):
    X, y = blobs
    rows = ["one_vs_one", "dense_random", "linkage_tree", "ddag"]
    together = ReductionSearchCV(base, rows, cv=2, random_state=3, scoring="neg_log_loss")
    together.fit(X, y)
    for i, row in enumerate(rows):
        alone = clone(together).set_params(reductions=[row]).fit(X, y)
        for key in ("split0_test_score", "split1_test_score"):
            assert together.cv_results_[key][i] == alone.cv_results_[key][0]


def test_each_problem_is_trained_once_per_fold_and_decoders_not_at_all(blobs):
    X, y = blobs
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    rows = [f"{name}:*" for name in NAMES]
    options = {"cv": folds, "refit": False, "preparation": None}
    search = ReductionSearchCV(Counting(), rows, **options).fit(X, y)
    # class means of the linear learner; ddag for pairs only
    assert len(search.cv_results_["params"]) == 3 * (len(RULES) + 1) + 1 + 2
    tried = set(of(search, "n_problems"))  # "auto" is the loss; for pairs votes
    assert {"one_vs_one:logistic", "one_vs_rest:votes", "exhaustive:votes"} <= tried
    assert not {"one_vs_one:votes", "one_vs_rest:logistic", "exhaustive:logistic"} & tried
    # ten pairs, and fifteen splits of all five classes, those against the rest among them; the
    # trees of the two folds have problems of three or four classes of their own
    trees = [TreeClassifier().fit(X[train], y[train]) for train, _ in folds.split(X, y)]
    columns = [column for tree in trees for column in tree._readout.distinct.columns.T]
    own = sum(2 < np.abs(column).sum() < 5 for column in columns)
    assert Counting.fits == 2 * (10 + 15) + own


def test_each_problem_is_asked_once_per_fold(blobs):
    X, y = blobs
    rows = [f"one_vs_one:{rule}" for rule in RULES]
    ReductionSearchCV(Counting(), rows, cv=2, refit=False).fit(X, y)
    assert Counting.asked == 2 * 10


@pytest.mark.slow
def test_it_reproduces_and_workers_change_nothing(blobs):
    X, y = blobs
    base = make_pipeline(StandardScaler(), SGDClassifier(max_iter=10, tol=None))
    options = {"reductions": ["one_vs_rest", "dense_random", "linkage_tree"], "cv": 3}
    searches = [
        ReductionSearchCV(base, random_state=7, n_jobs=n_jobs, **options).fit(X, y)
        for n_jobs in (None, None, 2)
    ]
    for key in ("mean_test_score", "split2_test_score", "n_problems", "p_value"):
        for other in searches[1:]:
            assert np.array_equal(searches[0].cv_results_[key], other.cv_results_[key]), key
    for other in searches[1:]:
        assert other.explanation_ == searches[0].explanation_
        assert np.array_equal(other.predict_proba(X), searches[0].predict_proba(X))
    another = ReductionSearchCV(base, random_state=8, **options).fit(X, y)
    assert not np.array_equal(
        another.cv_results_["split0_test_score"], searches[0].cv_results_["split0_test_score"]
    )


@pytest.mark.slow
def test_workers_change_nothing_with_shared_kernels(blobs):
    X, y = blobs
    one, two = (
        ReductionSearchCV(SharedKernelSVC(), cv=3, random_state=0, n_jobs=n).fit(X, y)
        for n in (None, 2)
    )
    assert np.array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("base", [SVC(), SharedKernelSVC(), LogisticRegression()])
def test_what_ran_before_changes_no_bit(blobs, base):
    X, y = blobs
    rows = ["one_vs_rest", "one_vs_one", "bch:hamming", "linkage_tree"]
    options = {"cv": 2, "random_state": 3, "scoring": "neg_log_loss"}
    together = ReductionSearchCV(base, rows, **options).fit(X, y)
    backwards = ReductionSearchCV(base, rows[::-1], **options).fit(X, y)
    for i, row in enumerate(rows):
        alone = ReductionSearchCV(base, [row], **options).fit(X, y)
        for j in range(2):
            key = f"split{j}_test_score"
            assert together.cv_results_[key][i] == alone.cv_results_[key][0], row
            assert together.cv_results_[key][i] == backwards.cv_results_[key][-1 - i], row


def test_a_cheap_reduction_that_ties_is_chosen():
    corners = [[0, 0], [0, 4], [4, 0], [4, 4], [2, 8], [8, 2]]
    X, y = make_blobs(180, centers=corners, cluster_std=0.1, random_state=1)  # anything can do this
    rows = ["one_vs_one", "exhaustive", "one_vs_rest:votes", "balanced_tree"]
    search = ReductionSearchCV(SVC(C=100, gamma=1), rows, random_state=0, cv=3).fit(X, y)
    assert search.cv_results_["mean_test_score"].tolist() == [1, 1, 1, 1]
    assert search.best_reduction_ == "balanced_tree"
    assert isinstance(search.best_estimator_[-1], TreeClassifier)
    assert search.explanation_ == (
        "balanced_tree: as accurate as one_vs_rest:votes (0.00 %), with 5 problems instead of 6."
    )
    problems, questions = of(search, "n_problems"), of(search, "n_questions")
    assert (problems["one_vs_one"], questions["one_vs_one"]) == (15, 15)
    assert (problems["one_vs_rest:votes"], questions["one_vs_rest:votes"]) == (6, 6)
    assert (problems["exhaustive"], problems["balanced_tree"]) == (31, 5)
    assert 2 < questions["balanced_tree"] < 3
    again = clone(search).set_params(reductions=rows[:3]).fit(X, y)
    assert again.best_reduction_ == "one_vs_rest:votes"
    assert again.best_estimator_[-1].decoder == "votes"
    assert again.recommendation_.reason == "best"


def test_what_is_worse_is_not_chosen_however_cheap(rng):
    # Two classes in opposite corners each, and a line between them: only nonsense can be learnt.
    X = rng.uniform(-1, 1, size=(600, 2))
    y = (X[:, 0] > 0) + 2 * (X[:, 1] > 0)
    rows = ["adjacent", "one_vs_one"]  # three problems, the middle one not linear; six that are
    search = ReductionSearchCV(LogisticRegression(), rows, random_state=0).fit(X, y)
    p = of(search, "p_value")
    assert p["adjacent"] < 0.05
    assert search.best_reduction_ == "one_vs_one"
    assert of(search, "n_problems")["adjacent"] < of(search, "n_problems")["one_vs_one"]
    anyhow = clone(search).set_params(level=0, prefer="cost").fit(X, y)
    assert anyhow.best_reduction_ == "adjacent"


def test_reductions_that_do_not_exist_are_skipped(iris):
    rows = ["orthogonal", "one_vs_rest:ddag", "bch:auto:coupling", "one_vs_one"]
    search = ReductionSearchCV(reductions=rows, cv=2).fit(*iris)
    assert list(search.skipped_) == rows[:3]
    assert "at least 4 classes" in search.skipped_["orthogonal"]
    assert "one-vs-one" in search.skipped_["one_vs_rest:ddag"]
    assert "one-vs-one" in search.skipped_["bch:auto:coupling"]
    assert "Not tried: orthogonal, " in search.explanation_
    assert search.best_reduction_ == "one_vs_one"
    with pytest.raises(ValueError, match="at least one reduction that exists for these 3 classes"):
        ReductionSearchCV(reductions=["orthogonal"]).fit(*iris)


@pytest.mark.slow
def test_everything(blobs):
    X, y = blobs
    search = ReductionSearchCV(reductions="all", cv=2, random_state=0).fit(X, y)
    assert set(search.skipped_) == set(SINGLE)  # with a linear learner
    assert "ranks the classes alike" in search.skipped_["sbc_bch"]
    assert "must be a SharedKernelSVC" in search.skipped_["sbc_kernel"]
    tried = {params["reduction"] for params in search.cv_results_["params"]}
    assert {"one_vs_rest", "exhaustive", "sparse_random", "chain", "ddag"} <= tried
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    labels = [_text(params) for params in search.cv_results_["params"]]
    assert len(set(labels)) == len(labels)
    by_loss = clone(search).set_params(scoring="neg_log_loss").fit(X, y)
    assert set(by_loss.cv_results_["param_decoder"]) == {"auto"}
    assert {"auto", "inverse", "kullback_leibler"} <= set(by_loss.cv_results_["param_probability"])
    assert by_loss.score(X, y) < 0


def test_single_binary_classifiers_by_name(blobs):
    X, y = blobs
    folds = StratifiedKFold(2, shuffle=True, random_state=4)
    base = SharedKernelSVC(C=10, gamma=0.1)
    options = {"cv": folds, "random_state": 0, "error_score": "raise", "preparation": None}
    search = ReductionSearchCV(base, SINGLE, **options).fit(X, y)
    assert search.cv_results_["label"].tolist() == SINGLE
    for i, name in enumerate(SINGLE):
        expected = cross_val_score(Reduction(name).make(base), X, y, cv=folds)
        found = [search.cv_results_[f"split{j}_test_score"][i] for j in range(2)]
        assert found == pytest.approx(expected, abs=0.03), name  # solutions within a tolerance
    n_problems, n_questions = of(search, "n_problems"), of(search, "n_questions")
    for name in ("sbc_identity", "sbc_single", "sbc_bch", "sbc_kernel_frequencies"):
        assert n_problems[name] == n_questions[name] == 5  # replicas of a sample
    assert n_problems["sbc_ecoc"] == make_code("bch", 5).n_problems
    solves = KernelSBCClassifier(10, 0.1, weights="learned", probability=None).fit(X, y).n_solves_
    assert n_problems["sbc_kernel"] == pytest.approx(5 * solves, rel=0.3)
    assert n_questions["sbc_kernel"] == 5
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(again.predict_proba(X), search.predict_proba(X))
    assert clone(search).get_params()["reductions"] == SINGLE
    assert search.explanation_.startswith(f"{search.best_reduction_}: ")


def test_each_decoder_of_a_single_call_is_scored(blobs):
    X, y = blobs
    rows = ["sbc_ecoc:hamming:None", "sbc_ecoc:l1:None"]
    folds = StratifiedKFold(2, shuffle=True, random_state=4)
    base = SharedKernelSVC(gamma=0.1)
    options = {"cv": folds, "random_state": 0, "refit": False, "preparation": None}
    search = ReductionSearchCV(base, rows, scoring=_decoder_number, **options).fit(X, y)
    assert search.cv_results_["mean_test_score"].tolist() == [0, 1]


def _decoder_number(trained, X, y):
    return ["hamming", "l1"].index(trained.decoder_)


def test_a_single_binary_classifier_counts_the_problems_of_its_code(blobs):
    own = [
        SingleBinaryClassifier(SharedKernelSVC(), probability=None, n_negatives=2),
        SingleBinaryClassifier(LogisticRegression(), "kesler", probability=None),
    ]
    search = ReductionSearchCV(reductions=own, cv=2).fit(*blobs)
    assert search.cv_results_["n_problems"].tolist() == [5, 10]


def test_all_methods_are_read_from_one_training_of_a_learned_kernel(blobs, monkeypatch):
    X, y = blobs
    fits = []
    fit = KernelSBCClassifier.fit
    monkeypatch.setattr(
        KernelSBCClassifier, "fit", lambda self, *args: fits.append(1) or fit(self, *args)
    )
    folds = StratifiedKFold(2, shuffle=True, random_state=4)
    rows = ["sbc_kernel_frequencies:*:*", "sbc_kernel_frequencies:auto:None"]
    options = {"cv": folds, "refit": False, "preparation": None}
    search = ReductionSearchCV(SharedKernelSVC(gamma=0.1), rows, **options).fit(X, y)
    assert len(fits) == 2 * 2  # those without probabilities apart
    methods = search.cv_results_["param_probability"].tolist()
    assert {"auto", "normalise", "least_squares", None} <= set(methods)
    assert "coupling" not in methods
    search.set_params(reductions=rows[:1], scoring="neg_log_loss").fit(X, y)
    for method, found in zip(methods, search.cv_results_["split0_test_score"], strict=False):
        alone = Reduction("sbc_kernel_frequencies", probability=method)
        expected = cross_val_score(
            alone.make(SharedKernelSVC(gamma=0.1)), X, y, cv=folds, scoring="neg_log_loss"
        )[0]
        assert found == pytest.approx(expected, rel=1e-3), method


def test_tuning_single_binary_classifiers(blobs):
    X, y = blobs[0][:90], blobs[1][:90]
    fold = next(StratifiedKFold(2, shuffle=True, random_state=0).split(X, y))
    rows = ["sbc_bch", "sbc_kernel_frequencies"]
    options = {"cv": [fold], "random_state": 0, "error_score": "raise"}
    search = ReductionSearchCV(SharedKernelSVC(), rows, tune="greedy", refit=False, **options)
    tuned = search.fit(X, y).cv_results_["split0_tuned"]
    assert set(tuned[0]) == {"estimator__gamma", "estimator__C"}
    assert set(tuned[1]) == {"gamma", "C"}
    grid = ReductionSearchCV(SharedKernelSVC(), rows[1:], tune={"C": [0.01, 10.0]}, **options)
    assert grid.fit(X, y).best_params_["C"] == grid.best_estimator_[-1].C
    assert grid.best_estimator_[-1].probability == "auto"


def test_reductions_that_the_estimator_does_not_suit_are_skipped(blobs):
    rows = ["sbc_kernel:auto:None", "sbc_bch", "one_vs_one"]
    search = ReductionSearchCV(SVC(), rows, cv=2, random_state=0)
    assert hasattr(search, "predict_proba")
    search.fit(*blobs)
    assert list(search.skipped_) == ["sbc_kernel"]
    assert "Not tried: sbc_kernel." in search.explanation_
    with pytest.raises(ValueError, match=r"suits the estimator\. The 'estimator' parameter must"):
        clone(search).set_params(estimator=LogisticRegression(), reductions=rows[:2]).fit(*blobs)


def test_workers_change_nothing_with_a_learned_kernel(blobs):
    one, two = (
        ReductionSearchCV(
            SharedKernelSVC(C=100, gamma=1.0), ["sbc_kernel"], cv=2, random_state=0, n_jobs=n
        ).fit(*blobs)
        for n in (None, 2)
    )
    assert np.array_equal(one.predict_proba(blobs[0]), two.predict_proba(blobs[0]))


def test_two_classes(iris):
    X, y = iris[0][50:], iris[1][50:]
    search = ReductionSearchCV(SVC(), cv=3, random_state=0).fit(X, y)
    assert len(set(search.cv_results_["mean_test_score"][:-1])) == 1
    assert search.cv_results_["label"][-1] == "majority"
    assert search.decision_function(X).ndim == 1
    single = ReductionSearchCV(SharedKernelSVC(), SINGLE, cv=3, random_state=0).fit(X, y)
    assert single.decision_function(X).ndim == 1
    assert single.cv_results_["n_problems"].tolist() == [1] * len(SINGLE)


def test_classifiers_can_be_compared_too(blobs):
    X, y = blobs
    own = [
        CodeClassifier(SVC(C=10), "one_vs_rest", probability=None),
        RandomForestClassifier(5),
        "one_vs_one:hamming",
        Reduction("bch"),
    ]
    search = ReductionSearchCV(reductions=own, cv=2, random_state=0).fit(X, y)
    names = search.cv_results_["param_reduction"].tolist()
    assert names[:2] == ["one_vs_one", "bch"]
    assert names[3] == "RandomForestClassifier(n_estimators=5)"
    assert "one_vs_rest" in names[2]
    assert np.isnan(search.cv_results_["n_problems"][3])
    forest = clone(search).set_params(reductions=own[1:2]).fit(X, y)
    assert forest.best_reduction_ == names[3]
    assert forest.best_estimator_[-1].random_state is not None  # seeded by the search
    assert own[1].random_state is None


@pytest.mark.slow
@pytest.mark.parametrize("tune", ["greedy", {"C": [0.01, 10.0]}])
def test_tuning_inside_each_fold(blobs, tune):
    X, y = blobs[0][:90], blobs[1][:90]
    rows = ["one_vs_rest:hamming", "one_vs_rest:votes", "balanced_tree"]
    search = ReductionSearchCV(SharedKernelSVC(), rows, tune=tune, cv=2, random_state=0).fit(X, y)
    tuned = search.cv_results_["split1_tuned"]
    assert tuned[0] == tuned[1]  # one training, two decoders
    names = {"estimator__C"} | ({"estimator__gamma"} if tune == "greedy" else set())
    assert set(tuned[2]) == names
    assert names < set(search.best_params_)
    assert search.best_params_["estimator__C"] == search.best_estimator_[-1].estimator.C
    assert search.best_estimator_[-1].probability == "auto"
    # What is tuned is found without the test part: another y there changes nothing.
    train, test = next(iter(StratifiedKFold(2, shuffle=True, random_state=0).split(X, y)))
    spoilt = y.copy()
    spoilt[test] = np.roll(y[test], 1)
    first, second = (
        clone(search).set_params(cv=[(train, test)]).fit(X, labels) for labels in (y, spoilt)
    )
    assert list(first.cv_results_["split0_tuned"]) == list(second.cv_results_["split0_tuned"])
    assert not np.array_equal(
        first.cv_results_["split0_test_score"], second.cv_results_["split0_test_score"]
    )


def test_tuning_goes_by_the_score(blobs):
    search = ReductionSearchCV(
        LogisticRegression(), ["one_vs_rest"], tune={"C": [1e-4, 1]}, scoring="neg_log_loss", cv=2
    ).fit(*blobs)
    assert search.best_params_["estimator__C"] == 1


def test_nested_in_a_cross_validation(blobs):
    X, y = blobs
    search = ReductionSearchCV(SVC(), ["one_vs_rest", "bch"], cv=3, random_state=0)
    found = cross_validate(search, X, y, cv=3, return_estimator=True)
    assert found["test_score"].mean() > 0.5
    assert all(hasattr(each, "explanation_") for each in found["estimator"])


@pytest.mark.slow
def test_pipelines_frames_and_sparse_matrices(blobs):
    X, y = blobs
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(c=np.where(X[:, 0] > 0, "x", "y"))
    indicators = OneHotEncoder(handle_unknown="ignore")  # a pair may lack a value
    base = make_pipeline(
        make_column_transformer((StandardScaler(), ["a", "b"]), (indicators, ["c"])), SVC()
    )
    search = ReductionSearchCV(base, ["one_vs_rest", "one_vs_one"], cv=2).fit(frame, y)
    assert search.feature_names_in_.tolist() == ["a", "b", "c"]
    assert search.score(frame, y) > 0.5
    assert search.n_features_in_ == 3
    sparse = ReductionSearchCV(SVC(), ["one_vs_rest", "one_vs_one"], cv=2).fit(csr_array(X), y)
    assert sparse.predict(csr_array(X)).shape == y.shape
    assert isinstance(sparse.best_estimator_[0], Preparation)


def test_precomputed_kernels(blobs):
    X, y = blobs
    rows = ["one_vs_rest", "one_vs_one"]
    kernel = X @ X.T
    options = {"reductions": rows, "cv": 2, "random_state": 0}
    given = ReductionSearchCV(SVC(kernel="precomputed"), **options).fit(kernel, y)
    linear = ReductionSearchCV(SVC(kernel="linear"), preparation=None, **options).fit(X, y)
    assert not hasattr(given.best_estimator_, "steps")
    assert given.cv_results_["mean_test_score"] == pytest.approx(
        linear.cv_results_["mean_test_score"]
    )


def test_weights_reach_training_and_score(blobs):
    X, y = blobs
    options = {"reductions": ["one_vs_rest:auto:None"], "random_state": 0}
    fold = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    weight = np.where(y == 0, 5.0, 1.0)
    search = ReductionSearchCV(SVC(), cv=fold, preparation=None, **options)
    search.fit(X, y, sample_weight=weight)
    train, test = fold[0]
    alone = CodeClassifier(SVC(), "one_vs_rest", probability=None)
    alone.fit(X[train], y[train], sample_weight=weight[train])
    expected = accuracy_score(y[test], alone.predict(X[test]), sample_weight=weight[test])
    assert search.best_score_ == pytest.approx(expected)
    assert expected != accuracy_score(y[test], alone.predict(X[test]))


def test_groups_reach_the_folds(blobs):
    X, y = blobs
    search = ReductionSearchCV(reductions=["one_vs_rest"], cv=GroupKFold(3))
    search.fit(X, y, groups=np.arange(150) % 3)
    assert search.n_splits_ == 3
    with pytest.raises(ValueError, match="groups"):
        clone(search).fit(X, y)


def test_metadata_routing(blobs):
    X, y = blobs
    with config_context(enable_metadata_routing=True):
        base = SVC().set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        search = ReductionSearchCV(base, ["one_vs_rest"], cv=GroupKFold(2), scoring=scorer)
        search.fit(X, y, sample_weight=np.ones(150), groups=np.arange(150) % 2)
        assert search.score(X, y, sample_weight=np.ones(150)) == search.score(X, y)


def test_other_folds_and_one_fold(blobs):
    X, y = blobs
    search = ReductionSearchCV(cv=ShuffleSplit(1, random_state=0), random_state=0).fit(X, y)
    assert search.n_splits_ == 1
    assert search.best_score_ >= search.cv_results_["mean_test_score"].max() - 0.005


class Fussy(LogisticRegression):
    """Refuses problems with many samples."""

    def fit(self, X, y, sample_weight=None):
        if len(X) > 80:
            raise RuntimeError("too many")
        return super().fit(X, y, sample_weight)


def test_failures_are_told_and_not_chosen(blobs):
    X, y = blobs
    search = ReductionSearchCV(Fussy(), ["one_vs_rest", "one_vs_one"], cv=3)
    with pytest.warns(FitFailedWarning, match="'one_vs_rest' failed on a fold.*too many"):
        search.fit(X, y)
    assert search.best_reduction_ == "one_vs_one"
    assert search.recommendation_.reason == "alone"
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]
    with pytest.raises(RuntimeError, match="too many"):
        clone(search).set_params(error_score="raise").fit(X, y)
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="Every reduction failed"):
        clone(search).set_params(reductions=["one_vs_rest"]).fit(X, y)
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="Every reduction failed"):
        clone(search).set_params(reductions=["one_vs_rest", "majority"]).fit(X, y)
    zero = clone(search).set_params(error_score=0)
    with pytest.warns(FitFailedWarning):
        zero.fit(X, y)
    assert zero.cv_results_["mean_test_score"][0] == 0


def test_without_refit(blobs):
    search = ReductionSearchCV(reductions=["one_vs_rest"], cv=2, refit=False).fit(*blobs)
    assert search.best_params_ == {
        "reduction": "one_vs_rest",
        "decoder": "auto",
        "probability": "auto",
    }
    with pytest.raises(AttributeError, match="refit=False"):
        search.predict(blobs[0])


def test_before_fit():
    with pytest.raises(NotFittedError):
        ReductionSearchCV().predict([[0.0]])


def test_no_probabilities_where_none_are_wanted(blobs):
    search = ReductionSearchCV(SVC(), ["one_vs_rest::None"], cv=2).fit(*blobs)
    assert not hasattr(search, "predict_proba")
    assert search.best_reduction_ == "one_vs_rest:auto:None"
    assert hasattr(ReductionSearchCV(SVC()), "predict_proba")


def test_it_tells_each_fold(blobs, capsys):
    ReductionSearchCV(reductions=["one_vs_rest"], cv=2, verbose=1).fit(*blobs)
    assert "fold 2 of 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reductions": "usual"}, "'reductions' parameter must be one of 'all', 'standard'"),
        ({"reductions": []}, "that is not empty"),
        ({"reductions": 3}, "list of names"),
        ({"reductions": ["one_vs_rst"]}, "Did you mean 'one_vs_rest'"),
        ({"reductions": ["bch:hamning"]}, "Did you mean 'hamming'"),
        ({"reductions": ["bch:auto:invers"]}, "Did you mean 'inverse'"),
        ({"reductions": ["bch:probability:None"]}, "needs probabilities"),
        ({"reductions": [SVC]}, "names of reductions"),
        ({"reductions": [3]}, "names of reductions"),
        ({"estimator": "svm"}, "must be a classifier instance"),
        ({"level": 2}, "'level' parameter must be from 0 to 1"),
        ({"tune": "grid"}, "'tune' parameter must be None, 'greedy' or a dictionary"),
        ({"tune": {"D": [1]}, "error_score": "raise"}, "'D' is none of them"),
        ({"scoring": ["accuracy", "f1_macro"]}, "compared by one score"),
    ],
)
def test_bad_parameters_are_explained(iris, options, message):
    with pytest.raises(ValueError, match=message):
        ReductionSearchCV(**{"cv": 2, **options}).fit(*iris)


class Plain(ClassifierMixin, BaseEstimator):
    """A classifier with nothing but what a classifier must have."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_classifier_that_is_no_reduction_at_all(iris):
    search = ReductionSearchCV(reductions=[Plain()], cv=2).fit(*iris)
    assert search.best_score_ == pytest.approx(1 / 3)
    assert not hasattr(search, "decision_function")


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:lbfgs failed to converge",
    "ignore:A column-vector y",
    "ignore:invalid value encountered in cast",
    "ignore:The least populated class",
)
@parametrize_with_checks(
    [
        ReductionSearchCV(
            reductions=["one_vs_rest:auto:None", "adjacent:votes:None"],
            cv=2,
            random_state=0,
            error_score="raise",
        ),
        ReductionSearchCV(
            reductions=["one_vs_one:probability", "bch:probability"],
            cv=2,
            random_state=0,
            error_score="raise",
        ),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("preparation", ["standard", None])
def test_features_that_are_no_numbers_raise_what_scikit_learn_expects(preparation):
    check_dtype_object(
        "ReductionSearchCV",
        ReductionSearchCV(GaussianNB(), ["one_vs_rest"], cv=2, preparation=preparation),
    )
