"""The experiments of Allwein, Schapire and Singer on codes and loss-based decoding."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
from sklearn.base import clone

from polychotomy import datasets
from polychotomy.classifiers import CodeClassifier
from polychotomy.evaluate import Cell, Contestant, Samples
from polychotomy.lab import published
from polychotomy.lab.experiments._experiment import Experiment, FinishedCells
from polychotomy.lab.experiments._figures import Estimate
from polychotomy.lab.experiments._quantities import (
    error_percent,
    estimate_draws,
    estimate_error,
)
from polychotomy.reductions import make_base

_BOOSTED_SETS = (
    *("dermatology", "satimage", "glass", "segment", "ecoli", "pendigits", "yeast", "vowel"),
    *("soybean", "thyroid", "audiology", "isolet", "letter"),
)
_SVM_SETS = (
    *("dermatology", "satimage", "glass", "ecoli", "pendigits", "yeast", "vowel", "soybean"),
)
_CHOICES = (
    "Only what the slides say of the paper is known here. They name neither parameters of the "
    "learners beyond degree and stumps, nor a preparation of the features.",
    "Ten-fold cross-validation is stratified, and tests every sample; the printed errors are of "
    "ten parts of ⌊n/10⌋.",
    "A nominal value is an indicator, and so is its absence; a missing number is the mean.",
    "Random codes are the best of 10 000 draws, with ⌈10 log₂ k⌉ columns (dense) and ⌈15 log₂ k⌉ "
    "(sparse), the same for all folds.",
    "Glass has the six classes that occur in it, not seven.",
)
_BOOSTING_CHOICES = (
    "500 rounds. A stump is the one with the least weighted error, constants among them, its "
    "answer +1 or −1; its error counts as at least 1/(2m).",
    "Audiology is divided into the 200 and 26 samples of its source: all printed errors are "
    "multiples of 1/26, though the paper's table shows no test part.",
)
_SVM_CHOICES = (
    "The kernel is (γ⟨x, x'⟩ + 1)⁴ with C = 1 on standardised numbers and plain indicators; γ is "
    "one over the number of features times their variance.",
    "Of data sets with fewer than 1000 samples, random codes are ten draws: their mean is "
    "compared, and the interval is that of a single draw.",
)
_FEW_SAMPLES = 1000
_CODE_DRAWS = 10


def _code(learner: Any, code: str, decoder: str, seed: int) -> Any:
    return CodeClassifier(learner, code, decoder, probability=None, random_state=seed)


def _methods(table: str, base: str, samples: Samples, seed: int) -> list[Contestant]:
    """Return the codes and decoders for which the table has a figure on this data set."""
    return [
        Contestant(cell.method, base, _code(make_base(base), cell.code, cell.decoder, seed))
        for cell in published.table(table).cells
        if cell.data_set == samples.name and isfinite(cell.value)
    ]


def _methods_with_draws(table: str, base: str, samples: Samples, seed: int) -> list[Contestant]:
    """Return the same, with further draws of random codes where there are few samples."""
    first = _methods(table, base, samples, seed)
    n_draws = _CODE_DRAWS if len(samples.y) < _FEW_SAMPLES else 1
    further = [
        replace(each, reduction=_of_draw(each.reduction, draw), classifier=another)
        for draw in range(1, n_draws)
        for each in first
        if each.reduction.startswith(("Dense", "Sparse"))
        for another in [clone(each.classifier).set_params(random_state=seed + draw)]
    ]
    return [*first, *further]


def _of_draw(method: str, draw: int) -> str:
    return f"{method}, draw {draw + 1}" if draw else method


def _error_of_draws(results: FinishedCells, cell: published.PublishedCell) -> Estimate | None:
    """Return the mean error over the draws that were run in as many folds as the first."""
    names = (_of_draw(cell.method, draw) for draw in range(_CODE_DRAWS))
    draws = [results.of(cell.data_set, name) for name in names]
    full = [cells for cells in draws if cells and len(cells) == len(draws[0])]
    return estimate_draws(full) if full else None


def _load(name: str) -> Samples:
    """Return a data set of Table 2, audiology with its split."""
    return Samples.of(datasets.load(name, paper=None if name == "audiology" else "allwein"))


# The synthetic data: of each number of classes several draws, reported as one.

_N_DRAWS = 10
_BANDS = {
    k: tuple(f"bands-{k}" + (f", draw {i + 1}" if i else "") for i in range(_N_DRAWS))
    for k in range(3, 9)
}


def _draw_bands(name: str) -> Samples:
    """Return bands with |x| for x: the weak hypotheses are its thresholds."""
    k, draw = next((k, names.index(name)) for k, names in _BANDS.items() if name in names)
    bunch = datasets.make_bands(k, random_state=draw)
    return Samples.make(name, bunch.data.abs(), bunch.target, bunch.train, bunch.test)


def measure_binary_error(trained: Any, X: Any, y: Any) -> Mapping[str, float]:
    """Return the share of wrong answers, over samples and problems of a strict code."""
    sides = trained.code_.matrix[np.searchsorted(trained.classes_, y)]
    return {"binary_error": float(np.mean(sides * trained.binary_outputs(X) <= 0))}


def _band_methods(_: Samples, seed: int) -> list[Contestant]:
    stumps = make_base("adaboost").set_params(n_rounds=10, one_sided=True)
    return [
        Contestant(
            f"{title}, {rule}",
            "adaboost",
            _code(stumps, code, decoder, seed),
            measure=measure_binary_error,
        )
        for title, code in (("Complete", "exhaustive"), ("One-vs-all", "one_vs_rest"))
        for rule, decoder in (("Hamming", "hamming"), ("loss-based (Exp.)", "exponential"))
    ]


def _of_draws(results: FinishedCells, cell: published.PublishedCell) -> list[Cell]:
    """Return the cells of all draws of a number of classes; none for names other than the first."""
    names = next((names for names in _BANDS.values() if names[0] == cell.data_set), ())
    return [found for name in names for found in results.of(name, cell.method)]


def _mean_error(results: FinishedCells, cell: published.PublishedCell) -> Estimate | None:
    """Return the error over all draws, its deviation over draws and bootstrap interval."""
    cells = _of_draws(results, cell)
    return replace(estimate_error(cells), n_folds=0) if cells else None


def _mean_binary_error(results: FinishedCells, cell: published.PublishedCell) -> Estimate | None:
    """Return the mean error of the binary problems and its deviation over draws."""
    each = [100 * found.metrics["binary_error"] for found in _of_draws(results, cell)]
    spread = float(np.std(each, ddof=1)) if len(each) > 1 else np.nan
    return Estimate(float(np.mean(each)), spread) if each else None


EXPERIMENTS = (
    Experiment(
        name="allwein-2",
        title="Errors of five codes and three decoders with AdaBoost",
        paper="allwein",
        tables=("allwein-2",),
        data_sets=_BOOSTED_SETS,
        make_methods=partial(_methods, "allwein-2", "adaboost"),
        quantities={"error_percent": error_percent},
        protocol="split_cv10",
        quick=("glass", "dermatology", "soybean"),
        hours=1.5,
        choices=(*_CHOICES, *_BOOSTING_CHOICES),
        load=_load,
    ),
    Experiment(
        name="allwein-3",
        title="Errors of five codes and two decoders with a polynomial SVM",
        paper="allwein",
        tables=("allwein-3",),
        data_sets=_SVM_SETS,
        make_methods=partial(_methods_with_draws, "allwein-3", "poly_svm"),
        quantities={"error_percent": _error_of_draws},
        protocol="split_cv10",
        quick=("dermatology", "glass", "ecoli", "soybean", "vowel"),
        hours=0.2,
        choices=(*_CHOICES, *_SVM_CHOICES),
    ),
    Experiment(
        name="allwein-synthetic",
        title="Errors of two decoders and of the binary problems, with more and more classes",
        paper="allwein",
        tables=(),
        data_sets=tuple(name for names in _BANDS.values() for name in names),
        make_methods=_band_methods,
        quantities={"error_percent": _mean_error, "binary_error_percent": _mean_binary_error},
        further=("error_percent", "binary_error_percent"),
        protocol="split",
        quick=_BANDS[3],
        hours=0.1,
        choices=(
            "The paper shows curves alone. Complete code and one-vs-all are drawn, of 3 to 8 "
            "classes; ten draws of each are averaged.",
            "As many samples are tested as are trained on, 100 for each class on average.",
            "A threshold t answers +1 if |x| < t, never the other way round, as it is written, and "
            "t can be 0 or infinite. In each round it is the one with the least weighted error.",
            "Loss-based decoding uses the exponential loss.",
        ),
        load=_draw_bands,
    ),
)
