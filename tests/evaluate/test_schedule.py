import os
import signal
import subprocess
import sys
import time
import warnings
from random import Random

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from polychotomy import (
    CodeClassifier,
    GreedySearchCV,
    KernelSBCClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
    TreeClassifier,
    datasets,
)
from polychotomy.assess import brier_score, log_loss, uncertainty_coefficient
from polychotomy.datasets import make_preprocessor
from polychotomy.errors import DataError
from polychotomy.evaluate import (
    Contestant,
    Samples,
    Schedule,
    Store,
    _bench,
    _contestant,
    _preparation,
    _schedule,
)
from polychotomy.reductions import Scale, available_bases
from tests.evaluate.cells import same


@pytest.fixture(scope="module")
def wine():
    return Samples.of(datasets.load("wine"))


def run(*arguments, **options):
    cells, failures = Schedule(*arguments, **options).run()
    assert not failures, failures
    return cells


def test_cells_are_those_of_a_pipeline_in_scikit_learn(wine):
    cells = run(wine, ["one_vs_rest"], ["ridge"], protocol="cv4", seed=3)
    pipeline = make_pipeline(
        make_preprocessor(wine.data), CodeClassifier(RidgeClassifier(), "one_vs_rest")
    )
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    predicted, p = (
        cross_val_predict(pipeline, wine.data, wine.y, cv=folds, method=method)
        for method in ("predict", "predict_proba")
    )
    assert [cell.fold for cell in cells] == [0, 1, 2, 3]
    for cell in cells:
        rows, truth = cell.rows, wine.y[cell.rows]
        assert np.array_equal(cell.truth, truth)
        assert np.array_equal(cell.predicted, predicted[rows])
        np.testing.assert_allclose(cell.probabilities, p[rows], atol=1e-6)
        assert cell.metrics == pytest.approx(
            {
                "error": np.mean(predicted[rows] != truth),
                "log_loss": log_loss(truth, p[rows]),
                "brier": brier_score(truth, p[rows]),
                "uncertainty_coefficient": uncertainty_coefficient(truth, predicted[rows]),
            }
        )
        assert cell.n_problems == 3
        assert cell.fit_seconds > 0 < cell.predict_seconds
        assert cell.chosen["decoder"] == "squared"
        assert cell.settings["n_train"] + len(rows) == 178


def test_a_plan_goes_through_all_reductions_of_a_fold_first(wine):
    plan = Schedule(wine, ["one_vs_one", "bch", "one_vs_one"], ["ridge", "lda"], protocol="cv2")
    order = [(task.fold, task.base, task.reduction) for task in plan.tasks]
    assert order == [
        (fold, base, reduction)
        for fold in (0, 1)
        for base in ("ridge", "lda")
        for reduction in ("one_vs_one", "bch")
    ]


def keys(*arguments, **options):
    return [task.key for task in Schedule(*arguments, **options).tasks]


def test_keys_change_with_all_that_matters_and_with_nothing_else(wine):
    usual = {"methods": ["bch"], "bases": ["ridge"], "protocol": "cv3"}
    known = keys(wine, **usual)
    other = wine.data.copy()
    other.iloc[5, 5] += 1e-9
    changes = [
        keys(wine, **usual, seed=1),
        keys(wine, **usual, tuning="greedy"),
        keys(wine, **usual, tuning="greedy3"),
        keys(wine, **usual, preparation="all_standard"),
        keys(wine, **{**usual, "protocol": "cv4"}),
        keys(wine, **{**usual, "protocol": "repeat3"}),
        keys(wine, **{**usual, "bases": ["lda"]}),
        keys(wine, **{**usual, "methods": ["bch:hamming"]}),
        keys(Samples.make("wine", other, wine.y), **usual),
    ]
    assert len(set(known)) == 3
    assert not any(set(known) & set(each) for each in changes)
    renamed = Samples.make("bottles", wine.data.set_axis(range(13), axis=1), wine.y)
    named = Samples(renamed.name, renamed.data, renamed.y, wine.classes)
    assert keys(named, **usual) == known


def test_the_fixed_split_is_part_of_the_key_where_it_is_used(wine):
    def split(test, protocol):
        train = np.setdiff1d(np.arange(178), test)
        samples = Samples("wine", wine.data, wine.y, wine.classes, train, np.array(test))
        return keys(samples, ["bch"], ["ridge"], protocol=protocol)

    assert split([1, 60], "split") != split([1, 61], "split")
    assert split([1, 60], "cv2") == split([1, 61], "cv2")


def test_a_learner_with_other_parameters_is_another_cell(wine, monkeypatch):
    usual = {"methods": ["bch"], "bases": ["ridge"], "protocol": "cv3"}
    known = keys(wine, **usual)
    monkeypatch.setattr(_contestant, "make_base", lambda name: RidgeClassifier(alpha=7.0))
    assert not set(known) & set(keys(wine, **usual))


def test_the_same_seed_gives_the_same_cells_whatever_the_workers(wine):
    plan = Schedule(wine, ["dense_random", "linkage_tree"], ["tree"], protocol="cv3", seed=5)
    first, again = plan.run()[0], plan.run()[0]
    workers = plan.run(n_jobs=2)[0]
    assert len(first) == 6
    for one, two, three in zip(first, again, workers, strict=True):
        assert same(one, two)
        assert same(one, three)
    other = Schedule(wine, ["dense_random"], ["tree"], protocol="cv3", seed=6).run()[0]
    assert not same(first[0], other[0])


def test_what_is_in_the_store_is_not_computed_again(wine, tmp_path):
    path, told = tmp_path / "results.sqlite", []
    with Store(path) as store:
        before, _ = Schedule(wine, ["bch"], ["ridge"], protocol="cv3").run(store)
    with Store(path) as store:
        plan = Schedule(wine, ["bch", "one_vs_one"], ["ridge"], protocol="cv3")
        cells, _ = plan.run(store, progress=told.append)
        assert len(store) == 6
    assert [(t.done, t.total) for t in told] == [(3, 6), (4, 6), (5, 6), (6, 6)]
    assert told[0].seconds_left is None
    assert told[-1].seconds_left == 0
    assert [t.last.reduction for t in told[1:]] == ["one_vs_one"] * 3
    kept = {cell.key: cell for cell in cells}
    assert all(same(kept[cell.key], cell, but=()) for cell in before)


def test_compiling_at_the_start_does_not_lengthen_the_time_that_is_left(wine, monkeypatch):
    seconds = iter([0, 100, *range(101, 200)])  # the first cell takes 100, the others 1
    monkeypatch.setattr(_schedule, "monotonic", lambda: next(seconds))
    told = []
    Schedule(wine, ["bch", "one_vs_one"], ["ridge"], protocol="cv5").run(progress=told.append)
    assert [told[done].seconds_left for done in (0, 1, 2, 5, 10)] == [None, None, 8, 5, 0]


def test_the_first_cell_of_each_worker_does_not_lengthen_the_time_that_is_left(wine, monkeypatch):
    seconds = iter([0, 100, 101, *range(103, 300, 2)])
    monkeypatch.setattr(_schedule, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(_schedule, "count_workers", lambda n_jobs: 2)
    told = []
    Schedule(wine, ["bch", "one_vs_one"], ["ridge"], protocol="cv5").run(progress=told.append)
    assert [told[done].seconds_left for done in (1, 2, 3, 10)] == [None, None, 14, 0]


def test_stored_samples_are_known_under_another_name(wine, tmp_path):
    renamed = Samples("bottles", wine.data, wine.y, wine.classes)
    with Store(tmp_path / "results.sqlite") as store:
        Schedule(wine, ["bch"], ["ridge"], protocol="cv2").run(store)
        told = []
        both = Schedule([wine, renamed], ["bch"], ["ridge"], protocol="cv2")
        cells, _ = both.run(store, progress=told.append)
    assert [(t.done, t.total) for t in told] == [(2, 2)]
    assert [cell.data_set for cell in cells] == ["wine", "wine", "bottles", "bottles"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_cell_that_fails_stops_no_other(wine, n_jobs):
    plan = Schedule(wine, ["orthogonal", "bch"], ["ridge"], protocol="cv2")
    cells, failures = plan.run(n_jobs=n_jobs)
    assert [cell.reduction for cell in cells] == ["bch", "bch"]
    assert sorted((f.data_set, f.reduction, f.fold) for f in failures) == [
        ("wine", "orthogonal", 0),
        ("wine", "orthogonal", 1),
    ]
    assert "at least 4 classes" in failures[0].reason


def test_an_interrupted_run_keeps_what_is_finished(wine, tmp_path):
    def stop(progress):
        if progress.done == 3:
            raise KeyboardInterrupt

    plan = Schedule(wine, ["bch"], ["ridge"], protocol="cv5")
    for n_jobs in (1, 2):
        with Store(tmp_path / f"{n_jobs}.sqlite") as store:
            with pytest.raises(KeyboardInterrupt):
                plan.run(store, n_jobs=n_jobs, progress=stop)
            assert len(store) == 3
            assert len(plan.run(store)[0]) == 5


def test_preparation_goes_by_the_training_part(monkeypatch):
    seen = []

    def spy(frame, *text, **options):
        seen.append(frame.index.to_numpy())
        return make_preprocessor(frame, *text, **options)

    monkeypatch.setattr(_preparation, "make_preprocessor", spy)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "soil": rng.choice(list("abc"), 60)})
    frame.loc[0, "soil"] = "only here"
    plan = Schedule(
        Samples.make("land", frame, np.arange(60) % 3), ["bch"], ["ridge"], protocol="cv3"
    )
    cells, failures = plan.run()
    assert not failures
    for task, rows in zip(plan.tasks, seen, strict=True):
        assert np.array_equal(rows, task.train)
    assert np.concatenate([cell.rows for cell in cells]).size == 60


def test_tuning_sees_the_training_part_only(wine):
    (cell,) = run(wine, ["one_vs_one"], ["ridge"], protocol="split", tuning="greedy")
    (task,) = Schedule(wine, ["one_vs_one"], ["ridge"], protocol="split", tuning="greedy").tasks
    train = wine.data.iloc[task.train]
    search = GreedySearchCV(
        CodeClassifier(RidgeClassifier(), probability=None, random_state=0),
        {"estimator__alpha": Scale(simpler="larger")},
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    ).fit(make_preprocessor(train).fit_transform(train), wine.y[task.train])
    assert cell.chosen["estimator__alpha"] == search.best_params_["estimator__alpha"]
    assert cell.settings["tuning"] == "greedy"


def test_a_class_that_is_missing_in_training_gets_no_probability():
    X = np.concatenate([np.random.default_rng(0).normal(c, size=(9, 2)) for c in (0, 4)])
    lonely = Samples.make("land", np.vstack([X, [[9, 9]]]), [0] * 9 + [2] * 9 + [1])
    cells = run(lonely, ["one_vs_rest", "one_vs_one"], ["logistic"], protocol="cv3")
    tested = [cell for cell in cells if 1 in cell.truth]
    assert len(tested) == 2
    for cell in tested:
        assert cell.probabilities.shape[1] == 3
        assert (cell.probabilities[:, 1] == 0).all()
        assert (cell.probabilities[:, [0, 2]] > 0).any(axis=0).all()
        assert np.isfinite(list(cell.metrics.values())).all()


@pytest.mark.parametrize("base", available_bases())
def test_every_base_gives_classes_and_probabilities(wine, base):
    two = Samples("two", wine.data[wine.y < 2], wine.y[wine.y < 2], wine.classes[:2])
    (cell,) = run(two, ["one_vs_one"], [base], protocol="split")
    assert cell.metrics["error"] < 0.2
    assert cell.probabilities is not None


def test_warnings_are_kept_with_the_cell(wine, monkeypatch):
    monkeypatch.setattr(_contestant, "make_base", lambda name: LogisticRegression(max_iter=1))
    (cell,) = run(wine, ["one_vs_one"], ["logistic"], protocol="split")
    assert any("failed to converge" in said for said in cell.chosen["warnings"])


def test_what_cannot_be_planned_is_refused_at_once(wine):
    with pytest.raises(DataError, match="different names"):
        Schedule([wine, wine])
    with pytest.raises(ValueError, match="Did you mean 'ridge'"):
        Schedule(wine, bases=["rige"])
    with pytest.raises(ValueError, match="Did you mean 'bch'"):
        Schedule(wine, ["bhc"])
    for tuning in ("grid", "greedy1", "greedy-2", "none5"):
        with pytest.raises(ValueError, match="'tuning' parameter"):
            Schedule(wine, tuning=tuning)
    with pytest.raises(ValueError, match="'preparation' parameter"):
        Schedule(wine, preparation="raw")
    with pytest.raises(ValueError, match="'lda' has nothing for the greedy search"):
        Schedule(wine, bases=["lda"], tuning="greedy")
    with pytest.raises(ValueError, match="at least one reduction"):
        Schedule(wine, [])


class CountingRidge(RidgeClassifier):
    fits = 0

    def fit(self, X, y, sample_weight=None):
        CountingRidge.fits += 1
        return super().fit(X, y, sample_weight)


def of_code(decoder, probability, name="bch"):
    classifier = CodeClassifier(CountingRidge(), name, decoder, probability, cv=2)
    return Contestant(f"{name}:{decoder}:{probability}", "ridge", classifier)


def fits_of(data, methods, protocol="split"):
    before = CountingRidge.fits
    cells = run(data, methods, protocol=protocol)
    return cells, CountingRidge.fits - before


def test_methods_that_differ_in_rules_alone_are_trained_once():
    digits = Samples.of(datasets.load("digits"))
    few = Samples("few", digits.data[:600], digits.y[:600], digits.classes)
    rules = [("hamming", "auto"), ("squared", "least_squares"), ("probability", "kullback_leibler")]
    methods = [of_code(*each) for each in rules]
    fits_of(few, methods)  # warms up
    together, n_fits = fits_of(few, methods)
    apart = [fits_of(few, [method]) for method in methods]
    assert all(same(one, each[0]) for one, (each, _) in zip(together, apart, strict=True))
    assert n_fits == apart[0][1] > 0
    assert len({cell.predicted.tobytes() for cell in together}) == 3


def test_without_probabilities_a_method_is_trained_apart(wine):
    methods = [of_code("hamming", "auto"), of_code("hamming", None)]
    fits_of(wine, methods)
    (with_them, without), n_fits = fits_of(wine, methods)
    assert (with_them.probabilities is None, without.probabilities is None) == (False, True)
    assert n_fits == sum(fits_of(wine, [method])[1] for method in methods)


RULES = [
    *(("ddag", "auto"), ("auto", "auto"), ("auto", None), ("votes", "auto"), ("hamming", None)),
    *(("probability", "normalise"), ("l1", "least_squares"), ("probability", None)),
]


def outcomes(data, methods, **options):
    cells, failures = Schedule(data, methods, **options).run()
    return {cell.key: cell for cell in cells}, {each.key for each in failures}


def assert_the_same_apart(data, methods, **options):
    """Assert that a plan gives the cells and failures that each of its methods gives alone."""
    together, failed = outcomes(data, methods, **options)
    backwards, _ = outcomes(data, methods[::-1], **options)
    assert len({method.training for method in methods}) < len(methods)
    for method in methods:
        cells, failures = outcomes(data, [method], **options)
        assert failures == failed & {*cells, *failures}
        for key, cell in cells.items():
            assert same(cell, together[key]), method.reduction
            assert same(cell, backwards[key]), method.reduction
    return together, failed


@pytest.mark.parametrize("code", ["one_vs_one", "one_vs_rest", "dense_random"])
@pytest.mark.parametrize("base", [RidgeClassifier(), GaussianNB()], ids=["ridge", "bayes"])
def test_no_cell_depends_on_what_is_computed_with_it(wine, base, code):
    methods = [
        Contestant(f"{decoder}:{probability}", "base", classifier)
        for decoder, probability in RULES
        for classifier in [CodeClassifier(base, code, decoder, probability, cv=2, random_state=1)]
    ]
    cells, failures = assert_the_same_apart(wine, methods, protocol="split")
    unsuited = {"one_vs_one": ["normalise"], "one_vs_rest": ["ddag"]}.get(
        code, ["normalise", "ddag"]
    )
    assert len(failures) == len(unsuited) + 1  # and a decoder without the probabilities it needs
    assert len({cell.chosen["decoder"] for cell in cells.values()}) > 3


def test_no_tuned_cell_depends_on_what_is_computed_with_it(wine):
    svm = SharedKernelSVC()
    full = SingleBinaryClassifier(svm, "bch", probability=None, random_state=0)
    less = SingleBinaryClassifier(svm, "bch", n_negatives=1, probability=None, random_state=0)
    rest = CodeClassifier(svm, "one_vs_rest", "hinge", "normalise", cv=2)
    methods = [
        Contestant("full", "svm", full),
        Contestant("less", "svm", less, tuned_as=full),
        Contestant("kernel", "svm", KernelSBCClassifier(probability=None)),
        Contestant("rest", "svm", rest),
        Contestant("rest, solved", "svm", clone(rest).set_params(probability="least_squares")),
        Contestant("tree", "svm", TreeClassifier(svm, solve="least_squares", cv=2)),
    ]
    few = wine.limited(60)
    cells, failures = assert_the_same_apart(few, methods, protocol="split", tuning="greedy2")
    assert not failures
    others = (cell for cell in cells.values() if cell.reduction != "kernel")
    assert all("warnings" not in cell.chosen for cell in others)


def warn_of_votes(trained, X, y):
    if trained.decoder == "votes":
        warnings.warn("a tie", stacklevel=1)
    return {}


def test_each_cell_has_the_warnings_of_its_own_training_and_measures(wine):
    hasty = LogisticRegression(max_iter=1)
    methods = [
        Contestant(d, "logistic", CodeClassifier(hasty, "bch", d), measure=warn_of_votes)
        for d in ("votes", "hamming", "logistic")
    ]
    cells, _ = assert_the_same_apart(wine, methods, protocol="split")
    said = {cell.reduction: cell.chosen["warnings"] for cell in cells.values()}
    assert [len(said[name]) for name in ("votes", "hamming", "logistic")] == [2, 1, 1]
    assert "a tie" in said["votes"]
    assert all("failed to converge" in each for each in said["hamming"])


def test_other_scales_are_other_cells(wine):
    def tuned(scale):
        classifier = CodeClassifier(RidgeClassifier(), "bch", probability=None)
        return Contestant("bch", "ridge", classifier, {"estimator__alpha": scale})

    larger, smaller = tuned(Scale(simpler="larger")), tuned(Scale(simpler="smaller"))
    for tuning, differ in (("greedy", True), ("none", False)):
        options = {"protocol": "split", "tuning": tuning}
        assert (keys(wine, [larger], **options) != keys(wine, [smaller], **options)) is differ


def test_a_method_can_take_what_was_tuned_for_another(wine, monkeypatch):
    tune, searched = _bench.Bench._tune, []
    monkeypatch.setattr(
        _bench.Bench, "_tune", lambda self, task: searched.append(task) or tune(self, task)
    )
    alpha = {"estimator__alpha": Scale(simpler="larger")}
    first = CodeClassifier(RidgeClassifier(), "one_vs_rest", probability=None)
    second = CodeClassifier(RidgeClassifier(), "bch", probability=None)
    methods = [
        Contestant("first", "ridge", first, alpha, tuned_as=first),
        Contestant("second", "ridge", second, alpha, tuned_as=first),
        Contestant("alone", "ridge", second, alpha),
    ]
    cells = run(wine, methods, protocol="split", tuning="greedy3")
    tuned = {cell.reduction: cell.chosen["estimator__alpha"] for cell in cells}
    assert tuned["first"] == tuned["second"]
    assert [task.reduction for task in searched] == ["first", "alone"]
    assert searched[0].settings["tuning_folds"] == 3


def share_of_first_class(trained, X, y):
    return {"first": float(np.mean(trained.predict(X) == 0)), "n": float(len(y))}


def test_a_method_measures_more_if_it_wants(wine):
    classifier = CodeClassifier(RidgeClassifier(), "bch", probability=None)
    method = Contestant("mine", "ridge", classifier, measure=share_of_first_class)
    for jobs in (None, 2):
        cells, _ = Schedule(wine, [method], protocol="repeat2").run(n_jobs=jobs)
        for cell in cells:
            assert cell.metrics["first"] == np.mean(cell.predicted == 0)
            assert cell.metrics["n"] == len(cell.rows)


@pytest.mark.parametrize(
    "classifier",
    [CountingRidge(), TreeClassifier(CountingRidge()), KernelSBCClassifier(probability=None)],
)
def test_a_classifier_of_any_kind_is_trained_once_for_two_measures(wine, classifier):
    methods = [
        Contestant("plain", "any", classifier),
        Contestant("measured", "any", classifier, measure=share_of_first_class),
    ]
    fits_of(wine, methods)
    (plain, measured), n_fits = fits_of(wine, methods)
    assert n_fits == fits_of(wine, methods[:1])[1]
    assert np.array_equal(plain.predicted, measured.predicted)
    assert "first" in measured.metrics.keys() - plain.metrics.keys()


def test_costs_are_counted(wine):
    reductions = ["sbc_bch", "sbc_kernel_frequencies", "one_vs_rest", "linkage_tree", "majority"]
    cells = run(wine, reductions, ["svm"], protocol="split")
    assert {cell.reduction: cell.cost.problems for cell in cells} == {
        "sbc_bch": 3,
        "sbc_kernel_frequencies": 3,
        "one_vs_rest": 3,
        "linkage_tree": 2,
        "majority": 0,
    }
    questions = {cell.reduction: cell.cost.questions for cell in cells}
    assert 1 < questions["linkage_tree"] < 2
    (native,) = run(wine, ["native"], ["ridge"], protocol="split")
    assert (native.cost.problems, native.cost.questions) == (1, 1)
    (forest,) = run(wine, [Contestant("nb", "bayes", GaussianNB())], protocol="split")
    assert forest.cost is None


def test_indicators_are_standardised_where_that_is_asked_for(monkeypatch):
    seen = []
    fit = CountingRidge.fit
    monkeypatch.setattr(
        CountingRidge,
        "fit",
        lambda self, X, y, sample_weight=None: seen.append(X) or fit(self, X, y),
    )
    frame = pd.DataFrame({"size": np.arange(40.0), "colour": ["red", "blue", "red", "red"] * 10})
    data = Samples.make("stones", frame, np.arange(40) % 4 % 3 % 2)
    for preparation, deviation in (("standard", 3**0.5 / 4), ("all_standard", 1.0)):
        Schedule(data, [of_code("hamming", None)], protocol="cv2", preparation=preparation).run()
        assert seen[-1].std(axis=0) == pytest.approx([1.0, deviation, deviation])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers cannot be killed from within")
def test_a_worker_that_is_killed_is_told_in_a_sentence(wine, tmp_path, monkeypatch):
    schedule = Schedule(wine, ["one_vs_rest"], ["ridge"], protocol="cv4")
    monkeypatch.setattr(_schedule, "_compute_group", _killed)
    with (
        Store(tmp_path / "results.sqlite") as store,
        pytest.raises(ChildProcessError, match="A worker process was killed") as caught,
    ):
        schedule.run(store, n_jobs=2)
    assert caught.value.__notes__ == [
        "Cells that are in a store are not computed again, here or elsewhere."
    ]


def _killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)


RUNNER = """
import sys
from polychotomy import datasets
from polychotomy.evaluate import Samples, Schedule, Store, _schedule

compute = _schedule.compute
def logged(tasks, samples):
    outcomes = compute(tasks, samples)
    for task in tasks:
        print(task.key, flush=True)
        yield next(outcomes)
_schedule.compute = logged
iris = Samples.of(datasets.load("iris"))
reductions = ["one_vs_rest:auto:normalise", "one_vs_rest:hamming:normalise"]
plan = Schedule(iris, reductions, ["logistic"], protocol="repeat30")
with Store(sys.argv[1]) as store:
    plan.run(store)
"""


def _started(path, *, kill_after=None):
    """Run the plan, kill it so many seconds after its first cell, return the keys it began."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(path)], stdout=subprocess.PIPE, text=True
    )
    first = process.stdout.readline()
    if kill_after is not None:
        time.sleep(kill_after)
        process.kill()
    rest = process.communicate()[0]
    assert kill_after is not None or process.returncode == 0
    return [key for key in (first + rest).split("\n") if len(key) == 64]


@pytest.mark.slow
def test_killed_at_any_moment_a_run_loses_and_repeats_nothing(tmp_path):
    path, random = tmp_path / "results.sqlite", Random(0)
    known, begun, kills = set(), [], 0
    while kills < 4 and len(known) < 60:
        begun.append(_started(path, kill_after=random.uniform(0.02, 0.3)))
        kills += 1
        assert not known & set(begun[-1])  # nothing finished was begun again
        with Store(path) as store:
            assert known <= store.keys()  # nothing finished was lost
            known = store.keys()
            assert len(set(begun[-1]) - known) <= 1  # but the one under way
    begun.append(_started(path) if len(known) < 60 else [])
    assert not known & set(begun[-1])
    assert sum(map(len, begun)) <= 60 + kills
    with Store(path) as store:
        assert len(store) == 60
        cells = list(store.cells())
    assert sorted(cell.fold for cell in cells) == sorted(2 * list(range(30)))


@pytest.mark.slow
def test_two_runs_share_a_store(tmp_path):
    path = tmp_path / "results.sqlite"
    command = [sys.executable, "-c", RUNNER, str(path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    for process in running:
        process.communicate()
    assert [process.returncode for process in running] == [0, 0]
    with Store(path) as store:
        assert len(store) == 60
