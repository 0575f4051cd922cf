"""``polychotomy compare``: which reduction to use, for one data set or fifty."""

import json
import shlex
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from polychotomy.cli._disk import printable, tell_columns, telling_errors
from polychotomy.cli._file_options import FileOptions, reads_files
from polychotomy.cli._options import AsJson, Jobs, Prefer, Preference, Seed, StoreFile, check_bases
from polychotomy.cli._reported_model import train_recommended
from polychotomy.cli._running import (
    keeping_results,
    run_with_progress,
    tell,
    tell_failures,
    telling_interruption,
)
from polychotomy.cli._summary_tables import check_report, print_summary, write_report
from polychotomy.evaluate import (
    DEFAULT_FOLDS,
    Failure,
    Protocol,
    Samples,
    Schedule,
    Summary,
    Task,
    summarise,
)
from polychotomy.reductions import (
    Reduction,
    available_bases,
    available_reductions,
    make_base,
    suitable_reductions,
)


class Tuning(StrEnum):
    """How parameters of the binary learners are found."""

    none = "none"
    greedy = "greedy"


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _check_reductions(text: str) -> str:
    try:
        for name in _names(text):
            if name not in ("standard", "all"):
                Reduction.of(name)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from None
    return text


def _check_protocol(text: str) -> str:
    try:
        return str(Protocol.of(text))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


@reads_files
def compare_command(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA…",
            help="Files (CSV, Excel, Parquet, ARFF, LIBSVM, npz) or names of known data sets; by "
            "default scikit-learn's digits.",
        ),
    ] = None,
    *,
    file: FileOptions,
    base: Annotated[
        str,
        typer.Option(help=f"Binary learners, with commas: {', '.join(available_bases())}."),
    ] = "logistic",
    reductions: Annotated[
        str,
        typer.Option(
            callback=_check_reductions,
            help="standard, all that suit the learners, or names with commas, such as "
            "one_vs_one,bch:hamming "
            f"({', '.join(available_reductions())}).",
        ),
    ] = "standard",
    protocol: Annotated[
        str,
        typer.Option(
            callback=_check_protocol,
            help="cvN: N-fold cross-validation. split: the data set's own test part, or else 30 % "
            "drawn once. split_cvN: its own test part, or else N folds. repeatN: N draws of 30 %; "
            "repeatN:TRAIN/TEST: N draws of so many samples.",
        ),
    ] = f"cv{DEFAULT_FOLDS}",
    tune: Annotated[
        Tuning,
        typer.Option(
            help="greedy: search kernel width and C, or the learner's own, in every fold."
        ),
    ] = Tuning.none,
    samples: Annotated[
        int | None,
        typer.Option(
            min=2, help="Use at most this many samples per data set, drawn class by class."
        ),
    ] = None,
    prefer: Prefer = Preference.balanced,
    seed: Seed = 0,
    jobs: Jobs = -1,
    store: StoreFile = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write a report to this HTML file, with the problems of the recommended "
            "reduction trained on all samples.",
            metavar="FILE.html",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare reductions, and say which to use.

    Every reduction is trained and tested on the same folds; numbers are standardised and other
    columns become indicators, by the training part alone. The table shows means over the folds
    with their standard errors, median CPU seconds, the rank by error, and which reductions are
    significantly worse than the best. The recommendation weighs errors against the number of binary
    problems, see `--prefer`; times decide nothing. Interrupt it when you like: with the same
    `--store` it continues.

    For example:

    * `polychotomy compare`
    * `polychotomy compare land.csv --target cover --base svm --tune greedy --store land.sqlite`
    * `polychotomy compare wine --base svm --reductions one_vs_one,sbc_bch,sbc_kernel`
    * `polychotomy compare satimage glass vowel --reductions all --protocol split --report all.html`

    Exit status: 0 done; 1 the data, the store or the report's path cannot be used, or nothing could
    be computed; 2 wrong usage; 130 interrupted.
    """
    check_bases(_names(base), tuned=tune is Tuning.greedy)
    with telling_interruption(store) as check, telling_errors():
        check_report(report)
        data_sets = [
            each if samples is None else each.limited(samples, seed)
            for each in _read(data or ["digits"], file)
        ]
        schedule = Schedule(
            data_sets,
            _names(reductions),
            _names(base),
            protocol=protocol,
            tuning=tune.value,
            seed=seed,
        )
        _tell_unsuited(reductions, base)
        for remark in schedule.remarks:
            tell(remark)
        with keeping_results(store) as kept:
            cells, failures = run_with_progress(schedule, kept, jobs, check)
            tell_failures(failures)
            if not cells:
                raise ValueError("Nothing could be computed.")
            title = f"{_title(data_sets)}; {', '.join(_names(base))}, {protocol}"
            summary = summarise(cells, prefer=prefer.value)
            task = schedule.task_of(summary.recommendation.method)
            _show(summary, failures, title, as_json)
            if len(data_sets) == 1 and not as_json:
                _show_next_step(task, (data or ["digits"])[0], file)
            if report is not None:
                model = train_recommended(task, schedule.samples_of(task), jobs)
                write_report(cells, report, title, summary, model)


def _show(summary: Summary, failures: list[Failure], title: str, as_json: bool) -> None:
    if as_json:
        failed = [
            {"data_set": f.data_set, "method": f.reduction, "fold": f.fold, "reason": f.reason}
            for f in failures
        ]
        typer.echo(json.dumps(summary.as_dict() | {"failures": failed}, indent=2))
    else:
        print_summary(summary, title)


def _show_next_step(task: Task, data: str, file: FileOptions) -> None:
    """Print the command that trains what is recommended."""
    words = ["polychotomy", "fit", data, *file.words()]
    words += ["--base", task.base, "--reduction", task.reduction]
    words += ["--tune"] if task.tuner is not None else []
    typer.echo(printable(f"Train it with: {shlex.join([*words, '-o', f'{task.data_set}.skops'])}"))


def _tell_unsuited(reductions: str, base: str) -> None:
    """Say once for each learner and reason what "standard" and "all" leave out."""
    for learner in _names(base):
        left_out: dict[str, list[str]] = {}
        _, unsuited = suitable_reductions(_names(reductions), make_base(learner))
        for name, reason in unsuited.items():
            left_out.setdefault(reason, []).append(name)
        for reason, names in left_out.items():
            tell(f"Skipped with {learner}: {', '.join(names)}. {reason}")


def _read(data: list[str], file: FileOptions) -> list[Samples]:
    """Return all data sets; files whose names are equal but for the folder go by their paths."""
    bunches = [file.read(each) for each in data]
    for bunch in bunches:
        tell_columns(bunch)
    found = [Samples.of(bunch) for bunch in bunches]
    names = [samples.name for samples in found]
    if len(set(names)) == len(names):
        return found
    if len(set(data)) < len(data):
        raise ValueError("A data set was given twice.")
    return [replace(samples, name=each) for samples, each in zip(found, data, strict=True)]


def _title(data_sets: list[Samples]) -> str:
    if len(data_sets) > 1:
        return f"{len(data_sets)} data sets"
    (one,) = data_sets
    n, d = one.data.shape
    return f"{one.name}: {n} samples, {d} features, {len(one.classes)} classes"
