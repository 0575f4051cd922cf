"""The table of docs/how-to/which-reduction.md, in the words that recommendations quote."""

import tomllib
from pathlib import Path

from markdown_table import markdown_table

SOURCE = Path(__file__).parent.parent / "src" / "polychotomy" / "evaluate" / "experience.toml"
BEGIN = "<!-- `make results` writes this table from src/polychotomy/evaluate/experience.toml -->\n"
END = "\n<!-- end -->"


def make_table() -> str:
    """Return what to try first with each learner, why, and what samples and classes change."""
    known = tomllib.loads(SOURCE.read_text("utf-8"))["learner"]
    rows = [
        [
            each["name"],
            ", ".join(f"`{name}`" for name in each["first"]),
            _sentence(each["why"]),
            _sentence(each["sizes"]),
        ]
        for each in known
    ]
    heads = ["your learner", "try first", "why", "samples and classes"]
    return markdown_table(heads, rows, n_words=len(heads))


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def with_table(page: str) -> str:
    """Return the page with the table as it follows from the experiences."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + make_table() + END + after


def write_advice(path: Path) -> None:
    """Write the table into the page."""
    path.write_text(with_table(path.read_text("utf-8")), "utf-8")
