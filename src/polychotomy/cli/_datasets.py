"""``polychotomy datasets``: list, show and download data sets."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from polychotomy.cli._disk import column_remarks_of, printable, report_errors
from polychotomy.cli._file_options import FileOptions, reads_files
from polychotomy.cli._options import AsJson
from polychotomy.cli._summary_tables import make_console

if TYPE_CHECKING:
    from polychotomy.datasets import DataSet

datasets_app = typer.Typer(help="List, show and download data sets.", no_args_is_help=True)


@datasets_app.command("list")
def list_datasets(as_json: AsJson = False) -> None:
    """List the known data sets, and whether they are on this machine.

    Examples: `polychotomy datasets list`, `polychotomy datasets list --json`
    """
    from polychotomy.datasets import available

    if as_json:
        typer.echo(json.dumps([_facts(data) for data in available()], indent=2))
        return
    table = Table("name", box=None)
    for heading in ("samples", "test", "features", "classes"):
        table.add_column(heading, justify="right")
    for heading in ("here", "used by", "what it is"):
        table.add_column(heading)
    for data in available():
        sizes = (data.samples, data.test or "", data.features, data.classes)
        here = "yes" if data.here else "no"
        table.add_row(data.name, *map(str, sizes), here, " ".join(data.papers), data.summary)
    make_console(160).print(table)


@datasets_app.command("show")
@reads_files
def show_dataset(
    data: Annotated[str, typer.Argument(metavar="NAME", help="A known data set, or a file.")],
    file: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Describe a known data set, or show how a file is read.

    Examples: `polychotomy datasets show letter`, `polychotomy datasets show land.csv --json`
    """
    from polychotomy.datasets import available

    known = {each.name: each for each in available()}.get(data)
    with report_errors():
        facts = _file_facts(data, file) if known is None else _facts(known)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        typer.echo(_file_text(facts) if known is None else _text(known))


@datasets_app.command("fetch")
def fetch_dataset(
    name: Annotated[str, typer.Argument(help="A known data set.")],
) -> None:
    """Download a data set from OpenML, unless it is already on this machine.

    scikit-learn keeps it, in the folder that SCIKIT_LEARN_DATA names or in ~/scikit_learn_data.
    Example: `polychotomy datasets fetch letter`
    """
    from polychotomy.datasets import load

    with report_errors():
        samples = load(name)
    n, d = samples.data.shape
    typer.echo(
        f"{name}: {n} samples, {d} features, {len(set(samples.target))} classes "
        f"from {samples.source}"
    )


def _facts(data: "DataSet") -> dict[str, Any]:
    wanted = ("name", "summary", "samples", "test", "features", "classes", "papers", "note")
    facts = asdict(data)
    return {key: facts[key] for key in wanted} | {"source": data.source, "here": data.here}


def _text(data: "DataSet") -> str:
    """Return what it is, and where it is or how to get it."""
    from polychotomy.datasets import describe

    if data.here:
        place = f"Here: {data.file or data.source}."
    elif data.openml:
        place = f"Not here. Get it with: polychotomy datasets fetch {data.name}"
    else:
        place = f"Not here. Put it as {data.name}.csv.gz into the folder POLYCHOTOMY_DATA names."
    return f"{describe(data)}\n{place}"


def _file_facts(path: str, file: FileOptions) -> dict[str, Any]:
    import numpy as np

    samples = file.read(path)
    missing = samples.data.isna().sum().sum() if hasattr(samples.data, "isna") else 0
    classes, counts = np.unique(samples.target.astype(str), return_counts=True)
    return {
        "name": samples.name,
        "samples": samples.data.shape[0],
        "test": 0 if samples.test is None else len(samples.test),
        "features": samples.data.shape[1],
        "nominal": samples.nominal,
        "missing": int(missing),
        "target": samples.target_name,
        "remarks": column_remarks_of(samples),
        "classes": len(classes),
        "counts": dict(zip(classes.tolist(), counts.tolist(), strict=True)),
    }


def _file_text(facts: dict[str, Any]) -> str:
    counts, nominal = facts["counts"], facts["nominal"]
    small, large = min(counts, key=counts.get), max(counts, key=counts.get)
    named = f": {', '.join(nominal[:10])}" + ", …" * (len(nominal) > 10) if nominal else ""
    lines = [
        f"{facts['samples']} samples, {facts['test']} of them in a fixed test part",
        f"{facts['features']} features, {facts['missing']} missing values",
        f"{len(nominal)} nominal features{named}",
        f"{facts['classes']} classes in the column {facts['target']!r}, "
        + (
            f"{counts[small]} samples each"
            if counts[small] == counts[large]
            else f"from {counts[small]} samples ({small}) to {counts[large]} ({large})"
        ),
        *facts["remarks"],
    ]
    return "\n".join(printable(line) for line in lines)
