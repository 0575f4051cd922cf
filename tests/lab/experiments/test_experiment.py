import pytest

from polychotomy.evaluate import Schedule
from polychotomy.lab import experiments
from polychotomy.lab.experiments import FinishedCells
from polychotomy.lab.experiments._experiment import Experiment
from tests.lab.experiments.tiny import cells_with, make_methods, make_tiny


def places(plan):
    return {(task.data_set, task.reduction, task.fold) for task in plan.tasks}


def test_a_plan_has_all_data_sets_methods_and_folds():
    expected = {(d, m, f) for d in ("iris", "wine") for m in ("OVA", "ALL-PAIRS") for f in range(3)}
    assert places(make_tiny().plan()) == expected


def test_a_plan_can_be_limited():
    plan = make_tiny().plan(["wine"], methods=["OVA"], n_folds=2)
    assert places(plan) == {("wine", "OVA", 0), ("wine", "OVA", 1)}


def test_a_limited_plan_has_the_same_cells():
    tiny = make_tiny()
    keys = {task.key for task in tiny.plan().tasks}
    assert {task.key for task in tiny.plan(["wine"], methods=["OVA"], n_folds=1).tasks} <= keys
    assert not {task.key for task in tiny.plan(seed=1).tasks} & keys


def test_unknown_names():
    tiny = make_tiny()
    with pytest.raises(ValueError, match=r"'data' parameter .*'wein'.* Did you mean 'wine'\?"):
        tiny.plan(["wein"])
    with pytest.raises(ValueError, match=r"'methods' parameter .*'OVO'.* Did you mean 'OVA'\?"):
        tiny.plan(methods=["OVO"])
    with pytest.raises(ValueError, match=r"'experiment' .*'sbc-22'.* Did you mean 'sbc-2'\?"):
        experiments.get("sbc-22")


def test_names_are_checked_before_anything_is_loaded():
    def load(name):
        pytest.fail(f"{name} was loaded")

    with pytest.raises(ValueError, match=r"Did you mean 'OVA'\?"):
        make_tiny(load=load).plan(methods=["OVO"])


def test_a_method_that_only_one_data_set_has():
    def some(samples, seed):
        return make_methods(samples, seed)[: 1 + (samples.name == "wine")]

    plan = make_tiny(make_methods=some).plan(methods=["ALL-PAIRS"])
    assert {place[:2] for place in places(plan)} == {("wine", "ALL-PAIRS")}


def test_figures_of_what_was_run():
    tiny = make_tiny(further=("error_percent",))
    cells, failures = tiny.plan(["iris"], n_folds=2).run()
    assert not failures
    more = cells_with("iris", "of our own", [3, 4, 5])
    figures = {f.method: f for f in tiny.figures([*cells, *more])}
    assert list(figures) == ["OVA", "ALL-PAIRS", "of our own"]
    ova = figures["OVA"]
    errors = [cell.metrics["error"] for cell in cells if cell.reduction == "OVA"]
    assert ova.ours == pytest.approx(100 * sum(errors) / 2)  # folds of 50 samples each
    assert (ova.theirs, ova.n_folds, ova.of_folds) == (21.33, 2, 3)
    assert ova.agrees is (ova.low <= 21.33 <= ova.high)
    assert not ova.complete
    assert figures["of our own"].theirs != figures["of our own"].theirs
    assert figures["of our own"].ours == 4


def test_results_are_by_fold():
    results = FinishedCells([*cells_with("iris", "OVA", [1, 2, 3])[::-1]])
    assert [cell.fold for cell in results.of("iris", "OVA")] == [0, 1, 2]
    assert results.complete("iris", "OVA")
    assert not results.complete("iris", "ECOC")
    assert not results.complete("wine", "OVA")
    assert not FinishedCells(cells_with("iris", "OVA", [1], n_folds=3)).complete("iris", "OVA")
    assert results.pairs == [("iris", "OVA")]


@pytest.mark.parametrize("name", experiments.names())
def test_every_experiment_is_sound(name):
    experiment = experiments.get(name)
    assert isinstance(experiment, Experiment)
    assert experiment.name == name
    assert set(experiment.quick) <= set(experiment.data_sets)
    assert experiment.quick
    assert experiment.hours > 0
    assert all(choice.endswith(".") for choice in experiment.choices)


def test_joined_plans_keep_data_sets_of_the_same_name_apart():
    """Two papers may prepare a data set in two ways: both are trained on their own samples."""

    def fewer(name):
        samples = make_tiny().load_samples(name)
        return type(samples).make(name, samples.data.iloc[::2], samples.y[::2])

    one, two = make_tiny(), make_tiny(load=fewer)
    plans = [each.plan(["iris"]) for each in (one, two)]
    joined, failures = Schedule.join(plans).run()
    apart = [cell for plan in plans for cell in plan.run()[0]]
    assert not failures
    assert [len(cell.rows) for cell in joined] == [50] * 6 + [25] * 6
    assert [cell.metrics for cell in joined] == [cell.metrics for cell in apart]
