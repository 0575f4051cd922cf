"""``polychotomy reproduce``: run the papers' experiments again and compare figures."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import polychotomy
from polychotomy.cli._disk import check_can_write, report_errors
from polychotomy.cli._options import AsJson, Jobs, Scheduler, Seed, StoreFile, flag
from polychotomy.cli._running import (
    handle_interrupts,
    open_results,
    print_failures,
    print_message,
    run_with_progress,
    use_workers,
)
from polychotomy.cli._summary_tables import check_report
from polychotomy.errors import unknown_name
from polychotomy.files import replacing

if TYPE_CHECKING:
    from polychotomy.evaluate import Cell, Failure, Schedule, Store
    from polychotomy.lab.experiments import Experiment, Figure

_QUICK_FOLDS = 2
_LIST = "list"
EXPERIMENTS = (
    *("allwein-2", "allwein-3", "allwein-synthetic", "sbc-2", "sbc-3", "sbc-figure-2"),
    *("sbc-figure-3", "sbckernel-2", "sbckernel-3", "mills", "tax-duin-2", "tax-duin-2-index"),
)
"""Names of the experiments: to load those takes seconds."""


def _find(names: list[str]) -> "list[Experiment]":
    for name in names:
        if name not in EXPERIMENTS:
            error = unknown_name("experiment", name, EXPERIMENTS)
            message = f"{error} Run `polychotomy reproduce list` to see them."
            raise typer.BadParameter(message, param_hint="NAME…")
    from polychotomy.lab import experiments

    return [experiments.get(name) for name in dict.fromkeys(names)]


def _check_out(path: Path | None) -> Path | None:
    if path is not None and path.suffix != ".csv":
        raise typer.BadParameter("its name must end in .csv")
    return path


def reproduce_command(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME…",
            help="Names of experiments, or list to show them.",
        ),
    ],
    data: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A data set; may be repeated. By default all."),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A method, named as in the tables; may be repeated. By default all.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        flag("--quick", "A first look in minutes: small data sets, two folds."),
    ] = False,
    folds: Annotated[int | None, typer.Option(min=1, help="Run only the first N folds.")] = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    scheduler: Scheduler = None,
    store: StoreFile = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.csv",
            callback=_check_out,
            help="Write a row for each figure; FILE.environment.json records versions and machine.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page to this HTML file.", metavar="FILE.html")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run experiments of the papers again, and compare with the published figures.

    A figure agrees if it lies within the spread that the paper gives or, if there is none, if the
    published figure lies within our 95 % bootstrap interval. If only some folds are run, as with
    `--quick`, it agrees if the published figure, plus or minus its spread, overlaps our interval,
    which is then wide. Results that several experiments share are computed once.
    Most experiments take hours: start with `--quick`, and use `--store` to resume a run.

    For example:

    * `polychotomy reproduce list`
    * `polychotomy reproduce sbckernel-2 --quick`
    * `polychotomy reproduce sbc-2 sbc-3 --data glass --store sbc.sqlite --report sbc.html`

    Exit status: 0 done, whether or not figures agree; 1 data, store or a path cannot be used, or
    nothing could be computed; 2 wrong usage; 130 interrupted.
    """
    if names == [_LIST]:
        from polychotomy.cli._reproduction_tables import print_experiments

        print_experiments(as_json)
        return
    chosen = _find(names)
    from polychotomy.cli._reproduction_tables import print_reproduction

    if quick and folds is None:
        folds = _QUICK_FOLDS
    options = {
        "experiments": [each.name for each in chosen],
        "data": data,
        "methods": methods,
        "folds": folds,
        "quick": quick,
        "seed": seed,
    }
    with (
        handle_interrupts(store) as check,
        report_errors(),
        use_workers(jobs, scheduler) as n_jobs,
    ):
        check_report(report)
        for path in () if out is None else (out, _environment_path(out)):
            check_can_write(path)
        wanted = [data or (each.quick if quick else None) for each in chosen]
        for each, some in zip(chosen, wanted, strict=True):
            each.check_names(some, methods)  # of all, before data are loaded for any
        plans = [
            each.plan(some, methods=methods or None, n_folds=folds, seed=seed)
            for each, some in zip(chosen, wanted, strict=True)
        ]
        with open_results(store) as kept:
            results, failures = _run(plans, kept, n_jobs, check)
            print_failures(failures)
            found = [e.figures(cells) for e, cells in zip(chosen, results, strict=True)]
            figures = [figure for some in found for figure in some]
            if not figures:
                raise ValueError(_nothing(results))
            environment = _environment(options, results, failures)
            if out is not None:
                _write(figures, environment, out)
            if report is not None:
                _report(figures, chosen, report, environment)
    if as_json:
        typer.echo(json.dumps(_as_dict(figures, chosen, environment, failures), indent=2))
    else:
        print_reproduction(figures, chosen)


def _run(
    plans: "Sequence[Schedule]", store: "Store", jobs: int, check: Any
) -> "tuple[list[list[Cell]], list[Failure]]":
    """Return the cells of each plan; what they share is computed once."""
    from polychotomy.evaluate import Schedule

    joined = Schedule.join(plans)
    for remark in joined.remarks:
        print_message(remark)
    cells, failures = run_with_progress(joined, store, jobs, check)
    failed = {failure.key for failure in failures}
    rest = iter(cells)  # they come in the order of the tasks, those that failed left out
    return [
        list(islice(rest, sum(task.key not in failed for task in plan.tasks))) for plan in plans
    ], failures


def _nothing(results: "Sequence[Sequence[Cell]]") -> str:
    if any(results):
        return "What was run makes none of the published figures. Leave out --methods or name more."
    return "Nothing could be computed."


def _environment(
    options: dict[str, Any], results: "Sequence[Sequence[Cell]]", failures: "Sequence[Failure]"
) -> dict[str, Any]:
    """Return what the figures depend on, and what they cost."""
    cells = {cell.key: cell for some in results for cell in some}
    seconds = sum(cell.fit_seconds + cell.predict_seconds for cell in cells.values())
    packages = ("numpy", "scipy", "scikit-learn", "numba", "galois", "joblib")
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "options": options,
        "cells": len(cells),
        "failures": len(failures),
        "cpu_seconds_without_tuning": round(seconds, 1),
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {"polychotomy": polychotomy.__version__}
        | {name: version(name) for name in packages},
    }


def _environment_path(out: Path) -> Path:
    return out.with_suffix(".environment.json")


def _write(figures: "Sequence[Figure]", environment: dict[str, Any], out: Path) -> None:
    from polychotomy.lab import experiments

    experiments.write_figures(figures, out)
    with replacing(_environment_path(out)) as beside:
        beside.write_text(json.dumps(environment, indent=2) + "\n", "utf-8")
    print_message(f"{len(figures)} figures in {out}")


def _report(
    figures: "Sequence[Figure]",
    chosen: "Sequence[Experiment]",
    path: Path,
    environment: dict[str, Any],
) -> None:
    from polychotomy.report import write_reproduction

    write_reproduction(figures, chosen, path, environment=environment)
    print_message(f"Report: {path.resolve()}")


def _as_dict(
    figures: "Sequence[Figure]",
    chosen: "Sequence[Experiment]",
    environment: dict[str, Any],
    failures: "Sequence[Failure]",
) -> dict[str, Any]:
    from polychotomy.lab import experiments

    tables = experiments.compare_tables(figures)
    return {
        "tables": {
            table.name: {
                "title": table.title,
                "agreeing": table.n_agreeing,
                "judged": len(table.judged),
                "figures": [_plain(figure) for figure in table.figures],
            }
            for table in tables
        },
        "choices": {each.name: each.choices for each in chosen},
        "environment": environment,
        "failures": [asdict(failure) for failure in failures],
    }


def _plain(figure: "Figure") -> dict[str, Any]:
    """Return a figure as JSON can hold it: nothing for what is not a number."""
    values = asdict(figure) | {"difference": figure.difference}
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in values.items()
    }
