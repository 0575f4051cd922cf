"""``polychotomy results``: list, show and export the results in a store."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from polychotomy.cli._disk import check_can_write, printable, report_errors
from polychotomy.cli._options import AsJson, Prefer, Preference, flag
from polychotomy.cli._summary_tables import (
    check_report,
    make_console,
    print_summary,
    write_report,
)
from polychotomy.errors import StoreError
from polychotomy.files import replacing

if TYPE_CHECKING:
    from polychotomy.evaluate import Cell

results_app = typer.Typer(
    help="List, show and export the results in a store of `polychotomy compare`.",
    no_args_is_help=True,
)

StoreFile = Annotated[Path, typer.Argument(metavar="STORE", help="The file given as --store.")]
DataSet = Annotated[str | None, typer.Option("--data-set", help="Only this data set.")]
Base = Annotated[str | None, typer.Option(help="Only this binary learner.")]


@results_app.command("list")
def list_results(store: StoreFile, as_json: AsJson = False) -> None:
    """List the comparisons in a store, and how many cells are finished.

    Examples: `polychotomy results list land.sqlite`, `polychotomy results list land.sqlite --json`
    """
    _check_exists(store)
    from polychotomy.evaluate import comparisons

    with report_errors():
        groups = comparisons(_cells(store))
    counts = [
        {"comparison": words, "data_set": data_set, "base": base, "cells": n}
        for words, cells in groups.items()
        for (data_set, base), n in Counter((cell.data_set, cell.base) for cell in cells).items()
    ]
    if as_json:
        typer.echo(json.dumps(counts, indent=2))
        return
    table = Table("data set", "base", box=None)
    table.add_column("cells", justify="right")
    table.add_column("comparison")
    for row in counts:
        name = Text(printable(str(row["data_set"])))
        table.add_row(name, str(row["base"]), str(row["cells"]), str(row["comparison"]))
    make_console(160).print(table)


@results_app.command("show")
def show_results(
    store: StoreFile,
    data_set: DataSet = None,
    base: Base = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report to this HTML file.", metavar="FILE.html")
    ] = None,
    prefer: Prefer = Preference.balanced,
    as_json: AsJson = False,
) -> None:
    """Show the table and the recommendation of each comparison in a store.

    A report shows a single comparison. Examples: `polychotomy results show land.sqlite`,
    `polychotomy results show land.sqlite --data-set land --report land.html`
    """
    _check_exists(store)
    from polychotomy.evaluate import comparisons, summarise

    with report_errors():
        check_report(report)
        groups = comparisons(_cells(store, data_set, base))
        if not groups:
            raise ValueError(f"There are no such results in {store}.")
        if report is not None and len(groups) > 1:
            raise ValueError(f"A report shows one comparison, and {store} has {len(groups)}.")
        summaries = {
            words: summarise(cells, prefer=prefer.value) for words, cells in groups.items()
        }
        if as_json:
            found = {words: summary.as_dict() for words, summary in summaries.items()}
            typer.echo(json.dumps(found, indent=2))
        else:
            for words, summary in summaries.items():
                print_summary(summary, words)
        if report is not None:
            for words, cells in groups.items():
                write_report(cells, report, words, summaries[words])


@results_app.command("export")
def export_results(
    store: StoreFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write, .csv or .parquet.")],
    data_set: DataSet = None,
    base: Base = None,
    predictions: Annotated[
        bool, flag("--predictions", "A row for each tested sample instead of each cell.")
    ] = False,
) -> None:
    """Write the results to a table: a row for each cell, or for each tested sample.

    Examples: `polychotomy results export land.sqlite -o cells.csv`, `polychotomy results export
    land.sqlite -o predictions.parquet --predictions`
    """
    if out.suffix not in (".csv", ".parquet"):
        raise typer.BadParameter("its name must end in .csv or .parquet", param_hint="--out")
    _check_exists(store)
    with report_errors():
        check_can_write(out)
        row_maker = _prediction_rows if predictions else _cell_rows
        rows = [row for cell in _cells(store, data_set, base) for row in row_maker(cell)]
        if not rows:
            raise ValueError(f"There are no such results in {store}.")
        _write_table(rows, out)
    typer.echo(f"{len(rows)} rows in {out}", err=True)


def _check_exists(store: Path) -> None:
    """Refuse a store that does not exist, before anything is loaded."""
    with report_errors():
        if not store.exists():
            raise StoreError(f"There is no store {store}.")


def _cells(store: Path, data_set: str | None = None, base: str | None = None) -> "list[Cell]":
    from polychotomy.evaluate import Store

    with Store(store, create=False) as opened:
        return list(opened.cells(data_set, base=base))


def _identity(cell: "Cell") -> dict[str, Any]:
    return {
        "data_set": cell.data_set,
        "reduction": cell.reduction,
        "base": cell.base,
        "protocol": cell.settings["protocol"],
        "tuning": cell.settings["tuning"],
        "seed": cell.seed,
        "fold": cell.fold,
    }


def _cell_rows(cell: "Cell") -> Iterator[dict[str, Any]]:
    metrics = ("error", "log_loss", "brier", "uncertainty_coefficient")
    yield {
        **_identity(cell),
        **{name: cell.metrics.get(name) for name in metrics},
        "n_train": cell.settings["n_train"],
        "n_test": len(cell.rows),
        "n_classes": len(cell.classes),
        "n_problems": cell.n_problems,
        "n_questions": None if cell.cost is None else cell.cost.questions,
        "fit_seconds": cell.fit_seconds,
        "predict_seconds": cell.predict_seconds,
        "chosen": json.dumps(cell.chosen, ensure_ascii=False),
        **{name.replace("-", "_"): version for name, version in cell.versions.items()},
        "key": cell.key,
    }


def _prediction_rows(cell: "Cell") -> Iterator[dict[str, Any]]:
    for i, row in enumerate(cell.rows.tolist()):
        probability = None if cell.probabilities is None else cell.probabilities[i]
        yield {
            **_identity(cell),
            "row": row,
            "truth": cell.classes[cell.truth[i]],
            "predicted": cell.classes[cell.predicted[i]],
            "probability_of_truth": None
            if probability is None
            else float(probability[cell.truth[i]]),
            "largest_probability": None if probability is None else float(probability.max()),
        }


def _write_table(rows: list[dict[str, Any]], file: Path) -> None:
    from polychotomy.errors import require

    frame = require("pandas", extra="data").DataFrame(rows)
    with replacing(file) as beside:
        if file.suffix == ".csv":
            frame.to_csv(beside, index=False)
        else:
            require("pyarrow", extra="parquet")
            frame.to_parquet(beside, engine="pyarrow", index=False)
