"""The experiment of Tax and Duin: votes with rejects, and probabilities, by linear learners."""

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


def _load_with_index(name: str) -> Samples:
    """Return a data set with the position of each sample among those of its class, from 1."""
    bunch = datasets.load(name)
    index = bunch.data.groupby(bunch.target).cumcount() + 1.0
    return Samples.make(name, bunch.data.assign(index=index), bunch.target)


def _protocols() -> Mapping[str, str]:
    """Return the protocol of each data set; digits as many samples as Table 1 says."""
    sizes = {c.quantity: int(c.value) for c in _described("digits")}
    digits = f"repeat10:{sizes['n_train']}/{sizes['n_test']}"
    return {name: digits if name == "digits" else "cv10" for name in _SETS}


def _described(name: str) -> list[published.PublishedCell]:
    return [cell for cell in published.table("tax-duin-1").cells if cell.data_set == name]


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

_CHOICES = (
    "Errors of votes are of the samples that are not rejected. The total error is what a random "
    "assignment to one of k classes gives in the mean: all printed ones are ε(1 − f) + f(k − 1)/k.",
    "Fisher's discriminant is least squares with targets ±1, by a ridge of 1e-8. LDA has the "
    "classes' shares as priors.",
    "LDA's outputs are densities of the classes, as section 3 says: its two prob rules take the "
    "class with the largest prior times density that any problem gives it. Where a covariance is "
    "singular, in the space that it spans.",
    "C = 1 and standardised features for the support vector classifier; not in the paper.",
    "The one-parameter logistic is fitted by plain maximum likelihood to the outputs of the "
    "training samples. Where these separate the classes its slope would be infinite: it is at most "
    "50 over their root mean square.",
)


def _experiment(name: str, title: str, data_sets: tuple[str, ...], **options: Any) -> Experiment:
    return Experiment(
        name=name,
        title=title,
        paper="tax-duin",
        tables=("tax-duin-2",),
        data_sets=data_sets,
        make_methods=_methods,
        quantities=_QUANTITIES,
        protocol={each: _protocols()[each] for each in data_sets},
        **options,
    )


EXPERIMENTS = (
    _experiment(
        "tax-duin-2",
        "Votes with rejects and probabilities of three linear learners",
        _SETS,
        quick=("crabs", "waveform", "vehicle"),
        hours=0.05,
        load=_load,
        choices=(
            "Ten-fold cross-validation of all samples, as the text says. Table 1 has sizes of "
            "training and test parts, and the printed deviations are those of such test parts; "
            "draws of these sizes agree less often (benchmarks/reasons/tax_duin.py).",
            "Their digits of 16 × 16 pixels are not public: usps has as many. Ten draws of 1000 "
            "and 1000 are taken from it, since with nine tenths of 2000 samples the covariances of "
            "pairs would not be singular, and the paper's seem to be.",
            *_CHOICES,
        ),
    ),
    _experiment(
        "tax-duin-2-index",
        "A variant: crabs with their number within each class as a sixth feature",
        ("crabs",),
        quick=("crabs",),
        hours=0.01,
        load=_load_with_index,
        choices=(
            "A variant, not what the paper says: its Table 1 has five features for crabs. The file "
            "from which they come, MASS's crabs, also numbers the crabs of each species and sex "
            "from 1 to 50, by size. That number is no measurement, and knows of the class through "
            "the order of the file; here it is a sixth feature, as if it had been read along.",
            *_CHOICES,
        ),
    ),
)
