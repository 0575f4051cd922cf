"""Reproductions as tables in the terminal, and the list of experiments."""

import json
from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from polychotomy import datasets
from polychotomy.cli._summary_tables import make_console
from polychotomy.lab import experiments
from polychotomy.lab.experiments import (
    Comparison,
    Experiment,
    Figure,
    compare_tables,
    quantity_label,
    write_value,
)

_VERDICTS = {True: "yes", False: "NO", None: "–"}
_MOST_NAMES = 15
_MARKS = {"OpenML": "↓", "nowhere": "?"}


def print_reproduction(figures: Sequence[Figure], chosen: Sequence[Experiment]) -> None:
    """Print our figures and theirs, how many agree, and what the papers leave open."""
    console = make_console()
    tables = compare_tables(figures)
    for table in tables:
        console.print(_table(table))
        console.print(Text(table.words, style="bold"))
        for words in table.rank_words:
            console.print(Text(words))
        console.print()
    if len(tables) > 1:
        n, judged = sum(t.n_agreeing for t in tables), sum(len(t.judged) for t in tables)
        console.print(Text(f"In all, {n} of {judged} figures agree.", style="bold"))
    console.print(Text("What the papers leave open, and what was taken:"))
    for choice in dict.fromkeys(choice for each in chosen for choice in each.choices):
        console.print(Text(f"· {choice}"))


def _table(comparison: Comparison) -> Table:
    several = len(comparison.quantities) > 1
    title = f"{comparison.name}: {comparison.title}"
    if not several:
        title += f"; {quantity_label(comparison.quantities[0])}"
    table = Table(title=Text(title), title_justify="left", box=SIMPLE_HEAD)
    table.add_column("data set", no_wrap=True)
    table.add_column("method", overflow="fold")
    if several:
        table.add_column("quantity", no_wrap=True)
    for heading in ("ours", "theirs", "difference", "folds"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("agrees", no_wrap=True)
    order = list(dict.fromkeys(figure.data_set for figure in comparison.figures))
    for figure in sorted(comparison.figures, key=lambda figure: order.index(figure.data_set)):
        table.add_row(*_cells(figure, several), style="bold" if figure.agrees is False else None)
    return table


def _cells(figure: Figure, several: bool) -> list[str | Text]:
    def written(value: float, spread: float) -> str:
        text = write_value(value, figure.quantity)
        return text if isnan(spread) else f"{text} ± {write_value(spread, figure.quantity)}"

    ours = written(figure.ours, figure.spread)
    if not figure.complete and isfinite(figure.low):
        low, high = (write_value(end, figure.quantity) for end in (figure.low, figure.high))
        ours = f"{write_value(figure.ours, figure.quantity)} ({low} to {high})"
    what = [quantity_label(figure.quantity)] if several else []
    return [
        Text(figure.data_set),
        Text(figure.method),
        *what,
        ours,
        written(figure.theirs, figure.their_spread),
        write_value(figure.difference, figure.quantity, sign=True),
        f"{figure.n_folds} of {figure.of_folds}" if figure.of_folds else "",
        _VERDICTS[figure.agrees],
    ]


def print_experiments(as_json: bool) -> None:
    """Print which experiments there are, what each needs and how long it takes."""
    known = [experiments.get(name) for name in experiments.names()]
    if as_json:
        typer.echo(json.dumps([_facts(each) for each in known], indent=2))
        return
    table = Table("name", "what it shows", box=SIMPLE_HEAD)
    table.add_column("hours", justify="right")
    table.add_column("data sets", overflow="fold")
    for each in known:
        sources = _sources(each)
        names = [_MARKS.get(sources[name], "") + name for name in each.data_sets[:_MOST_NAMES]]
        more = len(each.data_sets) - len(names)
        names += [f"and {more} more"] * (more > 0)
        table.add_row(each.name, each.title, f"{each.hours:g}", "; ".join(names))
    console = make_console()
    console.print(table)
    console.print(
        Text(
            "Hours are estimates for the whole on two cores; --quick takes minutes. ↓ will be "
            "downloaded from OpenML; ? must be put into the folder that POLYCHOTOMY_DATA names."
        )
    )


def _facts(experiment: Experiment) -> dict[str, Any]:
    sources = _sources(experiment)
    return {
        "name": experiment.name,
        "title": experiment.title,
        "tables": list(experiment.tables),
        "data_sets": [
            {"name": name, "source": sources[name], "quick": name in experiment.quick}
            for name in experiment.data_sets
        ],
        "hours": experiment.hours,
    }


def _sources(experiment: Experiment) -> dict[str, str]:
    """Return where each data set comes from; "here" where no network is needed."""
    known = {each.name: "here" if each.here else each.source for each in datasets.available()}
    return {name: known.get(name, "here") for name in experiment.data_sets}
