"""Options for reading a file: its columns, its header and its encoding."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from polychotomy.datasets._columns import check_known
from polychotomy.errors import DataError

WAYS_OF_TEXT = ("words", "chars")


@dataclass(frozen=True)
class Reading:
    """Options for reading a file.

    Attributes
    ----------
    target : str or None
        The column of the labels; None to find it.
    labelled : bool
        Whether labels are read at all.
    drop, nominal : tuple of str
        Columns that are left out, and columns that are nominal though they may look like numbers.
    text : mapping of str to {"words", "chars"}
        Columns of text, and what is counted in them.
    encoding : str
        Encoding of text files.
    header : bool or tuple of str
        Whether the first line names the columns; if not, their names may be given.
    kept : tuple of str
        Columns that are wanted as they are written, where the file has them.
    """

    target: str | None = None
    labelled: bool = True
    drop: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    text: Mapping[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"
    header: bool | tuple[str, ...] = True
    kept: tuple[str, ...] = ()

    @property
    def as_written(self) -> set[str]:
        """The columns that are read as they are written, even if they look like numbers."""
        return {*self.nominal, *self.text, *self.kept}

    def names(self, n_columns: int, path: Path) -> list[str]:
        """Return the names of the columns of a file without a header.

        Where they are given, the file may lack the target.
        """
        if isinstance(self.header, bool):
            return [f"x{i}" for i in range(1, n_columns + 1)]
        names, others = list(self.header), [name for name in self.header if name != self.target]
        for known in (names, others):
            if len(known) == n_columns:
                return known
        raise DataError(
            f"{path} must have {len(names)} columns, or {len(others)} without the labels. "
            f"Got {n_columns}."
        )

    def check(self, columns: Sequence[str], target: str, path: Path) -> None:
        """Raise DataError for columns that do not exist, or that have several roles."""
        wanted = [*self.drop, *self.nominal, *self.text]
        check_known(wanted, columns, path)
        twice = {name for name in wanted if wanted.count(name) > 1 or name == target}
        if twice:
            raise DataError(
                f"A column can be only one of target, dropped, nominal and text, unlike "
                f"{min(twice)!r}."
            )


def ways_of_text(text: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    """Return columns of text with what is counted in them: words, where nothing is said.

    Raises ValueError if it is something else than words or characters.
    """
    ways = dict(text) if isinstance(text, Mapping) else dict.fromkeys(text, "words")
    for way in ways.values():
        if way not in WAYS_OF_TEXT:
            raise ValueError(
                f"The 'text' parameter must count 'words' or 'chars'. Got {way!r} instead."
            )
    return ways
