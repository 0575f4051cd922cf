"""Tables of the pages that are made by a program."""

from collections.abc import Iterable, Sequence


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]], n_words: int = 1) -> str:
    """Return a table in Markdown; all columns but the first `n_words` hold numbers."""
    kinds = ["---"] * n_words + ["---:"] * (len(heads) - n_words)
    lines = [heads, kinds, *rows]
    return "\n".join("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in lines)
