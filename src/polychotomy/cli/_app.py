"""The commands: each reads its options, calls the library and prints."""

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import polychotomy
from polychotomy.cli._codes import code_app
from polychotomy.cli._compare import compare_command
from polychotomy.cli._datasets import datasets_app
from polychotomy.cli._evaluate import evaluate_command
from polychotomy.cli._export import export_command
from polychotomy.cli._models import explain_command, fit_command, predict_command
from polychotomy.cli._reproduce import reproduce_command
from polychotomy.cli._results import results_app
from polychotomy.cli._structure_files import structure_app


class _Command(TyperCommand):
    """A command whose help shows ``--help`` like other flags, without the type of a value."""

    def get_help_option(self, ctx: Any) -> Any:
        return _without_value(super().get_help_option(ctx))


class _Group(TyperGroup):
    """A group of commands, likewise."""

    def get_help_option(self, ctx: Any) -> Any:
        return _without_value(super().get_help_option(ctx))


def _without_value(option: Any) -> Any:
    if option is not None:
        option.metavar = ""
    return option


app = typer.Typer(
    help="Multi-class classification from any binary classifier.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)
app.command("compare")(compare_command)
app.add_typer(results_app, name="results")
app.command("reproduce")(reproduce_command)
app.command("fit")(fit_command)
app.command("predict")(predict_command)
app.command("evaluate")(evaluate_command)
app.command("explain")(explain_command)
app.command("export")(export_command)
app.add_typer(code_app, name="code")
app.add_typer(structure_app, name="structure")
app.add_typer(datasets_app, name="datasets")
for group in (app, results_app, code_app, structure_app, datasets_app):
    group.info.cls = _Group
    for command in group.registered_commands:
        command.cls = _Command


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"polychotomy {polychotomy.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, metavar="", help="Show the version."
        ),
    ] = False,
) -> None:
    pass
