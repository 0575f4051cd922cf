"""``polychotomy evaluate``: how good a model is on labelled samples."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from polychotomy.cli._disk import check_exists, printable, report_errors
from polychotomy.cli._models import ModelFile, load_with_warning, report_warnings
from polychotomy.cli._options import AsJson, NewEncoding
from polychotomy.cli._summary_tables import check_report, make_console

if TYPE_CHECKING:
    from polychotomy.cli._evaluation import Evaluation

_MOST_CLASSES = 30
_MOST_PAIRS = 10
_WIDEST_MATRIX = 12


def evaluate_command(
    model: ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            help="A file of labelled samples, a known data set, or - for the standard "
            "input, as CSV."
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(help="Column of the labels; by default that of the training file."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report to this HTML file.", metavar="FILE.html")
    ] = None,
    encoding: NewEncoding = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate a model on labelled samples that it has not seen.

    Shows the error, log loss, Brier score, precision and recall of each class, confusions, and the
    error that remains if uncertain predictions are rejected.

    Examples: `polychotomy evaluate land.skops test.csv`, `polychotomy evaluate land.skops test.csv
    --report test.html`
    """
    with report_errors():
        check_exists(model)
        check_report(report)
    from polychotomy.cli._evaluation import evaluate_model, evaluation_cell

    with report_errors(), report_warnings():
        loaded = load_with_warning(model)
        found = evaluate_model(loaded, data, target, encoding)
        if report is not None:
            from polychotomy.report import write_report

            title = f"{model.name} on {found.name}"
            write_report(
                [evaluation_cell(loaded, found)], report, model=loaded.pipeline, title=title
            )
            typer.echo(f"Report: {report.resolve()}", err=True)
    if as_json:
        typer.echo(json.dumps({"model": str(model), **found.as_dict()}, indent=2))
    else:
        _print(found, str(model))


def _print(found: "Evaluation", model: str) -> None:
    console = make_console()

    def say(text: str) -> None:
        typer.echo(printable(text))

    say(f"{model} on {found.name}: {found.words}")
    if scores := found.scores:
        say(f"Log loss {scores['log_loss']:.3f}, Brier score {scores['brier']:.3f}.")
    for remark in found.remarks:
        say(remark)
    console.print(_class_table(found))
    if len(found.classes) <= _WIDEST_MATRIX:
        console.print(_confusion_table(found))
    pairs = found.confused_pairs[:_MOST_PAIRS]
    if pairs:
        say("Most frequent confusions:")
        for truth, predicted, count in pairs:
            say(f"{count:>6}  {truth} predicted as {predicted}")
    if found.reject:
        console.print(_reject_table(found))


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column(headings[0], no_wrap=True, max_width=40)
    for heading in headings[1:]:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _class_table(found: "Evaluation") -> Table:
    """Return precision and recall of all classes; of many, those with the lowest recall."""
    rows = found.per_class
    title = "Each class"
    if len(rows) > _MOST_CLASSES:
        known = [row for row in rows if row["recall"] is not None]
        rows = sorted(known, key=lambda row: row["recall"])[:_MOST_CLASSES]
        title = f"The {len(rows)} classes with the lowest recall of {len(found.classes)}"
    table = _table(title, "class", "samples", "predicted", "precision %", "recall %")
    for row in rows:
        shares = (_percent(row[name]) for name in ("precision", "recall"))
        name = Text(printable(row["class"]))
        table.add_row(name, str(row["samples"]), str(row["predicted"]), *shares)
    return table


def _confusion_table(found: "Evaluation") -> Table:
    names = map(printable, found.classes)
    table = _table("Confusion: true classes down, predictions across", "", *names)
    for name, counts in zip(found.classes, found.confusion.tolist(), strict=True):
        table.add_row(Text(printable(name)), *(str(count) if count else "·" for count in counts))
    return table


def _reject_table(found: "Evaluation") -> Table:
    table = _table("If unsure predictions are rejected", "accepted %", "error %", "--reject")
    for point in found.reject:
        least = f"{point['threshold']:.4f}"
        table.add_row(_percent(point["coverage"]), _percent(point["error"]), least)
    return table


def _percent(share: Any) -> str:
    return "–" if share is None else f"{100 * share:.2f}"
