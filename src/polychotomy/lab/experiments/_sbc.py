"""The experiments of both papers on a single binary classifier (El-Yaniv and others)."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.classifiers import CodeClassifier, KernelSBCClassifier, SingleBinaryClassifier
from polychotomy.evaluate import Contestant, Samples
from polychotomy.kernel import SharedKernelSVC
from polychotomy.lab import published
from polychotomy.lab.experiments._experiment import Experiment, FinishedCells, Quantity
from polychotomy.lab.experiments._figures import Estimate
from polychotomy.lab.experiments._quantities import (
    average_rank,
    difference_bound,
    error_percent,
    estimate_error,
)
from polychotomy.learners import SingleCall

_SETS = (
    *("glass", "soybean", "satimage", "abalone", "optdigits", "car", "spectrometer", "yeast"),
    "page-blocks",
)
_KERNEL_SETS = ("car", "page-blocks", "iris", "wine", "vehicle")
_FOLD_QUANTITIES: Mapping[str, Quantity] = {
    "error_percent": error_percent,
    "average_rank": average_rank,
    "difference_low_percent": partial(difference_bound, "low"),
    "difference_high_percent": partial(difference_bound, "high"),
}
_CHOICES = (
    "Ten-fold cross-validation is stratified; the papers say only that parts are of equal size.",
    "The search goes on as the papers describe it, from σ = C = 1 by factors of two, each until "
    "three steps gain nothing; of equal errors it takes the smoother model.",
    "Indicators of nominal values are standardised like numbers; a missing value of a nominal "
    "feature is a value of its own, and one of a number the mean.",
    "ECOC is decoded by Hamming distances, as the papers describe the basic scheme; which decoding "
    "their figures have they do not say.",
)


def _code(code: str, decoder: str, seed: int) -> Any:
    return CodeClassifier(SharedKernelSVC(), code, decoder, probability=None, random_state=seed)


def _single(replication: Any, seed: int, **options: Any) -> Any:
    return SingleBinaryClassifier(
        SharedKernelSVC(), replication, probability=None, random_state=seed, **options
    )


def _classifiers(seed: int) -> dict[str, Any]:
    """Return the methods of both papers, and the shortcut for which there are no figures yet."""
    return {
        "OVA": _code("one_vs_rest", "linear", seed),
        "ALL-PAIRS": _code("one_vs_one", "votes", seed),
        "ECOC": _code("bch", "hamming", seed),
        "SBC-SINGLE": _single("single", seed),
        "SBC-IDENTITY": _single("identity", seed),
        "SBC-ECOC": _single(SingleCall("bch"), seed),
        "SBC-HAMMING": _single("hamming", seed),
        "SBC-BCH": _single("bch", seed),
        "SBC-KERNEL": KernelSBCClassifier(probability=None, weights="learned"),
        "SBC-KERNEL, frequencies": KernelSBCClassifier(
            probability=None, weights="class_frequencies"
        ),
    }


def _methods(names: Sequence[str], _: Samples, seed: int) -> list[Contestant]:
    known = _classifiers(seed)
    return [Contestant(name, "svm", known[name]) for name in names]


_SBC = (*("OVA", "ECOC", "SBC-SINGLE", "SBC-IDENTITY", "SBC-ECOC", "SBC-HAMMING", "SBC-BCH"),)
_SBCKERNEL = (
    *("OVA", "ALL-PAIRS", "ECOC", "SBC-SINGLE", "SBC-IDENTITY", "SBC-ECOC", "SBC-KERNEL"),
    "SBC-KERNEL, frequencies",
)


def _bch_extension(length: int, dimension: int, n_classes: int) -> NDArray[np.float64]:
    """Return codewords of unit messages, without the places that are the same in all."""
    import galois

    messages = np.eye(dimension, dtype=int)[:n_classes]
    words = np.asarray(galois.BCH(length, dimension).encode(messages))
    return words[:, np.ptp(words, axis=0) > 0].astype(float)


def _methods_of_codes(samples: Samples, seed: int) -> list[Contestant]:
    """Return SBC with codes of different lengths, Figure 2."""
    k = len(samples.classes)
    usual = ("SBC-SINGLE", "SBC-IDENTITY", "SBC-HAMMING", "SBC-BCH")
    longer = {
        "SBC-BCH (4,23)": _single(_bch_extension(31, 11, k), seed),
        "SBC-BCH (4,55)": _single(_bch_extension(127, 64, k), seed),
    }
    return [
        *_methods(usual, samples, seed),
        *(Contestant(name, "svm", classifier) for name, classifier in longer.items()),
    ]


def _numbers(k: int) -> list[int]:
    """Return how many random negatives of k − 1 are tried."""
    return sorted(s for s in {1, 2, 4, (k - 1) // 2} if 0 < s < k - 1)


def _methods_of_subsampling(samples: Samples, seed: int) -> list[Contestant]:
    """Return SBC-BCH with fewer and fewer negatives, Figure 3; all as tuned with all of them."""
    k, full = len(samples.classes), _single("bch", seed)
    wanted = [(kind, s) for kind in ("hard", "near") for s in (1, 2, 4) if s < k - 1]
    found = [Contestant("SBC-BCH", "svm", full)]
    for kind, s in [*wanted, *(("random", s) for s in _numbers(k))]:
        fewer = _single("bch", seed, n_negatives=s, negatives=kind)
        found.append(Contestant(f"SBC-BCH, {kind}, s = {s}", "svm", fewer, tuned_as=full))
    return found


def _relative_increases(results: FinishedCells) -> dict[tuple[str, int], float] | None:
    """Return by how many per cent s random negatives raise the error, for each data set and s.

    None unless all were run.
    """
    found = {}
    for data_set in _SETS:
        if not results.complete(data_set, "SBC-BCH"):
            return None
        cells = results.of(data_set, "SBC-BCH")
        full = estimate_error(cells).value
        for s in _numbers(len(cells[0].classes)):
            method = f"SBC-BCH, random, s = {s}"
            if not results.complete(data_set, method):
                return None
            fewer = estimate_error(results.of(data_set, method)).value
            found[data_set, s] = 100 * (fewer / full - 1) if full else np.nan
    return found


def _mean_increase(results: FinishedCells, _: published.PublishedCell) -> Estimate | None:
    """Return the mean increase with s = min(4, k − 1), which is 0 where that is all."""
    found = _relative_increases(results)
    if found is None:
        return None
    each = [found.get((data_set, 4), 0.0) for data_set in _SETS]
    return Estimate(float(np.mean(each)), float(np.std(each, ddof=1)))


def _n_improved(results: FinishedCells, _: published.PublishedCell) -> Estimate | None:
    """Return for how many data sets some s has a lower error than all negatives."""
    found = _relative_increases(results)
    if found is None:
        return None
    return Estimate(float(len({d for (d, _), increase in found.items() if increase < 0})))


def _largest_increase(results: FinishedCells, _: published.PublishedCell) -> Estimate | None:
    """Return the largest increase for any s on a data set other than car, as the text has it."""
    found = _relative_increases(results)
    if found is None:
        return None
    return Estimate(max(increase for (d, _), increase in found.items() if d != "car"))


def _experiment(
    name: str, title: str, data_sets: Sequence[str], names: Sequence[str], hours: float
) -> Experiment:
    paper = name.partition("-")[0]
    return Experiment(
        name=name,
        title=title,
        paper=paper,
        tables=(name,),
        data_sets=tuple(data_sets),
        make_methods=partial(_methods, names),
        quantities=_FOLD_QUANTITIES,
        further=("error_percent",) if name.endswith("2") else (),
        protocol="split_cv10",
        tuning="greedy10",
        preparation="all_standard",
        quick=("soybean",) if paper == "sbc" else ("iris", "wine"),
        hours=hours,
        choices=_CHOICES,
    )


_FIGURE_3: Mapping[str, Quantity] = {
    "relative_error_increase_percent": _mean_increase,
    "n_data_sets_improved": _n_improved,
    "largest_relative_error_increase_percent": _largest_increase,
    "error_percent": error_percent,
}

EXPERIMENTS = (
    _experiment("sbc-2", "Errors of seven reductions with a tuned RBF SVM", _SETS, _SBC, 3.5),
    _experiment(
        "sbc-3",
        "Bootstrap intervals of differences from SBC-BCH",
        _SETS,
        ("OVA", "SBC-IDENTITY", "SBC-BCH"),
        2,
    ),
    Experiment(
        name="sbc-figure-2",
        title="Errors of SBC with codes of different lengths",
        paper="sbc",
        tables=("sbc-figure-2",),
        data_sets=("car",),
        make_methods=_methods_of_codes,
        quantities={"error_percent": error_percent},
        further=("error_percent",),
        protocol="split_cv10",
        tuning="greedy10",
        preparation="all_standard",
        quick=("car",),
        hours=1,
        choices=(
            *_CHOICES,
            "The longer codes are codewords of unit messages of the BCH codes that the paper names,"
            " without the places that are the same in all four.",
        ),
    ),
    Experiment(
        name="sbc-figure-3",
        title="What subsampling the replicas costs SBC-BCH",
        paper="sbc",
        tables=("sbc-figure-3",),
        data_sets=_SETS,
        make_methods=_methods_of_subsampling,
        quantities=_FIGURE_3,
        further=("error_percent",),
        protocol="split_cv10",
        tuning="greedy10",
        preparation="all_standard",
        quick=("soybean",),
        hours=2,
        choices=(
            *_CHOICES,
            "σ and C are those tuned with all replicas; the paper does not say.",
            "Besides random negatives, near and hard ones, which the paper leaves as a question.",
        ),
    ),
    _experiment(
        "sbckernel-2",
        "Errors of seven reductions with a tuned RBF SVM",
        _KERNEL_SETS,
        _SBCKERNEL,
        2,
    ),
    _experiment(
        "sbckernel-3",
        "Bootstrap intervals of differences from SBC-KERNEL",
        _KERNEL_SETS,
        tuple(name for name in _SBCKERNEL if name != "SBC-SINGLE"),
        2,
    ),
)
