"""``polychotomy code``: show codes."""

from typing import Annotated, Any

import typer

from polychotomy.cli._disk import report_errors

code_app = typer.Typer(help="Show codes.", no_args_is_help=True)


@code_app.callback()
def _main() -> None:
    pass


@code_app.command("show")
def show_code(
    name: Annotated[str, typer.Argument(help="The code, such as one_vs_rest or bch.")],
    classes: Annotated[int, typer.Argument(min=2, help="Number of classes.")],
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of the code as KEY=NUMBER; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of random codes.")] = 0,
) -> None:
    """Print the matrix of a code and its properties.

    The matrix has a row for each class and a column for each problem.

    Example: `polychotomy code show bch 5 --option length=15`
    """
    from polychotomy.codes import make_code

    with report_errors():
        code = make_code(name, classes, random_state=seed, **_options(option or []))
        typer.echo(str(code))
        typer.echo("")
        typer.echo(code.describe())


def _options(pairs: list[str]) -> dict[str, Any]:
    options = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key in ("name", "n_classes", "random_state"):
            raise ValueError(
                f"{key} is not an option of a code; --seed sets the seed of random ones."
            )
        try:
            options[key] = int(value)
        except ValueError:
            raise ValueError(f"an option must be KEY=NUMBER. Got {pair!r}.") from None
    return options
