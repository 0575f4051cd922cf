"""Earlier results of reductions with a binary learner, in words."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Experience:
    """What to try first with a binary learner, by the comparison in the documentation.

    Attributes
    ----------
    name : str
        The learner, in words.
    data_sets : int
        How many data sets it was compared on.
    bases : tuple of str
        Names of :func:`~polychotomy.reductions.available_bases`, and of classes.
    first : tuple of str
        Reductions to try first.
    why : str
        What was found, without a capital and a full stop.
    """

    name: str
    data_sets: int
    bases: tuple[str, ...]
    first: tuple[str, ...]
    why: str

    @property
    def words(self) -> str:
        """The experience as one sentence."""
        *others, last = self.first
        tried = f"{', '.join(others)} and {last}" if others else last
        compared = f"In a comparison on {self.data_sets} data sets"
        return f"{compared} {self.name} did best with {tried}: {self.why}."


@cache
def experiences() -> tuple[Experience, ...]:
    """Return the experience with each learner."""
    found = tomllib.loads((files("polychotomy.evaluate") / "experience.toml").read_text("utf-8"))
    return tuple(
        Experience(
            each["name"],
            each["data_sets"],
            tuple(each["bases"]),
            tuple(each["first"]),
            each["why"],
        )
        for each in found["learner"]
    )
