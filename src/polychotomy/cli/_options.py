"""Options that several commands have.

Help is shown without loading the library: names that it lists are written out here.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from polychotomy.evaluate import Samples

BASES = (
    "logistic, svm, poly_svm, linear_svm, ridge, lda, adaboost, tree, boosting, "
    "random_forest, knn; lightgbm and xgboost where they are installed; or any classifier as "
    "package.Class"
)
DEFAULT_BASE = "logistic"
REDUCTIONS = (
    "one_vs_rest, one_vs_one, exhaustive, dense_random, sparse_random, hamming, bch, orthogonal, "
    "adjacent, trellis, linkage_tree, balanced_tree, chain, ddag, sbc_identity, sbc_single, "
    "sbc_hamming, sbc_bch, sbc_ecoc, sbc_kernel, sbc_kernel_frequencies, native, majority"
)


def _check_jobs(jobs: int) -> int:
    """Refuse 0 workers."""
    if jobs == 0:
        raise typer.BadParameter("0 is not a number of workers")
    return jobs


def flag(name: str, help: str) -> Any:  # noqa: A002
    """Return an option without a value."""
    return typer.Option(name, metavar="", help=help)


def split_names(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def check_bases(bases: Sequence[str], *, tuned: bool) -> None:
    """Refuse learners that are unknown, or that have nothing to tune."""
    from polychotomy.errors import MissingExtraError
    from polychotomy.reductions import available_bases, make_base

    if not bases:
        raise typer.BadParameter("name at least one", param_hint="--base")
    for name in bases:
        if name not in available_bases():
            try:
                make_base(name)
            except (ValueError, MissingExtraError) as error:
                raise typer.BadParameter(str(error), param_hint="--base") from None
        if tuned and name not in available_bases(tunable=True):
            names = ", ".join(available_bases(tunable=True))
            raise typer.BadParameter(f"only these can be tuned: {names}", param_hint="--tune")


def check_reductions(names: Sequence[str], option: str) -> None:
    """Refuse reductions that are unknown."""
    from polychotomy.reductions import Reduction

    try:
        for name in names:
            Reduction.of(name)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def check_streamed(unsuited: Mapping[str, object]) -> None:
    """Refuse what --stream cannot do, by the name of the option."""
    for name, given in unsuited.items():
        if given:
            raise typer.BadParameter(
                f"{name} needs all samples in memory: leave it out, or --stream",
                param_hint="--stream",
            )


def put_in_order(samples: "Samples", class_order: str | None) -> "Samples":
    """Return samples with their classes in the order of --class-order, unless the data decide."""
    order = parse_class_order(class_order)
    return samples.in_order(order) if isinstance(order, list) else samples


def parse_class_order(text: str | None) -> list[str] | str | None:
    """Return the classes of --class-order; "data" and None as they are."""
    if text is None or text == "data":
        return text
    return next(csv.reader([text], skipinitialspace=True), [])


def _check_class_order(text: str | None) -> str | None:
    """Refuse an order of classes with an empty name, or with a name twice."""
    names = parse_class_order(text)
    if isinstance(names, list) and (not all(names) or len({*names}) < max(2, len(names))):
        raise typer.BadParameter(f"it must name at least two classes, each once. Got {text!r}.")
    return text


def parse_budget(text: str | None) -> float | None:
    """Return the seconds of 90s, 2m or 1h."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)", text.strip())
    if found is None or not float(found[1]):
        raise typer.BadParameter(
            f"must be a time such as 90s, 2m or 1h. Got {text!r}.", param_hint="--budget"
        )
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


class Preference(StrEnum):
    """How a recommendation weighs accuracy against cost."""

    balanced = "balanced"
    accuracy = "accuracy"
    cost = "cost"


Prefer = Annotated[
    Preference,
    typer.Option(
        help="accuracy: the lowest error. cost: the fewest binary problems among methods that are "
        "not significantly worse. balanced: the same, but within 0.5 points of the lowest error."
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Seed of folds, random codes and learners.")
]
Jobs = Annotated[
    int, typer.Option(callback=_check_jobs, help="Worker processes; -1 for all cores.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on the workers of the Dask scheduler at this address, such as tcp://HOST:8786, "
        "instead of --jobs.",
    ),
]
ClassOrder = Annotated[
    str | None,
    typer.Option(
        help="Order of the classes for codes such as adjacent, separated by commas (quote names "
        "that contain one), or data to find an order in the training samples. By default the "
        "classes are sorted.",
        callback=_check_class_order,
    ),
]
StoreFile = Annotated[
    Path | None,
    typer.Option(
        help="Store finished cells in this file, and do not compute stored ones again. By default "
        "a temporary file, which is kept only if the run does not finish."
    ),
]
Tune = Annotated[
    bool,
    flag("--tune", "Also tune kernel width and C, or the learner's main parameter, in every fold."),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Stop after about this time (90s, 2m, 1h), use the best result so far, and list what "
        "was not tried.",
    ),
]
NewEncoding = Annotated[
    str | None, typer.Option(help="Encoding of text files, if it differs from training.")
]
AsJson = Annotated[bool, flag("--json", "Print JSON.")]
