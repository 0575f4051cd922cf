"""The experiments of Allwein, Schapire and Singer, Reducing multiclass to binary."""

from functools import partial
from math import isfinite
from typing import Any

from sklearn.ensemble import AdaBoostClassifier

from polychotomy.classifiers import CodeClassifier
from polychotomy.lab import published
from polychotomy.lab._bases import make_base
from polychotomy.lab._methods import Method
from polychotomy.lab._samples import Samples
from polychotomy.lab.experiments._experiment import Experiment
from polychotomy.lab.experiments._quantities import error_percent

_SETS = tuple(dict.fromkeys(cell.data_set for cell in published.table("allwein-2").cells))
_SVM_SETS = tuple(dict.fromkeys(cell.data_set for cell in published.table("allwein-3").cells))


class MarginAdaBoost(AdaBoostClassifier):
    """AdaBoost whose output is f(x) = Σ α_t h_t(x), to which e^{−yf} belongs, and not its mean."""

    def decision_function(self, X: Any) -> Any:
        """Return Σ α_t h_t(x) with α_t = ½ ln((1 − ε_t) / ε_t); scikit-learn's weights are 2α_t."""
        return super().decision_function(X) * self.estimator_weights_.sum() / 4


def _learner(base: str, seed: int) -> Any:
    if base == "adaboost":
        return MarginAdaBoost(n_estimators=500, random_state=seed)
    return make_base(base)


def _methods(table: str, base: str, samples: Samples, seed: int) -> list[Method]:
    """Return the codes and decoders for which the table has a figure."""
    return [
        Method(
            cell.method,
            base,
            CodeClassifier(
                _learner(base, seed), cell.code, cell.decoder, probability=None, random_state=seed
            ),
        )
        for cell in published.table(table).cells
        if cell.data_set == samples.name and isfinite(cell.value)
    ]


EXPERIMENTS = (
    Experiment(
        name="allwein-2",
        title="Errors of five codes and three decoders with AdaBoost",
        paper="allwein",
        tables=("allwein-2",),
        data_sets=_SETS,
        make_methods=partial(_methods, "allwein-2", "adaboost"),
        quantities={"error_percent": error_percent},
        protocol="split_cv10",
        quick=("glass",),
        hours=1,
    ),
    Experiment(
        name="allwein-3",
        title="Errors of five codes and two decoders with a polynomial SVM",
        paper="allwein",
        tables=("allwein-3",),
        data_sets=_SVM_SETS,
        make_methods=partial(_methods, "allwein-3", "poly_svm"),
        quantities={"error_percent": error_percent},
        protocol="split_cv10",
        quick=("glass",),
        hours=1,
    ),
)
