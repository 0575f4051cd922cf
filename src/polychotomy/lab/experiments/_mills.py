"""The numerical trials of Mills: codes and trees, times and probabilities, with an RBF SVM."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.assess import brier_score
from polychotomy.classifiers import CodeClassifier, TreeClassifier
from polychotomy.evaluate import Contestant, Samples
from polychotomy.kernel import SharedKernelSVC
from polychotomy.lab import published
from polychotomy.lab.experiments._experiment import Experiment, FinishedCells, Quantity
from polychotomy.lab.experiments._figures import Estimate
from polychotomy.lab.experiments._quantities import estimate_mean

_SETS = ("letter", "pendigits", "usps", "segment", "satimage", "urban", "shuttle", "humidity")
# Of libmsci, libagf/examples/multiclass/Makefile; what is not there is LIBSVM's default.
_SETTINGS: Mapping[str, Mapping[str, float]] = {
    "letter": {"C": 50},
    "pendigits": {"C": 50, "gamma": 0.01},
    "segment": {"C": 100, "gamma": 0.1},
    "satimage": {"C": 50, "gamma": 0.1},
    "humidity": {"C": 50},
}
_MOST_FOR_ORTHOGONAL = 12
# Tables 4, 5, 10 and 11 do not name the solver; for trees it was least squares in 10 and 11.
_SOLVERS = {
    "1 vs. 1": "inv.",
    "1 vs. rest": "lsq.",
    "ortho.": "iter.",
    "adj.": "lsq.",
    "hier.": "lsq.",
    "emp.": "lsq.",
}


def _classifiers(samples: Samples, seed: int) -> dict[str, Any]:
    """Return the eight methods under the names of Tables 6 to 9."""
    base = SharedKernelSVC(gamma="auto").set_params(**_SETTINGS.get(samples.name, {}))
    common: dict[str, Any] = {
        "decoder": "probability",
        "calibration": "sigmoid",
        "random_state": seed,
    }

    def code(name: str, method: str) -> Any:
        return CodeClassifier(base, name, probability=method, **common)

    def tree(structure: str, solve: str) -> Any:
        return TreeClassifier(base, structure, solve=solve, **common)

    few = len(samples.classes) <= _MOST_FOR_ORTHOGONAL
    return {
        "1 vs. 1, inv.": code("one_vs_one", "inverse"),
        "1 vs. rest, lsq.": code("one_vs_rest", "least_squares"),
        "ortho., iter.": code("orthogonal", "orthogonal")
        if few
        else code("dense_random", "least_squares"),
        "adj., lsq.": code("adjacent", "least_squares"),
        "hier., rec.": tree("balanced", "recursive"),
        "hier., lsq.": tree("balanced", "least_squares"),
        "emp., rec.": tree("linkage", "recursive"),
        "emp., lsq.": tree("linkage", "least_squares"),
    }


def measure_brier(classifier: Any, X: Any, y: NDArray[np.intp]) -> dict[str, float]:
    """Return both Brier scores of Mills' tables: of all classes, and of the winning one.

    The winning class is the predicted one, which in a tree solved recursively need not be the most
    probable one.
    """
    p = classifier.predict_proba(X)
    predicted = classifier.predict(X)
    winning = p[np.arange(len(p)), np.searchsorted(classifier.classes_, predicted)]
    return {
        "brier_mills": brier_score(y, p, form="mills", classes=classifier.classes_),
        "brier_winning": float(np.sqrt(np.mean((winning - (predicted == y)) ** 2))),
    }


def _methods(samples: Samples, seed: int) -> list[Contestant]:
    return [
        Contestant(name, "svm", classifier, measure=measure_brier)
        for name, classifier in _classifiers(samples, seed).items()
    ]


def _mean(name: str, results: FinishedCells, cell: published.PublishedCell) -> Estimate | None:
    """Return a metric or a time over the trials, of the method that a configuration stands for."""
    solver = _SOLVERS.get(cell.method)
    method = cell.method if solver is None else f"{cell.method}, {solver}"
    cells = results.of(cell.data_set, method)
    timed = name.endswith("_seconds")
    values = [getattr(each, name) if timed else each.metrics[name] for each in cells]
    return estimate_mean(values, len(cells), judged=not timed)


_QUANTITIES: Mapping[str, Quantity] = {
    "fit_seconds": partial(_mean, "fit_seconds"),
    "predict_seconds": partial(_mean, "predict_seconds"),
    "uncertainty_coefficient": partial(_mean, "uncertainty_coefficient"),
    "brier": partial(_mean, "brier_mills"),
    "brier_winning": partial(_mean, "brier_winning"),
}

EXPERIMENTS = (
    Experiment(
        name="mills",
        title="Codes and trees with an RBF SVM: times, uncertainty coefficients, Brier scores",
        paper="mills",
        tables=tuple(f"mills-{number}" for number in range(4, 14)),
        data_sets=_SETS,
        make_methods=_methods,
        quantities=_QUANTITIES,
        protocol="repeat10",
        quick=("urban", "segment"),
        hours=1,
        choices=(
            "Kernel, C and γ are not in the paper. C = 50 for letter, pendigits, satimage and "
            "humidity and 100 for segment, γ = 0.1 for satimage and segment and 0.01 for "
            "pendigits are from the makefile of his library's multi-class examples, which names "
            "the same eight methods; all else is LIBSVM's default: RBF, C = 1, γ = 1/d.",
            "As there, features are standardised by the training part, and the draws keep the "
            "shares of the classes.",
            "Binary probabilities are by Platt's sigmoid on the outputs of five held-out folds, as "
            "LIBSVM's option -b 1 does it; the folds themselves are other ones.",
            "Codes predict the class of the largest probability; trees solved recursively the "
            "class at the end of the path along which each node takes its more probable side. The "
            "predicted class is the winning one of Tables 12 and 13.",
            "Letter has a random code in place of an orthogonal one, as in the paper, solved by "
            "least squares; it is this library's dense random code.",
            "The balanced tree halves the classes in their sorted order.",
            "His least squares are those of his library; ours are solved exactly, so that for "
            "trees both ways give the same probabilities.",
            "Times are CPU seconds on one thread; training has the calibration in it, predicting "
            "the probabilities of all but the recursive trees.",
        ),
    ),
)
