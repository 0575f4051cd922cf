"""Options that several commands have."""

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from polychotomy.reductions import available_bases


def _check_jobs(jobs: int) -> int:
    """Refuse 0 workers."""
    if jobs == 0:
        raise typer.BadParameter("0 is not a number of workers")
    return jobs


def check_bases(bases: Sequence[str], *, tuned: bool) -> None:
    """Refuse learners that are unknown, or that have nothing to tune."""
    for name in bases:
        if name not in available_bases():
            names = ", ".join(available_bases())
            raise typer.BadParameter(f"{name!r} is none of {names}", param_hint="--base")
        if tuned and name not in available_bases(tunable=True):
            names = ", ".join(available_bases(tunable=True))
            raise typer.BadParameter(f"only these can be tuned: {names}", param_hint="--tune")


def parse_budget(text: str | None) -> float | None:
    """Return the seconds of 90s, 2m or 1h."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)", text.strip())
    if found is None or not float(found[1]):
        raise typer.BadParameter(
            f"{text!r} is no time such as 90s, 2m or 1h", param_hint="--budget"
        )
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


class Preference(StrEnum):
    """What a recommendation goes for."""

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
    int, typer.Option(min=0, max=2**32 - 1, help="Draws folds, random codes and learners.")
]
Jobs = Annotated[
    int, typer.Option(callback=_check_jobs, help="Worker processes; -1 for all cores.")
]
StoreFile = Annotated[
    Path | None,
    typer.Option(
        help="Keep every finished cell in this file, and compute none that is there. By default a "
        "temporary file, which stays only if the run does not finish."
    ),
]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="Also choose kernel width and C, or the learner's own parameter, in every fold.",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Stop after about this time (90s, 2m, 1h) with the best answer so far, and say what "
        "was not tried.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
