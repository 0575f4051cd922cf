"""Summaries of comparisons as tables in the terminal, as JSON, and as a report."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from polychotomy.cli._disk import check_can_write, printable
from polychotomy.errors import require

if TYPE_CHECKING:
    from polychotomy.evaluate import Cell, Row, Summary
    from polychotomy.report import Source

_MOST_TABLES = 3


def make_console(width: int = 120) -> Console:
    """Return the console for results, so many columns wide where there is no terminal.

    Texts are shown as they are: names from the data may look like markup.
    """
    wide = None if sys.stdout.isatty() else width
    return Console(highlight=False, markup=False, emoji=False, width=wide)


def print_summary(summary: "Summary", title: str) -> None:
    """Print the tables, the recommendation and the tests behind it."""
    console = make_console()
    several = len(summary.tables) > 1
    if several and len(summary.tables) <= _MOST_TABLES:
        for name, rows in summary.tables.items():
            console.print(_table(rows, name))
    elif several:
        console.print(_errors(summary))
    console.print(_table(summary.overall, title))
    console.print(Text(f"Use {summary.recommendation.words}", style="bold"))
    for said in filter(None, (summary.how_sure, summary.recommendation.experience)):
        console.print(Text(said))


def _table(rows: "Sequence[Row]", title: str) -> Table:
    from polychotomy.evaluate import rank_digits

    digits = rank_digits(rows)
    table = Table(title=Text(printable(title)), title_justify="left", box=SIMPLE_HEAD)
    table.add_column("reduction", overflow="fold")  # the only one that may wrap
    for heading in ("problems", "error %", "log loss", "Brier", "CPU s", "rank"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("against best", no_wrap=True)
    for row in rows:
        table.add_row(
            row.method,
            f"{row.n_problems:.4g}",
            _error(row),
            *(_value(row, name) for name in ("log_loss", "brier")),
            f"{row.seconds:.2g}",
            "" if row.rank is None else f"{row.rank:.{digits}f}",
            _against_best(row),
            style="bold" if row.verdict == "best" else None,
        )
    return table


def _error(row: "Row") -> str:
    spread = row.standard_errors.get("error")
    return f"{100 * row.means['error']:.2f}" + (f" ± {100 * spread:.2f}" if spread else "")


def _value(row: "Row", metric: str) -> str:
    return f"{round(row.means[metric], 3) + 0.0:.3f}" if metric in row.means else "–"  # no -0.000


def _against_best(row: "Row") -> str:
    if row.pvalue is None:
        return row.verdict
    p = "p < 0.001" if row.pvalue < 0.001 else f"p = {row.pvalue:.2g}"
    where = f" on {row.worse_on}" if row.worse_on else ""
    return f"worse{where}, {p}" if row.verdict == "worse" else p


def _errors(summary: "Summary") -> Table:
    """Return the errors of all methods on all data sets, the longer list as rows."""
    names, data_sets = [row.method for row in summary.overall], list(summary.tables)
    cells = {}
    for data_set, rows in summary.tables.items():
        least = min(row.means["error"] for row in rows)
        for row in rows:
            error = row.means["error"]
            style = "bold" if error == least else ""
            cells[data_set, row.method] = Text(f"{100 * error:.2f}", style=style)
    table = Table(title="Error % on each data set", title_justify="left", box=SIMPLE_HEAD)
    methods_down = len(names) > len(data_sets)
    table.add_column("reduction" if methods_down else "data set")
    for name in data_sets if methods_down else names:
        table.add_column(printable(name), justify="right", overflow="fold")
    lines = [[cells.get((d, name), Text("–")) for name in names] for d in data_sets]
    lines = [list(line) for line in zip(*lines, strict=True)] if methods_down else lines
    for name, line in zip(names if methods_down else data_sets, lines, strict=True):
        table.add_row(Text(printable(name)), *line)
    return table


def check_report(path: Path | None) -> None:
    """Raise an error if a report cannot be written, before anything is computed."""
    if path is not None:
        check_can_write(path)
        for module in ("jinja2", "vl_convert"):
            require(module, extra="report")


def write_report(
    cells: "Sequence[Cell]",
    path: Path,
    title: str,
    summary: "Summary",
    model: Any = None,
    source: "Source | None" = None,
) -> None:
    """Write the report, with the problems of a trained model, and print its path."""
    from polychotomy.report import write_report as write

    write(cells, path, model=model, title=title, summary=summary, source=source)
    typer.echo(f"Report: {path.resolve()}", err=True)
