"""``polychotomy compare``: which reduction to use, on one data set or many."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polychotomy.cli._disk import print_column_remarks, printable, report_errors
from polychotomy.cli._file_options import FileOptions, reads_files
from polychotomy.cli._options import (
    BASES,
    DEFAULT_BASE,
    REDUCTIONS,
    AsJson,
    Budget,
    ClassOrder,
    Jobs,
    Prefer,
    Preference,
    Scheduler,
    Seed,
    StoreFile,
    Tune,
    check_bases,
    check_reductions,
    parse_budget,
    parse_class_order,
    put_in_order,
    split_names,
)
from polychotomy.cli._reported_model import train_recommended
from polychotomy.cli._running import (
    handle_interrupts,
    open_results,
    print_failures,
    print_message,
    print_not_tried,
    print_plan,
    run_with_progress,
    use_workers,
)
from polychotomy.cli._summary_tables import check_report, print_summary, write_report

if TYPE_CHECKING:
    from polychotomy.evaluate import Failure, Samples, Summary, Task
    from polychotomy.report import Source

_PROTOCOL = re.compile(r"split|(split_)?cv\d*|repeat(\d+(:\d+/\d+)?)?")


def _check_protocol(text: str) -> str:
    if not _PROTOCOL.fullmatch(text):  # known without loading scikit-learn
        raise typer.BadParameter(
            "must be cvN, split, split_cvN, repeatN or repeatN:TRAIN/TEST, with numbers for the "
            f"capitals. Got {text!r} instead.",
            param_hint="--protocol",
        )
    from polychotomy.evaluate import Protocol

    try:
        return str(Protocol.of(text))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--protocol") from None


@reads_files
def compare_command(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA…",
            help="Files (CSV, Excel, Parquet, ARFF, LIBSVM, npz) or names of known data sets. By "
            "default scikit-learn's digits.",
        ),
    ] = None,
    *,
    file: FileOptions,
    base: Annotated[
        str,
        typer.Option(help=f"Binary learners, separated by commas: {BASES}."),
    ] = DEFAULT_BASE,
    reductions: Annotated[
        str,
        typer.Option(
            help="standard, all (that suit the learners), or names separated by commas, such as "
            "one_vs_one,bch:hamming "
            f"({REDUCTIONS}).",
        ),
    ] = "standard",
    protocol: Annotated[
        str,
        typer.Option(
            help="cvN: N-fold cross-validation. split: the data set's own test part, otherwise one "
            "random test part of 30 %. split_cvN: its own test part, otherwise N folds. repeatN: N "
            "random test parts of 30 %. repeatN:TRAIN/TEST: N random splits of these sizes.",
        ),
    ] = "cv5",
    tune: Tune = False,
    budget: Budget = None,
    samples: Annotated[
        int | None,
        typer.Option(
            min=2, help="Use at most this many samples of each data set, stratified by class."
        ),
    ] = None,
    class_order: ClassOrder = None,
    prefer: Prefer = Preference.balanced,
    seed: Seed = 0,
    jobs: Jobs = -1,
    scheduler: Scheduler = None,
    store: StoreFile = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write a report to this HTML file. It shows the recommended reduction, trained on "
            "all samples.",
            metavar="FILE.html",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare reductions and recommend one.

    Every reduction is trained and tested on the same folds. Within each fold, numbers are
    standardised and other columns are one-hot encoded. The table shows means over the folds
    with their standard errors, median CPU seconds to train and predict a fold, the rank by error
    (methods with the same error share one), and which reductions are significantly worse than the
    best. The recommendation weighs errors against the number of binary
    problems, see `--prefer`; it does not depend on times. An interrupted run continues with the
    same `--store`.

    For example:

    * `polychotomy compare`
    * `polychotomy compare land.csv --target cover --base svm --tune --store land.sqlite`
    * `polychotomy compare wine --base svm --reductions one_vs_one,sbc_bch,sbc_kernel`
    * `polychotomy compare satimage glass vowel --reductions all --protocol split --report all.html`

    Exit status: 0 done; 1 the data, the store or the report's path cannot be used, or nothing could
    be computed; 2 wrong usage; 130 interrupted.
    """
    seconds = parse_budget(budget)
    named = [name for name in split_names(reductions) if name not in ("standard", "all")]
    check_reductions(named, "--reductions")
    check_bases(split_names(base), tuned=tune)
    protocol = _check_protocol(protocol)
    if tune and data:  # "--tune greedy" was how it was written once
        data = [each for each in data if each != "greedy"]
    from polychotomy.evaluate import Schedule, summarise

    with (
        handle_interrupts(store) as check,
        report_errors(),
        use_workers(jobs, scheduler) as n_jobs,
    ):
        check_report(report)
        data_sets = [
            put_in_order(each if samples is None else each.limited(samples, seed), class_order)
            for each in _read(data or ["digits"], file)
        ]
        schedule = Schedule(
            data_sets,
            split_names(reductions),
            split_names(base),
            protocol=protocol,
            tuning="greedy" if tune else "none",
            seed=seed,
            class_order="data" if class_order == "data" else None,
        )
        _print_unsuited(reductions, base)
        for remark in schedule.remarks:
            print_message(remark)
        with open_results(store) as kept:
            print_plan(schedule, kept, n_jobs, seconds)
            found, failures = run_with_progress(schedule, kept, n_jobs, check, seconds)
            print_failures(failures)
            cells, not_tried = schedule.comparable(found, failures)
            print_not_tried(not_tried)
            if not cells:
                raise ValueError("Nothing could be computed.")
            title = f"{_title(data_sets)}; {', '.join(split_names(base))}, {protocol}"
            summary = summarise(cells, prefer=prefer.value)
            task = schedule.task_of(summary.recommendation.method)
            _show(summary, failures, not_tried, title, as_json)
            if len(data_sets) == 1 and not as_json:
                _show_next_step(task, (data or ["digits"])[0], file, class_order)
                if split_names(base) == [DEFAULT_BASE]:
                    _print_hint(data_sets[0])
            if report is not None:
                model = train_recommended(task, schedule.samples_of(task), n_jobs)
                place = [each.name for each in data_sets].index(task.data_set)
                path = (data or ["digits"])[place]
                source = _source(path, file, samples, class_order)
                write_report(cells, report, title, summary, model, source)


def _source(path: str, file: FileOptions, limit: int | None, class_order: str | None) -> "Source":
    """Return where the samples of the report come from."""
    from polychotomy.report import Source

    return Source(path, file.given, limit, parse_class_order(class_order))


def _show(
    summary: "Summary", failures: "list[Failure]", not_tried: str, title: str, as_json: bool
) -> None:
    if as_json:
        failed = [
            {"data_set": f.data_set, "method": f.reduction, "fold": f.fold, "reason": f.reason}
            for f in failures
        ]
        more = {"failures": failed, "not_tried": not_tried}
        typer.echo(json.dumps(summary.as_dict() | more, indent=2))
    else:
        print_summary(summary, title)


def _show_next_step(task: "Task", data: str, file: FileOptions, class_order: str | None) -> None:
    """Print the command that trains what is recommended."""
    words = ["polychotomy", "fit", data, *file.words()]
    words += ["--base", task.base, "--reduction", task.reduction]
    words += ["--class-order", class_order] if class_order else []
    words += ["--tune"] if task.tuner is not None else []
    typer.echo(printable(f"Train it with: {shlex.join([*words, '-o', f'{task.data_set}.skops'])}"))


def _print_hint(samples: "Samples") -> None:
    """Print a hint if another learner than the default has a much lower error."""
    from polychotomy.cli._quick_look import hint_at_learner

    if hint := hint_at_learner(samples):
        print_message(hint)


def _print_unsuited(reductions: str, base: str) -> None:
    """Print which reductions "standard" and "all" leave out for each learner, and why."""
    from polychotomy.reductions import make_base, suitable_reductions

    for learner in split_names(base):
        left_out: dict[str, list[str]] = {}
        _, unsuited = suitable_reductions(split_names(reductions), make_base(learner))
        for name, reason in unsuited.items():
            left_out.setdefault(reason, []).append(name)
        for reason, names in left_out.items():
            print_message(f"Skipped with {learner}: {', '.join(names)}. {reason}")


def _read(data: list[str], file: FileOptions) -> "list[Samples]":
    """Return all data sets; files of the same name in different folders are named by path."""
    from polychotomy.evaluate import Samples

    bunches = [file.read(each) for each in data]
    for bunch in bunches:
        print_column_remarks(bunch)
    found = [Samples.of(bunch) for bunch in bunches]
    names = [samples.name for samples in found]
    if len(set(names)) == len(names):
        return found
    if len(set(data)) < len(data):
        raise ValueError("A data set was given twice.")
    return [replace(samples, name=each) for samples, each in zip(found, data, strict=True)]


def _title(data_sets: "list[Samples]") -> str:
    if len(data_sets) > 1:
        return f"{len(data_sets)} data sets"
    from polychotomy.datasets import used_columns

    (one,) = data_sets
    framed = hasattr(one.data, "columns")
    n, d = len(one.y), len(used_columns(one.data, one.text)) if framed else one.data.shape[1]
    return f"{one.name}: {n} samples, {d} features, {len(one.classes)} classes"
