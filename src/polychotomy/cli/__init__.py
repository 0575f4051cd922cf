"""The command line. Needs the extra ``cli``."""

import sys
from io import TextIOWrapper

from polychotomy.errors import MissingExtraError, require


def main() -> None:
    """Run the command ``polychotomy``."""
    try:
        for module in ("typer", "rich"):
            require(module, extra="cli")
    except MissingExtraError as error:
        sys.exit(str(error))
    from polychotomy.cli._app import app

    for stream in (
        sys.stdout,
        sys.stderr,
    ):  # a terminal that lacks a character still shows the rest
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()
