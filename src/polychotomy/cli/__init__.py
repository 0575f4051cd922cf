"""The command line. Needs the extra ``cli``."""

import os
import sys
from io import TextIOWrapper

from polychotomy.errors import MissingExtraError, require


def main() -> None:
    """Run the command ``polychotomy``."""
    try:
        for module in ("typer", "rich"):
            require(module, extra="cli")
        from polychotomy.cli._app import app  # takes seconds, in which Ctrl-C may come
    except MissingExtraError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    for stream in (
        sys.stdout,
        sys.stderr,
    ):  # a terminal that lacks a character still shows the rest
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # while errors can still be reported
    except OSError as error:
        from polychotomy.cli._disk import reason_of

        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        sys.exit(reason_of(error))
