from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from polychotomy import CodeClassifier
from polychotomy.datasets import make_waveform
from polychotomy.evaluate import Samples, Schedule
from polychotomy.lab import experiments, published
from polychotomy.lab.experiments._tax_duin import measure_densities, measure_rejects
from tests.evaluate.cells import make_cell

EXPERIMENT = experiments.get("tax-duin-2")
PRINTED = published.table("tax-duin-2").cells
WAVEFORM = Samples.make("waveform", *(make_waveform(300, 500)[part] for part in ("data", "target")))
METHODS = {method.reduction: method for method in EXPERIMENT.make_methods(WAVEFORM, 0)}


def test_all_published_cells_have_a_method_and_a_quantity():
    assert {cell.method for cell in PRINTED} == set(METHODS)
    assert {cell.quantity for cell in PRINTED} == set(EXPERIMENT.quantities)
    assert {cell.data_set for cell in PRINTED} == set(EXPERIMENT.data_sets)


@pytest.mark.parametrize("cell", {cell.method: cell for cell in PRINTED}.values(), ids=str)
def test_the_classifiers_are_what_the_table_says(cell):
    parameters = METHODS[cell.method].parameters
    assert parameters["classifier"] == cell.classifier
    assert parameters["code"] == cell.code
    assert parameters["decoder"] == cell.decoder
    if cell.probability:
        assert parameters["probability"] == cell.probability
        assert parameters["cv"] is None
        assert parameters["calibration"] == ("none" if cell.base == "lda" else "logistic")
    kinds = {"lda": "LinearDiscriminant", "fisher": "Ridge", "svm_linear": "SharedKernelSVC"}
    assert kinds[cell.base] in type(METHODS[cell.method].classifier.estimator).__name__


def test_votes_measure_rejection_and_probabilities_of_lda_densities():
    for name, method in METHODS.items():
        by_lda = measure_densities if name.startswith("LDA") else None
        assert method.measure is (measure_rejects if ", vote " in name else by_lda)


def test_votes_and_probabilities_share_a_training():
    assert len({method.training for method in METHODS.values()}) == 6


def test_folds_are_ten_and_the_digits_as_many_as_table_1_says():
    plan = Schedule(WAVEFORM, ["one_vs_one"], protocol=EXPERIMENT.protocol["waveform"])
    assert {(len(task.train), len(task.test)) for task in plan.tasks} == {(720, 80)}
    others = {text for name, text in EXPERIMENT.protocol.items() if name != "digits"}
    assert others == {"cv10"}
    assert EXPERIMENT.protocol["digits"] == "repeat10:1000/1000"


def test_the_variant_numbers_the_samples_of_each_class():
    data = experiments.get("tax-duin-2-index").load_samples("iris").data
    assert data["index"].tolist() == [*range(1, 51)] * 3
    assert data.shape == (150, 5)


@pytest.mark.parametrize("data_set", EXPERIMENT.data_sets)
def test_printed_total_errors_are_those_of_random_assignment(data_set):
    """Which is what measure_rejects computes: with the most frequent class they would be lower."""
    (k,) = (
        cell.value
        for cell in published.table("tax-duin-1").cells
        if (cell.data_set, cell.quantity) == (data_set, "n_classes")
    )
    rows = {}
    for cell in PRINTED:
        if cell.data_set == data_set and ", vote " in cell.method:
            rows.setdefault(cell.method, {})[cell.quantity] = cell.value
    for row in rows.values():
        error, f = row["error_percent"], row["reject_percent"]
        total = (1 - f / 100) * error + f * (k - 1) / k
        assert row["total_error_percent"] == pytest.approx(total, abs=0.16)


class Voter:
    classes_ = np.arange(4)

    def __init__(self, labels, accepted):
        self.answer = np.array(labels), np.array(accepted)

    def predict_or_reject(self, X, rule):
        assert rule == "votes"
        return self.answer


def test_rejects_by_hand():
    y = np.array([0, 1, 2, 3, 3])
    found = measure_rejects(Voter([0, 2, 2, 0, 3], [True, True, True, False, False]), None, y)
    assert found == pytest.approx(
        {"reject": 0.4, "accepted_error": 1 / 3, "total_error": 0.2 + 0.4 * 0.75}
    )
    nothing = measure_rejects(Voter([0, 1, 2, 3, 3], [False] * 5), None, y)
    assert nothing == {"reject": 1.0, "total_error": 0.75}


def test_quantities_are_means_and_deviations_over_runs():
    def run(method, fold, **metrics):
        cell = make_cell("crabs", method, "LDA", fold)
        settings = {**cell.settings, "n_folds": 2}
        return replace(cell, metrics={**cell.metrics, **metrics}, settings=settings)

    cells = [
        run("LDA, vote 1-r", 0, reject=0.1, total_error=0.09, accepted_error=0.02),
        run("LDA, vote 1-r", 1, reject=0.3, total_error=0.25),
        run("LDA, prob 1-1", 0, density_error=0.02),
        run("LDA, prob 1-1", 1, density_error=0.04),
        run("Fisher, prob 1-1", 0),
        run("Fisher, prob 1-1", 1),
    ]
    found = {(f.method, f.quantity): f for f in EXPERIMENT.figures(cells)}
    assert len(found) == 5
    assert found["LDA, vote 1-r", "reject_percent"].ours == pytest.approx(20)
    assert found["LDA, vote 1-r", "reject_percent"].spread == pytest.approx(np.sqrt(200))
    assert found["LDA, vote 1-r", "total_error_percent"].ours == pytest.approx(17)
    assert found["LDA, vote 1-r", "error_percent"].ours == pytest.approx(2)
    assert found["LDA, vote 1-r", "error_percent"].agrees is True
    assert found["LDA, prob 1-1", "error_percent"].ours == pytest.approx(3)
    assert found["Fisher, prob 1-1", "error_percent"].ours == pytest.approx(25)


def test_a_cell_is_what_least_squares_gives_by_hand():
    plan = Schedule(WAVEFORM, [METHODS["Fisher, vote 1-r"]], protocol="repeat1:300/500")
    ((cell,), failures) = plan.run()
    assert not failures
    (task,) = plan.tasks
    X, y = WAVEFORM.data.to_numpy(), WAVEFORM.y
    scaler = StandardScaler().fit(X[task.train])
    model = LinearRegression().fit(scaler.transform(X[task.train]), np.eye(3)[y[task.train]] - 0.5)
    claims = model.predict(scaler.transform(X[task.test])) > 0
    accepted = claims.sum(axis=1) == 1
    wrong = claims.argmax(axis=1) != y[task.test]
    assert cell.metrics["reject"] == pytest.approx(np.mean(~accepted))
    assert cell.metrics["accepted_error"] == pytest.approx(np.mean(wrong[accepted]))


@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one"])
def test_densities_are_those_of_normal_distributions(code, iris):
    X, y = iris[0][35:120, :2], iris[1][35:120]  # classes of different sizes, which overlap
    base = LinearDiscriminantAnalysis(store_covariance=True)
    classifier = CodeClassifier(base, code, calibration="none").fit(X, y)
    best = np.zeros((len(X), 3))
    sides = [(a, [b]) for a in range(3) for b in range(3) if b != a]
    if code == "one_vs_rest":
        sides = [(a, [b for b in range(3) if b != a]) for a in range(3)]
    for one, others in sides:
        own, rest = X[y == one], X[np.isin(y, others)]
        covariance = (
            np.cov(own.T, bias=True) * len(own) + np.cov(rest.T, bias=True) * len(rest)
        ) / (len(own) + len(rest))
        density = multivariate_normal(own.mean(axis=0), covariance).pdf(X)
        share = len(own) / (len(own) + len(rest))
        best[:, one] = np.maximum(best[:, one], share * density)
    by_hand = np.mean(best.argmax(axis=1) != y)
    assert by_hand > 0
    assert measure_densities(classifier, X, y)["density_error"] == pytest.approx(by_hand)


def test_digits_are_of_usps(shared_data):
    samples = EXPERIMENT.load_samples("digits")
    assert (samples.name, samples.data.shape, samples.train) == ("digits", (9298, 256), None)
