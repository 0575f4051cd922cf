"""``polychotomy structure``: control files drawn, checked, converted and designed."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from polychotomy.cli._disk import (
    print_column_remarks,
    printable,
    read_text,
    report_errors,
    write_text,
)
from polychotomy.cli._file_options import FileOptions, reads_files
from polychotomy.cli._options import flag

if TYPE_CHECKING:
    from polychotomy.structures import Structure

structure_app = typer.Typer(
    help="Draw, check, convert and design structures in the control language.",
    no_args_is_help=True,
)


class Dialect(StrEnum):
    """The dialect of the control language."""

    polychotomy = "polychotomy"
    libagf = "libagf"


class Form(StrEnum):
    """One node for all problems, or as many nodes as possible."""

    flat = "flat"
    nested = "nested"


class Builder(StrEnum):
    """The ways to design a structure."""

    balanced = "balanced"
    chain = "chain"
    linkage = "linkage"
    kmeans = "kmeans"


File = Annotated[str, typer.Argument(help="A control file; - for the standard input.")]
From = Annotated[Dialect, typer.Option("--from", help="Dialect of the input.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write to this file instead of the terminal.")
]


@structure_app.command("show")
def show_structure(
    file: File,
    dialect: From = Dialect.polychotomy,
    depth: Annotated[int, typer.Option(min=1, help="Draw at most this many levels.")] = 30,
) -> None:
    """Draw a control file as a tree.

    Example: `polychotomy structure show land.txt --depth 3`
    """
    structure = _read(file, dialect)
    Console(highlight=False).print(draw_structure(structure, depth))
    typer.echo(_summary(structure))


@structure_app.command("check")
def check_structure(
    file: File,
    dialect: From = Dialect.polychotomy,
    classes: Annotated[
        str | None, typer.Option(help="The expected classes, separated by commas.")
    ] = None,
) -> None:
    """Check a control file, and show where an error is.

    Exits with status 1 if there is one. Example: `polychotomy structure check land.txt --classes
    oak,elm,corn`
    """
    known = None if classes is None else [label.strip() for label in classes.split(",")]
    typer.echo(f"{file}: {_summary(_read(file, dialect, known))}")


@structure_app.command("convert")
def convert_structure(
    file: File,
    form: Annotated[
        Form | None, typer.Option(help="Flatten the structure, or nest it as deep as possible.")
    ] = None,
    dialect: From = Dialect.polychotomy,
    to: Annotated[Dialect, typer.Option(help="Dialect of the output.")] = Dialect.polychotomy,
    name: Annotated[
        str | None, typer.Option(help="Name all problems by position, with this prefix.")
    ] = None,
    number: Annotated[
        bool, flag("--number", "Number the classes from 0, in sorted order.")
    ] = False,
    out: Out = None,
) -> None:
    """Convert a control file: flat or nested, another dialect, names or numbers.

    Example: `polychotomy structure convert land.txt --form flat --number --to libagf`
    """
    from polychotomy.structures import flatten, format_structure, name_problems, nest

    structure = _read(file, dialect)
    with report_errors(file):
        if form is not None:
            structure = flatten(structure) if form is Form.flat else nest(structure)
        if number:
            structure = _numbered(structure)
        if name is not None:
            structure = name_problems(structure, name)
        write_text(format_structure(structure, dialect=to.value), out)


@structure_app.command("design")
@reads_files
def design_structure(
    data: Annotated[str, typer.Argument(help="A file of samples, or a known data set.")],
    *,
    file: FileOptions,
    builder: Annotated[Builder, typer.Option(help="Method to design it.")] = Builder.linkage,
    distance: Annotated[
        str,
        typer.Option(
            help="Distance between classes: auto (hausdorff up to 100 classes, then centroid), "
            "hausdorff, centroid, mahalanobis, bhattacharyya or confusion."
        ),
    ] = "auto",
    method: Annotated[
        str, typer.Option(help="Linkage method: single, complete, average or weighted.")
    ] = "single",
    quantile: Annotated[
        float, typer.Option(help="Quantile for hausdorff; below 1, outliers are ignored.")
    ] = 1.0,
    name: Annotated[
        str | None, typer.Option(help="Name all problems by position, with this prefix.")
    ] = None,
    out: Out = None,
) -> None:
    """Design a structure from samples and write it as a control file.

    Numbers are standardised, other columns are one-hot encoded. Example: `polychotomy structure
    design land.csv --target cover -o land.txt`
    """
    from polychotomy.evaluate import Preparation
    from polychotomy.structures import format_structure, name_problems

    with report_errors():
        samples = file.read(data)
        print_column_remarks(samples)
        prepare = Preparation(text=samples.get("text"), dense=True)
        X = prepare.fit_transform(samples.data)
        structure = _design(X, samples.target, builder, distance, method, quantile)
        if name is not None:
            structure = name_problems(structure, name)
        write_text(format_structure(structure), out)


def _read(file: str, dialect: Dialect, classes: list[str] | None = None) -> "Structure":
    from polychotomy.structures import parse_structure

    with report_errors(file):
        return parse_structure(read_text(file), classes, dialect=dialect.value)


def _design(
    X: Any, y: Any, builder: Builder, distance: str, method: str, quantile: float
) -> "Structure":
    from polychotomy.structures import BUILDERS, linkage

    if builder is Builder.linkage:  # the only one with further options
        return linkage(X, y, distance=distance, method=method, quantile=quantile)
    return BUILDERS[builder.value].make(X, y, distance, None)


def _numbered(structure: "Structure") -> "Structure":
    """Return the structure with numbers for labels, and print which is which."""
    from polychotomy.structures import relabel

    ordered = sorted(structure.classes, key=lambda label: (str(type(label)), label))
    number = {label: i for i, label in enumerate(ordered)}
    for label, i in number.items():
        typer.echo(f"{i} {label}", err=True)
    return relabel(structure, number)


def _summary(structure: "Structure") -> str:
    return (
        f"{structure.n_classes} classes, {structure.n_problems} problems, depth {structure.depth}"
    )


def draw_structure(structure: "Structure", depth: int) -> Tree:
    """Return what is drawn: nodes with their problems, classes in bold."""
    root = Tree(_title(structure))
    pending = [(structure, root, 1)]
    while pending:
        node, branch, level = pending.pop()
        added = []
        for child in node.children:
            if level >= depth and not child.is_class:
                branch.add(Text(f"… {child.n_classes} classes"))
            else:
                added.append((child, branch.add(_title(child)), level + 1))
        pending.extend(added)
    return root


def _title(node: "Structure") -> Text:
    """Return a class, or a node's problems, in a few words."""
    if node.code is None:
        return Text(printable(str(node.label)), style="bold")
    words = [
        name or (f'"{options}"' if options else "")
        for name, options in zip(node.names, node.options, strict=True)
    ]
    words = [printable(word) for word in words]
    named = ", ".join(filter(None, words[:4])) + (", …" if len(words) > 4 and any(words) else "")
    if node.code.n_problems == 1:
        return Text(named or "•")
    return Text(f"{node.code.n_problems} problems" + (f": {named}" if named else ""))
