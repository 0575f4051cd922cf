"""Writes the reference of the command line from the commands themselves; ``make docs`` calls it."""

import inspect
from pathlib import Path

import typer

from polychotomy.cli._app import app

HEAD = """# Command line

Every command explains itself: `polychotomy COMMAND --help`. This page has the same words.
"""


def commands(command, path=("polychotomy",)):
    """Yield the words and the command of every command, those of groups in their order."""
    if hasattr(command, "commands"):
        for name, part in command.commands.items():
            yield from commands(part, (*path, name))
    else:
        yield " ".join(path), command


def option_row(option):
    """Return the row of the table for an option or an argument."""
    arguments = option.param_type_name == "argument"
    names = [option.name.upper()] if arguments else [*option.opts, *option.secondary_opts]
    text = " ".join((getattr(option, "help", None) or "").split()).replace("|", "\\|")
    default = (
        ""
        if option.default in (None, False, (), []) or callable(option.default)
        else (f"`{option.default}`")
    )
    return f"| {' '.join(f'`{name}`' for name in names)} | {text} | {default} |"


def section(words, command):
    """Return the section of one command."""
    lines = [f"## {words}", "", inspect.cleandoc(command.help or ""), ""]
    lines += ["| option | what it does | default |", "| --- | --- | --- |"]
    lines += [option_row(option) for option in command.params if option.name != "help"]
    return "\n".join([*lines, ""])


def write_page(path: Path) -> None:
    """Write the page, unless it is as it should be."""
    sections = [section(*found) for found in commands(typer.main.get_command(app))]
    text = "\n".join([HEAD, *sections])
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
