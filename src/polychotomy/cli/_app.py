"""The commands: each reads its options, calls the library and prints."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import polychotomy
from polychotomy.cli._codes import code_app
from polychotomy.cli._datasets import datasets_app
from polychotomy.cli._structures import structure_app
from polychotomy.codes import available_codes
from polychotomy.lab import Comparison, compare

app = typer.Typer(
    help="Multi-class classification from any binary classifier.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)
app.add_typer(code_app, name="code")
app.add_typer(structure_app, name="structure")
app.add_typer(datasets_app, name="datasets")


_JOBS_HELP = "Worker processes; -1 for all cores."


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 is not a number of workers")
    return jobs


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"polychotomy {polychotomy.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    pass


@app.command("compare")
def compare_command(
    folds: Annotated[int, typer.Option(min=2, max=100, help="Folds of the cross-validation.")] = 3,
    jobs: Annotated[int, typer.Option(callback=_check_jobs, help=_JOBS_HELP)] = -1,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Draws the folds and the random codes.")
    ] = 0,
) -> None:
    """Compare all reductions with logistic regression on scikit-learn's digits.

    Example: `polychotomy compare --folds 5`
    """
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    results = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("comparing", total=len(available_codes()))
        for result in compare(X / 16, y, n_folds=folds, n_jobs=jobs, random_state=seed):
            results.append(result)
            progress.update(task, advance=1, description=f"{result.name} done")
    title = f"digits: 1797 samples, 10 classes; logistic regression; {folds}-fold cross-validation"
    Console(width=None if sys.stdout.isatty() else 100).print(_table(results, title))


def _table(results: list[Comparison], title: str) -> Table:
    """Return the comparison, best first."""
    table = Table(title=title)
    table.add_column("reduction")
    for heading in ("problems", "error %", "± s.e.", "fit s", "predict s"):
        table.add_column(heading, justify="right")
    table.add_column("decoder")
    done = sorted((r for r in results if not r.skipped), key=lambda r: r.error)
    for r in done:
        table.add_row(
            r.name,
            str(r.n_problems),
            f"{100 * r.error:.2f}",
            f"{100 * r.standard_error:.2f}",
            f"{r.fit_seconds:.2f}",
            f"{r.predict_seconds:.3f}",
            r.decoder,
        )
    for r in results:
        if r.skipped:
            table.add_row(r.name, "", "", "", "", "", f"skipped: {r.skipped}")
    return table
