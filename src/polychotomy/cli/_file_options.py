"""The options of all commands that read a file of samples."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from polychotomy.cli._disk import advising, check_exists
from polychotomy.cli._options import flag

_ADVICE = {
    "header": "The option is --no-header.",
    "encoding": "The option is --encoding.",
    "target": "The option is --target.",
}


@dataclass(frozen=True)
class FileOptions:
    """The options for reading a file, as arguments of :func:`polychotomy.datasets.read`."""

    target: str | None = None
    drop: list[str] = field(default_factory=list)
    nominal: list[str] = field(default_factory=list)
    text: dict[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"
    header: bool = True

    def read(self, data: str) -> Any:
        """Return the samples of a file, or of a data set that is known by this name."""
        from polychotomy import datasets

        if self.check(data):
            return datasets.load(data)
        with advising(**_ADVICE):
            return datasets.read(data, **vars(self))

    def stream(self, data: str) -> Any:
        """Return the samples of a file block by block."""
        from polychotomy import datasets

        given = {name: value for name, value in vars(self).items() if name != "text"}
        with advising(**_ADVICE):
            return datasets.stream(data, **given)

    def check(self, data: str) -> bool:
        """Return whether it is the name of a data set; raise an error if it is no file either."""
        from polychotomy import datasets

        known = {each.name for each in datasets.available()}
        if data in known:
            return True
        if not Path(data).suffix and not Path(data).exists():
            near = get_close_matches(data, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{data!r} is neither a file nor the name of a data set.{hint}")
        check_exists(Path(data))
        return False

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of :func:`polychotomy.datasets.read` that are not its defaults."""
        usual = vars(FileOptions())
        return {name: value for name, value in vars(self).items() if value != usual[name]}

    def words(self) -> list[str]:
        """Return these options as they are written on the command line."""
        said = ["--target", self.target] if self.target else []
        said += ["--drop", ",".join(self.drop)] if self.drop else []
        said += ["--nominal", ",".join(self.nominal)] if self.nominal else []
        text = ",".join(f"{name}:{way}" for name, way in self.text.items())
        said += ["--text", text] if text else []
        said += ["--encoding", self.encoding] if self.encoding != "utf-8" else []
        return said + ([] if self.header else ["--no-header"])


_OPTIONS = {
    "target": (
        Annotated[
            str | None,
            typer.Option(
                help="Column of the labels. By default class, target, label or y, else the "
                "last column."
            ),
        ],
        None,
    ),
    "drop": (
        Annotated[
            list[str] | None,
            typer.Option(help="Columns to drop, separated by commas.", metavar="COLUMNS"),
        ],
        None,
    ),
    "nominal": (
        Annotated[
            list[str] | None,
            typer.Option(
                help="Columns whose numbers are only names, separated by commas.",
                metavar="COLUMNS",
            ),
        ],
        None,
    ),
    "text": (
        Annotated[
            list[str] | None,
            typer.Option(
                help="Text columns, separated by commas. Their words are counted or, with :chars "
                "after the name, their sequences of up to four characters.",
                metavar="COLUMNS",
            ),
        ],
        None,
    ),
    "encoding": (
        Annotated[str, typer.Option(help="Encoding of text files, such as latin-1.")],
        "utf-8",
    ),
    "no_header": (
        Annotated[
            bool,
            flag("--no-header", "The first line is a sample; columns are called x1, x2, …"),
        ],
        False,
    ),
}


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of files; its parameter `file` gets them as FileOptions."""
    signature = inspect.signature(command)
    kinds: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        kinds |= {name: parameter} if name != "file" else dict.fromkeys(_OPTIONS)
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        if parameter is not None
        else inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=_OPTIONS[name][0],
            default=_OPTIONS[name][1],
        )
        for name, parameter in kinds.items()
    ]

    @wraps(command)
    def reading(**given: Any) -> None:
        said = {name: given.pop(name) for name in _OPTIONS}
        for name in ("drop", "nominal"):
            said[name] = _names(said[name])
        said["header"] = not said.pop("no_header")
        said["text"] = dict(_way(each) for each in _names(said["text"]))
        command(**given, file=FileOptions(**said))

    reading.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    reading.__annotations__ = {each.name: each.annotation for each in parameters}
    return reading


def _names(texts: list[str] | None) -> list[str]:
    """Return the names of an option that is repeated, or has several with commas."""
    names = (name.strip() for text in texts or [] for name in text.split(","))
    return [name for name in names if name]


def _way(text: str) -> tuple[str, str]:
    """Return the column of a text, and what is counted in it."""
    name, _, way = text.rpartition(":")
    return (name, way) if name and way in ("words", "chars") else (text, "words")
