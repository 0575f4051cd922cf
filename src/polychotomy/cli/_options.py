"""Options that several commands have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


def _check_jobs(jobs: int) -> int:
    """Refuse 0 workers."""
    if jobs == 0:
        raise typer.BadParameter("0 is not a number of workers")
    return jobs


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
AsJson = Annotated[bool, typer.Option("--json", help="For programs, not for people.")]
