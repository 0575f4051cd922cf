"""The experiment of Tax and Duin: votes with rejects beside probabilities, by linear learners."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy import datasets
from polychotomy.classifiers import CodeClassifier
from polychotomy.evaluate import Contestant, Samples
from polychotomy.kernel import SharedKernelSVC
from polychotomy.lab import published
from polychotomy.lab.experiments._experiment import Experiment, FinishedCells, Quantity
from polychotomy.lab.experiments._figures import Estimate
from polychotomy.lab.experiments._quantities import estimate_mean

_SETS = ("vowel", "waveform", "vehicle", "crabs", "digits")
_STAND_IN = {"digits": "usps"}
_CODES = {"1-r": "one_vs_rest", "1-1": "one_vs_one"}
_ALMOST_NOTHING = 1e-8
_RANK = 1e-10


def _learners() -> dict[str, tuple[Any, str]]:
    """Return the binary learners, and how the outputs of each become probabilities."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import RidgeClassifier

    return {
        "LDA": (LinearDiscriminantAnalysis(store_covariance=True), "none"),
        # Without any penalty, directions in which the samples do not vary would decide.
        "Fisher": (RidgeClassifier(alpha=_ALMOST_NOTHING, solver="svd"), "logistic"),
        "SVC linear": (SharedKernelSVC(kernel="linear"), "logistic"),
    }


def measure_rejects(classifier: Any, X: Any, y: NDArray[np.intp]) -> dict[str, float]:
    """Return how many samples voting rejects, and how many of the others it gets wrong.

    ``accepted_error`` ε is left out if all are rejected; ``total_error`` is ε(1 − f) + f(k − 1)/k,
    f being ``reject`` and k the number of classes: what assigning the rejected at random gives in
    the mean.
    """
    labels, accepted = classifier.predict_or_reject(X, rule="votes")
    k = len(classifier.classes_)
    rejected = float(np.mean(~accepted))
    wrong = float(np.mean(accepted & (labels != y)))
    found = {"reject": rejected, "total_error": wrong + rejected * (k - 1) / k}
    if rejected < 1:
        found["accepted_error"] = wrong / (1 - rejected)
    return found


def measure_densities(classifier: Any, X: Any, y: NDArray[np.intp]) -> dict[str, float]:
    """Return the error of taking the class to which any LDA gives the largest density.

    Posteriors of pairs would not do: each is sure of one of its classes wherever it knows neither.
    Sides of several classes are not classes, and do not count.
    """
    best = np.full((len(X), len(classifier.classes_)), -np.inf)
    columns = classifier.code_.distinct.columns.T
    for model, column in zip(classifier.estimators_, columns, strict=True):
        densities = _log_densities(model, X)
        for side, sign in enumerate((-1, 1)):
            members = np.flatnonzero(column == sign)
            if len(members) == 1:
                best[:, members[0]] = np.maximum(best[:, members[0]], densities[:, side])
    return {"density_error": float(np.mean(classifier.classes_[best.argmax(axis=1)] != y))}


def _log_densities(model: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log P_c N(x; μ_c, Σ) for both sides of a trained LDA, Σ in the space it spans."""
    values, vectors = np.linalg.eigh(model.covariance_)
    spanned = values > _RANK * values.max()
    whiten = vectors[:, spanned] / np.sqrt(values[spanned])
    scale = np.log(2 * np.pi * values[spanned]).sum()
    squares = [(((X - mean) @ whiten) ** 2).sum(axis=1) for mean in model.means_]
    densities: NDArray[np.float64] = np.log(model.priors_) - (np.column_stack(squares) + scale) / 2
    return densities


def _methods(_: Samples, seed: int) -> list[Contestant]:
    return [
        Contestant(
            f"{learner}, {rule} {name}",
            learner,
            CodeClassifier(
                base,
                code,
                "votes" if rule == "vote" else "probability",
                probability=f"prob {name}",
                calibration=calibration,
                cv=None,
                random_state=seed,
            ),
            measure=_measure_of(learner, rule),
        )
        for learner, (base, calibration) in _learners().items()
        for name, code in _CODES.items()
        for rule in ("vote", "prob")
    ]


def _measure_of(learner: str, rule: str) -> Any:
    if rule == "vote":
        return measure_rejects
    return measure_densities if learner == "LDA" else None


def _load(name: str) -> Samples:
    bunch = datasets.load(_STAND_IN.get(name, name))
    return Samples.make(name, bunch.data, bunch.target)


def _sizes() -> Mapping[str, str]:
    """Return the protocol of each data set: ten draws of parts as large as Table 1 says."""
    sizes = {(c.data_set, c.quantity): int(c.value) for c in published.table("tax-duin-1").cells}
    return {name: f"repeat10:{sizes[name, 'n_train']}/{sizes[name, 'n_test']}" for name in _SETS}


def _error(results: FinishedCells, cell: published.PublishedCell) -> Estimate | None:
    learner, _, rule = cell.method.partition(", ")
    if rule.startswith("vote"):
        return _mean(results, cell, "accepted_error")
    return _mean(results, cell, "density_error" if learner == "LDA" else "error")


def _reject(results: FinishedCells, cell: published.PublishedCell) -> Estimate | None:
    return _mean(results, cell, "reject")


def _total_error(results: FinishedCells, cell: published.PublishedCell) -> Estimate | None:
    return _mean(results, cell, "total_error")


def _mean(results: FinishedCells, cell: published.PublishedCell, metric: str) -> Estimate | None:
    """Return mean and deviation over the runs, in per cent."""
    cells = results.of(cell.data_set, cell.method)
    values = [100 * each.metrics[metric] for each in cells if metric in each.metrics]
    return estimate_mean(values, len(cells))


_QUANTITIES: Mapping[str, Quantity] = {
    "error_percent": _error,
    "reject_percent": _reject,
    "total_error_percent": _total_error,
}

EXPERIMENTS = (
    Experiment(
        name="tax-duin-2",
        title="Votes with rejects and probabilities of three linear learners",
        paper="tax-duin",
        tables=("tax-duin-2",),
        data_sets=_SETS,
        make_methods=_methods,
        quantities=_QUANTITIES,
        protocol=_sizes(),
        quick=("crabs", "waveform", "vehicle"),
        hours=0.05,
        load=_load,
        choices=(
            "Ten stratified draws of parts as large as Table 1 says. The text speaks of ten-fold "
            "cross-validation, but the deviations over ten runs are those of test parts of these "
            "sizes, and the errors on vowel are not those of its fixed split by speaker.",
            "Errors of votes are of the samples that are not rejected. The total error is what a "
            "random assignment to one of k classes gives in the mean: all printed ones are "
            "ε(1 − f) + f(k − 1)/k.",
            "Their digits of 16 × 16 pixels are not public: usps has as many, and draws of 1000 "
            "and 1000 are taken from it.",
            "Fisher's discriminant is least squares with targets ±1, by a ridge of 1e-8. LDA has "
            "the classes' shares as priors.",
            "LDA's outputs are densities of the classes, as section 3 says: its two prob rules "
            "take the class with the largest prior times density that any problem gives it. "
            "Where a covariance is singular, in the space that it spans.",
            "C = 1 and standardised features for the support vector classifier; not in the paper.",
            "The one-parameter logistic is fitted to the outputs of the training samples, with "
            "Platt's softened targets: by plain likelihood the slope would be infinite wherever "
            "the training samples of two classes can be separated.",
        ),
    ),
)
